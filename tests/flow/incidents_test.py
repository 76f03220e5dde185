"""Backfills that broke production, one test a case of tests/cases/incidents.md, each with the outcome that was wanted.

B16, B21 and B22 need a server and are not here. Where a case is about other machinery (B12, B13, B15, B29, B32) the
nearest thing that Tidegate itself decides stands for it."""

import sqlite3
import sys
import textwrap
import threading
import unittest

import harness
from harness import COMMAND, DENIED, DRIFT, HELD, NO_CHANGE, PAUSED, STATE, Flow, cron_in, wait_until


class Incident(Flow):
    def write(self, target, days, recompute, extra="changes: \"*\"", name="backfill.yaml", **kwargs):
        """A spec whose words do not matter; `extra` is its evidence and whatever else the case needs."""
        if not recompute.lstrip().startswith(("recompute:", "{")):
            recompute = "recompute: |\n" + textwrap.indent(textwrap.dedent(recompute).strip(), "  ")
        text = f"target: {target}\nrange: {days}\nwrong: as the case tells\ncorrect: as the source has it\n"
        return self.spec(text + textwrap.dedent(extra).strip() + "\n" + recompute + "\n", name, **kwargs)

    def refused(self, result, *words):
        for word in words:
            self.assertIn(word, result.out + result.err)


class Incidents(Incident):
    def test_b01_append_on_retry_or_rerun(self):
        """A retried plain INSERT left duplicate rows; each rerun added the day again. Wanted: 2|2|30, however often it is run."""
        self.sql("create table src(d text, id int, amt int); create table fct(d text, id int, amt int);"
                 "insert into src values('2024-01-01',1,10),('2024-01-01',2,20);"
                 "insert into fct values('2024-01-01',1,11),('2024-01-01',2,20)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, amt from src where d >= :from and d < :to", "key: [d, id]\nchanges: amt")
        self.swapped(file)
        self.assertEqual(self.rows("select count(*), count(distinct id), sum(amt) from fct"), [(2, 2, 30)])
        self.tidegate("swap", file, "--yes", code=STATE)
        self.assertEqual(self.rows("select count(*), count(distinct id), sum(amt) from fct"), [(2, 2, 30)])
        again = self.write("fct", "2024-01-01..2024-01-01", "select d, id, amt from src where d >= :from and d < :to", "key: [d, id]\nchanges: amt",
                           name="again.yaml")
        self.plan(again)
        self.tidegate("run", again, code=NO_CHANGE)
        self.assertEqual(self.rows("select count(*), count(distinct id), sum(amt) from fct"), [(2, 2, 30)])

    def test_b01_doubled_rows_in_production_deny_the_key(self):
        """The retry has happened already: the declared key is none, and that is said before anything runs."""
        self.sql("create table src(d text, id int, amt int); create table fct(d text, id int, amt int);"
                 "insert into src values('2024-01-01',1,10),('2024-01-01',2,20); insert into fct select * from src; insert into fct select * from src")
        before = self.rows("select rowid, * from fct")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, amt from src where d >= :from and d < :to", "key: [d, id]\nchanges: {vanished rows: yes}")
        self.refused(self.plan(file, code=DENIED), "duplicate-keys")
        self.assertEqual(self.rows("select rowid, * from fct"), before)

    def test_b01_doubled_rows_are_taken_out_without_a_key(self):
        """Without a key the rows are compared as a bag: the two copies too many are deleted, the way back restores them."""
        self.sql("create table src(d text, id int, amt int); create table fct(d text, id int, amt int);"
                 "insert into src values('2024-01-01',1,10),('2024-01-01',2,20); insert into fct select * from src; insert into fct select * from src")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, amt from src where d >= :from and d < :to", "changes: {vanished rows: yes}")
        self.swapped(file)
        self.assertEqual(self.rows("select count(*), count(distinct id), sum(amt) from fct"), [(2, 2, 30)])
        self.tidegate("rollback", file)
        self.assertEqual(self.rows("select count(*), count(distinct id), sum(amt) from fct"), [(4, 2, 60)])

    def test_b01_recompute_that_gives_a_key_twice_is_held(self):
        """The recompute itself appends (a join that fans out): count of keys against count of distinct keys."""
        self.sql("create table src(d text, id int, amt int); create table fct(d text, id int, amt int, primary key(d, id));"
                 "insert into src values('2024-01-01',1,10),('2024-01-01',2,20),('2024-01-01',2,20);"
                 "insert into fct values('2024-01-01',1,11),('2024-01-01',2,21)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, amt from src where d >= :from and d < :to", "changes: amt")
        self.plan(file)
        self.refused(self.tidegate("run", file, code=HELD), "key")
        self.assertEqual(self.rows("select amt from fct order by id"), [(11,), (21,)])

    def test_b02_changes_nothing_and_says_success(self):
        """ON CONFLICT DO NOTHING kept wrong values and the run passed. Wanted: the value changes, or a failure."""
        self.sql("create table quote(k text, d text, v real); insert into quote values('TRY','2024-01-01',1.23456);"
                 "create table rate(k text primary key, d text, v real); insert into rate values('TRY','2024-01-01',1.2346)")
        file = self.write("rate", "2024-01-01..2024-01-01", "select k, d, v from quote where d >= :from and d < :to", "changes: v")
        self.swapped(file)
        self.assertEqual(self.rows("select v from rate"), [(1.23456,)])
        (op, count), = self.rows(f"select op, count(*) from {self.objects()[0]} group by op")
        self.assertEqual((op, count), ("U", 1))

    def test_b02_a_recompute_that_keeps_the_wrong_value_fails(self):
        """The same with the bug left in: nothing would change although a change was expected, exit status 8."""
        self.sql("create table rate(k text primary key, d text, v real); insert into rate values('TRY','2024-01-01',1.2346)")
        file = self.write("rate", "2024-01-01..2024-01-01", "select k, d, v from rate where d >= :from and d < :to", "changes: v")
        self.plan(file)
        self.tidegate("run", file, code=NO_CHANGE)
        self.tidegate("swap", file, "--yes", code=STATE)

    def test_b02_one_date_that_changes_is_enough(self):
        """Several dates of which one changes: published, and only that row."""
        self.sql("create table quote(k text, d text, v real); insert into quote values('TRY','2024-01-01',1.5),('TRY','2024-01-02',1.23456),('TRY','2024-01-03',2);"
                 "create table rate(k text, d text, v real, primary key(k, d)); insert into rate select k, d, round(v, 4) from quote")
        file = self.write("rate", "2024-01-01..2024-01-03", "select k, d, v from quote where d >= :from and d < :to", "changes: v")
        self.swapped(file)
        self.assertEqual(self.rows("select v from rate order by d"), [(1.5,), (1.23456,), (2.0,)])

    def test_b03_key_includes_the_corrected_column(self):
        """The corrected row was put next to the wrong one. Wanted: refused while the column is in the key, one row with the business key."""
        self.sql("create table src(d text, id int, mode text, v int); insert into src values('2024-01-01',1,'on',5);"
                 "create table r(d text, id int, mode text, v int, unique(d, id, mode)); insert into r values('2024-01-01',1,'off',5)")
        recompute = "select d, id, mode, v from src where d >= :from and d < :to"
        file = self.write("r", "2024-01-01..2024-01-01", recompute, "key: [d, id, mode]\nchanges: mode")
        self.refused(self.plan(file, code=harness.USAGE), "“mode” is part of the key")
        self.assertEqual(self.value("select count(*) from r where id = 1"), 1)
        file = self.write("r", "2024-01-01..2024-01-01", recompute, "key: [d, id]\nchanges: mode")
        self.swapped(file)
        self.assertEqual(self.rows("select d, id, mode, v from r"), [("2024-01-01", 1, "on", 5)])

    def test_b03_undeclared_column_in_the_key(self):
        """Evidence that names no columns: the old row vanishes and a new one comes, which is not declared and is held."""
        self.sql("create table src(d text, id int, mode text, v int); insert into src values('2024-01-01',1,'on',5);"
                 "create table r(d text not null, id int not null, mode text not null, v int, unique(d, id, mode)); insert into r values('2024-01-01',1,'off',5)")
        file = self.write("r", "2024-01-01..2024-01-01", "select d, id, mode, v from src where d >= :from and d < :to", "checks: {rows: [v = 5]}")
        self.plan(file)
        self.tidegate("run", file, code=HELD)
        self.assertEqual(self.rows("select * from r"), [("2024-01-01", 1, "off", 5)])

    def test_b04_null_in_the_key(self):
        """Rows whose key has a NULL never match, every rerun adds them again. Wanted: a rule for them first; then 2 rows."""
        self.sql("create table src(d text, a text, b int, v int); insert into src values('2024-01-01','a',1,2),('2024-01-01','b',null,2);"
                 "create table f(d text, a text, b int, v int, unique(d, a, b)); insert into f values('2024-01-01','a',1,1),('2024-01-01','b',null,1)")
        recompute = "select d, a, b, v from src where d >= :from and d < :to"
        self.refused(self.plan(self.write("f", "2024-01-01..2024-01-01", recompute, "key: [d, a, b]\nchanges: v"), code=DENIED), "null-keys")
        file = self.write("f", "2024-01-01..2024-01-01", recompute, "key: [d, a, b]\nchanges: v\nallow: {null_keys: yes}")
        self.swapped(file)
        self.assertEqual(self.rows("select a, b, v from f order by a"), [("a", 1, 2), ("b", None, 2)])
        self.tidegate("rollback", file)
        self.assertEqual(self.rows("select a, b, v from f order by a"), [("a", 1, 1), ("b", None, 1)])

    def test_b04_null_in_the_key_of_the_recompute_alone(self):
        """Production is clean, the recompute brings the NULL."""
        self.sql("create table src(d text, a text, v int); insert into src values('2024-01-01','a',2),('2024-01-01',null,2);"
                 "create table f(d text, a text, v int, primary key(d, a)); insert into f values('2024-01-01','a',1)")
        file = self.write("f", "2024-01-01..2024-01-01", "select d, a, v from src where d >= :from and d < :to", "changes: {v: yes, new rows: yes}")
        self.plan(file)
        self.tidegate("run", file, code=HELD)
        self.assertEqual(self.rows("select a, v from f"), [("a", 1)])

    def test_b04_null_dates_need_a_rule(self):
        """Rows without a date belong to no batch: denied before the start, or left exactly as they are when declared."""
        self.sql("create table src(d text, id int, v int); insert into src values('2024-01-01',1,2),(null,3,2);"
                 "create table f(d text, id int primary key, v int); insert into f values('2024-01-01',1,1),(null,2,1)")
        recompute = "select d, id, v from src where d >= :from and d < :to or d is null"
        self.refused(self.plan(self.write("f", "2024-01-01..2024-01-01", recompute, "changes: v"), code=DENIED), "null-dates")
        file = self.write("f", "2024-01-01..2024-01-01", recompute, "changes: v\nallow: {null_dates: yes}")
        self.swapped(file)
        self.assertEqual(self.rows("select d, id, v from f order by id"), [("2024-01-01", 1, 2), (None, 2, 1)])

    def test_b06_empty_source_day(self):
        """An empty overwrite wiped the day. Wanted: stop before the write, unless zero is declared right for the date."""
        self.sql("create table src(d text, id int, v int); create table fct(d text, id int, v int, primary key(d, id));"
                 "insert into fct values('2024-01-01',1,1),('2024-01-02',2,1),('2024-01-02',3,1); insert into src values('2024-01-01',1,5)")
        before = self.rows("select * from fct order by id")
        recompute = "select d, id, v from src where d >= :from and d < :to"
        self.refused(self.plan(self.write("fct", "2024-01-01..2024-01-02", recompute, "changes: {v: yes, vanished rows: yes}"), code=DENIED), "2024-01-02")
        self.assertEqual(self.rows("select * from fct order by id"), before)
        file = self.write("fct", "2024-01-01..2024-01-02", recompute, "changes: {v: yes, vanished rows: yes}\nallow: {emptied_dates: [2024-01-02]}")
        self.swapped(file)
        self.assertEqual(self.rows("select * from fct"), [("2024-01-01", 1, 5)])
        self.tidegate("rollback", file)
        self.assertEqual(self.rows("select * from fct order by id"), before)

    def test_b06_recompute_that_filters_the_day_away(self):
        """The source has rows, the recompute drops them all: found when the batch is written, and held."""
        self.sql("create table src(d text, id int, v int); create table fct(d text, id int, v int);"
                 "insert into fct values('2024-01-01',1,1),('2024-01-02',2,1); insert into src values('2024-01-01',1,5),('2024-01-02',2,-1)")
        before = self.rows("select rowid, * from fct")
        file = self.write("fct", "2024-01-01..2024-01-02", "select d, id, v from src where v > 0 and d >= :from and d < :to",
                          "key: [id]\nchanges: {v: yes, vanished rows: yes}")
        self.plan(file)
        self.refused(self.tidegate("run", file, code=HELD), "2024-01-02")
        self.assertEqual(self.rows("select rowid, * from fct"), before)

    def test_b06_source_of_timestamps(self):
        """The same with unix seconds in the source and in the target."""
        self.sql("create table src(t integer, id int, v int); create table fct(t integer, id int primary key, v int);"
                 "insert into fct values(1704067200,1,1),(1704153600,2,1),(1704239999,3,1); insert into src values(1704067200,1,5)")
        file = self.write("fct", "2024-01-01..2024-01-02", "select t, id, v from src where t >= :from and t < :to",
                          "changes: {v: yes, vanished rows: yes}\ndate_column: t\ndate_kind: unix_seconds\nzone: UTC\nsources: {src: t}")
        result = self.run_tidegate("plan", file)
        if result.code == 0:
            result = self.tidegate("run", file, code=HELD)
        self.refused(result, "2024-01-02")
        self.assertEqual(self.value("select sum(v) from fct"), 3)

    def test_b07_overwrite_that_is_an_append(self):
        """The engine ignored the overwrite mode. Wanted: one day written twice has the same count, or it stops."""
        self.sql("create table src(d text, v int); insert into src values('2024-01-01',2); create table fct(d text, v int); insert into fct values('2024-01-01',1)")
        script = self.folder / "append.py"
        script.write_text("import os, sqlite3\ndb = sqlite3.connect(os.environ['TIDEGATE_DATABASE'])\n"
                          "db.execute('insert into \"%s\"(d, v) select d, v from src where d >= ? and d < ?' % os.environ['TIDEGATE_SHADOW'],"
                          "(os.environ['TIDEGATE_FROM'], os.environ['TIDEGATE_TO']))\ndb.commit()\n")
        file = self.write("fct", "2024-01-01..2024-01-01", f'recompute: {{command: ["{sys.executable}", "{script}", "{{shadow}}"]}}', "key: [d]\nchanges: v")
        self.plan(file)
        self.refused(self.tidegate("run", file, code=HELD), "twice")
        self.assertEqual(self.rows("select v from fct"), [(1,)])

    def test_b07_target_read_back_into_itself(self):
        """The recompute unions the target to the source: the rows double."""
        self.sql("create table src(d text, v int); insert into src values('2024-01-01',2); create table fct(d text, v int); insert into fct values('2024-01-01',1)")
        file = self.write("fct", "2024-01-01..2024-01-01",
                          "select d, v from src where d >= :from and d < :to union all select d, v from fct where d >= :from and d < :to", "key: [d]\nchanges: v")
        self.plan(file)
        self.tidegate("run", file, code=HELD)
        self.assertEqual(self.rows("select v from fct"), [(1,)])

    def test_b08_end_date_is_included(self):
        """1 to 2 January inclusive on timestamps. Wanted: 3 rows, also the last half second, not the next midnight."""
        self.sql("create table e(id integer primary key, ts text not null, v int); insert into e(ts, v) values('2023-12-31 23:59:59.999',0),('2024-01-01 00:00:00',0),"
                 "('2024-01-02 00:00:00',0),('2024-01-02 23:59:59.5',0),('2024-01-03 00:00:00',0)")
        file = self.write("e", "2024-01-01..2024-01-02", "select id, ts, 1 as v from e where ts >= :from and ts < :to", "changes: v\nzone: UTC")
        self.swapped(file)
        self.assertEqual(self.rows("select v from e order by id"), [(0,), (1,), (1,), (1,), (0,)])

    def test_b08_one_day(self):
        """Start = end is one day, not zero rows, for every kind of date."""
        for kind, values, zone in (("date", "'2024-01-01','2024-01-02','2024-01-03'", ""),
                                   ("timestamp", "'2024-01-01T23:59:59Z','2024-01-02T12:00:00Z','2024-01-03T00:00:00Z'", "zone: UTC"),
                                   ("unix_seconds", "1704153599,1704153600,1704240000", "zone: UTC"),
                                   ("unix_millis", "1704153599999,1704239999999,1704240000000", "zone: UTC"),
                                   ("julian_day", "2460311.4999,2460311.5,2460312.5", "zone: UTC"),
                                   ("basic_date", "'20240101','20240102','20240103'", ""),
                                   ("yyyymmdd", "20240101,20240102,20240103", "")):
            with self.subTest(kind):
                self.tearDown()
                self.setUp()
                self.sql("create table e(id integer primary key, t, v int);" + "".join(f"insert into e(t, v) values({value}, 0);" for value in values.split(",")))
                file = self.write("e", "2024-01-02..2024-01-02", "select id, t, 1 as v from e where t >= :from and t < :to",
                                  f"changes: v\ndate_column: t\ndate_kind: {kind}\n{zone}")
                self.swapped(file)
                self.assertEqual(self.rows("select v from e order by id"), [(0,), (1,), (0,)])

    def test_b09_utc_day_against_local_day(self):
        """Batches cut at UTC midnight hold 09:00 to 09:00 of Tokyo. Wanted: the zone decides which rows are of the day."""
        self.sql("create table e(id integer primary key, at integer not null, v int);"
                 "insert into e(at, v) select strftime('%s', t), 0 from (select '2024-01-15 10:00:00' t union all select '2024-01-15 23:30:00' "
                 "union all select '2024-01-14 15:00:00' union all select '2024-01-14 14:59:59' union all select '2024-01-15 15:00:00') order by t")
        file = self.write("e", "2024-01-15..2024-01-15", "select id, at, 1 as v from e where at >= :from and at < :to",
                          "changes: v\ndate_column: at\ndate_kind: unix_seconds\nzone: Asia/Tokyo")
        self.swapped(file)
        self.assertEqual(self.rows("select datetime(at, 'unixepoch'), v from e order by at"),
                         [("2024-01-14 14:59:59", 0), ("2024-01-14 15:00:00", 1), ("2024-01-15 10:00:00", 1), ("2024-01-15 15:00:00", 0), ("2024-01-15 23:30:00", 0)])

    def test_b09_recompute_cut_at_the_wrong_midnight_is_held(self):
        """The recompute labels by UTC while the table's zone is Tokyo: rows outside the dates asked for."""
        self.sql("create table e(id integer primary key, at integer not null, v int);"
                 "insert into e(at, v) values(strftime('%s','2024-01-15 10:00:00'),0),(strftime('%s','2024-01-15 23:30:00'),0)")
        file = self.write("e", "2024-01-15..2024-01-15", "select id, at, 1 as v from e where date(at, 'unixepoch') = '2024-01-15'",
                          "changes: v\ndate_column: at\ndate_kind: unix_seconds\nzone: Asia/Tokyo")
        result = self.run_tidegate("plan", file)
        if result.code == 0:
            result = self.run_tidegate("run", file)
            self.assertEqual(result.code, HELD, repr(result))
        self.assertNotEqual(result.code, 0)
        self.assertEqual(self.rows("select sum(v) from e"), [(0,)])

    def dst_day(self, day, hours, start_utc):
        self.sql(f"create table e(at integer primary key, v int); with recursive h(i) as (select -3 union all select i + 1 from h where i < {hours + 2}) "
                 f"insert into e select strftime('%s', '{start_utc}') + i * 3600, 0 from h")
        file = self.write("e", f"{day}..{day}", "select at, 1 as v from e where at >= :from and at < :to",
                          "changes: v\ndate_column: at\ndate_kind: unix_seconds\nzone: America/New_York")
        self.swapped(file)
        self.assertEqual(self.value("select sum(v) from e"), hours)
        self.assertEqual(self.rows("select v from e order by at"), [(0,)] * 3 + [(1,)] * hours + [(0,)] * 3)

    def test_b10_day_of_23_hours(self):
        """Adding 24 h drifts off local midnight. Wanted: 23 rows of 8 March 2026 in New York, none beside them."""
        self.dst_day("2026-03-08", 23, "2026-03-08 05:00:00")

    def test_b10_day_of_25_hours(self):
        """And 25 where the hour comes twice."""
        self.dst_day("2025-11-02", 25, "2025-11-02 04:00:00")

    def test_b10_several_days_over_the_change(self):
        """Several dates in several batches over the change: every hour once, and dates are counted as dates."""
        self.sql("create table e(at integer primary key, v int); with recursive h(i) as (select 0 union all select i + 1 from h where i < 167) "
                 "insert into e select strftime('%s', '2026-03-06 00:00:00') + i * 3600, 0 from h")
        file = self.write("e", "2026-03-07..2026-03-10", "select at, 1 as v from e where at >= :from and at < :to",
                          "changes: v\ndate_column: at\ndate_kind: unix_seconds\nzone: America/New_York")
        self.swapped(file)
        self.assertEqual(self.value("select sum(v) from e"), 95)
        self.assertEqual(self.value("select sum(date_count) from tidegate_batch"), 4)

    def test_b10_hours_over_the_change(self):
        """Grain hour on a day of 23 hours: 23 dates, none that does not exist."""
        self.sql("create table e(at integer primary key, v int); with recursive h(i) as (select -3 union all select i + 1 from h where i < 26) "
                 "insert into e select strftime('%s', '2026-03-08 05:00:00') + i * 3600, 0 from h")
        file = self.write("e", "2026-03-08T00..2026-03-08T23", "select at, 1 as v from e where at >= :from and at < :to",
                          "changes: v\ndate_column: at\ndate_kind: unix_seconds\nzone: America/New_York\ngrain: hour")
        self.swapped(file)
        self.assertEqual(self.value("select sum(v) from e"), 23)
        self.assertEqual(self.value("select sum(date_count) from tidegate_batch"), 23)

    def command_spec(self, body, extra="", days="2025-01-02..2025-01-03", target="sales", budget="budget: {duty: 100 %}"):
        script = self.folder / "job.py"
        script.write_text("import os, sqlite3, sys, time\nfirst, last, until, shadow = (os.environ['TIDEGATE_' + n] for n in ('FROM', 'TO_INCLUSIVE', 'TO', 'SHADOW'))\n"
                          "db = sqlite3.connect(os.environ['TIDEGATE_DATABASE'], timeout=20)\n" + textwrap.dedent(body) + "\ndb.commit()\n")
        return self.write(target, days, f'recompute: {{command: ["{sys.executable}", "{script}", "{{from}}", "{{to}}", "{{shadow}}"], timeout: 60s}}',
                          extra or "key: [d]\nchanges: v", budget=budget)

    def test_b12_runs_outside_the_range(self):
        """A backfill made runs outside its range. Wanted: whatever the command writes, dates outside the plan stay as they are."""
        self.sql("create table src(d text, v int); insert into src select '2025-01-0' || value, 9 from json_each('[1,2,3,4]');"
                 "create table sales(d text, v int); insert into sales select d, 1 from src")
        file = self.command_spec("db.execute(f'delete from \"{shadow}\"')\ndb.execute(f'insert into \"{shadow}\"(d, v) select d, v from src')")
        self.swapped(file)
        self.assertEqual(self.rows("select v from sales order by d"), [(1,), (9,), (9,), (1,)])

    def test_b12_sql_that_ignores_the_range(self):
        """SQL that recomputes all dates at every batch."""
        self.sql("create table src(d text, v int); insert into src select '2025-01-0' || value, 9 from json_each('[1,2,3,4]');"
                 "create table sales(d text primary key, v int); insert into sales select d, 1 from src")
        file = self.write("sales", "2025-01-02..2025-01-03", "select d, v from src", "changes: v")
        result = self.run_tidegate("backfill", file, "--yes")
        self.assertNotEqual(result.code, 0, repr(result))
        self.assertEqual(self.value("select sum(v) from sales"), 4)

    def test_b12_command_that_writes_another_table_of_production(self):
        """A command that touches the target itself, beside its shadow: it stops and says so."""
        self.sql("create table src(d text, v int); insert into src select '2025-01-0' || value, 9 from json_each('[1,2,3,4]');"
                 "create table sales(d text primary key, v int); insert into sales select d, 1 from src")
        file = self.command_spec("db.execute(f'delete from \"{shadow}\" where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(f'insert into \"{shadow}\"(d, v) select d, v from src where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(\"update sales set v = 7 where d = '2025-01-04'\")")
        self.plan(file)
        result = self.run_tidegate("run", file)
        self.assertIn(result.code, (HELD, COMMAND), repr(result))
        self.refused(result, "production")
        self.tidegate("swap", file, "--yes", code=STATE)

    def test_b13_on_top_of_the_live_run(self):
        """A backfill took over a running job's rows. Wanted: denied while a run of the table is queued or running."""
        self.sql("create table runs(dag text, d text, state text); insert into runs values('sales','2024-01-31','running');"
                 "create table sales(d text primary key, v int); insert into sales values('2024-01-31',1)")
        production = "production: {schedule: \"0 2 1 1 *\", zone: UTC, p95: 1m, running: \"select count(*) from runs where dag = 'sales' and state in ('queued', 'running')\"}"
        file = self.write("sales", "2024-01-31..2024-01-31", "select d, 2 as v from sales where d >= :from and d < :to", "changes: v", production=production)
        self.refused(self.plan(file, code=DENIED), "running-now")
        self.sql("update runs set state = 'done'")
        self.plan(file)
        self.tidegate("run", file)
        self.sql("update runs set state = 'queued'")
        self.refused(self.tidegate("swap", file, "--yes", code=DENIED), "running now")
        self.assertEqual(self.rows("select v from sales"), [(1,)])
        self.sql("update runs set state = 'done'")
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select v from sales"), [(2,)])

    def test_b13_will_start_before_the_end(self):
        """The next run is five minutes away, its guard fifteen: denied; far away: allowed; just begun and p95 long: denied."""
        self.sql("create table sales(d text primary key, v int); insert into sales values('2024-01-31',1)")
        for minutes, code in ((5, DENIED), (-10, DENIED), (-60 * 6, 0)):
            with self.subTest(minutes):
                production = f'production: {{schedule: "{cron_in(minutes)}", zone: UTC, p95: 20m}}'
                file = self.write("sales", "2024-01-31..2024-01-31", "select d, 2 as v from sales where d >= :from and d < :to", "changes: v", production=production)
                result = self.plan(file, code=code)
                if code:
                    self.refused(result, "production-run")

    def test_b13_what_cannot_be_told_is_denied(self):
        """The question about running jobs cannot be answered, or nothing is declared: denied, not allowed."""
        self.sql("create table sales(d text primary key, v int); insert into sales values('2024-01-31',1); create table runs(n)")
        recompute = "select d, 2 as v from sales where d >= :from and d < :to"
        file = self.write("sales", "2024-01-31..2024-01-31", recompute, "changes: v",
                          production='production: {schedule: "0 2 1 1 *", zone: UTC, p95: 1m, running: "select n from runs"}')
        self.refused(self.plan(file, code=DENIED), "running-now")
        file = self.write("sales", "2024-01-31..2024-01-31", recompute, "changes: v", production='production: {schedule: "0 2 1 1 *", zone: UTC}')
        self.refused(self.plan(file, code=DENIED), "p95-unknown")
        file.write_text(file.read_text().replace("production:", "#"))
        self.refused(self.plan(file, code=DENIED), "schedule-unknown")

    def test_b14_two_overwriters(self):
        """Both planned against the same state and both committed. Wanted: the second is refused and the row stands once."""
        self.sql("create table a(d text, id int, w text); insert into a values('2024-01-01',1,'A'); create table b(d text, id int, w text); insert into b values('2024-01-01',1,'B');"
                 "create table fct(d text, id int, w text)")
        evidence = "key: [d, id]\ndate_column: d\ndate_kind: date\nchanges: {w: yes, new rows: yes}"
        first = self.write("fct", "2024-01-01..2024-01-01", "select d, id, w from a where d >= :from and d < :to", evidence, name="a.yaml")
        second = self.write("fct", "2024-01-01..2024-01-01", "select d, id, w from b where d >= :from and d < :to", evidence, name="b.yaml")
        self.built(first)
        result = self.run_tidegate("plan", second)
        if result.code == 0:
            result = self.run_tidegate("run", second)
        self.tidegate("swap", first, "--yes")
        if result.code == 0:
            result = self.tidegate("swap", second, "--yes", code=DRIFT)
        self.assertNotEqual(result.code, 0)
        self.assertEqual(self.rows("select w from fct where id = 1"), [("A",)])

    def test_b14_a_foreign_overwriter(self):
        """The other overwriter is no Tidegate: delete and insert of the same day between the run and the swap."""
        self.sql("create table a(d text, id int, w text); insert into a values('2024-01-01',1,'A'); create table fct(d text, id int, w text); insert into fct values('2024-01-01',1,'old')")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, w from a where d >= :from and d < :to", "key: [d, id]\nchanges: w")
        self.built(file)
        self.sql("begin; delete from fct where d = '2024-01-01'; insert into fct values('2024-01-01',1,'B'); commit")
        self.tidegate("swap", file, "--yes", code=DRIFT)
        self.assertEqual(self.rows("select w from fct"), [("B",)])
        self.tidegate("run", file)
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select w from fct"), [("A",)])

    def test_b15_one_batch_at_a_time(self):
        """2,000 runs at once starved the daily one. Wanted: batches one after the other, and none while production runs."""
        self.sql("create table log(n integer primary key, kind text); create table src(d text, v int);"
                 "with recursive n(i) as (select 0 union all select i + 1 from n where i < 29) insert into src select date('2025-01-01', '+' || i || ' days'), 9 from n;"
                 "create table sales(d text primary key, v int); insert into sales select d, 1 from src")
        file = self.command_spec("db.execute(\"insert into log(kind) values('begin')\")\ndb.commit()\n"
                                 "db.execute(f'delete from \"{shadow}\" where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(f'insert into \"{shadow}\"(d, v) select d, v from src where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(\"insert into log(kind) values('end')\")", days="2025-01-01..2025-01-30", extra="changes: v")
        self.swapped(file)
        kinds = [kind for (kind,) in self.rows("select kind from log order by n")]
        self.assertEqual(kinds, ["begin", "end"] * (len(kinds) // 2))
        self.assertGreater(len(kinds), 4)
        self.assertEqual(self.value("select sum(v) from sales"), 270)

    def test_b15_production_queued_in_between_goes_first(self):
        """A production run is queued after the first batch: no further batch starts."""
        self.sql("create table queue(job text); create table src(d text, v int);"
                 "with recursive n(i) as (select 0 union all select i + 1 from n where i < 29) insert into src select date('2025-01-01', '+' || i || ' days'), 9 from n;"
                 "create table sales(d text primary key, v int); insert into sales select d, 1 from src")
        file = self.command_spec("db.execute(f'delete from \"{shadow}\" where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(f'insert into \"{shadow}\"(d, v) select d, v from src where d >= ? and d < ?', (first, until))\n"
                                 "db.execute(\"insert into queue values('daily')\")", days="2025-01-01..2025-01-30", extra="changes: v")
        file.write_text(file.read_text().replace("production: none", 'production: {schedule: "0 2 1 1 *", zone: UTC, p95: 1m, running: "select count(*) from queue"}'))
        self.plan(file)
        result = self.run_tidegate("run", file, "--no-wait")
        self.assertIn(result.code, (DENIED, PAUSED), repr(result))
        self.refused(result, "running")
        self.assertLess(self.value("select count(*) from queue"), 3)
        self.assertEqual(self.value("select sum(v) from sales"), 30)
        self.assertEqual(self.state(), "building")

    def test_b18_writes_lost_at_the_swap(self):
        """The last rows committed during the cut-over were missing. Wanted: none is lost."""
        self.sql("create table fct(d text, id int, v int); insert into fct values('2024-01-01',1,1),('2024-01-01',2,2);"
                 "create table src(d text, id int, v int); insert into src values('2024-01-01',1,9),('2024-01-01',2,9)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, v from src where d >= :from and d < :to", "key: [id]\nchanges: v")
        self.built(file)
        self.sql("insert into fct values('2024-01-01',3,3)")
        self.tidegate("swap", file, "--yes", code=DRIFT)
        self.assertEqual(self.rows("select id from fct order by id"), [(1,), (2,), (3,)])
        self.refused(self.tidegate("run", file, code=HELD), "2024-01-01")
        self.assertEqual(self.rows("select id, v from fct order by id"), [(1, 1), (2, 2), (3, 3)])

    def test_b18_a_write_on_another_date_stays(self):
        """A row that arrives outside the range is no reason to stop, and stays."""
        self.sql("create table fct(d text, id int, v int); insert into fct values('2024-01-01',1,1),('2024-01-01',2,2);"
                 "create table src(d text, id int, v int); insert into src values('2024-01-01',1,9),('2024-01-01',2,9)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, v from src where d >= :from and d < :to", "key: [id]\nchanges: v")
        self.built(file)
        self.sql("insert into fct values('2024-01-02',3,3)")
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select id, v from fct order by id"), [(1, 9), (2, 9), (3, 3)])

    def test_b19_no_moment_without_a_table(self):
        """Two renames leave a gap. Wanted: the table is there, and whole, at every instant that another session looks."""
        self.sql("create table fct(d text, id integer primary key, v int); with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000) "
                 "insert into fct select date('2024-01-01', '+' || (i % 20) || ' days'), i, 1 from n; create table src as select d, id, 2 v from fct")
        file = self.write("fct", "2024-01-01..2024-01-20", "select d, id, v from src where d >= :from and d < :to", "changes: v")
        self.built(file)
        seen, errors, stop = set(), [], threading.Event()

        def watch():
            try:
                db = self.connect(timeout=60)
                while not stop.is_set():
                    seen.add(db.execute("select count(*), sum(v), (select count(*) from sqlite_schema where name = 'fct' and type = 'table') from fct").fetchone())
                seen.add(db.execute("select count(*), sum(v), (select count(*) from sqlite_schema where name = 'fct' and type = 'table') from fct").fetchone())
                db.close()
            except sqlite3.Error as error:
                errors.append(error)

        watcher = threading.Thread(target=watch)
        watcher.start()
        wait_until(lambda: seen or errors)
        self.tidegate("swap", file, "--yes")
        stop.set()
        watcher.join()
        self.assertEqual(errors, [])
        self.assertEqual(seen, {(4000, 4000, 1), (4000, 8000, 1)})

    def test_b20_views_read_the_new_rows(self):
        """A view followed the renamed object. Wanted: it returns 2 after the swap, and its definition is untouched."""
        self.sql("create table src(d text, v int); insert into src values('2024-01-01',1),('2024-01-01',2);"
                 "create table fct(d text, v int); insert into fct values('2024-01-01',1);"
                 "create view rep as select count(*) c from fct; create view over as select c + 0 c from rep;"
                 "create trigger t after insert on src begin update fct set v = v; end")
        schema = self.rows("select type, name, tbl_name, sql from sqlite_schema where name not like 'tidegate%' and tbl_name not like 'tidegate%' order by name")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, v from src where d >= :from and d < :to", "changes: {new rows: yes}")
        self.swapped(file)
        self.assertEqual(self.rows("select c from rep") + self.rows("select c from over"), [(2,), (2,)])
        self.assertEqual(self.rows("select type, name, tbl_name, sql from sqlite_schema where name not like 'tidegate%' and tbl_name not like 'tidegate%' order by name"), schema)

    def test_b23_columns_by_position(self):
        """SELECT * with another column order put values into the wrong columns. Wanted: by name."""
        self.sql("create table fct(d text, id int primary key, name text, status text, extra text); create table stg(id int, extra text, d text, name text, status text);"
                 "insert into stg values(1,'x','2024-01-01','ann','ok'); insert into fct values('2024-01-01',1,'bob','ok','x')")
        file = self.write("fct", "2024-01-01..2024-01-01", "select * from stg where d >= :from and d < :to", "changes: name")
        self.swapped(file)
        self.assertEqual(self.rows("select name, status, extra, id, d from fct"), [("ann", "ok", "x", 1, "2024-01-01")])

    def test_b23_columns_that_do_not_fit(self):
        """A column that the target lacks, one named twice, the key missing: refused before anything runs, with the name."""
        self.sql("create table fct(d text, id int primary key, name text); insert into fct values('2024-01-01',1,'bob')")
        for columns, word in (("d, id, name, 1 as nme", "nme"), ("d, id, name, name as NAME", "NAME"), ("id, name", "d")):
            with self.subTest(columns):
                file = self.write("fct", "2024-01-01..2024-01-01", f"select {columns} from fct where d >= :from and d < :to", "changes: name")
                self.refused(self.plan(file, code=harness.USAGE), word)

    def test_b23_case_of_names(self):
        """Names differ in case only: the same column."""
        self.sql("create table fct(D text, Id int primary key, Name text); insert into fct values('2024-01-01',1,'bob')")
        file = self.write("FCT", "2024-01-01..2024-01-01", "select id as ID, 'ann' as NAME, d from fct where d >= :from and d < :to", "changes: name")
        self.swapped(file)
        self.assertEqual(self.rows("select * from fct"), [("2024-01-01", 1, "ann")])

    def test_b25_late_rows_below_the_watermark(self):
        """A row committed late with an earlier timestamp was never read. Wanted: found right before the swap; 0 missing in the end."""
        self.sql("create table src(id integer primary key, ts text); create table fct(id integer primary key, ts text, v int);"
                 "insert into src values(1,'2024-01-01 02:30:00'); insert into fct values(1,'2024-01-01 02:30:00',0)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select id, ts, 1 as v from src where ts >= :from and ts < :to",
                          "changes: {v: yes, new rows: yes}\nzone: UTC")
        self.built(file)
        self.sql("insert into src values(2,'2024-01-01 02:29:59')")
        self.refused(self.tidegate("swap", file, "--yes", code=DRIFT), "source")
        self.tidegate("run", file)
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.value("select count(*) from src left join fct using(id) where fct.id is null"), 0)

    def test_b25_source_row_updated_in_place_or_joined(self):
        """The late change is an update that no count shows, in a table that is joined to the dated one and has no date."""
        self.sql("create table src(id integer primary key, d text, k int); create table dim(k int primary key, v int);"
                 "create table fct(id integer primary key, d text, v int); insert into src values(1,'2024-01-01',7); insert into dim values(7,1); insert into fct values(1,'2024-01-01',0)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select id, d, dim.v from src join dim using (k) where d >= :from and d < :to", "changes: v")
        self.built(file)
        self.sql("update dim set v = 2")
        self.refused(self.tidegate("swap", file, "--yes", code=DRIFT), "source")
        self.tidegate("run", file)
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select v from fct"), [(2,)])

    def test_b25_source_through_a_view(self):
        """The recompute reads a view; the table behind it changes."""
        self.sql("create table src(id integer primary key, d text, v int); create view clean as select * from src where v > 0;"
                 "create table fct(id integer primary key, d text, v int); insert into src values(1,'2024-01-01',7); insert into fct values(1,'2024-01-01',0)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select id, d, v from clean where d >= :from and d < :to", "changes: v")
        self.built(file)
        self.sql("update src set v = 8")
        self.tidegate("swap", file, "--yes", code=DRIFT)
        self.tidegate("run", file)
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select v from fct"), [(8,)])

    def test_b26_downstream_not_refreshed(self):
        """Corrected history never reaches incremental children. Wanted: the plan names each with what it needs; then 0 differ."""
        self.sql("create table src(d text, v int); insert into src values('2024-01-01',5),('2024-01-02',1);"
                 "create table fct(d text primary key, v int); create table agg(d text primary key, s int);"
                 "insert into fct values('2024-01-01',1),('2024-01-02',1); insert into agg select d, sum(v) from fct group by d; create view total as select sum(s) s from agg;"
                 "create view direct as select sum(v) s from fct")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, v from src where d >= :from and d < :to",
                          "changes: v\ndownstream: [{name: agg, kind: table, needs: cascade}]")
        plan = self.plan(file)
        self.refused(plan, "agg", "cascade", "direct", "follows")
        self.tidegate("run", file)
        self.refused(self.tidegate("swap", file, "--yes"), "agg")
        child = self.write("agg", "2024-01-01..2024-01-01", "select d, sum(v) as s from fct where d >= :from and d < :to group by d", "changes: s", name="child.yaml")
        self.swapped(child)
        self.assertEqual(self.value("select count(*) from agg a join (select d, sum(v) s from fct group by d) f using(d) where a.s <> f.s"), 0)

    def test_b26_triggers_that_fill_a_child_are_named(self):
        """A trigger of the target writes a child: it is told, and denied until it is declared."""
        self.sql("create table fct(d text primary key, v int); insert into fct values('2024-01-01',1); create table agg(d text, s int);"
                 "create trigger tr after update on fct begin insert into agg values(new.d, new.v); end")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, 5 as v from fct where d >= :from and d < :to", "changes: v")
        self.refused(self.plan(file, code=DENIED), "triggers", "tr")

    def test_b27_deleted_people_come_back(self):
        """A recompute from old events revived erased people. Wanted: an erasure list as a check stops it; 0 come back."""
        self.sql("create table raw(uid int, d text, v int); insert into raw values(41,'2024-01-01',5),(42,'2024-01-01',5);"
                 "create table erased(uid int, at text); insert into erased values(42,'2024-02-01'); create table fct(uid int primary key, d text, v int); insert into fct values(41,'2024-01-01',1)")
        evidence = "changes: {v: yes, new rows: yes}\nchecks: {rows: [uid NOT IN (SELECT uid FROM erased)]}"
        file = self.write("fct", "2024-01-01..2024-01-01", "select uid, d, v from raw where d >= :from and d < :to", evidence)
        self.plan(file)
        self.refused(self.tidegate("run", file, code=HELD), "erased")
        self.assertEqual(self.rows("select uid from fct"), [(41,)])
        self.tidegate("discard", file)
        file = self.write("fct", "2024-01-01..2024-01-01", "select uid, d, v from raw where d >= :from and d < :to and uid not in (select uid from erased)", evidence)
        self.swapped(file)
        self.assertEqual(self.rows("select uid, v from fct"), [(41, 5)])

    def test_b27_undeclared_new_rows_are_held_as_they_are(self):
        """Without any list: rows that appear are held while the scope does not declare them."""
        self.sql("create table raw(uid int, d text, v int); insert into raw values(41,'2024-01-01',5),(42,'2024-01-01',5);"
                 "create table fct(uid int primary key, d text, v int); insert into fct values(41,'2024-01-01',1)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select uid, d, v from raw where d >= :from and d < :to", "changes: v")
        self.plan(file)
        self.refused(self.tidegate("run", file, code=HELD), "42")

    def test_b27_erased_between_run_and_swap(self):
        """The person is erased after the batch was computed: the list is a source, so the swap sees it."""
        self.sql("create table raw(uid int, d text, v int); insert into raw values(41,'2024-01-01',5),(42,'2024-01-01',5);"
                 "create table erased(uid int, at text); create table fct(uid int primary key, d text, v int); insert into fct values(41,'2024-01-01',1)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select uid, d, v from raw where d >= :from and d < :to",
                          "changes: {v: yes, new rows: yes}\nchecks: {rows: [uid NOT IN (SELECT uid FROM erased)]}")
        self.built(file)
        self.sql("insert into erased values(42,'2024-02-01')")
        result = self.run_tidegate("swap", file, "--yes")
        self.assertNotEqual(result.code, 0, repr(result))
        self.assertEqual(self.rows("select uid from fct"), [(41,)])

    def test_b27_erased_before_a_rollback_does_not_come_back(self):
        """The swap took 42 out, then the person was erased from production: rollback does not silently bring the row back."""
        self.sql("create table raw(uid int, d text, v int); insert into raw values(41,'2024-01-01',5),(42,'2024-01-01',5);"
                 "create table fct(uid int primary key, d text, v int); insert into fct values(41,'2024-01-01',1),(42,'2024-01-01',1)")
        file = self.write("fct", "2024-01-01..2024-01-01", "select uid, d, v from raw where d >= :from and d < :to", "changes: v")
        self.swapped(file)
        self.sql("delete from fct where uid = 42")
        self.refused(self.tidegate("rollback", file, code=harness.CONFLICT), "42")
        self.assertEqual(self.rows("select uid, v from fct"), [(41, 5)])
        self.tidegate("rollback", file, "--keep-later")
        self.assertEqual(self.rows("select uid, v from fct"), [(41, 1)])

    def test_b29_no_way_back(self):
        """The restore point had expired. Wanted: no start without a way back; it is kept while the retention lasts; it works."""
        self.sql("create table fct(d text primary key, v int); insert into fct values('2024-01-01',1)")
        recompute = "select d, 5 as v from fct where d >= :from and d < :to"
        self.refused(self.plan(self.write("fct", "2024-01-01..2024-01-01", recompute, "changes: v\nretention: 0"), code=DENIED), "retention")
        file = self.write("fct", "2024-01-01..2024-01-01", recompute, "changes: v\nretention: 14d")
        self.swapped(file)
        self.refused(self.tidegate("finish", file, code=DENIED), "kept for another 14 days")
        self.tidegate("discard", file, code=STATE)
        self.assertEqual(len(self.objects()), 1)
        self.tidegate("rollback", file)
        self.assertEqual(self.rows("select * from fct"), [("2024-01-01", 1)])

    def test_b29_kept_rows_tampered_with_are_noticed(self):
        """What is kept was dropped or emptied by hand: rollback refuses instead of pretending."""
        for damage in ("drop table {}", "delete from {}"):
            with self.subTest(damage):
                self.tearDown()
                self.setUp()
                self.sql("create table fct(d text primary key, v int); insert into fct values('2024-01-01',1)")
                file = self.write("fct", "2024-01-01..2024-01-01", "select d, 5 as v from fct where d >= :from and d < :to", "changes: v")
                self.swapped(file)
                self.sql(damage.format(self.objects()[0]))
                result = self.run_tidegate("rollback", file)
                self.assertNotEqual(result.code, 0, repr(result))
                self.assertEqual(self.rows("select * from fct"), [("2024-01-01", 5)])
                self.assertEqual(self.state(), "swapped")

    def test_b30_side_effects_fire_again(self):
        """Every backfilled row sent its webhook. Wanted: none while building, none for rows that do not change, and triggers only when declared."""
        self.sql("create table fct(d text, id int primary key, v int); create table outbox(id int); insert into fct values('2024-01-01',1,1),('2024-01-01',2,2);"
                 "create trigger ti after insert on fct begin insert into outbox values(new.id); end; create trigger tu after update on fct begin insert into outbox values(new.id); end;"
                 "create trigger td after delete on fct begin insert into outbox values(old.id); end")
        recompute = "select d, id, 2 as v from fct where d >= :from and d < :to"
        self.refused(self.plan(self.write("fct", "2024-01-01..2024-01-01", recompute, "changes: v"), code=DENIED), "triggers")
        self.assertEqual(self.value("select count(*) from outbox"), 0)
        schema = self.rows("select name, sql from sqlite_schema where type = 'trigger' order by name")
        file = self.write("fct", "2024-01-01..2024-01-01", recompute, "changes: v\ntriggers: skip")
        self.swapped(file)
        self.assertEqual(self.value("select count(*) from outbox"), 0)
        self.assertEqual(self.rows("select v from fct"), [(2,), (2,)])
        self.assertEqual(self.rows("select name, sql from sqlite_schema where type = 'trigger' order by name"), schema)
        self.tidegate("rollback", file)
        self.assertEqual(self.value("select count(*) from outbox"), 0)

    def test_b30_fires_for_what_changes_alone(self):
        """Declared to fire: once for the one row that changes."""
        self.sql("create table fct(d text, id int primary key, v int); create table outbox(id int); insert into fct values('2024-01-01',1,1),('2024-01-01',2,2);"
                 "create trigger ti after insert on fct begin insert into outbox values(new.id); end; create trigger tu after update on fct begin insert into outbox values(new.id); end")
        file = self.write("fct", "2024-01-01..2024-01-01", "select d, id, 2 as v from fct where d >= :from and d < :to", "changes: v\ntriggers: fire")
        self.built(file)
        self.assertEqual(self.value("select count(*) from outbox"), 0)
        self.tidegate("swap", file, "--yes")
        self.assertEqual(self.rows("select id from outbox"), [(1,)])

    def test_b32_default_target_is_production(self):
        """A script without a destination writes production. Wanted: denied, as no shadow can be proven from the command; it is not even started."""
        self.sql("create table fct(d text primary key, v int); insert into fct values('2024-01-01',1)")
        marker = self.folder / "started"
        for command in (f'["/bin/sh", "-c", "touch {marker}"]', f'["touch", "{marker}", "--date", "{{from}}"]'):
            with self.subTest(command):
                file = self.write("fct", "2024-01-01..2024-01-01", f"recompute: {{command: {command}}}", "changes: v")
                self.refused(self.plan(file, code=DENIED), "shadow-not-named")
                self.assertFalse(marker.exists())

    def test_b32_named_shadow_but_production_written(self):
        """It names the shadow and writes production all the same: caught, held, never published."""
        self.sql("create table fct(d text primary key, v int); insert into fct values('2025-01-02',1),('2025-01-03',1)")
        file = self.command_spec("db.execute('update fct set v = 9 where d >= ? and d < ?', (first, until))", "changes: v", target="fct")
        self.plan(file)
        result = self.run_tidegate("run", file)
        self.assertIn(result.code, (HELD, COMMAND), repr(result))
        self.refused(result, "production")
        self.tidegate("swap", file, "--yes", code=STATE)


class IncidentsWithoutWal(Incidents):
    wal = False


if __name__ == "__main__":
    harness.main()
