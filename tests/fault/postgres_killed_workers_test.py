"""Law 5 and law 10 with several batches at a time: whatever happens to the program or to one of its connections while
three workers write, carrying on gives what one worker gives that nobody disturbed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
import postgres_workers_test as workers  # noqa: E402
from harness import DATABASE, DRIFT, LEASED, LOCKED, OK, main, wait_until  # noqa: E402
from postgres_workers_test import COLUMNS, DATES, KEYED, NOW, PARTED, RIGHT, SPEC  # noqa: E402

ROUNDS = int(os.environ.get("TIDEGATE_ROUNDS", "200" if os.environ.get("TIDEGATE_SOAK") == "1" else "10"))
SEED = int(os.environ.get("TIDEGATE_SEED", time.time()))
EXCHANGE = SPEC.replace("day: yes, ", "") + "publish: exchange\n"
SEALED = "SELECT seal FROM tidegate.backfill"
# What holds of the ledger at any time: a batch's mark, its dates and its counts were committed together.
TORN = """
SELECT b.number, b.date_count, b.row_count, d.dates, d.rows FROM tidegate.batch b
LEFT JOIN (SELECT batch, count(*) AS dates, sum(split_part(recomputed, ':', 1)::int8) AS rows FROM tidegate.date GROUP BY 1) d
  ON d.batch = b.number
WHERE (b.date_count, b.row_count) IS DISTINCT FROM (d.dates, d.rows)
UNION ALL SELECT batch, 0, 0, 0, 0 FROM tidegate.date WHERE batch > 0 AND batch NOT IN (SELECT number FROM tidegate.batch)"""


class Scene(workers.Crew):
    scene = KEYED

    def setUp(self):
        super().setUp()
        self.before = self.rows(NOW)

    def undisturbed(self, text):
        """What one worker makes of it; then the scene is as it was before."""
        spec = self.planned(text, 1)
        self.tidegate("run", spec)
        right = self.rows(SEALED), self.rows(DATES), self.rows(COLUMNS)
        self.tidegate("discard", spec)
        self.sql("DROP SCHEMA tidegate CASCADE")
        return right

    def carry_on(self, spec, seconds=60):
        """The ordinary start, as soon as nothing of the one before is left."""
        end = time.monotonic() + seconds
        while (result := self.run_tidegate("run", spec)).code in (LEASED, LOCKED) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(result.code, OK, repr(result))

    def ends_right(self, spec, right):
        self.assertEqual(self.rows(TORN), [])
        self.assertEqual((self.rows(SEALED), self.rows(DATES), self.rows(COLUMNS)), right)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))

    def again(self, spec):
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("discard", spec)
        self.sql("DROP SCHEMA tidegate CASCADE")

    def killed_at_random(self, text):
        right = self.undisturbed(text)
        self.slow(0.002)
        spec = self.planned(text)
        began = time.monotonic()
        self.carry_on(spec)
        took = time.monotonic() - began
        self.ends_right(spec, right)
        self.again(spec)
        for nth in range(ROUNDS):
            seed = SEED + nth
            chance = random.Random(seed)
            with self.subTest(seed=seed):
                self.planned(text)
                written = []
                for _ in range(chance.randint(1, 3)):
                    process = self.start("run", spec)
                    try:
                        process.wait(chance.uniform(0, took))
                    except subprocess.TimeoutExpired:
                        process.kill()
                    process.communicate()
                    self.assertEqual(self.rows(TORN), [])
                    self.assertEqual(self.rows(NOW), self.before)
                    written.append(self.value(workers.WRITTEN))
                self.assertEqual(written, sorted(written))
                if self.state() != "ready":
                    self.carry_on(spec)
                self.ends_right(spec, right)
                self.again(spec)


class Killed(Scene):
    def test_killed_at_random(self):
        self.killed_at_random(SPEC)

    def test_a_connection_that_is_lost(self):
        right = self.undisturbed(SPEC)
        for nth in range(3):
            with self.subTest(nth=nth):
                spec = self.planned()
                self.slow(0.05, "2024-01-12")
                process = self.start("run", spec)
                self.wait_for_batches(3)
                self.sql(f"SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database() AND wait_event = 'PgSleep' OFFSET {nth} LIMIT 1) x")
                out, err = process.communicate()
                self.assertEqual(process.returncode, DATABASE, out + err)
                self.assertIn("connection to the server was lost", err)
                self.wait_for_nobody()
                self.assertEqual((self.state(), self.rows(TORN)), ("building", []))
                self.slow(0)
                self.carry_on(spec)
                self.ends_right(spec, right)
                self.again(spec)

    def test_frozen_and_overtaken(self):
        """Nobody takes over while one of its batches is open on the server; afterwards none of its workers acts again."""
        right = self.undisturbed(SPEC)
        spec = self.planned()
        self.slow(0.05, "2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        process.send_signal(signal.SIGSTOP)
        self.sql("UPDATE tidegate.backfill SET lease_heartbeat = lease_heartbeat - 1000")
        refused = self.run_tidegate("run", spec)
        self.assertIn(refused.code, (LEASED, LOCKED), repr(refused))
        self.slow(0)
        self.carry_on(spec)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate()
        self.assertIn(process.returncode, (LEASED, DATABASE), out + err)
        self.wait_for_nobody()
        self.ends_right(spec, right)

    def test_writers_beside(self):
        """What others write to source and target meanwhile is found at the swap, and none of it is lost."""
        chance, ended, outside = random.Random(SEED), threading.Event(), [0]

        def write():
            connection = self.connect()
            cursor = connection.cursor()
            while not ended.is_set():
                day = f"date '2024-01-08' + {chance.randrange(53)}"
                cursor.execute(f"UPDATE orders SET cents = cents + 1 WHERE id = (SELECT min(id) FROM orders WHERE day = {day})")
                cursor.execute(f"UPDATE sales SET net = net + 1 WHERE day = {day}")
                cursor.execute("UPDATE sales SET net = net + 1 WHERE id = 0")
                outside[0] += 1
                time.sleep(0.002)
            connection.close()

        spec = self.planned(SPEC.replace("net: yes", "net: yes, cents: yes"))
        self.slow(0.002)
        thread = threading.Thread(target=write)
        thread.start()
        try:
            self.carry_on(spec)
        finally:
            ended.set()
            thread.join()
        self.assertGreater(outside[0], 10)
        self.slow(0)
        codes = []
        while self.state() != "swapped":
            codes.append(self.run_tidegate("swap", spec, "--yes").code)
            self.assertIn(codes[-1], (DRIFT, OK))
            if codes[-1] == DRIFT:
                self.carry_on(spec)
        self.assertIn(DRIFT, codes)
        self.assertEqual(self.value("SELECT net FROM sales WHERE id = 0"), 300 + outside[0])
        self.sql("UPDATE sales SET net = 300 WHERE id = 0")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))


class KilledExchange(Scene):
    scene = PARTED

    def test_killed_at_random(self):
        self.killed_at_random(EXCHANGE)


if __name__ == "__main__":
    main()
