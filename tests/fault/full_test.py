"""What surrounds the program fails: a full disk, files that cannot be written, a lock that is held, a file that is no
database, a terminal that is closed, signals. Each ends in a clear message and an untouched production, and the same
command carries on."""

import gc
import os
import resource
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

import scenes
from scenes import KEYED, KEYED_SPEC, PRODUCTION, harness
from harness import DATABASE, DENIED, FULL, LOCKED, OK, PAUSED, Flow, wait_until

NOBODY = 65534
# Uncorrelated, so once a statement: :steps of it make a batch take as long as a test wants.
SLOW = "+ (SELECT 0 * count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT x FROM c))"


def slow_spec(steps):
    return KEYED_SPEC.replace("cents * rate AS net", f"cents * rate {SLOW.format(steps)} AS net").replace("control:", "#")


class Scene(Flow):
    def setUp(self):
        super().setUp()
        gc.collect()  # Python's connections are freed late, and one that is open keeps the -wal
        self.sql(KEYED)
        self.file = self.spec(KEYED_SPEC)
        self.before = self.rows(PRODUCTION)

    def refuses(self, result, *codes):
        self.assertIn(result.code, codes, repr(result))
        self.assertIn("tidegate: " if result.code != DENIED else "DENY", result.err + result.out, "no silence")
        self.assertEqual(self.rows(PRODUCTION), self.before, repr(result))

    def whole(self):
        """From wherever it is to the swap, and the right rows."""
        if self.value("SELECT count(*) FROM sqlite_schema WHERE name = 'tidegate_backfill'") == 0 or self.newest() is None:
            self.tidegate("plan", self.file)
        if self.newest() in ("planned", "building"):
            self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        wrong = self.value("SELECT count(*) FROM orders o LEFT JOIN sales s USING (id, day) WHERE s.net IS NOT o.cents * o.rate")
        self.assertEqual((wrong, self.value("SELECT count(*) FROM sales")), (0, self.value("SELECT count(*) FROM orders")))

    def newest(self):
        rows = self.rows("SELECT state FROM tidegate_backfill ORDER BY rowid DESC LIMIT 1")
        return rows[0][0] if rows else None

    def start(self, *words, **kwargs):
        return subprocess.Popen([harness.BINARY, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                                stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=kwargs.pop("stderr", subprocess.PIPE), **kwargs)

    def ended(self, process, seconds=30):
        out, err = process.communicate(timeout=seconds)
        process.stdout, process.stderr = None, None
        result = harness.Result(["…"], process)
        result.out, result.err = out, err
        return result


class Full(Scene):
    """A file system of its own, so small that it can be filled; without the right to mount, a limit on a file's size."""

    SIZE = 4 * 1024 * 1024

    def setUp(self):
        super().setUp()
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE}", "tidegate-test", small],
                                 stderr=subprocess.DEVNULL, check=False)
        self.mounted = small if mounted.returncode == 0 else None
        if self.mounted:
            self.addCleanup(lambda: subprocess.run(["umount", "-l", small], check=True))
        shutil.move(self.database, small / "db.sqlite")
        shutil.move(self.file, small / "backfill.yaml")
        self.folder, self.whole_folder = small, self.folder
        self.database, self.file = small / "db.sqlite", small / "backfill.yaml"
        self.assertFalse(Path(f"{self.database}-wal").exists())

    def tearDown(self):
        self.folder = self.whole_folder
        self.doCleanups()
        super().tearDown()

    def with_room(self, room, *words):
        """Runs a command with so many bytes of room left."""
        if not self.mounted:
            size = self.database.stat().st_size + room

            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            process = self.start(*words, preexec_fn=limit)
            return self.ended(process)
        ballast = self.folder / "ballast"
        facts = os.statvfs(self.folder)
        with open(ballast, "wb") as file:
            file.write(bytes(max(0, facts.f_bavail * facts.f_frsize - room)))
        result = self.run_tidegate(*words)
        ballast.unlink()
        return result

    def swept(self, *words, says=FULL):
        """The command with more and more room, until there is enough: every refusal is clear, and the disk's fullness is
        said."""
        codes = []
        for room in range(0, self.SIZE, 8192 if says == FULL else 65536):
            result = self.with_room(room, *words)
            codes.append(result.code)
            if result.code == OK:
                self.assertIn(says, codes, "the disk was never full")
                return
            self.refuses(result, says, DATABASE)
        self.fail(f"never enough: {codes}")

    def test_plan(self):
        # The gate denies what the disk has no room for, before anything is written.
        self.swept("plan", self.file, says=DENIED if self.mounted else FULL)
        self.whole()

    def test_run(self):
        self.tidegate("plan", self.file)
        self.swept("run", self.file)
        self.whole()

    def test_swap_and_rollback(self):
        self.built(self.file)
        self.swept("swap", self.file, "--yes")
        right = self.rows(PRODUCTION)
        self.assertNotEqual(right, self.before)
        old, self.before = self.before, right
        self.swept("rollback", self.file)
        self.assertEqual(self.rows(PRODUCTION), old)

    def test_a_tool_that_fills_the_disk(self):
        """Then the range cannot be put back either: that is said, and done when there is room."""
        if not self.mounted:
            self.skipTest("needs the right to mount a file system that can be filled")
        fill = "test $(ls | grep -c first) = 0 && touch first && exit; head -c %d /dev/zero >fill" % (2 * self.SIZE)
        result = self.run_tidegate("snapshot", self.file, "--then", f"{scenes.TOOL}; {fill}; true")
        self.assertEqual(result.code, FULL, repr(result))
        self.assertIn("PRODUCTION MAY BE PARTLY WRITTEN and could not be restored", result.err)
        (self.folder / "fill").unlink()
        self.assertEqual(self.newest(), "opened")
        self.assertNotEqual(self.rows(PRODUCTION), self.before)
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows(PRODUCTION), self.before)

    def test_output_that_cannot_be_written(self):
        self.tidegate("plan", self.file)
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.start("status", "--database", self.database, stdout=full)
            self.assertEqual(self.ended(process).code, FULL)


class FullWithoutWal(Full):
    wal = False


class SizeLimit(Scene):
    def test_a_limit_on_the_size_of_files(self):
        """ulimit -f: SIGXFSZ ends a process that does not ignore it, without a word."""
        self.built(self.file)
        size = self.database.stat().st_size

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
        self.refuses(self.ended(self.start("swap", self.file, "--yes", preexec_fn=limit)), FULL, DATABASE)
        self.whole()


class ReadOnly(Scene):
    wal = False

    def setUp(self):
        super().setUp()
        self.binary = self.folder / "tidegate"
        shutil.copy(harness.BINARY, self.binary)
        self.folder.chmod(0o755)
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            self.skipTest("root can write everything, and there is no setpriv")

    def as_nobody(self, *words):
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
        process = subprocess.run([*become, self.binary, *map(str, words)], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
        return harness.Result([str(word) for word in words], process)

    def closed(self, mode, verbs):
        for leading, words in verbs:
            for verb in leading:
                self.tidegate(verb, self.file)
            self.database.chmod(mode)
            self.folder.chmod(0o555)
            with self.subTest(words[0]):
                result = self.as_nobody(*words)
                self.refuses(result, DATABASE)
                self.assertRegex(result.err, "HINT: .*")
            self.folder.chmod(0o755)
            self.database.chmod(0o644)

    ALL = ((), ("plan", "backfill.yaml")), (("plan",), ("run", "backfill.yaml")), (("run",), ("swap", "backfill.yaml", "--yes"))

    def test_file_and_folder(self):
        self.closed(0o444, self.ALL)
        self.whole()

    def test_folder_alone(self):
        """The file may be written, but no journal beside it may be made."""
        self.closed(0o666, self.ALL)
        self.whole()


class ReadOnlyWithWal(ReadOnly):
    wal = True


class Locked(Scene):
    BUDGET = "budget: {duty: 100 %, lock: 50ms, lock_tries: 2}\n"

    def test_held_write_lock(self):
        self.file = self.spec(KEYED_SPEC + self.BUDGET)
        for leading, words in ((), ("plan", self.file)), (("plan",), ("run", self.file)), (("run",), ("swap", self.file, "--yes")):
            for verb in leading:
                self.tidegate(verb, self.file)
            other = self.connect()
            other.execute("BEGIN IMMEDIATE")
            with self.subTest(words[0]):
                self.refuses(self.run_tidegate(*words), LOCKED)
            other.execute("ROLLBACK")
            other.close()
        self.whole()

    def test_reader_that_stays(self):
        """A reader hinders nobody in WAL; without WAL it keeps the swap from committing."""
        self.file = self.spec(KEYED_SPEC + self.BUDGET)
        self.tidegate("plan", self.file)
        self.tidegate("run", self.file)
        reader = self.connect()
        reader.execute("BEGIN")
        self.assertEqual(reader.execute(PRODUCTION).fetchall(), self.before)
        result = self.run_tidegate("swap", self.file, "--yes")
        self.assertEqual(result.code, OK if self.wal else LOCKED, repr(result))
        self.assertEqual(reader.execute(PRODUCTION).fetchall(), self.before, "a reader's snapshot stays")
        reader.execute("COMMIT")
        reader.close()
        if not self.wal:
            self.whole()
        self.assertEqual(self.newest(), "swapped")


class LockedWithoutWal(Locked):
    wal = False

    def test_exclusive_lock(self):
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        result = self.run_tidegate("plan", self.file)
        self.assertEqual(result.code, LOCKED, repr(result))
        other.execute("ROLLBACK")
        other.close()
        self.whole()


class NoDatabase(Scene):
    def test_what_is_no_database(self):
        for name, make in (("text", lambda path: path.write_text("this is not a database, however long it may be\n" * 100)),
                           ("cut", lambda path: path.write_bytes(self.database.read_bytes()[:3000])),
                           ("folder", lambda path: path.mkdir()),
                           ("fifo", os.mkfifo),
                           ("missing", lambda path: None)):
            path = self.folder / name
            make(path)
            with self.subTest(name):
                for words in ("plan", self.file), ("run", "7f3a"), ("swap", "7f3a", "--yes"), ("status",), ("scan", "sales"):
                    self.refuses(self.run_tidegate(*words, "--database", path, timeout=20), DATABASE)


class Stopped(Scene):
    def setUp(self):
        super().setUp()
        # Long enough that a signal after the first batch comes before the last.
        self.file = self.spec(slow_spec(1_000_000))
        self.tidegate("plan", self.file)

    def batches(self):
        return self.value("SELECT count(*) FROM tidegate_batch")

    def taken(self, process, number):
        """Has the process taken the signal, or ended?"""
        try:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        except FileNotFoundError:
            return True
        pending = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
        return not any(mask >> (number - 1) & 1 for mask in pending)

    def pauses(self, number):
        process = self.start("run", self.file)
        wait_until(lambda: self.batches() > 0, what="the first batch")
        process.send_signal(number)
        result = self.ended(process)
        self.refuses(result, PAUSED)
        self.assertIn("carry on", result.err)
        self.assertEqual(self.newest(), "building")
        written = self.batches()
        self.assertGreater(written, 0)
        self.tidegate("run", self.file)
        self.assertGreater(self.batches(), written)
        self.whole()

    def test_ctrl_c_pauses_after_the_batch(self):
        self.pauses(signal.SIGINT)

    def test_sigterm_pauses(self):
        self.pauses(signal.SIGTERM)

    def test_closed_terminal_pauses(self):
        self.pauses(signal.SIGHUP)

    def test_ctrl_c_twice_stops_at_once(self):
        self.tidegate("discard", self.file)
        self.file = self.spec(slow_spec(10**10))
        # Planning does not compute the dates when there is no control; the run would take hours.
        self.tidegate("plan", self.file)
        process = self.start("run", self.file)
        wait_until(lambda: self.newest() == "building", what="the first batch's beginning")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: self.taken(process, signal.SIGINT), what="the first signal")
        self.assertIsNone(process.poll(), "once: the batch is still to be written")
        process.send_signal(signal.SIGINT)
        self.refuses(self.ended(process), PAUSED)
        self.assertEqual((self.newest(), self.batches()), ("building", 0))

    def test_signals_do_not_stop_a_swap_half_way(self):
        self.tidegate("run", self.file)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("swap", self.file, "--yes")
            process.send_signal(number)
            self.ended(process)
            swapped = self.newest() == "swapped"
            self.assertEqual(self.rows(PRODUCTION) != self.before, swapped)
            if swapped:
                self.tidegate("rollback", self.file)

    def test_closed_pipe(self):
        for words in ("run", self.file, "--quiet"), ("diff", self.file), ("status",), ("run", self.file):
            read, write = os.pipe()
            os.close(read)
            process = self.start(*words, stdout=write, stderr=write)
            os.close(write)
            process.wait(30)
            self.assertGreaterEqual(process.returncode, 0, f"{words[0]} died of a signal")
        self.assertEqual(self.newest(), "ready")
        self.whole()

    def test_no_standard_files_at_all(self):
        """Files 0, 1 and 2 closed: what is opened next must not be written over by messages."""
        def close():
            for fd in range(3):
                os.close(fd)
        process = subprocess.Popen([harness.BINARY, "run", str(self.file)], cwd=self.folder, preexec_fn=close)
        process.wait(30)
        self.assertGreaterEqual(process.returncode, 0)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.rows(PRODUCTION), self.before)
        self.whole()


if __name__ == "__main__":
    harness.main()
