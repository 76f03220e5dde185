"""The cascade on SQLite, over a folder of SQL files: what was made from wrong rows becomes what the files make from right
ones, and nothing else is touched. Where it was stopped, the same command goes on."""

import signal

from harness import COMMAND, DENIED, HELD, Flow, main, wait_until

SQL = {
    "airport_days": """
        INSERT INTO airport_days
        SELECT day, origin, sum(flights) AS flights, sum(minutes) AS minutes FROM daily GROUP BY day, origin;""",
    "rolling_week": """
        INSERT INTO rolling_week
        SELECT day, origin, sum(minutes) OVER w AS minutes FROM airport_days
        WINDOW w AS (PARTITION BY origin ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW);""",
    "scorecard": """
        INSERT INTO scorecard
        SELECT d.day, d.origin, d.minutes, w.minutes AS week_minutes
        FROM airport_days AS d JOIN rolling_week AS w ON w.day = d.day AND w.origin = d.origin;""",
    "monthly": """
        INSERT INTO monthly
        SELECT strftime('%Y-%m', day), origin, sum(minutes) FROM daily GROUP BY 1, 2;""",
    "to_date": """
        INSERT INTO to_date
        SELECT day, sum(minutes) OVER (ORDER BY day) AS minutes
        FROM (SELECT day, sum(minutes) AS minutes FROM daily GROUP BY day) AS days;""",
    "counts": "INSERT INTO counts(flights, day) SELECT sum(flights) AS day, day AS other FROM daily GROUP BY day;",
}
# What stands at other dates than what it is made from. Nothing beside the range of days would show it.
ELSEWHERE = {
    "evening_before": """
        CREATE TABLE evening_before(day TEXT NOT NULL, origin TEXT NOT NULL, minutes INT, PRIMARY KEY(day, origin));
        INSERT INTO evening_before SELECT date(day, '-1 day') AS day, origin, sum(minutes) FROM daily GROUP BY 1, 2;""",
    "compared": """
        CREATE TABLE compared(day TEXT NOT NULL, origin TEXT NOT NULL, more INT, PRIMARY KEY(day, origin));
        INSERT INTO compared
        SELECT d.day, d.origin, d.minutes - p.minutes AS more
        FROM airport_days AS d JOIN airport_days AS p ON p.day = date(d.day, '-30 days') AND p.origin = d.origin;""",
}
SCENE = """
CREATE TABLE flights(day TEXT NOT NULL, origin TEXT NOT NULL, carrier TEXT NOT NULL, delay INT);
INSERT INTO flights
  WITH RECURSIVE d(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM d WHERE n < 120), f(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM f WHERE k < 11)
  SELECT date('2024-01-01', n || ' days'), CASE k % 3 WHEN 0 THEN 'JFK' WHEN 1 THEN 'LGA' ELSE 'EWR' END,
    CASE k % 2 WHEN 0 THEN 'B6' ELSE 'UA' END, CASE WHEN (n * 7 + k * 3) % 13 = 0 THEN NULL ELSE (n * 31 + k * 17) % 47 - 8 END FROM d, f;
CREATE TABLE daily(day TEXT NOT NULL, origin TEXT NOT NULL, carrier TEXT NOT NULL, flights INT, minutes INT, PRIMARY KEY(day, origin, carrier));
INSERT INTO daily SELECT day, origin, carrier, count(*), sum(delay) FROM flights GROUP BY 1, 2, 3;
CREATE TABLE airport_days(day TEXT NOT NULL, origin TEXT NOT NULL, flights INT, minutes INT, PRIMARY KEY(day, origin));
CREATE TABLE rolling_week(day TEXT NOT NULL, origin TEXT NOT NULL, minutes INT, PRIMARY KEY(day, origin));
CREATE TABLE scorecard(day TEXT NOT NULL, origin TEXT NOT NULL, minutes INT, week_minutes INT, PRIMARY KEY(day, origin));
CREATE TABLE monthly(month TEXT NOT NULL, origin TEXT NOT NULL, minutes INT, PRIMARY KEY(month, origin));
CREATE TABLE to_date(day TEXT NOT NULL PRIMARY KEY, minutes INT);
CREATE TABLE counts(day TEXT NOT NULL PRIMARY KEY, flights INT);
CREATE VIEW worst AS SELECT day, max(minutes) AS minutes FROM airport_days GROUP BY day;
"""
WRONG = "UPDATE daily SET minutes = minutes + 60 WHERE day BETWEEN '2024-02-05' AND '2024-02-20' AND carrier = 'UA';"
SPEC = """
target: daily
range: 2024-02-05..2024-02-20
wrong: an hour was added to every flight of UA
correct: the minutes as flown
changes: {minutes: carrier = 'UA'}
control: 2024-01-25..2024-01-31
recompute: |
  SELECT day, origin, carrier, count(*) AS flights, sum(delay) AS minutes
  FROM flights WHERE day >= :from AND day < :to GROUP BY 1, 2, 3
"""
PIPELINE = """
database: db.sqlite
production: none
budget: {duty: 100 %}
lineage:
  sql: sql
downstream:
  - {name: delays dashboard, kind: dashboard, needs: person}
"""
# No SQL of rolling_week is known: a tool of its own writes it in place.
TOOL = """
echo "$1 $2" >>told
if [ -e fail ] && [ $(wc -l <told) -eq 3 ]; then exit 9; fi
if [ -e hang ] && [ $(wc -l <told) -eq 6 ]; then touch hung; exec sleep 600; fi
sqlite3 -cmd '.timeout 10000' db.sqlite "BEGIN IMMEDIATE; DELETE FROM rolling_week WHERE day >= '$1' AND day < '$2';
  INSERT INTO rolling_week SELECT * FROM (SELECT day, origin, sum(minutes) OVER w AS minutes FROM airport_days
    WINDOW w AS (PARTITION BY origin ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)) WHERE day >= '$1' AND day < '$2'; COMMIT"
"""
HANDED = PIPELINE + """  - {name: rolling_week, kind: table, needs: cascade, reads: [airport_days]}
"""


class Cascade(Flow):
    def setUp(self):
        super().setUp()
        (self.folder / "sql").mkdir()
        self.sql(SCENE)
        for name, text in SQL.items():
            (self.folder / "sql" / f"{name}.sql").write_text(text + "\n", encoding="utf-8")
            self.sql(text)
        self.right = {name: self.content(name) for name in ["daily", *SQL]}
        self.sql(WRONG)
        for name, text in SQL.items():
            self.sql(f"DELETE FROM {name}; {text}")
        (self.folder / "tidegate.yaml").write_text(PIPELINE, encoding="utf-8")
        (self.folder / "fix.yaml").write_text(SPEC, encoding="utf-8")
        self.swapped("fix.yaml")

    def test_what_stands_at_other_dates_is_made_right_too(self):
        self.sql(WRONG)
        for name, text in ELSEWHERE.items():
            (self.folder / "sql" / f"{name}.sql").write_text(text + "\n", encoding="utf-8")
            self.sql(text)
        self.sql(WRONG.replace("+ 60", "- 60"))
        self.tidegate("cascade", "--yes", "fix.yaml")
        for name, text in ELSEWHERE.items():
            made = self.content(name)
            self.sql(f"DROP TABLE {name}; {text}")
            self.assertEqual(made, self.content(name), name)

    def content(self, name):
        return self.rows(f"SELECT * FROM {name} ORDER BY 1, 2")

    def differing(self):
        return {name for name, rows in self.right.items() if self.content(name) != rows}

    def backfills(self):
        return self.rows("SELECT target, state FROM tidegate_backfill ORDER BY rowid")

    def test_all_becomes_what_the_files_make(self):
        self.assertEqual(self.differing(), set(SQL) - {"counts"})
        self.assertIn("Next: tidegate cascade", self.tidegate("status", "fix.yaml").out)
        self.assertIn("scorecard", self.tidegate("status", "--json", "fix.yaml").json["stale"])
        result = self.tidegate("cascade", "--yes", "--json", "fix.yaml").json
        self.assertEqual(self.differing(), set())
        self.assertEqual(self.tidegate("status", "--json", "fix.yaml").json["stale"], [])
        self.assertNotIn("tidegate cascade", self.tidegate("status", "fix.yaml").out)
        steps = {step["name"]: step for step in result["steps"]}
        self.assertEqual(steps["counts"]["needs"], "nothing")
        self.assertEqual(steps["rolling_week"]["range"]["to"], "2024-02-26")
        self.assertEqual(steps["monthly"]["range"], {"from": "2024-02", "to": "2024-02", "grain": "month", "assumed": False})
        self.assertEqual((steps["worst"]["act"], steps["worst"]["stale"]), ("nothing", False))
        self.assertEqual((steps["delays dashboard"]["act"], steps["delays dashboard"]["stale"]), ("hand", True))
        self.assertNotIn("counts", [target for target, _ in self.backfills()])
        before = self.backfills()
        self.tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(self.backfills(), before, "what is done is not done again")

    def test_a_killed_cascade_carries_on(self):
        process = self.start("cascade", "--yes", "fix.yaml")
        wait_until(lambda: ("monthly", "swapped") in self.backfills() or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(self.differing(), set())
        targets = [target for target, state in self.backfills() if state == "swapped"]
        self.assertEqual(len(targets), len(set(targets)), "nothing was done twice")

    def test_a_draft_changed_by_hand_is_kept(self):
        (self.folder / "tidegate.yaml").write_text(PIPELINE.replace("  sql: sql", "  sql: sql\n  overrides: {rolling_week: {window: 1}}"),
                                                   encoding="utf-8")
        self.tidegate("cascade", "--yes", "fix.yaml", code=DENIED)
        draft = next(self.folder.glob("cascade-*/rolling_week.yaml"))
        text = draft.read_text(encoding="utf-8")
        self.assertIn("range: 2024-02-05..2024-02-21", text)
        mine = text.replace("2024-02-05..2024-02-21", "2024-02-05..2024-02-26").replace("2024-02-22..2024-02-28", "2024-02-27..2024-03-03")
        draft.write_text(mine, encoding="utf-8")
        result = self.run_tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(draft.read_text(encoding="utf-8"), mine, repr(result))
        self.assertNotIn("rolling_week", self.differing())

    def hand_over(self):
        (self.folder / "sql" / "rolling_week.sql").unlink()
        (self.folder / "tool.sh").write_text(TOOL, encoding="utf-8")
        overrides = HANDED.replace("  sql: sql", "  sql: sql\n  overrides: {rolling_week: {window: 6}}")
        (self.folder / "tidegate.yaml").write_text(overrides, encoding="utf-8")
        printed = self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json["steps"]
        self.assertEqual({step["name"]: step["act"] for step in printed}["rolling_week"], "hand", "nobody said how")
        (self.folder / "tidegate.yaml").write_text(overrides + "targets: {rolling_week: {in_place: 'sh tool.sh {from} {to}'}}\n", encoding="utf-8")
        return overrides

    def told(self):
        return (self.folder / "told").read_text(encoding="utf-8").splitlines()

    def test_what_only_its_own_tool_can_make_is_handed_to_it(self):
        """Over a snapshot; put back when the tool fails, and then nothing further is done; carried on when killed."""
        pipeline = self.hand_over()
        before = self.content("rolling_week")
        # A window that is too short: the dates right behind the range come out otherwise, and all is put back.
        line = "targets: {rolling_week: {in_place: 'sh tool.sh {from} {to}'}}\n"
        (self.folder / "tidegate.yaml").write_text(pipeline.replace("window: 6", "window: 2") + line, encoding="utf-8")
        result = self.tidegate("cascade", "--yes", "fix.yaml", code=HELD)
        self.assertIn("overrides: {rolling_week: {window: DATES}}", result.err)
        draft = next(self.folder.glob("cascade-*/rolling_week.yaml")).read_text(encoding="utf-8")
        self.assertIn("range: 2024-02-05..2024-02-29\n", draft)
        self.assertIn("as they are: 2024-02-23..2024-02-29\n", draft)
        self.assertEqual(self.content("rolling_week"), before)
        (self.folder / "tidegate.yaml").write_text(pipeline + line, encoding="utf-8")
        (self.folder / "told").unlink()
        (self.folder / "fail").touch()
        result = self.tidegate("cascade", "--yes", "fix.yaml", code=COMMAND)
        self.assertIn("the same tidegate cascade carries on", result.err)
        self.assertEqual(self.content("rolling_week"), before)
        self.assertEqual(len(self.told()), 3)
        self.assertIn("scorecard", self.differing(), "what reads it waits")
        (self.folder / "fail").unlink()
        (self.folder / "hang").touch()
        process = self.start("cascade", "--yes", "fix.yaml")
        wait_until(lambda: (self.folder / "hung").exists() or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertIn(("rolling_week", "opened"), self.backfills())
        self.tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(self.differing(), set())
        self.assertEqual([state for target, state in self.backfills() if target == "rolling_week"], ["restored", "restored", "checked"])
        told = self.told()
        self.assertEqual(told[5], told[6], "what may be half written is written again, and nothing before it")
        again = self.tidegate("cascade", "--yes", "--json", "fix.yaml").json
        self.assertEqual(self.told(), told)
        self.assertIn("backfill", {step["name"]: step["done"] for step in again["steps"]}["rolling_week"])

    def test_a_rollback_is_cascaded_too(self):
        self.tidegate("cascade", "--yes", "fix.yaml")
        wrong = {name: self.content(name) for name in SQL}
        told = self.tidegate("rollback", "fix.yaml").out
        self.assertRegex(told, r"stale +.*monthly.*taken back.*tidegate cascade \S+")
        self.assertNotRegex(told, r"stale +.*counts", "it read no column that changed")
        self.tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(self.differing(), {"daily", *SQL} - {"counts"})
        self.assertNotEqual(self.content("monthly"), wrong["monthly"])

    def test_a_rollback_without_a_cascade_leaves_nothing_stale(self):
        self.assertEqual(self.tidegate("rollback", "--json", "fix.yaml").json["stale"], [])

    def test_a_rewritten_child_is_not_overwritten(self):
        """Somebody changed dates of a child that are not wrong: its recompute does not give them, and it is denied."""
        self.sql("UPDATE airport_days SET minutes = minutes + 1 WHERE day = '2024-02-23'")
        before = self.content("airport_days")
        self.tidegate("cascade", "--yes", "fix.yaml", code=DENIED)
        self.assertEqual(self.content("airport_days"), before)


if __name__ == "__main__":
    main()
