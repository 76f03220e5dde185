"""What a plan says that the backfill will cost before anything is measured, and what is said once batches are."""

import harness
from postgres_harness import PostgresFlow

DATES, A_DATE = 40, 4000
SCENE = f"""
CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
INSERT INTO source SELECT date '2024-01-01' + i / {A_DATE}, i, i + 1 FROM generate_series(0, {DATES * A_DATE - 1}) i;
CREATE INDEX source_day ON source(day);
CREATE TABLE rate(day date PRIMARY KEY, f int NOT NULL);
INSERT INTO rate SELECT date '2024-01-01' + i, 1 FROM generate_series(0, {DATES - 1}) i;
CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int);
INSERT INTO fact SELECT day, id, CASE WHEN id % 4 = 0 THEN 0 ELSE v END FROM source;
CREATE INDEX fact_day ON fact(day);
ANALYZE;
"""
SPEC = """
target: fact
range: 2024-01-06..2024-02-04
wrong: every fourth is nought
correct: as in the source
changes: {v: yes, new rows: yes}
recompute: SELECT s.day, s.id, s.v * r.f AS v FROM source s JOIN rate r ON r.day = s.day WHERE s.day >= :from AND s.day < :to
"""
ROWS = 30 * A_DATE


class Estimates(PostgresFlow):
    scene = SCENE

    def setUp(self):
        super().setUp()
        self.file = self.spec(SPEC)

    def planned(self):
        return self.tidegate("plan", "--json", self.file).json["plan"]

    def scans(self, plan):
        return [text for text in plan["warnings"] if "from end to end" in text]

    def within_a_factor_of_2(self, value, true):
        self.assertGreater(value, true / 2)
        self.assertLess(value, true * 2)

    def test_rows_cost_and_a_date_for_trial(self):
        """On an analysed table the rows are within a factor of 2, the share that changes is that of the trial date."""
        plan = self.planned()
        estimate = plan["estimate"]
        self.within_a_factor_of_2(estimate["rows"], ROWS)
        self.assertEqual(estimate["row_bytes"], 12)
        self.assertEqual(estimate["trial"]["rows"], A_DATE)
        self.assertEqual(estimate["changed_share"], 0.25)
        # The trial date is a thirtieth of the range.
        self.within_a_factor_of_2(estimate["seconds"] / estimate["trial"]["seconds"], 30)
        self.assertEqual(self.scans(plan), [])
        told = self.tidegate("plan", self.file).out
        self.assertRegex(told, r"estimate +about .* to recompute and compare all dates; 25\.0 % of the rows change: WAL ")
        self.assertRegex(told, r"by EXPLAIN \(\d+ rows of 12 bytes, cost \d+\) and .* recomputed for trial \(4000 rows, ")

    def test_a_swap_that_needs_its_lock_for_longer_than_it_may(self):
        """Told before the work: 30,000 rows that change need more than a tenth of a second, and less than ten."""
        self.assertEqual([text for text in self.planned()["warnings"] if "hold its lock" in text], [])
        self.file = self.spec(SPEC, budget="budget: {swap_lock: 100ms}")
        told = self.tidegate("plan", self.file).out
        self.assertRegex(told, r"expected to hold its lock for about 1\d\d ms, and `budget: swap_lock` gives it up after 100 ms")

    def test_what_was_said_and_what_it_was(self):
        """The WAL of the run and the swap, within a factor of 2; full pages are off on this server."""
        estimate = self.planned()["estimate"]
        before = self.value("SELECT pg_current_wal_lsn()")
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        written = int(self.value(f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{before}')"))
        self.within_a_factor_of_2(estimate["wal_bytes"], written)

    def test_a_missing_index_is_the_cost_of_every_batch(self):
        self.sql("DROP INDEX source_day")
        plan = self.planned()
        warning, = self.scans(plan)
        self.assertRegex(warning, r"^every batch reads about 160000 rows of source from end to end .* an index on the column")
        self.assertIn({"table": "source", "rows": 160000}, plan["estimate"]["scans"])
        # Every batch pays for the whole scan: the estimate stays in proportion to the rows.
        self.within_a_factor_of_2(plan["estimate"]["seconds"] / plan["estimate"]["trial"]["seconds"], 30)
        self.sql("CREATE INDEX source_day ON source(day)")
        self.assertEqual(self.scans(self.planned()), [])

    def test_a_big_table_that_every_date_needs_whole(self):
        self.file = self.spec(SPEC.replace("FROM source s", "FROM (SELECT *, count(*) OVER () FROM source) s"))
        warning, = self.scans(self.planned())
        self.assertRegex(warning, "160000 rows of source .* the recompute needs them for each of its dates")

    def test_three_dates_are_no_reason_to_warn(self):
        self.sql("DROP INDEX source_day")
        self.file = self.spec(SPEC.replace("2024-02-04", "2024-01-08"))
        self.assertEqual(self.scans(self.planned()), [])

    def test_production_has_no_rows(self):
        """Then the planner's rows count: for the cost, the disk and the window."""
        self.sql("TRUNCATE fact")
        plan = self.planned()
        self.assertEqual(plan["rows"], 0)
        self.within_a_factor_of_2(plan["estimate"]["rows"], ROWS)
        self.assertEqual((plan["estimate"]["changed_share"], plan["estimate"]["trial"]["rows"]), (1, A_DATE))
        self.assertGreater(plan["space"]["needed"], ROWS * 24)
        self.within_a_factor_of_2(self.tidegate("window", "--json", self.file).json["rows"], ROWS)

    def test_once_batches_are_measured_they_count(self):
        """Before: the trial and EXPLAIN. After: the batches that were written, and no longer a trial."""
        self.file = self.spec(SPEC, budget="budget: {duty: 100 %, batch: 100ms}")
        self.tidegate("plan", self.file)
        self.assertRegex(self.tidegate("window", self.file).out, "by one date recomputed for trial and what EXPLAIN says")
        identity = self.value("SELECT id FROM tidegate.backfill")
        run = self.start("run", self.file)
        harness.wait_until(lambda: run.poll() is not None or self.value("SELECT count(*) FROM tidegate.batch") >= 2, what="two batches")
        run.kill()
        run.communicate()
        self.assertGreater(self.value("SELECT count(*) FROM tidegate.date WHERE batch = 0"), 0, "it ended before it was killed")
        left = self.value("SELECT sum(expected_rows)::int FROM tidegate.date WHERE batch = 0")
        seconds = self.value("SELECT sum(seconds) / sum(row_count)::float8 FROM tidegate.batch")
        told = self.tidegate("window", "--json", self.file).json
        self.assertRegex(told["measured"], rf"^\d+ batches of {identity}$")
        self.assertEqual(told["rows"], left)
        self.assertAlmostEqual(told["work"], seconds * left, delta=0.01 * seconds * left)

    def test_a_date_that_cannot_be_recomputed(self):
        """It is no reason to refuse the plan: the run says which row it is."""
        self.file = self.spec(SPEC.replace("s.v * r.f AS v", "s.v / (r.f - 1) AS v"))
        plan = self.planned()
        self.assertRegex(" ".join(plan["warnings"]), "one date could not be recomputed for trial: .*division by zero")
        self.assertNotIn("trial", plan["estimate"])
        self.tidegate("run", self.file, code=harness.HELD)

    def test_a_value_that_the_planner_itself_cannot_make(self):
        """The same where planning meets it already."""
        self.file = self.spec(SPEC.replace("s.v * r.f AS v", "1e12 AS v"))
        plan = self.planned()
        self.assertRegex(" ".join(plan["warnings"]), "what the recompute will cost is not known: .*out of range")
        self.assertIsNone(plan["estimate"])
        self.tidegate("run", self.file, code=harness.HELD)


if __name__ == "__main__":
    harness.main()
