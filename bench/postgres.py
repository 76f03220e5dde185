"""Measures a safe backfill on PostgreSQL against the naive way, in one run, as ratios.

naive     one transaction: DELETE the range, INSERT the recompute
floor     the least that any safe way must do in plain SQL: shadow, 90 daily INSERTs, a count and sum a day, one swap
one       tidegate `backfill` in one process, less its planning
crew      the same with `workers: 2`: batches are written on two connections at a time. The ratios asked for are its
two       tidegate `run` and `swap` as a person types them

The server is a throw-away cluster. Each measurement has a fresh copy of the data, and a checkpoint before it. Locks are
looked at from outside, every other millisecond in pg_locks: what stops writers of the target, and what stops readers as
well. Naive and floor take no such lock: the rows of the range wait from the first DELETE to the COMMIT, and that counts.
Beside a pgbench (4 clients, scale 20, tables of its own) production's p99 is that of pgbench's own log.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psycopg2

HERE = Path(__file__).resolve().parent
SERVER = HERE.parent / "script" / "postgres"
SETTINGS = ("shared_buffers=1GB", "max_wal_size=4GB")
FROM, TO = "2024-07-01", "2024-09-29"
RIGHT_SUM = 172734847190  # of the workload's README, for 365 days of 10,000 rows
COLUMNS = "order_date, order_id, customer_id, currency, amount_cents, net_cents, status"
RECOMPUTE = """SELECT o.ordered_at::date AS order_date, o.order_id, o.customer_id, o.currency, o.amount_cents,
       o.amount_cents::bigint * f.rate_milli / 1000 AS net_cents, o.status
FROM raw_orders o JOIN fx f ON f.rate_date = o.ordered_at::date AND f.currency = o.currency
WHERE o.ordered_at >= {lo} AND o.ordered_at < {hi}"""
SPEC = """target: fct_orders
range: 2024-07-01..2024-09-28
wrong: converted at a rate of 1000
correct: converted at the rate of the day
changes: net_cents
production: none
{budget}
database: {database}
recompute: |
  {recompute}
"""
WHOLE_TIME = "budget: {duty: 100 %}"
CREW = "budget: {duty: 100 %, workers: 2}"
CORRECT_MOST = f"""UPDATE fct_orders o SET net_cents = o.amount_cents::bigint * f.rate_milli / 1000 FROM fx f
WHERE f.rate_date = o.order_date AND f.currency = o.currency AND order_date >= '{FROM}' AND order_date < '{TO}'
  AND order_id % 40 <> 0"""
PARTITION = f"""
ALTER TABLE fct_orders RENAME TO plain;
CREATE TABLE fct_orders (LIKE plain INCLUDING DEFAULTS) PARTITION BY RANGE (order_date);
DO $$
BEGIN
  FOR m IN 0 .. (SELECT (extract(year FROM age(max(order_date), '2024-01-01')) * 12
                         + extract(month FROM age(max(order_date), '2024-01-01')))::int FROM plain) LOOP
    EXECUTE format('CREATE TABLE fct_orders_%s PARTITION OF fct_orders FOR VALUES FROM (%L) TO (%L)', m,
                   date '2024-01-01' + m * interval '1 month', date '2024-01-01' + (m + 1) * interval '1 month');
  END LOOP;
END $$;
INSERT INTO fct_orders SELECT * FROM plain;
DROP TABLE plain;
ALTER TABLE fct_orders ADD PRIMARY KEY (order_date, order_id);
"""
LOCKS = """SELECT coalesce(bool_or(mode = 'AccessExclusiveLock'), false), count(*) > 0 FROM pg_locks
WHERE granted AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND relation = ANY (%s) AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
RELATIONS = "SELECT array_agg(relid::oid::int8) FROM pg_partition_tree('fct_orders') UNION ALL SELECT ARRAY['fct_orders'::regclass::oid::int8]"
SIZE = "SELECT sum(pg_total_relation_size(relid)) FROM (SELECT 'fct_orders'::regclass AS relid UNION SELECT relid FROM pg_partition_tree('fct_orders')) t"


class Server:
    """The cluster, and fresh copies of its templates."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tidegate-pg.", dir="/tmp")
        # Stops it when this process is gone, however that ends.
        self.reaper = subprocess.Popen(["sh", "-c", 'cat >/dev/null; exec "$0" stop --data "$1"', str(SERVER), self.folder],
                                       stdin=subprocess.PIPE, start_new_session=True)
        args = [word for setting in SETTINGS for word in ("-c", setting)]
        subprocess.run([str(SERVER), "start", "--data", self.folder, *args], check=True, stdout=subprocess.DEVNULL)
        self.programs = Path((Path(self.folder) / "tidegate-cluster").read_text().strip())

    def stop(self):
        self.reaper.stdin.close()
        self.reaper.wait()

    def url(self, database):
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def connect(self, database):
        connection = psycopg2.connect(self.url(database), application_name="bench")
        connection.autocommit = True
        return connection

    def run(self, database, *statements):
        connection = self.connect(database)
        for statement in statements:
            connection.cursor().execute(statement)
        connection.close()

    def value(self, database, query):
        connection = self.connect(database)
        cursor = connection.cursor()
        cursor.execute(query)
        found = cursor.fetchone()[0]
        connection.close()
        return found

    def program(self, name, database, *args, **kwargs):
        return [str(self.programs / name), "-h", self.folder, "-U", "postgres", *args, database]

    def make(self, days, rows):
        """dense: every row of the range wrong; sparse: one in forty; partition: dense, by month; served: with pgbench."""
        self.run("postgres", "CREATE DATABASE dense")
        subprocess.run(self.program("psql", "dense", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"D={days}", "-v", f"R={rows}",
                                    "-f", str(HERE / "postgres.sql"), "-d"), check=True, stderr=subprocess.DEVNULL)
        self.run("dense", "VACUUM ANALYZE")
        for kind, statements in (("sparse", (CORRECT_MOST, "VACUUM FULL", "VACUUM ANALYZE")), ("partition", (PARTITION, "VACUUM ANALYZE")), ("served", ())):
            self.run("postgres", f"CREATE DATABASE {kind} TEMPLATE dense")
            self.run(kind, *statements)
        subprocess.run(self.program("pgbench", "served", "-i", "-q", "-s", "20"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def fresh(self, kind):
        """A copy of the template by the name `work`; nothing is left to be written when it returns."""
        strategy = " STRATEGY = FILE_COPY" if self.value("postgres", "SHOW server_version_num") >= "150000" else ""
        self.run("postgres", "DROP DATABASE IF EXISTS work WITH (FORCE)", f"CREATE DATABASE work TEMPLATE {kind}{strategy}", "CHECKPOINT")
        return "work"


class LockWatch(threading.Thread):
    """Adds up the time in which the target is locked against writers, and against readers."""

    def __init__(self, server, database):
        super().__init__(daemon=True)
        self.connection = server.connect(database)
        self.cursor = self.connection.cursor()
        self.cursor.execute(RELATIONS)
        self.relations = sorted({relation for (found,) in self.cursor.fetchall() for relation in found or ()})
        self.writers, self.readers, self.ended = 0.0, 0.0, threading.Event()

    def run(self):
        before = time.monotonic()
        while not self.ended.wait(0.002):
            self.cursor.execute(LOCKS, (self.relations,))
            readers, writers = self.cursor.fetchone()
            now = time.monotonic()
            self.writers += writers * (now - before)
            self.readers += readers * (now - before)
            before = now

    def stop(self):
        self.ended.set()
        self.join()
        self.connection.close()


def recompute(lo, hi):
    return RECOMPUTE.format(lo=lo, hi=hi)


def delete_and_insert(server, database, rows):
    """One transaction; the seconds from its first write to its end."""
    connection = server.connect(database)
    connection.autocommit = False
    cursor = connection.cursor()
    began = time.monotonic()
    cursor.execute(f"DELETE FROM fct_orders WHERE order_date >= '{FROM}' AND order_date < '{TO}'")
    cursor.execute(f"INSERT INTO fct_orders ({COLUMNS}) {rows}")
    connection.commit()
    held = time.monotonic() - began
    connection.close()
    return held


def naive(server, database):
    return delete_and_insert(server, database, recompute(repr(FROM), repr(TO)))


def floor(server, database):
    server.run(database, "CREATE TABLE shadow AS SELECT * FROM fct_orders WHERE false")
    connection = server.connect(database)
    cursor = connection.cursor()
    cursor.execute(f"SELECT d::date::text FROM generate_series(date '{FROM}', date '{TO}' - 1, interval '1 day') d")
    for (day,) in cursor.fetchall():
        cursor.execute(f"INSERT INTO shadow ({COLUMNS}) {recompute(f'date {day!r}', f'date {day!r} + 1')}")
    cursor.execute("SELECT order_date, count(*), sum(net_cents + order_id) FROM shadow GROUP BY 1")
    connection.close()
    return delete_and_insert(server, database, f"SELECT {COLUMNS} FROM shadow")


class Tidegate:
    peak_mb = 0

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def call(self, *args):
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen([self.binary, *args], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            Tidegate.peak_mb = max(Tidegate.peak_mb, round(usage.ru_maxrss / 1024))
            if process.returncode:
                output.seek(0)
                sys.exit(f"tidegate {' '.join(args)} ended with {process.returncode}:\n{output.read()}")

    def plan(self, server, database, budget):
        text = recompute(":from", ":to").replace("\n", "\n  ")
        (self.folder / "spec.yaml").write_text(SPEC.format(database=server.url(database), budget=budget, recompute=text))
        began = time.monotonic()
        self.call("plan", "spec.yaml")
        return time.monotonic() - began

    def two(self):
        self.call("run", "spec.yaml")
        self.call("swap", "spec.yaml", "--yes")

    def one(self):
        self.call("backfill", "spec.yaml", "--yes")


def check_sum(server, database, expected):
    got = int(server.value(database, "SELECT sum(net_cents) FROM fct_orders"))
    if expected is not None and got != expected:
        sys.exit(f"wrong answer: sum(net_cents) is {got}, not {expected}")
    return got


def measure_once(server, gate, kind, way):
    database, planning = server.fresh(kind), 0.0
    if way in ("one", "crew", "two"):
        planning = gate.plan(server, database, CREW if way == "crew" else WHOLE_TIME)
        if way != "two":
            gate.call("discard", "spec.yaml")
    size, position = server.value(database, SIZE), server.value(database, "SELECT pg_current_wal_insert_lsn()")
    watch = LockWatch(server, database)
    watch.start()
    began = time.monotonic()
    held = {"naive": lambda: naive(server, database), "floor": lambda: floor(server, database), "one": gate.one, "crew": gate.one, "two": gate.two}[way]()
    seconds = time.monotonic() - began
    watch.stop()
    return {"seconds": seconds - (planning if way in ("one", "crew") else 0), "lock": watch.writers if held is None else held, "access_exclusive": watch.readers,
            "wal_mb": float(server.value(database, f"SELECT pg_current_wal_insert_lsn() - '{position}'::pg_lsn")) / 2**20,
            "growth_mb": float(server.value(database, SIZE) - size) / 2**20, "database": database}


def measure(server, gate, kind, repeat, expected):
    """Round robin, so that a machine that slows down slows all ways; the median of each."""
    figures = {way: [] for way in ("naive", "floor", "two", "one", "crew")}
    for _ in range(repeat):
        for way, runs in figures.items():
            runs.append(measure_once(server, gate, kind, way))
            expected = check_sum(server, runs[-1].pop("database"), expected)
    return {way: {what: round(statistics.median(run[what] for run in runs), 4) for what in runs[0]} | {"runs": [round(run["seconds"], 3) for run in runs]}
            for way, runs in figures.items()}


class Pgbench:
    """Clients beside; latencies are read from its log when it has ended."""

    def __init__(self, server, database, folder):
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.process = subprocess.Popen(server.program("pgbench", database, "-n", "-c", "4", "-j", "2", "-T", "3600", "-l"),
                                        cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def stop(self):
        """The log is written in pieces of some kilobytes; the last piece may be lost, so some time is let pass first."""
        time.sleep(3)
        if self.process.poll() is not None:
            sys.exit(f"pgbench ended by itself: {self.process.stderr.read()}")
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.latencies = []
        for log in self.folder.glob("pgbench_log.*"):
            for line in log.read_text().splitlines():
                fields = line.split()
                if len(fields) >= 6 and fields[2].isdigit():
                    self.latencies.append((int(fields[4]) + int(fields[5]) / 1e6, int(fields[2]) / 1000))
        shutil.rmtree(self.folder)

    def p99(self, begin, end):
        """Milliseconds, of the transactions that ended between two times, and how many they were."""
        found = sorted(latency for at, latency in self.latencies if begin <= at <= end)
        if not found:
            sys.exit("pgbench ended no transaction in the time that was looked at")
        return found[min(len(found) - 1, int(len(found) * 0.99))], len(found)


def beside(server, gate, folder, way, alone_seconds, expected):
    """pgbench alone, then beside a way: the p99 of both stretches."""
    database = server.fresh("served")
    if way == "tidegate":
        gate.plan(server, database, "")
    bench = Pgbench(server, database, folder)
    time.sleep(alone_seconds / 3)  # until its pages are in the buffers
    begin = time.time()
    time.sleep(alone_seconds)
    middle = time.time()
    if way == "naive":
        naive(server, database)
    else:
        gate.two()
    end = time.time()
    bench.stop()
    check_sum(server, database, expected)
    (alone, _), (during, n) = bench.p99(begin, middle), bench.p99(middle, end)
    return {"alone_ms": alone, "beside_ms": during, "ratio": during / alone, "seconds": end - middle, "transactions": n}


def production(server, binary, folder, repeat, alone_seconds, expected):
    gate = Tidegate(binary, folder)
    figures = {"naive": [], "tidegate": []}
    for _ in range(repeat):
        for way, runs in figures.items():
            runs.append(beside(server, gate, folder, way, alone_seconds, expected))
    return {way: {what: round(statistics.median(run[what] for run in runs), 3) for what in runs[0]} | {"runs": [round(run["ratio"], 3) for run in runs]}
            for way, runs in figures.items()}


def ratios(report):
    found = {}
    for kind in ("sparse", "dense", "partition"):
        if kind not in report:
            continue
        figures = report[kind]
        for what, of in (("total", "seconds"), ("lock", "lock")):
            for way in ("floor", "two", "one", "crew"):
                found[f"{kind}_{what}_{way}"] = round(figures[way][of] / figures["naive"][of], 3)
            found[f"{kind}_{what}"] = found[f"{kind}_{what}_crew"]
        found[f"{kind}_access_exclusive_ms"] = round(figures["crew"]["access_exclusive"] * 1000)
    if "production" in report:
        found["production_p99"] = report["production"]["tidegate"]["ratio"]
        found["production_p99_naive"] = report["production"]["naive"]["ratio"]
    return found


def tell(report):
    print(report["machine"])
    for kind in ("sparse", "dense", "partition"):
        if kind not in report:
            continue
        base = report[kind]["naive"]
        print(f"\n{kind:<10}{'seconds':>9}{'× naive':>9}{'lock s':>9}{'× naive':>9}{'excl. s':>9}{'WAL MB':>9}{'growth MB':>11}")
        for way, figure in report[kind].items():
            print(f"{way:<10}{figure['seconds']:>9.2f}{figure['seconds'] / base['seconds']:>9.2f}{figure['lock']:>9.3f}{figure['lock'] / base['lock']:>9.3f}"
                  f"{figure['access_exclusive']:>9.3f}{figure['wal_mb']:>9.0f}{figure['growth_mb']:>11.0f}")
    if "production" in report:
        print(f"\n{'pgbench':<10}{'p99 alone':>11}{'p99 beside':>12}{'ratio':>8}{'seconds':>9}")
        for way, figure in report["production"].items():
            print(f"{way:<10}{figure['alone_ms']:>8.1f} ms{figure['beside_ms']:>9.1f} ms{figure['ratio']:>8.2f}{figure['seconds']:>9.1f}")
    print(f"\ntwo: run and swap as two processes; one: backfill in one process, less its planning; crew: the same with two workers. Tidegate's peak memory {report['peak_mb']} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kind", action="append", choices=["sparse", "dense", "partition", "production"], help="only this one; may be given several times")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kinds = options.kind or ["sparse", "dense", "partition", "production"]
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    binary = os.path.abspath(options.binary)
    full = (options.days, options.rows) == (365, 10000)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    server = Server()
    try:
        server.make(options.days, options.rows)
        # Without the workload's known answer: that of naive.
        expected = RIGHT_SUM if full else None
        gate = Tidegate(binary, folder)
        version = server.value("postgres", "SHOW server_version")
        report = {"machine": f"{platform.machine()}, {os.cpu_count()} cores, PostgreSQL {version}", "ratios": {}}
        for kind in ("sparse", "dense", "partition"):
            if kind in kinds:
                report[kind] = measure(server, gate, kind, options.repeat, expected)
        if "production" in kinds:
            report["production"] = production(server, binary, folder, options.repeat, 15 if full else 3, expected)
        report["ratios"] = ratios(report)
        report["peak_mb"] = Tidegate.peak_mb
    finally:
        server.stop()
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        tell(report)


if __name__ == "__main__":
    main()
