"""`tidegate hook`: what is installed into a scratch home, real shells and real git, and that nothing is left behind."""

import base64
import importlib
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import BINARY, DENIED, INCOMPLETE, NOT_FOUND, OK, USAGE, Flow, main, wait_until

ROOT = Path(__file__).resolve().parents[2]
BACKFILL = "airflow dags backfill sales"
STUB = "#!/bin/sh\necho \"ran $*\" >> '{folder}/ran'\n"


class Home(unittest.TestCase):
    """A home directory of its own, and a folder on PATH with an airflow that writes down how it was called."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-"))
        self.home, self.bin = self.folder / "home", self.folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        self.stub("airflow")
        drop = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "ZDOTDIR", "XDG_DATA_HOME", "ENV", "BASH_ENV", "GITHUB_ACTIONS",
                "GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA")
        self.env = {k: v for k, v in os.environ.items() if k not in drop and not k.startswith("GIT_")}
        self.env.update(HOME=str(self.home), SHELL="/bin/bash", PATH=f"{self.bin}:{os.environ['PATH']}", TERM="dumb",
                        GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                        **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER")
                           for what in ("NAME", "EMAIL")})

    def tearDown(self):
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)

    def stub(self, name, folder=None):
        path = (folder or self.bin) / name
        path.write_text(STUB.format(folder=self.folder))
        path.chmod(0o755)

    def ran(self):
        path = self.folder / "ran"
        return path.read_text().splitlines() if path.exists() else []

    def run_in(self, *words, code=OK, cwd=None, stdin="", **env):
        done = subprocess.run([str(w) for w in words], cwd=cwd or self.home, env={**self.env, **env}, input=stdin,
                              text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def hook(self, *words, **kwargs):
        return self.run_in(BINARY, "hook", *words, **kwargs)

    def tree(self):
        """Every file below the home with its text, mode and link."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if path.is_symlink():
                found[name] = ("link", os.readlink(path))
            elif path.is_file():
                found[name] = (path.read_bytes(), path.stat().st_mode)
        return found


class Installing(Home):
    FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json",
             "cursor": ".cursor/hooks.json", "bash": ".bashrc", "zsh": ".zshrc"}
    BEFORE = {
        ".claude/settings.json": '{\n  // mine\n  "model": "opus",\n  "hooks": {"PostToolUse": []},\n}\n',
        ".codex/config.toml": 'model = "o" # why\n[features]\nhooks = true\n',
        ".gemini/settings.json": '{"theme":"x"}',
        ".cursor/hooks.json": '{\n\t"version": 1,\n\t"hooks": {\n\t\t"stop": [{"command": "x"}]\n\t}\n}\n',
        ".bashrc": "alias ll='ls -l'", ".zshrc": "alias ll='ls -l'\n"}

    def fill(self):
        for name, text in self.BEFORE.items():
            path = self.home / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o640)

    def round_trip(self):
        before = self.tree()
        for place in (*self.FILES, "shim"):
            words = [place, "airflow"] if place == "shim" else [place]
            self.hook("test", place, code=NOT_FOUND)
            self.hook("install", *words)
            first = self.tree()
            self.assertIn("already", self.hook("install", *words))
            self.assertEqual(self.tree(), first)
            self.assertIn("closed", self.hook("test", place))
        states = json.loads(self.hook("status", "--json"))["places"]
        self.assertEqual({row["place"] for row in states if row["state"] == "installed"}, {*self.FILES, "shim"})
        for place in (*self.FILES, "shim"):
            self.hook("remove", place)
            self.assertIn("not installed", self.hook("remove", place))
        self.assertEqual(self.tree(), before)

    def test_it_leaves_no_trace_in_files_that_were_there(self):
        self.fill()
        self.round_trip()

    def test_it_leaves_no_trace_where_nothing_was(self):
        self.round_trip()

    def test_what_others_write_meanwhile_stays(self):
        self.fill()
        self.hook("install", "claude-code")
        path = self.home / ".claude/settings.json"
        path.write_text(path.read_text().replace('"opus"', '"other"'))
        self.hook("remove", "claude-code")
        self.assertEqual(path.read_text(), self.BEFORE[".claude/settings.json"].replace('"opus"', '"other"'))
        self.assertEqual(sorted(p.name for p in path.parent.iterdir()), ["settings.json"])

    def test_links_are_followed_and_modes_kept(self):
        dotfiles = self.folder / "dotfiles"
        dotfiles.mkdir()
        (dotfiles / "bashrc").write_text("# mine\n")
        (dotfiles / "bashrc").chmod(0o604)
        (self.home / ".bashrc").symlink_to(dotfiles / "bashrc")
        self.hook("install", "bash")
        self.assertTrue((self.home / ".bashrc").is_symlink())
        self.assertIn("tidegate", (dotfiles / "bashrc").read_text())
        self.assertEqual((dotfiles / "bashrc").stat().st_mode & 0o777, 0o604)
        self.hook("remove", "bash")
        self.assertEqual((dotfiles / "bashrc").read_text(), "# mine\n")
        self.assertEqual([p.name for p in dotfiles.iterdir()], ["bashrc"])

    def test_a_file_that_is_not_understood_is_left_alone(self):
        for name, text in ((".claude/settings.json", '{"hooks": ['), (".codex/config.toml", "hooks = {}\n")):
            path = self.home / name
            path.parent.mkdir()
            path.write_text(text)
            place = "codex" if "codex" in name else "claude-code"
            self.assertIn(f"{name}:1:", self.hook("install", place, code=USAGE))
            self.assertEqual(path.read_text(), text)
            self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])

    def test_status_and_test_see_a_program_that_is_gone(self):
        copy = self.folder / "tidegate"
        shutil.copy(BINARY, copy)
        self.run_in(copy, "hook", "install", "claude-code")
        copy.unlink()
        self.assertIn("broken", self.hook("status", code=INCOMPLETE))
        self.assertIn("not blocked", self.hook("test", "claude-code", code=15))
        self.hook("install", "claude-code")
        self.assertIn("closed", self.hook("test", "claude-code"))

    def test_a_project_has_its_own(self):
        project = self.folder / "project"
        project.mkdir()
        self.hook("install", "claude-code", "--project", cwd=project)
        self.assertTrue((project / ".claude/settings.json").exists())
        self.assertFalse((self.home / ".claude").exists())
        self.assertIn("closed", self.hook("test", "claude-code", "--project", cwd=project))
        self.hook("remove", "claude-code", "--project", cwd=project)
        self.assertEqual(list(project.iterdir()), [])


class Shims(Home):
    def setUp(self):
        super().setUp()
        self.hook("install", "shim", "airflow", "dbt")
        self.shims = self.home / ".local/share/tidegate/shims"
        self.path = f"{self.shims}:{self.env['PATH']}"

    def test_what_is_harmless_becomes_the_real_program(self):
        (self.bin / "airflow").write_text("#!/bin/sh\ncat\nprintf '%s|' \"$@\"\nkill -TERM $$\n")
        done = subprocess.run(["airflow", "dags", "list", "a b", "*"], env={**self.env, "PATH": self.path}, input="in\n",
                              text=True, capture_output=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stdout), (-15, "in\ndags|list|a b|*|"))

    def test_exit_status_passes_through(self):
        (self.bin / "airflow").write_text("#!/bin/sh\nexit 42\n")
        self.run_in("airflow", "version", code=42, PATH=self.path)

    def test_a_backfill_does_not_start(self):
        for line in (BACKFILL, "F=airflow; $F dags backfill sales", "'air''flow' dags back\\fill sales"):
            self.assertIn("DENIED", self.run_in("sh", "-c", line, code=DENIED, PATH=self.path))
        self.assertEqual(self.ran(), [])

    def test_it_does_not_find_itself(self):
        self.run_in("dbt", "--version", code=127, PATH=f"{self.shims}:{self.shims}:/usr/bin:/bin")

    def test_without_the_program_it_is_closed(self):
        for shim in self.shims.iterdir():
            shim.write_text(shim.read_text().replace(os.path.realpath(BINARY), "/nowhere/tidegate"))
        self.run_in("airflow", "version", code=127, PATH=self.path)
        self.assertEqual(self.ran(), [])


class Terminal:
    """A shell on a terminal of its own. Each line is typed when the prompt is there."""

    PROMPT = b"<ready>"

    def __init__(self, argv, env, folder):
        self.out = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        self.prompts = 0
        self.wait()

    def read(self):
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                self.out += os.read(self.fd, 65536)
            except OSError:
                pass

    def wait(self):
        self.prompts += 1

        def ready():
            self.read()
            return self.out.count(self.PROMPT) >= self.prompts
        wait_until(ready, what=f"prompt {self.prompts} in {self.out!r}")

    def type(self, line, end=b"\r"):
        """Gives what was printed since."""
        start = len(self.out)
        os.write(self.fd, line.encode() + end)
        self.wait()
        return self.out[start:].decode(errors="replace")

    def until(self, text, line):
        start = len(self.out)
        os.write(self.fd, line.encode() + b"\r")

        def there():
            self.read()
            return text.encode() in self.out[start:]
        wait_until(there, what=f"{text} in {self.out[start:]!r}")

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Shells(Home):
    def start(self, name):
        rc = self.home / f".{name}rc"
        rc.write_text(f"PS1='{Terminal.PROMPT.decode()}'\nunset PROMPT_COMMAND\nalias again='airflow dags backfill'\n"
                      'load() { airflow dags backfill "$1"; }\n')
        self.hook("install", name)
        argv = ["bash", "--noprofile", "--rcfile", str(rc), "-i"] if name == "bash" else ["zsh", "-d", "-i"]
        terminal = Terminal(argv, self.env, self.home)
        self.addCleanup(terminal.close)
        return terminal

    # In the shell itself; what the text alone does not say (an alias, a function) too.
    BLOCKED = [BACKFILL, f" {BACKFILL}", f"echo x; {BACKFILL}", f"echo '{BACKFILL}' | bash", f"( {BACKFILL} )",
               f'X="{BACKFILL}"; eval "$X"', f"true && y=$({BACKFILL})", "again sales", "load sales",
               "for d in 1 2; do airflow dags backfill sales; done"]
    PASSED = ["airflow dags list", "for i in 1 2; do airflow dags list $i; done", f"echo '{BACKFILL}' > note"]

    def test_bash(self):
        bash = self.start("bash")
        for line in self.BLOCKED:
            self.assertIn("DENIED", bash.type(line), line)
        self.assertEqual(self.ran(), [])
        for line in self.PASSED:
            self.assertNotIn("tidegate", bash.type(line).lower().replace(str(self.folder), ""), line)
        self.assertEqual(self.ran(), ["ran dags list", "ran dags list 1", "ran dags list 2"])
        self.assertIn("<1 b 7>", bash.type('[[ abc =~ a(.)c ]]; f() { return 7; }; f; echo "<$(( 0 + 1 )) ${BASH_REMATCH[1]} $?>"'))

    def test_bash_keeps_a_trap_that_was_there(self):
        (self.home / "before").write_text("trap 'echo \"[it${BASH_COMMAND:0:4}]\"' DEBUG\n")
        rc = self.home / ".bashrc"
        rc.write_text(f"PS1='{Terminal.PROMPT.decode()}'\n. ~/before\n")
        self.hook("install", "bash")
        terminal = Terminal(["bash", "--noprofile", "--rcfile", str(rc), "-i"], self.env, self.home)
        self.addCleanup(terminal.close)
        self.assertIn("[itecho]", terminal.type("echo hello"))
        self.assertIn("DENIED", terminal.type(BACKFILL))

    @unittest.skipUnless(shutil.which("zsh"), "script/deps check installs zsh")
    def test_zsh(self):
        zsh = self.start("zsh")
        for line in self.BLOCKED:
            zsh.until("DENIED", line)
            zsh.type("\x15")  # where the line stayed in the editor, it is taken out
        self.assertEqual(self.ran(), [])
        for line in self.PASSED:
            self.assertNotIn("DENIED", zsh.type(line), line)
        wait_until(lambda: len(self.ran()) == 3)
        self.assertEqual(self.ran(), ["ran dags list", "ran dags list 1", "ran dags list 2"])

    def test_without_the_program_what_names_a_tool_is_closed(self):
        for name in ("bash", "zsh"):
            if shutil.which(name) is None:
                self.skipTest("script/deps check installs zsh")
            shell = self.start(name)
            rc = self.home / f".{name}rc"
            broken = rc.read_text().replace(os.path.realpath(BINARY), "/nowhere/tidegate")
            rc.write_text(broken)
            shell = Terminal(["bash", "--noprofile", "--rcfile", str(rc), "-i"] if name == "bash" else ["zsh", "-d", "-i"],
                             self.env, self.home)
            self.addCleanup(shell.close)
            shell.until("not run", "airflow version")
            shell.type("\x15")
            shell.until("[still here]", "echo '[still'' here]'")
        self.assertEqual(self.ran(), [])


class Policy(Home):
    """integrations/opa/backfill.rego in a real interpreter of Rego: what is not exactly an allow is denied."""

    NO_VERDICT = "there is no verdict of Tidegate, so this is denied"

    @classmethod
    def setUpClass(cls):
        folder = subprocess.run([ROOT / "script/rego", "--folder"], text=True, capture_output=True, check=True).stdout.strip()
        if not Path(folder).is_dir():
            raise AssertionError("there is no interpreter of Rego; script/deps check installs it")
        sys.path.insert(0, folder)
        cls.rego = importlib.import_module("regopy")

    def setUp(self):
        super().setUp()
        self.interpreter = self.rego.Interpreter()
        self.interpreter.add_module("backfill", (ROOT / "integrations/opa/backfill.rego").read_text())

    def denials(self, *document):
        if document:
            self.interpreter.set_input(document[0])
        # Its answers come unescaped, so the query wraps them.
        (answer,) = self.interpreter.query("[base64.encode(m) | data.main.deny[m]]").results[0].expressions
        return [base64.b64decode(message).decode() for message in answer]

    def test_a_verdict_decides(self):
        harmless = self.hook("run", "opa", stdin="airflow dags list\n")
        self.assertEqual(self.denials(json.loads(harmless)), [])
        for command in (BACKFILL, "./backfill.sh 2024-01-01", "echo 'airflow dags backfill"):
            document = json.loads(self.hook("run", "opa", stdin=command + "\n"))
            self.assertIn("DENIED", document["message"])
            self.assertEqual(self.denials(document), [document["message"]])
        dated = BACKFILL + " -s 2024-01-01 -e 2024-01-31"
        document = json.loads(self.hook("run", "opa", stdin=dated + "\n"))
        self.assertIn(f"--command '{dated}'\n", document["message"])

    def test_whatever_else_there_is_denies(self):
        allow = {"tidegate": 1, "decision": "allow"}
        self.assertEqual(self.denials(), [self.NO_VERDICT])
        self.assertEqual(self.denials(allow), [])
        for document in ({}, [], None, "allow", True, 1, [allow], {"decision": "allow"}, {"tidegate": 1}, {**allow, "tidegate": 2},
                         {**allow, "tidegate": "1"}, {**allow, "decision": "ALLOW"}, {**allow, "decision": ["allow"]},
                         {**allow, "decision": "ask"}, {**allow, "decision": None}, {**allow, "decision": "deny", "message": 5}):
            self.assertEqual(self.denials(document), [self.NO_VERDICT], document)


class Together(Flow, Home):
    """A backfill that is proven, typed in a shell, past the shim: it runs once."""

    LINE = "airflow dags backfill -s 2024-01-10 -e 2024-01-12 sales_daily"

    def setUp(self):
        Flow.setUp(self)
        flow_folder = self.folder
        Home.setUp(self)
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.folder)], check=True)
        self.folder = flow_folder
        self.sql("CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, net INTEGER, PRIMARY KEY (day, id));"
                 "WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 29) "
                 "INSERT INTO sales SELECT date('2024-01-01', '+' || i || ' days'), i, 100 + i FROM d")
        spec = self.spec("""
            target: sales
            range: 2024-01-10..2024-01-12
            wrong: the rate was left out
            correct: net is cents times rate
            changes: net
            checks: {rows: [net > 0]}
            recompute: SELECT day, id, net * 3 AS net FROM sales WHERE day >= :from AND day < :to
            """)
        (self.folder / "tidegate.yaml").write_text(
            f"database: {self.named}\njobs:\n  nightly: {{writes: [sales], names: [sales_daily], schedule: none, per_date: 10s}}\n")
        self.tidegate("snapshot", spec)

    def tearDown(self):
        Flow.tearDown(self)

    def once(self, name):
        (self.home / f".{name}rc").write_text(f"PS1='{Terminal.PROMPT.decode()}'\nunset PROMPT_COMMAND\n")
        self.run_in(BINARY, "hook", "install", name)
        self.run_in(BINARY, "hook", "install", "shim", "airflow")
        argv = ["bash", "--noprofile", "--rcfile", str(self.home / ".bashrc"), "-i"] if name == "bash" else ["zsh", "-d", "-i"]
        env = {**self.env, "PATH": f"{self.home}/.local/share/tidegate/shims:{self.env['PATH']}"}
        shell = Terminal(argv, env, self.folder)
        self.addCleanup(shell.close)
        stub = self.bin.parent / "ran"
        self.assertNotIn("DENIED", shell.type(self.LINE))
        self.assertEqual(stub.read_text(), f"ran {self.LINE.split(' ', 1)[1]}\n")
        shell.until("check-owed", self.LINE)
        self.assertEqual(len(stub.read_text().splitlines()), 1)
        places = [row["place"] for row in self.tidegate("gate", "log", "--json").json["verdicts"] if row["verdict"] == "allow"]
        self.assertEqual(places, ["shim", name])

    def test_bash(self):
        self.once("bash")

    @unittest.skipUnless(shutil.which("zsh"), "script/deps check installs zsh")
    def test_zsh(self):
        self.once("zsh")


class Commits(Flow):
    """Backfill files in real commits, judged as git has them."""

    def setUp(self):
        super().setUp()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GITHUB_", "CI_"))}
        self.env.update(HOME=str(self.folder), GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                        **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER")
                           for what in ("NAME", "EMAIL")})
        self.sql("CREATE TABLE orders(day TEXT NOT NULL, id INTEGER PRIMARY KEY, amount INTEGER);"
                 "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
                 "INSERT INTO orders SELECT date('2024-01-01', (i / 10) || ' days'), i, i FROM n")
        (self.folder / ".gitignore").write_text("db.sqlite*\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".gitignore")
        self.git("commit", "-q", "-m", "first")

    def run_command(self, *words, code=0, **env):
        done = subprocess.run([str(w) for w in words], cwd=self.folder, env={**self.env, **env}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def git(self, *words, **kwargs):
        return self.run_command("git", *words, **kwargs)

    def hook(self, *words, **kwargs):
        return self.run_command(BINARY, "hook", *words, **kwargs)

    def write(self, name="sales.yaml", dates="2024-01-05..2024-01-06", **kwargs):
        self.spec(f"""
            target: orders
            range: {dates}
            wrong: amounts were halved
            correct: amounts are whole
            changes: amount
            recompute: SELECT day, id, amount + 1 AS amount FROM orders WHERE day >= :from AND day < :to
            """, name=name, **kwargs)
        self.git("add", name)

    def test_a_commit_is_judged_by_what_is_staged(self):
        self.hook("install", "git")
        self.assertIn("closed", self.hook("test", "git"))
        self.write()
        (self.folder / "sales.yaml").write_text("not what is committed\n")
        self.assertIn("allowed", self.git("commit", "-m", "good"))
        self.write(dates="2030-01-05..2030-01-06")
        self.assertIn("Nothing was committed", self.git("commit", "-m", "bad", code=1))
        self.assertEqual(self.git("log", "--format=%s").split(), ["good", "first"])
        self.git("reset", "-q", "--hard")
        (self.folder / "compose.yaml").write_text("services: {a: {image: b}}\n")
        self.git("add", "compose.yaml")
        self.git("commit", "-q", "-m", "other")

    def test_without_the_database_it_is_closed(self):
        self.hook("install", "git")
        self.write()
        self.database.rename(self.folder / "gone")
        self.assertIn("cannot be judged", self.git("commit", "-m", "bad", code=1))

    def test_a_hook_that_was_there_is_kept_and_called(self):
        hook = self.folder / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho theirs >> called\n[ ! -e stop ]\n")
        hook.chmod(0o755)
        before = hook.read_bytes()
        self.hook("install", "git")
        self.hook("install", "git")
        self.write()
        self.git("commit", "-q", "-m", "one")
        (self.folder / "stop").touch()
        self.write("other.yaml")
        self.git("commit", "-q", "-m", "two", code=1)
        self.assertEqual((self.folder / "called").read_text(), "theirs\ntheirs\n")
        self.hook("remove", "git")
        self.assertEqual(hook.read_bytes(), before)
        self.assertEqual([p.name for p in hook.parent.glob("pre-commit*") if p.suffix != ".sample"], ["pre-commit"])

    def test_ci_judges_what_a_branch_changes(self):
        self.git("checkout", "-q", "-b", "branch")
        self.write()
        self.git("commit", "-q", "-m", "good")
        self.assertIn("1 backfill file changed", self.hook("run", "ci", "main"))
        self.write("later.yaml", dates="2030-01-05..2030-01-06")
        self.git("commit", "-q", "-m", "bad")
        said = self.hook("run", "ci", "main", code=DENIED, GITHUB_ACTIONS="true")
        self.assertIn("::error file=later.yaml,line=1,title=Tidegate::", said)
        (self.folder / "broken.yaml").write_text("target: orders\nrange: 2024-01-05..2024-01-06\nwrng: a\n")
        self.git("add", "broken.yaml")
        self.git("commit", "-q", "-m", "broken")
        self.assertIn("::error file=broken.yaml,line=3,", self.hook("run", "ci", "HEAD~1", code=USAGE, GITHUB_ACTIONS="true"))
        self.hook("run", "ci", "nowhere", code=USAGE)


if __name__ == "__main__":
    main()
