"""Nights in which clocks change, replayed through the windows: the server's clock is faked (faketime), and the gate is asked
at each step of the night. What it must say is computed here, from Python's own zones."""

import glob
import os
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import harness
import live_test
from harness import DENIED, OK, wait_until
from postgres_harness import Cluster

UTC = timezone.utc
GUARD, P95, JITTER = timedelta(minutes=10), timedelta(minutes=15), timedelta(minutes=5)
BUSY = "p95: 15m, guard: 10m, jitter: 5m"

# The zone, the job's local time, and the night by UTC. Years ahead: inside a signal handler faketime gives the real time,
# and a server whose clock was faked into the past takes its timeouts for expired then.
NIGHTS = [("America/New_York", "01:30", "2035-11-04T04:40", "2035-11-04T07:20"),  # twice
          ("America/New_York", "02:30", "2035-03-11T06:20", "2035-03-11T08:20"),  # never
          ("Australia/Lord_Howe", "01:45", "2035-03-31T14:10", "2035-03-31T16:10"),  # twice, half an hour apart
          ("Europe/Berlin", "02:15", "2035-03-25T00:20", "2035-03-25T02:40"),  # never
          ("Europe/Berlin", "02:15", "2035-10-27T23:40", "2035-10-28T02:00")]  # twice


def readings(zone, local):
    """Every instant that a scheduler could take a local time for: both passes; of one that does not exist, the end of the
    gap and the time moved by its length."""
    passes = [local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    if passes[0].astimezone(zone).replace(tzinfo=None) == local:
        return set(passes)
    shifted = passes[0]  # by the offset before the gap
    end = shifted
    while end.astimezone(zone).utcoffset() == shifted.astimezone(zone).utcoffset():
        end -= timedelta(minutes=1)
    return {shifted, end + timedelta(minutes=1)}


class Nights(live_test.Postgres):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        libraries = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        assert libraries, "libfaketime is not on this machine: script/deps check"
        cls.clock = Path("/tmp") / f"tidegate-clock.{os.getpid()}"
        cls.clock.write_text("+0", encoding="ascii")
        cls.clock.chmod(0o644)
        cls.addClassCleanup(cls.clock.unlink)
        faked = {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": str(cls.clock), "FAKETIME_NO_CACHE": "1",
                 "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "TZ": "UTC"}
        os.environ.update(faked)
        try:
            cls.own = Cluster()
        finally:
            for name in faked:
                del os.environ[name]
        cls.addClassCleanup(cls.own.stop)

    def find_cluster(self):
        return self.own

    def setUp(self):
        self.set_clock(datetime(2035, 1, 1, tzinfo=UTC))
        super().setUp()

    def set_clock(self, at):
        self.clock.write_text(f"@{at:%Y-%m-%d %H:%M:%S}", encoding="ascii")

    def production(self, zone, local):
        return (f"production: {{schedule: \"{local.minute} {local.hour} * * *\", dialect: vixie, zone: {zone}, {BUSY}, "
                "live: {application: nightly_load}}")

    def test_the_verdict_at_each_step_of_the_night(self):
        for name, clock, first, last in NIGHTS:
            zone, at = ZoneInfo(name), datetime.fromisoformat(first).replace(tzinfo=UTC)
            end = datetime.fromisoformat(last).replace(tzinfo=UTC)
            hour, minute = map(int, clock.split(":"))
            days = {at.astimezone(zone).date(), end.astimezone(zone).date()}
            fires = set().union(*(readings(zone, datetime(day.year, day.month, day.day, hour, minute)) for day in days))
            busy = [(fire - GUARD, fire + JITTER + P95 + GUARD) for fire in fires]
            edges = {edge + timedelta(seconds=s) for stretch in busy for edge in stretch for s in (-90, -40, 30)}
            steps = sorted({at + timedelta(minutes=20 * i) for i in range(10)} | edges)
            spec = self.write(self.production(name, datetime(2035, 1, 1, hour, minute)), budget="budget: {batch: 1s, duty: 100 %}")
            seen = set()
            for step in steps:
                if not at <= step <= end:
                    continue
                self.set_clock(step)
                result = self.run_tidegate("plan", spec)
                # Planning takes its seconds, and an act of 1 s must end before the window does: no step is nearer than 30 s.
                expected = DENIED if any(begin <= step + timedelta(seconds=10) and step < over for begin, over in busy) else OK
                self.assertEqual(result.code, expected, f"{name} {clock} at {step}: {result}")
                if expected == DENIED:
                    self.assertIn("run of", result.out)
                seen.add(expected)
            self.assertEqual(seen, {OK, DENIED}, name)

    def test_a_backfill_through_the_night_in_which_the_job_runs_twice(self):
        """It works before, between and after, by what the ledger wrote down in the database's time."""
        zone = "America/New_York"
        fires = [datetime(2035, 11, 4, 5, 30, tzinfo=UTC), datetime(2035, 11, 4, 6, 30, tzinfo=UTC)]
        self.set_clock(datetime(2035, 11, 4, 5, 0, tzinfo=UTC))
        spec = self.write(self.production(zone, datetime(2035, 1, 1, 1, 30)), seconds=1,
                          budget="budget: {batch: 900ms, duty: 100 %, lock: 100ms, lock_tries: 3}")
        self.plan(spec)
        self.said = self.folder / "said"
        with open(self.said, "w", encoding="utf-8") as said:
            run = subprocess.Popen([harness.BINARY, "run", str(spec)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        wait_until(lambda: self.batches() >= 3, seconds=60, what="batches before")
        for number, (fire, wanted) in enumerate(zip(fires, (3, None)), 1):
            self.set_clock(fire - GUARD - timedelta(seconds=1))
            wait_until(lambda: self.pauses() == number, seconds=60, what="the pause")
            before = self.batches()
            self.set_clock(fire + JITTER + P95)  # over, but for the guard
            time.sleep(1)
            self.assertEqual(self.batches(), before)
            self.set_clock(fire + JITTER + P95 + GUARD + timedelta(seconds=1))
            if wanted:
                wait_until(lambda: self.batches() >= before + wanted, seconds=90, what="batches after it")
        self.assertEqual(run.wait(timeout=180), OK, self.said.read_text(encoding="utf-8"))
        # A batch that was being written when the clock jumped to a second before the busy time ends a second later.
        jumped = timedelta(seconds=2)
        busy = " OR ".join(f"(to_timestamp(done_at + 1) > '{fire - GUARD + jumped}' AND to_timestamp(done_at - seconds) < "
                           f"'{fire + JITTER + P95 + GUARD}')" for fire in fires)
        self.assertEqual(self.value(f"SELECT count(*) FROM tidegate.batch WHERE {busy}"), 0)
        self.assertEqual(self.value("SELECT count(DISTINCT (done_at > %d, done_at > %d)) FROM tidegate.batch" %
                                    tuple(fire.timestamp() for fire in fires)), 3, "before, between and after")

    def pauses(self):
        """How often the run has said that the job's run is too near. A statement that runs when the clock jumps would take its
        timeout for expired: none does then."""
        return self.said.read_text(encoding="utf-8").count("is too near")


# Only the tests of this program.
for inherited in [name for name in dir(live_test.Postgres) if name.startswith("test_")]:
    setattr(Nights, inherited, None)
del live_test.Sqlite

if __name__ == "__main__":
    harness.main()
