"""Measures a safe backfill on SQLite against the naive way, in one run, as ratios.

naive     one transaction: DELETE the range, INSERT the recompute
floor     the least that any safe way must do in plain SQL: shadow, 90 daily INSERTs, a count and sum a day, one swap
tidegate  `run` and `swap` as a person types them (two processes), and `backfill` (one process, less its planning)

The write lock is looked at from outside every half millisecond by fcntl(F_OFD_GETLK) on the WAL's write-lock byte, which takes nothing.
"""

import argparse
import fcntl
import json
import os
import platform
import resource
import shutil
import sqlite3
import statistics
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FROM, TO = "2024-07-01", "2024-09-29"
RIGHT_SUM = 172734847190  # of the workload's README, for 365 days of 10,000 rows
RECOMPUTE = """SELECT date(o.ordered_at) AS order_date, o.order_id, o.customer_id, o.currency, o.amount_cents,
       o.amount_cents * f.rate_milli / 1000 AS net_cents, o.status
FROM raw_orders o JOIN fx f ON f.rate_date = date(o.ordered_at) AND f.currency = o.currency
WHERE o.ordered_at >= {lo} AND o.ordered_at < {hi}"""
COLUMNS = "order_date, order_id, customer_id, currency, amount_cents, net_cents, status"
SPEC = """target: fct_orders
range: 2024-07-01..2024-09-28
wrong: converted at a rate of 1000
correct: converted at the rate of the day
changes: net_cents
production: none
budget: {{duty: 100 %}}
database: {database}
recompute: |
  {recompute}
"""
F_OFD_GETLK = 36  # also sees the locks of this very process (linux/fcntl.h)
WAL_WRITE_LOCK = 120  # byte in the -shm file (sqlite.org/walformat.html, 2.3.1)


class LockWatch(threading.Thread):
    """Adds up the time in which somebody holds the write lock."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.path, self.held, self.longest, self.ended = f"{database}-shm", 0.0, 0.0, threading.Event()

    def locked(self, fd):
        query = struct.pack("hhlli4x", fcntl.F_WRLCK, os.SEEK_SET, WAL_WRITE_LOCK, 1, 0)
        return struct.unpack("hhlli4x", fcntl.fcntl(fd, F_OFD_GETLK, query))[0] != fcntl.F_UNLCK

    def run(self):
        fd, before, since = None, time.monotonic(), None
        while not self.ended.is_set():
            time.sleep(0.0005)
            now = time.monotonic()
            if fd is None and os.path.exists(self.path):
                fd = os.open(self.path, os.O_RDWR)
            if fd is not None and self.locked(fd):
                self.held += now - before
                since = since or before
                self.longest = max(self.longest, now - since)
            else:
                since = None
            before = now

    def stop(self):
        self.ended.set()
        self.join()


def make(folder, days, rows):
    """dense.db: every row of the range wrong; sparse.db: one in forty."""
    dense, sparse = folder / "dense.db", folder / "sparse.db"
    stamp = folder / f"made-{days}-{rows}"
    if stamp.exists():
        return dense, sparse
    for path in folder.glob("*"):
        path.unlink()
    script = (HERE / "sqlite.sql").read_text().replace("365 AS D, 10000 AS R", f"{days} AS D, {rows} AS R")
    subprocess.run(["sqlite3", str(dense)], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(dense, sparse)
    db = sqlite3.connect(sparse)
    db.execute(f"""UPDATE fct_orders SET net_cents = (SELECT fct_orders.amount_cents * f.rate_milli / 1000 FROM fx f
        WHERE f.rate_date = fct_orders.order_date AND f.currency = fct_orders.currency)
        WHERE order_date >= '{FROM}' AND order_date < '{TO}' AND order_id % 40 <> 0""")
    db.commit()
    db.execute("VACUUM")
    db.close()
    stamp.touch()
    return dense, sparse


def fresh(source, folder):
    copy = folder / "work.db"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
    shutil.copy(source, copy)
    os.sync()
    return copy


def with_watch(database, work):
    keep = sqlite3.connect(database)  # so that the -shm file stays for the whole measurement
    keep.execute("SELECT count(*) FROM fx").fetchone()
    watch = LockWatch(database)
    watch.start()
    began = time.monotonic()
    work()
    seconds = time.monotonic() - began
    watch.stop()
    keep.close()
    return seconds, watch.held


def recompute(lo, hi):
    return RECOMPUTE.format(lo=lo, hi=hi)


def naive(database):
    def work():
        db = sqlite3.connect(database, isolation_level=None)
        db.execute("PRAGMA cache_size = -65536")
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"DELETE FROM fct_orders WHERE order_date >= '{FROM}' AND order_date < '{TO}'")
        db.execute(f"INSERT INTO fct_orders ({COLUMNS}) {recompute(repr(FROM), repr(TO))}")
        db.execute("COMMIT")
        db.close()
    return with_watch(database, work)


def floor(database):
    def work():
        db = sqlite3.connect(database, isolation_level=None)
        db.execute("PRAGMA cache_size = -65536")
        db.execute("CREATE TABLE shadow AS SELECT * FROM fct_orders WHERE 0")
        for (day,) in db.execute(f"SELECT rate_date FROM fx WHERE rate_date >= '{FROM}' AND rate_date < '{TO}' GROUP BY 1").fetchall():
            db.execute(f"INSERT INTO shadow ({COLUMNS}) {recompute(repr(day), f'date({day!r}, {chr(39)}+1 day{chr(39)})')}")
        db.execute("SELECT order_date, count(*), sum(net_cents + order_id) FROM shadow GROUP BY 1").fetchall()
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"DELETE FROM fct_orders WHERE order_date >= '{FROM}' AND order_date < '{TO}'")
        db.execute(f"INSERT INTO fct_orders ({COLUMNS}) SELECT {COLUMNS} FROM shadow")
        db.execute("COMMIT")
        db.close()
    return with_watch(database, work)


class Tidegate:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def call(self, *args):
        subprocess.run([self.binary, *args], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def plan(self, database):
        spec = self.folder / "spec.yaml"
        text = recompute(":from", ":to").replace("\n", "\n  ")
        spec.write_text(SPEC.format(database=database, recompute=text))
        began = time.monotonic()
        self.call("plan", "spec.yaml")
        return time.monotonic() - began

    def two(self, database):
        self.plan(database)
        return with_watch(database, lambda: (self.call("run", "spec.yaml"), self.call("swap", "spec.yaml", "--yes")))

    def one(self, database):
        planning = self.plan(database)
        self.call("discard", "spec.yaml")
        seconds, held = with_watch(database, lambda: self.call("backfill", "spec.yaml", "--yes"))
        return seconds - planning, held


def check_sum(database, expected):
    db = sqlite3.connect(database)
    got = db.execute("SELECT sum(net_cents) FROM fct_orders").fetchone()[0]
    db.close()
    if expected is not None and got != expected:
        sys.exit(f"wrong answer: sum(net_cents) is {got}, not {expected}")
    return got


def measure(ways, source, folder, repeat, expected):
    """Round robin, so that a machine that slows down slows all ways; the median of each."""
    figures = {name: [] for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            database = fresh(source, folder)
            figures[name].append(way(database))
            expected = check_sum(database, expected)
    return {name: {"seconds": statistics.median(f[0] for f in runs), "lock": statistics.median(f[1] for f in runs),
                   "runs": [round(f[0], 3) for f in runs]} for name, runs in figures.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.folder = options.folder.resolve()  # a spec names its database relative to itself
    options.folder.mkdir(parents=True, exist_ok=True)
    data = options.folder / f"data-{options.days}-{options.rows}"
    data.mkdir(exist_ok=True)
    dense, sparse = make(data, options.days, options.rows)
    gate = Tidegate(os.path.abspath(options.binary), options.folder)
    ways = {"naive": naive, "floor": floor, "two": gate.two, "one": gate.one}
    expected = RIGHT_SUM if (options.days, options.rows) == (365, 10000) else None
    report = {"machine": f"{platform.machine()}, {os.cpu_count()} cores, SQLite {sqlite3.sqlite_version}", "ratios": {}}
    for kind, source in (("sparse", sparse), ("dense", dense)):
        figures = measure(ways, source, options.folder, options.repeat, expected)
        report[kind] = figures
        for way in ("floor", "two", "one"):
            for what, of in (("total", "seconds"), ("lock", "lock")):
                report["ratios"][f"{kind}_{what}_{way}"] = round(figures[way][of] / figures["naive"][of], 3)
        for what in ("total", "lock"):
            report["ratios"][f"{kind}_{what}"] = report["ratios"][f"{kind}_{what}_one"]
    report["peak_mb"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(report["machine"])
    for kind in ("sparse", "dense"):
        print(f"\n{kind:<8}{'seconds':>9}{'× naive':>9}{'lock s':>9}{'× naive':>9}")
        for way, figure in report[kind].items():
            base = report[kind]["naive"]
            print(f"{way:<8}{figure['seconds']:>9.2f}{figure['seconds'] / base['seconds']:>9.2f}"
                  f"{figure['lock']:>9.3f}{figure['lock'] / base['lock']:>9.3f}")
    print(f"\ntwo: run and swap as two processes; one: backfill in one process, less its planning. Peak memory {report['peak_mb']} MB")


if __name__ == "__main__":
    main()
