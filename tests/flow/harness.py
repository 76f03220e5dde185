"""What the flow and fault tests share: a scratch database, a spec, and the real binary.

The binary is the one that meson built ($TIDEGATE); nothing is faked. Clocks are the machine's: schedules that must be
open or closed now are written relative to the current time."""

import json
import os
import sqlite3
import subprocess
import tempfile
import textwrap
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

BINARY = os.environ["TIDEGATE"]
# Exit statuses as src/base/errors.def has them.
OK, INTERNAL, USAGE, DENIED, HELD, DRIFT, LOCKED, PAUSED, NO_CHANGE, LEASED = range(10)
SUPERSEDED, DATABASE, STATE, NOT_FOUND, CONFLICT, COMMAND, MEMORY, FULL, INCOMPLETE = range(10, 19)


def cron_in(minutes):
    """A daily cron line that fires `minutes` from now, in UTC."""
    at = datetime.now(timezone.utc) + timedelta(minutes=minutes)
    return f"{at.minute} {at.hour} * * *"


class Result:
    def __init__(self, args, process):
        self.args, self.code = args, process.returncode
        self.out, self.err = process.stdout, process.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"tidegate {' '.join(self.args)} -> {self.code}\n{self.out}\n{self.err}"


class Flow(unittest.TestCase):
    """A test with a folder of its own that holds db.sqlite, and specs written into it. What a test needs of its engine
    is asked through this class alone, so that the same test runs on PostgreSQL with postgres_harness.PostgresFlow."""

    maxDiff = None
    wal = True
    engine = "sqlite"
    named = "db.sqlite"  # what stands behind `database:` in a spec

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-"))
        self.database = self.folder / "db.sqlite"
        with self.connect() as db:
            if self.wal:
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("CREATE TABLE scratch(x)")
            db.execute("DROP TABLE scratch")

    def tearDown(self):
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)

    def connect(self, timeout=5):
        return sqlite3.connect(self.database, isolation_level=None, timeout=timeout)

    def sql(self, script):
        db = self.connect()
        db.executescript(script)
        db.close()

    def rows(self, query):
        db = self.connect()
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def value(self, query):
        return self.rows(query)[0][0]

    def spec(self, text, name="backfill.yaml", production="production: none", budget="budget: {duty: 100 %}"):
        """Writes a spec; database, production and budget are added unless the text has them."""
        text = textwrap.dedent(text).strip() + "\n"
        for line in (f"database: {self.named}", production, budget):
            if not any(own.startswith(line.split(":")[0] + ":") for own in text.splitlines()):
                text += line + "\n"
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_tidegate(self, *args, env=None, stdin=subprocess.DEVNULL, timeout=120):
        process = subprocess.run(
            [BINARY, *map(str, args)], cwd=self.folder, env={**os.environ, **(env or {})}, stdin=stdin, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
        return Result([str(a) for a in args], process)

    def tidegate(self, *args, code=OK, **kwargs):
        """Runs the binary and demands the exit status."""
        result = self.run_tidegate(*args, **kwargs)
        self.assertEqual(result.code, code, repr(result))
        return result

    def plan(self, spec, code=OK):
        return self.tidegate("plan", spec, code=code)

    def built(self, spec):
        """Plans and runs: the change set is sealed."""
        self.plan(spec)
        return self.tidegate("run", spec)

    def swapped(self, spec):
        self.built(spec)
        return self.tidegate("swap", spec, "--yes")

    def start(self, *args, **kwargs):
        """The binary in the background; communicate() gives its output."""
        return subprocess.Popen([BINARY, *map(str, args)], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def ledger(self, table):
        """A table of the ledger as SQL names it: "backfill", "batch", "date", …"""
        return f"tidegate_{table}"

    def state(self, spec="backfill.yaml"):
        return self.value("SELECT state FROM tidegate_backfill ORDER BY rowid DESC LIMIT 1")

    def objects(self):
        return [name for (name,) in self.rows(
            "SELECT name FROM sqlite_schema WHERE name GLOB 'tidegate_*_changes' OR name GLOB 'tidegate_*_shadow' "
            "OR name GLOB 'tidegate_*_snapshot'")]


def wait_until(condition, seconds=30, what="the condition"):
    """Waits for a condition that another process brings about; no fixed sleeps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come about in {seconds} s")


def main():
    unittest.main(verbosity=2)
