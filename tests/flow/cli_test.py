"""The command line as a person or a script meets it: exit statuses, JSON, questions, pipes, signals."""

import os
import pty
import select
import signal
import subprocess
import time

import harness
from backfills import DOUBLES, NUMBERS
from harness import BINARY, NOT_FOUND, OK, PAUSED, STATE, USAGE, Flow


class CommandLine(Flow):
    def setUp(self):
        super().setUp()
        self.sql(NUMBERS)
        self.file = self.spec(DOUBLES)

    def on_terminal(self, *args, answer=None, env=None):
        """Runs the binary on a terminal of its own: (exit status, what it showed)."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ.update({"TERM": "xterm", **(env or {})})
            os.execv(BINARY, [BINARY, *map(str, args)])
        shown, end = b"", time.monotonic() + 60
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            shown += piece
            if answer is not None and b"[y/N]" in shown:
                os.write(terminal, answer.encode() + b"\n")
                answer = None
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown.decode()

    def test_help_version_and_orientation(self):
        self.assertIn("tidegate backfill SPEC", self.tidegate().out)
        self.assertRegex(self.tidegate("--version").out, r"^tidegate \d+\.\d+\.\d+\n$")
        for command in ("plan", "run", "swap", "schedule"):
            self.assertIn("exit status:", self.tidegate(command, "--help").out)
            self.assertEqual(self.tidegate("help", command).out, self.tidegate(command, "--help").out)

    def test_errors_are_text_or_json(self):
        text = self.tidegate("paln", code=USAGE)
        self.assertEqual(text.out, "")
        self.assertIn("did you mean: tidegate plan?", text.err)
        found = self.tidegate("--json", "status", "7f3a", "--database", "db.sqlite", code=NOT_FOUND)
        self.assertEqual(found.err, "")
        self.assertEqual(found.json["error"]["code"], "not_found")
        self.assertEqual(found.json["error"]["exit"], NOT_FOUND)

    def test_every_step_reports_as_json(self):
        plan = self.tidegate("--json", "plan", self.file).json
        self.assertTrue(plan["verdict"]["allow"])
        run = self.tidegate("--json", "run", plan["id"])
        self.assertEqual((run.json["changes"]["updates"], run.err), (16, ""))
        self.assertEqual(self.tidegate("--json", "diff", plan["id"]).json["columns"], {"n": 16})
        swap = self.tidegate("--json", "swap", "--yes", plan["id"]).json
        self.assertEqual((swap["state"], swap["changes"]["total"]), ("swapped", 16))
        self.assertEqual(self.tidegate("--json", "rollback", plan["id"]).json["restored"], 16)
        self.assertEqual(self.tidegate("--json", "status", plan["id"]).json["state"], "rolled_back")
        listed = self.tidegate("--json", "status", "--database", "db.sqlite").json
        self.assertEqual([b["id"] for b in listed["backfills"]], [plan["id"]])

    def test_gate_records_nothing(self):
        before = self.rows("SELECT name FROM sqlite_schema")
        self.assertIn("ALLOW", self.tidegate("gate", self.file).out)
        self.assertEqual(self.rows("SELECT name FROM sqlite_schema"), before)

    def test_swap_asks_only_on_a_terminal(self):
        self.built(self.file)
        refused = self.tidegate("swap", self.file, code=USAGE)
        self.assertIn("--yes", refused.err)
        status, shown = self.on_terminal("swap", self.file, answer="n")
        self.assertEqual(status, PAUSED)
        self.assertIn("Publish 16 changes? [y/N]", shown)
        self.assertEqual(self.state(), "ready")
        status, shown = self.on_terminal("swap", self.file, answer="y")
        self.assertEqual(status, OK, shown)
        self.assertIn("SWAPPED", shown)
        self.assertEqual(self.state(), "swapped")

    def test_colours_only_on_a_terminal(self):
        self.plan(self.file)
        self.assertNotIn("\x1b[", self.tidegate("status", self.file).out)
        self.assertIn("\x1b[", self.on_terminal("status", self.file)[1])
        self.assertNotIn("\x1b[", self.on_terminal("status", self.file, env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\x1b[", self.on_terminal("--no-color", "status", self.file)[1])

    def test_values_cannot_control_the_terminal(self):
        self.sql("INSERT INTO doubles VALUES ('2024-02-15', 1); ALTER TABLE doubles ADD COLUMN note TEXT;")
        spec = self.spec(DOUBLES.replace("2 * n AS n", "2 * n AS n, char(27) || '[2J' AS note")
                         .replace("changes: n", "changes: [n, note]"))
        self.built(spec)
        self.assertIn("\\x1b[2J", self.tidegate("diff", spec).out)
        self.assertNotIn("\x1b", self.tidegate("diff", spec).out)

    def test_a_reader_that_goes_away_is_no_fault(self):
        self.plan(self.file)
        read, write = os.pipe()
        os.close(read)
        process = subprocess.run([BINARY, "status", str(self.file)], cwd=self.folder, stdout=write,
                                 stderr=subprocess.PIPE, check=False)
        os.close(write)
        self.assertEqual((process.returncode, process.stderr), (OK, b""))

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = subprocess.run([BINARY, "--version"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(process.returncode, harness.FULL)

    def test_a_signal_pauses_and_the_same_command_carries_on(self):
        spec = self.spec(DOUBLES, budget="budget: {duty: 1 %}")
        self.plan(spec)
        process = subprocess.Popen([BINARY, "run", str(spec)], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        process.stderr.readline()  # a batch is done
        process.send_signal(signal.SIGTERM)
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, PAUSED)
        self.assertIn("paused: production untouched; carry on with: tidegate run ", error)
        self.assertEqual(self.state(), "building")

    def test_init_never_overwrites(self):
        shown = self.tidegate("init", "db.sqlite")
        self.assertIn("doubles", shown.out)
        text = (self.folder / "tidegate.yaml").read_text()
        self.assertIn("doubles", text)
        self.tidegate("init", "db.sqlite", code=STATE)
        self.assertEqual((self.folder / "tidegate.yaml").read_text(), text)
        self.tidegate("scan", "doubles")

    def test_scan_marks_what_stands_out(self):
        self.sql("DELETE FROM numbers WHERE day = '2024-01-07'")
        days = self.tidegate("--json", "--database", "db.sqlite", "scan", "numbers").json["dates"]
        self.assertEqual([d["date"] for d in days if d["mark"] == "missing"], ["2024-01-07"])

    def test_doctor_and_runbook(self):
        self.assertIn("none yet", self.tidegate("doctor", "--database", "db.sqlite").out)
        self.built(self.file)
        runbook = self.tidegate("runbook", "doubles", "--database", "db.sqlite").out
        self.assertIn('UPDATE "doubles" AS p SET', runbook)
        self.assertIn("tidegate_", runbook)

    def test_schedule_plumbing(self):
        fires = self.tidegate("schedule", "next", "--zone", "America/New_York", "--from", "2025-03-08T00:00:00Z",
                              "--count", "2", "30 2 * * *").out
        self.assertEqual(fires, "2025-03-08T07:30:00+00:00\n2025-03-10T06:30:00+00:00\n")
        self.tidegate("schedule", "next", "30 2 * *", code=USAGE)
        stretch = ["--p95", "90", "--guard", "15", "--start", "2024-03-01T23:00:00Z"]
        free = self.tidegate("schedule", "check", *stretch, "--end", "2024-03-02T01:45:00Z", "0 2 * * *")
        self.assertEqual(free.out, "allow\n")
        for end, line in (("2024-03-02T01:46:00Z", "0 2 * * *"), ("2024-03-02T01:45:00Z", "not a schedule")):
            denied = self.tidegate("schedule", "check", *stretch, "--end", end, line, code=harness.DENIED)
            self.assertTrue(denied.out.startswith("deny: "))

    def test_schedule_dialects_and_policies(self):
        def fires(*words):
            return self.tidegate("schedule", "next", *words).out.split()

        night = ["--zone", "Europe/Berlin", "--from", "2025-03-29T12:00:00Z"]
        autumn = ["--zone", "Europe/Berlin", "--from", "2025-10-25T12:00:00Z"]
        # What each scheduler does by itself, and what a caller asks for instead.
        self.assertEqual(fires("--dialect", "vixie", *night, "30 2 * * *"), ["2025-03-31T00:30:00+00:00"])
        self.assertEqual(fires("--dialect", "airflow", *night, "30 2 * * *"), ["2025-03-30T01:30:00+00:00"])
        self.assertEqual(fires("--dialect", "airflow", "--gap", "gap_end", *night, "30 2 * * *"),
                         ["2025-03-30T01:00:00+00:00"])
        self.assertEqual(fires("--dialect", "dagster", *autumn, "30 2 * * *"), ["2025-10-26T01:30:00+00:00"])
        for word in ("first", "first(all fields)"):
            self.assertEqual(fires("--dialect", "dagster", "--overlap", word, *autumn, "30 2 * * *"),
                             ["2025-10-26T00:30:00+00:00"])
        friday = ["--dialect", "croniter", "--from", "2024-01-01T00:00:00Z", "0 0 13 * 5"]
        self.assertEqual(fires(*friday), ["2024-01-05T00:00:00+00:00"])
        self.assertEqual(fires("--day-and", *friday), ["2024-09-13T00:00:00+00:00"])
        # The run that labels 31 March starts at its end.
        self.assertEqual(fires("--dialect", "airflow", "--interval", "--from", "2024-03-31T12:00:00Z", "@daily"),
                         ["2024-04-01T00:00:00+00:00", "2024-03-31T00:00:00+00:00"])
        for words in (["--dialect", "nope", "0 2 * * *"], ["--zone", "Mars/Base", "0 2 * * *"],
                      ["--day-and", "0 2 1 * 1"], ["--dialect", "croniter", "H 2 * * *"], ["0 0 30 2 *"],
                      ["--dialect", "airflow", "@continuous"], ["--dialect", "croniter", "0 0 1 1 * 0 2020"], [""]):
            refused = self.tidegate("schedule", "next", *words, code=USAGE)
            self.assertEqual(refused.out, "")
            self.assertIn("HINT: ", refused.err)
        denied = self.tidegate("schedule", "check", "--dialect", "croniter", "--start", "2024-01-01T00:00:00Z", "--end",
                               "2024-01-01T01:00:00Z", "0 0 1 1 * 0 2020", code=harness.DENIED)
        self.assertIn("never fires after", denied.out)

    def test_documents_are_printed_from_the_program(self):
        self.tidegate("--print-docs", self.folder / "docs")
        pages = {str(p.relative_to(self.folder / "docs")) for p in (self.folder / "docs").rglob("*") if p.is_file()}
        for page in ("docs/reference/commands.md", "docs/reference/spec.md", "man/tidegate.1.scd",
                     "man/tidegate-plan.1.scd", "completions/tidegate.bash"):
            self.assertIn(page, pages)


if __name__ == "__main__":
    harness.main()
