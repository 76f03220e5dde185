"""Tables of every kind that SQLite knows, strange names, grains, full shadows, commands, and the snapshot way."""

import sys
import textwrap
import unittest

import harness
from harness import COMMAND, DENIED, HELD, NOT_FOUND, STATE, USAGE, Flow

DATES = ("CREATE TABLE src(day TEXT NOT NULL, id INTEGER NOT NULL, v INTEGER);"
         "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
         "INSERT INTO src SELECT date('2024-01-01', '+' || (i / 5) || ' days'), i, i * 3 FROM n;")


class Scene(Flow):
    """Sources of twenty dates, and the way there and back."""

    def setUp(self):
        super().setUp()
        self.sql(DATES)

    def text(self, target="t", days="2024-01-03..2024-01-12", extra="changes: v", recompute="SELECT day, id, v FROM src WHERE day >= :from AND day < :to"):
        body = recompute if recompute.startswith("recompute:") else "recompute: |\n" + textwrap.indent(recompute, "  ")
        return self.spec(f"target: {target}\nrange: {days}\nwrong: x\ncorrect: y\n{extra}\n{body}\n")

    def there_and_back(self, spec, look, want):
        """Swapped it is `want`, rolled back as before, swapped again and finished `want`."""
        before = self.rows(look)
        self.swapped(spec)
        self.assertEqual(self.rows(look), self.rows(want) if isinstance(want, str) else want)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(look), before)
        self.tidegate("swap", spec, "--yes")
        self.tidegate("finish", spec, "--early")
        self.assertEqual(self.rows(look), self.rows(want) if isinstance(want, str) else want)
        self.assertEqual(self.objects(), [])
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    WANT = "SELECT day, id, CASE WHEN day BETWEEN '2024-01-03' AND '2024-01-12' THEN v ELSE -1 END FROM src ORDER BY id"


class Tables(Scene):
    def test_kinds_of_tables(self):
        for definition in ("day TEXT NOT NULL, id INTEGER NOT NULL, v INTEGER, PRIMARY KEY(day, id)) WITHOUT ROWID", "day TEXT NOT NULL, id INTEGER PRIMARY KEY, v INTEGER) STRICT",
                           "day TEXT NOT NULL, id INTEGER NOT NULL, v ANY, PRIMARY KEY(id)) STRICT, WITHOUT ROWID", "day TEXT, id INTEGER PRIMARY KEY AUTOINCREMENT, v INTEGER)",
                           "day TEXT, id INTEGER, v INTEGER)", "day TEXT NOT NULL, id INT NOT NULL UNIQUE, v INTEGER NOT NULL CHECK (v >= -1))", "id INTEGER PRIMARY KEY DESC, v INTEGER DEFAULT 5, day DATE)"):
            for shadow in ("thin", "full"):
                with self.subTest(definition + " " + shadow):
                    self.tearDown()
                    self.setUp()
                    self.sql(f"CREATE TABLE t({definition}; INSERT INTO t(day, id, v) SELECT day, id, -1 FROM src; CREATE INDEX part ON t(v) WHERE v > 7; CREATE INDEX expr ON t(v + 1, abs(id))")
                    self.there_and_back(self.text(extra=f"changes: v\nshadow: {shadow}"), "SELECT day, id, v FROM t ORDER BY id", self.WANT)

    def test_without_a_key_equal_rows_are_counted(self):
        self.sql("CREATE TABLE t(day TEXT, v INTEGER); INSERT INTO t SELECT day, 1 FROM src; CREATE TABLE two(day TEXT, v INTEGER); INSERT INTO two SELECT day, id % 2 FROM src")
        spec = self.text(recompute="SELECT day, v FROM two WHERE day >= :from AND day < :to")
        self.there_and_back(spec, "SELECT day, v FROM t ORDER BY 1, 2", "SELECT day, CASE WHEN day BETWEEN '2024-01-03' AND '2024-01-12' THEN v ELSE 1 END FROM two ORDER BY 1, 2")

    def test_triggers(self):
        for how, fired in (("skip", 0), ("fire", 50)):
            with self.subTest(how):
                self.tearDown()
                self.setUp()
                self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src; CREATE TABLE log(id);"
                         "CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(new.id); END")
                self.plan(self.text(), code=DENIED)
                self.swapped(self.text(extra=f"changes: v\ntriggers: {how}"))
                self.assertEqual(self.value("SELECT count(*) FROM log"), fired)
                self.sql("UPDATE t SET v = v WHERE id = 0")
                self.assertEqual(self.value("SELECT count(*) FROM log"), fired + 1)

    def test_a_trigger_that_spoils_the_swap(self):
        """It ignores the write, raises, or writes another value: never a swap that says success with other rows."""
        for body in ("BEFORE UPDATE ON t BEGIN SELECT RAISE(IGNORE); END", "BEFORE UPDATE ON t BEGIN SELECT RAISE(ABORT, 'no'); END"):
            with self.subTest(body):
                self.tearDown()
                self.setUp()
                self.sql(f"CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src; CREATE TRIGGER g {body}")
                spec = self.text(extra="changes: v\ntriggers: fire")
                self.plan(spec)
                result = self.run_tidegate("run", spec)
                if result.code == 0:
                    result = self.run_tidegate("swap", spec, "--yes")
                self.assertNotEqual(result.code, 0, repr(result))
                self.assertEqual(self.rows("SELECT DISTINCT v FROM t"), [(-1,)])

    def test_children_that_cascade(self):
        """A delete that would cascade is held; updates leave the children alone."""
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src; INSERT INTO t VALUES('2024-01-05', 900, 1);"
                 "CREATE TABLE child(t INTEGER REFERENCES t(id) ON DELETE CASCADE ON UPDATE CASCADE); INSERT INTO child SELECT id FROM t")
        spec = self.text(extra="changes: {v: yes, vanished rows: id = 900}")
        self.plan(spec)
        self.assertIn("child", self.tidegate("run", spec, code=HELD).err)
        self.assertEqual(self.value("SELECT count(*) FROM child"), 101)
        self.tidegate("discard", spec)
        self.sql("DELETE FROM child WHERE t = 900")
        spec = self.text(extra="changes: {v: yes, vanished rows: id = 900}")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM child"), 100)
        self.tidegate("rollback", spec)
        self.assertEqual(self.value("SELECT v FROM t WHERE id = 900"), 1)

    def test_parents_that_are_missing(self):
        self.sql("CREATE TABLE parent(id INTEGER PRIMARY KEY); INSERT INTO parent VALUES(-1), (6); CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER REFERENCES parent(id) ON DELETE CASCADE);"
                 "INSERT INTO t SELECT day, id, -1 FROM src")
        spec = self.text()
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT DISTINCT v FROM t"), [(-1,)])

    def test_surrogate_keys_are_preserved(self):
        self.sql("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT NOT NULL, k INTEGER NOT NULL UNIQUE, v INTEGER, made TEXT DEFAULT 'then');"
                 "INSERT INTO t(id, day, k, v) SELECT 1000 - id, day, id, -1 FROM src")
        self.there_and_back(self.text(recompute="SELECT day, id AS k, v FROM src WHERE day >= :from AND day < :to", extra="key: [k]\nchanges: v"),
                            "SELECT day, k, v FROM t ORDER BY k", self.WANT)
        self.assertEqual(self.value("SELECT count(*) FROM t WHERE id <> 1000 - k OR made <> 'then'"), 0)

    def test_views_and_virtual_tables_are_refused(self):
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); CREATE VIEW w AS SELECT * FROM t; CREATE VIRTUAL TABLE f USING fts5(day, id, v)")
        for target in ("w", "f"):
            with self.subTest(target):
                result = self.run_tidegate("plan", self.text(target))
                self.assertIn(result.code, (USAGE, DENIED), repr(result))
                self.assertIn("view" if target == "w" else "virtual", result.err)
        self.plan(self.text("nowhere"), code=NOT_FOUND)

    def test_weird_names(self):
        for table, day, key, value in (("my table", "the day", "the id", "the value"), ('say "hi"', 'd"ay', "i'd", "v`al"), ("select", "from", "group", "order"), ("Größe", "Tag", "Schlüssel", "価値"),
                                       ("UPPER", "Day", "ID", "Val"), ("a.b", "c.d", "e;f", "g--h"), ("new_", "op", "date", "old_v"), ("n", "p", "s", "present")):
            with self.subTest(table):
                self.tearDown()
                self.setUp()
                q = lambda name: '"' + name.replace('"', '""') + '"'
                y = lambda name: "'" + name.replace("'", "''") + "'"
                self.sql(f"CREATE TABLE {q(table)}({q(day)} TEXT NOT NULL, {q(key)} INTEGER NOT NULL, {q(value)} INTEGER, UNIQUE({q(key)})); INSERT INTO {q(table)} SELECT day, id, -1 FROM src")
                spec = self.text(y(table), extra=f"changes: {{{y(value)}: yes}}\nkey: [{y(key)}]\ndate_column: {y(day)}",
                                 recompute=f"SELECT day AS {q(day)}, id AS {q(key)}, v AS {q(value)} FROM src WHERE day >= :from AND day < :to")
                self.there_and_back(spec, f"SELECT {q(day)}, {q(key)}, {q(value)} FROM {q(table)} ORDER BY {q(key)}", self.WANT)

    def test_grains(self):
        for grain, days, dates, inside in (("week", "2024-01-01..2024-01-14", 2, "'2024-01-01' AND '2024-01-14'"), ("month", "2024-01..2024-02", 2, "'2024-01-01' AND '2024-02-29'"), ("year", "2024..2024", 1, "'2024-01-01' AND '2024-12-31'"),
                                           ("month", "2024-01-01..2024-01-31", 1, "'2024-01-01' AND '2024-01-31'")):
            with self.subTest(grain + days):
                self.tearDown()
                self.setUp()
                self.sql("DELETE FROM src; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 800) INSERT INTO src SELECT date('2023-11-01', '+' || i || ' days'), i, i FROM n;"
                         "CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src")
                self.there_and_back(self.text(days=days, extra=f"changes: v\ngrain: {grain}"), "SELECT id, v FROM t ORDER BY id", f"SELECT id, CASE WHEN day BETWEEN {inside} THEN v ELSE -1 END FROM src ORDER BY id")
                self.assertEqual(self.value("SELECT sum(date_count) FROM tidegate_batch"), dates)

    def test_months_beside_days(self):
        """Months as text and as a number, by grain month without being told; a column of days goes before one of months."""
        for form, say in (("%Y-%m", "TEXT"), ("%Y%m", "INTEGER")):
            with self.subTest(form):
                self.tearDown()
                self.setUp()
                self.sql(f"CREATE TABLE days(day TEXT, month {say}, v INTEGER); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 120) INSERT INTO days "
                         f"SELECT date('2024-01-01', '+' || i || ' days'), strftime('{form}', date('2024-01-01', '+' || i || ' days')), i FROM n; CREATE TABLE t(month {say} PRIMARY KEY, v INTEGER);"
                         "INSERT INTO t SELECT month, -1 FROM days GROUP BY 1; CREATE TABLE d AS SELECT day, month, -1 AS v FROM days")
                self.there_and_back(self.text(days="2024-02..2024-03", recompute="SELECT month, sum(v) AS v FROM days WHERE month >= :from AND month < :to GROUP BY 1"), "SELECT month, v FROM t ORDER BY 1",
                                    f"SELECT month, CASE WHEN month IN (strftime('{form}', '2024-02-01'), strftime('{form}', '2024-03-01')) THEN sum(v) ELSE -1 END FROM days GROUP BY 1 ORDER BY 1")
                plan = self.tidegate("--json", "plan", self.text(target="d", days="2024-02-01..2024-02-29", extra="changes: v\nkey: [day]", recompute="SELECT day, month, v FROM days WHERE day >= :from AND day < :to")).json
                self.assertEqual([plan["plan"]["date_column"]["name"], plan["plan"]["date_column"]["grain"]], ["day", "day"])

    def test_a_semicolon_at_the_end(self):
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src")
        for end in (";", "\n-- done", " /* done */ ;\n"):
            with self.subTest(end):
                spec = self.text(recompute="SELECT day, id, v FROM src WHERE day >= :from AND day < :to" + end)
                self.swapped(spec)
                self.tidegate("rollback", spec)
                self.tidegate("discard", spec)
        self.assertIn("';'", self.plan(self.text(recompute="SELECT day, id, v FROM src WHERE day >= :from AND day < :to ; -- done"), code=USAGE).err)
        self.plan(self.text(recompute="SELECT day, id, v FROM src WHERE day >= :from AND day < :to; DELETE FROM t"), code=USAGE)
        self.plan(self.text(recompute="DELETE FROM t WHERE day >= :from AND day < :to RETURNING day, id, v"), code=USAGE)
        self.assertEqual(self.value("SELECT sum(v) FROM t"), -100)

    def test_running_total_reads_the_target(self):
        """Each date builds on the corrected one before it, over several batches and whatever their size. By its schema or through a
        view it would read the wrong rows of dates that were corrected already."""
        self.sql("CREATE TABLE t(day TEXT PRIMARY KEY, total INTEGER); INSERT INTO t SELECT day, CASE WHEN day < '2024-01-03' THEN (SELECT sum(v) FROM src s WHERE s.day <= o.day) ELSE 0 END FROM src o GROUP BY day")
        self.sql("CREATE VIEW v AS SELECT * FROM t; CREATE VIEW vv AS SELECT * FROM v")
        for read, refusal in (('Main . "t" AS t', "as main.t"), ("vv AS t", "through the view v"), ("t", None)):
            spec = self.text(extra="changes: total", days="2024-01-03..2024-01-20",
                             recompute=f"SELECT day, sum(v) + (SELECT coalesce(max(total), 0) FROM {read} WHERE t.day < :from) + (SELECT coalesce(sum(e.v), 0) FROM src e WHERE e.day >= :from AND e.day < s.day) AS total\n"
                                   "FROM src s WHERE day >= :from AND day < :to GROUP BY day")
            if refusal:
                self.assertIn(refusal, self.tidegate("plan", spec, code=USAGE).err)
        self.there_and_back(spec, "SELECT * FROM t ORDER BY day", "SELECT day, (SELECT sum(v) FROM src s WHERE s.day <= o.day) FROM src o GROUP BY day ORDER BY day")

    def test_recompute_that_corrects_the_target_by_itself(self):
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, v - 1 FROM src")
        self.swapped(self.text(recompute="SELECT day, id, v + 1 AS v FROM t WHERE day >= :from AND day < :to"))
        self.assertEqual(self.value("SELECT count(*) FROM t JOIN src USING (id) WHERE t.v = src.v"), 50)

    def test_keys_that_move_inside_the_range(self):
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, v FROM src; UPDATE t SET day = '2024-01-10' WHERE id IN (11, 12); UPDATE t SET day = '2024-01-03' WHERE id = 46")
        for shadow in ("thin", "full"):
            with self.subTest(shadow):
                self.there_and_back(self.text(extra=f"changes: {{day: yes, vanished rows: yes, new rows: yes}}\nshadow: {shadow}"), "SELECT day, id, v FROM t ORDER BY id", "SELECT day, id, v FROM src ORDER BY id")
                self.sql("UPDATE t SET day = '2024-01-10' WHERE id IN (11, 12); UPDATE t SET day = '2024-01-03' WHERE id = 46")

    def test_keys_that_move_across_the_end_of_the_range_are_held(self):
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, v FROM src; UPDATE t SET day = '2024-01-19' WHERE id = 11")
        before = self.rows("SELECT * FROM t ORDER BY id")
        spec = self.text(extra="changes: {day: yes, new rows: yes, vanished rows: yes}")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT * FROM t ORDER BY id"), before)


class Commands(Scene):
    """External commands, a batch a call."""

    GOOD = """
        db.execute(f'DELETE FROM "{shadow}" WHERE day >= ? AND day < ?', (first, until))
        db.execute(f'INSERT INTO "{shadow}"(day, id, v) SELECT day, id, v FROM src WHERE day >= ? AND day < ?', (first, until))
        """

    def setUp(self):
        super().setUp()
        self.sql("CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT day, id, -1 FROM src")

    def command(self, body, timeout="60s", extra="changes: v"):
        script = self.folder / "job.py"
        script.write_text("import os, sqlite3, sys, time\nfirst, until, shadow = (os.environ['TIDEGATE_' + n] for n in ('FROM', 'TO', 'SHADOW'))\n"
                          "db = sqlite3.connect(os.environ['TIDEGATE_DATABASE'], timeout=20)\n" + textwrap.dedent(body) + "\ndb.commit()\n")
        return self.text(extra=extra, recompute=f'recompute: {{command: ["{sys.executable}", "{script}", "{{shadow}}"], timeout: {timeout}}}')

    def test_python(self):
        self.there_and_back(self.command(self.GOOD), "SELECT day, id, v FROM t ORDER BY id", self.WANT)

    def test_writes_production(self):
        for body in ("db.execute('UPDATE t SET v = 9 WHERE day >= ? AND day < ?', (first, until))", textwrap.dedent(self.GOOD) + "\ndb.execute(\"DELETE FROM t WHERE day = '2024-01-20'\")"):
            with self.subTest(body):
                spec = self.command(textwrap.dedent(body))
                self.plan(spec)
                self.assertIn("production", self.tidegate("run", spec, code=COMMAND).err)
                self.tidegate("swap", spec, "--yes", code=STATE)
                self.tidegate("discard", spec)

    def test_times_out_and_fails(self):
        for body, timeout in (("time.sleep(60)", "1s"), ("sys.exit(3)", "60s"), ("os.kill(os.getpid(), 9)", "60s")):
            with self.subTest(body):
                spec = self.command(body, timeout)
                self.plan(spec)
                self.tidegate("run", spec, code=COMMAND)
                self.assertEqual(self.rows("SELECT DISTINCT v FROM t"), [(-1,)])
                self.tidegate("discard", spec)

    def test_appends(self):
        spec = self.command("db.execute(f'INSERT INTO \"{shadow}\"(day, id, v) SELECT day, id, v FROM src WHERE day >= ? AND day < ?', (first, until))")
        self.plan(spec)
        self.assertIn(self.run_tidegate("run", spec).code, (HELD, COMMAND))
        self.assertEqual(self.rows("SELECT DISTINCT v FROM t"), [(-1,)])

    def test_writes_nothing(self):
        spec = self.command("pass")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT count(*), sum(v) FROM t"), [(100, -100)])


class Snapshots(Flow):
    """The way for tools that write production in place."""

    def setUp(self):
        super().setUp()
        self.sql(DATES + "CREATE TABLE t(day TEXT, id INTEGER PRIMARY KEY, v INTEGER, note TEXT DEFAULT 'n'); INSERT INTO t(day, id, v) SELECT day, id, -1 FROM src")
        self.before = self.rows("SELECT * FROM t ORDER BY id")
        self.file = self.spec("target: t\nrange: 2024-01-03..2024-01-12\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v FROM src WHERE day >= :from AND day < :to\n")

    def tool(self, sql):
        return f"{sys.executable} -c \"import os, sqlite3; db = sqlite3.connect(os.environ['TIDEGATE_DATABASE']); db.execute(\\\"{sql}\\\"); db.commit()\""

    def test_then_and_finish(self):
        self.tidegate("snapshot", self.file, "--then", self.tool("UPDATE t SET v = id * 3 WHERE day BETWEEN '{from}' AND '{to_inclusive}'"))
        self.assertEqual(self.rows("SELECT day, id, v FROM t ORDER BY id"), self.rows(Scene.WANT))
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows("SELECT * FROM t ORDER BY id"), self.before)

    def test_a_tool_that_does_wrong_is_put_back(self):
        for sql in ("DELETE FROM t WHERE day = '2024-01-05'", "UPDATE t SET note = 'x' WHERE id = 12", "UPDATE t SET day = '2024-01-04' WHERE id = 12"):
            with self.subTest(sql):
                self.assertNotEqual(self.run_tidegate("snapshot", self.file, "--then", self.tool(sql)).code, 0)
                self.assertEqual(self.rows("SELECT * FROM t ORDER BY id"), self.before)
                self.run_tidegate("discard", self.file)

    def test_a_tool_that_writes_outside_the_range_is_noticed(self):
        result = self.run_tidegate("snapshot", self.file, "--then", self.tool("UPDATE t SET v = 5 WHERE day = '2024-01-20'"))
        self.assertNotEqual(result.code, 0, repr(result))

    def test_check_and_restore_by_hand(self):
        self.tidegate("snapshot", self.file)
        self.sql("UPDATE t SET v = 0, note = 'z' WHERE day = '2024-01-04'; DELETE FROM t WHERE day = '2024-01-06'; INSERT INTO t VALUES('2024-01-07', 900, 1, 'new')")
        self.tidegate("check", self.file, code=HELD)
        self.tidegate("restore", self.file)
        self.assertEqual(self.rows("SELECT * FROM t ORDER BY id"), self.before)


if __name__ == "__main__":
    harness.main()
