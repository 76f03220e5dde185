"""With the real clock, a job every two minutes and a backfill of some six: it pauses for each run and carries on after it,
also for one that starts 40 seconds early, without a second of overlap by what the database has written down.

PYTHONPATH=tests/flow python3 tests/soak/live_soak.py; takes up to twenty minutes."""

import os
import sys
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "flow"))
import live_test  # noqa: E402

EVERY, WORK, EARLY = 120, 20, 40


class Minutes(live_test.Postgres):
    """Only the test below: those of the base have their own program."""

    scene = live_test.Postgres.scene + "ALTER TABLE job_run ADD early boolean, ADD met int;"

    def job_thread(self, anchor):
        """At each fire: connect, look round for some seconds, write the start, work, write the end. The third comes early.
        `met`: the batches that were being computed just before the job's first write."""
        stop = threading.Event()

        def work():
            for number in range(30):
                early = number == 2
                fire = anchor + timedelta(seconds=EVERY * number - (EARLY if early else 0))
                if stop.wait(max(0, (fire - datetime.now(timezone.utc)).total_seconds())):
                    return
                session = self.job()
                cursor = session.cursor()
                if stop.wait(5):
                    return
                cursor.execute("INSERT INTO job_run SELECT %s, clock_timestamp(), NULL, %s, %s", [number, early, self.computing()])
                cursor.execute("UPDATE fact SET v = v WHERE id = 1")
                stop.wait(WORK)
                cursor.execute("UPDATE job_run SET ended = clock_timestamp() WHERE number = %s", [number])
                session.close()

        thread = threading.Thread(target=work)
        thread.start()
        return stop, thread

    def test_a_job_every_two_minutes(self):
        anchor = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(seconds=60)
        spec = self.write("production: {schedule: \"every %ds from %s\", dialect: interval, zone: UTC, p95: %ds, guard: 8s, live: "
                          "{application: nightly_load}}" % (EVERY, f"{anchor:%Y-%m-%dT%H:%M:%SZ}", WORK + 8), seconds=5,
                          budget="budget: {duty: 100 %, batch: 4s, lock: 200ms, lock_tries: 3}")
        self.plan(spec, code=None)
        self.precise()
        began = time.monotonic()
        stop, thread = self.job_thread(anchor)
        try:
            said = self.output(self.start("run", spec), timeout=1200)
        finally:
            stop.set()
            thread.join()
        self.assertEqual(self.state(), "ready", said)
        runs = self.rows("SELECT number, early, met, started::text, ended::text FROM job_run ORDER BY 1")
        print(*runs, *self.rows("SELECT number, (stored - seconds * interval '1 s')::text, stored::text FROM tidegate.batch ORDER BY 1"), sep="\n",
              file=sys.stderr)
        between = live_test.assert_no_overlap(self)
        print(f"{time.monotonic() - began:.0f} s, {between} runs within, batches {self.batches()}, events {self.events()}", file=sys.stderr)
        self.assertGreaterEqual(between, 3)
        self.assertTrue(any(early for _, early, _, _, ended in runs if ended), "one came early")
        self.assertEqual([met for _, _, met, _, _ in runs], [0] * len(runs), "batches at the job's first write")
        self.assertIn("stopped a batch", self.events())


def load_tests(loader, tests, pattern):
    return unittest.TestSuite([Minutes("test_a_job_every_two_minutes")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
