"""The whole way: plan, run, swap, rollback, swap again, finish; and what must be true at each step."""

import harness
from harness import CONFLICT, DENIED, DRIFT, HELD, NO_CHANGE, STATE, Flow

SCENE = """
CREATE TABLE orders(id INTEGER PRIMARY KEY, day TEXT NOT NULL, cents INTEGER NOT NULL, rate INTEGER NOT NULL);
CREATE INDEX orders_day ON orders(day);
WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 49),
               n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < 19)
INSERT INTO orders SELECT i * 20 + k + 1, date('2024-01-01', '+' || i || ' days'), 100 + k, 3 FROM d, n WHERE k <= i % 20;
CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, cents INTEGER NOT NULL, net INTEGER, note TEXT,
                   PRIMARY KEY (day, id));
INSERT INTO sales SELECT day, id, cents, CASE WHEN day BETWEEN '2024-01-10' AND '2024-01-25' AND id % 3 = 0
                  THEN cents ELSE cents * rate END, 'note ' || id FROM orders;
CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
"""
SPEC = """
target: sales
range: 2024-01-10..2024-01-25
wrong: the rate was left out for every third order
correct: net is cents times rate
changes: net
control: 2024-01-05..2024-01-09
recompute: SELECT day, id, cents, cents * rate AS net FROM orders WHERE day >= :from AND day < :to
"""
RIGHT = "SELECT s.day, s.id, s.cents, s.cents * o.rate, s.note FROM sales s JOIN orders o USING (id) ORDER BY 1, 2"
NOW = "SELECT * FROM sales ORDER BY 1, 2"


class Way(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)
        self.before = self.rows(NOW)
        self.right = self.rows(RIGHT)
        self.file = self.spec(SPEC)

    def test_whole_way(self):
        self.plan(self.file)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("run", self.file)
        self.assertEqual(self.state(), "ready")
        self.assertEqual(self.rows(NOW), self.before, "law 1: nothing but the swap changes production")
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.assertEqual(self.state(), "swapped")
        self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("finish", self.file, code=DENIED)
        self.assertNotEqual(self.objects(), [], "law 6: kept until the retention has passed")
        self.tidegate("finish", self.file, "--early")
        self.assertEqual(self.objects(), [])
        self.assertEqual(self.rows(NOW), self.right)

    def test_backfill_in_one_go(self):
        self.tidegate("backfill", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_only_what_differs_is_in_the_change_set(self):
        self.built(self.file)
        wrong = sum(a != b for a, b in zip(self.before, self.right))
        table = [name for name in self.objects() if name.endswith("_changes")][0]
        self.assertEqual(self.value(f"SELECT count(*) FROM {table}"), wrong)
        self.assertEqual(self.rows(f"SELECT DISTINCT op FROM {table}"), [("U",)])

    def test_smallest_first_then_growing(self):
        self.built(self.file)
        batches = self.rows("SELECT range_from, date_count, row_count FROM tidegate_batch ORDER BY number")
        self.assertEqual(batches[0][1], 1)
        lightest = self.value("SELECT count(*) FROM sales WHERE day BETWEEN '2024-01-10' AND '2024-01-25' GROUP BY day ORDER BY 1 LIMIT 1")
        self.assertEqual(batches[0][2], lightest)
        self.assertEqual(sum(b[1] for b in batches), 16)

    def test_drift_between_run_and_swap_is_refused_and_recomputed(self):
        for drift in ("UPDATE sales SET net = 7 WHERE day = '2024-01-12' AND id = 221",
                      "DELETE FROM sales WHERE day = '2024-01-12' AND id = 221",
                      "INSERT INTO sales VALUES('2024-01-13', 9001, 1, 1, NULL)",
                      "UPDATE sales SET day = '2024-02-01' WHERE day = '2024-01-12' AND id = 222"):
            with self.subTest(drift):
                self.tearDown()
                self.setUp()
                self.built(self.file)
                self.sql(drift)
                after_drift = self.rows(NOW)
                result = self.tidegate("swap", self.file, "--yes", code=DRIFT)
                self.assertIn("production changed", result.err)
                self.assertEqual(self.rows(NOW), after_drift)
                self.assertEqual(self.state(), "building")

    def test_source_drift_is_refused_and_recomputed(self):
        self.built(self.file)
        self.sql("UPDATE orders SET rate = 5 WHERE day = '2024-01-15'")
        result = self.tidegate("swap", self.file, "--yes", code=DRIFT)
        self.assertIn("source", result.err)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        in_range = "WHERE s.day BETWEEN '2024-01-10' AND '2024-01-25'"
        self.assertEqual(self.value(f"SELECT count(*) FROM sales s JOIN orders o USING (id) {in_range} AND s.net <> s.cents * o.rate"), 0)

    def test_writes_elsewhere_do_not_stop_the_swap(self):
        self.built(self.file)
        self.sql("INSERT INTO sales VALUES('2024-03-01', 9001, 1, 1, NULL); CREATE TABLE other(x); INSERT INTO other VALUES(1)")
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.value("SELECT net FROM sales WHERE id = 9001"), 1)

    def test_column_outside_the_scope_is_held(self):
        spec = self.spec(SPEC.replace("SELECT day, id, cents,", "SELECT day, id, cents + (id = 201) AS cents,").replace("control", "#"))
        self.plan(spec)
        result = self.tidegate("run", spec, code=HELD)
        self.assertIn("cents", result.err)
        self.assertEqual(self.state(), "held")
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("swap", spec, "--yes", code=STATE)
        self.tidegate("discard", spec)
        self.assertEqual(self.objects(), [])

    def test_vanished_rows_must_be_declared(self):
        recompute = SPEC.replace("AND day < :to", "AND day < :to AND id <> 201").replace("control: 2024-01-05..2024-01-09\n", "")
        spec = self.spec(recompute)
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        declared = self.spec(recompute.replace("changes: net", 'changes: {net: true, vanished rows: "id = 201"}'))
        self.built(declared)
        self.tidegate("swap", declared, "--yes")
        self.assertEqual(self.value("SELECT count(*) FROM sales WHERE id = 201"), 0)
        self.tidegate("rollback", declared)
        self.assertEqual(self.rows(NOW), self.before)

    def test_new_rows(self):
        self.sql("DELETE FROM sales WHERE day = '2024-01-14'")
        before = self.rows(NOW)
        spec = self.spec(SPEC.replace("changes: net", "changes: {net: true, new rows: true}"))
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM sales WHERE day = '2024-01-14'"), 14)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), before)

    def test_nothing_changes_is_a_failure(self):
        self.sql("UPDATE sales SET net = cents * 3")
        self.plan(self.file)
        self.tidegate("run", self.file, code=NO_CHANGE)
        self.tidegate("swap", self.file, "--yes", code=STATE)

    def test_control_that_is_not_reproduced_is_denied(self):
        self.sql("UPDATE sales SET net = 1 WHERE day = '2024-01-06'")
        result = self.plan(self.file, code=DENIED)
        self.assertIn("2024-01-06", result.out + result.err)
        self.assertEqual(self.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'tidegate%'"), [])

    def test_rollback_shows_later_writes_and_asks(self):
        self.swapped(self.file)
        self.sql("UPDATE sales SET net = -1 WHERE day = '2024-01-12' AND id = 222; DELETE FROM sales WHERE id = 225;"
                 "INSERT INTO sales VALUES('2024-01-12', 9001, 5, 5, 'later')")
        later = self.rows(NOW)
        result = self.tidegate("rollback", self.file, code=CONFLICT)
        self.assertIn("222", result.out + result.err)
        self.assertEqual(self.rows(NOW), later)
        self.tidegate("rollback", self.file, "--keep-later")
        now = {row[1]: row for row in self.rows(NOW)}
        self.assertEqual(now[222][3], -1)
        self.assertNotIn(225, now)
        self.assertEqual(now[9001][4], "later")
        before = {row[1]: row for row in self.before}
        for key in before.keys() - {222, 225}:
            self.assertEqual(now[key], before[key])

    def test_rollback_over_later_writes_when_told_to(self):
        self.swapped(self.file)
        self.sql("UPDATE sales SET net = -1 WHERE id = 222; DELETE FROM sales WHERE id = 225")
        self.tidegate("rollback", self.file, "--overwrite-later")
        self.assertEqual(self.rows(NOW), self.before)

    def test_rollback_after_columns_came_and_others_were_written(self):
        """The kept rows have what was written to a preserved column before the swap; what came after it stays."""
        self.built(self.file)
        self.sql("UPDATE sales SET note = 'before the swap' WHERE id IN (222, 225, 228)")
        before = self.rows(NOW)
        self.tidegate("swap", self.file, "--yes")
        self.sql("ALTER TABLE sales ADD COLUMN extra TEXT DEFAULT 'new'; UPDATE sales SET extra = 'mine' WHERE id IN (222, 229);"
                 "UPDATE sales SET net = -1 WHERE id = 222; DELETE FROM sales WHERE id IN (225, 228)")
        self.tidegate("rollback", self.file, code=CONFLICT)
        self.tidegate("rollback", self.file, "--overwrite-later")
        self.assertEqual(self.rows("SELECT day, id, cents, net, note FROM sales ORDER BY 1, 2"), before)
        self.assertEqual(self.rows("SELECT id FROM sales WHERE extra = 'mine' ORDER BY 1"), [(222,), (229,)])
        self.assertEqual(self.rows("SELECT DISTINCT extra FROM sales WHERE id NOT IN (222, 229)"), [("new",)])

    def test_plan_is_superseded_when_the_target_changes(self):
        self.plan(self.file)
        self.sql("ALTER TABLE sales ADD COLUMN extra TEXT")
        self.tidegate("run", self.file, code=harness.SUPERSEDED)
        self.assertEqual(self.state(), "superseded")

    def test_discard_needs_no_target(self):
        self.built(self.file)
        self.sql("DROP VIEW IF EXISTS daily; DROP TABLE sales")
        self.tidegate("discard", self.file)
        self.assertEqual(self.objects(), [])

    def test_a_copy_of_the_database_is_another_database(self):
        self.built(self.file)
        copy = self.folder / "copy.sqlite"
        copy.write_bytes(self.database.read_bytes())
        result = self.run_tidegate("swap", self.file, "--yes", "--database", copy)
        self.assertNotEqual(result.code, 0)
        self.assertIn("database", result.err)

    def test_recompute_that_appends_on_each_run_is_held(self):
        spec = self.spec(SPEC.replace("FROM orders", ", note FROM (SELECT *, 'x' || abs(random()) AS note FROM orders)")
                         .replace("changes: net", "changes: [net, note]").replace("control: 2024-01-05..2024-01-09\n", ""))
        self.plan(spec)
        result = self.tidegate("run", spec, code=HELD)
        self.assertIn("twice", result.err)


class Moves(Flow):
    """A key that moves from one date to another, in different batches."""

    def setUp(self):
        super().setUp()
        self.sql("""
        CREATE TABLE source(id INTEGER PRIMARY KEY, day TEXT, v INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
        INSERT INTO source SELECT i, date('2024-03-01', '+' || (i / 10) || ' days'), i FROM n;
        CREATE TABLE fact(id INTEGER PRIMARY KEY, day TEXT NOT NULL, v INTEGER);
        INSERT INTO fact SELECT id, date(day, CASE WHEN id % 7 = 0 AND day < '2024-03-15' THEN '+3 days' ELSE '+0 days' END), v FROM source;
        """)
        self.before = self.rows("SELECT * FROM fact")
        self.right = self.rows("SELECT id, day, v FROM source")

    def moving(self, to="2024-03-20", where=""):
        return self.spec(f"""
        target: fact
        range: 2024-03-01..{to}
        wrong: every seventh row was booked three days late
        correct: the day of the source
        checks: {{totals: ["count(*) > 0"]}}
        recompute: SELECT id, day, v FROM source WHERE day >= :from AND day < :to {where}
        """)

    def test_moves_inside_the_range_are_published_and_taken_back(self):
        spec = self.moving()
        self.built(spec)
        table = [name for name in self.objects() if name.endswith("_changes")][0]
        self.assertEqual(self.rows(f"SELECT DISTINCT op FROM {table}"), [("M",)])
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows("SELECT * FROM fact"), self.right)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT * FROM fact"), self.before)

    def test_a_key_that_stands_outside_the_range_is_held(self):
        spec = self.moving(to="2024-03-13")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT * FROM fact"), self.before)

    def test_a_row_that_really_vanishes_is_found_at_the_seal(self):
        spec = self.moving(where="AND id <> 55")
        self.plan(spec)
        result = self.tidegate("run", spec, code=HELD)
        self.assertIn("55", result.out + result.err)
        self.assertEqual(self.rows("SELECT * FROM fact"), self.before)


class Names(Flow):
    """The user's tables may be called what the program's own SQL might call something."""

    def test_short_names(self):
        for name in ("s", "p", "n", "o", "c", "m", "d", "k", "f", "rows", "changes", "source"):
            with self.subTest(name):
                self.tearDown()
                self.setUp()
                self.sql(f"""
                CREATE TABLE "{name}"(id INTEGER PRIMARY KEY, day TEXT, v INTEGER);
                INSERT INTO "{name}" VALUES(1, '2024-01-01', 5), (2, '2024-01-02', 6), (4, '2024-01-02', 7);
                CREATE TABLE fact(id INTEGER PRIMARY KEY, day TEXT NOT NULL, v INTEGER);
                INSERT INTO fact VALUES(1, '2024-01-01', 5), (2, '2024-01-02', 0), (3, '2024-01-02', 1);
                """)
                spec = self.spec(f"""
                target: fact
                range: 2024-01-01..2024-01-02
                wrong: v
                correct: v of the source
                changes: {{v: id > 0, new rows: id = 4, vanished rows: id = 3}}
                checks: {{rows: [v > 0], totals: ["sum(v) = (SELECT sum(v) FROM {name} WHERE day >= :from AND day < :to)"]}}
                recompute: SELECT id, day, v FROM "{name}" WHERE day >= :from AND day < :to
                """)
                self.swapped(spec)
                self.assertEqual(self.rows("SELECT * FROM fact"), self.rows(f'SELECT * FROM "{name}"'))
                self.tidegate("rollback", spec)
                self.assertEqual(self.rows("SELECT id, v FROM fact"), [(1, 5), (2, 0), (3, 1)])


class WayWithoutWal(Way):
    wal = False


if __name__ == "__main__":
    harness.main()
