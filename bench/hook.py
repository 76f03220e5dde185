"""Measures what a hook costs: whole processes, from start to exit, each beside the others in turn.

    script/bench hook [--repeat N] [--json]

The comparison is what a hook in Python costs before it has read a byte: `python3 -c pass`.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time


def question(command):
    return json.dumps({"session_id": "b", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
                       "tool_input": {"command": command}}).encode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder")  # given by script/bench; nothing is kept here
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    hook = [binary, "hook", "run", "claude-code"]
    cases = {
        "harmless command": (hook, question("git status && ls -l"), 0),
        "backfill, denied by its text": (hook, question("airflow dags backfill sales"), 2),
        "script of 100 KB": (hook, question("echo some line of a script; ls\n" * 3300), 0),
        "1 MB that nests": ([*hook[:-1], "codex"], question("airflow $(" * 100_000), 2),
        "tidegate --version": ([binary, "--version"], b"", 0),
        "python3 -c pass": (["/usr/bin/python3", "-c", "pass"], b"", 0),
        "true": (["/bin/true"], b"", 0),
    }
    times = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.repeat):
            for name, (argv, text, status) in cases.items():
                start = time.perf_counter()
                done = subprocess.run(argv, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
                                      env={"PATH": os.environ["PATH"]}, check=False)
                times[name].append((time.perf_counter() - start) * 1000)
                if done.returncode != status:
                    raise SystemExit(f"{name}: exit status {done.returncode}, not {status}")
    rows = {name: {"best_ms": round(min(t), 2), "median_ms": round(statistics.median(t), 2)} for name, t in times.items()}
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'whole process, ms':32} {'best':>7} {'median':>7}   of {options.repeat}")
    for name, row in rows.items():
        print(f"{name:32} {row['best_ms']:7.2f} {row['median_ms']:7.2f}")


main()
