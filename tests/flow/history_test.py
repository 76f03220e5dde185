"""What `init --jobs` proposes from the sources of this machine, and from pg_cron. Airflow itself is asked in
tests/airflow; here its recorded answers show what takes weeks to come about."""

import json
import os
import re
import subprocess
import threading
import unittest
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from harness import COMMAND, DATABASE, NOT_FOUND, OK, USAGE, Flow, main, wait_until

SCENE = """
  CREATE TABLE daily(day TEXT NOT NULL, shop INTEGER NOT NULL, total INTEGER, PRIMARY KEY(day, shop));
  CREATE TABLE orders(day TEXT NOT NULL, shop INTEGER NOT NULL, amount INTEGER);
  INSERT INTO orders VALUES ('2026-01-05', 1, 10), ('2026-01-06', 1, 30);
  INSERT INTO daily VALUES ('2026-01-05', 1, 1), ('2026-01-06', 1, 30);"""
SPEC = """
  target: daily
  range: 2026-01-05..2026-01-06
  wrong: one total
  correct: the sum of the orders
  changes: [total]
  recompute: |
    SELECT day, shop, sum(amount) AS total FROM orders WHERE day >= :from AND day < :to GROUP BY 1, 2
"""


class History(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)

    def jobs(self, source, *words, env=None):
        return self.tidegate("init", self.named, "--json", "--jobs", source, *words, env=env).json["jobs"]

    @property
    def written(self):
        return (self.folder / "tidegate.yaml").read_text(encoding="utf-8")

    def edit(self, *pairs):
        text = self.written
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / "tidegate.yaml").write_text(text, encoding="utf-8")

    def program(self, name, text):
        """A program of that name in front of PATH; the environment for it."""
        (self.folder / "bin").mkdir(exist_ok=True)
        path = self.folder / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}


class Machine(History):
    def table(self, days, minutes):
        """A CSV of one run a night, 02:00 in Berlin."""
        at = datetime.now(timezone.utc).replace(hour=1, minute=0, second=0, microsecond=0)
        lines = ["job,scheduled,started,ended"]
        for day in range(days, 0, -1):
            due = at - timedelta(days=day)
            lines.append(f"load,{due.isoformat()},{(due + timedelta(seconds=30)).isoformat()},"
                         f"{(due + timedelta(minutes=minutes(day))).isoformat()}")
        (self.folder / "runs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def test_a_proposal_becomes_a_plan_when_a_person_confirms_it(self):
        """From a table of runs to a window that is closed around the job; until then every plan is refused."""
        self.table(40, lambda day: 20 if day > 1 else 90)
        self.tidegate("init", "db.sqlite", "--jobs", "csv=runs.csv")
        spec = self.spec(SPEC, production="production: none")
        self.assertIn("neither what it writes nor what it reads", self.tidegate("plan", spec, code=USAGE).err)
        self.assertRegex(self.written, r"(?m)^    p95: 20m$")
        self.assertRegex(self.written, r"(?m)^    runs: 40$")
        self.assertRegex(self.written, r"(?m)^    # the longest run took 1h 30m, ")
        self.assertRegex(self.written, r'(?m)^# idle: \{hours: ".*", zone: UTC\}$')
        self.edit(("# writes: []", "writes: [daily]"), ('# schedule: "0 2 * * *"', 'schedule: "0 2 * * *"'),
                  ("# dialect: vixie", "dialect: vixie"), ("# zone: Europe/Berlin", "zone: Europe/Berlin"))
        plan = self.run_tidegate("plan", spec)  # allowed or not, by the time of the day
        self.assertRegex(plan.out, r"load \(writes it\): 0 2 \* \* \* \(vixie, Berlin\), p95 20m on 40 runs, guard 15m, "
                                   r"start up to 30 s late; read today from csv .*/runs\.csv job load\n")

    def test_what_is_wrong_in_a_table_has_its_place(self):
        self.table(3, lambda day: 20)
        with (self.folder / "runs.csv").open("a", encoding="utf-8") as file:
            file.write("load,2026-11-01T02:00:00Z,yesterday,2026-11-02\n")
        fault = self.tidegate("init", "db.sqlite", "--jobs", "csv=runs.csv", code=USAGE)
        self.assertRegex(fault.err, r"runs\.csv:5:27: .*started is no time: 'yesterday'")
        self.assertFalse((self.folder / "tidegate.yaml").exists())
        self.tidegate("init", "db.sqlite", "--jobs", "csv=none.csv", code=NOT_FOUND)

    def test_a_file_that_is_there_stays_and_the_proposal_is_printed(self):
        self.table(30, lambda day: 20)
        (self.folder / "tidegate.yaml").write_text("owner: me\n", encoding="utf-8")
        shown = self.tidegate("init", "db.sqlite", "--jobs", "csv=runs.csv")
        self.assertEqual(self.written, "owner: me\n")
        self.assertIn("    p95: 20m\n    runs: 30\n", shown.out)

    def test_the_crontabs_of_this_machine(self):
        """What `crontab -l` prints, beside /etc: only a program of ours can say what it says here."""
        env = self.program("crontab", """#!/bin/sh
[ "$1" = -l ] || exit 9
cat <<'END'
CRON_TZ=Europe/Berlin
RANDOM_DELAY=10
30 2 * * * /opt/load.sh
@reboot /opt/listen
END
""")
        jobs = {job["job"]: job for job in self.jobs("crontab", env=env)}
        self.assertEqual((jobs["load"]["schedule"], jobs["load"]["dialect"], jobs["load"]["zone"], jobs["load"]["jitter"]),
                         ("30 2 * * *", "vixie", "Europe/Berlin", 600))
        self.assertIsNone(jobs["listen"]["schedule"])
        self.assertIn("@reboot", jobs["listen"]["refusal"])
        self.assertEqual(jobs["load"]["from"], "crontab command /opt/load.sh")
        for text, status, code in (("no crontab for me", 1, OK), ("must be suid", 1, COMMAND)):
            env = self.program("crontab", f"#!/bin/sh\necho '{text}' >&2\nexit {status}\n")
            (self.folder / "tidegate.yaml").unlink(missing_ok=True)
            self.tidegate("init", "db.sqlite", "--jobs", "crontab", env=env, code=code)

    def test_the_timers_of_this_machine(self):
        """systemctl as systemd 252 prints it; where no systemd runs its own answer is the fault."""
        env = self.program("systemctl", """#!/bin/sh
[ "$1 $2 $3" = "show --all *.timer" ] || exit 9
cat <<'END'
Unit=load.service
TimersCalendar={ OnCalendar=*-*-* 02:00:00 Europe/Berlin ; next_elapse=Tue 2026-12-01 02:00:00 CET }
OnClockChange=no
OnTimezoneChange=no
AccuracyUSec=1min
RandomizedDelayUSec=30min
Persistent=yes
Id=nightly.timer

Unit=clean.service
TimersMonotonic={ OnBootUSec=15min ; next_elapse=15min }
OnClockChange=no
OnTimezoneChange=no
AccuracyUSec=1min
RandomizedDelayUSec=0
Persistent=no
Id=clean.timer
END
""")
        jobs = {job["job"]: job for job in self.jobs("systemd", env=env)}
        self.assertEqual((jobs["nightly"]["schedule"], jobs["nightly"]["zone"], jobs["nightly"]["jitter"]),
                         ("*-*-* 02:00:00 Europe/Berlin", "Europe/Berlin", 1860))
        self.assertIn("OnBootSec=15min", jobs["clean"]["refusal"])
        self.assertIn('live: {systemd: "load.service"}', self.written)
        running = subprocess.run(["systemctl", "show", "--property=Version"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
        (self.folder / "tidegate.yaml").unlink()
        real = self.run_tidegate("init", "db.sqlite", "--jobs", "systemd")
        self.assertEqual(real.code, OK if running else COMMAND, repr(real))
        self.assertTrue(running or "systemd=FOLDER" in real.err, real.err)

    def test_a_command_that_is_no_utf8(self):
        (self.folder / "etl.crontab").write_bytes(b'0 2 * * * echo "\xe9\\n" \x01 # x\n')
        self.jobs("crontab=etl.crontab")
        self.assertIn('    # runs: echo "\ufffd\\n" ? # x\n', self.written)
        fault = self.tidegate("plan", self.spec(SPEC, production="production: none"), code=USAGE)
        self.assertIn("neither what it writes nor what it reads", fault.err)

    def test_several_sources_at_once(self):
        self.table(30, lambda day: 20)
        (self.folder / "units").mkdir()
        (self.folder / "units" / "load.timer").write_text("[Timer]\nOnCalendar=daily\n", encoding="utf-8")
        jobs = self.jobs("csv=runs.csv,systemd=units")
        self.assertEqual([job["job"] for job in jobs], ["load", "load"])
        self.assertIn("\n  load_2:\n", self.written)
        self.tidegate("init", "db.sqlite", "--jobs", "csv=runs.csv,sysvinit", code=NOT_FOUND)  # a file with a comma
        self.tidegate("init", "db.sqlite", "--jobs", "sysvinit", code=USAGE)
        self.tidegate("init", "db.sqlite", "--jobs", "pg_cron", code=USAGE)


# Answers of Airflow 3.3.2, recorded on a live install and cut down to the keys that are read; times are filled in.
DETAILS_3 = {"dag_id": "berlin", "is_paused": False, "timetable_summary": "0 2 * * *", "timetable_description": "At 02:00",
             "timetable_periodic": True, "start_date": "2023-12-31T23:00:00Z", "timezone": "UTC"}
RUN_3 = {"dag_id": "berlin", "run_type": "scheduled", "state": "success", "triggered_by": "timetable", "conf": {}}


class Recorded(BaseHTTPRequestHandler):
    """An Airflow 3 with one DAG whose runs are those of the server's `runs`, newest first."""

    def do_GET(self):
        url = urlparse(self.path)
        query = parse_qs(url.query)
        if url.path == "/api/v2/version":
            return self.answer(200, {"version": "3.3.2", "git_version": None})
        if self.headers.get("Authorization") != "Bearer opaque":
            return self.answer(401, {"detail": "Invalid JWT token"})
        if url.path == "/api/v2/dags/berlin/details":
            return self.answer(200, self.server.details)
        if url.path == "/api/v2/dags/berlin/dagRuns":
            first = int(query["offset"][0])
            page = self.server.runs[first:first + min(int(query["limit"][0]), 100)]
            return self.answer(200, {"dag_runs": page, "total_entries": len(self.server.runs)})
        return self.answer(404, {"detail": "The Dag with ID: `x` was not found"})

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class RecordedAirflow(History):
    def setUp(self):
        super().setUp()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Recorded)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def history(self, due, minutes=10):
        """The runs that were due at these times; the first is the newest."""
        def text(at):
            return at.strftime("%Y-%m-%dT%H:%M:%S.123456Z")
        self.server.runs = [RUN_3 | {"dag_run_id": f"scheduled__{at.isoformat()}", "run_after": text(at),
                                     "start_date": text(at + timedelta(seconds=2)),
                                     "end_date": text(at + timedelta(minutes=minutes))} for at in due]
        coming = due[0] + timedelta(days=1)
        self.server.details = DETAILS_3 | {"next_dagrun_run_after": text(coming),
                                           "next_dagrun_data_interval_start": text(coming),
                                           "next_dagrun_data_interval_end": text(coming)}

    def job(self, *words):
        (self.folder / "tidegate.yaml").unlink(missing_ok=True)
        job, = self.jobs(f"airflow={self.url}", "--job", "berlin", "--token-env", "TOKEN", *words, env={"TOKEN": "opaque"})
        return job

    def nights(self, hour, n):
        at = datetime.now(timezone.utc).replace(hour=hour, minute=0, second=0, microsecond=0)
        return [at - timedelta(days=day) for day in range(1, n + 1)]

    def test_more_runs_than_one_page(self):
        self.history(self.nights(2, 250))
        job = self.job("--weeks", "60")
        self.assertEqual((job["runs"], job["zone"], job["p95"]), (250, "UTC", 601))

    def test_a_zone_that_runs_contradict_is_left_to_a_person(self):
        """02:00 of Berlin in winter: no run of '0 2 * * *' by UTC."""
        self.history(self.nights(1, 30))
        job = self.job()
        self.assertIsNone(job["zone"])
        self.assertRegex(self.written, r"(?m)^    # confirm zone: .*says UTC, which is not true")
        self.assertRegex(self.written, r"(?m)^    zone: confirm$")

    def test_one_run_is_enough_to_contradict(self):
        """London: from November on its clocks are those of UTC, and the runs of October tell."""
        due = self.nights(2, 30)
        self.history(due[:-1] + [due[-1] - timedelta(hours=1)])
        self.assertIsNone(self.job()["zone"])

    def test_runs_made_up_for_after_an_outage(self):
        self.history(self.nights(2, 30))
        up = datetime.now(timezone.utc).replace(hour=2, minute=30, second=0, microsecond=0) - timedelta(days=1)
        for run in self.server.runs[1:4]:
            run["start_date"], run["end_date"] = up.isoformat(), (up + timedelta(minutes=9)).isoformat()
        job = self.job()
        self.assertEqual((job["runs"], job["late"], job["p95"]), (27, 3, 601))

    def test_secrets_stand_nowhere(self):
        self.history(self.nights(2, 30))
        shown = self.tidegate("init", "db.sqlite", "--jobs", f"airflow={self.url}", "--job", "berlin", "--token-env", "TOKEN",
                              env={"TOKEN": "opaque"})
        self.assertNotIn("opaque", shown.out + shown.err + self.written)
        self.assertIn('token_env: "TOKEN"', self.written)
        wrong = self.tidegate("init", "db.sqlite", "--jobs", f"airflow={self.url}", "--token-env", "TOKEN",
                              env={"TOKEN": "wrong-secret"}, code=USAGE)
        self.assertNotIn("wrong-secret", wrong.out + wrong.err)

    def test_nobody_answers(self):
        self.server.shutdown()
        self.server.server_close()
        self.tidegate("init", "db.sqlite", "--jobs", f"airflow={self.url}", code=DATABASE)
        self.assertFalse((self.folder / "tidegate.yaml").exists())


class PgCron(unittest.TestCase):
    """The real pg_cron of Debian: a job that it starts each minute."""

    def test_jobs_and_runs_of_pg_cron(self):
        import postgres_harness

        cluster = postgres_harness.Cluster("shared_preload_libraries=pg_cron", "cron.use_background_workers=on",
                                           "max_worker_processes=20")
        flow = Flow()
        flow.setUp()
        self.addCleanup(flow.tearDown)
        connection = cluster.connect()
        cursor = connection.cursor()
        without = flow.tidegate("init", cluster.url("template1"), "--jobs", "pg_cron", code=NOT_FOUND)
        self.assertIn("cron.database_name", without.err)
        cursor.execute("CREATE EXTENSION pg_cron")
        for name, schedule, command in (("minutely", "* * * * *", "SELECT pg_sleep(2)"), ("nightly", "0 2 * * *", "VACUUM"),
                                        ("off", "15 3 * * 1", "SELECT 1")):
            cursor.execute("SELECT cron.schedule(%s, %s, %s)", (name, schedule, command))
        cursor.execute("UPDATE cron.job SET active = false WHERE jobname = 'off'")

        def ended():
            cursor.execute("SELECT count(*) FROM cron.job_run_details WHERE end_time IS NOT NULL AND status = 'succeeded'")
            return cursor.fetchone()[0] >= 1

        wait_until(ended, 150, "a run of the minutely job has ended")
        cursor.execute("UPDATE cron.job SET active = false WHERE jobname = 'minutely'")
        # Runs of the last nights, as pg_cron itself would have kept them: 10 to 29 minutes, started 3 s late.
        cursor.execute("""
          INSERT INTO cron.job_run_details(jobid, runid, database, username, command, status, start_time, end_time)
          SELECT 2, 1000 + n, 'postgres', 'postgres', 'VACUUM', CASE n WHEN 7 THEN 'failed' ELSE 'succeeded' END,
                 date_trunc('day', now()) - n * interval '1 day' + interval '2 hours 3 seconds',
                 date_trunc('day', now()) - n * interval '1 day' + interval '2 hours' + (9 + n) * interval '1 minute'
          FROM generate_series(1, 20) n""")
        cursor.execute("SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM end_time - "
                       "date_trunc('minute', start_time))) FROM cron.job_run_details WHERE jobid = 1")
        truth = float(cursor.fetchone()[0])
        jobs = {job["job"]: job for job in flow.tidegate("init", cluster.url(), "--json", "--jobs", "pg_cron").json["jobs"]}
        self.assertEqual(sorted(jobs), ["minutely", "nightly", "off"])
        self.assertGreaterEqual(jobs["minutely"]["p95"], truth)
        self.assertLessEqual(jobs["minutely"]["p95"], truth + 1)
        self.assertEqual((jobs["minutely"]["schedule"], jobs["minutely"]["dialect"], jobs["minutely"]["zone"]),
                         ("* * * * *", "vixie", "UTC"))
        # The 19th of all 20 took 28 minutes; that of the 19 which went well took 29, and a failure makes nothing shorter.
        self.assertEqual((jobs["nightly"]["runs"], jobs["nightly"]["p95"], jobs["nightly"]["jitter"]), (20, 29 * 60, 3))
        self.assertEqual((jobs["off"]["runs"], jobs["off"]["p95"]), (0, None))
        self.assertIn("schedule", jobs["off"]["confirm"])
        # From another database, and of a role that may see none of them.
        other = flow.tidegate("init", "db.sqlite", "--json", "--jobs", f"pg_cron={cluster.url()}").json["jobs"]
        self.assertEqual(len(other), 3)
        self.assertTrue(re.fullmatch(r"pg_cron postgresql://.* job nightly", other[1]["from"]), other[1]["from"])
        connection.close()


if __name__ == "__main__":
    main()
