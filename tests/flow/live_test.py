"""Jobs that run now, with the real clock: a backfill stops for a job that starts early, waits while one runs, hangs or
cannot be asked about, carries on by itself, and never works beside one. What ran when is read from the database."""

import base64
import fcntl
import http.server
import json
import os
import signal
import subprocess
import threading
import time
from datetime import datetime, timedelta, timezone

import harness
from harness import DENIED, OK, PAUSED, Flow, wait_until
from postgres_harness import PostgresFlow

DATES = 40
SPEC = """
target: fact
range: 2024-01-03..2024-02-07
wrong: every other is nought
correct: as in the source
changes: v
recompute: {recompute}
{more}
"""
RIGHT = ("SELECT count(*) FROM fact f JOIN source s ON s.id = f.id WHERE f.v <> s.v AND f.day BETWEEN '2024-01-03' AND '2024-02-07'")


def live(**how):
    return "production: {schedule: none, live: " + json.dumps(how) + "}"


class Postgres(PostgresFlow):
    scene = f"""
CREATE TABLE source(day date NOT NULL, id int PRIMARY KEY, v int NOT NULL);
INSERT INTO source SELECT date '2024-01-01' + i / 10, i, i + 1 FROM generate_series(0, {DATES * 10 - 1}) i;
CREATE TABLE fact(day date NOT NULL, id int PRIMARY KEY, v int);
INSERT INTO fact(day, id, v) SELECT day, id, CASE WHEN id % 2 = 0 THEN 0 ELSE v END FROM source;
CREATE TABLE job_run(number int PRIMARY KEY, started timestamptz NOT NULL, ended timestamptz);
CREATE FUNCTION pace() RETURNS float8 LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('test.pace', true), '')::float8 $$;
"""
    # A batch takes as long as it says: once, whatever the number of its dates. Or, from now on, as `slow` says.
    recompute = "SELECT day, id, v FROM source, (SELECT pg_sleep(coalesce(pace(), {}))) AS slowly WHERE day >= :from AND day < :to"
    budget = "budget: {duty: 100 %, batch: 1s, lock: 200ms, lock_tries: 3, swap_lock: 5s}"

    def write(self, production, seconds=0.2, more="", budget=None):
        return self.spec(SPEC.format(recompute=self.recompute.format(seconds), more=more), production=production,
                         budget=budget or self.budget)

    def slow(self, seconds):
        self.cluster.run(f"ALTER DATABASE {self.name} SET test.pace = '{seconds}'")

    def job(self, application="nightly_load"):
        """A session of the job's; it runs as long as it is open."""
        session = self.cluster.connect(self.name)
        session.autocommit = True
        session.cursor().execute("SELECT set_config('application_name', %s, false)", [application])
        return session

    def batches(self):
        return self.value(f"SELECT count(*) FROM {self.ledger('batch')}")

    def computing(self):
        return self.value("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%slowly%' AND "
                          "application_name LIKE 'tidegate%' AND datname = current_database()")

    def events(self):
        return [what for (what,) in self.rows(f"SELECT what FROM {self.ledger('event')} ORDER BY number")]

    def output(self, process, code=OK, timeout=90):
        out, err = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, code, out + err)
        return out + err

    def test_a_job_that_starts_early_stops_the_batch(self):
        spec = self.write(live(application="nightly_load"))
        self.plan(spec)
        self.slow(100)
        run = self.start("run", spec)
        wait_until(lambda: self.computing() == 1, what="a batch")
        session = self.job()
        wait_until(lambda: self.computing() == 0, what="the batch's end, which it would not have come to by itself")
        before = self.batches()
        session.cursor().execute("INSERT INTO job_run VALUES (1, clock_timestamp(), NULL)")
        wait_until(lambda: "waits" in self.events(), what="an event that says so")
        self.assertIn("production runs since", self.tidegate("status", spec).out)
        self.assertIn("nightly_load", self.tidegate("status", spec, "--json").out)
        session.cursor().execute("UPDATE job_run SET ended = clock_timestamp()")
        self.assertEqual((self.computing(), self.batches()), (0, before))
        session.close()
        wait_until(lambda: self.computing() == 1, what="the batch again")
        stop_at_once(run)
        said = self.output(run, PAUSED)
        self.assertIn("nightly_load", said)
        self.assertIn("stopped a batch", self.events())
        self.assertIn("carried on", self.events())

    def test_several_workers_stop_too(self):
        # The first batch is written before there are several at a time.
        self.recompute = self.recompute.replace("pace()", "CASE WHEN :from > date '2024-01-03' THEN pace() END")
        spec = self.write(live(application="nightly_load"),
                          budget="budget: {duty: 100 %, batch: 1s, lock: 200ms, lock_tries: 3, workers: 3}")
        self.plan(spec)
        self.slow(100)
        run = self.start("run", spec)
        wait_until(lambda: self.computing() >= 2, seconds=60, what="batches at a time")
        session = self.job()
        wait_until(lambda: self.computing() == 0, what="their end")
        before = self.batches()
        wait_until(lambda: "waits" in self.events(), what="an event that says so")
        self.assertEqual((self.computing(), self.batches()), (0, before))
        session.close()
        wait_until(lambda: self.computing() >= 1, what="the batches again")
        stop_at_once(run)
        self.output(run, PAUSED)

    def test_a_job_that_hangs(self):
        before = self.rows("SELECT * FROM fact ORDER BY id")
        spec = self.write(live(application="nightly_load"))
        self.plan(spec)
        session = self.job()
        denied = self.tidegate("run", spec, "--no-wait", code=DENIED)
        self.assertIn("nightly_load", denied.err)
        run = self.start("run", spec)
        wait_until(lambda: self.events().count("waits") == 2, what="an event that says so")
        run.send_signal(signal.SIGINT)
        self.assertIn("nightly_load", self.output(run, PAUSED))
        self.assertEqual(self.batches() if self.state() != "planned" else 0, 0)
        self.assertEqual(self.rows("SELECT * FROM fact ORDER BY id"), before)
        session.close()
        self.tidegate("run", spec)
        session = self.job()
        self.assertIn("nightly_load", self.tidegate("swap", spec, "--yes", code=DENIED).err)
        self.assertEqual(self.rows("SELECT * FROM fact ORDER BY id"), before)
        session.close()
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.value(RIGHT), 0)
        session = self.job()
        self.assertIn("nightly_load", self.tidegate("rollback", spec, code=DENIED).err)
        self.assertEqual(self.value(RIGHT), 0)
        session.close()

    def test_a_backfill_waits_with_its_swap_too(self):
        spec = self.write(live(running="SELECT count(*) FROM job_run WHERE ended IS NULL"))
        self.plan(spec)
        # The job runs from the moment in which everything is sealed.
        self.sql("""CREATE FUNCTION begin_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                      IF NEW.state = 'ready' AND OLD.state <> 'ready' THEN INSERT INTO job_run VALUES (1, now(), NULL); END IF; RETURN NEW; END $$;
                    CREATE TRIGGER ready AFTER UPDATE ON tidegate.backfill FOR EACH ROW EXECUTE FUNCTION begin_job()""")
        backfill = self.start("backfill", spec, "--yes")
        wait_until(lambda: self.rows("SELECT 1 FROM job_run") and self.state() == "ready", seconds=60, what="the seal")
        self.assertGreater(self.value(RIGHT), 0)
        self.assertEqual(self.state(), "ready")
        self.sql("UPDATE job_run SET ended = now()")
        self.assertIn("the swap waits: production is running now", self.output(backfill, OK))
        self.assertEqual((self.state(), self.value(RIGHT)), ("swapped", 0))

    def test_a_job_that_starts_while_the_swap_waits_for_its_lock(self):
        before = self.rows("SELECT * FROM fact ORDER BY id")
        spec = self.write(live(application="nightly_load"),
                          budget="budget: {duty: 100 %, batch: 5s, lock: 1s, lock_tries: 20, swap_lock: 10s}")
        self.built(spec)
        writer = self.connect(autocommit=False)
        writer.cursor().execute("LOCK TABLE fact IN ROW EXCLUSIVE MODE")
        swap = self.start("swap", spec, "--yes")
        self.wait_for_lock("fact")
        session = self.job()
        writer.rollback()
        said = self.output(swap, DENIED)
        self.assertIn("given up before anything was written", said)
        self.assertEqual(self.rows("SELECT * FROM fact ORDER BY id"), before)
        self.assertEqual(self.state(), "ready")
        session.close()
        self.tidegate("swap", spec, "--yes")
        writer.close()

    def test_a_backfill_pauses_for_each_run(self):
        """A job every 20 seconds, on schedule; the overlap is judged by what job and ledger wrote down."""
        anchor = datetime.now(timezone.utc) + timedelta(seconds=12)
        schedule = f"every 20s from {anchor:%Y-%m-%dT%H:%M:%SZ}"
        fires = [anchor.replace(microsecond=0) + timedelta(seconds=20 * i) for i in range(20)]
        production = ("production: {schedule: \"%s\", dialect: interval, zone: UTC, p95: 4s, guard: 2s, live: "
                      "{application: nightly_load, running: \"SELECT count(*) FROM job_run WHERE ended IS NULL\"}}" % schedule)
        spec = self.write(production, seconds=1, budget="budget: {duty: 100 %, batch: 900ms, lock: 100ms, lock_tries: 3}")
        self.plan(spec, code=None)
        self.precise()
        stop, thread = run_job(self, fires)
        try:
            said = self.output(self.start("run", spec), timeout=240)
        finally:
            stop.set()
            thread.join()
        self.assertEqual(self.state(), "ready")
        self.assertIn("production", said)
        self.assertGreaterEqual(assert_no_overlap(self), 2)

    def precise(self):
        """The ledger counts in seconds; the database keeps when a batch was stored to the microsecond."""
        self.sql("ALTER TABLE tidegate.batch ADD stored timestamptz DEFAULT clock_timestamp()")

    def plan(self, spec, code=OK):
        if code is None:
            result = self.run_tidegate("plan", spec)
            self.assertIn(result.code, (OK, DENIED), repr(result))
            return result
        return super().plan(spec, code)

    # ---- Airflow, as a scripted server answers

    def airflow(self, version=3):
        server = Scripted(version)
        self.addCleanup(server.close)
        return server

    def by_airflow(self, server, **more):
        return live(airflow={"url": server.url, "dag": "nightly_load", "user": "tide", "password_env": "AIRFLOW_PASSWORD", **more},
                    timeout="4s")

    def goes_down_and_comes_back(self, version):
        server = self.airflow(version)
        spec = self.write(self.by_airflow(server), seconds=2)
        self.tidegate("plan", spec, env=SECRET)
        run = self.start("run", spec, env={**os.environ, **SECRET})
        wait_until(lambda: self.computing() == 1, what="a batch")
        server.close()
        wait_until(lambda: "waits" in self.events(), what="an event that says so")
        before = self.batches()
        with open(f"/proc/{run.pid}/cmdline", encoding="utf-8") as line:
            words = line.read()
        status = self.tidegate("status", spec, "--json").out
        self.assertIn("cannot be told", status)
        self.assertEqual((self.computing(), self.batches()), (0, before))
        server.open()
        said = self.output(run, OK, timeout=120)
        self.assertEqual(self.state(), "ready")
        self.assertTrue(server.trusted)
        everything = said + status + self.dump() + words
        for secret in (SECRET["AIRFLOW_PASSWORD"], server.token):
            self.assertNotIn(secret, everything)

    def test_airflow_3_goes_down_and_comes_back(self):
        self.goes_down_and_comes_back(3)

    def test_airflow_2_goes_down_and_comes_back(self):
        self.goes_down_and_comes_back(2)

    def dump(self):
        return subprocess.run(["pg_dump", "-d", self.database, "-n", "tidegate"], check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_what_airflow_says(self):
        for version in (3, 2):
            server = self.airflow(version)
            spec = self.write(self.by_airflow(server))
            cases = [
                ("idle", {}, OK, None),
                ("running", {"active": "running"}, DENIED, "is running since 2026-11-30T02:00:00+00:00"),
                ("queued", {"active": "queued"}, DENIED, "is queued"),
                ("retrying", {"active": "running", "retries": 1}, DENIED, "waits for its next try"),
                ("a backfill that is not marked as completed", {"backfill": {}}, {3: DENIED, 2: OK}[version], {3: "backfill 7 of nightly_load", 2: None}[version]),
                ("a backfill that is", {"backfill": {"completed_at": "2026-11-30T02:01:00Z"}}, OK, None),
                ("a paused backfill", {"backfill": {"is_paused": True}}, OK, None),
                ("late", {"due": "2024-01-01T02:00:00Z"}, DENIED, "was due at 2024-01-01T02:00:00+00:00"),
                ("paused, so never late", {"due": "2024-01-01T02:00:00Z", "paused": True}, OK, None),
                ("failed, which is over", {"last": "failed"}, OK, None),
                ("no such DAG", {"dag": "other"}, DENIED, "does not know /dags/nightly_load"),
                ("wrong password", {"password": "another"}, DENIED, "status 401"),
                ("redirected", {"redirect": True}, DENIED, "not followed"),
                ("forbidden", {"status": 403}, DENIED, "status 403"),
                ("a fault of its own", {"status": 500}, DENIED, "status 500"),
                ("rubbish", {"body": b"<html>welcome</html>"}, DENIED, "cannot be told"),
                ("cut off", {"body": b'{"dag_runs": [], "total'}, DENIED, "cannot be told"),
                ("no list", {"body": b'{"dag_runs": null}'}, DENIED, "no dag_runs in its answer"),
                ("a list of something else", {"body": b'{"dag_runs": [7]}'}, DENIED, "is not over"),
                ("too slow", {"delay": 7}, DENIED, "does not answer"),
            ]
            for name, answers, code, words in cases:
                with self.subTest(version=version, case=name):
                    server.say(**answers)
                    result = self.run_tidegate("plan", spec, env=SECRET)
                    self.assertEqual(result.code, code, repr(result))
                    self.assertIn(words or "", result.out + result.err)
                    self.assertNotIn(SECRET["AIRFLOW_PASSWORD"], result.out + result.err)
            self.assertEqual(server.elsewhere, [], "a redirection is not followed")

    def test_a_secret_that_is_not_there(self):
        spec = self.write(self.by_airflow(self.airflow()))
        self.assertIn("AIRFLOW_PASSWORD", self.plan(spec, code=DENIED).out)

    # ---- an external command

    def test_a_command_that_does_not_want_to_end(self):
        spec = self.spec("""
            target: fact
            range: 2024-01-03..2024-01-04
            wrong: every other is nought
            correct: as in the source
            changes: v
            recompute: {command: [sh, -c, "trap '' TERM; touch started; exec sleep 60; : {shadow} {from} {to}"], timeout: 2m}
            """, production=live(application="nightly_load"))
        self.plan(spec)
        run = self.start("run", spec)
        wait_until(lambda: (self.folder / "started").exists(), what="the command")
        began = time.monotonic()
        session = self.job()
        wait_until(lambda: "waits" in self.events(), what="the command's end")
        self.assertLess(time.monotonic() - began, 20)
        run.send_signal(signal.SIGINT)
        said = self.output(run, PAUSED)
        self.assertIn("the command is being ended, which takes at most 5 s", said)
        session.close()


def stop_at_once(process):
    """Two signals; two of a kind could arrive as one."""
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)


SECRET = {"AIRFLOW_PASSWORD": "hush-hush-4711"}


class Scripted:
    """Answers what Airflow was seen to answer (shared notes); `say` changes it."""

    def __init__(self, version):
        self.version, self.token, self.elsewhere, self.trusted, self.server = version, "token-0815", [], False, None
        self.port = 0
        self.say()
        self.open()

    def say(self, **answers):
        self.answers = answers

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def open(self):
        scripted = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def reply(self, status, body, headers=()):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                good = asked == {"username": "tide", "password": scripted.answers.get("password", SECRET["AIRFLOW_PASSWORD"])}
                if self.path != "/auth/token" or scripted.version != 3:
                    self.reply(404, {"detail": "Not Found"})
                elif good:
                    self.reply(201, {"access_token": scripted.token})
                else:
                    self.reply(401, {"detail": "Invalid credentials"})

            def do_GET(self):
                scripted.answer(self)

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # whoever asked has not waited for the answer

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def authorised(self, request):
        given = request.headers.get("Authorization")
        password = self.answers.get("password", SECRET["AIRFLOW_PASSWORD"])
        basic = "Basic " + base64.b64encode(f"tide:{password}".encode()).decode()
        return given == (f"Bearer {self.token}" if self.version == 3 else basic)

    def answer(self, request):
        root, says = f"/api/v{self.version - 1}", self.answers
        path, _, query = request.path.partition("?")
        if path.startswith("/elsewhere"):
            self.elsewhere.append(request.path)
        time.sleep(says.get("delay", 0))
        if path == f"{root}/version":
            return request.reply(200, {"version": f"{self.version}.0.0", "git_version": None})
        if not path.startswith(root):
            return request.reply(404, {"detail": "Not Found"})
        if says.get("redirect"):
            return request.reply(302, b"", [("Location", self.url + "/elsewhere")])
        if not self.authorised(request):
            return request.reply(401, {"detail": "Not authenticated"})
        self.trusted = True
        if "body" in says or "status" in says:
            return request.reply(says.get("status", 200), says.get("body", {"detail": "no"}))
        dag = f"{root}/dags/{says.get('dag', 'nightly_load')}"
        run = {"dag_run_id": "scheduled__2026-11-30T02:00:00+00:00", "run_type": "scheduled", "start_date": "2026-11-30T02:00:00.123456Z"}
        if path == dag:
            due = {3: "next_dagrun_run_after", 2: "next_dagrun_create_after"}[self.version]
            return request.reply(200, {"dag_id": "nightly_load", "is_paused": says.get("paused", False), due: says.get("due", "2099-01-01T02:00:00Z")})
        if path == f"{dag}/dagRuns" and "state=running" in query:
            active = [dict(run, state=says["active"])] if "active" in says else []
            return request.reply(200, {"dag_runs": active, "total_entries": len(active)})
        if path == f"{dag}/dagRuns":
            return request.reply(200, {"dag_runs": [dict(run, state="success", run_type="manual"), dict(run, state=says.get("last", "success"))][self.version == 3:], "total_entries": 2})
        if path == f"{dag}/dagRuns/scheduled__2026-11-30T02%3A00%3A00%2B00%3A00/taskInstances":
            return request.reply(200, {"task_instances": [{"task_id": "load"}] * says.get("retries", 0), "total_entries": 0})
        if path == f"{root}/backfills" and self.version == 3 and "backfill" in says:
            return request.reply(200, {"backfills": [dict({"id": 7, "is_paused": False, "created_at": "2026-11-30T02:00:00Z", "completed_at": None}, **says["backfill"])], "total_entries": 1})
        return request.reply(404, {"detail": "Not Found"})


def run_job(test, fires, seconds=3):
    """The job in a thread: at each fire it writes a start row, works and writes the end."""
    stop = threading.Event()

    def work():
        number = 0
        for fire in fires:
            if stop.wait(max(0, (fire - datetime.now(timezone.utc)).total_seconds())):
                return
            number += 1
            session = test.job()
            cursor = session.cursor()
            cursor.execute("INSERT INTO job_run VALUES (%s, clock_timestamp(), NULL)", [number])
            cursor.execute("UPDATE fact SET v = v WHERE id = 1")
            stop.wait(seconds)
            cursor.execute("UPDATE job_run SET ended = clock_timestamp() WHERE number = %s", [number])
            session.close()

    thread = threading.Thread(target=work)
    thread.start()
    return stop, thread


def assert_no_overlap(test):
    """Job runs between the first batch and the last. `stored` (see precise) is when a batch was."""
    overlap, between = test.rows("""
        WITH batch AS (SELECT stored - seconds * interval '1 s' AS began, stored AS ended FROM tidegate.batch),
             span AS (SELECT min(began) AS first, max(ended) AS last FROM batch)
        SELECT (SELECT coalesce(sum(extract(epoch FROM least(b.ended, j.ended) - greatest(b.began, j.started))), 0)::float8
                  FROM batch b JOIN job_run j ON b.began < j.ended AND j.started < b.ended),
               (SELECT count(*) FROM job_run, span WHERE started > first AND ended < last)""")[0]
    test.assertEqual(overlap, 0, "seconds in which a batch and the job worked")
    return between


class Sqlite(Flow):
    """The same with a lock file."""

    def setUp(self):
        super().setUp()
        self.sql("""
            CREATE TABLE source(day TEXT NOT NULL, id INTEGER PRIMARY KEY, v INTEGER NOT NULL);
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
              INSERT INTO source SELECT date('2024-01-01', '+' || (i / 10) || ' days'), i, i + 1 FROM n;
            CREATE TABLE fact(day TEXT NOT NULL, id INTEGER PRIMARY KEY, v INTEGER);
            INSERT INTO fact SELECT day, id, CASE WHEN id % 2 = 0 THEN 0 ELSE v END FROM source;
            """)
        self.lock = self.folder / "nightly.lock"
        # Counting so far takes some seconds, once a batch.
        self.recompute = ("SELECT day, id, v FROM source WHERE day >= :from AND day < :to AND (WITH RECURSIVE n(i) AS "
                          "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT count(*) FROM n) > 0")

    def write(self, steps):
        return self.spec(SPEC.format(recompute=self.recompute.format(steps), more=""),
                         production=live(lock_file=str(self.lock), timeout="2s"),
                         budget="budget: {duty: 100 %, batch: 500ms, lock: 200ms, lock_tries: 3}")

    def events(self):
        return [what for (what,) in self.rows("SELECT what FROM tidegate_event ORDER BY rowid")]

    def test_a_locked_file_stops_the_batch_and_the_rest_follows(self):
        spec = self.write(20_000_000)
        self.plan(spec)
        run = self.start("run", spec)
        wait_until(lambda: self.state() == "building", what="the first batch")
        with open(self.lock, "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            wait_until(lambda: "waits" in self.events(), what="an event that says so")
            before = self.rows("SELECT count(*) FROM tidegate_batch")
            with self.connect() as job:
                job.execute("UPDATE fact SET v = v WHERE id = 1")  # nobody stands in its way
            self.assertEqual(self.rows("SELECT count(*) FROM tidegate_batch"), before)
        wait_until(lambda: "carried on" in self.events(), what="an event that says so")
        stop_at_once(run)
        out, err = run.communicate(timeout=60)
        self.assertIn(run.returncode, (PAUSED, OK), out + err)
        self.assertIn("is locked", out + err)

    def test_a_run_within_a_backfill(self):
        spec = self.write(20_000)
        self.plan(spec)
        with open(self.lock, "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.assertIn("is locked", self.tidegate("run", spec, "--no-wait", code=DENIED).err)
            run = self.start("run", spec)
            wait_until(lambda: "waits" in self.events(), what="an event that says so")
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, OK, out + err)
        with open(self.lock, "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.assertIn("is locked", self.tidegate("swap", spec, "--yes", code=DENIED).err)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.value(RIGHT), 0)

    def test_doctor_says_what_can_be_asked(self):
        (self.folder / "tidegate.yaml").write_text(f"""
database: db.sqlite
{live(lock_file=str(self.lock))}
jobs:
  silent: {{writes: [fact], schedule: "0 2 * * *", zone: UTC, p95: 5m}}
  hourly: {{writes: [fact], schedule: "0 * * * *", zone: UTC, p95: 5m, live: {{running: SELECT count(*) FROM gone}}}}
""", encoding="utf-8")
        facts = {fact["what"]: fact for fact in self.run_tidegate("doctor", "--json").json["looked_at"]}
        self.assertEqual(facts["job production"]["health"], "ok")
        self.assertEqual(facts["job silent"]["health"], "note")
        self.assertEqual(facts["job hourly"]["health"], "bad")
        self.assertIn("gone", facts["job hourly"]["how"])
        self.lock.write_text(str(os.getpid()), encoding="utf-8")
        facts = {fact["what"]: fact for fact in self.run_tidegate("doctor", "--json").json["looked_at"]}
        self.assertIn(f"process {os.getpid()}", facts["job production"]["how"])


if __name__ == "__main__":
    harness.main()
