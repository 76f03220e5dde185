"""The numbered cases of the swap hazards that SQLite can show and way_test.py does not; kills and failures are in tests/fault."""

import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading

import harness
from harness import BINARY, CONFLICT, DENIED, DRIFT, HELD, LEASED, LOCKED, PAUSED, SUPERSEDED, Flow, cron_in, wait_until

SCENE = """
CREATE TABLE src(day TEXT NOT NULL, id INTEGER NOT NULL, v INTEGER);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
INSERT INTO src SELECT date('2024-01-01', '+' || (i / 10) || ' days'), i, i * 3 FROM n;
CREATE TABLE fct(day TEXT NOT NULL, id INTEGER NOT NULL, v INTEGER, note TEXT, PRIMARY KEY(day, id));
INSERT INTO fct SELECT day, id, CASE WHEN id % 4 = 0 THEN 0 ELSE v END, 'n' || id FROM src;
"""
SPEC = """
target: fct
range: 2024-01-05..2024-01-20
wrong: every fourth is nought
correct: as in the source
changes: v
recompute: SELECT day, id, v FROM src WHERE day >= :from AND day < :to
"""
NOW = "SELECT * FROM fct ORDER BY day, id"
RIGHT = ("SELECT f.day, f.id, CASE WHEN f.day BETWEEN '2024-01-05' AND '2024-01-20' THEN s.v ELSE f.v END, f.note "
         "FROM fct f JOIN src s USING (day, id) ORDER BY 1, 2")
SLOW = "SELECT day, id, v + 0 * (WITH RECURSIVE w(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM w WHERE i < 150000 + id) SELECT max(i) FROM w) AS v FROM src WHERE day >= :from AND day < :to"


class Hazards(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)
        self.before = self.rows(NOW)
        self.right = self.rows(RIGHT)
        self.file = self.spec(SPEC)

    def schema(self):
        """Everything in the catalogue that is not the ledger's, and the settings of the file."""
        return self.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name NOT LIKE 'tidegate%' AND name NOT IN ('sqlite_sequence', 'sqlite_stat1') ORDER BY 1, 2") + [
            self.rows(f"PRAGMA {name}") for name in ("user_version", "application_id", "journal_mode", "auto_vacuum", "page_size", "encoding", "foreign_key_list(fct)")]

    def start(self, *args):
        return subprocess.Popen([BINARY, *map(str, args)], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_04_and_06_writers_at_every_moment(self):
        """Writers insert, update, delete and move while run and swap go on: none of their rows is lost or doubled."""
        stop, log, errors = threading.Event(), [], []

        def write():
            try:
                db = self.connect(timeout=30)
                i = 0
                while not stop.is_set():
                    i += 1
                    key = 10000 + i
                    db.execute("INSERT INTO fct VALUES('2024-02-01', ?, 1, 'live')", (key,))
                    if i % 3 == 0:
                        db.execute("UPDATE fct SET v = -v WHERE id = ?", (key - 1,))
                        log[-1] = (key - 1, -1)
                    log.append((key, 1))
                    stop.wait(0.005)  # other writers get their turn
                db.close()
            except sqlite3.Error as error:
                errors.append(error)

        writer = threading.Thread(target=write)
        writer.start()
        wait_until(lambda: len(log) > 3 or errors)
        self.built(self.file)
        self.tidegate("swap", self.file, "--yes")
        stop.set()
        writer.join()
        self.assertEqual(errors, [])
        self.assertEqual(self.rows("SELECT id, v FROM fct WHERE note = 'live' ORDER BY id"), log)
        self.assertEqual(self.rows(f"SELECT * FROM ({NOW}) WHERE note <> 'live'"), self.right)

    def test_05_a_writer_open_across_the_swap_blocks_it_and_both_hold(self):
        self.built(self.file)
        db = self.connect()
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO fct VALUES('2024-01-05', 9001, 1, 'late')")
        swap = self.start("swap", self.file, "--yes")
        with self.assertRaises(subprocess.TimeoutExpired):
            swap.wait(0.5)
        db.execute("COMMIT")
        db.close()
        out, err = swap.communicate(timeout=60)
        self.assertEqual(swap.returncode, DRIFT, out + err)
        self.assertEqual(self.value("SELECT count(*) FROM fct WHERE id = 9001"), 1)
        self.assertEqual(self.rows(f"SELECT * FROM ({NOW}) WHERE id <> 9001"), self.before)

    def test_07_insert_beside(self):
        """An insert of the very row that the backfill would insert: no duplicate, no loss, no overwriting."""
        self.sql("DELETE FROM fct WHERE id = 50")
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, new rows: yes}"))
        self.built(spec)
        self.sql("INSERT INTO fct VALUES('2024-01-06', 50, 77, 'live')")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.assertEqual(self.rows("SELECT v, note FROM fct WHERE id = 50"), [(77, "live")])
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows("SELECT v, note FROM fct WHERE id = 50"), [(150, "live")])

    def test_08_a_reader_holds_a_snapshot_for_the_whole_run(self):
        reader = self.connect()
        reader.execute("BEGIN")
        seen = reader.execute(NOW).fetchall()
        self.swapped(self.file)
        self.assertEqual(reader.execute(NOW).fetchall(), seen)
        reader.execute("COMMIT")
        self.assertEqual(reader.execute(NOW).fetchall(), self.right)
        reader.close()

    def test_09_retries_used_up(self):
        spec = self.spec(SPEC + "budget: {duty: 100 %, lock: 100ms, lock_tries: 3}")
        self.built(spec)
        db = self.connect()
        db.execute("BEGIN IMMEDIATE")
        self.tidegate("swap", spec, "--yes", code=LOCKED)
        self.assertEqual(self.rows(NOW), self.before)
        self.assertEqual(self.state(), "ready")
        self.assertEqual(len(self.objects()), 1)
        self.tidegate("discard", spec, code=LOCKED)
        self.assertEqual(len(self.objects()), 1)
        db.execute("ROLLBACK")
        db.close()
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_09_run_gives_up_too(self):
        spec = self.spec(SPEC + "budget: {duty: 100 %, lock: 100ms, lock_tries: 2}")
        self.plan(spec)
        db = self.connect()
        db.execute("BEGIN IMMEDIATE")
        self.tidegate("run", spec, code=LOCKED)
        db.execute("ROLLBACK")
        db.close()
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("run", spec)

    def test_10_discard_and_finish_drop_only_their_own(self):
        self.sql("CREATE TABLE tidegate_0000_changes(x); INSERT INTO tidegate_0000_changes VALUES(1)")
        self.built(self.file)
        own, = [name for name in self.objects() if name != "tidegate_0000_changes"]
        self.tidegate("discard", self.file)
        self.assertEqual(self.objects(), ["tidegate_0000_changes"])
        self.built(self.file)
        own, = [name for name in self.objects() if name != "tidegate_0000_changes"]
        self.sql(f"DROP TABLE {own}; CREATE TABLE {own}(precious); INSERT INTO {own} VALUES(1)")
        result = self.run_tidegate("discard", self.file)
        self.assertNotEqual(result.code, 0, repr(result))
        self.assertEqual(self.rows(f"SELECT * FROM {own}"), [(1,)])

    def test_11_catalogue_before_and_after(self):
        self.sql("CREATE INDEX i1 ON fct(v) WHERE v > 5; CREATE UNIQUE INDEX i2 ON fct(note, day); CREATE INDEX i3 ON fct(lower(note) COLLATE NOCASE DESC);"
                 "CREATE TABLE child(day, id, FOREIGN KEY(day, id) REFERENCES fct(day, id) ON UPDATE CASCADE); CREATE VIEW w AS SELECT * FROM fct;"
                 "CREATE TRIGGER t AFTER DELETE ON src BEGIN DELETE FROM fct WHERE id = old.id; END; PRAGMA user_version = 7; ANALYZE; PRAGMA application_id = 9")
        before, stat = self.schema(), self.rows("SELECT * FROM sqlite_stat1 WHERE tbl = 'fct' ORDER BY idx")
        for shadow in ("thin", "full"):
            with self.subTest(shadow):
                spec = self.spec(SPEC + f"shadow: {shadow}")
                self.swapped(spec)
                self.assertEqual(self.schema(), before)
                self.tidegate("rollback", spec)
                self.assertEqual(self.schema(), before)
                self.tidegate("swap", spec, "--yes")
                self.tidegate("finish", spec, "--early")
                self.assertEqual(self.schema(), before)
                self.assertEqual(self.rows("SELECT * FROM sqlite_stat1 WHERE tbl = 'fct' ORDER BY idx"), stat)
                self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
                self.sql("UPDATE fct SET v = 0 WHERE id % 4 = 0 AND day BETWEEN '2024-01-05' AND '2024-01-20'")

    def test_12_dependent_views(self):
        self.sql("CREATE VIEW a AS SELECT day, sum(v) AS s FROM fct GROUP BY day; CREATE VIEW b AS SELECT sum(s) AS s FROM a; CREATE VIEW broken AS SELECT * FROM gone")
        self.swapped(self.file)
        self.assertEqual(self.rows("SELECT s FROM b"), self.rows("SELECT sum(v) FROM fct"))
        self.assertEqual(self.value("SELECT s FROM a WHERE day = '2024-01-05'"), sum(row[2] for row in self.right if row[0] == "2024-01-05"))

    def autoincrement(self, delete="", changes="{v: yes, new rows: yes}"):
        self.sql("CREATE TABLE ai(id INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT NOT NULL, k INTEGER NOT NULL UNIQUE, v INTEGER);"
                 "INSERT INTO ai(day, k, v) SELECT day, id, 0 FROM src; DELETE FROM ai WHERE id > 300;" + delete)
        return self.spec(f"""
            target: ai
            range: 2024-01-05..2024-01-08
            wrong: x
            correct: y
            key: [k]
            changes: {changes}
            recompute: SELECT day, id AS k, v FROM src WHERE day >= :from AND day < :to
            """)

    def test_13_next_generated_id(self):
        """The counter stays above the old and the new maximum, ids of rows that stay are kept, new rows get fresh ones."""
        spec = self.autoincrement("DELETE FROM ai WHERE k IN (55, 66)")
        ids = dict(self.rows("SELECT k, id FROM ai"))
        self.assertEqual(self.value("SELECT seq FROM sqlite_sequence WHERE name = 'ai'"), 400)
        self.swapped(spec)
        now = dict(self.rows("SELECT k, id FROM ai"))
        self.assertEqual({k: now[k] for k in ids}, ids)
        self.assertEqual({now[55], now[66]}, {401, 402})
        self.tidegate("rollback", spec)
        self.assertEqual(dict(self.rows("SELECT k, id FROM ai")), ids)
        self.sql("INSERT INTO ai(day, k, v) VALUES('2024-05-01', 9999, 1)")
        self.assertGreater(self.value("SELECT id FROM ai WHERE k = 9999"), 400)

    def test_13_deleted_rows_come_back_under_their_own_id(self):
        spec = self.autoincrement("INSERT INTO ai(day, k, v) VALUES('2024-01-06', 5000, 8)", "{v: yes, vanished rows: k >= 5000}")
        before = self.rows("SELECT * FROM ai ORDER BY id")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM ai WHERE k = 5000"), 0)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT * FROM ai ORDER BY id"), before)
        self.assertEqual(self.value("SELECT seq FROM sqlite_sequence WHERE name = 'ai'"), 401)

    def test_14_generated_columns(self):
        self.sql("CREATE TABLE g(day TEXT NOT NULL, id INTEGER PRIMARY KEY, v INTEGER, twice INTEGER GENERATED ALWAYS AS (v * 2) STORED, thrice AS (v * 3), ten INT DEFAULT 10);"
                 "INSERT INTO g(day, id, v, ten) SELECT day, id, v + 1, 11 FROM src; CREATE INDEX gi ON g(thrice)")
        spec = self.spec("target: g\nrange: 2024-01-05..2024-01-10\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v FROM src WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM g WHERE twice <> v * 2 OR thrice <> v * 3 OR ten <> 11"), 0)
        self.assertEqual(self.value("SELECT count(*) FROM g JOIN src USING (id) WHERE g.v <> src.v AND g.day BETWEEN '2024-01-05' AND '2024-01-10'"), 0)
        wrong = self.spec("target: g\nrange: 2024-01-05..2024-01-10\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v, 1 AS twice FROM src WHERE day >= :from AND day < :to\n", "wrong.yaml")
        self.assertIn("twice", self.plan(wrong, code=harness.USAGE).err)

    def boundary(self, kind, values, inside, days="2024-03-10..2024-03-10", zone="UTC", affinity=""):
        """`values`: dates as SQL; `inside`: indexes of those that belong to the range. Everything else stays byte for byte."""
        self.sql(f"DROP TABLE IF EXISTS b; CREATE TABLE b(id INTEGER PRIMARY KEY, at {affinity}, v INTEGER, x);" +
                 "".join(f"INSERT INTO b(at, v, x) VALUES({value}, 0, {i} || 'x');" for i, value in enumerate(values)))
        spec = self.spec(f"target: b\nrange: {days}\nwrong: x\ncorrect: y\nchanges: v\ndate_column: at\ndate_kind: {kind}\nzone: {zone}\n"
                         "recompute: SELECT id, at, 1 AS v FROM b WHERE at >= :from AND at < :to\n")
        before = self.rows("SELECT id, at, typeof(at), v, x FROM b ORDER BY id")
        self.swapped(spec)
        self.assertEqual(self.rows("SELECT id, at, typeof(at), v, x FROM b ORDER BY id"),
                         [row[:3] + (1 if i in inside else 0,) + row[4:] for i, row in enumerate(before)])
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT id, at, typeof(at), v, x FROM b ORDER BY id"), before)

    def test_16_boundaries_dates(self):
        self.boundary("date", ["'2024-03-09'", "'2024-03-10'", "'2024-03-11'", "'2023-03-10'"], {1})

    def test_16_boundaries_timestamps(self):
        for separator in (" ", "T"):
            for end in ("", ".000", ".999999", "Z"):
                with self.subTest(separator + end):
                    at = lambda day, clock: f"'2024-03-{day}{separator}{clock}{end}'"
                    self.boundary("timestamp", [at("09", "23:59:59"), at("10", "00:00:00"), at("10", "12:00:00"), at("10", "23:59:59"), at("11", "00:00:00")], {1, 2, 3}, affinity="TEXT")

    def test_16_boundaries_numbers(self):
        day = 1710028800
        self.boundary("unix_seconds", [day - 1, day, day + 86399, day + 86400], {1, 2}, affinity="INTEGER")
        self.boundary("unix_seconds", [day - 0.001, day + 0.0, day + 86399.999, day + 86400.0], {1, 2})
        self.boundary("unix_millis", [day * 1000 - 1, day * 1000, day * 1000 + 86399999, day * 1000 + 86400000], {1, 2}, affinity="INTEGER")
        self.boundary("julian_day", [2460379.4999999, 2460379.5, 2460380.4999999, 2460380.5], {1, 2}, affinity="REAL")

    def test_16_zone_and_its_changes(self):
        midnight = 1710046800  # 10 March 2024, 00:00 in New York; the day has 23 hours
        self.boundary("unix_seconds", [midnight - 1, midnight, midnight + 23 * 3600 - 1, midnight + 23 * 3600], {1, 2}, zone="America/New_York", affinity="INTEGER")
        midnight = 1730606400  # 3 November 2024; 25 hours
        self.boundary("unix_millis", [midnight * 1000 - 1, midnight * 1000, midnight * 1000 + 25 * 3600000 - 1, midnight * 1000 + 25 * 3600000], {1, 2},
                      days="2024-11-03..2024-11-03", zone="America/New_York", affinity="INTEGER")
        midnight = 1711843200 - 3600 * 9  # 31 March 2024 in Tokyo
        self.boundary("unix_seconds", [midnight - 1, midnight, midnight + 86399, midnight + 86400], {1, 2}, days="2024-03-31..2024-03-31", zone="Asia/Tokyo", affinity="INTEGER")

    def test_16_null_dates_stay(self):
        self.sql("CREATE TABLE n(day TEXT, id INTEGER PRIMARY KEY, v); INSERT INTO n VALUES(NULL, 1, 'a'), ('2024-01-05', 2, 'b'), (NULL, 3, NULL)")
        text = "target: n\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, 'c' AS v FROM n WHERE day >= :from AND day < :to\n"
        self.plan(self.spec(text), code=DENIED)
        spec = self.spec(text + "allow: {null_dates: yes}\n")
        self.swapped(spec)
        self.assertEqual(self.rows("SELECT * FROM n ORDER BY id"), [(None, 1, "a"), ("2024-01-05", 2, "c"), (None, 3, None)])

    def test_16_an_emptied_day_is_empty(self):
        self.sql("DELETE FROM src WHERE day = '2024-01-07'")
        self.plan(self.file, code=DENIED)
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, vanished rows: yes}") + "allow: {emptied_dates: [2024-01-07]}")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM fct WHERE day = '2024-01-07'"), 0)
        self.assertEqual(self.value("SELECT count(*) FROM fct"), 390)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)

    def test_16_the_emptying_declared_is_for_its_date_alone(self):
        self.sql("DELETE FROM src WHERE day IN ('2024-01-07', '2024-01-09')")
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, vanished rows: yes}") + "allow: {emptied_dates: [2024-01-07]}")
        self.assertIn("9 Jan", repr(self.plan(spec, code=DENIED)))

    def test_16_rows_outside_stay_byte_for_byte(self):
        """Values that a rewrite would change: blobs, huge numbers, -0.0, text in an INTEGER column, invalid UTF-8."""
        self.sql("CREATE TABLE m(id INTEGER PRIMARY KEY, day TEXT NOT NULL, v INTEGER, x);"
                 "INSERT INTO m VALUES(1,'2024-01-04',0,x'00ff'),(2,'2024-01-05',0,x'00ff'),(3,'2024-01-05',0,-0.0),(4,'2024-01-05',0,9223372036854775807),(5,'2024-01-05',0,1e308),"
                 "(6,'2024-01-05',0,CAST(x'fffe41' AS TEXT)),(7,'2024-01-06',0,NULL),(8,'2024-01-05',0,''),(9,'2024-01-05',0,'a' || char(0) || 'b'),(10,'2024-01-05','text','1')")
        look = "SELECT id, day, typeof(x), hex(CAST(x AS BLOB)), quote(CAST(x AS BLOB)), typeof(v) = 'integer' FROM m ORDER BY id"
        before = self.rows(look)
        spec = self.spec("target: m\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT id, day, 7 AS v, x FROM m WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.assertEqual([row[:5] for row in self.rows(look)], [row[:5] for row in before])
        self.assertEqual(self.value("SELECT sum(v) FROM m"), 56)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(look), before)

    def test_17_columns_change_during_the_run(self):
        for change in ("ALTER TABLE fct ADD COLUMN extra", "ALTER TABLE fct RENAME COLUMN note TO remark", "ALTER TABLE fct DROP COLUMN note",
                       "DROP TABLE fct; CREATE TABLE fct AS SELECT day, id, 0 AS v FROM src", "CREATE UNIQUE INDEX u ON fct(id)", "CREATE TRIGGER t AFTER UPDATE ON fct BEGIN DELETE FROM src; END"):
            with self.subTest(change):
                self.tearDown()
                self.setUp()
                self.built(self.file)
                self.sql(change)
                after = self.rows(NOW)
                result = self.run_tidegate("swap", self.file, "--yes")
                self.assertIn(result.code, (SUPERSEDED, DENIED), repr(result))
                self.assertEqual(self.rows(NOW), after)
                self.assertEqual(self.value("SELECT count(*) FROM src"), 400)

    def test_18_a_unique_violation_is_a_hard_failure(self):
        self.sql("CREATE TABLE u(day TEXT NOT NULL, id INTEGER PRIMARY KEY, code TEXT UNIQUE, v INTEGER CHECK (v >= 0)); INSERT INTO u SELECT day, id, 'c' || id, v FROM src")
        before = self.rows("SELECT * FROM u ORDER BY id")
        for recompute in ("SELECT day, id, 'c0' AS code, v FROM src", "SELECT day, id, 'c' || id AS code, -1 AS v FROM src"):
            with self.subTest(recompute):
                spec = self.spec(f"target: u\nrange: 2024-01-05..2024-01-06\nwrong: x\ncorrect: y\nchanges: [code, v]\nrecompute: {recompute} WHERE day >= :from AND day < :to\n")
                self.plan(spec)
                self.tidegate("run", spec, code=HELD)
                self.assertEqual(self.rows("SELECT * FROM u ORDER BY id"), before)
                self.assertEqual(self.state(), "held")
                self.tidegate("discard", spec)

    def test_18_values_that_change_places(self):
        """Two rows exchange a UNIQUE value: done whole or refused whole, never half."""
        self.sql("CREATE TABLE u(day TEXT NOT NULL, id INTEGER PRIMARY KEY, code TEXT UNIQUE); INSERT INTO u VALUES('2024-01-05', 1, 'b'), ('2024-01-05', 2, 'a');"
                 "CREATE TABLE s(day TEXT, id INTEGER, code TEXT); INSERT INTO s VALUES('2024-01-05', 1, 'a'), ('2024-01-05', 2, 'b')")
        spec = self.spec("target: u\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: code\nrecompute: SELECT day, id, code FROM s WHERE day >= :from AND day < :to\n")
        result = self.run_tidegate("backfill", spec, "--yes")
        now = self.rows("SELECT id, code FROM u ORDER BY id")
        self.assertIn(now, ([(1, "a"), (2, "b")],) if result.code == 0 else ([(1, "b"), (2, "a")],))

    def test_19_a_row_that_arrived_on_a_date_of_the_swap(self):
        """Rows that arrived after the swap are told, and stay."""
        self.swapped(self.file)
        self.sql("INSERT INTO fct VALUES('2024-01-06', 9001, 5, 'later')")
        result = self.tidegate("rollback", self.file)
        self.assertIn("1", result.out)
        self.assertEqual(self.rows("SELECT * FROM fct WHERE id = 9001"), [("2024-01-06", 9001, 5, "later")])
        self.assertEqual(self.rows(f"SELECT * FROM ({NOW}) WHERE id <> 9001"), self.before)

    def test_19_a_later_write_to_a_column_that_was_not_given(self):
        """The swap changed v, a later writer the note of the same row: rollback must not undo the note."""
        self.swapped(self.file)
        self.sql("UPDATE fct SET note = 'later' WHERE id = 44")
        result = self.run_tidegate("rollback", self.file)
        self.assertIn(result.code, (0, CONFLICT))
        self.assertEqual(self.value("SELECT note FROM fct WHERE id = 44"), "later")

    def test_19_without_a_key(self):
        self.sql("CREATE TABLE k(day TEXT, v INTEGER); INSERT INTO k SELECT day, 0 FROM src")
        before = self.rows("SELECT day, v FROM k ORDER BY 1, 2")
        spec = self.spec("target: k\nrange: 2024-01-05..2024-01-06\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, v FROM src WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.sql("INSERT INTO k VALUES('2024-01-05', -5)")
        later = self.rows("SELECT day, v FROM k ORDER BY 1, 2")
        self.tidegate("rollback", spec, code=CONFLICT)
        self.assertEqual(self.rows("SELECT day, v FROM k ORDER BY 1, 2"), later)
        self.sql("DELETE FROM k WHERE v = -5")
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT day, v FROM k ORDER BY 1, 2"), before)

    def test_21_a_second_instance(self):
        spec = self.spec(SPEC[:SPEC.index("recompute")] + "recompute: " + SLOW)
        self.plan(spec)
        first = self.start("run", spec)
        try:
            wait_until(lambda: self.state() == "building", what="the first run")
            result = self.tidegate("run", spec, code=LEASED)
            self.assertIn(str(first.pid), result.err)
            self.tidegate("discard", spec, code=LEASED)
        finally:
            first.send_signal(signal.SIGINT)
            first.send_signal(signal.SIGINT)
            out, err = first.communicate(timeout=60)
        self.assertEqual(first.returncode, PAUSED, out + err)
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("discard", spec)

    def test_22_production_begins_during_the_run(self):
        """A production run begins while a batch is written: it is stopped, unless it ended first, and no other starts; afterwards the same command carries on."""
        script = self.folder / "job.py"
        script.write_text(textwrap.dedent("""
            import os, sqlite3
            db = sqlite3.connect(os.environ["TIDEGATE_DATABASE"], timeout=20)
            first, until, shadow = (os.environ["TIDEGATE_" + n] for n in ("FROM", "TO", "SHADOW"))
            db.execute(f'DELETE FROM "{shadow}" WHERE day >= ? AND day < ?', (first, until))
            db.execute(f'INSERT INTO "{shadow}"(day, id, v, note) SELECT day, id, src.v, fct.note FROM src JOIN fct USING (day, id) WHERE day >= ? AND day < ?', (first, until))
            db.execute("INSERT INTO jobs(name) SELECT 'daily' WHERE NOT EXISTS (SELECT 1 FROM jobs)")
            db.commit()
            """))
        self.sql("CREATE TABLE jobs(name, ended DEFAULT NULL)")
        spec = self.spec(SPEC[:SPEC.index("recompute")] + f'recompute: {{command: ["{sys.executable}", "{script}", "{{shadow}}"]}}\n',
                         production='production: {schedule: "0 2 1 1 *", zone: UTC, p95: 1m, running: "SELECT count(*) FROM jobs WHERE ended IS NULL"}')
        self.plan(spec)
        result = self.run_tidegate("run", spec, "--no-wait")
        self.assertIn(result.code, (DENIED, PAUSED), repr(result))
        self.assertLessEqual(self.value("SELECT count(*) FROM tidegate_batch"), 1)
        self.assertEqual(self.state(), "building")
        self.sql("UPDATE jobs SET ended = 1")
        self.tidegate("run", spec, "--no-wait")
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_22_the_window_closes_by_the_clock(self):
        """A run that production's schedule has reached by now is denied at its first batch, and the swap too."""
        self.plan(self.spec(SPEC, production=f'production: {{schedule: "{cron_in(4)}", zone: UTC, p95: 1m, guard: 15m}}'), code=DENIED)
        spec = self.spec(SPEC, production=f'production: {{schedule: "{cron_in(60)}", zone: UTC, p95: 1m, guard: 15m}}')
        self.plan(spec)
        self.tidegate("run", spec, "--no-wait")
        self.tidegate("swap", spec, "--yes")

    def test_25_floats_within_a_tolerance(self):
        """Sums in another order differ in the last place: not a change within the tolerance, a change without."""
        self.sql("CREATE TABLE f(day TEXT PRIMARY KEY, s REAL, n INTEGER); INSERT INTO f VALUES('2024-01-05', 0.3, 0), ('2024-01-06', 0.5, 0)")
        text = ("target: f\nrange: 2024-01-05..2024-01-06\nwrong: x\ncorrect: y\nchanges: n\ntolerance: {s: 0.000001}\n"
                "recompute: SELECT day, CASE day WHEN '2024-01-05' THEN 0.1 + 0.2 ELSE 0.5 END AS s, 1 AS n FROM f WHERE day >= :from AND day < :to\n")
        self.swapped(self.spec(text))
        self.assertEqual(self.rows("SELECT s = 0.3, n FROM f WHERE day = '2024-01-05'"), [(1, 1)])
        self.sql("UPDATE f SET n = 0")
        spec = self.spec(text.replace("tolerance: {s: 0.000001}\n", ""), "exact.yaml")
        self.plan(spec)
        self.assertIn("s", self.tidegate("run", spec, code=HELD).err)

    def test_25_no_false_pass(self):
        """Values that a text checksum takes for equal are different, and are published as they are."""
        pairs = [("NULL", "''"), ("''", "NULL"), ("1", "'1'"), ("'a'", "'A'"), ("'a'", "'a '"), ("x'61'", "'a'"), ("'1.0'", "'1'"), ("0.1 + 0.2", "0.3"), ("char(101, 769)", "char(233)"),
                 ("9007199254740993", "9007199254740992"), ("'NULL'", "NULL"), ("'a' || char(0) || 'b'", "'a'"), ("1.5", "'1.5'")]
        self.sql("CREATE TABLE p(day TEXT NOT NULL, id INTEGER PRIMARY KEY, x); CREATE TABLE q(day TEXT NOT NULL, id INTEGER PRIMARY KEY, x);" +
                 "".join(f"INSERT INTO p VALUES('2024-01-05', {i}, {old}); INSERT INTO q VALUES('2024-01-05', {i}, {new});" for i, (old, new) in enumerate(pairs)))
        look = "SELECT id, typeof(x), hex(CAST(x AS BLOB)), x IS (SELECT x FROM {0} o WHERE o.id = t.id) FROM {1} t ORDER BY id"
        spec = self.spec("target: p\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: x\nrecompute: SELECT day, id, x FROM q WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.assertEqual(self.value(f"SELECT count(*) FROM {self.objects()[0]}"), len(pairs))
        self.assertEqual(self.rows(look.format("p", "q")), self.rows(look.format("q", "p")))

    def test_25_negative_zero(self):
        """-0.0 and 0.0 are equal to SQL; whichever way it is judged, nothing fails and nothing else changes."""
        self.sql("CREATE TABLE z(day TEXT PRIMARY KEY, x REAL, v); INSERT INTO z VALUES('2024-01-05', 0.0, 0)")
        spec = self.spec("target: z\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, -0.0 AS x, 1 AS v FROM z WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.assertEqual(self.rows("SELECT v, x = 0 FROM z"), [(1, 1)])

    def test_25_collation_of_the_key(self):
        """A NOCASE key: “ANN” and “ann” are one row of production, and its text is corrected, not put beside."""
        self.sql("CREATE TABLE c(day TEXT NOT NULL, name TEXT COLLATE NOCASE NOT NULL, v INTEGER, PRIMARY KEY(day, name)); INSERT INTO c VALUES('2024-01-05', 'Ann', 0), ('2024-01-05', 'bob', 0);"
                 "CREATE TABLE d(day TEXT, name TEXT, v INTEGER); INSERT INTO d VALUES('2024-01-05', 'ANN', 1), ('2024-01-05', 'bob', 1)")
        spec = self.spec("target: c\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, name, v FROM d WHERE day >= :from AND day < :to\n")
        self.plan(spec)
        result = self.run_tidegate("run", spec)
        if result.code == 0:
            self.tidegate("swap", spec, "--yes")
            self.assertEqual(self.rows("SELECT v FROM c ORDER BY name"), [(1,), (1,)])
        else:
            self.assertEqual(result.code, HELD, repr(result))
            self.assertEqual(self.rows("SELECT name, v FROM c ORDER BY name"), [("Ann", 0), ("bob", 0)])

    def test_25_collation_twice_in_the_recompute(self):
        """The recompute gives both spellings of one NOCASE key: a key twice, held."""
        self.sql("CREATE TABLE c(day TEXT NOT NULL, name TEXT COLLATE NOCASE NOT NULL, v INTEGER, PRIMARY KEY(day, name)); INSERT INTO c VALUES('2024-01-05', 'Ann', 0);"
                 "CREATE TABLE d(day TEXT, name TEXT, v INTEGER); INSERT INTO d VALUES('2024-01-05', 'ANN', 1), ('2024-01-05', 'Ann', 2), ('2024-01-05', 'x', 2), ('2024-01-05', 'X', 2)")
        spec = self.spec("target: c\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: {\"*\": yes, new rows: yes}\nrecompute: SELECT day, name, v FROM d WHERE day >= :from AND day < :to\n")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT name, v FROM c"), [("Ann", 0)])

    def test_25_key_parts_are_not_joined(self):
        """(1, 11) is not (11, 1), and ('a', 'bc') is not ('ab', 'c')."""
        self.sql("CREATE TABLE j(day TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL, v, PRIMARY KEY(day, a, b)); INSERT INTO j VALUES('2024-01-05', '1', '11', 0), ('2024-01-05', '11', '1', 0),"
                 "('2024-01-05', 'a', 'bc', 0), ('2024-01-05', 'ab', 'c', 0)")
        spec = self.spec("target: j\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, a, b, a || '/' || b AS v FROM j WHERE day >= :from AND day < :to\n")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM j WHERE v = a || '/' || b"), 4)


class HazardsWithoutWal(Hazards):
    """The same without WAL; a reader that stays then blocks every writer, so that the swap gives up instead."""

    wal = False

    def test_08_a_reader_holds_a_snapshot_for_the_whole_run(self):
        spec = self.spec(SPEC + "budget: {duty: 100 %, lock: 100ms, lock_tries: 2}")
        self.built(spec)
        reader = self.connect()
        reader.execute("BEGIN")
        reader.execute(NOW).fetchall()
        self.tidegate("swap", spec, "--yes", code=LOCKED)
        reader.execute("COMMIT")
        reader.close()
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)


if __name__ == "__main__":
    harness.main()
