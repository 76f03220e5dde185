"""The gate in a real Airflow 3 and a real Airflow 2: integrations/airflow, installed from its wheel, asks the real binary.
What is denied has left no trace in Airflow's metadata, and whoever asked has read why."""

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from airflow_harness import PATIENCE, AirflowFlow, script
from browser import Browser
from harness import BINARY, main, wait_until

CLOSED = "could not judge this"
DENIED = 403  # what REST answers then
# What stands in the place of the program: one that says yes, one that never answers, one that dies.
YES = """#!/bin/sh
cat >>"$(dirname "$0")/asked"; echo >>"$(dirname "$0")/asked"
echo '{"decision": "allow", "message": "", "reasons": []}'
"""
HANGS = "#!/bin/sh\nexec sleep 600\n"
CRASHES = "#!/bin/sh\nkill -SEGV $$\n"
BABBLES = "#!/bin/sh\necho yes\n"


class Gated(AirflowFlow):
    @classmethod
    def gate(cls):
        cls.place = Path(tempfile.mkdtemp(prefix="tidegate-gate-"))
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.program(BINARY)
        return "--gate", cls.place / "tidegate", cls.place

    @classmethod
    def program(cls, what):
        """Puts another program in the place of the one that Airflow asks: a path, a text, or None for none."""
        path = cls.place / "tidegate"
        path.unlink(missing_ok=True)
        if what is None:
            return
        if what.startswith("#!"):
            path.write_text(what, encoding="utf-8")
            path.chmod(0o755)
        else:
            path.symlink_to(what)

    def setUp(self):
        super().setUp()
        self.program(BINARY)
        (self.place / "asked").unlink(missing_ok=True)

    def state(self):
        """Every run and task, as the metadata have them; what is scheduled meanwhile is left out."""
        backfills = self.meta("SELECT count(*) FROM backfill") if self.major == "3" else []
        return (backfills, self.meta("SELECT dag_id, run_id, state, clear_number FROM dag_run WHERE run_type <> 'scheduled' ORDER BY 1, 2"),
                self.meta("""SELECT t.dag_id, t.run_id, t.task_id, t.state, t.try_number FROM task_instance t
                             JOIN dag_run r ON r.dag_id = t.dag_id AND r.run_id = t.run_id
                             WHERE r.run_type <> 'scheduled' ORDER BY 1, 2, 3"""))

    def airflow(self, *words, env=None):
        """Exit status, and what it said on standard error."""
        done = subprocess.run(["airflow", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**self.environment(), **(env or {})}, timeout=PATIENCE * 2, text=True, check=False)
        return done.returncode, done.stderr, done.stdout

    def several(self, calls):
        """Words and environment of each. They take four seconds each, so two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda call: self.airflow(*call[0].split(), env=call[1]), calls))

    def check_commands(self, commands):
        before = self.state()
        for line, (status, err, out) in zip(commands, self.several([(line, {}) for line in commands])):
            with self.subTest(line):
                self.assertEqual(status, 1, err + out)
                self.assertIn("tidegate: DENIED", err)
                self.assertIn("Tidegate stopped this before it ran", err)
        self.assertEqual(self.state(), before)

    def check_closed_commands(self, line, reading):
        """… but what only reads goes on without the program."""
        before = self.state()
        calls = []
        for number, program in enumerate((CRASHES, BABBLES, HANGS)):
            path = self.folder / f"tidegate{number}"
            path.write_text(program, encoding="utf-8")
            path.chmod(0o755)
            calls.append((line, {"AIRFLOW__TIDEGATE__BINARY": str(path)}))
        nowhere = {"AIRFLOW__TIDEGATE__BINARY": str(self.folder / "nowhere")}
        *closed, read = self.several([*calls, (line, nowhere), (reading, nowhere)])
        for words, (status, err, out) in zip(("signal 11", "is not understood", "did not answer within 5 s", "is not there"), closed):
            with self.subTest(words):
                self.assertEqual(status, 1, err + out)
                self.assertIn(CLOSED, err)
                self.assertIn(words, err)
        self.assertEqual(read[0], 0, read)
        self.assertEqual(self.state(), before)

    def environment(self):
        """That of a person who types airflow."""
        path = f"{self.home.parent / f'venv-{self.major}' / 'bin'}:{os.environ['PATH']}"
        return {**os.environ, "AIRFLOW_HOME": str(self.home), "PYTHONPATH": "", "PATH": path, "NO_PROXY": "127.0.0.1",
                "no_proxy": "127.0.0.1"}

    def package(self, *words):
        return subprocess.run(["tidegate-airflow", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, env=self.environment(), timeout=PATIENCE * 2, check=False)


class Gate3(Gated):
    major = "3"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.token = cls.rest("POST", "/auth/token", {"username": "admin", "password": cls.password})["access_token"]

    def curl(self, method, path, body=None, token=True):
        """Status and answer. The token goes by standard input, as it should."""
        lines = [f'url = "{self.url}/api/v2{path}"', f'request = "{method}"', 'header = "Content-Type: application/json"',
                 'write-out = "\\n%{http_code}"', "silent", 'noproxy = "*"']
        if token:
            lines.append(f'header = "Authorization: Bearer {self.token}"')
        if body is not None:
            file = self.folder / "body"
            file.write_text(json.dumps(body), encoding="utf-8")
            lines.append(f'data-binary = "@{file}"')
        out = subprocess.run(["curl", "--config", "-"], input="\n".join(lines), stdout=subprocess.PIPE, text=True, timeout=PATIENCE,
                             check=True).stdout
        text, _, status = out.rpartition("\n")
        return int(status), json.loads(text) if text.strip() else None

    def run_by_hand(self, date):
        """Let through, and run to its end: the id of the run. What another test left in the queue has ended, too."""
        self.program(YES)
        self.pause("by_hand", False)
        status, answer = self.curl("POST", "/dags/by_hand/dagRuns", {"logical_date": f"{date}T00:00:00Z"})
        self.assertIn(status, (200, 201), answer)
        self.wait_run("by_hand", answer["dag_run_id"], "success")
        self.settle("by_hand")
        self.program(BINARY)
        return answer["dag_run_id"]

    def paths(self, run, other):
        """Paths to judge, in an order in which each does something when it is let through."""
        one = f"/dags/by_hand/dagRuns/{run}"
        return [
            ("POST", "/backfills", {"dag_id": "berlin", "from_date": "2026-01-01T00:00:00Z", "to_date": "2026-01-05T00:00:00Z"}),
            ("POST", "/dags/by_hand/clearTaskInstances", {"dry_run": False, "dag_run_id": run, "only_failed": False}),
            ("POST", "/dags/by_hand/clearDagRuns", {"dry_run": False, "dag_runs": [{"dag_id": "by_hand", "dag_run_id": run}]}),
            ("POST", "/dags/by_hand/clearPartitions", {"dry_run": False, "run_id": run, "clear_task_instances": True}),
            ("POST", f"{one}/clear", {"dry_run": False}),
            ("POST", "/dags/by_hand/dagRuns", {"logical_date": "2026-02-05T00:00:00Z"}),
            ("PATCH", one, {"state": "failed"}),
            ("PATCH", "/dags/by_hand/dagRuns", {"actions": [{"action": "update", "entities": [
                {"dag_run_id": run, "state": "success"}]}]}),
            ("PATCH", f"{one}/taskInstances/load", {"new_state": "failed"}),
            ("PATCH", f"{one}/taskInstances", {"actions": [{"action": "update", "entities": [
                {"task_id": "load", "new_state": "success"}]}]}),
            ("DELETE", f"{one}/taskInstances/load", None),
            ("DELETE", one, None),
            ("DELETE", f"/dags/by_hand/dagRuns/{other}", None),
        ]

    def test_every_path_is_denied_with_its_reasons(self):
        """… and each does what it is there for when it is let through, with the body that was sent."""
        run, other = self.run_by_hand("2026-01-05"), self.run_by_hand("2026-01-06")
        self.pause("by_hand")
        before = self.state()
        paths = self.paths(run, other)
        for method, path, body in [*paths, ("POST", "/assets/1/materialize", {})]:
            with self.subTest(f"{method} {path}"):
                status, answer = self.curl(method, path, body)
                self.assertEqual(status, DENIED, answer)
                self.assertIn("DENIED", answer["detail"])
                self.assertIn("Tidegate stopped this before it ran", answer["detail"])
        self.assertEqual(self.state(), before)
        self.program(YES)
        for method, path, body in paths:
            with self.subTest(f"let through: {method} {path}"):
                state = self.state()
                status, answer = self.curl(method, path, body)
                self.assertIn(status, (200, 201, 204), answer)
                if not path.endswith("clearPartitions"):
                    self.assertNotEqual(self.state(), state)

    def test_what_is_proven_is_let_through_once(self):
        """The real program says yes: the DAG is mapped, its table's rows are kept, and there is time."""
        self.pipeline()
        body = {"dag_id": "utc", "from_date": "2024-01-10T00:00:00Z", "to_date": "2024-01-12T23:00:00Z"}
        status, answer = self.curl("POST", "/backfills", body | {"to_date": "2024-01-13T00:00:00Z"})
        self.assertEqual((status, "no plan" in answer["detail"]), (DENIED, True), answer)
        status, answer = self.curl("POST", "/backfills", body)
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.meta("SELECT count(*) FROM dag_run WHERE dag_id = 'utc' AND run_type = 'backfill'"
                                   " AND logical_date < '2025-01-01'"), [(3,)])
        self.assertEqual(self.curl("PUT", f"/backfills/{answer['id']}/cancel")[0], 200)
        status, answer = self.curl("POST", "/backfills", body)
        self.assertEqual((status, "tidegate check" in answer["detail"]), (DENIED, True), answer)
        log = subprocess.run([BINARY, "gate", "log", "--json"], cwd=self.place, stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
        self.assertEqual([(line["verdict"], line["place"], line["who"]) for line in json.loads(log.stdout)["verdicts"]][:3],
                         [("deny", "airflow", "admin"), ("allow", "airflow", "admin"), ("deny", "airflow", "admin")])

    def pipeline(self):
        """What the DAG `utc` writes, and a snapshot of three of its dates."""
        for name in ("tidegate.yaml", "spec.yaml", "db.sqlite"):
            self.addCleanup((self.place / name).unlink, missing_ok=True)
        with sqlite3.connect(self.place / "db.sqlite") as db:
            db.executescript("""PRAGMA journal_mode = WAL;
              CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, net INTEGER, PRIMARY KEY (day, id));
              INSERT INTO sales VALUES ('2024-01-10', 1, 1), ('2024-01-11', 1, 1), ('2024-01-12', 1, 1);""")
        db.close()
        (self.place / "tidegate.yaml").write_text(
            "database: db.sqlite\njobs:\n  nightly: {writes: [sales], names: [utc], schedule: none, per_date: 10s}\n", encoding="utf-8")
        (self.place / "spec.yaml").write_text(
            "target: sales\nrange: 2024-01-10..2024-01-12\nwrong: w\ncorrect: c\nchanges: net\nchecks: {rows: [net > 0]}\n"
            "recompute: SELECT day, id, net FROM sales WHERE day >= :from AND day < :to\nproduction: none\n", encoding="utf-8")
        subprocess.run([BINARY, "snapshot", "spec.yaml"], cwd=self.place, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE)

    def test_who_asks_is_told(self):
        self.program(YES)
        self.curl("PATCH", "/dags/nowhere/dagRuns/r", {"state": "queued"})
        self.curl("PATCH", "/dags/nowhere/dagRuns/r", {"state": "queued"}, token=False)
        asked = [json.loads(line) for line in (self.place / "asked").read_text(encoding="utf-8").splitlines()]
        self.assertEqual([question["user"] for question in asked], ["admin", "-"])

    def test_what_changes_no_data_passes(self):
        run = self.run_by_hand("2026-01-07")
        one = f"/dags/by_hand/dagRuns/{run}"
        before = self.state()
        # Judged, and let through.
        self.assertEqual(self.curl("PATCH", one, {"note": "looked at"})[0], 200)
        self.assertEqual(self.curl("POST", "/dags/by_hand/clearTaskInstances", {"dry_run": True, "dag_run_id": run})[0], 200)
        # Not even judged.
        self.program(None)
        passed = [("GET", "/backfills?dag_id=berlin", None), ("PATCH", "/dags/by_hand", {"is_paused": True}),
                  ("POST", "/backfills/dry_run", {"dag_id": "berlin", "from_date": "2026-01-01T00:00:00Z",
                                                  "to_date": "2026-01-05T00:00:00Z"}),
                  ("POST", "/dags/~/dagRuns/list", {}), ("POST", "/dags/~/dagRuns/~/taskInstances/list", {}),
                  ("PATCH", f"{one}/taskInstances/load/dry_run", {"new_state": "failed"})]
        for method, path, body in passed:
            status, answer = self.curl(method, path, body)
            self.assertEqual(status, 200, (path, answer))
        self.assertEqual(self.state(), before)

    def test_closed(self):
        before = self.state()
        body = {"dag_id": "berlin", "from_date": "2026-01-01T00:00:00Z", "to_date": "2026-01-05T00:00:00Z"}
        for program, words in ((None, "is not there"), (HANGS, "did not answer within 5 s"), (CRASHES, "signal 11"),
                               (BABBLES, "is not understood")):
            with self.subTest(words):
                self.program(program)
                status, answer = self.curl("POST", "/backfills", body)
                self.assertEqual(status, DENIED, answer)
                self.assertIn(CLOSED, answer["detail"])
                self.assertIn(words, answer["detail"])
                self.assertEqual(self.curl("GET", "/dags/berlin")[0], 200)
        status, answer = self.curl("POST", "/backfills", body | {"dag_run_conf": {"x": "y" * 1100000}})
        self.assertEqual((status, "1024 KiB" in answer["detail"]), (DENIED, True))
        self.assertEqual(self.state(), before)

    def test_commands(self):
        self.check_commands(["backfill create --dag-id berlin --from-date 2026-01-01 --to-date 2026-01-05",
                             "dags trigger by_hand --logical-date 2026-01-05", "dags clear by_hand --partition-date-s 2026-01-01 --partition-date-e 2026-01-31 -y",
                             "tasks clear by_hand -s 2026-01-01 -e 2026-01-31 -y", "dags test by_hand 2026-01-05",
                             "assets materialize --name x",
                             "partitions clear -d by_hand -s 2026-01-01 -e 2026-01-31 --clear-task-instances"])

    def test_closed_commands(self):
        self.check_closed_commands("backfill create --dag-id berlin --from-date 2026-01-01 --to-date 2026-01-05",
                                   "dags list-runs berlin")

    def test_a_command_that_is_let_through(self):
        self.program(YES)
        status, err, out = self.airflow("dags", "trigger", "by_hand", "--logical-date", "2026-03-05")
        self.assertEqual(status, 0, err + out)
        self.assertEqual(self.meta("SELECT count(*) FROM dag_run WHERE dag_id = 'by_hand' AND logical_date = '2026-03-05'"), [(1,)])
        asked = json.loads((self.place / "asked").read_text(encoding="utf-8").splitlines()[-1])
        self.assertEqual(asked["argv"], ["airflow", "dags", "trigger", "by_hand", "--logical-date", "2026-03-05"])

    def test_airflowctl(self):
        env = {**self.environment(), "AIRFLOW_HOME": str(self.folder), "AIRFLOW_CLI_TOKEN": self.token}

        def ctl(*words):
            return subprocess.run(["airflowctl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=env, text=True, timeout=PATIENCE, check=False)

        self.assertEqual(ctl("auth", "login", "--api-url", self.url, "--skip-keyring").returncode, 0)
        before = self.state()
        for words in (("backfill", "create", "--dag-id", "berlin", "--from-date", "2026-01-01", "--to-date", "2026-01-05"),
                      ("dags", "trigger", "by_hand", "--logical-date", "2026-01-05T00:00:00Z")):
            done = ctl(*words)
            said = " ".join(done.stdout.split())
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn("DENIED", said)
            self.assertIn("Tidegate stopped this before", said)
        self.assertEqual(self.state(), before)

    def test_the_page_shows_why(self):
        """In the dialog that starts a backfill, and in the notice where a run is marked."""
        self.program(YES)
        run = self.trigger("utc")  # it waits: its DAG is paused
        self.program(BINARY)
        before = self.state()
        with Browser(height=1400) as page:
            self.sign_in(page)
            page.open(f"{self.url}/dags/utc/runs/{quote(run)}")
            page.bring("[data-testid=mark-run-as-failed]", "[data-testid=mark-run-as-button]")
            page.click("[data-testid=mark-run-as-failed]")
            page.click("[data-testid=mark-run-as-confirm]")
            page.wait_text("Tidegate stopped this before it ran")
            page.open(f"{self.url}/dags/gated")
            page.bring("[role=dialog] label", "button", "Trigger Dag")
            page.click("[role=dialog] label", "Backfill")
            self.choose(page, 0, "2026/01/01")
            self.choose(page, 1, "2026/01/06")
            page.wait_text("runs will be triggered")  # its trial is let through
            # Airflow's page would unpause the DAG although its backfill is denied.
            page.click("[role=dialog] label", "Unpause gated")
            page.click("button", "Run Backfill")
            page.wait_text("Tidegate stopped this before it ran")
            self.assertIn("DENIED", page.text())
            self.assertIn("2026-01-01 to 2026-01-06", page.text())
            page.picture(os.environ.get("TIDEGATE_PICTURE") or self.folder / "denied.png")
            self.assertEqual(self.state(), before)
            # The same button, once it is let through.
            self.program(YES)
            page.click("button", "Run Backfill")
            wait_until(lambda: self.meta("SELECT count(*) FROM backfill WHERE dag_id = 'gated'") == [(1,)], PATIENCE, "the backfill")

    def sign_in(self, page):
        page.open(self.url)
        page.type("input[name=username]", "admin")
        page.type("input[name=password]", self.password)
        page.click("button", "Sign in")
        page.wait("location.pathname === '/' && document.body?.innerText.includes('Dags')", "the first page")

    def choose(self, page, number, day):
        """One of the two dates: a person opens its field, types, and clicks beside it."""
        field = f"document.querySelectorAll('[data-testid=datetime-input]')[{number}]"
        date, clock = "input[placeholder='YYYY/MM/DD']", "input[placeholder='HH:mm']"

        def opened():
            """The page draws its dialog anew whenever it has counted the runs, and may close the field by that."""
            page.ask(f"void ({page.find(date)} || {field}?.click())")

        page.type(date, day, opened)
        page.type(clock, "00:00", opened)
        page.click("[role=dialog] h2")
        page.wait(f"!{page.find(clock)} && !{field}.innerText.includes('Select')", "the date")

    def test_a_dag_that_asks_for_its_scheduled_runs_alone(self):
        """Airflow itself refuses, also whoever goes round the gate."""
        self.program(YES)
        for method, path, body in (("POST", "/backfills", {"dag_id": "scheduled_only", "from_date": "2026-01-01T00:00:00Z",
                                                           "to_date": "2026-01-05T00:00:00Z"}),
                                   ("POST", "/dags/scheduled_only/dagRuns", {"logical_date": "2026-01-05T00:00:00Z"})):
            status, answer = self.curl(method, path, body)
            self.assertGreaterEqual(status, 400, answer)
            self.assertIn("scheduled_only", json.dumps(answer))
        self.assertEqual(self.meta("SELECT count(*) FROM dag_run WHERE dag_id = 'scheduled_only'"), [(0,)])
        allowed, = self.meta("SELECT allowed_run_types FROM dag WHERE dag_id = 'scheduled_only'")[0]
        self.assertEqual(allowed, ["asset_triggered", "scheduled"])
        self.assertEqual(self.meta("SELECT count(*) FROM dag WHERE allowed_run_types::text <> 'null'"), [(1,)])

    def test_z_the_canary_and_the_way_back(self):
        done = self.package("test")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count(": blocked"), 3, done.stdout)
        self.program(YES)
        done = self.package("test")
        self.assertEqual((done.returncode, done.stdout.count("NOT BLOCKED")), (1, 3), done.stdout)
        settings = self.home / "config" / "airflow_local_settings.py"
        self.assertTrue(settings.exists())
        self.assertEqual(self.package("remove").returncode, 0)
        self.assertFalse(settings.exists())
        self.program(None)
        status, err, out = self.airflow("dags", "trigger", "by_hand", "--logical-date", "2026-04-05")
        self.assertEqual(status, 0, err + out)


class Gate2(Gated):
    """Airflow 2: the command line alone."""

    major = "2"
    BACKFILL = "dags backfill -s 2026-01-01 -e 2026-01-02 berlin"

    def test_commands(self):
        self.check_commands([self.BACKFILL, "dags backfill --start 2026-01-01 --reset -y berlin",
                             "dags trigger by_hand -e 2026-01-05", "tasks clear -y -s 2026-01-01 -e 2026-01-31 by_hand",
                             "tasks run by_hand load 2026-01-05", "dags test by_hand 2026-01-05"])

    def test_closed(self):
        self.check_closed_commands(self.BACKFILL, "dags list-runs -d berlin")

    def test_production_runs_on_without_the_program(self):
        """What the scheduler forks off itself is no business of the gate."""
        self.program(None)
        self.pause("gated", False)
        wait_until(lambda: "success" in self.runs("gated").values(), PATIENCE, "the run made up for has ended")

    def test_a_backfill_that_is_let_through(self):
        """Its executor starts `airflow tasks run`, which is not judged again: Airflow itself has queued the task."""
        self.program(YES)
        status, err, out = self.airflow(*self.BACKFILL.split(), env={"AIRFLOW__CORE__EXECUTE_TASKS_NEW_PYTHON_INTERPRETER": "True"})
        self.assertEqual(status, 0, err + out)
        self.assertEqual(self.meta("SELECT state FROM dag_run WHERE dag_id = 'berlin' AND run_type = 'backfill'"), [("success",)])
        asked = [json.loads(line) for line in (self.place / "asked").read_text(encoding="utf-8").splitlines() if line]
        self.assertEqual([question["argv"][:3] for question in asked], [["airflow", "dags", "backfill"]])

    def test_z_the_canary(self):
        done = self.package("test")
        self.assertEqual((done.returncode, done.stdout.count(": blocked")), (0, 2), done.stdout)


if __name__ == "__main__":
    main()
