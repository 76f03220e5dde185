"""The whole way on PostgreSQL: the story of the design on real flights, what must be true at each step, and carrying on
after kills. What is the same on every engine is inherited from way_test.py and runs on a scene typed for PostgreSQL."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import harness
import psycopg2
import way_test
from harness import DATABASE, DENIED, DRIFT, HELD, LEASED, PAUSED, USAGE, wait_until
from postgres_harness import PostgresFlow

ROOT = Path(__file__).resolve().parents[2]


class Flights(PostgresFlow):
    """daily_delays of February 2013, as DESIGN tells it."""

    @staticmethod
    def scene(url):
        subprocess.run([str(ROOT / "demo/setup_postgres.sh"), url], check=True)

    NOW = "SELECT * FROM daily_delays ORDER BY 1, 2, 3"
    RIGHT = """SELECT flight_date, origin, carrier, count(*), count(*) - count(dep_delay), round(avg(dep_delay), 2)
        FROM flights GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""

    def setUp(self):
        super().setUp()
        self.text = (ROOT / "demo/daily_delays.yaml").read_text()
        self.text = self.text[:self.text.index("production:")] + "downstream: [{name: monthly_delays, kind: table, needs: cascade}]\n"
        self.before, self.right = self.rows(self.NOW), self.rows(self.RIGHT)
        self.wrong = sum(a != b for a, b in zip(self.before, self.right))
        self.assertGreater(self.wrong, 200)

    def test_init_finds_the_table(self):
        self.assertIn("daily_delays", self.tidegate("init", self.named).out)
        text = (self.folder / "tidegate.yaml").read_text()
        self.assertIn(f"database: {self.named}", text.replace('"', "").replace("'", ""))
        self.assertIn("flight_date", text)
        self.assertEqual(self.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'tidegate'"), [])

    def test_scan_shows_the_dates(self):
        self.sql("DELETE FROM daily_delays WHERE flight_date = '2013-02-20'")
        dates = self.tidegate("--json", "--database", self.named, "scan", "daily_delays", "--range", "2013-02-01..2013-02-28").json["dates"]
        self.assertEqual([d["date"] for d in dates if d["mark"] == "missing"], ["2013-02-20"])

    def test_plan_denied_then_allowed(self):
        rushed = (ROOT / "demo/rushed.yaml").read_text()
        denied = self.plan(self.spec(rushed, "rushed.yaml"), code=DENIED)
        self.assertIn("production-run", denied.out + denied.err)
        self.assertIn("2013-02-1", denied.out + denied.err)
        plan = self.plan(self.spec(self.text))
        for word in ("28 dates, 884 rows", "222 of 222 rows identical", "worst_days", "monthly_delays", "ALLOW"):
            self.assertIn(word, plan.out)
        self.assertEqual(self.rows(self.NOW), self.before)

    def test_whole_story(self):
        spec = self.spec(self.text)
        catalogue = self.catalogue()
        self.plan(spec)
        self.tidegate("run", spec)
        self.assertEqual(self.rows(self.NOW), self.before, "law 1: nothing but the swap changes production")
        self.assertEqual(self.state(), "ready")
        self.assertIn("2013-02-08", self.tidegate("diff", spec, "--date", "2013-02-08").out)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)
        self.assertEqual(self.catalogue(), catalogue)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(self.NOW), self.before)
        self.tidegate("swap", spec, "--yes")
        self.tidegate("finish", spec, code=DENIED)
        self.assertEqual(len(self.objects()), 1, "law 6: kept until the retention has passed")
        self.tidegate("finish", spec, "--early")
        self.assertEqual(self.objects(), [])
        self.assertEqual(self.rows(self.NOW), self.right)
        self.assertEqual(self.catalogue(), catalogue)
        self.assertIn("finished", self.tidegate("status", "--database", self.named).out)

    def test_every_step_reports_as_json(self):
        spec = self.spec(self.text)
        plan = self.tidegate("--json", "plan", spec).json
        self.assertTrue(plan["verdict"]["allow"])
        self.assertEqual(self.tidegate("--json", "run", plan["id"], "--database", self.named).json["changes"]["updates"], self.wrong)
        self.assertEqual(self.tidegate("--json", "diff", spec).json["columns"], {"avg_dep_delay": self.wrong})
        swap = self.tidegate("--json", "swap", "--yes", spec).json
        self.assertEqual((swap["state"], swap["changes"]["total"]), ("swapped", self.wrong))
        self.assertEqual(self.tidegate("--json", "rollback", spec).json["restored"], self.wrong)
        self.assertEqual(self.tidegate("--json", "status", spec).json["state"], "rolled_back")
        listed = self.tidegate("--json", "status", "--database", self.named).json
        self.assertEqual([b["id"] for b in listed["backfills"]], [plan["id"]])

    def test_discard(self):
        spec = self.spec(self.text)
        self.built(spec)
        self.tidegate("discard", spec)
        self.assertEqual((self.objects(), self.state()), ([], "discarded"))
        self.assertEqual(self.rows(self.NOW), self.before)

    def test_doctor_and_runbook(self):
        self.assertIn("none yet", self.tidegate("doctor", "--database", self.named).out)
        self.built(self.spec(self.text))
        self.tidegate("doctor", "--database", self.named)
        runbook = self.tidegate("runbook", "daily_delays", "--database", self.named).out
        self.assertIn("UPDATE", runbook)
        self.assertIn("LOCK TABLE", runbook)

    def test_readers_never_see_a_half(self):
        """Loops at READ COMMITTED and REPEATABLE READ through run, swap, rollback and swap: all old or all new."""
        total = "SELECT sum(coalesce(avg_dep_delay, -1) * flights) FROM daily_delays WHERE flight_date BETWEEN '2013-02-01' AND '2013-02-28'"
        halves = [total.replace("2013-02-28", "2013-02-14"), total.replace("2013-02-01", "2013-02-15")]
        whole = {"old": self.value(total)}
        seen, errors, stop = set(), [], threading.Event()

        def read(isolation):
            try:
                db = self.connect()
                if isolation:
                    db.set_session(isolation_level=isolation, autocommit=False)
                while not stop.is_set():
                    cursor = db.cursor()
                    values = []
                    for query in halves if isolation else [total]:
                        cursor.execute(query)
                        values.append(cursor.fetchone()[0])
                    db.commit()
                    seen.add(sum(values))
                db.close()
            except psycopg2.Error as error:
                errors.append(error)

        readers = [threading.Thread(target=read, args=(isolation,)) for isolation in (None, "REPEATABLE READ")]
        for reader in readers:
            reader.start()
        wait_until(lambda: seen or errors)
        # One of the readers is nearly always inside a transaction: a swap that meets it gives way, and then insists.
        spec = self.spec(self.text)
        self.swapped(spec)
        whole["new"] = self.value(total)
        self.tidegate("rollback", spec)
        self.tidegate("swap", spec, "--yes")
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(errors, [])
        self.assertNotEqual(whole["old"], whole["new"])
        self.assertLessEqual(seen, set(whole.values()))


class Unordered:
    """Rows without ORDER BY come sorted: an update moves a row in the table."""

    def rows(self, query):
        found = super().rows(query)
        return found if "ORDER BY" in query.upper() else sorted(found, key=repr)


class Way(Unordered, way_test.Way, PostgresFlow):
    """way_test.Way with PostgreSQL's types."""

    scene = """
    CREATE TABLE orders(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, rate int NOT NULL);
    CREATE INDEX orders_day ON orders(day);
    INSERT INTO orders SELECT i * 20 + k + 1, date '2024-01-01' + i, 100 + k, 3
    FROM generate_series(0, 49) i, generate_series(0, 19) k WHERE k <= i % 20;
    CREATE TABLE sales(day date NOT NULL, id int NOT NULL, cents int NOT NULL, net int, note text, PRIMARY KEY (day, id));
    INSERT INTO sales SELECT day, id, cents, CASE WHEN day BETWEEN '2024-01-10' AND '2024-01-25' AND id % 3 = 0
                      THEN cents ELSE cents * rate END, 'note ' || id FROM orders;
    CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
    """
    SPEC = way_test.SPEC

    def setUp(self):
        PostgresFlow.setUp(self)
        self.before = self.rows(way_test.NOW)
        self.right = self.rows(way_test.RIGHT)
        self.file = self.spec(self.SPEC)

    def test_smallest_first_then_growing(self):
        self.built(self.file)
        batches = self.rows("SELECT date_count, row_count FROM tidegate.batch ORDER BY number")
        lightest = self.value("SELECT count(*) FROM sales WHERE day BETWEEN '2024-01-10' AND '2024-01-25' GROUP BY day ORDER BY 1 LIMIT 1")
        self.assertEqual(batches[0], (1, lightest))
        self.assertEqual(sum(dates for dates, _ in batches), 16)

    def test_column_outside_the_scope_is_held(self):
        spec = self.spec(self.SPEC.replace("SELECT day, id, cents,", "SELECT day, id, cents + (id = 201)::int AS cents,").replace("control", "#"))
        self.plan(spec)
        self.assertIn("cents", self.tidegate("run", spec, code=HELD).err)
        self.assertEqual((self.state(), self.rows(way_test.NOW)), ("held", self.before))
        self.tidegate("swap", spec, "--yes", code=harness.STATE)
        self.tidegate("discard", spec)
        self.assertEqual(self.objects(), [])

    def test_control_that_is_not_reproduced_is_denied(self):
        self.sql("UPDATE sales SET net = 1 WHERE day = '2024-01-06'")
        result = self.plan(self.file, code=DENIED)
        self.assertIn("2024-01-06", result.out + result.err)
        self.assertEqual(self.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'tidegate'"), [])

    def test_a_copy_of_the_database_is_another_database(self):
        self.built(self.file)
        copy = f"{self.name}_copy"
        self.cluster.run(f"CREATE DATABASE {copy} TEMPLATE {self.name}")
        try:
            result = self.run_tidegate("swap", self.file, "--yes", "--database", self.cluster.url(copy))
            self.assertNotEqual(result.code, 0, repr(result))
            self.assertIn("database", result.err)
            copied = self.cluster.connect(copy)
            cursor = copied.cursor()
            cursor.execute(way_test.NOW)
            self.assertEqual(cursor.fetchall(), self.before)
            copied.close()
        finally:
            self.cluster.drop(copy)

    def test_recompute_that_appends_on_each_run_is_held(self):
        spec = self.spec(self.SPEC.replace("FROM orders", ", note FROM (SELECT *, 'x' || random() AS note FROM orders) o")
                         .replace("changes: net", "changes: [net, note]").replace("control: 2024-01-05..2024-01-09\n", ""))
        self.plan(spec)
        self.assertIn("twice", self.tidegate("run", spec, code=HELD).err)

    def test_writes_elsewhere_do_not_stop_the_swap(self):
        self.built(self.file)
        self.sql("INSERT INTO sales VALUES('2024-03-01', 9001, 1, 1, NULL); CREATE TABLE other(x int); INSERT INTO other VALUES(1)")
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.value("SELECT net FROM sales WHERE id = 9001"), 1)

    def test_nothing_is_written_where_nothing_changes(self):
        """Unchanged rows keep their place: no new version of theirs is made."""
        places = dict(self.rows("SELECT id, ctid::text FROM sales"))
        self.swapped(self.file)
        now = dict(self.rows("SELECT id, ctid::text FROM sales"))
        moved = {id for id in places if places[id] != now[id]}
        self.assertEqual(moved, {old[1] for old, new in zip(self.before, self.right) if old != new})

    def test_drift_while_the_lock_is_waited_for(self):
        """A writer that is open when the swap asks for its lock: waited for, then found by what it wrote (hazards 5, 6)."""
        self.built(self.file)
        db = self.connect(autocommit=False)
        db.cursor().execute("UPDATE sales SET net = 7 WHERE day = '2024-01-12' AND id = 221")
        swap = self.start("swap", self.file, "--yes")
        self.wait_for_lock("sales")
        db.commit()
        db.close()
        out, err = swap.communicate(timeout=120)
        self.assertEqual(swap.returncode, DRIFT, out + err)
        self.assertEqual(self.value("SELECT net FROM sales WHERE id = 221"), 7)
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(way_test.NOW), self.right)

    def test_lock_not_to_be_had(self):
        """A reader's share lock stays: bounded tries, production untouched, status 6, and it carries on afterwards."""
        spec = self.spec(self.SPEC + "budget: {duty: 100 %, lock: 100ms, lock_tries: 2}\n")
        self.built(spec)
        db = self.connect(autocommit=False)
        db.cursor().execute("LOCK TABLE sales IN ROW EXCLUSIVE MODE")
        result = self.tidegate("swap", spec, "--yes", code=harness.LOCKED)
        self.assertIn(str(db.info.backend_pid), result.err)
        db.rollback()
        db.close()
        self.assertEqual((self.state(), self.rows(way_test.NOW)), ("ready", self.before))
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(way_test.NOW), self.right)


class WayTyped(Way):
    """The same with timestamptz and a zone, numeric, identity, a generated column and a partitioned target."""

    scene = """
    CREATE TABLE orders(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, rate int NOT NULL);
    INSERT INTO orders SELECT i * 20 + k + 1, date '2024-01-01' + i, 100 + k, 3
    FROM generate_series(0, 49) i, generate_series(0, 19) k WHERE k <= i % 20;
    CREATE TABLE sales(day date NOT NULL, id int NOT NULL, cents int NOT NULL, net int, note text, PRIMARY KEY (day, id))
    PARTITION BY RANGE (day);
    CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM ('2024-01-01') TO ('2024-01-15');
    CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM ('2024-01-15') TO ('2024-02-01') PARTITION BY HASH (id);
    CREATE TABLE sales_2a PARTITION OF sales_2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE sales_2b PARTITION OF sales_2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE TABLE sales_rest PARTITION OF sales DEFAULT;
    INSERT INTO sales SELECT day, id, cents, CASE WHEN day BETWEEN '2024-01-10' AND '2024-01-25' AND id % 3 = 0
                      THEN cents ELSE cents * rate END, 'note ' || id FROM orders;
    """

    def test_nothing_is_written_where_nothing_changes(self):
        places = dict(self.rows("SELECT id, tableoid || ctid::text FROM sales"))
        self.swapped(self.file)
        now = dict(self.rows("SELECT id, tableoid || ctid::text FROM sales"))
        moved = {id for id in places if places[id] != now[id]}
        self.assertEqual(moved, {old[1] for old, new in zip(self.before, self.right) if old != new})


class Moves(Unordered, way_test.Moves, PostgresFlow):
    scene = """
    CREATE TABLE source(id int PRIMARY KEY, day date, v int);
    INSERT INTO source SELECT i, date '2024-03-01' + i / 10, i FROM generate_series(0, 199) i;
    CREATE TABLE fact(id int PRIMARY KEY, day date NOT NULL, v int);
    INSERT INTO fact SELECT id, day + CASE WHEN id % 7 = 0 AND day < '2024-03-15' THEN 3 ELSE 0 END, v FROM source;
    """

    def setUp(self):
        PostgresFlow.setUp(self)
        self.before = self.rows("SELECT * FROM fact")
        self.right = self.rows("SELECT id, day, v FROM source")


class MovesBetweenPartitions(Moves):
    """The row moves to another partition as well."""

    scene = Moves.scene.replace("CREATE TABLE fact(id int PRIMARY KEY, day date NOT NULL, v int);", """
    CREATE TABLE fact(id int NOT NULL, day date NOT NULL, v int) PARTITION BY RANGE (day);
    CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM ('2024-03-01') TO ('2024-03-08');
    CREATE TABLE fact_2 PARTITION OF fact FOR VALUES FROM ('2024-03-08') TO ('2024-04-01');
    """)

    def moving(self, *args, **kwargs):
        path = super().moving(*args, **kwargs)
        path.write_text(path.read_text() + "key: [id]\n")
        return path


class Names(Unordered, way_test.Names, PostgresFlow):
    """The user's tables may be called what the program's own SQL might call something."""


class Slow(PostgresFlow):
    """A run of 36 dates that takes its time."""

    duty = "100 %"

    # Each row of the recompute takes about a tenth of a millisecond, so that there is time to kill.
    scene = """
    CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
    INSERT INTO source SELECT date '2024-01-01' + i / 100, i, i * 3 FROM generate_series(0, 3999) i;
    CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int);
    INSERT INTO fact SELECT day, id, CASE WHEN id % 4 = 0 THEN 0 ELSE v END FROM source;
    CREATE INDEX ON fact(day);
    """
    SPEC = """
    target: fact
    range: 2024-01-03..2024-02-07
    wrong: every fourth is nought
    correct: as in the source
    changes: v
    recompute: SELECT day, id, v + 0 * (SELECT count(*) FROM generate_series(1, 500 + id % 2))::int AS v FROM source WHERE day >= :from AND day < :to
    """
    NOW = "SELECT * FROM fact ORDER BY id"
    RIGHT = "SELECT f.day, f.id, CASE WHEN f.day BETWEEN '2024-01-03' AND '2024-02-07' THEN s.v ELSE f.v END FROM fact f JOIN source s USING (id) ORDER BY id"

    def setUp(self):
        super().setUp()
        self.before, self.right = self.rows(self.NOW), self.rows(self.RIGHT)
        self.file = self.spec(self.SPEC, budget=f"budget: {{duty: {self.duty}, crowded: 100 %, batch: 100ms}}")
        self.plan(self.file)

    def batches(self):
        return self.value("SELECT count(*) FROM tidegate.batch")

    def ours(self):
        return self.value(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{self.name}' AND application_name LIKE 'tidegate%'")


class Carrying(Slow):
    """Kills and crashes: carrying on gives the same as never having stopped."""

    duty = "50 %"

    def test_a_killed_run_carries_on(self):
        run = self.start("run", self.file)
        wait_until(lambda: self.batches() >= 2 or run.poll() is not None, what="two batches")
        run.kill()
        run.communicate()
        done = self.batches()
        self.assertEqual(self.rows(self.NOW), self.before)
        self.tidegate("run", self.file)
        self.assertGreater(self.batches(), done)
        self.assertEqual(self.value("SELECT sum(date_count) FROM tidegate.batch"), 36)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)

    def test_a_killed_swap_is_all_or_nothing(self):
        """Killed while it waits behind a writer's lock, and so before it wrote anything; the same command carries on."""
        self.tidegate("run", self.file)
        db = self.connect(autocommit=False)
        db.cursor().execute("LOCK TABLE fact IN ROW EXCLUSIVE MODE")
        swap = self.start("swap", self.file, "--yes")
        self.wait_for_lock("fact")
        swap.kill()
        swap.communicate()
        db.rollback()
        db.close()
        wait_until(lambda: self.ours() == 0, what="the orphaned session's end")
        state = self.state()
        self.assertEqual(self.rows(self.NOW), self.right if state == "swapped" else self.before)
        if state != "swapped":
            self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)

    def test_a_terminated_session(self):
        """pg_terminate_backend in the middle of a run: it reconnects or stops with a clear error, and carries on."""
        run = self.start("run", self.file)
        wait_until(lambda: self.batches() >= 1 or run.poll() is not None, what="a batch")
        self.rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}' AND application_name LIKE 'tidegate%'")
        out, err = run.communicate(timeout=120)
        self.assertIn(run.returncode, (0, DATABASE), out + err)
        self.assertEqual(self.rows(self.NOW), self.before)
        if run.returncode:
            self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)

    def test_a_server_that_crashes(self):
        """The server goes down without a checkpoint between run and swap: everything is there, and it is published."""
        self.tidegate("run", self.file)
        self.cluster.crash()
        self.tidegate("swap", self.file, "--yes", code=DATABASE)
        self.cluster.restart()
        self.assertEqual(self.rows(self.NOW), self.before)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)


class Crowded(Slow):
    """Others compute on every processor there is: a batch is written now and then only."""

    def test_a_run_yields_to_others(self):
        busy = [self.connect() for _ in range(2 * os.cpu_count())]
        computing = [threading.Thread(target=self.compute, args=(db,)) for db in busy]
        for thread in computing:
            thread.start()
        try:
            file = self.spec(self.SPEC.replace("2024-02-07", "2024-01-09"), name="few.yaml", budget="budget: {duty: 50 %, crowded: 5 %}")
            self.plan(file)
            begin = time.monotonic()
            self.tidegate("run", file)
            took = time.monotonic() - begin
        finally:
            for db in busy:
                db.cancel()
            for thread in computing:
                thread.join()
        *earlier, _ = self.rows("SELECT seconds FROM tidegate.batch ORDER BY backfill, number")
        self.assertGreater(len(earlier), 1)
        self.assertGreater(took, 15 * sum(seconds for seconds, in earlier))

    def compute(self, db):
        try:
            db.cursor().execute("SELECT sum(sqrt(i)) FROM generate_series(1, 2000000000) i")
        except psycopg2.errors.QueryCanceled:
            pass


class Leases(Slow):
    """Who drives the backfill; the run rests most of the time, so that others meet it."""

    duty = "20 %"

    def test_a_frozen_run_holds_nobody(self):
        """SIGSTOP in the middle of a run: production's writers go on, the frozen transaction is ended by the server."""
        run = self.start("run", self.file)
        try:
            wait_until(lambda: self.batches() >= 1 or run.poll() is not None, what="a batch")
            run.send_signal(signal.SIGSTOP)
            self.sql("SET lock_timeout = '10s'; UPDATE fact SET v = v WHERE id = 5; INSERT INTO fact VALUES('2024-03-01', 9999, 1)")
            wait_until(lambda: self.value(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{self.name}' AND application_name LIKE 'tidegate%' "
                                          "AND state LIKE 'idle in transaction%'") == 0, what="the end of the frozen transaction")
        finally:
            run.send_signal(signal.SIGCONT)
            run.communicate(timeout=120)
        if run.returncode:
            self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows("SELECT * FROM fact WHERE id <> 9999 ORDER BY id"), self.right)
        self.assertEqual(self.value("SELECT v FROM fact WHERE id = 9999"), 1)

    def test_a_lease_keeps_others_out(self):
        run = self.start("run", self.file)
        try:
            wait_until(lambda: self.batches() >= 1, what="a batch")
            result = self.tidegate("run", self.file, code=LEASED)
            self.assertIn(str(run.pid), result.err)
            self.tidegate("discard", self.file, code=LEASED)
        finally:
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, PAUSED, out + err)
        self.tidegate("run", self.file)
        self.tidegate("swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), self.right)

    def test_who_lost_the_lease_cannot_act(self):
        """Law 10: a run is frozen, another takes the lease over; woken up it writes no batch more and says so."""
        run = self.start("run", self.file)
        try:
            wait_until(lambda: self.batches() >= 1 or run.poll() is not None, what="a batch")
            run.send_signal(signal.SIGSTOP)
            self.sql("UPDATE tidegate.backfill SET lease_epoch = lease_epoch + 1, lease_owner = 'elsewhere'")
            done = self.batches()
        finally:
            run.send_signal(signal.SIGCONT)
            out, err = run.communicate(timeout=120)
        self.assertIn(run.returncode, (LEASED, DATABASE), out + err)
        self.assertEqual((self.batches(), self.state(), self.rows(self.NOW)), (done, "building", self.before))


class Roles(PostgresFlow):
    """Least privilege: what `doctor --grant` prints is enough, and no more than it says."""

    scene = """
    CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
    INSERT INTO source SELECT date '2024-01-01' + i / 10, i, i FROM generate_series(0, 99) i;
    CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int); INSERT INTO fact SELECT day, id, 0 FROM source;
    CREATE TABLE secret(x int);
    REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- as it is from 15 on
    """
    SPEC = "target: fact\nrange: 2024-01-03..2024-01-06\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, id, v FROM source WHERE day >= :from AND day < :to\n"
    NOW = "SELECT id, v FROM fact ORDER BY id"

    def setUp(self):
        super().setUp()
        self.sql("DROP ROLE IF EXISTS runner; DROP ROLE IF EXISTS publisher; CREATE ROLE runner LOGIN; CREATE ROLE publisher LOGIN")
        self.file = self.spec(self.SPEC)
        self.before = self.rows(self.NOW)
        for args in (("runner",), ("publisher", "--publish")):
            grants = self.tidegate("doctor", "--grant", *args, "fact", "--database", self.named).out
            subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.database], input=grants, text=True, check=True,
                           env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})
        self.sql("GRANT SELECT ON source TO runner, publisher")

    def tearDown(self):
        self.sql("DROP OWNED BY runner, publisher")
        super().tearDown()

    def as_role(self, role, *args, **kwargs):
        return self.tidegate(*args, "--database", self.named.replace("user=postgres", f"user={role}"), **kwargs)

    def test_one_runs_and_another_publishes(self):
        self.as_role("runner", "plan", self.file)
        self.as_role("runner", "run", self.file)
        refused = self.as_role("runner", "swap", self.file, "--yes", code=DATABASE)
        self.assertIn("permission denied", refused.err)
        self.assertEqual(self.rows(self.NOW), self.before)
        self.as_role("publisher", "swap", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), [(id, id if 20 <= id < 60 else 0) for id in range(100)])
        self.as_role("publisher", "rollback", self.file)
        self.assertEqual(self.rows(self.NOW), self.before)
        self.as_role("publisher", "swap", self.file, "--yes")
        self.as_role("publisher", "finish", self.file, "--early")
        self.assertEqual(self.objects(), [])

    def test_one_that_does_it_all(self):
        self.as_role("publisher", "backfill", self.file, "--yes")
        self.assertEqual(self.rows(self.NOW), [(id, id if 20 <= id < 60 else 0) for id in range(100)])
        self.as_role("publisher", "rollback", self.file)
        self.as_role("publisher", "discard", self.file)
        self.assertEqual((self.rows(self.NOW), self.objects()), (self.before, []))

    def test_no_more_than_it_says(self):
        """Neither role sees another table or makes one; the one that runs cannot write the target."""
        self.assertEqual(self.rows("SELECT has_table_privilege(r, 'secret', 'SELECT'), has_schema_privilege(r, 'public', 'CREATE') FROM unnest(ARRAY['runner', 'publisher']) r"), [(False, False)] * 2)
        self.assertEqual(self.rows("SELECT has_table_privilege('runner', 'fact', 'INSERT'), has_table_privilege('runner', 'fact', 'UPDATE'), has_table_privilege('runner', 'fact', 'DELETE')"), [(False,) * 3])

    def test_a_role_that_was_granted_nothing(self):
        self.sql("CREATE ROLE nobody_special LOGIN")
        try:
            result = self.run_tidegate("plan", self.file, "--database", self.named.replace("user=postgres", "user=nobody_special"))
            self.assertNotEqual(result.code, 0, repr(result))
            self.assertIn("tidegate doctor --grant nobody_special", result.err)
            self.assertEqual(self.rows(self.NOW), self.before)
        finally:
            self.sql("DROP ROLE nobody_special")


class Connecting(PostgresFlow):
    """How the database is named, and what is refused."""

    scene = "CREATE TABLE fact(day date PRIMARY KEY, v int); INSERT INTO fact VALUES('2024-01-01', 1)"
    SPEC = "target: fact\nrange: 2024-01-01..2024-01-01\nwrong: x\ncorrect: y\nchanges: v\nrecompute: SELECT day, 2 AS v FROM fact WHERE day >= :from AND day < :to\n"

    def test_environment_and_service_file(self):
        """What a URL does not say comes from where every libpq program takes it."""
        (self.folder / "services").write_text(f"[here]\nhost={self.cluster.folder}\nuser=postgres\ndbname={self.name}\n")
        for url, env in ((f"postgresql:///{self.name}", {"PGHOST": self.cluster.folder, "PGUSER": "postgres"}),
                         ("postgresql://?service=here", {"PGSERVICEFILE": str(self.folder / "services")}),
                         ("postgres://", {"PGHOST": self.cluster.folder, "PGUSER": "postgres", "PGDATABASE": self.name})):
            with self.subTest(url):
                self.named = url
                self.tidegate("plan", self.spec(self.SPEC), env=env)

    def test_a_password_in_the_url_is_refused_and_not_repeated(self):
        for url in (f"postgresql://postgres:s3cret@/{self.name}?host={self.cluster.folder}", f"{self.named}&password=s3cret"):
            with self.subTest(url):
                result = self.run_tidegate("doctor", "--database", url)
                self.assertEqual(result.code, USAGE, repr(result))
                self.assertNotIn("s3cret", result.out + result.err)

    def test_a_server_that_is_not_there(self):
        result = self.tidegate("doctor", "--database", f"postgresql:///x?host={self.folder}&user=postgres", code=DATABASE)
        self.assertIn(str(self.folder), result.err)

    def test_a_database_that_is_not_there(self):
        self.assertIn("nowhere", self.tidegate("doctor", "--database", self.cluster.url("nowhere"), code=DATABASE).err)

    def test_session_settings_of_the_role_do_not_change_what_sql_means(self):
        """A role whose own settings would give other dates, names and rows: the outcome is the same."""
        self.sql(f"ALTER DATABASE {self.name} SET DateStyle = 'German'; ALTER DATABASE {self.name} SET TimeZone = 'Pacific/Kiritimati';"
                 f"ALTER DATABASE {self.name} SET standard_conforming_strings = off; ALTER DATABASE {self.name} SET statement_timeout = '1h';"
                 f"ALTER DATABASE {self.name} SET default_transaction_isolation = 'serializable'; ALTER DATABASE {self.name} SET extra_float_digits = 0;"
                 f"ALTER DATABASE {self.name} SET bytea_output = 'escape'; ALTER DATABASE {self.name} SET IntervalStyle = 'iso_8601'")
        self.swapped(self.spec(self.SPEC))
        self.assertEqual(self.rows("SELECT to_char(day, 'YYYY-MM-DD'), v FROM fact"), [("2024-01-01", 2)])

    def pooler(self, mode):
        """pgbouncer before the cluster, in the given mode; its URL."""
        folder = self.cluster.folder + "/bouncer"
        subprocess.run(["rm", "-rf", folder], check=True)
        os.mkdir(folder)
        (Path(folder) / "ini").write_text(
            f"[databases]\n* = host={self.cluster.folder} user=postgres\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {folder}\nlisten_port = 6432\n"
            f"auth_type = any\npool_mode = {mode}\nadmin_users = postgres\nignore_startup_parameters = extra_float_digits,options\nlogfile = {folder}/log\npidfile = {folder}/pid\n")
        owner = os.stat(self.cluster.folder + "/data").st_uid
        os.chown(folder, owner, -1)
        process = subprocess.Popen(["/usr/sbin/pgbouncer", folder + "/ini"], user=owner if os.getuid() == 0 else None,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        url = f"postgresql:///{self.name}?host={folder}&port=6432&user=postgres"

        def answers():
            with contextlib.suppress(psycopg2.OperationalError):  # its socket stands a moment before
                psycopg2.connect(url).close()
                return True
            return process.poll() is not None
        wait_until(answers, what="pgbouncer")
        return url

    def test_a_pooler_in_transaction_mode_is_refused(self):
        self.named = self.pooler("transaction")
        result = self.run_tidegate("plan", self.spec(self.SPEC))
        self.assertEqual(result.code, DATABASE, repr(result))
        self.assertIn("pool", result.err)
        self.assertEqual(self.rows("SELECT v FROM fact"), [(1,)])

    def test_a_pooler_in_session_mode_is_fine(self):
        self.named = self.pooler("session")
        self.swapped(self.spec(self.SPEC))
        self.assertEqual(self.rows("SELECT v FROM fact"), [(2,)])


if __name__ == "__main__":
    harness.main()
