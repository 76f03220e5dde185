"""The snapshot way, for tools that can only write production in place."""

import harness
from backfills import SALES
from harness import COMMAND, DENIED, HELD, NO_CHANGE, Flow, wait_until

SCENE = """
CREATE TABLE orders(day TEXT NOT NULL, id INTEGER NOT NULL, cents INTEGER, rate INTEGER, PRIMARY KEY (day, id));
WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 29)
INSERT INTO orders SELECT date('2024-01-01', '+' || i || ' days'), i, 100 + i, 3 FROM d;
CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, net INTEGER, PRIMARY KEY (day, id));
INSERT INTO sales SELECT day, id, cents FROM orders;
"""
NOW = "SELECT * FROM sales ORDER BY 1"
WRITE = "sqlite3 {database} \"UPDATE sales SET net = %s WHERE day BETWEEN '{from}' AND '{to_inclusive}'\""


class Snapshot(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)
        self.before = self.rows(NOW)
        self.file = self.spec(SALES)

    def test_the_tool_is_told_the_dates_and_its_work_is_checked(self):
        self.tidegate("snapshot", self.file, "--then", WRITE % "net * 3")
        right = [(day, id, net * 3 if "2024-01-10" <= day <= "2024-01-12" else net) for day, id, net in self.before]
        self.assertEqual(self.rows(NOW), right)
        self.assertEqual(self.state(), "checked")
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows(NOW), self.before)

    def test_places_and_variables_are_the_same(self):
        tool = "echo {from} {to} {to_inclusive} >>told; echo $TIDEGATE_FROM ${TIDEGATE_TO} $TIDEGATE_TO_INCLUSIVE >>told; "
        self.tidegate("snapshot", self.file, "--then", tool + WRITE % "net * 3")
        told = (self.folder / "told").read_text().splitlines()
        self.assertEqual(told, ["2024-01-10 2024-01-11 2024-01-10"] * 2 + ["2024-01-11 2024-01-13 2024-01-12"] * 2)

    def test_what_does_not_pass_is_put_back(self):
        for tool, code in ((WRITE % "-1", HELD), (WRITE % "net * 3" + "; exit 3", COMMAND), ("true", NO_CHANGE)):
            with self.subTest(tool):
                self.tearDown()
                self.setUp()
                self.tidegate("snapshot", self.file, "--then", tool, code=code)
                self.assertEqual(self.rows(NOW), self.before)

    def test_the_snapshot_is_kept_until_the_retention_has_passed(self):
        self.tidegate("snapshot", self.file, "--then", WRITE % "net * 3")
        denied = self.tidegate("finish", self.file, code=DENIED)
        self.assertIn("kept for another 7 days", denied.err)
        self.assertEqual(len(self.objects()), 1)
        self.tidegate("finish", self.file, "--early")
        self.assertEqual(self.objects(), [])

    def test_nobody_takes_what_a_tool_has_half_written_for_production(self):
        """Killed while its tool runs: until that is checked or put back, no other backfill of the table begins."""
        process = self.start("snapshot", self.file, "--then", WRITE % "net * 3" + "; touch written; sleep 60", start_new_session=True)
        wait_until((self.folder / "written").exists, what="the tool's writing")
        process.kill()
        process.communicate()
        self.assertEqual(self.state(), "opened")
        self.assertIn("opened sales to a tool", self.tidegate("snapshot", self.file, code=DENIED).err)
        self.assertIn("opened sales to a tool", self.tidegate("plan", self.file, code=DENIED).out)
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows(NOW), self.before)
        self.plan(self.file)


if __name__ == "__main__":
    harness.main()
