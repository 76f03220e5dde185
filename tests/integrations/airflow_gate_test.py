"""The Python package for Airflow without Airflow: the middleware by plain ASGI calls, the guard of the command line, the
block in airflow_local_settings.py. The program behind it is a script that speaks `tidegate hook run airflow`."""

import asyncio
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from unittest import mock

from tidegate_airflow import command, gate, local, requests, settings_file

# Denies what names the DAG "no", asks for "ask", and keeps what it was asked.
JUDGE = """
import json, os, sys, time
assert sys.argv[1:] == ["hook", "run", "airflow"], sys.argv
text = sys.stdin.read()
question = json.loads(text)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked"), "a") as file:
    file.write(json.dumps(question | {"cwd": os.getcwd()}) + "\\n")
about = json.dumps([question.get("path"), question.get("body"), question.get("argv")])
decision = "deny" if "no" in about else "ask" if "perhaps" in about else "allow"
print(json.dumps({"decision": decision, "message": "DENY d 2024-01-01", "reasons": ["no plan", "no snapshot"]}))
"""
RUN = "/api/v2/dags/d/dagRuns/manual__2024-01-01T00:00:00+00:00"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidegate-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.gate = gate.Gate(self.program(JUDGE), timeout=20)

    def program(self, text, python=True):
        path = self.folder / f"tidegate{len(list(self.folder.iterdir()))}"
        path.write_text((f"#!{sys.executable}\n" if python else "#!/bin/sh\n") + text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def asked(self):
        try:
            return [json.loads(line) for line in (self.folder / "asked").read_text(encoding="utf-8").splitlines()]
        except FileNotFoundError:
            return []


class Answers(Case):
    """Whatever is no plain allow is closed, and says why."""

    QUESTION = {"kind": "cli", "argv": ["airflow", "x"], "user": "-"}

    def closed(self, program, *words, timeout=20):
        verdict = gate.Gate(program, timeout=timeout).judge(self.QUESTION)
        self.assertFalse(verdict.allowed)
        for word in words:
            self.assertIn(word, verdict.message)
        return verdict

    def test_the_three_decisions(self):
        self.assertEqual(self.gate.judge(self.QUESTION), gate.Verdict(True, ""))
        denied = self.gate.judge(self.QUESTION | {"argv": ["no"]})
        self.assertEqual(denied, gate.Verdict(False, "DENY d 2024-01-01\n- no plan\n- no snapshot"))
        asked = self.gate.judge(self.QUESTION | {"argv": ["perhaps"]})
        self.assertFalse(asked.allowed)
        self.assertIn("A person must decide this", asked.message)

    def test_it_runs_where_the_pipeline_lies(self):
        place = self.folder / "pipeline"
        place.mkdir()
        self.assertTrue(gate.Gate(self.gate.binary, str(place)).judge(self.QUESTION).allowed)
        self.assertEqual(self.asked()[-1]["cwd"], str(place))
        verdict = gate.Gate(self.gate.binary, str(self.folder / "gone")).judge(self.QUESTION)
        self.assertFalse(verdict.allowed)
        self.assertIn("gone", verdict.message)

    def test_missing(self):
        self.closed(str(self.folder / "nowhere"), "is not there", "airflow.cfg")
        self.closed("tidegate-that-is-nowhere", "is not there")

    def test_not_a_program(self):
        broken = self.folder / "broken"
        broken.write_bytes(b"\x7fELF nothing")
        broken.chmod(0o755)
        self.closed(str(broken), "could not be run")

    def test_hanging(self):
        start = time.monotonic()
        self.closed(self.program("exec sleep 60\n", python=False), "did not answer within 0.3 s", timeout=0.3)
        # … and with a child that holds its output open, and is ended as well.
        self.closed(self.program('sleep 60 & echo $! >"$(dirname "$0")/left"; wait\n', python=False), "did not answer", timeout=1)
        self.assertLess(time.monotonic() - start, 20)
        self.wait_gone(int((self.folder / "left").read_text()))

    def wait_gone(self, pid):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if ") Z" in Path(f"/proc/{pid}/stat").read_text():
                    return
            except OSError:
                return
            time.sleep(0.01)
        self.fail("the child goes on")

    def test_a_child_left_behind_is_not_waited_for(self):
        program = self.program("""sleep 60 & echo "$!" >"$(dirname "$0")/left"; echo '{"decision": "allow"}'\n""", python=False)
        start = time.monotonic()
        self.assertTrue(gate.Gate(program, timeout=30).judge(self.QUESTION).allowed)
        self.assertLess(time.monotonic() - start, 20)
        os.kill(int((self.folder / "left").read_text()), 9)

    def test_crashing(self):
        self.closed(self.program("kill -SEGV $$\n", python=False), "signal 11")
        self.closed(self.program("echo 'no tidegate.yaml' >&2; exit 2\n", python=False), "status 2", "no tidegate.yaml")
        self.closed(self.program("""echo '{"decision": "allow"}'; exit 1\n""", python=False), "status 1")

    def test_an_answer_that_is_none(self):
        for text in ("", "yes", "[]", "{}", "null", '"allow"', '{"decision": true}', '{"decision": "Allow"}',
                     '{"decision": "allow"} {"decision": "allow"}', '{"decision": "allow", "message": 3}',
                     '{"decision": "allow", "reasons": "x"}', "[" * 100000):
            with self.subTest(text[:40]):
                (self.folder / "answer").write_text(text, encoding="utf-8")
                self.closed(self.program('exec cat "$(dirname "$0")/answer"\n', python=False), "is not understood")
        self.closed(self.program("""echo '{"decision": "allow"}'; printf '%2000000s' ''\n""", python=False), "is not understood")


class Paths(unittest.TestCase):
    JUDGED = """POST /api/v2/backfills
POST /api/v2/backfills/
PUT /api/v2/backfills/3/unpause
POST /api/v2/dags/d/clearTaskInstances
POST /api/v2/dags/d/clearDagRuns
POST /api/v2/dags/d/clearPartitions
POST /api/v2/dags/d/dagRuns
PATCH /api/v2/dags/d/dagRuns
POST /api/v2/dags/d/dagRuns/r/clear
PATCH /api/v2/dags/d/dagRuns/r
DELETE /api/v2/dags/d/dagRuns/r
PATCH /api/v2/dags/d/dagRuns/list
DELETE /api/v2/dags/d/dagRuns/list
PATCH /api/v2/dags/d/dagRuns/r/taskInstances
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/t
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/t/3
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/dry_run
PATCH /api/v2/dags/d/dagRuns/r/taskGroupInstances/g
DELETE /api/v2/dags/d/dagRuns/r/taskInstances/t
POST /api/v2/assets/3/materialize
POST /api/v9/dags/d/backfill_now
POST /ui/dags/d/rerun
PURGE /ui/backfills
post /api/v2/backfills"""
    PASSED = """GET /api/v2/backfills
HEAD /api/v2/dags/d/dagRuns
OPTIONS /api/v2/backfills
POST /api/v2/backfills/dry_run
PUT /api/v2/backfills/3/pause
PUT /api/v2/backfills/3/cancel
POST /api/v2/dags/d/dagRuns/list
POST /api/v2/dags/~/dagRuns/~/taskInstances/list
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/t/dry_run
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/t/3/dry_run
PATCH /api/v2/dags/d/dagRuns/r/taskGroupInstances/g/dry_run
POST /api/v2/dags/d/dagRuns/r/taskInstances/t/xcomEntries
PUT /api/v2/dags/d/dagRuns/r/taskInstances/t/state-store/a/b
PATCH /api/v2/dags/d/dagRuns/r/taskInstances/t/-1/hitlDetails
PATCH /api/v2/dags/d
POST /api/v2/dags/d/favorite
DELETE /api/v2/dags/d
POST /api/v2/variables
PATCH /api/v2/connections
PUT /api/v2/parseDagFile/x
POST /auth/token
POST /execution/task-instances/x/run
POST /pluginsv2/x"""

    def test_what_is_asked_about(self):
        for lines, wanted in ((self.JUDGED, True), (self.PASSED, False)):
            for line in lines.splitlines():
                self.assertEqual(requests.may_rewrite(*line.split(" ", 1)), wanted, line)

    def test_below_a_base_url(self):
        self.assertEqual(requests.own_path({"path": "/af/api/v2/backfills", "root_path": "/af"}), "/api/v2/backfills")
        self.assertEqual(requests.own_path({"path": "/api/v2/backfills", "root_path": "/af/"}), "/api/v2/backfills")
        self.assertEqual(requests.own_path({"path": "/af2/api", "root_path": "/af"}), "/af2/api")


class Requests(Case):
    """The middleware: what the application behind it sees, and what the client does."""

    def call(self, method, path, body=b"", headers=(), pieces=None, gone=False, given=None, user_of=None, query=b""):
        seen, sent = [], []
        messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces or [body]]
        messages[-1]["more_body"] = gone
        messages.append({"type": "http.disconnect"})

        async def application(scope, receive, send):
            taken, more = b"", True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    break
                taken += message["body"]
                more = message["more_body"]
            seen.append((scope["method"], scope["path"], taken, (await receive())["type"]))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

        async def receive():
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "root_path": "", "query_string": query,
                 "headers": [(name.encode(), value.encode()) for name, value in headers]}
        middleware = requests.Middleware(application, given or self.gate, user_of)
        asyncio.run(middleware(scope, receive, send))
        middleware.threads.shutdown()
        status = sent[0]["status"] if sent else None
        return status, json.loads(sent[1]["body"]) if status else None, seen

    def test_denied(self):
        status, answer, seen = self.call("POST", "/api/v2/backfills", b'{"dag_id": "no"}')
        self.assertEqual((status, seen), (requests.DENIED, []))
        self.assertEqual(answer, {"detail": "DENY d 2024-01-01\n- no plan\n- no snapshot"})

    def test_the_page_is_told_by_a_status_of_which_it_shows_the_reasons(self):
        for name in ("Sec-Fetch-Site", "sec-fetch-site"):
            status, answer, seen = self.call("POST", "/api/v2/backfills", b'{"dag_id": "no"}', headers=[(name, "same-origin")])
            self.assertEqual((status, seen), (requests.DENIED_PAGE, []))
            self.assertIn("no snapshot", answer["detail"])

    def test_ask_is_denied(self):
        self.assertEqual(self.call("POST", "/api/v2/backfills", b'{"dag_id": "perhaps"}')[0], requests.DENIED)

    def test_allowed_with_the_same_body(self):
        body = json.dumps({"dag_id": "d", "conf": {"x": "ü" * 3000}}).encode()
        for pieces in ([body], [body[:1], b"", body[1:2000], body[2000:]], [body, b""]):
            status, _, seen = self.call("POST", "/api/v2/backfills", pieces=pieces)
            self.assertEqual((status, seen), (200, [("POST", "/api/v2/backfills", body, "http.disconnect")]))
        self.assertEqual(json.loads(self.asked()[-1]["body"]), json.loads(body))

    def test_what_is_asked(self):
        self.call("PATCH", RUN, b'{"state":"queued"}', query=b"update_mask=state")
        self.assertEqual(self.asked()[-1] | {"cwd": ""}, {
            "kind": "request", "method": "PATCH", "path": RUN, "query": "update_mask=state", "body": '{"state": "queued"}',
            "user": "-", "cwd": ""})

    def test_a_path_is_one_path(self):
        """A run may be named with what ends a path."""
        self.call("POST", "/api/v2/dags/d/dagRuns/list?/clear", b"{}")
        self.assertEqual(self.asked()[-1]["path"], "/api/v2/dags/d/dagRuns/list%3F/clear")

    def test_the_body_is_judged_as_airflow_reads_it(self):
        """A key twice: the last counts. And JSON may be UTF-16."""
        for body in (b'{"dag_id": "d", "dag_id": "no"}', '{"dag_id": "no"}'.encode("utf-16"), b'{"dag_id": "\\u006eo"}'):
            self.assertEqual(self.call("POST", "/api/v2/backfills", body)[0], requests.DENIED, body)

    def test_what_is_no_json(self):
        for body in (b"", b"\xff\xfe\x00", b"{", b"[" * 100000, b"no"):
            self.call("POST", "/api/v2/backfills", body)
        self.assertEqual([self.asked()[0]["body"], self.asked()[-1]["body"]], ["", "no"])

    def test_too_long(self):
        status, answer, seen = self.call("POST", "/api/v2/backfills", pieces=[b" " * 1000000] * 2)
        self.assertEqual((status, seen), (requests.DENIED, []))
        self.assertIn("1024 KiB", answer["detail"])
        self.assertEqual(self.asked(), [])

    def test_a_client_that_is_gone(self):
        self.assertEqual(self.call("POST", "/api/v2/backfills", b'{"dag', gone=True), (None, None, []))
        self.assertEqual(self.asked(), [])

    def test_what_passes_starts_no_process(self):
        nowhere = gate.Gate(str(self.folder / "nowhere"))
        for method, path in (("GET", "/api/v2/backfills"), ("POST", "/api/v2/backfills/dry_run"), ("PATCH", "/api/v2/dags/d")):
            self.assertEqual(self.call(method, path, b'{"a": 1}', given=nowhere)[0], 200)
        self.assertEqual(self.call("POST", "/api/v2/backfills", given=nowhere)[0], requests.DENIED)

    def test_other_than_http(self):
        seen = []

        async def application(scope, receive, send):
            seen.append(scope["type"])

        asyncio.run(requests.Middleware(application, self.gate)({"type": "lifespan"}, None, None))
        self.assertEqual(seen, ["lifespan"])

    def test_many_at_a_time(self):
        """Two that hang do not stop a third for longer than its patience."""
        slow = gate.Gate(self.program("exec sleep 60\n", python=False), timeout=0.2)
        start = time.monotonic()
        with mock.patch.object(requests, "MAX_PROCESSES", 1):
            middleware = requests.Middleware(None, slow)
        scope = {"method": "POST", "path": "/api/v2/backfills", "headers": []}

        async def several():
            return await asyncio.gather(*(middleware.judge(scope, b"") for _ in range(12)))

        verdicts = asyncio.run(several())
        self.assertFalse(any(verdict.allowed for verdict in verdicts))
        self.assertTrue(any("too many requests" in verdict.message for verdict in verdicts))
        self.assertLess(time.monotonic() - start, 20)

    def test_the_user(self):
        async def user_of(token):
            if token != "t0ken":
                raise ValueError(token)
            return "ann"

        for headers, wanted in (([("Authorization", "Bearer t0ken")], "ann"), ([("cookie", "a=b; _token=t0ken")], "ann"),
                                ([("authorization", "bearer other")], "-"), ([("Authorization", "Basic dDprZW4=")], "-"),
                                ([("cookie", "}{\"\x01=;;")], "-"), ([], "-")):
            self.call("POST", "/api/v2/backfills", headers=headers, user_of=user_of)
            self.assertEqual(self.asked()[-1]["user"], wanted, headers)


class Commands(Case):
    def refusal(self, guard, *words, sub_command="dag_backfill", program="/venv/bin/airflow"):
        with mock.patch.object(sys, "argv", [program, *words]):
            return guard.refusal(sub_command, "ann", "d", "t")

    def test_denied_by_the_end_of_the_process(self):
        guard = command.Guard(self.gate)
        with mock.patch.object(sys, "argv", ["airflow", "dags", "backfill", "no"]), self.assertRaises(SystemExit) as ended:
            guard(sub_command="dag_backfill", user="ann", dag_id="no", anything="else")
        self.assertEqual(ended.exception.code, "tidegate: DENY d 2024-01-01\n- no plan\n- no snapshot")
        self.assertEqual(self.asked()[-1] | {"cwd": ""}, {"kind": "cli", "argv": ["airflow", "dags", "backfill", "no"],
                                                         "user": "ann", "cwd": ""})

    def test_allowed(self):
        with mock.patch.object(sys, "argv", ["airflow", "dags", "backfill", "d"]):
            self.assertIsNone(command.Guard(self.gate)(sub_command="dag_backfill", user="ann"))

    def test_reading_starts_no_process(self):
        guard = command.Guard(gate.Gate(str(self.folder / "nowhere")))
        self.assertIsNone(self.refusal(guard, "dags", "list", sub_command="dag_list_dags"))
        self.assertIn("is not there", self.refusal(guard, "dags", "backfill", "d"))
        self.assertIn("is not there", self.refusal(guard, "new", "thing", sub_command="something_new"))

    def test_as_a_module(self):
        self.refusal(command.Guard(self.gate), "x", program="/site-packages/airflow/__main__.py")
        self.refusal(command.Guard(self.gate), "x", program="own.py")
        self.assertEqual([question["argv"] for question in self.asked()], [["airflow", "x"], ["own.py", "x"]])

    def test_tasks_that_airflow_runs_itself(self):
        """Airflow 2 forks its tasks off the scheduler; a second `tasks run` by hand is judged."""
        guard = command.Guard(gate.Gate(str(self.folder / "nowhere")))
        with mock.patch.object(sys, "argv", ["airflow", "scheduler"]):
            guard(sub_command="scheduler", user="airflow")
            self.assertIsNone(guard.refusal("task_run", "airflow", "d", "t"))
            self.assertIsNotNone(guard.refusal("dag_backfill", "airflow", "d", "t"))
        self.assertIsNotNone(self.refusal(guard, "tasks", "run", "d", "t", "r", sub_command="task_run"))

    def test_tasks_that_airflow_has_queued(self):
        asked = []
        guard = command.Guard(gate.Gate(str(self.folder / "nowhere")), lambda *what: asked.append(what) or what[0] == "d")
        words = ("tasks", "run", "d", "t", "r", "--local")
        self.assertIsNone(self.refusal(guard, *words, sub_command="task_run"))
        self.assertEqual(asked, [("d", "t", ["/venv/bin/airflow", *words])])
        guard.queued = lambda *what: False
        self.assertIsNotNone(self.refusal(guard, *words, sub_command="task_run"))
        self.assertFalse(local.queued("d", "t", ["airflow", "tasks", "run", "d", "t", "r"]))


class Settings(Case):
    """airflow_local_settings.py: the block comes and goes, and what stood there stays."""

    OWN = '"""Ours."""\nimport os\n\n\ndef dag_policy(dag):\n    dag.seen = True\n\n\nSETTING = 3\n_hidden = 4\n'

    def load(self, text, given=None):
        """Runs the file as Airflow does, with a stub of the two things of Airflow that it imports."""
        self.callbacks = []
        loggers = types.ModuleType("airflow.utils.cli_action_loggers")
        loggers.register_pre_exec_callback = self.callbacks.append
        configuration = types.ModuleType("airflow.configuration")
        configuration.conf = types.SimpleNamespace(get=lambda section, name, fallback: (given or {}).get(name, fallback))
        stubs = {"airflow": types.ModuleType("airflow"), "airflow.utils": types.ModuleType("airflow.utils"),
                 "airflow.utils.cli_action_loggers": loggers, "airflow.configuration": configuration}
        module = types.ModuleType("airflow_local_settings")
        module.__file__ = "/home/airflow/config/airflow_local_settings.py"
        with mock.patch.dict(sys.modules, stubs):
            exec(compile(text, module.__file__, "exec"), module.__dict__)
        return module

    def dag(self, *tags):
        return types.SimpleNamespace(tags=set(tags), allowed_run_types=None, seen=False)

    def test_there_and_back(self):
        for text in (None, "", "X = 1\n", self.OWN, "# ü\r\nX = 1\r\n\r\n"):
            path = self.folder / "config" / "airflow_local_settings.py"
            if text is not None:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(text.encode())
                path.chmod(0o640)
            self.assertTrue(settings_file.add(path))
            once = path.read_bytes()
            self.assertFalse(settings_file.add(path))
            self.assertEqual(path.read_bytes(), once)
            self.assertTrue(once.startswith((text or "").encode()))
            self.assertTrue(settings_file.remove(path))
            self.assertFalse(settings_file.remove(path))
            if text:
                self.assertEqual((path.read_bytes(), stat.S_IMODE(path.stat().st_mode)), (text.encode(), 0o640))
                path.unlink()
            self.assertEqual(list(path.parent.iterdir()) if path.parent.exists() else [], [])

    def test_what_was_added_since_stays(self):
        path = self.folder / "s.py"
        path.write_text(self.OWN, encoding="utf-8")
        settings_file.add(path)
        path.write_text(path.read_text(encoding="utf-8") + "LATER = 1\n", encoding="utf-8")
        settings_file.remove(path)
        self.assertEqual(path.read_text(encoding="utf-8"), self.OWN + "LATER = 1\n")
        self.assertEqual((self.folder / "s.py.before-tidegate").read_text(encoding="utf-8"), self.OWN)

    def test_an_older_block_is_replaced(self):
        path = self.folder / "s.py"
        path.write_text(f"X = 1\n\n{settings_file.BEGIN}\nold = 1\n{settings_file.END}\n", encoding="utf-8")
        self.assertTrue(settings_file.add(path))
        self.assertEqual(path.read_text(encoding="utf-8"), "X = 1\n\n" + settings_file.BLOCK)

    def test_what_is_not_understood_is_left_alone(self):
        path = self.folder / "s.py"
        for text in (f"X = 1\n{settings_file.BEGIN}\n", settings_file.BLOCK * 2, "X = 1", "def f(:\n"):
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(settings_file.Refused):
                settings_file.add(path)
            self.assertEqual(path.read_text(encoding="utf-8"), text)

    def test_a_link_stays_a_link(self):
        real, link = self.folder / "real.py", self.folder / "link.py"
        real.write_text("X = 1\n", encoding="utf-8")
        link.symlink_to(real)
        settings_file.add(link)
        self.assertTrue(link.is_symlink())
        self.assertIn(settings_file.BEGIN, real.read_text(encoding="utf-8"))

    def test_airflow_takes_what_it_took_before(self):
        module = self.load(self.OWN + "\n" + settings_file.BLOCK)
        self.assertEqual(set(module.__all__), {"os", "dag_policy", "SETTING"})
        self.assertIsInstance(self.callbacks[0], command.Guard)
        tagged, plain = self.dag(local.TAG), self.dag("other")
        module.dag_policy(tagged)
        module.dag_policy(plain)
        self.assertEqual(tagged.allowed_run_types, {"scheduled", "asset_triggered"})
        self.assertIsNone(plain.allowed_run_types)
        self.assertTrue(tagged.seen and plain.seen, "the policy that stood there is kept")
        alone = self.load(settings_file.BLOCK)
        self.assertEqual(alone.__all__, ["dag_policy"])
        listed = self.load("__all__ = ['A']\nA = B = 1\n\n" + settings_file.BLOCK)
        self.assertEqual(listed.__all__, ["A", "dag_policy"])

    def test_the_settings_of_airflow(self):
        for given, wanted in (({}, gate.Gate()),
                              ({"binary": "/usr/bin/tidegate", "folder": "/srv", "timeout": "2.5"}, gate.Gate("/usr/bin/tidegate", "/srv", 2.5))):
            self.load(settings_file.BLOCK, given)
            self.assertEqual(self.callbacks[0].gate, wanted)
        for timeout in ("soon", "-1", "0", "nan", "1e9"):
            self.load(settings_file.BLOCK, {"timeout": timeout})
            verdict = self.callbacks[0].gate.judge({})
            self.assertFalse(verdict.allowed)
            self.assertIn("[tidegate] of airflow.cfg is not understood", verdict.message)

    def test_without_the_package(self):
        """Production goes on; what starts something by hand is refused."""
        with mock.patch.dict(sys.modules, {"tidegate_airflow.local": None}):
            module = self.load(self.OWN + "\n" + settings_file.BLOCK)
        refuse, = self.callbacks
        self.assertEqual(set(module.__all__), {"os", "dag_policy", "SETTING"})
        with mock.patch.object(sys, "argv", ["airflow", "dags", "backfill"]), self.assertRaises(SystemExit) as ended:
            refuse(sub_command="dag_backfill")
        self.assertIn("cannot be imported", ended.exception.code)
        with mock.patch.object(sys, "argv", ["airflow", "scheduler"]):
            refuse(sub_command="scheduler")
            refuse(sub_command="task_run")


if __name__ == "__main__":
    unittest.main()
