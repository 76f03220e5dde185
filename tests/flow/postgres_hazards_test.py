"""The numbered cases of the swap hazards on PostgreSQL, what was seen there when tried on purpose, and what a range really
means. Where a case is proven elsewhere: 1 to 3 and 10 under kills and lost connections in tests/fault; 15 and 19 for
exchanged partitions in postgres_exchange_test.py; 23 and 20, which PostgreSQL has only as a retention, in
postgres_server_test.py and tests/laws.

A command is made to wait at a known point by the function `barrier()`, which stands in the recompute, in the question
whether production runs, or in a trigger: it waits while the test holds the lock of that name."""

import contextlib
import os
import signal
import subprocess
import threading
import time

import harness
import psycopg2
from harness import CONFLICT, DENIED, DRIFT, HELD, LEASED, LOCKED, OK, PAUSED, SUPERSEDED, USAGE, cron_in, wait_until
from postgres_harness import Cluster, PostgresFlow

SCENE = """
CREATE TABLE src(day date NOT NULL, id int NOT NULL, v int);
INSERT INTO src SELECT date '2024-01-01' + i / 10, i, i * 3 FROM generate_series(0, 399) i;
CREATE TABLE fct(day date NOT NULL, id int NOT NULL, v int, note text, PRIMARY KEY (day, id));
INSERT INTO fct SELECT day, id, CASE WHEN id % 4 = 0 THEN 0 ELSE v END, 'n' || id FROM src;
CREATE FUNCTION barrier() RETURNS int LANGUAGE plpgsql VOLATILE SET lock_timeout = 0 AS
  $$BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN 0; END$$;
CREATE FUNCTION wait_there() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM barrier(); RETURN NULL; END$$;
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
# The function is called once a statement: the planner keeps a subquery without parameters apart.
HELD_UP = SPEC.replace("recompute: SELECT day, id, v FROM src WHERE", "recompute: SELECT day, id, v + (SELECT barrier()) AS v FROM src WHERE")
AT_SWAP = "CREATE TRIGGER wait AFTER UPDATE ON fct FOR EACH STATEMENT EXECUTE FUNCTION wait_there()"


class Scene(PostgresFlow):
    scene = SCENE

    def setUp(self):
        super().setUp()
        self.children = []
        self.before, self.right = self.rows(NOW), self.rows(RIGHT)
        self.file = self.spec(SPEC)

    def tearDown(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.kill()
            child.communicate()
        super().tearDown()

    def start(self, *args, **kwargs):
        child = super().start(*args, **kwargs)
        self.children.append(child)
        return child

    def ended(self, child, code, seconds=60):
        out, err = child.communicate(timeout=seconds)
        self.assertEqual(child.returncode, code, f"{child.args}\n{out}\n{err}")
        return out + err

    @contextlib.contextmanager
    def barrier(self):
        """Whoever calls barrier() waits until this is left; the value takes it away earlier."""
        other = self.connect()
        other.cursor().execute("SELECT pg_advisory_lock(77)")
        try:
            yield other.close
        finally:
            if not other.closed:
                other.close()

    def wait_at_barrier(self, child):
        def waits():
            self.assertIsNone(child.poll(), "the command ended early")
            return self.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted "
                              "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") > 0
        wait_until(waits, what="a command at the barrier")

    def working(self):
        """Sessions of Tidegate's in this database that are doing something or have a transaction open."""
        return self.rows(f"SELECT pid, state, query FROM pg_stat_activity WHERE datname = '{self.name}' "
                         "AND application_name LIKE 'tidegate%' AND state <> 'idle'")

    def fresh(self):
        self.tearDown()
        self.setUp()


class Hazards(Scene):
    def test_03_rows_and_done_mark_commit_together(self):
        """At every moment of a run the change set holds exactly the rows of the dates that are marked done."""
        spec = self.spec(SPEC, budget="budget: {duty: 20 %, crowded: 100 %, batch: 50ms}")
        self.plan(spec)
        run = self.start("run", spec)
        wait_until(lambda: self.objects() or run.poll() is not None, what="the change set")
        table, = self.objects()
        db = self.connect(autocommit=False)
        db.set_session(isolation_level="REPEATABLE READ")
        cursor, seen = db.cursor(), set()
        while run.poll() is None:
            cursor.execute(f"SELECT (SELECT count(*) FROM {table}), (SELECT sum(inserts + updates + deletes + moves_in) FROM tidegate.date WHERE batch > 0)")
            rows, marked = cursor.fetchone()
            db.rollback()
            self.assertEqual(rows, marked or 0)
            seen.add(rows)
        db.close()
        self.ended(run, OK)
        self.assertGreater(len(seen), 2, "the run was too quick to be looked at")

    def test_04_every_kind_of_write_after_the_seal(self):
        """Insert, update, delete, key change, upsert, move in and out, COPY and TRUNCATE: refused, and never lost."""
        for write in ("INSERT INTO fct VALUES('2024-01-05', 9001, 1, 'late')", "UPDATE fct SET v = 7 WHERE id = 44", "DELETE FROM fct WHERE id = 45", "UPDATE fct SET id = 9001 WHERE id = 44", "UPDATE fct SET day = '2024-02-01' WHERE id = 44",
                      "UPDATE fct SET day = '2024-01-06' WHERE id = 0", "INSERT INTO fct VALUES('2024-01-05', 44, 7, 'late') ON CONFLICT (day, id) DO UPDATE SET v = 7",
                      "CREATE TABLE more AS SELECT date '2024-01-07' AS day, 9001 AS id; INSERT INTO fct(day, id) TABLE more", "TRUNCATE fct"):
            with self.subTest(write):
                self.fresh()
                self.built(self.file)
                self.sql(write)
                after = self.rows(NOW)
                self.tidegate("swap", self.file, "--yes", code=DRIFT)
                self.assertEqual(self.rows(NOW), after)
                self.assertEqual(self.state(), "building")

    def test_04_a_write_that_the_swap_does_not_touch_stays(self):
        """A column that the recompute does not give is never written: what others put there survives swap and rollback."""
        for write in ("UPDATE fct SET note = 'late' WHERE id = 44", "TRUNCATE fct; INSERT INTO fct SELECT day, id, CASE WHEN id % 4 = 0 THEN 0 ELSE v END, 'anew' FROM src"):
            with self.subTest(write):
                self.fresh()
                self.built(self.file)
                self.sql(write)
                notes, values = self.rows("SELECT id, note FROM fct ORDER BY id"), self.rows("SELECT id, v FROM fct ORDER BY id")
                self.tidegate("swap", self.file, "--yes")
                self.assertEqual(self.rows("SELECT id, note FROM fct ORDER BY id"), notes)
                self.assertEqual(self.rows("SELECT id, v FROM fct ORDER BY id"), [(row[1], row[2]) for row in self.right])
                self.tidegate("rollback", self.file)
                self.assertEqual((self.rows("SELECT id, note FROM fct ORDER BY id"), self.rows("SELECT id, v FROM fct ORDER BY id")), (notes, values))

    def test_04_a_write_outside_the_range_is_none_of_our_business(self):
        self.built(self.file)
        self.sql("UPDATE fct SET v = 7 WHERE id = 0; INSERT INTO fct VALUES('2024-02-20', 9001, 1, 'late')")
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows("SELECT v FROM fct WHERE id IN (0, 9001) ORDER BY id"), [(7,), (1,)])

    def test_05_a_writer_open_before_the_swap_stops_it_and_is_named(self):
        self.built(self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.1s, lock_tries: 3}"))
        db = self.connect(autocommit=False)
        cursor = db.cursor()
        cursor.execute("INSERT INTO fct VALUES('2024-01-05', 9001, 1, 'late')")
        told = self.tidegate("swap", self.file, "--yes", code=LOCKED).err
        for word in (str(db.info.backend_pid), "postgres", "idle in transaction", "INSERT INTO fct", "pg_terminate_backend"):
            self.assertIn(word, told)
        self.assertEqual(self.rows(NOW), self.before)
        db.commit()
        db.close()
        self.tidegate("swap", self.file, "--yes", code=DRIFT)
        self.assertEqual(self.value("SELECT note FROM fct WHERE id = 9001"), "late")

    def test_05_a_writer_that_begins_under_the_lock_waits_and_is_never_lost(self):
        """It waits for the swap; then its update, insert, delete or upsert is there, whole."""
        self.sql(AT_SWAP)
        for write, look, want in (("UPDATE fct SET v = v + 1000 WHERE id = 44", "SELECT v FROM fct WHERE id = 44", [(1132,)]),
                                  ("UPDATE fct SET v = 5 WHERE id = 44", "SELECT v FROM fct WHERE id = 44", [(5,)]),
                                  ("DELETE FROM fct WHERE id = 44", "SELECT v FROM fct WHERE id = 44", []),
                                  ("INSERT INTO fct VALUES('2024-01-05', 44, 5, 'late') ON CONFLICT (day, id) DO UPDATE SET v = fct.v + 1, note = 'late'",
                                   "SELECT v, note FROM fct WHERE id = 44", [(133, "late")]),
                                  ("UPDATE fct SET day = '2024-02-01' WHERE id = 44", "SELECT day, v FROM fct WHERE id = 44", [("2024-02-01", 132)])):
            with self.subTest(write):
                self.fresh()
                self.sql(AT_SWAP)
                spec = self.spec(SPEC + "triggers: fire\n")
                self.built(spec)
                db, done = self.connect(), []

                def work():
                    cursor = db.cursor()
                    cursor.execute(write)
                    done.append(cursor.rowcount)
                with self.barrier():
                    swap = self.start("swap", spec, "--yes")
                    self.wait_at_barrier(swap)
                    writer = threading.Thread(target=work)
                    writer.start()
                    self.wait_for_lock("fct")
                self.ended(swap, OK)
                writer.join(30)
                self.assertEqual(done, [1], "a write that hits nothing")
                self.assertEqual(self.rows(look), want)
                db.close()

    def test_05_who_read_before_the_swap_cannot_write_back_the_old_value(self):
        """A session at READ COMMITTED or REPEATABLE READ that has read the row and is still open: the swap does not begin."""
        self.built(self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.1s, lock_tries: 2}"))
        for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
            with self.subTest(level):
                db = self.connect(autocommit=False)
                db.set_session(isolation_level=level)
                cursor = db.cursor()
                cursor.execute("SELECT v FROM fct WHERE id = 44")
                old, = cursor.fetchone()
                told = self.tidegate("swap", self.file, "--yes", code=LOCKED).err
                for word in (str(db.info.backend_pid), "SELECT v FROM fct", "untouched"):
                    self.assertIn(word, told)
                cursor.execute("INSERT INTO fct VALUES('2024-01-05', 44, %s, 'back') ON CONFLICT (day, id) DO UPDATE SET v = excluded.v, note = excluded.note", (old,))
                db.rollback()
                db.close()
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_06_a_commit_between_the_check_and_the_lock(self):
        """Insert, update, delete in production, and a change of a source, that commit while the swap waits for the lock."""
        for write in ("INSERT INTO fct VALUES('2024-01-06', 9001, 1, 'late')", "UPDATE fct SET v = 7 WHERE id = 44", "DELETE FROM fct WHERE id = 44",
                      "UPDATE src SET v = 8 WHERE id = 44"):
            with self.subTest(write):
                self.fresh()
                self.built(self.file)
                db = self.connect(autocommit=False)
                db.cursor().execute("LOCK TABLE fct IN ROW EXCLUSIVE MODE; " + write)
                swap = self.start("swap", self.file, "--yes")
                self.wait_for_lock("fct")
                db.commit()
                db.close()
                after = self.rows(NOW)
                self.ended(swap, DRIFT)
                self.assertEqual(self.rows(NOW), after)

    def test_07_insert_beside(self):
        """An insert of the very row that the backfill inserts: before the swap it is drift, under its lock it gets the error."""
        self.sql("DELETE FROM fct WHERE id = 50; " + AT_SWAP.replace("UPDATE", "INSERT"))
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, new rows: yes}") + "triggers: fire\n")
        self.built(spec)
        self.sql("INSERT INTO fct VALUES('2024-01-06', 50, 77, 'live')")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.assertEqual(self.rows("SELECT v, note FROM fct WHERE id = 50"), [(77, "live")])
        self.sql("DELETE FROM fct WHERE id = 50")
        self.tidegate("run", spec)
        db, errors = self.connect(), []

        def work():
            try:
                db.cursor().execute("INSERT INTO fct VALUES('2024-01-06', 50, 77, 'live')")
            except psycopg2.Error as error:
                errors.append(error.pgcode)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            writer = threading.Thread(target=work)
            writer.start()
            self.wait_for_lock("fct")
        self.ended(swap, OK)
        writer.join(30)
        db.close()
        self.assertEqual(errors, ["23505"])
        self.assertEqual(self.rows("SELECT v FROM fct WHERE id = 50"), [(150,)])

    def test_08_readers_never_wait(self):
        """A reader that came before the swap and stays, and one under its lock: neither waits, nor does the swap."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n")
        self.built(spec)
        self.sql("CREATE FUNCTION until_free() RETURNS int LANGUAGE plpgsql AS $$BEGIN WHILE NOT pg_try_advisory_xact_lock(78) LOOP PERFORM pg_sleep(0.05); END LOOP; RETURN 0; END$$")
        slow, holder = self.connect(), self.connect()
        holder.cursor().execute("SELECT pg_advisory_lock(78)")
        seen = []

        def read():
            cursor = slow.cursor()
            cursor.execute("SELECT sum(v), (SELECT until_free()) FROM fct")
            seen.append(cursor.fetchone()[0])
        reader = threading.Thread(target=read)
        reader.start()
        wait_until(lambda: self.value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%until_free%' AND state = 'active'") > 1, what="the long reader")
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            self.assertTrue(reader.is_alive(), "the swap waited for the reader")
            quick = self.connect()
            cursor = quick.cursor()
            cursor.execute("SET lock_timeout = '100ms'; SELECT * FROM fct ORDER BY day, id")
            self.assertEqual(cursor.fetchall(), self.before)
            quick.close()
        self.ended(swap, OK)
        holder.close()
        reader.join(30)
        slow.close()
        self.assertEqual(seen, [sum(row[2] for row in self.before)])

    def test_08_and_09_sleeping_holds_nothing_and_tries_are_counted(self):
        """Between two tries the swap's session has no transaction; after the last the change set is still there, and it works."""
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.2s, lock_tries: 4}")
        self.built(spec)
        db = self.connect(autocommit=False)
        db.cursor().execute("LOCK TABLE fct IN ROW EXCLUSIVE MODE")
        begun, tries, slept = time.monotonic(), 0, 0
        swap, waiting = self.start("swap", spec, "--yes"), False
        while swap.poll() is None:
            now = self.rows(f"SELECT count(*) FILTER (WHERE l.pid IS NOT NULL), count(*) FILTER (WHERE a.state = 'idle' AND a.xact_start IS NULL) FROM pg_stat_activity a "
                            f"LEFT JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted WHERE a.datname = '{self.name}' AND a.application_name LIKE 'tidegate%'")[0]
            if now[0] and not waiting:
                tries += 1
            waiting, slept = bool(now[0]), slept + (tries > 0 and now[1] > 0)
        told = self.ended(swap, LOCKED)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertIn("4 tries", told)
        self.assertIn("untouched", told)
        self.assertGreater(slept, 0, "it never slept outside a transaction")
        self.assertLessEqual(tries, 4)
        self.assertEqual((self.rows(NOW), self.state(), len(self.objects())), (self.before, "ready", 1))
        db.rollback()
        db.close()
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_10_clean_up_waits_a_bounded_time_and_drops_only_its_own(self):
        self.sql("CREATE SCHEMA IF NOT EXISTS tidegate; CREATE TABLE tidegate.tidegate_0000_changes(x int); INSERT INTO tidegate.tidegate_0000_changes VALUES(1)")
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.1s, lock_tries: 3}")
        self.built(spec)
        own, = [name for name in self.objects() if "0000" not in name]
        db = self.connect(autocommit=False)
        db.cursor().execute(f"SELECT count(*) FROM {own}")
        begun = time.monotonic()
        self.tidegate("discard", spec, code=LOCKED)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(self.state(), "ready")
        self.assertEqual(len(self.objects()), 2)
        db.rollback()
        db.close()
        self.sql(f"ALTER TABLE {own} RENAME TO moved; CREATE TABLE {own}(precious int); INSERT INTO {own} VALUES(1)")
        result = self.run_tidegate("discard", spec)
        self.assertNotEqual(result.code, OK, repr(result))
        self.assertEqual(self.rows(f"SELECT * FROM {own}"), [(1,)])
        self.sql(f"DROP TABLE {own}; ALTER TABLE tidegate.moved RENAME TO {own.split('.')[1]}")
        self.tidegate("discard", spec)
        self.assertEqual(self.objects(), ["tidegate.tidegate_0000_changes"])

    def test_11_catalogue_before_and_after(self):
        """Everything that a table can carry, through swap, rollback, swap and finish; statistics targets and storage too."""
        self.sql("""
        CREATE ROLE hz_reader; GRANT SELECT (day, v), UPDATE (v) ON fct TO hz_reader WITH GRANT OPTION; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO hz_reader;
        CREATE INDEX part ON fct(v) WHERE v > 5; CREATE UNIQUE INDEX low ON fct(lower(note) COLLATE "C" DESC, day) INCLUDE (v); ALTER INDEX part SET (fillfactor = 60);
        ALTER TABLE fct ADD CONSTRAINT sane CHECK (id >= 0) NOT VALID, ADD CONSTRAINT one UNIQUE (id) DEFERRABLE INITIALLY DEFERRED, ADD COLUMN made timestamptz DEFAULT '2020-01-01',
          ADD COLUMN twice int GENERATED ALWAYS AS (v * 2) STORED, ALTER COLUMN note SET STORAGE EXTERNAL, ALTER COLUMN note SET STATISTICS 7,
          SET (fillfactor = 70, autovacuum_enabled = off), REPLICA IDENTITY FULL, CLUSTER ON fct_pkey;
        DO $$ BEGIN IF current_setting('server_version_num')::int >= 140000 THEN EXECUTE 'ALTER TABLE fct ALTER COLUMN note SET COMPRESSION pglz'; END IF; END $$;
        COMMENT ON TABLE fct IS 'facts'; COMMENT ON COLUMN fct.v IS 'value'; COMMENT ON INDEX part IS 'part'; COMMENT ON CONSTRAINT sane ON fct IS 'sane';
        CREATE TABLE child(day date, id int, FOREIGN KEY (day, id) REFERENCES fct(day, id) ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE);
        CREATE TABLE parent(note text PRIMARY KEY); INSERT INTO parent SELECT note FROM fct; ALTER TABLE fct ADD FOREIGN KEY (note) REFERENCES parent DEFERRABLE INITIALLY DEFERRED;
        CREATE VIEW seen AS SELECT * FROM fct; CREATE MATERIALIZED VIEW still AS SELECT sum(v) FROM fct; CREATE POLICY p ON fct FOR SELECT TO hz_reader USING (v > 0);
        CREATE STATISTICS st (dependencies) ON day, v FROM fct; CREATE PUBLICATION pub FOR TABLE fct WITH (publish = 'insert, update');
        CREATE TRIGGER quiet AFTER UPDATE ON fct REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION wait_there(); ALTER TABLE fct ENABLE ALWAYS TRIGGER quiet;
        ANALYZE fct;
        """)
        try:
            look = "SELECT relfilenode, relowner, relacl::text, reloptions::text, relreplident, relhastriggers, relrowsecurity FROM pg_class WHERE oid = 'fct'::regclass"
            before, facts = self.catalogue(), self.rows(look)
            for shadow in ("thin", "full"):
                with self.subTest(shadow):
                    spec = self.spec(SPEC + f"date_column: day\nshadow: {shadow}\ntriggers: skip\n")
                    for command in (["plan"], ["run"], ["swap", "--yes"], ["rollback"], ["swap", "--yes"], ["finish", "--early"]):
                        self.tidegate(*command, spec)
                        self.assertEqual(self.catalogue(), before, command)
                        self.assertEqual(self.rows(look), facts, command)
                    self.sql("SET session_replication_role = replica; ALTER TABLE fct DISABLE TRIGGER quiet; UPDATE fct SET v = 0 WHERE id % 4 = 0; ALTER TABLE fct ENABLE ALWAYS TRIGGER quiet")
        finally:
            self.sql("DROP OWNED BY hz_reader CASCADE; DROP ROLE hz_reader")

    def test_12_dependent_views(self):
        self.sql("CREATE SCHEMA other; CREATE VIEW other.a AS SELECT day, sum(v) AS s FROM fct GROUP BY day; CREATE VIEW b AS SELECT sum(s) AS s FROM other.a;"
                 "CREATE RECURSIVE VIEW c (n) AS SELECT sum(v) FROM fct; CREATE FUNCTION total() RETURNS bigint LANGUAGE sql AS 'SELECT sum(v) FROM fct'")
        self.swapped(self.file)
        want = self.value("SELECT sum(v) FROM fct")
        self.assertEqual(want, sum(row[2] for row in self.right))
        self.assertEqual(self.rows("SELECT s, (SELECT n FROM c), total() FROM b"), [(want, want, want)])

    def numbered(self, how, recompute, changes="{v: yes, new rows: yes}", key="key: [id]\n"):
        self.sql(f"CREATE SEQUENCE down INCREMENT -1 START -1; CREATE TABLE t(n int {how} PRIMARY KEY, day date NOT NULL, id int UNIQUE, v int);"
                 "INSERT INTO t(day, id, v) SELECT day, id, 0 FROM src ORDER BY id; DELETE FROM t WHERE id > 300 OR id IN (55, 66)")
        return self.spec(f"target: t\nrange: 2024-01-05..2024-01-08\nwrong: x\ncorrect: y\n{key}changes: {changes}\nrecompute: {recompute} FROM src WHERE day >= :from AND day < :to\n")

    def test_13_the_next_number_is_beyond_every_one_given(self):
        """Numbers made by the database, given by the recompute, counted down; whoever inserts next meets none of them."""
        ours, theirs = "SELECT day, id, v", "SELECT id + 1000 AS n, day, id, v"
        for how, recompute in (("GENERATED BY DEFAULT AS IDENTITY", ours), ("GENERATED ALWAYS AS IDENTITY", ours), ("DEFAULT nextval('down')", ours),
                               ("GENERATED BY DEFAULT AS IDENTITY", theirs), ("DEFAULT nextval('down')", "SELECT -id - 1000 AS n, day, id, v")):
            with self.subTest(f"{how} {recompute}"):
                self.fresh()
                given = recompute != ours
                spec = self.numbered(how, recompute, "{n: yes, v: yes, new rows: yes}" if given else "{v: yes, new rows: yes}")
                owner = "SELECT refobjid::regclass::text, refobjsubid, deptype FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_get_serial_sequence('t', 'n')::regclass AND refobjsubid > 0"
                before, owned = dict(self.rows("SELECT id, n FROM t")), self.rows(owner)
                self.swapped(spec)
                now = dict(self.rows("SELECT id, n FROM t"))
                self.assertEqual(len(set(now.values())), len(now))
                if not given:
                    self.assertEqual({id: now[id] for id in before}, before)
                self.assertEqual(self.rows(owner), owned)
                self.sql("INSERT INTO t(day, id, v) SELECT '2024-05-01', 9000 + i, 1 FROM generate_series(1, 50) i")
                later = dict(self.rows("SELECT id, n FROM t WHERE id > 9000"))
                self.assertEqual(set(later.values()) & set(now.values()), set())
                self.tidegate("rollback", spec)
                self.assertEqual(dict(self.rows("SELECT id, n FROM t WHERE id < 9000")), before)
                self.sql("INSERT INTO t(day, id, v) VALUES('2024-05-01', 9999, 1)")

    def test_14_generated_columns(self):
        self.sql("CREATE TABLE g(day date NOT NULL, id int PRIMARY KEY, v int, twice int GENERATED ALWAYS AS (v * 2) STORED, ten int DEFAULT 10, CHECK (twice >= 0));"
                 "INSERT INTO g(day, id, v, ten) SELECT day, id, v + 1, 11 FROM src; CREATE INDEX ON g(twice)")
        text = "target: g\nrange: 2024-01-05..2024-01-10\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v{} FROM src WHERE day >= :from AND day < :to\n"
        self.assertIn("twice", self.plan(self.spec(text.format(", 1 AS twice"), "wrong.yaml"), code=USAGE).err)
        self.swapped(self.spec(text.format("")))
        self.assertEqual(self.value("SELECT count(*) FROM g WHERE twice <> v * 2 OR ten <> 11"), 0)
        self.assertEqual(self.value("SELECT count(*) FROM g JOIN src USING (id) WHERE g.v <> src.v AND g.day BETWEEN '2024-01-05' AND '2024-01-10'"), 0)
        spec = self.spec(text.format("").replace("2024-01-05..2024-01-10", "2024-01-15..2024-01-16").replace("SELECT day, id, v", "SELECT day, id, -v AS v"), "negative.yaml")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)

    def test_15_default_partition_and_no_partition(self):
        """Rows of the DEFAULT partition are corrected where they lie; a row for which there is no partition is found before the swap."""
        self.sql("CREATE TABLE p(day date NOT NULL, id int NOT NULL, v int, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);"
                 "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2024-01-01') TO ('2024-01-10'); CREATE TABLE rest PARTITION OF p DEFAULT;"
                 "INSERT INTO p SELECT day, id, 0 FROM src WHERE id % 7 <> 0")
        text = "target: p\nrange: 2024-01-05..2024-01-20\nwrong: x\ncorrect: y\nchanges: {v: yes, new rows: yes}\nrecompute: SELECT day, id, v FROM src WHERE day >= :from AND day < :to\n"
        before, catalogue = self.rows("SELECT tableoid::regclass::text, * FROM p ORDER BY id"), self.catalogue()
        spec = self.spec(text)
        self.swapped(spec)
        self.assertEqual(self.rows("SELECT day, id, v FROM p WHERE day BETWEEN '2024-01-05' AND '2024-01-20' ORDER BY id"), self.rows("SELECT * FROM src WHERE day BETWEEN '2024-01-05' AND '2024-01-20' ORDER BY id"))
        self.assertEqual(self.value("SELECT count(*) FROM rest WHERE day < '2024-01-10'") + self.value("SELECT count(*) FROM p1 WHERE day >= '2024-01-10'"), 0)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT tableoid::regclass::text, * FROM p ORDER BY id"), before)
        self.assertEqual(self.catalogue(), catalogue)
        self.tidegate("discard", spec)
        self.sql("DELETE FROM p WHERE day >= '2024-01-10'; DROP TABLE rest")
        spec = self.spec(text, "none.yaml")
        self.plan(spec)
        result = self.tidegate("run", spec, code=HELD)
        self.assertIn("partition", result.err)

    def test_16_an_emptied_day_is_empty(self):
        self.sql("DELETE FROM src WHERE day IN ('2024-01-07', '2024-01-09')")
        self.plan(self.file, code=DENIED)
        text = SPEC.replace("changes: v", "changes: {v: yes, vanished rows: yes}")
        self.assertIn("9 Jan", repr(self.plan(self.spec(text + "allow: {emptied_dates: [2024-01-07]}"), code=DENIED)))
        spec = self.spec(text + "allow: {emptied_dates: [2024-01-07, 2024-01-09]}")
        self.swapped(spec)
        self.assertEqual(self.rows("SELECT count(*), count(*) FILTER (WHERE day IN ('2024-01-07', '2024-01-09')) FROM fct"), [(380, 0)])
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.before)

    def test_16_rows_outside_stay_where_they_are(self):
        """Not even a new version of them is made: their place and their transaction stay."""
        look = "SELECT ctid, xmin, * FROM fct WHERE day NOT BETWEEN '2024-01-05' AND '2024-01-20' ORDER BY id"
        outside = self.rows(look)
        self.swapped(self.file)
        self.assertEqual(self.rows(look), outside)
        self.tidegate("rollback", self.file)
        self.assertEqual(self.rows(look), outside)

    CHANGES = ("ALTER TABLE fct ADD COLUMN extra int", "ALTER TABLE fct RENAME COLUMN note TO remark", "ALTER TABLE fct DROP COLUMN note", "ALTER TABLE fct ALTER COLUMN v TYPE bigint",
               "ALTER TABLE fct ALTER COLUMN v TYPE numeric(8,2)", "ALTER TABLE fct RENAME TO old; CREATE TABLE fct AS TABLE old", "CREATE UNIQUE INDEX u ON fct(id)",
               "ALTER TABLE fct ADD CHECK (v < 10000)", "ALTER TABLE fct ALTER COLUMN v SET DEFAULT 3, ADD COLUMN g int GENERATED ALWAYS AS (v) STORED",
               "CREATE FUNCTION wipe() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM src; RETURN NULL; END'; CREATE TRIGGER t AFTER UPDATE ON fct EXECUTE FUNCTION wipe()",
               "CREATE RULE r AS ON UPDATE TO fct DO ALSO DELETE FROM src", "ALTER TABLE fct DROP CONSTRAINT fct_pkey", "ALTER TABLE fct SET SCHEMA information_schema")

    def test_17_columns_change_before_the_swap(self):
        for change in self.CHANGES:
            with self.subTest(change):
                self.fresh()
                self.built(self.file)
                self.sql(change)
                result = self.run_tidegate("swap", self.file, "--yes")
                self.assertIn(result.code, (SUPERSEDED, DENIED, USAGE, harness.NOT_FOUND), repr(result))
                look = "SELECT day, id, v::int FROM " + ("information_schema.fct" if "SCHEMA" in change else "fct") + " ORDER BY id"
                self.assertEqual(self.rows(look), [row[:3] for row in self.before])
                self.assertEqual(self.value("SELECT count(*) FROM src"), 400)

    def test_17_columns_change_in_the_middle_of_the_run(self):
        """While the first batch is computed; neither the run nor the swap after it goes over it."""
        for change in self.CHANGES[:5] + self.CHANGES[6:7]:
            with self.subTest(change):
                self.fresh()
                spec = self.spec(HELD_UP, budget="budget: {duty: 100 %, batch: 50ms}")
                self.plan(spec)
                with self.barrier():
                    run = self.start("run", spec)
                    self.wait_at_barrier(run)
                    db = self.connect()
                    changer = threading.Thread(target=lambda: db.cursor().execute(change))  # waits for the batch's own lock
                    changer.start()
                    wait_until(lambda: not changer.is_alive() or self.value("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'fct'::regclass") > 0,
                               what="the change, or its waiting")
                changer.join(30)
                db.close()
                run.communicate(timeout=60)
                result = self.run_tidegate("swap", spec, "--yes")
                self.assertNotEqual(result.code, OK, repr(result))
                self.assertEqual(self.rows("SELECT day, id, v::int FROM fct ORDER BY id"), [row[:3] for row in self.before])

    def test_18_a_unique_violation_is_found_before_the_swap(self):
        """UNIQUE, deferred UNIQUE, an expression, a partial index, NULLS NOT DISTINCT; against rows in and outside the range."""
        for constraint, code in (("UNIQUE (code)", "'c0'"), ("UNIQUE (code) DEFERRABLE INITIALLY DEFERRED", "'c0'"), ("EXCLUDE (lower(code) WITH =)", "'C399'"),
                                 ("CHECK (code <> 'x')", "'x'"), ("UNIQUE (code)", "'same'"), ("UNIQUE NULLS NOT DISTINCT (code)", "NULL")):
            if "NULLS NOT" in constraint and self.value("SELECT current_setting('server_version_num')::int") < 150000:
                continue  # no such constraint there
            with self.subTest(f"{constraint} {code}"):
                self.fresh()
                self.sql(f"CREATE TABLE u(day date NOT NULL, id int PRIMARY KEY, code text, {constraint}); INSERT INTO u SELECT day, id, 'c' || id FROM src")
                before = self.rows("SELECT * FROM u ORDER BY id")
                spec = self.spec(f"target: u\nrange: 2024-01-05..2024-01-06\nwrong: x\ncorrect: y\nchanges: code\nrecompute: SELECT day, id, {code} AS code FROM src WHERE day >= :from AND day < :to\n")
                self.plan(spec)
                self.tidegate("run", spec, code=HELD)
                self.assertEqual((self.rows("SELECT * FROM u ORDER BY id"), self.state()), (before, "held"))

    def test_18_values_that_change_places(self):
        """Two rows exchange a UNIQUE value: done whole or refused whole, never half; where it is deferrable it is done."""
        for deferrable in ("", " DEFERRABLE"):
            with self.subTest(deferrable):
                self.fresh()
                self.sql(f"CREATE TABLE u(day date NOT NULL, id int PRIMARY KEY, code text UNIQUE{deferrable}); INSERT INTO u VALUES('2024-01-05', 1, 'b'), ('2024-01-05', 2, 'a');"
                         "CREATE TABLE s(day date, id int, code text); INSERT INTO s VALUES('2024-01-05', 1, 'a'), ('2024-01-05', 2, 'b')")
                spec = self.spec("target: u\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: code\nrecompute: SELECT day, id, code FROM s WHERE day >= :from AND day < :to\n")
                result = self.run_tidegate("backfill", spec, "--yes")
                now = self.rows("SELECT id, code FROM u ORDER BY id")
                self.assertEqual(now, [(1, "a"), (2, "b")] if result.code == OK else [(1, "b"), (2, "a")], repr(result))
                if deferrable:
                    self.assertEqual(result.code, OK, repr(result))
                else:
                    self.assertIn(result.code, (OK, HELD), repr(result))

    def test_18_foreign_keys_that_cascade_or_wait(self):
        """Deferred ones are checked before the swap says it is done; what a cascade would take with it is held."""
        self.sql("CREATE TABLE parent(v int PRIMARY KEY); INSERT INTO parent SELECT v FROM src; ALTER TABLE fct ADD FOREIGN KEY (v) REFERENCES parent DEFERRABLE INITIALLY DEFERRED")
        self.built(self.file)
        self.sql("UPDATE fct SET v = 0 WHERE v = 132; DELETE FROM parent WHERE v = 132")  # after the proof
        result = self.run_tidegate("swap", self.file, "--yes")
        self.assertNotEqual(result.code, OK, repr(result))
        self.assertEqual(self.rows(NOW), self.before)

    def test_19_a_row_that_arrived_on_a_date_of_the_swap(self):
        self.swapped(self.file)
        self.sql("INSERT INTO fct VALUES('2024-01-06', 9001, 5, 'later')")
        self.assertIn("1 row arrived", self.tidegate("rollback", self.file).out)
        self.assertEqual(self.rows("SELECT * FROM fct WHERE id = 9001"), [("2024-01-06", 9001, 5, "later")])
        self.assertEqual(self.rows(f"SELECT * FROM ({NOW}) n WHERE id <> 9001"), self.before)

    def test_19_a_later_write_to_a_column_that_was_not_given(self):
        self.swapped(self.file)
        self.sql("UPDATE fct SET note = 'later' WHERE id = 44")
        self.assertIn(self.run_tidegate("rollback", self.file).code, (OK, CONFLICT))
        self.assertEqual(self.value("SELECT note FROM fct WHERE id = 44"), "later")

    def test_19_changed_moved_and_vanished_since(self):
        """Each is shown and nothing is done; then either choice is what it says. A row of another key is never ours to drop."""
        for choice, kept in (("--keep-later", [(44, "2024-02-09", 132), (48, "2024-01-05", 5)]), ("--overwrite-later", [(44, "2024-01-05", 0), (44, "2024-02-09", 132), (48, "2024-01-05", 0), (52, "2024-01-06", 0)])):
            with self.subTest(choice):
                self.fresh()
                self.swapped(self.file)
                self.sql("UPDATE fct SET day = '2024-02-09' WHERE id = 44; UPDATE fct SET v = 5 WHERE id = 48; DELETE FROM fct WHERE id = 52")
                later = self.rows(NOW)
                told = self.tidegate("rollback", self.file, code=CONFLICT)
                for word in ("44", "48", "52"):
                    self.assertIn(word, told.out + told.err)
                self.assertEqual(self.rows(NOW), later)
                result = self.run_tidegate("rollback", self.file, choice)
                if result.code == OK:
                    self.assertEqual(self.rows("SELECT id, day, v FROM fct WHERE id IN (44, 48, 52) ORDER BY id, day"), kept, repr(result))
                else:
                    self.assertEqual((result.code, self.rows(NOW)), (CONFLICT, later), repr(result))

    def test_21_a_second_instance_touches_no_lock(self):
        """It says who is at work at once, although production is locked by somebody; and without a lock of its own."""
        spec = self.spec(HELD_UP)
        self.plan(spec)
        with self.barrier():
            first = self.start("run", spec)
            self.wait_at_barrier(first)
            for words in (["run"], ["discard"]):
                begun = time.monotonic()
                result = self.tidegate(*words, spec, code=LEASED)
                self.assertIn(str(first.pid), result.err)
                self.assertLess(time.monotonic() - begun, 10)
            watcher = self.connect(autocommit=False)
            watcher.cursor().execute("SET lock_timeout = '2s'; LOCK TABLE fct IN ROW EXCLUSIVE MODE")
            self.tidegate("run", spec, code=LEASED)
            watcher.rollback()
            watcher.close()
        self.ended(first, OK)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_22_production_begins_during_a_batch(self):
        """The batch under way is stopped and nothing of it stored; when production is done the same command carries on."""
        self.sql("CREATE TABLE jobs(running int); INSERT INTO jobs VALUES(0)")
        spec = self.spec(HELD_UP, budget="budget: {duty: 100 %, batch: 1s}",
                         production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, running: "SELECT sum(running) FROM jobs"}}')
        self.plan(spec)
        with self.barrier():
            run = self.start("run", spec, "--no-wait")
            self.wait_at_barrier(run)
            self.sql("UPDATE jobs SET running = 1")
        out, err = run.communicate(timeout=60)
        self.assertIn(run.returncode, (DENIED, PAUSED), out + err)
        self.assertIn("production runs now", out + err)
        self.assertEqual((self.value("SELECT count(*) FROM tidegate.batch"), self.state()), (0, "building"))
        self.sql("UPDATE jobs SET running = 0")
        self.tidegate("run", spec, "--no-wait")
        self.sql("UPDATE jobs SET running = 1")
        self.tidegate("swap", spec, "--yes", code=DENIED)
        self.sql("UPDATE jobs SET running = 0")
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_24_a_cancelled_statement_is_gone(self):
        """When Ctrl-C returns, nothing of Tidegate's works on the server any more: in a batch, and in a swap under its lock."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC.replace("SELECT day, id, v FROM src", "SELECT day, id, v + (SELECT barrier()) AS v FROM src") + "triggers: fire\n")
        self.plan(spec)
        with self.barrier():
            run = self.start("run", spec)
            self.wait_at_barrier(run)
            run.send_signal(signal.SIGINT)
            run.send_signal(signal.SIGTERM)  # two of one kind may arrive as one
            out, err = run.communicate(timeout=60)
            self.assertEqual(self.working(), [])
            self.assertEqual(run.returncode, PAUSED, out + err)
        self.tidegate("run", spec)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            swap.send_signal(signal.SIGINT)
            swap.send_signal(signal.SIGTERM)
            out, err = swap.communicate(timeout=60)
            self.assertEqual(self.working(), [])
            self.assertNotEqual(swap.returncode, OK, out + err)
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def differs(self, type_, old, new, more=""):
        self.fresh()
        self.sql(f"{more}; CREATE TABLE d(day date NOT NULL, id int PRIMARY KEY, v {type_}); INSERT INTO d VALUES('2024-01-05', 1, {old}), ('2024-01-05', 2, {old});"
                 f"CREATE TABLE s AS TABLE d; UPDATE s SET v = {new} WHERE id = 1")
        spec = self.spec("target: d\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v FROM s WHERE day >= :from AND day < :to\ndate_column: day\n")
        self.plan(spec)
        return spec, self.run_tidegate("run", spec)

    def test_25_no_false_pass_in_what_compares_equal(self):
        """NULL and '', blanks, case under a collation that ignores it, Unicode forms: a change is a change, and is published."""
        ci = "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        for type_, old, new, more in (("text", "NULL", "''", ""), ("text", "''", "' '", ""), ("text", "'é'", "U&'e\\0301'", ""), ("text COLLATE ci", "'a'", "'A'", ci), ("text[]", "'{NULL}'", "'{\"\"}'", ""),
                                      ("jsonb", "'null'", "NULL", ""), ("timestamp", "'2024-01-05 00:00:00.000001'", "'2024-01-05'", "")):
            with self.subTest(f"{type_} {old} {new}"):
                spec, result = self.differs(type_, old, new, more)
                self.assertEqual(result.code, OK, repr(result))
                self.tidegate("swap", spec, "--yes")
                self.assertEqual(self.rows("SELECT id, v::text COLLATE \"C\" FROM d ORDER BY id"), self.rows("SELECT id, v::text COLLATE \"C\" FROM s ORDER BY id"))

    def test_25_drift_that_compares_equal(self):
        """Another spelling under a collation that ignores case is another value: not overwritten unseen. 1.0 and 1.00, or 0
        and -0, are one value in every way that SQL can ask for it: the swap goes on, and the way back gives that value."""
        ci = "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        for type_, old, new, later, code, more in (("text COLLATE ci", "'a'", "'b'", "'A'", DRIFT, ci), ("numeric", "1.0", "2", "1.00", OK, ""), ("float8", "0.0", "1", "'-0'", OK, "")):
            with self.subTest(f"{type_} {later}"):
                spec, result = self.differs(type_, old, new, more)
                self.assertEqual(result.code, OK, repr(result))
                self.sql(f"UPDATE d SET v = {later} WHERE id = 1")
                self.tidegate("swap", spec, "--yes", code=code)
                if code == DRIFT:
                    self.assertEqual(self.rows('SELECT v COLLATE "C" FROM d WHERE id = 1'), [("A",)])
                else:
                    self.tidegate("rollback", spec)
                    self.assertEqual(self.value(f"SELECT count(*) FROM d WHERE v = {old}"), 2)

    def test_25_float_sums(self):
        """A sum that differs from one time to the other in its last digits: held without a tolerance, published with one."""
        self.sql("CREATE TABLE f(day date PRIMARY KEY, s float8); INSERT INTO f SELECT DISTINCT day, 0 FROM src")
        text = ("target: f\nrange: 2024-01-05..2024-01-20\nwrong: x\ncorrect: y\nchanges: s\nrecompute: SELECT day, sum(v) + random() * 1e-9 AS s FROM src WHERE day >= :from AND day < :to GROUP BY day\n")
        spec = self.spec(text)
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.tidegate("discard", spec)
        spec = self.spec(text + "tolerance: {s: 0.000001}\n")
        self.swapped(spec)
        self.assertEqual(self.value("SELECT count(*) FROM f JOIN (SELECT day, sum(v) AS s FROM src GROUP BY day) x USING (day) WHERE abs(f.s - x.s) > 0.000001 AND day BETWEEN '2024-01-05' AND '2024-01-20'"), 0)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows("SELECT DISTINCT s FROM f"), [(0.0,)])


class Seen(Scene):
    """What was seen on PostgreSQL 15 when it was tried on purpose, beside the numbered cases."""

    def test_a_frozen_client_under_the_lock_lets_go(self):
        """SIGSTOP after LOCK: writers are through within seconds, production is old, and the woken client says so."""
        self.sql(AT_SWAP)
        spec = self.spec(SPEC + "triggers: fire\n")
        self.built(spec)
        with self.barrier():
            swap = self.start("swap", spec, "--yes")
            self.wait_at_barrier(swap)
            swap.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        self.sql("SET lock_timeout = '20s'; UPDATE fct SET note = 'by another' WHERE id = 1")
        self.assertLess(time.monotonic() - begun, 12)
        self.assertEqual(self.rows("SELECT DISTINCT v FROM fct WHERE id % 4 = 0"), [(0,)])
        swap.send_signal(signal.SIGCONT)
        out, err = swap.communicate(timeout=60)
        self.assertNotEqual(swap.returncode, OK, out + err)
        self.assertEqual(self.state(), "ready")
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(f"SELECT day, id, v FROM fct ORDER BY id"), [row[:3] for row in self.right])

    def test_foreign_keys_stay_on_where_triggers_are_skipped(self):
        """Never session_replication_role: with `triggers: skip` a row without its parent is refused all the same."""
        self.sql("CREATE TABLE parent(v int PRIMARY KEY); INSERT INTO parent SELECT v FROM src WHERE v <> 132; INSERT INTO parent VALUES(0) ON CONFLICT DO NOTHING;"
                 "ALTER TABLE fct ADD FOREIGN KEY (v) REFERENCES parent;" + AT_SWAP)
        spec = self.spec(SPEC + "triggers: skip\n")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows(NOW), self.before)

    def test_every_session_has_its_timeouts(self):
        """Read from the server while a command works: nothing of ours can wait or work without an end."""
        spec = self.spec(HELD_UP)
        self.plan(spec)
        self.sql("CREATE TABLE seen(name text, setting text)")
        self.sql("CREATE OR REPLACE FUNCTION barrier() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM dblink_like(); RETURN 0; END$$;"
                 "CREATE FUNCTION dblink_like() RETURNS void LANGUAGE plpgsql AS $$DECLARE n text; BEGIN FOREACH n IN ARRAY ARRAY['statement_timeout', 'lock_timeout', "
                 "'idle_in_transaction_session_timeout', 'client_connection_check_interval'] LOOP IF current_setting(n, n LIKE 'client%' AND current_setting('server_version_num')::int < 140000) IN ('0', '0ms') THEN RAISE 'no %', n; END IF; END LOOP; "
                 "IF current_setting('row_security') <> 'off' OR current_setting('session_replication_role') <> 'origin' THEN RAISE 'unsafe'; END IF; END$$")
        self.tidegate("run", spec)

    def test_no_parallel_sum(self):
        """A sum of floats is computed by one process: the same rows give the same digits, whatever the server's settings."""
        self.sql("CREATE TABLE big(day date NOT NULL, x float8); INSERT INTO big SELECT '2024-01-05', random() * 1e6 FROM generate_series(1, 60000); ALTER TABLE big SET (parallel_workers = 4); ANALYZE big;"
                 "CREATE TABLE f(day date PRIMARY KEY, s float8); INSERT INTO f VALUES('2024-01-05', 0);"
                 + "".join(f"ALTER DATABASE {self.name} SET {setting};" for setting in ("max_parallel_workers_per_gather = 4", "parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0")))
        self.assertIn("Gather", repr(self.rows("EXPLAIN SELECT day, sum(x) FROM big GROUP BY day")))
        spec = self.spec("target: f\nrange: 2024-01-05..2024-01-05\nwrong: x\ncorrect: y\nchanges: s\nrecompute: SELECT day, sum(x) AS s FROM big WHERE day >= :from AND day < :to GROUP BY day\n")
        self.swapped(spec)

    def test_a_full_rewrite_between_seal_and_swap(self):
        """VACUUM FULL and CLUSTER give every row another place: the swap finds each by its key, and all of them."""
        for rewrite in ("VACUUM FULL fct", "CLUSTER fct USING fct_pkey", "VACUUM FREEZE fct"):
            with self.subTest(rewrite):
                self.fresh()
                self.sql("DELETE FROM fct WHERE id BETWEEN 300 AND 350; INSERT INTO fct SELECT day, id, v, 'n' || id FROM src WHERE id BETWEEN 300 AND 350; UPDATE fct SET v = v WHERE id > 100")
                self.built(self.file)
                self.sql(rewrite)
                self.tidegate("swap", self.file, "--yes")
                self.assertEqual(self.value("SELECT count(*) FROM fct JOIN src USING (day, id) WHERE day BETWEEN '2024-01-05' AND '2024-01-20' AND fct.v <> src.v"), 0)
                self.tidegate("rollback", self.file)
                self.assertEqual(self.value("SELECT count(*) FROM fct WHERE v = 0 AND day BETWEEN '2024-01-05' AND '2024-01-20'"), 40)

    def test_drift_in_a_subtransaction_and_by_an_old_transaction(self):
        """A transaction that began before the first batch, and one that wrote in a savepoint: what they commit is drift."""
        old = self.connect(autocommit=False)
        old.cursor().execute("SELECT pg_current_xact_id()")
        self.built(self.file)
        old.cursor().execute("SAVEPOINT s; UPDATE fct SET v = 7 WHERE id = 45; RELEASE s")
        old.commit()
        old.close()
        self.sql("VACUUM FREEZE fct")
        self.tidegate("swap", self.file, "--yes", code=DRIFT)
        self.assertEqual(self.value("SELECT v FROM fct WHERE id = 45"), 7)

    def test_a_prepared_transaction_is_named(self):
        """Two-phase commit: nobody's session any more, yet its lock stands and its rows will come."""
        self.built(self.spec(SPEC, budget="budget: {duty: 100 %, lock: 0.1s, lock_tries: 2}"))
        db = self.connect(autocommit=False)
        db.cursor().execute("INSERT INTO fct VALUES('2024-01-05', 9001, 1, 'late'); PREPARE TRANSACTION 'far'")
        db.close()
        try:
            told = self.tidegate("swap", self.file, "--yes", code=LOCKED)
            self.assertEqual(self.rows(NOW), self.before)
            self.assertIn("prepared", told.err)
        finally:
            self.sql("COMMIT PREPARED 'far'")
        self.tidegate("swap", self.file, "--yes", code=DRIFT)


class Settings(Scene):
    """What a role's own settings would change in how values are written and compared."""

    ODD = ("DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kathmandu'", "extra_float_digits = -3", "IntervalStyle = 'sql_standard'", "bytea_output = 'escape'", "search_path = odd, public", "row_security = on",
           "lock_timeout = 0", "statement_timeout = 0", "default_transaction_isolation = 'serializable'", "standard_conforming_strings = off", "enable_seqscan = off", "default_transaction_deferrable = on",
           "lc_monetary = 'C'", "xmloption = 'document'", "array_nulls = off", "transform_null_equals = on", "quote_all_identifiers = on", "plan_cache_mode = 'force_generic_plan'")

    def test_the_same_fingerprints_and_the_same_outcome(self):
        """As another role whose every setting is odd: a plan and a run give what they gave to the first."""
        self.sql("CREATE TABLE t(day date NOT NULL, id int PRIMARY KEY, f float8, at timestamptz, b bytea, i interval, m numeric); INSERT INTO t SELECT day, id, id / 7.0, day + interval '1 hour', '\\x00ff', '1 day 2 hours', 0 FROM src;"
                 "CREATE SCHEMA odd; CREATE FUNCTION odd.abs(int) RETURNS int LANGUAGE sql AS 'SELECT 99'; CREATE TABLE odd.src AS SELECT day, id, -1 AS v FROM src")
        text = "target: public.t\nrange: 2024-01-05..2024-01-20\nwrong: x\ncorrect: y\nchanges: m\ndate_column: day\nrecompute: SELECT day, id, f, at, b, i, v AS m FROM public.t JOIN public.src USING (day, id) WHERE day >= :from AND day < :to\n"
        prints = "SELECT date, production, recomputed, updates FROM tidegate.date ORDER BY backfill, date"
        self.built(self.spec(text))
        plain = self.rows(prints)
        self.sql("DROP SCHEMA tidegate CASCADE; DROP ROLE IF EXISTS oddly; CREATE ROLE oddly SUPERUSER LOGIN")
        try:
            for setting in self.ODD:
                self.sql(f"ALTER ROLE oddly SET {setting}")
            self.named = self.database.replace("user=postgres", "user=oddly")
            spec = self.spec(text)
            self.built(spec)
            self.assertEqual(self.rows(prints), plain)
            self.tidegate("swap", spec, "--yes")
            self.assertEqual(self.value("SELECT count(*) FROM t JOIN src USING (id) WHERE m <> v AND t.day BETWEEN '2024-01-05' AND '2024-01-20'"), 0)
            self.tidegate("rollback", spec)
            self.assertEqual(self.rows("SELECT DISTINCT m FROM t"), [(0,)])
        finally:
            self.sql("REASSIGN OWNED BY oddly TO postgres; DROP OWNED BY oddly; DROP ROLE oddly")

    def test_a_plan_does_not_hold_in_a_session_that_reads_otherwise(self):
        """The settings that change what SQL means are in the digest: another search_path or zone, another plan."""
        for setting in ("search_path = 'odd', 'public'", "TimeZone = 'Asia/Kathmandu'"):
            with self.subTest(setting):
                self.fresh()
                self.sql("CREATE SCHEMA odd; CREATE TABLE odd.src AS SELECT day, id, -1 AS v FROM src")
                self.built(self.file)
                self.sql(f"ALTER DATABASE {self.name} SET {setting}")
                self.tidegate("swap", self.file, "--yes", code=SUPERSEDED)
                self.assertEqual(self.rows("SELECT * FROM public.fct ORDER BY day, id"), self.before)


class Range(Scene):
    """What the range really means."""

    def recent(self, days_ago, **kwargs):
        self.sql("CREATE TABLE r(day date PRIMARY KEY, v int); INSERT INTO r SELECT current_date - i, 0 FROM generate_series(1, 20) i")
        first = self.value(f"SELECT (current_date - {days_ago} - 1)::text || '..' || (current_date - {days_ago})::text")
        return self.spec(f"target: r\nrange: {first}\nwrong: x\ncorrect: y\nchanges: v\nzone: UTC\nrecompute: SELECT day, 1 AS v FROM r WHERE day >= :from AND day < :to\n", **kwargs)

    def test_inside_the_lookback(self):
        """The job would write the fault again: denied until the job is said to be fixed."""
        job = f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, lookback: 5'
        spec = self.recent(3, production=job + "}")
        self.assertIn("rewrites its last 5 dates", repr(self.plan(spec, code=DENIED)))
        spec = self.spec(spec.read_text(encoding="utf-8").replace("lookback: 5", "lookback: 5, lookback_fixed: yes"))
        self.swapped(spec)

    def test_beyond_the_lookback(self):
        self.swapped(self.recent(12, production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m, lookback: 5}}'))

    def test_a_key_that_moves_between_dates(self):
        """Inside the range it is a move; out of it, and onto a key that stands outside, it is held."""
        self.sql("CREATE TABLE k(day date NOT NULL, id int PRIMARY KEY, v int); INSERT INTO k SELECT day, id, 0 FROM src")
        text = "target: k\nrange: 2024-01-05..2024-01-10\nwrong: x\ncorrect: y\nchanges: {changes}\nrecompute: SELECT {day} AS day, id, v FROM src WHERE day >= :from AND day < :to\n"
        self.sql("UPDATE k SET day = '2024-02-05' WHERE id = 44")  # the recompute gives it on 5 January
        spec = self.spec(text.format(changes="{v: yes, day: yes, new rows: yes}", day="day"))
        self.plan(spec)
        self.assertIn("outside the range", self.tidegate("run", spec, code=HELD).err)
        self.tidegate("discard", spec)
        self.sql("UPDATE k SET day = '2024-01-05' WHERE id = 44")
        spec = self.spec(text.format(changes="{v: yes, day: yes}", day="CASE WHEN id = 44 THEN date '2024-02-05' ELSE day END"))
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)

    def test_erased_rows_do_not_come_back(self):
        """A list of what was erased on request, as a check: a recompute from an older source is held."""
        self.sql("CREATE TABLE erased(id int PRIMARY KEY); INSERT INTO erased VALUES(46); DELETE FROM fct WHERE id = 46")
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: yes, new rows: yes}") + "checks: {rows: [id NOT IN (SELECT id FROM erased)]}\n")
        self.plan(spec)
        self.tidegate("run", spec, code=HELD)
        self.assertEqual(self.rows("SELECT * FROM fct WHERE id = 46"), [])

    def test_the_first_batch_is_one_in_which_a_change_is_expected(self):
        """Not the lightest date of all, if the fault never touched it."""
        self.sql("DELETE FROM src WHERE day = '2024-01-05' AND id <> 41; DELETE FROM fct WHERE day = '2024-01-05' AND id <> 41")
        spec = self.spec(SPEC.replace("changes: v", "changes: {v: id % 4 = 0}"))
        self.plan(spec)
        self.tidegate("run", spec)
        self.assertGreater(self.value("SELECT change_count FROM tidegate.batch ORDER BY number LIMIT 1"), 0)

    def test_late_data_in_a_source(self):
        """A source gains rows between batch and swap: drift, the date is computed again, and the new rows are in."""
        self.sql("CREATE TABLE totals(day date PRIMARY KEY, n int); INSERT INTO totals SELECT day, count(*) - 1 FROM src GROUP BY day")
        spec = self.spec("target: totals\nrange: 2024-01-05..2024-01-20\nwrong: x\ncorrect: y\nchanges: n\nrecompute: SELECT day, count(*) AS n FROM src WHERE day >= :from AND day < :to GROUP BY day\n")
        self.built(spec)
        self.sql("INSERT INTO src VALUES('2024-01-06', 5000, 1)")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.value("SELECT n FROM totals WHERE day = '2024-01-06'"), 11)


SKEW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long skew(void) { const char *text = getenv("TIDEGATE_SKEW"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += skew();
  return result;
}
time_t time(time_t *to) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (to) *to = at.tv_sec;
  return at.tv_sec;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""
DAY = 86400


class Clocks(Scene):
    """The database's time counts: the client's clock is off by days, by way of a preloaded library."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.environ.get("TMPDIR", "/tmp")
        cls.shim = f"{folder}/tidegate-skew-{os.getpid()}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", cls.shim, "-ldl"], input=SKEW, text=True, check=True)

    @classmethod
    def tearDownClass(cls):
        os.unlink(cls.shim)
        super().tearDownClass()

    def skewed(self, days):
        # A sanitizer's library wants to be the first and is content when it is not.
        return {"LD_PRELOAD": self.shim, "TIDEGATE_SKEW": str(days * DAY), "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def test_the_shim_is_seen(self):
        """Else the others prove nothing: the doctor tells that the clocks do not agree."""
        told = self.run_tidegate("doctor", "--database", self.database, env=self.skewed(3))
        self.assertRegex(told.out + told.err, r"(?i)clock")
        plain = self.run_tidegate("doctor", "--database", self.database)
        self.assertNotEqual([line for line in plain.out.splitlines() if "clock" in line], [line for line in told.out.splitlines() if "clock" in line])

    def test_dates_that_are_over(self):
        """Whether a date is over is the database's word: a fast clock does not open tomorrow, a slow one does not close yesterday."""
        self.sql("CREATE TABLE r(day date PRIMARY KEY, v int); INSERT INTO r SELECT current_date + i, 0 FROM generate_series(-20, 2) i")
        def spec(when):
            return self.spec(f"target: r\nrange: {self.value(f'SELECT current_date + ({when})')}..{self.value(f'SELECT current_date + ({when})')}\nwrong: x\ncorrect: y\nchanges: v\nzone: UTC\n"
                             "recompute: SELECT day, 1 AS v FROM r WHERE day >= :from AND day < :to\n", f"r{when}.yaml")
        self.tidegate("plan", spec(1), env=self.skewed(30), code=DENIED)
        self.tidegate("plan", spec(-1), env=self.skewed(-30))

    def test_the_retention(self):
        self.swapped(self.file)
        self.assertIn("kept for another", self.tidegate("finish", self.file, env=self.skewed(30), code=DENIED).err)
        self.sql("UPDATE tidegate.backfill SET swapped_at = swapped_at - 8 * 86400")
        self.tidegate("finish", self.file, env=self.skewed(-30))

    def test_a_lease_that_lives(self):
        """A clock that is days fast does not make a living owner look dead."""
        spec = self.spec(HELD_UP)
        self.plan(spec)
        with self.barrier():
            first = self.start("run", spec)
            self.wait_at_barrier(first)
            self.tidegate("run", spec, env=self.skewed(30), code=LEASED)
            self.tidegate("run", spec, env=self.skewed(-30), code=LEASED)
        self.ended(first, OK)

    def test_the_window(self):
        """Production begins in five minutes by the database's clock, whatever the client's says."""
        spec = self.spec(SPEC, production=f'production: {{schedule: "{cron_in(5)}", zone: UTC, p95: 1m}}')
        skew = {**self.skewed(0), "TIDEGATE_SKEW": str(12 * 3600)}
        self.tidegate("plan", spec, env=skew, code=DENIED)
        spec = self.spec(SPEC, production=f'production: {{schedule: "{cron_in(720)}", zone: UTC, p95: 1m}}')
        self.tidegate("plan", spec, env=skew)
        self.tidegate("run", spec, "--no-wait", env=skew)
        self.tidegate("swap", spec, "--yes", env=skew)
        self.assertEqual(self.rows(NOW), self.right)


class Vacuum(Scene):
    """Autovacuum at work on the target, on a server that starts it at once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = Cluster("autovacuum_naptime=1s", "log_autovacuum_min_duration=0")
        cls.addClassCleanup(cls.own.stop)

    def find_cluster(self):
        return self.own

    def setUp(self):
        super().setUp()
        # Its rows fill many pages, each of which takes a vacuum about half a second.
        self.sql("ALTER TABLE fct SET (fillfactor = 10, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,"
                 "autovacuum_freeze_max_age = 100000)")
        self.sql("VACUUM FULL fct")

    def worker(self):
        return self.rows(f"SELECT pid, query FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND datname = '{self.name}' AND query LIKE '%public.fct%'")

    def test_one_that_holds_the_lock_is_waited_for(self):
        """1.5 s is longer than the deadlock_timeout after which autovacuum gives way: the first try has it."""
        self.built(self.file)
        self.sql("UPDATE fct SET v = v WHERE id < 30")
        wait_until(self.worker, seconds=60, what="autovacuum on the target")
        begun = time.monotonic()
        result = self.tidegate("swap", self.file, "--yes")
        self.assertGreater(time.monotonic() - begun, 0.9, "it did not have to wait: " + repr(result))
        self.assertEqual(self.rows(NOW), self.right)

    def test_one_against_wraparound_is_named(self):
        """It gives way to nobody: the swap is put off, and says why."""
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock_tries: 2}")
        self.built(spec)
        self.sql("CREATE TEMP TABLE burnt(i int);"
                 "DO $$BEGIN FOR i IN 1..110000 LOOP BEGIN INSERT INTO burnt VALUES(1); EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END$$")
        wait_until(lambda: any("wraparound" in query for _, query in self.worker()), seconds=120, what="a vacuum against wraparound")
        told = self.tidegate("swap", spec, "--yes", code=LOCKED)
        self.assertIn("wraparound", told.err)
        self.assertIn(str(self.worker()[0][0]), told.err)
        self.assertEqual((self.rows(NOW), self.state()), (self.before, "ready"))


if __name__ == "__main__":
    harness.main()
