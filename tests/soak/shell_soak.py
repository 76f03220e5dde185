"""Command lines against real bash. Generated lines run in an empty folder, with stubs on PATH instead of the tools, the
wrappers and whatever else is there: a stub tool writes down its arguments, a stub wrapper runs what follows it. What bash
ran a backfill by must never be not_trigger; how often a line is stopped by which bash ran none is counted.
A second parser, mvdan/sh through tests/soak/shell/main.go ($SHELL_WORDS), names the simple commands that stand in the text:
every one of a tool must be seen too."""

import argparse
import collections
import concurrent.futures
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile

TOOLS = "airflow airflowctl dbt sqlmesh dagster bqetl".split()
STUB = """#!/bin/bash
{ printf '%s' "${0##*/}"; printf ' %q' "$@"; printf '\\n'; } >>"$RAN"
"""
# What a wrapper does with its words: bash that leaves "$@" as the command.
WRAPPERS = {
    "sudo": 'while [[ $1 == -* ]]; do case $1 in -u|-iu|-g) shift 2;; --) shift; break;; *) shift;; esac; done; exec env "$@"',
    "doas": 'while [[ $1 == -* ]]; do [[ $1 == -u ]] && shift; shift; done; exec "$@"',
    "ssh": 'while [[ $1 == -* ]]; do case $1 in -p|-i|-o|-l) shift 2;; *) shift;; esac; done; shift; [ $# = 0 ] && exec bash; exec bash -c "$*"',
    "docker": 'while [[ $1 != exec ]]; do shift; done; shift; while [[ $1 == -* ]]; do case $1 in -u|-w|-e) shift 2;; *) shift;; esac; done; shift; exec "$@"',
    "kubectl": 'while [[ $1 != exec ]]; do shift; done; shift; while [[ $1 != -- ]]; do shift; done; shift; exec "$@"',
    "poetry": 'shift; exec "$@"',
    "uv": 'shift; exec "$@"',
    "flock": 'shift; exec "$@"',
    "ionice": 'while [[ $1 == -* ]]; do [[ $1 == -c || $1 == -n ]] && shift; shift; done; exec "$@"',
    "watch": 'while [[ $1 == -* ]]; do [[ $1 == -n ]] && shift; shift; done; exec bash -c "$*"',
    "su": 'while [ $# -gt 0 ]; do [[ $1 == -c ]] && exec bash -c "$2"; shift; done; exec bash',
    "tmux": 'while [[ $1 != new ]]; do shift; done; shift; while [[ $1 == -* ]]; do [[ $1 == -s ]] && shift; shift; done; exec bash -c "$*"',
    "git": "exit 0", "man": "exit 0", "gh": "exit 0", "vim": "exit 0", "curl": "exit 0", "true_script": "exit 0"}

TRIGGERS = ["airflow dags backfill -s 2024-01-01 -e 2024-01-31 d", "airflow tasks clear -y -s 2024-01-01 d",
            "airflow backfill create --dag-id d --from-date 2024-01-01 --to-date 2024-01-31", "dbt run --full-refresh",
            "dbt build -s m --event-time-start 2024-01-01 --event-time-end 2024-02-01", "dagster job backfill -j j --all x",
            "sqlmesh plan --restate-model a -s 2024-01-01 -e 2024-01-31", "bqetl query backfill a.b -s 2024-01-01 -e 2024-01-31",
            "airflowctl backfill create --dag-id d --from-date 2024-01-01 --to-date 2024-01-02"]
HARMLESS = ["airflow dags list", "dbt run -s m", "dbt test", "dagster job list", "airflow dags backfill --help", "sqlmesh audit",
            "airflow tasks list d", "bqetl backfill info a", "airflow dags list-runs -d d -s 2024-01-01 -e 2024-01-31"]
MENTIONS = ["echo airflow dags backfill", "git commit -m 'airflow dags backfill -s 2024-01-01'", "grep -q backfill /dev/null",
            "man airflow", "gh issue create --title 'dbt run --full-refresh'", "printf '%s\\n' 'airflow dags backfill'",
            "vim backfill.py", "cat /dev/null # airflow dags backfill", "x='airflow dags backfill'", ": dbt run --full-refresh",
            "ls backfill*", "[ x = 'airflow dags backfill' ]", "[[ backfill == b* ]]", "cat <<'E'\nairflow dags backfill\nE\n",
            "test -f backfill.sh", "touch backfill.log", "echo 'dbt run --full-refresh' >notes", "awk '/dbt run -f/ {print}' /dev/null"]

SIMPLE = ["sudo -u etl {}", "sudo -iu etl {}", "sudo -E A=1 {}", "doas -u x {}", "env A=1 {}", "env -u A -i PATH=$PATH RAN=$RAN {}", "nohup {}",
          "timeout 2 {}", "timeout -k 1 --preserve-status 2 {}", "nice -n 19 {}", "stdbuf -oL {}", "A=1 B='c d' {}", ">out {}",
          "{} 2>&1", "exec {}", "docker exec -it -u x c {}", "docker -H x exec c {}",
          "kubectl -n a exec p -c c -- {}", "poetry run {}", "uv run {}", "flock l {}", "ionice -c 3 {}", "coproc {}",
          "setsid -w {}", "xargs {} </dev/null", "find . -maxdepth 0 -exec {} \\;", "echo x | xargs -I% {}", "x=1; {}", "setsid -w nice {}"]
LAYERS = ["( {} )", "{{ {}; }}", "if true; then {}; fi", "if ! :; then :; elif true; then {}; fi", "for i in 1 2; do {}; done",
          "for ((i=0;i<1;i++)); do {}; done", "while {}; do break; done", "until {}; do :; done", "f() {{ {}; }}; f", "function g {{ {}; }}; g a",
          "f() ( {} ); f", "case x in y) ;; *) {};; esac", "case x in (x) {} ;& y) : ;; esac", "true && {}", "false || {}", "cd .; {}", "x=$( {} )",
          "echo \"$( {} )\"", "echo \"a $( echo \"$( {} )\" ) b\"", "cat <( {} )", "( {} ) 2>&1 | cat", "{} & wait", "[[ a == a ]] && {}",
          "echo ${{zz:-$( {} )}}", "echo $(( $( {} >/dev/null; echo 1 ) + 1 ))", "cat <<E\n$( {} )\nE\n", "a=( $( {} ) )", "# c\n{}", "{}\n\n",
          "f() {{ {}; }}\nif false; then f() {{ :; }}; fi\nf", "(x=1); {}", "{} | cat", "cat </dev/null | {}", "{} >/dev/null |& cat", "true\n\n{}",
          "set -e; {}", "echo a b#c; {}", "echo \\# ; {}", "echo '#'; {}", "declare -A m=([a]=1); {}", "export Q=1 && {}", "x[0]=1; {}",
          "echo ${{#x}} ${{x#a}} ${{x//a/b}}; {}", "cat <<'A' <<B\n'\nA\n\"\nB\n{}", "echo $'a\\'b'; {}", "echo \"it's\"; {}", "((1<2)) && {}", "!  true || {}"]
QUOTED = ["bash -c {}", "sh -ec {}", "bash -xc {}", "eval {}", "bash <<<{}", "echo {} | bash", "printf '%s\\n' {} | sh", "ssh -p 22 host {}",
          "su - x -c {}", "trap {} EXIT", "C={}; eval \"$C\"", "C={}; bash -c \"$C\"", "tmux new -d -s n {}", "bash -c 'eval \"$1\"' _ {}",
          "echo {} >s.sh; bash s.sh", "echo {} >s.sh; . ./s.sh", "echo {} | tee s.sh >/dev/null; sh s.sh", "source <(echo {})", "bash <(printf '%s\\n' {})",
          "a=(bash -c {}); \"${{a[@]}}\"", "set -- {}; eval \"$1\"", "f() {{ eval \"$1\"; }}; f {}", "watch -n 1 {}", "printf -v C %s {}; eval \"$C\"",
          "read -r C <<<{}; eval \"$C\"", "echo {} | ssh host", "echo {} | xargs -I% bash -c %", "EDITOR={} git commit", "for c in : {}; do eval \"$c\"; done",
          "alias zz={}; true", "declare C={}; eval $C", "C=x; (C=y); C={}; sh -c \"$C\"", "echo {} | sudo bash -s", "cat <<<{} | sh", "env bash -c {}"]


def split_variables(rng, text):
    """The command's first words by way of variables."""
    words = text.split(" ")
    at = rng.randrange(1, len(words[0]))
    return rng.choice([f"A={words[0][:at]}; ${{A}}{text[at:]}", f"A='{words[0]} {words[1]}'; $A {' '.join(words[2:])}", f"A=({text}); \"${{A[@]}}\"",
                       f"$(echo {words[0]}) {' '.join(words[1:])}", f"set -- {text}; \"$@\"", f"f() {{ {words[0]} \"$@\"; }}; f {' '.join(words[1:])}",
                       f"${{none:-{words[0]}}} {' '.join(words[1:])}", f"{{{words[0]},{words[1]}}} {' '.join(words[2:])}",
                       f"if :; then A={words[0]}; else A=echo; fi; $A {' '.join(words[1:])}", f"printf '%s\\n' '{' '.join(words[1:])}' | xargs {words[0]}"])


def disguise(rng, text):
    word, _, rest = text.partition(" ")
    at = rng.randrange(1, len(word))
    return rng.choice([f"{word[:at]}\"{word[at:]}\" {rest}", f"\\{text}", f"{word[:at]}\\\n{word[at:]} {rest}", f"$'{word}' {rest}", f"\"{word}\" {rest}",
                       f"{word[:at]}''{word[at:]} {rest}", f"{word[:at]}${{zz}}{word[at:]} {rest}", f"{word} \\\n {rest}", text, text])


def generate(rng):
    kind = rng.random()
    text = rng.choice(TRIGGERS if kind < 0.5 else HARMLESS if kind < 0.7 else MENTIONS)
    tool = kind < 0.7
    if tool:
        choice = rng.random()
        text = split_variables(rng, text) if choice < 0.25 else disguise(rng, text) if choice < 0.6 else text
    simple = tool and "\n" not in text and ";" not in text and not text.startswith(("if", "f()"))
    for _ in range(rng.randrange(5)):
        choice = rng.random()
        if simple and choice < 0.4:
            text = rng.choice(SIMPLE).replace("{}", text)
        elif choice < 0.7:
            simple, layer = False, rng.choice(LAYERS)
            if not any(mark in text for mark in "#&") and "<<" not in text or layer.endswith("\n{}"):
                text = layer.format(text)
        elif choice < 0.95:
            simple = False
            text = rng.choice(QUOTED).format(shlex.quote(text))
        else:
            simple, text = False, f"bash <<'E{len(text)}'\n{text}\nE{len(text)}\n"
    return text


def make_stubs(folder):
    for name in TOOLS:
        write(os.path.join(folder, name), STUB)
    for name, body in WRAPPERS.items():
        write(os.path.join(folder, name), f"#!/bin/bash\n{body}\n")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def run_by_bash(stubs, text):
    """The tools' command lines that bash really ran."""
    with tempfile.TemporaryDirectory() as folder:
        ran = os.path.join(folder, ".ran")
        bash = subprocess.Popen(["bash", "-c", text], cwd=folder, env={"PATH": f"{stubs}:/usr/bin:/bin", "RAN": ran, "HOME": folder},
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            bash.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(bash.pid, signal.SIGKILL)  # with what it has started
            bash.wait()
        if not os.path.exists(ran):
            return []
        with open(ran, encoding="utf-8") as file:
            return file.read().splitlines()


def is_backfill(line):
    """Is the recorded command one of TRIGGERS? They alone do this."""
    return "--help" not in line and any(words in line for words in ("dags backfill", "tasks clear", "backfill create", "--full-refresh",
                                                                     "event-time-start", "job backfill", "restate-model", "query backfill"))


def classify(text):
    done = subprocess.run([os.environ.get("TIDEGATE", "build/src/tidegate"), "gate", "--classify", "-"], input=text.encode(),
                          capture_output=True, check=False)
    verdict, _, rest = done.stdout.decode(errors="replace").partition("\n")
    if verdict not in ("trigger", "not_trigger", "ask"):
        sys.exit(f"no verdict, exit {done.returncode}: {text}\n{done.stderr.decode()}")
    return verdict, rest


def second_parser(texts):
    """What mvdan/sh makes of each text: the literal simple commands in it, or None when it refuses the text."""
    program = os.environ.get("SHELL_WORDS")
    if not program:
        return None
    done = subprocess.run([program], input=b"\0".join(text.encode() for text in texts), capture_output=True, check=True)
    answers = done.stdout.decode().split("\0")[:len(texts)]
    return [None if answer == "!" else answer.splitlines() for answer in answers]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    texts = [generate(rng) for _ in range(arguments.cases)]
    with tempfile.TemporaryDirectory() as stubs, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        make_stubs(stubs)
        verdicts = list(pool.map(classify, texts))
        ran = list(pool.map(lambda text: run_by_bash(stubs, text), texts))
    counts, wrong = collections.Counter(), 0
    for text, (verdict, found), lines in zip(texts, verdicts, ran):
        real = any(map(is_backfill, lines))
        counts["bash runs a backfill" if real else "bash runs none", verdict] += 1
        if real and verdict == "not_trigger":
            wrong += 1
            print(f"MISSED, bash runs {lines}:\n{text}\n", file=sys.stderr)
        elif not real and verdict != "not_trigger" and os.environ.get("SHOW"):
            print(f"{verdict}, bash runs none: {found!r}\n{text}\n", file=sys.stderr)
    parsed = second_parser(texts)
    for text, (verdict, _), commands in zip(texts, verdicts, parsed or []):
        literal = commands is not None and any(line.split(" ")[0] in TOOLS and is_backfill(line) for line in commands)
        counts["mvdan/sh " + ("refuses" if commands is None else "sees a backfill" if literal else "sees none"), verdict] += 1
        if literal and verdict == "not_trigger":
            wrong += 1
            print(f"MISSED, mvdan/sh sees {commands}:\n{text}\n", file=sys.stderr)
    for (what, verdict), n in sorted(counts.items()):
        print(f"shell: {n:6} {what}: {verdict}", file=sys.stderr)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
