"""Pacing by real parts: a standby that lags, and an archive that fails or is slow. The run pauses, says so in `status` and in
the ledger, and carries on by itself when it is over."""

import shutil
import tempfile
from pathlib import Path

import harness
from harness import OK, wait_until
from postgres_harness import OwnServerFlow, Standby

# Twenty dates, of which every row is wrong.
SCENE = """
CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
INSERT INTO source SELECT date '2024-01-01' + i / 20, i, i + 1 FROM generate_series(0, 399) i;
CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int);
INSERT INTO fact SELECT day, id, 0 FROM source;
"""
SPEC = """
target: fact
range: 2024-01-01..2024-01-20
wrong: all nought
correct: as in the source
changes: v
recompute: SELECT day, id, v FROM source WHERE day >= :from AND day < :to
"""
WRITTEN = "SELECT coalesce(sum(date_count), 0)::int FROM tidegate.batch"
EVENTS = "SELECT what, detail FROM tidegate.event WHERE what IN ('paused', 'carried on') ORDER BY at, number"


class Paced(OwnServerFlow):
    scene = SCENE

    def set(self, name, value):
        """A setting of the whole server, at once."""
        self.cluster.run(f"ALTER SYSTEM SET {name} = '{value}'")
        self.cluster.run("SELECT pg_reload_conf()")

    def run_over(self, budget, reason, over):
        """A run that begins while `reason` is so; `over` ends that. It has written nothing when it pauses, and all at its end."""
        spec = self.spec(SPEC, budget=f"budget: {{duty: 100 %, {budget}}}")
        self.plan(spec)
        process = self.start("run", spec)
        self.addCleanup(process.kill)
        wait_until(lambda: process.poll() is not None or self.rows(EVENTS), what="a pause")
        self.assertIsNone(process.poll(), "it ended: " + "".join(process.communicate()) if process.poll() is not None else "")
        (what, detail), = self.rows(EVENTS)
        self.assertEqual(what, "paused")
        self.assertRegex(detail, reason)
        self.assertEqual(self.value(WRITTEN), 0)
        status = self.tidegate("status", spec)
        self.assertRegex(status.out, "paused +" + reason, repr(status))
        self.assertIn("the run carries on by itself", status.out)
        over()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, OK, out + err)
        self.assertRegex(err, "paused: " + reason)
        # A busy machine may make a standby late once more.
        told = [what for what, _ in self.rows(EVENTS)]
        self.assertEqual(told, ["paused", "carried on"] * (len(told) // 2))
        self.assertEqual((self.value(WRITTEN), self.state()), (20, "ready"))
        self.assertIn("carried on", self.tidegate("status", spec).out)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.value("SELECT count(*) FROM fact JOIN source USING (day, id, v)"), 400)


class Followed(Paced):
    """A standby that does not replay, or replays late."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.standby = Standby(cls.own)
        cls.addClassCleanup(cls.standby.stop)

    def setUp(self):
        super().setUp()
        self.caught_up()

    def caught_up(self):
        wait_until(lambda: self.value("SELECT count(*) FROM pg_stat_replication WHERE application_name = 'follower' AND state = 'streaming' "
                                      "AND replay_lsn = pg_current_wal_lsn()"), what="a standby that has replayed everything")

    def test_a_replay_that_is_paused(self):
        self.standby.run("SELECT pg_wal_replay_pause()")
        self.addCleanup(self.standby.run, "SELECT pg_wal_replay_resume()")
        self.sql("SELECT pg_logical_emit_message(false, 'load', repeat('x', 3000000))")
        self.run_over("lag: 1h, wal: 2 MB", r"replica follower is .* and .* behind", lambda: self.standby.run("SELECT pg_wal_replay_resume()"))
        self.caught_up()
        self.assertEqual(self.value("SELECT count(*) FROM pg_stat_replication"), 1)

    def test_a_replay_that_is_late(self):
        connection = self.standby.connect()
        connection.cursor().execute("ALTER SYSTEM SET recovery_min_apply_delay = '60s'")
        connection.cursor().execute("SELECT pg_reload_conf()")

        def no_more():
            connection.cursor().execute("ALTER SYSTEM RESET recovery_min_apply_delay")
            connection.cursor().execute("SELECT pg_reload_conf()")

        self.addCleanup(connection.close)
        self.addCleanup(no_more)
        wait_until(lambda: self.sql("CREATE TABLE IF NOT EXISTS late(x int); INSERT INTO late VALUES (1)") or
                   self.value("SELECT replay_lag > '1.5s' FROM pg_stat_replication"), what="a standby that is late")
        self.run_over("lag: 1s", r"replica follower is .* and .* behind; `budget: lag` allows 1", no_more)
        self.caught_up()


class Archived(Paced):
    """An archive_command that fails, and one that takes its time."""

    settings = ("archive_mode=on", "archive_command=true")

    def setUp(self):
        super().setUp()
        self.door = Path(tempfile.mkdtemp(prefix="tidegate-door-"))
        self.door.chmod(0o755)
        (self.door / "shut").touch()

    def tearDown(self):
        """DROP DATABASE waits for every process of the server, the archiver in its command too: the door opens first."""
        shutil.rmtree(self.door, ignore_errors=True)
        self.set("archive_command", "true")
        super().tearDown()

    def fill(self, segments):
        for _ in range(segments):
            self.sql("SELECT pg_logical_emit_message(false, 'load', 'x')")
            self.sql("SELECT pg_switch_wal()")

    def test_one_that_fails(self):
        self.set("archive_command", "false")
        self.fill(1)
        wait_until(lambda: self.value("SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver"),
                   what="a failed try")

        def over():
            self.set("archive_command", "true")
            self.fill(1)

        self.run_over("wal: 1 GB", r"archiving of WAL fails \([0-9A-F]{24}, since ", over)

    def test_one_that_is_slow(self):
        self.set("archive_command", f"while [ -e {self.door}/shut ]; do sleep 0.05; done")
        self.fill(3)
        self.run_over("wal: 30 MB", r"[0-9.]+ MB of WAL wait to be archived; `budget: wal` allows 30 MB",
                      (self.door / "shut").unlink)


if __name__ == "__main__":
    harness.main()
