"""What the tests on a real Airflow share: script/airflow starts and stops it, its REST interface starts runs, and its
metadata database says what really was."""

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import psycopg2

from harness import OK, Flow, cron_in, wait_until

SCRIPT = Path(__file__).resolve().parents[2] / "script" / "airflow"
# One core has taken 30 s for a run of one empty task while others were compiling.
PATIENCE = 180


def script(*words):
    return subprocess.run([SCRIPT, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True,
                          timeout=900).stdout.strip()


class AirflowFlow(Flow):
    """One Airflow for all tests of a class; `major` says which, and `gate()` what stands in front of it."""

    major = None

    @classmethod
    def gate(cls):
        """What `script/airflow start` is told of a gate: binary and folder."""
        return ()

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(script, "stop", cls.major)
        cls.url = script("start", cls.major, *cls.gate())
        lines = dict(line.removeprefix("export ").split("=", 1) for line in script("env", cls.major).splitlines())
        cls.database = lines["TIDEGATE_AIRFLOW_DATABASE"].strip("'")
        cls.home = Path(lines["AIRFLOW_HOME"])
        cls.password = Path(lines["TIDEGATE_AIRFLOW_PASSWORD_FILE"]).read_text(encoding="utf-8").strip()
        os.environ["AIRFLOW_PASSWORD"] = cls.password
        cls.gates = cls.home / "gates"
        cls.gates.mkdir(exist_ok=True)
        wait_until(lambda: cls.meta("SELECT count(*) FROM dag")[0][0] >= 9, PATIENCE, "the DAGs are read")

    # -- the metadata ------------------------------------------------------------------------------------------------

    @classmethod
    def meta(cls, sql, values=()):
        place = cls.database.split("host=")[1].split("&")[0]
        connection = psycopg2.connect(host=place, user="postgres", dbname="airflow")
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(sql, values)
                return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def runs(self, dag):
        """State by run, from the metadata."""
        return dict(self.meta("SELECT run_id, state FROM dag_run WHERE dag_id = %s", (dag,)))

    def wait_run(self, dag, run, *states):
        wait_until(lambda: self.runs(dag).get(run) in states, PATIENCE, f"{run} of {dag} is {' or '.join(states)}")

    def wait_task(self, dag, run, *states):
        sql = "SELECT state FROM task_instance WHERE dag_id = %s AND run_id = %s"
        wait_until(lambda: self.meta(sql, (dag, run))[:1] and self.meta(sql, (dag, run))[0][0] in states, PATIENCE,
                   f"the task of {run} is {' or '.join(states)}")

    # -- REST --------------------------------------------------------------------------------------------------------

    @classmethod
    def rest(cls, method, path, body=None):
        version, auth = "v2", None
        if cls.major == "2":
            version, auth = "v1", "Basic " + base64.b64encode(f"admin:{cls.password}".encode()).decode()
        elif path != "/auth/token":
            token = cls.rest("POST", "/auth/token", {"username": "admin", "password": cls.password})["access_token"]
            auth = f"Bearer {token}"
        url = cls.url + (path if path == "/auth/token" else f"/api/{version}{path}")
        request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json",
                                                  **({"Authorization": auth} if auth else {})})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def pause(self, dag, paused=True):
        self.rest("PATCH", f"/dags/{dag}", {"is_paused": paused})

    def trigger(self, dag):
        """Starts a run by hand; its id."""
        body = {"logical_date": None} if self.major == "3" else {}
        return self.rest("POST", f"/dags/{dag}/dagRuns", body)["dag_run_id"]

    def settle(self, dag):
        """No run of it is going on or waiting."""
        wait_until(lambda: not {"queued", "running"} & set(self.runs(dag).values()), PATIENCE, f"{dag} is at rest")

    # -- gates -------------------------------------------------------------------------------------------------------

    def close_gate(self, name, fails=False):
        (self.gates / name).touch()
        failing = self.gates / f"{name}.fails"
        failing.touch() if fails else failing.unlink(missing_ok=True)
        self.addCleanup(self.open_gate, name)

    def open_gate(self, name):
        (self.gates / name).unlink(missing_ok=True)

    # -- Tidegate ----------------------------------------------------------------------------------------------------

    def scene(self):
        """A table and a correction of it."""
        self.sql("""
          CREATE TABLE daily(day TEXT NOT NULL, shop INTEGER NOT NULL, total INTEGER, PRIMARY KEY(day, shop));
          CREATE TABLE orders(day TEXT NOT NULL, shop INTEGER NOT NULL, amount INTEGER);
          INSERT INTO orders VALUES ('2026-01-05', 1, 10), ('2026-01-05', 2, 20), ('2026-01-06', 1, 30);
          INSERT INTO daily VALUES ('2026-01-05', 1, 1), ('2026-01-05', 2, 20), ('2026-01-06', 1, 30);""")

    def correction(self, dag, guard="15m"):
        """A spec whose production job is a DAG; by its schedule the window is open for hours."""
        return self.spec("""
          target: daily
          range: 2026-01-05..2026-01-06
          wrong: one total
          correct: the sum of the orders
          changes: [total]
          recompute: |
            SELECT day, shop, sum(amount) AS total FROM orders WHERE day >= :from AND day < :to GROUP BY 1, 2
        """, production=f"""production:
  schedule: "{cron_in(12 * 60)}"
  zone: UTC
  p95: 1m
  guard: {guard}
  live: {{airflow: {{url: "{self.url}", dag: {dag}, user: admin, password_env: AIRFLOW_PASSWORD}}}}""")

    def denied(self, spec, *words):
        """The plan is denied, and its reasons hold these words."""
        result = self.run_tidegate("plan", spec)
        self.assertEqual(result.code, 3, repr(result))
        for word in words:
            self.assertIn(word, result.out)
        return result

    def allowed(self, spec):
        return self.tidegate("plan", spec, code=OK)
