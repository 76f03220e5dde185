"""tidegate-airflow: puts the gate in front of Airflow's command line, tests it, takes it away.

  tidegate-airflow install    writes a block into airflow_local_settings.py; the page and REST are covered by the package alone
  tidegate-airflow status     what is in place
  tidegate-airflow test       sends a canary, which must be blocked; exit status 1 when it is not
  tidegate-airflow remove     takes the block away, and leaves the file as it was before

The file is that of $AIRFLOW_HOME/config, or --settings FILE."""

import argparse
import json
import os
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from pathlib import Path

from . import settings_file
from .gate import CLOSED, Gate, from_airflow
from .requests import DENIED

# No DAG has this name, and the range is long past: nothing happens when it is not blocked.
DAG, FIRST, LAST = "tidegate_canary", "2001-01-01", "2001-01-02"
PATIENCE = 120  # `airflow` has taken 20 s on a busy machine


def settings_path():
    home = os.environ.get("AIRFLOW_HOME") or os.path.expanduser("~/airflow")
    return Path(home) / "config" / "airflow_local_settings.py"


def airflow_major():
    """None: there is no Airflow in this Python. It takes seconds to import, which these commands may."""
    try:
        from airflow import __version__
    except ImportError:
        return None
    return int(__version__.split(".")[0])


def test(path):
    """Each place gets a canary: the program alone, Airflow's command line, its server. All must block it."""
    major = airflow_major()
    words = ["backfill", "create", "--dag-id", DAG, "--from-date", FIRST, "--to-date", LAST] if major != 2 else \
        ["dags", "backfill", "-s", FIRST, "-e", LAST, DAG]
    gate = from_airflow() if major is not None else Gate()
    verdict = gate.judge({"kind": "cli", "argv": ["airflow", *words], "user": "-"})
    results = [("the program", not verdict.allowed and not verdict.message.startswith(CLOSED),
                verdict.message or f"{gate.binary} lets it through")]
    if major is not None:
        results.append(("the command line", *canary_command(words)))
    if major is not None and major >= 3:
        results.append(("page and REST", *canary_request()))
    for place, blocked, message in results:
        print(f"{place}: {'blocked' if blocked else 'NOT BLOCKED, OR NOT BY A VERDICT'}")
        print(textwrap.indent(message.strip(), "    "))
    if not all(blocked for _, blocked, _ in results):
        sys.exit(1)


def canary_command(words):
    """(blocked by a verdict, what it said)"""
    try:
        done = subprocess.run([sys.executable, "-m", "airflow", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return False, f"airflow did not end within {PATIENCE} s"
    said = done.stderr.decode(errors="replace")
    at = said.find("tidegate: ")
    if done.returncode == 0 or at < 0:
        return False, "`airflow " + " ".join(words) + "` met no gate. Is the block in place? tidegate-airflow install"
    return not said[at:].startswith("tidegate: " + CLOSED), said[at:]


def canary_request():
    """Without signing in: the gate stands before that, so that only where it is missing the answer is 401."""
    from airflow.configuration import conf

    url = (conf.get("api", "base_url", fallback=None) or "http://localhost:8080").rstrip("/")
    body = json.dumps({"dag_id": DAG, "from_date": f"{FIRST}T00:00:00Z", "to_date": f"{LAST}T00:00:00Z"}).encode()
    request = urllib.request.Request(f"{url}/api/v2/backfills", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return False, f"{url} answered {answer.status}"
    except urllib.error.HTTPError as error:
        if error.code != DENIED:
            return False, f"{url} answered {error.code}. The api-server sees the gate when it is started again"
        detail = json.loads(error.read()).get("detail")
        return not str(detail).startswith(CLOSED), str(detail)
    except (OSError, ValueError) as error:
        return False, f"{url} ([api] base_url) could not be asked: {error}"


def status(path):
    text = settings_file.text_of(path)
    there = text is not None and settings_file.BEGIN in text
    major = airflow_major()
    print(f"command line   {'in place' if there else 'NOT in place: tidegate-airflow install'} ({path})")
    print("page and REST  " + ("no Airflow in this Python" if major is None else "in place" if major >= 3 else
                               "not covered: only Airflow 3 lets a plugin stand in front of them"))
    print("Whether it blocks: tidegate-airflow test")


def install(path):
    done = settings_file.add(path)
    print(f"{'wrote' if done else 'unchanged'}: {path}")
    print("The api-server, the scheduler and the DAG processor see it when they are started again. "
          "Next: tidegate-airflow test")


def remove(path):
    print(f"{'taken away from' if settings_file.remove(path) else 'nothing to take away in'} {path}")


def main():
    parser = argparse.ArgumentParser(prog="tidegate-airflow", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = {"install": install, "status": status, "test": test, "remove": remove}
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("--settings", type=Path, metavar="FILE")
    words = parser.parse_args()
    try:
        verbs[words.verb](words.settings or settings_path())
    except (settings_file.Refused, OSError) as refused:
        sys.exit(f"tidegate-airflow: {refused}")


if __name__ == "__main__":
    main()
