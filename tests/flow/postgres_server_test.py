"""What a server does to those who work on it: it grants too little, has no room, is a copy or a standby, restarts, has no
connection left, ends sessions and crashes. Each time nothing is half done, and what is missing is said."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import harness
import psycopg2
from harness import DATABASE, DENIED, FULL, LOCKED, OK, SUPERSEDED, wait_until
from postgres_harness import Cluster, OwnServerFlow, PostgresFlow, Standby

SCENE = """
CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
INSERT INTO source SELECT date '2024-01-01' + i / 100, i, i + 1 FROM generate_series(0, 3999) i;
CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int, note text NOT NULL DEFAULT repeat('x', 100));
INSERT INTO fact(day, id, v) SELECT day, id, CASE WHEN id % 2 = 0 THEN 0 ELSE v END FROM source;
"""
SPEC = """
target: fact
range: 2024-01-03..2024-02-07
wrong: every other is nought
correct: as in the source
changes: v
recompute: SELECT day, id, v FROM source WHERE day >= :from AND day < :to
"""
SLOW = "budget: {duty: 20 %, crowded: 100 %, batch: 100ms}"
NOW = "SELECT day, id, v FROM fact ORDER BY id"
RIGHT = "SELECT s.day, id, CASE WHEN s.day BETWEEN '2024-01-03' AND '2024-02-07' THEN s.v ELSE f.v END FROM fact f JOIN source s USING (id) ORDER BY id"


class OnServer(OwnServerFlow):
    scene = SCENE

    def setUp(self):
        super().setUp()
        self.before, self.right = self.rows(NOW), self.rows(RIGHT)
        self.file = self.spec(SPEC)

    def half_run(self, spec):
        """Killed when some batches are done and others not."""
        self.plan(spec)
        run = self.start("run", spec)
        wait_until(lambda: run.poll() is not None or self.value("SELECT count(*) FROM tidegate.batch") > 1, what="two batches")
        run.kill()
        out, err = run.communicate()
        self.assertEqual(run.returncode, -signal.SIGKILL, out + err)
        self.assertLess(self.value("SELECT sum(date_count) FROM tidegate.batch"), 36)


class Privileges(PostgresFlow):
    """The roles that `doctor --grant` makes, with one right taken away."""

    scene = """
    CREATE SCHEMA sales;
    CREATE TABLE sales.source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
    INSERT INTO sales.source SELECT date '2024-01-01' + i / 10, i, i + 1 FROM generate_series(0, 99) i;
    CREATE TABLE sales.fact(n bigserial PRIMARY KEY, day date NOT NULL, id int NOT NULL UNIQUE, v int);
    INSERT INTO sales.fact(day, id, v) SELECT day, id, 0 FROM sales.source WHERE id <> 33;
    INSERT INTO sales.fact(day, id, v) VALUES('2024-01-05', 900, 0);
    """
    SPEC = ("target: sales.fact\nrange: 2024-01-03..2024-01-06\nwrong: x\ncorrect: y\nkey: [id]\nchanges: {v: yes, new rows: yes, vanished rows: id = 900}\n"
            "recompute: SELECT day, id, v FROM sales.source WHERE day >= :from AND day < :to\n")
    NOW = "SELECT day, id, v FROM sales.fact ORDER BY id"
    WANT = "SELECT day, id, CASE WHEN id BETWEEN 20 AND 59 THEN v ELSE 0 END FROM sales.source ORDER BY id"
    # What is taken away, from which role; the first command that cannot do without; what its message must name.
    MISSING = (
        ("SELECT ON sales.fact", "plan", ("sales.fact",)), ("USAGE ON SCHEMA sales", "plan", ("sales",)), ("SELECT ON sales.source", "plan", ("source",)),
        ("tidegate_ledger", "plan", ("tidegate",)), ("TEMPORARY ON DATABASE", "any", ()),
        ("INSERT ON sales.fact", "swap", ("fact",)), ("UPDATE ON sales.fact", "swap", ("fact",)), ("DELETE ON sales.fact", "swap", ("fact",)),
        ("USAGE, UPDATE ON SEQUENCE sales.fact_n_seq", "swap", ("fact_n_seq",)),
    )

    def setUp(self):
        super().setUp()
        self.sql("DROP ROLE IF EXISTS ps_publisher; CREATE ROLE ps_publisher LOGIN; REVOKE TEMPORARY ON DATABASE " + self.name + " FROM PUBLIC")
        self.before, self.want = self.rows(self.NOW), self.rows(self.WANT)
        self.file = self.spec(self.SPEC)
        self.url = self.named.replace("user=postgres", "user=ps_publisher")
        self.grant()

    def tearDown(self):
        self.sql("REASSIGN OWNED BY ps_publisher TO postgres; DROP OWNED BY ps_publisher")
        super().tearDown()

    def grant(self):
        grants = self.tidegate("doctor", "--grant", "ps_publisher", "--publish", "sales.fact", "--database", self.named).out
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.database], input=grants, text=True, check=True,
                       env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})
        self.sql("GRANT SELECT ON sales.source TO ps_publisher")

    def test_doctor_says_who_goes_round_the_gate(self):
        """Every role that can write the target, however it came by that, and none that cannot."""
        roles = {"pw_reader": "SELECT", "pw_column": "UPDATE (v)", "pw_cleaner": "TRUNCATE", "pw_group": "INSERT"}
        self.sql("CREATE ROLE pw_member LOGIN;" + "".join(
            f"CREATE ROLE {role} {'NOLOGIN' if role == 'pw_group' else 'LOGIN'}; GRANT {right} ON sales.fact TO {role};"
            for role, right in roles.items()) + "GRANT pw_group TO pw_member")
        try:
            told = self.tidegate("doctor", "sales.fact", "--database", self.named, "--json").json["looked_at"]
        finally:
            self.sql("DROP ROLE pw_member;" + "".join(f"DROP OWNED BY {role}; DROP ROLE {role};" for role in roles))
        line = next(row for row in told if row["what"] == "writers of sales.fact")
        self.assertRegex(line["how"], r"^ps_publisher, pw_cleaner, pw_column, pw_member; and \d+ superuser")
        self.assertEqual(line["health"], "note")
        self.assertIn("goes round the gate", line["todo"])

    def test_each_right_that_is_missing(self):
        """Taken away before the plan, before the run or before the swap: refused with what to ask for, nothing half done; with
        the right given back the same command carries on."""
        steps = (["plan"], ["run"], ["swap", "--yes"], ["rollback"])
        for right, first, names in self.MISSING:
            for taken in range(len(steps)):
                with self.subTest(f"{right} is missing at {steps[taken][0]}"):
                    self.tearDown()
                    self.setUp()
                    what = right + " " + self.name if right.endswith("DATABASE") else right
                    for step in steps[:taken]:
                        self.tidegate(*step, self.file, "--database", self.url)
                    state = self.rows(self.NOW)
                    self.sql(f"REVOKE {what} FROM ps_publisher")
                    for at, step in enumerate(steps[taken:], taken):
                        result = self.run_tidegate(*step, self.file, "--database", self.url)
                        if result.code != OK:
                            break
                        state = self.rows(self.NOW)
                    else:
                        continue  # what comes after does not need it
                    self.assertIn(result.code, (DATABASE, DENIED, harness.USAGE, harness.SUPERSEDED), repr(result))
                    told = result.out + result.err
                    self.assertRegex(told, "(?i)grant|is missing", repr(result))
                    for name in (*names, *["--publish"] * (first == "swap")):
                        self.assertIn(name, told)
                    self.assertEqual(self.rows(self.NOW), state)
                    self.grant()
                    if result.code == harness.SUPERSEDED:
                        continue
                    for step in steps[at:]:
                        self.tidegate(*step, self.file, "--database", self.url)
                    self.assertEqual(self.rows(self.NOW), self.before)

    def test_whose_sessions_it_may_not_see(self):
        """Without pg_read_all_stats a transaction that is open on the target stops the swap, and the message says why."""
        spec = self.spec(self.SPEC, budget="budget: {duty: 100 %, lock: 0.1s, lock_tries: 2}")
        self.tidegate("plan", spec, "--database", self.url)
        self.tidegate("run", spec, "--database", self.url)
        self.sql("REVOKE pg_read_all_stats FROM ps_publisher")
        db = self.connect(autocommit=False)
        db.cursor().execute("SELECT count(*) FROM sales.fact")
        try:
            told = self.tidegate("swap", spec, "--yes", "--database", self.url, code=LOCKED).err
        finally:
            db.rollback()
            db.close()
        self.assertIn("pg_read_all_stats", told)
        self.tidegate("swap", spec, "--yes", "--database", self.url)
        self.assertEqual(self.rows(self.NOW), self.want)


# No room in every file whose name begins with what the file $TIDEGATE_FULL holds. Preloaded into the server, it needs no
# mount and so nobody's rights.
NO_ROOM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static int full(int fd) {
  char prefix[300], link[64], path[600];
  const char *flag = getenv("TIDEGATE_FULL");
  int file = flag ? open(flag, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  ssize_t n = read(file, prefix, sizeof prefix - 1);
  close(file);
  if (n <= 0) return 0;
  prefix[n] = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t m = readlink(link, path, sizeof path - 1);
  return m > n && strncmp(path, prefix, (size_t)n) == 0;
}
#define FAIL if (full(fd)) { errno = ENOSPC; return -1; }
#define REAL(name, type) static __typeof__(type) real; if (!real) real = (__typeof__(type))dlsym(RTLD_NEXT, name)
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { FAIL REAL("pwrite64", ssize_t (*)(int, const void *, size_t, off64_t)); return real(fd, data, n, at); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { FAIL REAL("pwrite", ssize_t (*)(int, const void *, size_t, off_t)); return real(fd, data, n, at); }
ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at) { FAIL REAL("pwritev64", ssize_t (*)(int, const struct iovec *, int, off64_t)); return real(fd, v, n, at); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) { FAIL REAL("pwritev", ssize_t (*)(int, const struct iovec *, int, off_t)); return real(fd, v, n, at); }
int posix_fallocate64(int fd, off64_t at, off64_t n) { if (full(fd)) return ENOSPC; REAL("posix_fallocate64", int (*)(int, off64_t, off64_t)); return real(fd, at, n); }
int posix_fallocate(int fd, off_t at, off_t n) { if (full(fd)) return ENOSPC; REAL("posix_fallocate", int (*)(int, off_t, off_t)); return real(fd, at, n); }
"""


class NoRoom(OnServer):
    """Hazard 23: a disk that is full, of the tablespace, of the database and of the log."""

    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="tidegate-room.", dir="/tmp"))
        cls.work.chmod(0o755)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", cls.work / "shim.so", "-ldl"], input=NO_ROOM, text=True, check=True)
        cls.flag = cls.work / "full"
        cls.preload = {"LD_PRELOAD": str(cls.work / "shim.so"), "TIDEGATE_FULL": str(cls.flag)}
        os.environ.update(cls.preload)
        try:
            super().setUpClass()
        finally:
            for name in cls.preload:
                del os.environ[name]
        owner = os.stat(cls.own.folder + "/data").st_uid
        cls.space = Path(cls.own.folder) / "space"
        cls.space.mkdir()
        os.chown(cls.space, owner, -1)
        cls.own.run(f"CREATE TABLESPACE scratch LOCATION '{cls.space}'")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.work)

    def tearDown(self):
        self.flag.unlink(missing_ok=True)
        super().tearDown()

    def fill(self, place):
        self.flag.write_text(str(place), encoding="utf-8")

    def room(self):
        self.flag.unlink()

    def test_the_tablespace_of_the_shadow_during_the_run(self):
        """Production does not feel it; with room again the same command carries on."""
        (self.folder / "tidegate.yaml").write_text("postgres: {tablespace: scratch}\n", encoding="utf-8")
        for shadow in ("thin", "full"):
            with self.subTest(shadow):
                spec = self.spec(SPEC + f"shadow: {shadow}\n")
                self.plan(spec)
                self.fill(self.space)
                result = self.tidegate("run", spec, code=FULL)
                self.assertIn("full", result.err)
                self.sql("UPDATE fact SET note = note WHERE id < 10; INSERT INTO fact(day, id, v) VALUES('2024-03-01', 9999, 1); DELETE FROM fact WHERE id = 9999")
                self.assertEqual(self.rows(NOW), self.before)
                self.room()
                self.tidegate("run", spec)
                self.assertIn("scratch", repr(self.rows("SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE relname LIKE 'tidegate%changes'")))
                self.tidegate("swap", spec, "--yes")
                self.assertEqual(self.rows(NOW), self.right)
                self.tidegate("rollback", spec)
                self.assertEqual(self.rows(NOW), self.before)

    def test_the_database_during_run_and_swap(self):
        """There is no room for what the swap writes: production is wholly old, and it is published once there is."""
        oid = self.value(f"SELECT oid FROM pg_database WHERE datname = '{self.name}'")
        self.plan(self.file)
        self.fill(f"{self.own.folder}/data/base/{oid}/")
        self.tidegate("run", self.file, code=FULL)
        self.room()
        self.tidegate("run", self.file)
        self.fill(f"{self.own.folder}/data/base/{oid}/")
        result = self.tidegate("swap", self.file, "--yes", code=FULL)
        self.assertIn("untouched", result.err)
        self.room()
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.fill(f"{self.own.folder}/data/base/{oid}/")
        result = self.run_tidegate("rollback", self.file)
        self.room()
        if result.code != OK:
            self.assertEqual((result.code, self.rows(NOW), self.state()), (FULL, self.right, "swapped"), repr(result))
            self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(NOW), self.before)

    def test_the_log(self):
        """The server stops itself: after it came up again production is wholly old or wholly new, as the ledger says."""
        self.built(self.file)
        self.fill(f"{self.own.folder}/data/pg_wal/")
        result = self.run_tidegate("swap", self.file, "--yes")
        self.room()
        self.assertNotEqual(result.code, OK, repr(result))
        self.own.crash()
        os.environ.update(self.preload)
        try:
            self.own.restart()
        finally:
            for name in self.preload:
                del os.environ[name]
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)


class Replicas(OnServer):
    """A standby: to read on, and promoted at every point of the way. Each test has a primary and a standby of its own."""

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.own = Cluster()
        super().setUp()
        self.primary, self.standby = self.named, None

    def tearDown(self):
        self.own.stop()
        if self.standby is not None:
            self.standby.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def follow(self):
        if self.standby is None:
            self.standby = Standby(self.own)
        behind = "SELECT pg_wal_lsn_diff('{}', pg_last_wal_replay_lsn()) <= 0"
        here, there = self.connect(), self.standby.connect(self.name)
        cursor, far = here.cursor(), there.cursor()
        cursor.execute("SELECT pg_current_wal_lsn()")
        lsn, = cursor.fetchone()

        def caught_up():
            far.execute(behind.format(lsn))
            return far.fetchone()[0]
        wait_until(caught_up, what="the standby")
        here.close()
        there.close()

    def fail_over(self):
        """The primary is gone, the standby is promoted, and is where the database's name leads now."""
        self.follow()
        self.own.crash()
        self.standby.promote()
        self.cluster = self.standby
        self.database = self.named = self.standby.url(self.name)
        self.file = self.spec(self.file.read_text(encoding="utf-8").replace(self.primary, self.named))

    def test_read_there_work_here(self):
        """Commands that look are answered by a standby; commands that work are refused and say where to go."""
        self.plan(self.file)
        self.follow()
        there = self.standby.url(self.name)
        for words in (["plan"], ["run"], ["discard"]):
            result = self.run_tidegate(*words, self.file, "--database", there)
            self.assertNotEqual(result.code, OK, repr(result))
            self.assertIn("primary", result.out + result.err, repr(result))
        self.tidegate("run", self.file)
        self.follow()
        self.tidegate("status", self.file, "--database", there)
        self.tidegate("diff", self.file, "--database", there)
        self.tidegate("scan", "fact", "--database", there)
        self.assertIn("standby", self.tidegate("doctor", "--database", there, code=DATABASE).out)
        for words in (["swap", "--yes"], ["discard"]):
            result = self.run_tidegate(*words, self.file, "--database", there)
            self.assertNotEqual(result.code, OK, repr(result))
            self.assertIn("primary", result.out + result.err, repr(result))
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.follow()
        result = self.run_tidegate("rollback", self.file, "--database", there)
        self.assertNotEqual(result.code, OK, repr(result))
        self.assertEqual(self.rows(NOW), self.right)

    def test_promoted_half_way_through_a_run(self):
        self.file = self.spec(SPEC, budget=SLOW)
        self.half_run(self.file)
        self.fail_over()
        self.tidegate("run", self.file, code=SUPERSEDED)
        self.assertEqual(self.rows(NOW), self.before)
        self.swapped(self.file)
        self.assertEqual(self.rows(NOW), self.right)

    def test_promoted_between_seal_and_swap(self):
        """What was sealed on a server that is gone may lack its last commits: refused, and built again."""
        self.built(self.file)
        self.fail_over()
        self.tidegate("swap", self.file, "--yes", code=SUPERSEDED)
        self.assertEqual(self.rows(NOW), self.before)
        self.swapped(self.file)
        self.assertEqual(self.rows(NOW), self.right)

    def test_promoted_after_the_swap(self):
        """The old rows came along: rollback, or finish, on the new primary."""
        self.swapped(self.file)
        self.fail_over()
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(NOW), self.before)


class Copies(OnServer):
    """A copy of the database is another database."""

    def copy_by_template(self):
        self.cluster.run(f"CREATE DATABASE {self.name}_copy TEMPLATE {self.name}")

    def copy_by_dump(self):
        self.cluster.run(f"CREATE DATABASE {self.name}_copy")
        dump = subprocess.run(["pg_dump", "-d", self.database], check=True, stdout=subprocess.PIPE)
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.cluster.url(self.name + "_copy")], input=dump.stdout, check=True, stdout=subprocess.DEVNULL)

    def test_sealed_here_is_not_published_there(self):
        for copy in (self.copy_by_template, self.copy_by_dump):
            with self.subTest(copy.__name__):
                self.tearDown()
                self.setUp()
                self.built(self.file)
                copy()
                here, there = self.name, self.name + "_copy"
                try:
                    result = self.run_tidegate("swap", self.file, "--yes", "--database", self.cluster.url(there))
                    self.assertEqual(result.code, SUPERSEDED, repr(result))
                    self.name = there
                    self.assertEqual(self.rows(NOW), self.before)
                    self.name = here
                    self.tidegate("swap", self.file, "--yes")
                    self.assertEqual(self.rows(NOW), self.right)
                    self.name = there
                    self.assertEqual(self.rows(NOW), self.before)
                finally:
                    self.name = here
                    self.cluster.drop(there)


class Restarts(OnServer):
    def test_a_crash_between_all_commands(self):
        """The whole way, with the server down and up again before each step."""
        spec = self.spec(SPEC, budget=SLOW)
        for words, rows in ((["plan"], self.before), (["run"], self.before), (["swap", "--yes"], self.right), (["rollback"], self.before),
                            (["swap", "--yes"], self.right), (["finish", "--early"], self.right)):
            self.own.crash()
            self.tidegate(*words, spec, code=DATABASE)
            self.own.restart()
            self.tidegate(*words, spec)
            self.assertEqual(self.rows(NOW), rows, words)
        self.assertEqual(self.objects(), [])

    def emptied(self):
        """A run with an unlogged full shadow, killed half-way; the crash empties the shadow and its done marks survive."""
        (self.folder / "tidegate.yaml").write_text("postgres: {shadow: unlogged}\n", encoding="utf-8")
        spec = self.spec(SPEC + 'shadow: full\nchecks: {totals: ["count(*) = (SELECT count(*) FROM source WHERE day >= :from AND day < :to)"]}\n', budget=SLOW)
        self.half_run(spec)
        table, = [name for name in self.objects() if name.endswith("_shadow")]
        self.assertEqual(self.value(f"SELECT relpersistence FROM pg_class WHERE oid = '{table}'::regclass"), "u")
        self.assertGreater(self.value(f"SELECT count(*) FROM {table}"), 0)
        done = self.value("SELECT sum(row_count) FROM tidegate.batch")
        self.own.crash()
        self.own.restart()
        self.assertEqual(self.value(f"SELECT count(*) FROM {table}"), 0)
        self.assertEqual(self.value("SELECT sum(row_count) FROM tidegate.batch"), done)
        return spec, table

    def test_an_unlogged_shadow_after_a_crash(self):
        """What is published does not suffer from it: the change set is logged."""
        spec, _ = self.emptied()
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)

    def test_an_unlogged_shadow_is_filled_again(self):
        """The run notices what the crash took and fills it again, so that the shadow shows every recomputed row."""
        spec, table = self.emptied()
        self.tidegate("run", spec)
        self.assertEqual(self.value(f"SELECT count(*) FROM {table}"), 3600)

    def test_an_unlogged_shadow_that_a_crash_emptied_after_the_seal(self):
        """The change set and the old rows are logged: what was sealed is published whole, or built again, and taken back."""
        (self.folder / "tidegate.yaml").write_text("postgres: {shadow: unlogged}\n", encoding="utf-8")
        spec = self.spec(SPEC + "shadow: full\n")
        self.built(spec)
        self.own.crash()
        self.own.restart()
        result = self.run_tidegate("swap", spec, "--yes")
        if result.code != OK:
            self.assertEqual(self.rows(NOW), self.before, repr(result))
            self.tidegate("run", spec)
            self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.own.crash()
        self.own.restart()
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)


class Sessions(OnServer):
    """What the server's and the role's settings do to sessions."""

    settings = ("max_connections=14", "superuser_reserved_connections=3", "max_wal_senders=0", "wal_level=replica")

    def setUp(self):
        super().setUp()
        self.sql(f"DROP ROLE IF EXISTS worker; CREATE ROLE worker LOGIN; ALTER DATABASE {self.name} OWNER TO worker; ALTER TABLE fact OWNER TO worker; ALTER TABLE source OWNER TO worker; GRANT pg_read_all_stats TO worker")
        self.admin = self.named
        self.named = self.named.replace("user=postgres", "user=worker")
        self.file = self.spec(SPEC, budget=SLOW)

    def tearDown(self):
        self.sql("REASSIGN OWNED BY worker TO postgres; DROP OWNED BY worker")
        self.own.run(f"ALTER DATABASE {self.name} OWNER TO postgres")
        super().tearDown()

    def test_no_connection_left(self):
        """Said at once and plainly; what was built stays, and it goes on when there is one again."""
        self.plan(self.file)
        others = []
        try:
            while len(others) < 20:
                others.append(psycopg2.connect(self.named))
        except psycopg2.OperationalError:
            pass
        self.assertLess(len(others), 14)
        begun = time.monotonic()
        told = self.tidegate("run", self.file, code=DATABASE).err
        self.assertLess(time.monotonic() - begun, 20)
        self.assertRegex(told, "connection slots|too many clients")
        others.pop().close()
        wait_until(lambda: self.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'worker'") == len(others), what="a free connection")
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        for other in others:
            other.close()
        self.assertEqual(self.rows(NOW), self.right)

    def test_settings_of_the_role_that_end_or_forbid_things(self):
        """Sessions that are ended when idle, statements that may take no time, locks that may not be waited for: all the same."""
        for setting in ("idle_session_timeout = '150ms'", "statement_timeout = '60ms'", "lock_timeout = '1ms'", "idle_in_transaction_session_timeout = '50ms'",
                        "transaction_timeout = '200ms'", "temp_buffers = '800kB'", "work_mem = '64kB'", "synchronous_commit = off"):
            if not self.rows(f"SELECT FROM pg_settings WHERE name = '{setting.split()[0]}'"):
                continue  # came with a later major
            with self.subTest(setting):
                self.tearDown()
                self.setUp()
                self.sql(f"ALTER ROLE worker IN DATABASE {self.name} SET {setting}")
                spec = self.spec(SPEC.replace("SELECT day, id, v FROM source", "SELECT day, id, v + (SELECT count(pg_sleep(0.1)) * 0)::int AS v FROM source"), budget="budget: {duty: 30 %, crowded: 100 %, batch: 300ms}")
                for words in (["plan"], ["run"], ["swap", "--yes"]):
                    self.tidegate(*words, spec)
                self.assertEqual(self.rows(NOW), self.right)
                self.tidegate("rollback", spec)
                self.assertEqual(self.rows(NOW), self.before)

    def test_a_role_that_writes_nothing_by_default(self):
        """default_transaction_read_only is somebody's wish: refused in words, at every step, with nothing half done."""
        switch = f"ALTER ROLE worker IN DATABASE {self.name} "
        for words, rows in ((["plan"], self.before), (["run"], self.before), (["swap", "--yes"], self.right), (["rollback"], self.before)):
            before = self.rows(NOW)
            self.sql(switch + "SET default_transaction_read_only = on")
            result = self.run_tidegate(*words, self.file)
            self.assertNotEqual(result.code, OK, repr(result))
            self.assertIn("read-only", result.out + result.err)
            self.assertEqual(self.rows(NOW), before)
            self.sql(switch + "RESET default_transaction_read_only")
            self.tidegate(*words, self.file)
            self.assertEqual(self.rows(NOW), rows)


if __name__ == "__main__":
    harness.main()
