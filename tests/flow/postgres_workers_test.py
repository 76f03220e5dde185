"""Batches at a time (`budget: workers`): the same result as one after another, and the first failure ends them all."""

import signal
from pathlib import Path

import harness
from harness import DATABASE, HELD, LEASED, OK, PAUSED, wait_until
from postgres_harness import PostgresFlow

# A row may take its time where the database says so: `test.slow` seconds, from the date `test.slow_from` on. From
# `test.held_from` on a row waits for as long as somebody holds HOLD.
HOLD = "SELECT pg_advisory_lock(7)"
SLOW = """
CREATE FUNCTION slow(day date) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF day >= coalesce(nullif(current_setting('test.slow_from', true), ''), '2000-01-01')::date THEN
    PERFORM pg_sleep(coalesce(nullif(current_setting('test.slow', true), ''), '0')::float8);
  END IF;
  WHILE day >= nullif(current_setting('test.held_from', true), '')::date AND NOT pg_try_advisory_xact_lock_shared(7) LOOP
    PERFORM pg_sleep(0.01);
  END LOOP;
  RETURN 1;
END $$;
"""
SOURCE = SLOW + """
CREATE TABLE orders(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, rate int NOT NULL);
INSERT INTO orders SELECT i * 10 + k, date '2024-01-01' + i, 100 + k, 3 FROM generate_series(0, 59) i, generate_series(0, 9) k WHERE k < 4 + i % 7;
"""
# Wrong values, rows that are missing, rows on the wrong date.
WRONG = """
INSERT INTO sales SELECT id, day, cents, cents * rate FROM orders;
UPDATE sales SET net = cents WHERE id % 2 = 0 AND day >= '2024-01-08';
DELETE FROM sales WHERE id % 31 = 0 AND day >= '2024-01-08';
ANALYZE;
"""
KEYED = SOURCE + "CREATE TABLE sales(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, net int);" + WRONG + """
UPDATE sales SET day = day + 5 WHERE id % 17 = 0 AND day BETWEEN '2024-01-08' AND '2024-02-20';
"""
KEYLESS = SOURCE + "CREATE TABLE sales(id int, day date NOT NULL, cents int NOT NULL, net int);" + WRONG
PARTED = SOURCE + """
CREATE TABLE sales(id int, day date NOT NULL, cents int NOT NULL, net int, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM ('2024-01-01') TO ('2024-01-20');
CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM ('2024-01-20') TO ('2024-02-10');
CREATE TABLE sales_3 PARTITION OF sales FOR VALUES FROM ('2024-02-10') TO ('2024-03-10');
""" + WRONG
SPEC = """
target: sales
range: 2024-01-08..2024-02-29
wrong: the rate was left out
correct: net is cents times rate
changes: {net: yes, day: yes, new rows: yes, vanished rows: yes}
control: 2024-01-01..2024-01-07
recompute: SELECT id, day, cents, cents * rate * slow(day) AS net FROM orders WHERE day >= :from AND day < :to
"""
RIGHT = "SELECT id, day, cents, cents * rate FROM orders ORDER BY 1"
NOW = "SELECT * FROM sales ORDER BY 1"
# A key that moves to a date of another batch is counted as gone as well: by the batches' limits, not by who writes them.
DATES = "SELECT date, production, recomputed, stable, inserts, updates, moves_in FROM tidegate.date ORDER BY date"
COLUMNS = "SELECT column_name, sum(changed_rows) FROM tidegate.col GROUP BY 1 ORDER BY 1"
# Sessions of Tidegate at work on a batch.
BATCHES = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database()
  AND state = 'active' AND wait_event = 'PgSleep'"""
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database()"
WRITTEN = "SELECT count(*) FROM tidegate.date WHERE batch > 0"
CALLS = "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = '{}'"


def budget(workers, more=""):
    return f"budget: {{duty: 100 %, workers: {workers}{more}}}"


class Crew(PostgresFlow):
    scene = KEYED

    def slow(self, seconds, since="2000-01-01"):
        self.cluster.run(f"ALTER DATABASE {self.name} SET test.slow = '{seconds}'")
        self.cluster.run(f"ALTER DATABASE {self.name} SET test.slow_from = '{since}'")

    def hold(self, since):
        """Rows from this date on wait until the session that is returned closes."""
        self.cluster.run(f"ALTER DATABASE {self.name} SET test.held_from = '{since}'")
        holder = self.connect()
        holder.cursor().execute(HOLD)
        return holder

    def wait_for_batches(self, n):
        wait_until(lambda: self.value(BATCHES) >= n, what=f"{n} batches at a time")

    def wait_for_nobody(self):
        wait_until(lambda: self.value(SESSIONS) == 0, what="the end of every session")

    @staticmethod
    def wait_for_signal(process):
        wait_until(lambda: "ShdPnd:\t0000000000000000" in Path(f"/proc/{process.pid}/status").read_text(), what="the signal's arrival")

    def planned(self, text=SPEC, workers=3, more=""):
        spec = self.spec(text, budget=budget(workers, more))
        self.plan(spec)
        return spec

    def all_the_way(self, text, workers):
        spec = self.planned(text, workers)
        self.tidegate("run", spec)
        said = self.rows(DATES), self.rows(COLUMNS)
        swapped = self.tidegate("--json", "swap", spec, "--yes").json
        self.assertTrue(swapped["verified"], swapped)
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))
        return said

    def compare(self, text):
        before = self.rows(NOW)
        one = self.all_the_way(text, 1)
        self.tidegate("rollback", "backfill.yaml")
        self.assertEqual(self.rows(NOW), before)
        self.tidegate("discard", "backfill.yaml")
        self.sql("DROP SCHEMA tidegate CASCADE")
        self.assertEqual(self.all_the_way(text, 3), one)
        self.tidegate("rollback", "backfill.yaml")
        self.assertEqual(self.rows(NOW), before)


class Workers(Crew):

    # -- the same as one after another --

    def test_a_change_set(self):
        self.compare(SPEC)

    def test_a_full_shadow(self):
        self.compare(SPEC + "shadow: full\n")

    def test_a_full_shadow_that_is_unlogged(self):
        (self.folder / "tidegate.yaml").write_text("postgres: {shadow: unlogged}\n")
        self.compare(SPEC + "shadow: full\n")

    def test_they_work_at_the_same_time(self):
        spec = self.planned()
        holder = self.hold("2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        self.assertEqual(self.value(SESSIONS), 4)  # one asks and keeps the books
        holder.close()
        out, err = process.communicate()
        self.assertEqual(process.returncode, OK, out + err)
        self.assertEqual(self.rows("SELECT count(*), min(date), max(batch) FROM tidegate.date WHERE batch = 1")[0][0], 1)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))

    def test_one_unless_asked(self):
        spec = self.spec(SPEC)
        self.plan(spec)
        self.slow(0.01)
        process = self.start("run", spec)
        self.wait_for_batches(1)
        self.assertEqual(self.value(SESSIONS), 1)
        process.kill()
        process.communicate()

    def test_more_or_fewer_for_the_same_plan(self):
        pipeline = self.folder / "tidegate.yaml"
        pipeline.write_text("budget: {workers: 3}\n")
        spec = self.spec(SPEC)
        self.plan(spec)
        holder = self.hold("2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        process.send_signal(signal.SIGINT)
        self.wait_for_signal(process)
        holder.close()
        process.communicate()
        self.assertEqual(process.returncode, PAUSED)
        pipeline.write_text("budget: {workers: 2}\n")
        holder = self.hold("2024-01-20")
        process = self.start("run", spec)
        self.wait_for_batches(2)
        self.assertEqual(self.value(SESSIONS), 3)
        holder.close()
        out, err = process.communicate()
        self.assertEqual(process.returncode, OK, out + err)

    # -- where it cannot be --

    def test_a_recompute_that_reads_the_target(self):
        text = SPEC.replace("FROM orders WHERE", "FROM orders o WHERE EXISTS (SELECT FROM sales) AND")
        plan = self.tidegate("--json", "plan", self.spec(text, budget=budget(3))).json["plan"]
        self.assertEqual(plan["workers"], 1)
        self.assertIn("`budget: workers` is 3, but batches are written one after another: the recompute reads the target", " ".join(plan["warnings"]))
        self.tidegate("run", "backfill.yaml")

    def test_a_command(self):
        text = SPEC[:SPEC.index("recompute:")] + "recompute: {command: [\"true\"]}\nshadow: full\n"
        plan = self.run_tidegate("--json", "plan", self.spec(text, budget=budget(3))).json["plan"]
        self.assertEqual(plan["workers"], 1)
        self.assertIn("the recompute is a command", " ".join(plan["warnings"]))

    def test_more_than_there_may_be(self):
        plan = self.tidegate("--json", "plan", self.spec(SPEC, budget=budget(1000))).json["plan"]
        self.assertEqual(plan["workers"], 16)
        self.assertIn("16 it is", " ".join(plan["warnings"]))

    def test_no_connection_is_left(self):
        spec, role = self.planned(), f"few_{self.name}"
        self.sql(f"""CREATE ROLE {role} LOGIN CONNECTION LIMIT 2; GRANT ALL ON SCHEMA tidegate TO {role};
            GRANT ALL ON ALL TABLES IN SCHEMA tidegate TO {role}; GRANT ALL ON orders, sales TO {role}""")
        url = self.database.replace("user=postgres", f"user={role}")
        result = self.run_tidegate("--database", url, "run", self.value("SELECT id FROM tidegate.backfill"))
        self.assertEqual((result.code, self.state()), (DATABASE, "building"), repr(result))
        self.assertIn("connecting worker", result.err)
        self.assertIn("`budget: workers` says how many", result.err)
        self.sql(f"REASSIGN OWNED BY {role} TO postgres; DROP OWNED BY {role}; DROP ROLE {role}")
        self.tidegate("run", spec)

    # -- the first failure --

    CHECKED = SPEC + "checks: {rows: [net < 50000]}\n"
    TOTAL = SPEC + "checks: {totals: [max(net) < 50000]}\n"

    def held(self, text, kind):
        """One order of the 25 January makes its batch fail while the others, of the days behind, are being written."""
        self.sql("UPDATE orders SET rate = 1000 WHERE id = (SELECT min(id) FROM orders WHERE day = '2024-01-25')")
        spec = self.planned(text)
        self.slow(0.2, "2024-01-26")
        result = self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.state(), "held")
        self.assertEqual(self.rows("SELECT DISTINCT kind, batch FROM tidegate.finding"),
                         [(kind, self.value("SELECT batch FROM tidegate.date WHERE to_timestamp(date) AT TIME ZONE 'UTC' = '2024-01-25'"))])
        self.assertEqual(self.value("SELECT count(*) FROM tidegate.date WHERE batch > 0 AND to_timestamp(date) AT TIME ZONE 'UTC' > '2024-02-15'"), 0)
        self.assertEqual(self.rows("SELECT DISTINCT batch FROM tidegate.date WHERE batch > 0 ORDER BY 1"), self.rows("SELECT number FROM tidegate.batch ORDER BY 1"))
        self.wait_for_nobody()
        shown = self.tidegate("diff", spec, "--date", "2024-01-25").out
        self.assertIn("100000", shown)  # what is wrong can be looked at
        self.sql("UPDATE orders SET rate = 3")
        self.slow(0)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))
        return result

    def test_what_a_batch_is_at_fault_for(self):
        self.held(self.CHECKED, "row-check")

    def test_what_a_total_is_at_fault_for(self):
        self.held(self.TOTAL, "total-check")

    def test_a_fault_that_comes_and_goes(self):
        """What passes when the batch is written once more, alone, holds the backfill all the same."""
        self.sql("""CREATE FUNCTION alone() RETURNS boolean LANGUAGE sql STABLE AS
            $$ SELECT count(*) < 2 FROM pg_stat_activity WHERE application_name = 'tidegate' AND wait_event = 'PgSleep'
                 OR pid = pg_backend_pid() $$""")
        spec = self.planned(SPEC + "checks: {rows: [\"day < '2024-01-12' OR alone()\"]}\n")
        self.slow(0.05, "2024-01-12")
        self.tidegate("run", spec, code=HELD)
        self.assertEqual((self.state(), self.rows("SELECT DISTINCT kind FROM tidegate.finding")), ("held", [("row-check",)]))
        self.assertEqual(self.value("SELECT count(*) FROM tidegate.date WHERE batch IN (SELECT batch FROM tidegate.finding)") > 0, True)

    def test_a_statement_that_fails(self):
        """It is no finding: nothing is held, and the same command carries on."""
        self.sql("UPDATE orders SET rate = 0 WHERE day = '2024-01-25'")
        spec = self.planned(SPEC.replace("cents * rate *", "cents * (3 + 0 / rate) *"))
        self.slow(0.2, "2024-01-26")
        result = self.run_tidegate("run", spec)
        self.assertIn("division by zero", result.err)
        self.assertEqual(self.state(), "building")
        self.wait_for_nobody()
        self.sql("UPDATE orders SET rate = 3")
        self.slow(0)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))

    def test_a_statement_that_takes_too_long(self):
        spec = self.planned(more=", statement: 1s")
        self.slow(0.5, "2024-01-25")
        result = self.run_tidegate("run", spec)
        self.assertEqual((result.code, self.state()), (PAUSED, "building"), repr(result))
        self.wait_for_nobody()

    # -- stopping --

    def test_the_first_signal_pauses_behind_the_batches(self):
        spec = self.planned()
        holder = self.hold("2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        begun = self.value(WRITTEN)
        process.send_signal(signal.SIGINT)
        self.wait_for_signal(process)
        holder.close()
        process.communicate()
        self.assertEqual((process.returncode, self.state()), (PAUSED, "building"))
        written = self.value(WRITTEN)
        self.assertGreater(written, begun)  # what was under way was finished
        self.assertLess(written, 53)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))

    def test_the_second_signal_stops_at_once(self):
        spec = self.planned()
        self.slow(5, "2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        written = self.value(WRITTEN)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            self.wait_for_signal(process)
        process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.value(WRITTEN)), (PAUSED, written))
        self.wait_for_nobody()

    def test_all_pause_when_production_feels_it(self):
        self.sql("CREATE TABLE load(seconds float8); INSERT INTO load VALUES(0)")
        spec = self.planned(more=", canary: SELECT pg_sleep(seconds) FROM load, canary_time: 400ms")
        holder = self.hold("2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        self.sql("UPDATE load SET seconds = 0.9")
        holder.close()
        wait_until(lambda: self.value("SELECT count(*) FROM tidegate.event WHERE what = 'paused'") > 0, what="a pause")
        wait_until(lambda: self.value(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database() AND xact_start IS NOT NULL AND query NOT LIKE '%load%'") == 0, what="the end of what was under way")
        written = self.value(WRITTEN)
        self.assertLess(written, 53)
        self.sql("UPDATE load SET seconds = 0")
        out, err = process.communicate()
        self.assertEqual(process.returncode, OK, out + err)
        self.assertGreater(self.value("SELECT count(*) FROM tidegate.event WHERE what = 'carried on'"), 0)

    # -- nobody else --

    def test_a_second_run_is_refused(self):
        spec = self.planned()
        self.slow(0.05, "2024-01-12")
        process = self.start("run", spec)
        self.wait_for_batches(3)
        self.tidegate("run", spec, code=LEASED)
        out, err = process.communicate()
        self.assertEqual(process.returncode, OK, out + err)

    def planned_and_counted(self):
        self.sql(f"ALTER DATABASE {self.name} SET track_functions = 'all';"
                 "CREATE FUNCTION last() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'")
        return self.planned()

    def calls(self):
        """Of the recompute's function, when nobody works any more. Up to 14 a collector is told of calls, one after the other:
        it knows them all when it knows of one that came last."""
        self.wait_for_nobody()
        last = self.value(CALLS.format("last"))
        self.value("SELECT last()")
        wait_until(lambda: self.value(CALLS.format("last")) > last, what="the last call")
        return self.value(CALLS.format("slow"))

    def test_their_own_commits_are_no_drift(self):
        """The swap does not recompute what nobody else can have changed, whichever worker wrote it when."""
        spec = self.planned_and_counted()
        self.tidegate("run", spec)
        calls = self.calls()
        self.assertGreater(calls, 300)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.calls(), calls)

    def test_another_commit_is_looked_into(self):
        """So that the test above is known to see a recompute."""
        spec = self.planned_and_counted()
        self.tidegate("run", spec)
        self.sql("UPDATE orders SET cents = cents")
        calls = self.calls()
        self.tidegate("swap", spec, "--yes")
        self.assertGreater(self.calls(), calls)


class Keyless(Crew):
    scene = KEYLESS

    def test_a_change_set(self):
        self.compare(SPEC)


class Exchange(Crew):
    scene = PARTED

    def test_partitions(self):
        """Some batches fill the same replacement at the same time, some two."""
        self.compare(SPEC.replace("day: yes, ", "") + "publish: exchange\n")
        self.assertEqual(self.value("SELECT count(*) FROM tidegate.exchange"), 3)

    def test_whole_partitions_are_sealed_meanwhile(self):
        """Each gets its indexes from a worker as soon as its dates are written; what somebody reads is left to the seal."""
        spec = self.planned(SPEC.replace("day: yes, ", "") + "publish: exchange\n")
        holder = self.hold("2024-02-15")
        process = self.start("run", spec)
        second = "(SELECT oid FROM pg_class WHERE relname ~ '^tidegate_.*_p2$')"
        waits = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = {second}"
        wait_until(lambda: self.value(f"SELECT count(*) FROM {second} AS found"), what="the replacements")
        reader = self.connect(autocommit=False)
        reader.cursor().execute(f"SELECT FROM tidegate.{self.value(f'SELECT relname FROM pg_class WHERE oid = {second}')}")
        wait_until(lambda: self.value(waits), what="a worker that waits for the reader")
        wait_until(lambda: not self.value(waits), what="its end")
        self.assertEqual(self.rows("SELECT nth FROM tidegate.exchange WHERE sealed AND nth < 3"), [(1,)])
        reader.close()
        holder.close()
        out, err = process.communicate()
        self.assertEqual(process.returncode, OK, out + err)
        self.assertEqual(self.value("SELECT count(DISTINCT xmin::text) FROM pg_class WHERE relname ~ '^tidegate_.*_p[0-9]_i1$'"), 3)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.rows(RIGHT))


if __name__ == "__main__":
    harness.main()
