"""A tool that can only write production in place, run batch by batch over a snapshot: what passes, what is put back, and
what the next command finds after a crash. On SQLite and PostgreSQL, with real tools: shells that call sqlite3 and psql."""

import contextlib
import os
import pty
import signal
import subprocess
import time
from datetime import datetime, timedelta, timezone

import harness
from harness import BINARY, COMMAND, DENIED, DRIFT, HELD, LEASED, NO_CHANGE, PAUSED, STATE, USAGE, Flow, wait_until
from postgres_harness import PostgresFlow

# The days have 4, 3, 2, 5, 6, 7, 8, 9, 10, 11 rows: the third is the lightest.
COUNTS = [4, 3, 2, 5, 6, 7, 8, 9, 10, 11]
DAYS = [f"2024-01-{10 + i}" for i in range(10)]
RIGHT = "UPDATE sales SET net = id * 3 WHERE day >= '{from}' AND day < '{to}'"
ALL = "SELECT day, id, net, note FROM sales ORDER BY id"
SPEC = """
target: sales
range: 2024-01-10..2024-01-19
wrong: the rate was left out
correct: net is three times the id
changes: {{net: net < 0}}
checks: {{rows: [net > 0]}}
recompute: {{command: ["true", "{{shadow}}"], timeout: {timeout}}}
"""


class InPlace:
    """What holds on every engine."""

    crashes = 4  # how many of the moments are tried

    def setUp(self):
        super().setUp()
        rows, number = [], 0
        for day, count in zip(["2024-01-08", *DAYS, "2024-01-21"], [3, *COUNTS, 3]):
            for _ in range(count):
                number += 1
                rows.append(f"('{day}', {number}, {-number if day in DAYS else number * 3}, 'n')")
        self.sql("CREATE TABLE sales(day date NOT NULL, id int PRIMARY KEY, net int, note text); INSERT INTO sales VALUES "
                 + ", ".join(rows))
        self.before = self.rows(ALL)
        self.right = [(day, number, number * 3, note) for day, number, _, note in self.before]
        self.write()

    def write(self, timeout="60s", **kwargs):
        self.file = self.spec(SPEC.format(timeout=timeout), **kwargs)

    def snapshot(self, line, *args, code=0, **kwargs):
        return self.tidegate("snapshot", self.file, "--then", line, *args, code=code, **kwargs)

    def told(self):
        path = self.folder / "told"
        return path.read_text().splitlines() if path.exists() else []

    def assert_put_back(self, result=None):
        self.assertEqual(self.rows(ALL), self.before)
        self.assertEqual(self.state(), "restored")
        if result is not None:
            self.assertIn("production was restored from the snapshot", result.err)

    def events(self):
        return [row[0] for row in self.rows("SELECT what FROM " + self.ledger("event"))]

    def begin(self, line, until, no_wait=False, **kwargs):
        """The command in the background, until a file is there."""
        process = self.start("snapshot", self.file, "--then", line, *["--no-wait"] * no_wait, start_new_session=True, **kwargs)
        wait_until(lambda: (self.folder / until).exists() or process.poll() is not None, what=until)
        self.assertIsNone(process.poll(), "it ended by itself")
        return process

    def kill(self, process):
        process.kill()
        process.communicate()
        self.assertEqual(self.state(), "opened")

    # -- what passes

    def test_the_lightest_date_first_then_more_and_more(self):
        result = self.snapshot("echo {from} {to_inclusive} >>told; " + self.tool(RIGHT), "--json")
        self.assertEqual(self.rows(ALL), self.right)
        self.assertEqual(self.state(), "checked")
        self.assertEqual(self.told(), ["2024-01-12 2024-01-12", "2024-01-10 2024-01-11", "2024-01-13 2024-01-15", "2024-01-16 2024-01-19"])
        told = result.json
        self.assertEqual((told["state"], told["rows"], told["changed"], told["outside_unchanged"]), ("checked", 65, 65, True))
        self.assertEqual([(b["from"], b["to"], b["dates"], b["rows"], b["changed"]) for b in told["batches"]],
                         [("2024-01-12", "2024-01-12", 1, 2, 2), ("2024-01-10", "2024-01-11", 2, 7, 7),
                          ("2024-01-13", "2024-01-15", 3, 18, 18), ("2024-01-16", "2024-01-19", 4, 38, 38)])

    def test_a_line_a_batch_and_then_as_check_shows_it(self):
        result = self.snapshot(self.tool(RIGHT))
        self.assertEqual([line.split("  ")[0] for line in result.err.splitlines()], ["batch 1", "batch 2", "batch 3", "batch 4"])
        self.assertIn("12 Jan", result.err)
        self.assertIn("checked: 65 rows in the snapshot, 65 rows differ", result.out)
        self.assertIn("has done just this", self.snapshot(self.tool(RIGHT), code=STATE).err)
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows(ALL), self.before)
        self.snapshot(self.tool(RIGHT))

    def test_a_tool_of_one_date_gets_the_lightest_first(self):
        self.snapshot("echo {date} $TIDEGATE_DATE {date_nodash} >>told; " + self.tool("UPDATE sales SET net = id * 3 WHERE day = '{date}'"))
        self.assertEqual(self.rows(ALL), self.right)
        order = sorted(DAYS, key=lambda day: COUNTS[DAYS.index(day)])
        self.assertEqual(self.told(), [f"{day} {day} {day.replace('-', '')}" for day in order])

    def test_no_batch_has_more_dates_than_asked_for(self):
        self.snapshot("echo {dates} >>told; " + self.tool(RIGHT), "--per-batch", 2)
        self.assertEqual(self.rows(ALL), self.right)
        self.assertEqual([len(line.split(",")) for line in self.told()], [1, 2, 2, 2, 2, 1])
        self.tidegate("snapshot", self.file, "--then", "true", "--per-batch", "0", code=USAGE)

    def test_the_spec_s_command_need_not_know_of_a_shadow(self):
        self.file = self.spec(SPEC.format(timeout="9s").replace("{shadow}", "{from}"))
        self.snapshot(self.tool(RIGHT))
        self.assertEqual(self.rows(ALL), self.right)
        self.assertIn("shadow-not-named", self.plan(self.file, code=DENIED).out)

    # -- what is put back

    def fails_in(self, batch, line):
        """A tool that is right, and in its n-th batch does something else."""
        return f"echo x >>told; if [ $(wc -l <told) -eq {batch} ]; then {line}; else {self.tool(RIGHT)}; fi"

    def test_fails_in_the_third_batch(self):
        result = self.snapshot(self.fails_in(3, self.tool(RIGHT) + "; echo went wrong; exit 9"), code=COMMAND)
        self.assert_put_back(result)
        self.assertIn("went wrong", result.err)
        self.assertEqual(len(self.told()), 3)

    def test_writes_dates_of_the_range_that_are_not_its_batch_s(self):
        result = self.snapshot(self.fails_in(2, self.tool("UPDATE sales SET net = id * 3 WHERE day BETWEEN '2024-01-10' AND '2024-01-15'")), code=HELD)
        self.assert_put_back(result)
        self.assertIn("dates that were not this batch's changed", result.err)

    def test_the_whole_range_at_once_is_not_a_batch(self):
        """The line as it was typed, its dates not replaced: seen before anything is done where it is understood."""
        line = self.tool("UPDATE sales SET net = id * 3 WHERE day BETWEEN '2024-01-10' AND '2024-01-19'")
        refused = self.snapshot(line, code=USAGE)
        self.assertIn("BETWEEN '{from}' AND '{to_inclusive}'", refused.err)
        (self.folder / "load.sh").write_text(line.replace("{database}", str(self.database)))
        self.assert_put_back(self.snapshot("sh load.sh", code=HELD))

    def test_writes_rows_outside_the_range(self):
        result = self.snapshot(self.fails_in(2, self.tool(RIGHT) + "; " + self.tool("UPDATE sales SET net = 0 WHERE id = 1")), code=HELD)
        self.assertIn("rows outside the range changed", result.err)
        self.assertEqual(self.rows(ALL)[1:], self.before[1:])
        self.assertEqual(self.state(), "restored")

    def test_writes_what_the_evidence_is_against(self):
        for what, sql in (("check", "UPDATE sales SET net = 0 WHERE day = '2024-01-13'"),
                          ("another column", RIGHT + "; UPDATE sales SET note = 'x' WHERE day = '2024-01-13'"),
                          ("vanished", "DELETE FROM sales WHERE id = (SELECT min(id) FROM sales WHERE day = '2024-01-13')"),
                          ("emptied", "DELETE FROM sales WHERE day = '2024-01-13'")):
            with self.subTest(what):
                self.tearDown()
                self.setUp()
                self.assert_put_back(self.snapshot(self.fails_in(3, self.tool(sql)), code=HELD))
                self.assertEqual(len(self.told()), 3)

    def test_the_oracle_is_asked_after_each_batch(self):
        self.file = self.spec(SPEC.format(timeout="60s") + "oracle: SELECT :id * 3 AS net\n")
        wrong = RIGHT.replace("id * 3", "CASE WHEN day = '2024-01-10' AND id = 4 THEN 99 ELSE id * 3 END")
        result = self.snapshot(f"echo x >>told; {self.tool(wrong)}", code=HELD)
        self.assertIn("the oracle gives other values in 1 places of a sample of 7 rows", result.err)
        self.assertEqual(len(self.told()), 2)
        self.assert_put_back(result)
        self.snapshot(self.tool(RIGHT))
        self.assertEqual(self.rows(ALL), self.right)

    def test_hangs(self):
        self.write(timeout="2s")
        """Its output goes elsewhere, so that nothing is heard of it any more."""
        result = self.snapshot(self.fails_in(2, self.tool(RIGHT) + "; exec sleep 300 >log 2>&1"), code=COMMAND)
        self.assertIn("longer than `recompute: timeout` allows", result.err)
        self.assert_put_back(result)

    def test_asks_for_a_password(self):
        """There is nobody: it gets an end of file, and no terminal, also where tidegate has one."""
        tool = f"{self.tool(RIGHT)}; cat; exec </dev/tty || exit 7; read answer"
        words = [BINARY, "snapshot", str(self.file), "--then", tool]
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execv(BINARY, words)
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while more := os.read(terminal, 4096):
                said += more
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), COMMAND, said)
        os.close(terminal)
        self.assert_put_back()

    def test_prints_a_secret(self):
        (self.folder / "say.sh").write_text("echo $DB_SECRET; echo password: hunter2; echo https://u:hunter3@there; exit 1")
        result = self.snapshot(self.tool(RIGHT) + "; sh say.sh", code=COMMAND, env={"DB_SECRET": "hunter1"})
        kept = str(self.rows("SELECT * FROM " + self.ledger("event")))
        self.assertIn("password: ***", kept)
        self.assertNotIn("hunter", result.out + result.err + kept)
        self.assert_put_back(result)
        refused = self.snapshot("DB_SECRET=hunter1 " + self.tool(RIGHT), code=USAGE)
        self.assertIn("may hold a secret", refused.err)
        self.assertNotIn("hunter", refused.err)

    def test_changes_nothing(self):
        self.file = self.spec(SPEC.format(timeout="9s").replace("checks: {rows: [net > 0]}", ""))
        self.assert_put_back(self.snapshot("true", code=NO_CHANGE))

    def test_ctrl_c(self):
        process = self.begin(self.fails_in(2, self.tool(RIGHT) + "; touch written; sleep 300"), "written")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, PAUSED, err)
        self.assertIn("production was restored", err)
        self.assert_put_back()

    # -- after a crash

    def test_killed_the_same_command_carries_on(self):
        """At several moments of a batch: before its tool has written, when it has written, when it has ended; and in the
        first batch, when nothing has passed yet."""
        hold = "touch there; while [ ! -e go ]; do sleep 0.05; done"
        half = self.tool(RIGHT.replace("id * 3", "0"))
        for batch, work in ((1, f"{hold}; {self.tool(RIGHT)}"), (1, f"{half}; {hold}"), (2, f"{self.tool(RIGHT)}; {hold}"),
                            (3, f"{half}; {hold}"))[:self.crashes]:
            with self.subTest(f"batch {batch}: {work}"):
                self.tearDown()
                self.setUp()
                # The first time it stands still; the second time it does right.
                line = f"echo {{from}} >>told; if [ $(wc -l <told) -eq {batch} ]; then {work}; else {self.tool(RIGHT)}; fi"
                self.kill(self.begin(line, "there"))
                self.tidegate("check", self.file, code=STATE)
                (self.folder / "go").touch()
                self.snapshot(line)
                self.assertEqual(self.rows(ALL), self.right)
                self.assertEqual(self.state(), "checked")
                told = self.told()
                self.assertEqual(len(told), 5)  # four batches, one of them twice
                self.assertEqual(told[batch - 1], told[batch])

    def test_killed_restore_puts_everything_back(self):
        self.kill(self.begin(self.fails_in(3, self.tool(RIGHT) + "; touch written; sleep 300"), "written"))
        self.assertNotEqual(self.rows(ALL), self.before)
        self.assertIn("opened sales to a tool", self.tidegate("plan", self.file, code=DENIED).out)
        self.tidegate("restore", self.file)
        self.assert_put_back()

    def test_killed_the_tool_is_ended_before_anything_is_put_back(self):
        """It went on writing, in a session of its own."""
        writer = "while :; do %s; sleep 0.1; done" % self.tool(RIGHT)
        line = self.fails_in(2, f"setsid sh -c {quoted(writer)} >/dev/null 2>&1 & touch written; sleep 300")
        self.kill(self.begin(line, "written"))
        wait_until(lambda: self.value("SELECT count(*) FROM sales WHERE net > 0 AND day = '2024-01-10'") > 0, what="its writing")
        self.tidegate("restore", self.file)
        self.assert_put_back()
        self.assertEqual(subprocess.run(["pgrep", "-f", f"{self.folder.name}"], stdout=subprocess.PIPE, check=False).stdout, b"")

    def test_killed_and_others_wrote_since(self):
        """What they wrote in dates that had passed or were still to come is in no snapshot: it stays until somebody says."""
        for number in ("2024-01-12", "2024-01-19"):
            with self.subTest(number):
                self.tearDown()
                self.setUp()
                line = self.fails_in(2, "touch there; sleep 300")
                self.kill(self.begin(line, "there"))
                self.sql(f"UPDATE sales SET net = 77 WHERE day = '{number}'")
                result = self.snapshot(line, code=DRIFT)
                self.assertIn("somebody else wrote", result.err)
                self.assertEqual(self.state(), "opened")
                self.assertEqual(self.value(f"SELECT count(*) FROM sales WHERE net <> 77 AND day = '{number}'"), 0)
                self.tidegate("restore", self.file)
                self.assert_put_back()

    def test_killed_and_production_ran_since(self):
        """Rows outside the range that are new are no reason not to carry on; they are told of."""
        hold = "touch there; while [ ! -e go ]; do sleep 0.05; done"
        line = f"echo x >>told; if [ $(wc -l <told) -eq 2 ]; then {hold}; fi; {self.tool(RIGHT)}"
        self.kill(self.begin(line, "there"))
        self.sql("INSERT INTO sales VALUES('2024-01-22', 900, 5, 'n')")
        (self.folder / "go").touch()
        result = self.snapshot(line)
        self.assertEqual(self.rows(ALL), self.right + [self.rows(ALL)[-1]])
        self.assertIn("rows outside the range are no longer as they were", result.out)

    def test_another_command_does_not_carry_on(self):
        self.kill(self.begin(self.fails_in(2, "touch there; sleep 300"), "there"))
        self.assertIn("was opened to another command", self.snapshot("true", code=STATE).err)
        self.assertEqual(self.state(), "opened")
        self.tidegate("restore", self.file)  # ends the tool too

    def test_two_at_the_same_time(self):
        line = self.fails_in(2, f"touch there; while [ ! -e go ]; do sleep 0.05; done; {self.tool(RIGHT)}")
        process = self.begin(line, "there")
        self.snapshot(line, code=LEASED)
        self.tidegate("restore", self.file, code=LEASED)
        (self.folder / "go").touch()
        self.assertEqual(process.wait(60), 0, process.communicate())
        self.assertEqual(self.rows(ALL), self.right)

    # -- the gate

    JOB = "production: {schedule: none, live: {command: [sh, -c, 'test ! -e running || exit 1']}}"

    def test_shows_that_it_lives_while_the_tool_runs(self):
        """And ends the tool when another has taken over, leaving to that one what is to be put back."""
        record = self.ledger("backfill")
        process = self.begin("touch there; echo $$ >tool; exec sleep 300", "tool")
        self.sql(f"UPDATE {record} SET lease_heartbeat = 1")
        wait_until(lambda: self.value(f"SELECT lease_heartbeat FROM {record}") > 1, what="a heartbeat")
        self.sql(f"UPDATE {record} SET lease_epoch = lease_epoch + 1, lease_owner = 'elsewhere'")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, LEASED, out + err)
        self.assertIn("the tool was ended: backfill", err)
        self.assertIn("elsewhere", err)
        self.assertRaises(ProcessLookupError, os.kill, int((self.folder / "tool").read_text()), 0)
        self.assertEqual(self.state(), "opened")
        self.assertNotIn("put back", " ".join(self.events()))

    def test_waits_for_a_job(self):
        self.write(production=self.JOB)
        (self.folder / "running").touch()
        process = self.start("snapshot", self.file, "--then", self.tool(RIGHT))
        self.assertIn("running", process.stderr.readline())
        self.assertEqual((self.objects(), self.rows(ALL)), ([], self.before))
        (self.folder / "running").unlink()
        self.assertEqual(process.wait(60), 0, process.communicate())
        self.assertEqual(self.rows(ALL), self.right)

    def test_a_job_that_runs_and_nobody_waits(self):
        self.write(production=self.JOB)
        (self.folder / "running").touch()
        self.snapshot(self.tool(RIGHT), "--no-wait", code=DENIED)
        self.assertEqual(self.rows(ALL), self.before)
        self.assertEqual(self.objects(), [])

    ROW = "production: {schedule: none, live: {running: SELECT count(*) FROM job_runs WHERE ended = 0}}"

    def test_a_job_that_comes_while_the_tool_runs(self):
        """The tool is ended, what it wrote is put back, and when the job is over its batch is begun again."""
        self.sql("CREATE TABLE job_runs(id int, ended int)")
        self.write(production=self.ROW)
        half = self.tool(RIGHT.replace("id * 3", "0"))
        line = f"echo {{from}} >>told; if [ $(wc -l <told) -eq 2 ]; then {half}; touch there; sleep 300; else {self.tool(RIGHT)}; fi"
        process = self.begin(line, "there")
        self.sql("INSERT INTO job_runs VALUES(1, 0)")
        wait_until(lambda: "put back for a job" in self.events(), what="the batch being put back")
        self.assertEqual(self.rows(ALL)[3:10], self.before[3:10])  # batch 2: 10 and 11 January
        self.assertEqual(self.value("SELECT count(*) FROM sales WHERE net > 0 AND day = '2024-01-12'"), 2)
        self.assertEqual(len(self.told()), 2)
        self.sql("INSERT INTO sales VALUES('2024-01-22', 900, 5, 'n'); UPDATE job_runs SET ended = 1")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.rows(ALL), self.right + [self.rows(ALL)[-1]])
        self.assertEqual(len(self.told()), 5)
        self.assertIn("production runs now (running gives 1): the tool is being ended", err)
        self.assertIn("rows outside the range are no longer as they were", out)

    def test_a_job_that_comes_and_nobody_waits(self):
        """By a lock file: what the tool itself locks, and holds when the job comes, is not the job's."""
        self.write(production="production: {schedule: none, live: {lock_file: lock}}")
        (self.folder / "lock").touch()
        line = f"exec 9>>lock; flock -n 9 || exit 9; {self.tool(RIGHT)}; sleep 1.3; [ ! -e first ] && touch first && exit; touch there; sleep 300"
        process = self.begin(line, "there", no_wait=True)
        job = subprocess.Popen(["flock", self.folder / "lock", "true"])
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DENIED, err)
        self.assertIn("a job came while it ran: production runs now (lock_file:", err)
        self.assertEqual(job.wait(9), 0)  # it has not waited for longer than that
        self.assert_put_back()

    def test_a_tool_that_only_asks_for_the_work(self):
        """It ends at once; the job that it has started is seen, and waited for, before anything is judged."""
        self.write(production=self.JOB)
        work = f"sleep 0.5; {self.tool(RIGHT)}; rm running"
        self.snapshot(f"touch running; setsid sh -c {quoted(work)} >/dev/null 2>&1 </dev/null &", "--per-batch", 5, "--starts", "production")
        self.assertEqual(self.rows(ALL), self.right)

    def test_what_the_tool_puts_into_the_background_is_waited_for(self):
        self.snapshot(f"(sleep 0.4; {self.tool(RIGHT)}) >log 2>&1 &", "--per-batch", 5)
        self.assertEqual(self.rows(ALL), self.right)

    def test_others_write_the_range_between_two_batches(self):
        self.write(budget="budget: {duty: 15 %}")
        process = self.start("snapshot", self.file, "--then", self.tool(RIGHT))
        self.assertIn("batch 1", process.stderr.readline())
        self.sql("UPDATE sales SET net = 77 WHERE day = '2024-01-15'")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DRIFT, err)
        self.assertIn("somebody else wrote 15 Jan", err)
        self.assertEqual(self.value("SELECT count(*) FROM sales WHERE net = 77"), 7)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


class Sqlite(InPlace, Flow):
    def every(self, seconds, first, tries):
        """Production runs so often, first so many seconds from now; each run takes 1 s, and 1 s of guard is around it."""
        anchor = datetime.now(timezone.utc) + timedelta(seconds=first)
        self.write(budget="budget: {duty: 100 %%, batch: 1s, lock: 100ms, lock_tries: %d}" % tries, production="production: {schedule: \"every %ds from %s\", dialect: interval, zone: UTC, p95: 1s, "
                   "guard: 1s}" % (seconds, anchor.strftime("%Y-%m-%dT%H:%M:%SZ")))
        return int(anchor.timestamp())

    def test_a_tool_that_is_not_done_when_the_window_closes_is_ended(self):
        fires = self.every(600, 9, tries=3)
        result = self.snapshot(self.tool(RIGHT) + "; sleep 300", code=COMMAND)
        self.assertIn("longer than the window allows", result.err)
        self.assertLess(time.time(), fires + 30)
        self.assert_put_back(result)

    def test_no_batch_begins_that_cannot_end_before_the_window_closes(self):
        first = self.every(12, 8, tries=9)
        self.file.write_text(self.file.read_text().replace("..2024-01-19", "..2024-01-13"))
        self.snapshot(f"date +%s.%N >>told; sleep 1.2; {self.tool(RIGHT)}; date +%s.%N >>told", "--per-batch", 1)
        self.assertEqual(self.rows("SELECT count(*) FROM sales WHERE day BETWEEN '2024-01-10' AND '2024-01-13' AND net <> id * 3"), [(0,)])
        times = [float(line) for line in self.told()]
        self.assertEqual(len(times), 8)
        for begin, end in zip(times[::2], times[1::2]):
            for run in range(first, first + 600, 12):
                self.assertFalse(begin < run + 2 and end > run - 1, f"{begin}..{end} meets the run at {run}")

    def test_a_tool_that_shows_as_the_job(self):
        """By a sign that names nobody it is taken for production, until it is said that it starts that job."""
        self.write(production=self.JOB)
        line = f"echo x >>told; trap 'rm -f running; exit 1' TERM; touch running; {self.tool(RIGHT)}; sleep 1.3 & wait; rm running"
        self.tidegate("snapshot", self.file, "--then", line, "--starts", "nightly", code=USAGE)
        self.assertEqual(self.objects(), [])
        result = self.snapshot(line, "--per-batch", 5, code=DENIED)
        self.assertIn("3 times in one batch", result.err)
        self.assertIn("--starts NAME", result.err)
        self.assertEqual(len(self.told()), 3)
        self.assert_put_back(result)
        self.snapshot(line, "--per-batch", 5, "--starts", "production")
        self.assertEqual(self.rows(ALL), self.right)

    def tool(self, sql):
        return f'sqlite3 -cmd ".timeout 9000" {{database}} "{sql}"'


class Postgres(InPlace, PostgresFlow):
    crashes = 2

    def test_its_sessions_are_not_the_job_s(self):
        self.write(production="production: {schedule: none, live: {query: '%pg_sleep(1.2)%', advisory_lock: '42'}}")
        self.snapshot(self.tool("SELECT pg_advisory_lock(42); SELECT pg_sleep(1.2); " + RIGHT), "--per-batch", 9)
        self.assertEqual(self.rows(ALL), self.right)
        self.assertNotIn("ended the tool", self.events())

    def test_killed_and_its_statement_goes_on_in_the_server(self):
        """The client is gone with Tidegate, its statement is not: it would write when it has slept."""
        sleeper = self.tool(RIGHT + "; SELECT pg_sleep(300)").replace("psql ", "psql -1 ")
        process = self.start("snapshot", self.file, "--then", sleeper)
        asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND state = 'active' AND pid <> pg_backend_pid()"
        wait_until(lambda: self.value(asleep) == 1, what="the statement")
        self.kill(process)
        self.assertEqual(self.value(asleep), 1)
        self.tidegate("restore", self.file)
        self.assertEqual(self.value(asleep), 0)
        self.assert_put_back()

    def tool(self, sql):
        return f'psql -qAt -v ON_ERROR_STOP=1 -d "{{database}}" -c "{sql}"'


if __name__ == "__main__":
    harness.main()
