"""Foreign writers at random beside a backfill on PostgreSQL. No write that was reported as done is lost, and production
is at every end exactly what postgres_writers_model.py reckons.

A round takes its scripts from its seed; how the sessions meet is the machine's doing. One round again, as often as
wanted: TIDEGATE_SEED=KIND:SEED[:TIMES]. TIDEGATE_ROUNDS: how many of each kind; TIDEGATE_SOAK=1: many more."""

import io
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

import psycopg2
import psycopg2.extensions

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
import harness  # noqa: E402
from harness import BINARY, CONFLICT, DATABASE, DENIED, DRIFT, HELD, LOCKED, NO_CHANGE, OK, STATE, SUPERSEDED, USAGE  # noqa: E402
from postgres_harness import TEXTS, Cluster  # noqa: E402
from postgres_writers_model import FROM, TO, WHOLE, Fault, Model, bag, inside  # noqa: E402

SOAK = bool(os.environ.get("TIDEGATE_SOAK"))
ROUNDS = int(os.environ.get("TIDEGATE_ROUNDS", "1500" if SOAK else "100"))
WORKERS = 3
DAYS = [f"2024-01-{day:02}" for day in range(1, 15)]
PARTS = {"sales_1": ("2024-01-01", "2024-01-04"), "sales_2": ("2024-01-04", "2024-01-08"),
         "sales_3": ("2024-01-08", "2024-01-11"), "sales_4": ("2024-01-11", "2024-01-15")}
COLUMNS = "id int NOT NULL, day date NOT NULL, cents int NOT NULL, net int, note text"
KINDS = {
    "keyed": (f"CREATE TABLE sales({COLUMNS}, PRIMARY KEY (id)); CREATE INDEX ON sales(day);", "publish: changes"),
    "parted": (f"CREATE TABLE sales({COLUMNS}, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);", "publish: changes"),
    "exchange": (f"CREATE TABLE sales({COLUMNS}, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);", "publish: exchange"),
    "replace": (f"CREATE TABLE sales({COLUMNS}, PRIMARY KEY (day, id));", "publish: replace"),
    "keyless": (f"CREATE TABLE sales({COLUMNS}); CREATE INDEX ON sales(day);", "publish: changes"),
}
FILL = """
CREATE TABLE orders(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, rate int NOT NULL, note text);
INSERT INTO orders SELECT i * 10 + k, date '2024-01-01' + i, 100 + k, 3, 'note ' || i * 10 + k
FROM generate_series(0, 13) i, generate_series(0, 3) k WHERE k <= 1 + i % 3;
INSERT INTO sales SELECT id, day, cents, cents * CASE WHEN day BETWEEN '2024-01-05' AND '2024-01-10' AND id % 2 = 1 THEN 1 ELSE rate END, note
FROM orders WHERE id NOT IN (52, 81);
INSERT INTO sales VALUES(1000, '2024-01-06', 1, 1, 'too many'), (1001, '2024-01-09', 1, 1, 'too many');
"""
SPEC = """
database: {url}
target: sales
range: {range}
wrong: the rate was left out, rows were lost and doubled
correct: one row an order, net is cents times rate
changes: {{"*": yes, new rows: yes, vanished rows: yes}}
allow: {{emptied_dates: [{range}]}}
recompute: SELECT id, day, cents, cents * rate AS net{note} FROM orders WHERE day >= :from AND day < :to
production: none
budget: {{duty: 100 %, lock: 200ms, lock_tries: 3}}
{publish}
"""
USUAL = {}  # seconds that a command took, in this process
# What a writer may be told: a key that is there, a deadlock, a snapshot that is too old. Each is told to it alone.
SEEN = {"23505", "40P01", "40001"}
EXITS = {"plan": {OK, DENIED, LOCKED}, "run": {OK, HELD, DRIFT, LOCKED, STATE, SUPERSEDED, NO_CHANGE},
         "swap": {OK, HELD, DRIFT, LOCKED, STATE, SUPERSEDED}, "rollback": {OK, CONFLICT, LOCKED}}


def connect(url):
    connection = psycopg2.connect(url, application_name="writer")
    psycopg2.extensions.register_type(TEXTS, connection)
    return connection


def fetch(cursor):
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


class Transaction:
    """What a writer did: its statements for a person, its effects for the model."""

    def __init__(self, name):
        self.name, self.steps, self.effects, self.began, self.at = name, [], [], time.time(), None
        self.xid = self.error = None
        self.read_at = self.wrote_at = None  # when it first had seen and written the target

    def __str__(self):
        end = self.error or ("rolled back" if self.at is None else f"committed {self.at / 1e6:.6f}")
        return f"{self.began:.6f} {self.name}: " + "; ".join(self.steps) + f" -- {end}"


class Writer(threading.Thread):
    """One session of an application, a job or a person."""

    def __init__(self, of, number):
        super().__init__(daemon=True)
        self.of, self.number, self.fresh = of, number, 2000 + 1000 * number
        self.random, self.inside = random.Random(f"{of.seed} writer {number}"), of.inside
        self.done, self.trouble, self.idle = [], None, threading.Event()
        self.connection = connect(of.url)
        cursor = self.connection.cursor()
        cursor.execute("SET lock_timeout = '20s'; SET deadlock_timeout = '100ms'")
        self.connection.commit()

    def run(self):
        try:
            while not self.of.ended.is_set():
                if not self.of.busy.is_set():
                    self.idle.set()
                    self.of.busy.wait(0.005)
                    continue
                self.idle.clear()
                self.transaction()
                time.sleep(self.random.random() * self.of.rest)
        except BaseException as error:  # noqa: BLE001  told to the test
            self.trouble = error
        finally:
            self.idle.set()
            self.connection.close()

    def transaction(self, steps=None, gap=None):
        """gap: what is waited for before the end."""
        rng, txn = self.random, Transaction(f"w{self.number}")
        isolation = "REPEATABLE READ" if rng.random() < 0.15 else "READ COMMITTED"
        self.connection.set_session(isolation_level=isolation)
        think = 0.25 if rng.random() < 0.08 else 0.004
        cursor = self.connection.cursor()
        self.done.append(txn)
        try:
            for _ in range(steps or rng.choice((1, 1, 2, 3))):
                self.step(cursor, txn)
                time.sleep(0 if steps else rng.random() * think)
            if gap:
                gap()
            cursor.execute("SELECT pg_current_xact_id_if_assigned()::text")
            xid = cursor.fetchone()[0]
            if rng.random() < 0.12:
                self.connection.rollback()
                return
            self.connection.commit()
            txn.xid = xid
        except psycopg2.Error as error:
            self.connection.rollback()
            txn.error = f"{error.pgcode} {str(error).splitlines()[0]}"
            if error.pgcode not in SEEN:
                raise Fault(f"a writer was told {txn.error}: {txn}") from error

    def step(self, cursor, txn):
        rng, of = self.random, self.of
        if rng.random() < 0.12:
            return self.within_savepoint(cursor, txn)
        if of.rough and rng.random() < 0.06:
            return rng.choice((self.reload, self.add_column))(cursor, txn)
        # A source is changed alone, by a program that does not know the target.
        names = ["order", "app_insert", "app_update", "app_delete", "app_move", "insert", "update", "note", "note", "delete",
                 "move", "upsert", "read_upsert", "copy", "lock_update"]
        getattr(self, rng.choices(names, [1, 3, 3, 2, 2, 1, 3, 4, 4, 2, 1, 3, 1, 2, 3])[0])(cursor, txn)

    def within_savepoint(self, cursor, txn):
        before = len(txn.effects), txn.wrote_at, txn.read_at
        cursor.execute("SAVEPOINT one")
        txn.steps.append("SAVEPOINT")
        self.step(cursor, txn)
        if self.random.random() < 0.5:
            cursor.execute("ROLLBACK TO SAVEPOINT one")
            del txn.effects[before[0]:]
            txn.wrote_at, txn.read_at = before[1:]
            txn.steps.append("ROLLBACK TO")
        else:
            cursor.execute("RELEASE SAVEPOINT one")

    # ---- what to aim at

    def day(self):
        return self.random.choice([day for day in DAYS if inside({"day": day}) == (self.random.random() < self.inside)] or DAYS)

    def ident(self):
        if self.fresh % 1000 and self.random.random() < 0.3 * (self.inside + 0.1):
            return 2000 + 1000 * self.number + self.random.randrange(self.fresh % 1000)
        return self.ident_of(self.day())

    def new_ident(self):
        self.fresh += 1
        return self.fresh - 1

    def table(self, day):
        """A partition by its own name now and then."""
        if self.of.kind not in ("parted", "exchange") or self.random.random() < 0.75:
            return "sales"
        return next(name for name, (low, high) in PARTS.items() if low <= day < high)

    def value(self):
        return self.random.randrange(5, 99)

    # ---- statements

    def do(self, cursor, txn, sql, *values, table="sales"):
        """Runs it and says which rows it gave back."""
        cursor.execute(sql, values)
        rows = fetch(cursor) if cursor.description else []
        txn.steps.append(f"{cursor.query.decode()} [{cursor.rowcount}]")
        if table == "sales" and sql.startswith("SELECT"):
            txn.read_at = txn.read_at or time.time()  # FOR UPDATE keeps other writers of the row out, not a swap of others
        elif table == "sales":
            txn.wrote_at = txn.wrote_at or time.time()
        else:
            txn.effects += [("order", row["id"], row) for row in rows]
        return rows

    def look(self, cursor, txn, sql, *values):
        cursor.execute(sql, values)
        txn.read_at = txn.read_at or time.time()
        txn.steps.append(f"{cursor.query.decode()} [{cursor.rowcount}]")
        return fetch(cursor)

    def key(self, row):
        return tuple(row[column] for column in self.of.model.kind)

    def change(self, cursor, txn, ident, changed, table="sales"):
        """An UPDATE of the rows of an id; `changed` in SQL, the model hears of what came out."""
        sets = ", ".join(f"{column} = {sql}" for column, sql in changed.items())
        if self.of.kind == "keyless":
            old = self.do(cursor, txn, "SELECT *, ctid::text AS place FROM sales WHERE id = %s LIMIT 1 FOR UPDATE", ident)
            for row in old:
                place = row.pop("place")
                for new in self.do(cursor, txn, f"UPDATE sales SET {sets} WHERE ctid = '{place}' RETURNING *"):
                    txn.effects += [("delete", row), ("insert", new)]
            return
        where, old = f"id = {ident}", []
        if "day" in changed and self.of.kind != "keyed":  # the key itself: of which row?
            old = self.look(cursor, txn, f"SELECT * FROM {table} WHERE id = %s ORDER BY day LIMIT 1", ident)
            where += f" AND day = '{old[0]['day']}'" if old else " AND false"
        for new in self.do(cursor, txn, f"UPDATE {table} SET {sets} WHERE {where} RETURNING *"):
            key = self.key({**new, "day": old[0]["day"]} if old else new)
            txn.effects.append(("update", key, {column: new[column] for column in changed}, new))

    def order(self, cursor, txn):
        self.do(cursor, txn, "UPDATE orders SET cents = cents + 1 WHERE id = %s RETURNING *", self.ident(), table="orders")

    def insert(self, cursor, txn, ident=None, day=None):
        day = day or self.day()
        rows = self.do(cursor, txn, f"INSERT INTO {self.table(day)} (id, day, cents, net, note) VALUES (%s, %s, %s, %s, %s) RETURNING *",
                       ident or self.new_ident(), day, self.value(), self.value(), f"w{self.number}.{len(self.done)}")
        txn.effects += [("insert", row) for row in rows]

    def app_insert(self, cursor, txn):
        ident, day = self.new_ident(), self.day()
        self.do(cursor, txn, "INSERT INTO orders VALUES (%s, %s, %s, 3, %s) RETURNING *", ident, day, self.value(), f"note {ident}", table="orders")
        self.insert(cursor, txn, ident, day)

    def update(self, cursor, txn):
        day = self.day()
        self.change(cursor, txn, self.ident_of(day), {"net": "coalesce(net, 0) + 1000"}, self.table(day))

    def ident_of(self, day):
        if inside({"day": day}) and self.random.random() < 0.1:
            return self.random.choice((1000, 1001))  # which the swap takes away
        return DAYS.index(day) * 10 + self.random.randrange(4)

    def note(self, cursor, txn):
        """Preserved, or recomputed like the rest; anywhere."""
        day = self.day() if "note" in self.of.model.given else self.random.choice(DAYS)
        self.change(cursor, txn, self.ident_of(day), {"note": f"'w{self.number}.{len(self.done)}'"})

    def app_update(self, cursor, txn):
        ident, cents = self.ident(), self.value()
        self.do(cursor, txn, "UPDATE orders SET cents = %s WHERE id = %s RETURNING *", cents, ident, table="orders")
        self.change(cursor, txn, ident, {"cents": f"{cents}", "net": f"{cents} * 3"})

    def delete(self, cursor, txn, ident=None):
        for row in self.do(cursor, txn, "DELETE FROM sales WHERE id = %s RETURNING *", ident or self.ident()):
            txn.effects.append(("delete", row))

    def app_delete(self, cursor, txn):
        ident = self.ident()
        cursor.execute("DELETE FROM orders WHERE id = %s", (ident,))
        txn.steps.append(f"{cursor.query.decode()} [{cursor.rowcount}]")
        txn.effects += [("order", ident, None)] * cursor.rowcount
        self.delete(cursor, txn, ident)

    def move(self, cursor, txn, ident=None, day=None):
        self.change(cursor, txn, ident or self.ident(), {"day": f"'{day or self.day()}'"})

    def app_move(self, cursor, txn):
        ident, day = self.ident(), self.day()
        self.do(cursor, txn, "UPDATE orders SET day = %s WHERE id = %s RETURNING *", day, ident, table="orders")
        self.move(cursor, txn, ident, day)

    def upsert(self, cursor, txn, row=None):
        """Puts its own values over whatever is there; which of the two it did, the row says."""
        row = row or {"id": self.ident(), "day": self.day(), "cents": self.value(), "net": self.value(), "note": f"u{self.number}.{len(self.done)}"}
        if self.of.kind == "keyless":
            self.delete(cursor, txn, row["id"])
            self.insert(cursor, txn, row["id"], row["day"])
            return
        key = ", ".join(self.of.model.kind)
        for new in self.do(cursor, txn, "INSERT INTO sales (id, day, cents, net, note) VALUES (%s, %s, %s, %s, %s) "
                           f"ON CONFLICT ({key}) DO UPDATE SET cents = excluded.cents, net = excluded.net, note = excluded.note || '+' "
                           "RETURNING *", *(row[column] for column in ("id", "day", "cents", "net", "note"))):
            txn.effects.append(("insert", new) if not new["note"].endswith("+") else ("update", self.key(new), {c: new[c] for c in ("cents", "net", "note")}, new))

    def read_upsert(self, cursor, txn):
        """What it read some time ago, written again: between the two nothing is locked."""
        rows = self.look(cursor, txn, "SELECT * FROM sales WHERE id = %s LIMIT 1", self.ident())
        time.sleep(self.random.random() * 0.03)
        for row in rows:
            self.upsert(cursor, txn, {**row, "net": row["net"] if row["net"] is not None else 0, "note": f"r{self.number}.{len(self.done)}"})

    def lock_update(self, cursor, txn):
        ident = self.ident()
        rows = self.do(cursor, txn, "SELECT * FROM sales WHERE id = %s FOR UPDATE", ident)
        if rows:
            self.change(cursor, txn, ident, {"net": f"{(rows[0]['net'] or 0) + 7}"})

    def copy(self, cursor, txn):
        rows = [(self.new_ident(), self.day(), self.value(), self.value(), f"c{self.number}.{len(self.done)}") for _ in range(3)]
        cursor.copy_expert("COPY sales (id, day, cents, net, note) FROM STDIN", io.StringIO("".join("\t".join(map(str, row)) + "\n" for row in rows)))
        txn.wrote_at = txn.wrote_at or time.time()
        txn.steps.append(f"COPY {rows}")
        txn.effects += [("insert", row) for row in self.look(cursor, txn, "SELECT * FROM sales WHERE id = ANY (%s)", [row[0] for row in rows])]

    def reload(self, cursor, txn):
        self.do(cursor, txn, "TRUNCATE sales")
        txn.effects.append(("truncate",))
        for row in self.do(cursor, txn, "INSERT INTO sales (id, day, cents, net, note) SELECT id, day, cents, 1, 'reloaded' FROM orders WHERE mod(id, 3) = 0 RETURNING *"):
            txn.effects.append(("insert", row))

    def add_column(self, cursor, txn):
        name = f"extra_{self.new_ident()}"
        self.do(cursor, txn, f"ALTER TABLE sales ADD COLUMN {name} int DEFAULT 7")
        txn.effects.append(("column", name, 7))


class Round:
    """One backfill from plan to end, with its writers."""

    def __init__(self, kind, seed, url, folder):
        self.kind, self.seed, self.url, self.folder = kind, f"{kind}:{seed}", url, folder
        self.random = rng = random.Random(self.seed)
        self.inside, self.rest, self.rough = rng.choice((0, 0, 0.03, 0.3, 0.9)), rng.choice((0.002, 0.01, 0.03)), rng.random() < 0.12
        self.busy, self.ended, self.verbs, self.results = threading.Event(), threading.Event(), [], []
        self.db = connect(url)
        self.db.autocommit = True
        self.begin()
        self.model = Model(kind, self.rows("SELECT * FROM sales"), self.rows("SELECT * FROM orders"))
        self.writers = [Writer(self, number) for number in range(rng.choice((1, 2, 3)))]
        self.foe = Writer(self, 3)  # no thread of its own: acts when told
        self.foe.inside = 1

    def begin(self):
        table, publish = KINDS[self.kind]
        parts = "".join(f"CREATE TABLE {name} PARTITION OF sales FOR VALUES FROM ('{low}') TO ('{high}');"
                        for name, (low, high) in PARTS.items() if "PARTITION" in table)
        self.rows(f"DROP SCHEMA IF EXISTS tidegate CASCADE; DROP TABLE IF EXISTS sales, orders; {table} {parts} {FILL}")
        note = ", note" if self.kind in WHOLE else ""
        (self.folder / "backfill.yaml").write_text(SPEC.format(url=self.url, range=f"{FROM}..{TO}", note=note, publish=publish))

    def rows(self, query):
        cursor = self.db.cursor()
        cursor.execute(query)
        return fetch(cursor) if cursor.description else []

    def go(self, verb, *options, chance=0.6):
        """One command; with the writers beside it, or alone."""
        alone = self.random.random() >= chance
        if alone:
            self.settle()
        else:
            self.busy.set()
            time.sleep(self.random.random() * 0.01)
        return self.done(alone, *self.beside(lambda process: None, verb, *options))

    def beside(self, act, verb, *options):
        process = subprocess.Popen([BINARY, "--json", verb, "backfill.yaml", *options], cwd=self.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        act(process)
        out, err = process.communicate(timeout=120)
        args = [verb, *options]
        return args, harness.Result(args, subprocess.CompletedProcess(args, process.returncode, out, err))

    def ambush(self, verb, *options):
        """One writes before the command and commits while that waits for its lock."""
        self.settle()
        open_now, end = threading.Event(), threading.Event()
        foe = threading.Thread(target=self.foe_acts, args=(open_now, lambda: (open_now.set(), end.wait(10))))

        def act(process):
            waits = f"SELECT 1 FROM pg_locks WHERE NOT granted AND relation = {self.rows('SELECT %s::regclass::oid AS oid' % repr('sales'))[0]['oid']}"
            while process.poll() is None and not self.rows(waits):
                time.sleep(0.002)
            end.set()
            foe.join()

        foe.start()
        open_now.wait(10)
        return self.done("ambushed", *self.beside(act, verb, *options))

    def snipe(self, verb, *options):
        """One writes once: at some time while the command works, or when it has just taken its lock."""
        self.settle()
        began, pounce = time.monotonic(), self.random.random() < 0.6
        fenced = """SELECT 1 FROM pg_locks t JOIN pg_locks l USING (pid) WHERE t.granted AND l.granted AND t.relation = 'sales'::regclass
                    AND l.relation = 'tidegate.backfill'::regclass AND l.mode IN ('RowShareLock', 'RowExclusiveLock')"""

        def act(process):
            while pounce and process.poll() is None and not self.rows(fenced):
                pass
            time.sleep(0 if pounce else self.random.random() * USUAL.get(verb, 0.1))
            self.foe_acts(None, None)

        done = self.done("sniped at", *self.beside(act, verb, *options))
        USUAL[verb] = (USUAL.get(verb, 0.1) + time.monotonic() - began) / 2
        return done

    def foe_acts(self, opened, gap):
        try:
            self.foe.transaction(steps=1, gap=gap)
        except BaseException as error:  # noqa: BLE001  told to the test
            self.foe.trouble = error
        finally:
            if opened:
                opened.set()

    def done(self, how, args, result):
        verb, alone = args[0], how is True
        how = "alone" if alone else how or ""
        self.verbs.append(f"{' '.join(args)} {how} -> {result.code}")
        self.results.append(result)
        # A column of which the recompute knows nothing forbids an exchange and the replacing of whole dates, whenever it has
        # come, and one that comes in the last moment ends it.
        late = self.rough and (result.code == USAGE and self.kind in WHOLE or result.code == DATABASE and "missing column" in result.out + result.err)
        if verb in EXITS and result.code not in EXITS[verb] and not late:
            raise Fault(repr(result))
        if not alone and self.random.random() < 0.5:
            time.sleep(self.random.random() * 0.03)
        return result.code

    def settle(self):
        """Until every writer has ended what it was at."""
        self.busy.clear()
        for writer in self.writers:
            writer.idle.wait(30)
            while self.writers and writer.is_alive() and not writer.idle.is_set():
                writer.idle.wait(0.01)

    def swap(self):
        for attempt in range(4):
            chance = (0.7, 0.5, 0.3, 0)[attempt]
            if self.go("run", chance=chance) in (SUPERSEDED, USAGE):
                return False
            act = self.random.choice((self.go, self.go, self.ambush, self.snipe)) if attempt < 3 else self.go
            if act("swap", "--yes", **({"chance": chance} if act == self.go else {})) == OK:
                return True
        return False

    def play(self):
        if self.go("plan", chance=0.4) != OK and self.go("plan", chance=0) != OK:
            return
        if not self.swap() or self.random.random() < 0.15:
            return
        self.later = self.random.choice(("refuse", "keep", "overwrite"))
        act = self.random.choice((self.go, self.go, self.go, self.ambush, self.snipe))
        if act("rollback", *([] if self.later == "refuse" else [f"--{self.later}-later"])) == OK and self.random.random() < 0.5:
            self.swap()

    # ---- judging

    def history(self):
        """Everything that was committed, in its order: (time, what, who)."""
        found = []
        done = [txn for writer in [*self.writers, self.foe] for txn in writer.done if txn.xid]
        times = {row["xid"]: row["at"] for row in self.rows(
            "SELECT xid, (extract(epoch FROM pg_xact_commit_timestamp(xid::xid)) * 1000000)::int8 AS at "
            f"FROM unnest(ARRAY[{','.join(repr(txn.xid) for txn in done)}]::text[]) AS xid")}
        for txn in done:
            txn.at = times[txn.xid]
            found.append((txn.at, "writer", txn))
        if self.rows("SELECT 1 FROM pg_class WHERE relname = 'event'"):
            for row in self.rows("SELECT what, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::int8 AS at "
                                 "FROM tidegate.event WHERE what IN ('swapped', 'rolled_back') ORDER BY number"):
                found.append((row["at"], row["what"], None))
        return sorted(found, key=lambda event: event[0])

    def told(self, verb):
        return [result for result in self.results if result.args[0] == verb and result.code == OK]

    def judge(self):
        history = self.history()
        swaps = self.told("swap")
        for what, results in (("swapped", swaps), ("rolled_back", self.told("rollback"))):
            if len(results) != sum(event[1] == what for event in history):
                raise Fault(f"{len(results)} times told to have {what}: not what the ledger has")
        holds = [result.json["lock_seconds"] + 0.005 for result in swaps]
        swap_events = [event for event in history if event[1] == "swapped"]
        self.not_across(history, list(zip((event[0] / 1e6 for event in swap_events), holds)))
        now = bag(self.rows("SELECT * FROM sales"))
        wrong = None
        for order in self.orders(history, list(zip((event[0] for event in swap_events), holds))):
            model = Model(self.kind, self.model.rows(), self.model.orders.values())
            try:
                self.replay(model, order)
                if bag(model.rows()) != now:
                    raise Fault(f"production lacks {dict(bag(model.rows()) - now)}\nand has {dict(now - bag(model.rows()))}")
                return model
            except Fault as fault:
                wrong = wrong or fault
        raise wrong

    def replay(self, model, history):
        for _, what, txn in history:
            try:
                if what == "swapped":
                    model.swap()
                elif what == "rolled_back":
                    model.rollback(self.later)
                else:
                    for effect in txn.effects:
                        model.write(effect)
            except Fault as fault:
                raise Fault(f"{fault}\n  at {what} {txn or ''}") from fault

    def orders(self, history, swaps):
        """A source that is changed alone while a swap holds its lock was or was not part of it."""
        yield history
        for at, hold in swaps:
            late = [event for event in history if event[1] == "writer" and at - hold * 1e6 < event[0] < at
                    and event[2].effects and all(effect[0] == "order" for effect in event[2].effects)]
            for behind in range(len(late)):
                yield sorted(history, key=lambda event: at + 1 if event in late[behind:] else event[0])

    def not_across(self, history, swaps):
        """No transaction that had written, or read and then wrote, the target lay open over a swap."""
        for at, hold in swaps:
            for end, what, txn in history:
                if what != "writer" or end / 1e6 < at or not any(effect[0] != "order" for effect in txn.effects):
                    continue
                if (txn.wrote_at or at) < at or (txn.read_at or at) < at - hold:
                    raise Fault(f"open across the swap of {at:.6f}: {txn}")

    def finish(self, model):
        """Alone now: finish refuses exactly when published rows were written again."""
        if model.swapped is None or self.rows("SELECT 1 FROM pg_attribute WHERE attrelid = 'sales'::regclass AND attname LIKE 'extra%'"):
            return
        code, wanted = self.go("finish", "--early", chance=0), DENIED if model.conflicts() else OK
        if code != wanted:
            raise Fault(f"finish ended with {code} and should have with {wanted}: {model.conflicts()}\n{self.results[-1]}")

    def run(self):
        for writer in self.writers:
            writer.start()
        try:
            self.play()
            self.settle()
            model = self.judge()
            self.finish(model)
            self.judge()
        finally:
            self.ended.set()
            for writer in self.writers:
                writer.join(60)
            self.foe.connection.close()
            for writer in [*self.writers, self.foe]:
                if writer.trouble:
                    raise writer.trouble
        return {"swaps": len(self.told("swap")), "rollbacks": len(self.told("rollback")),
                "writes": sum(bool(txn.xid) for writer in self.writers for txn in writer.done), "verbs": self.verbs}

    def story(self):
        events = [str(txn) for writer in [*self.writers, self.foe] for txn in writer.done]
        try:
            events += [f"{at / 1e6:.6f} tidegate: {what}" for at, what, txn in self.history() if txn is None]
        except psycopg2.Error as error:
            events.append(str(error))
        return "\n".join([f"TIDEGATE_SEED={self.seed}", *self.verbs, *sorted(events)])


def one_round(kind, seed, url, folder):
    """(figures, None) or (None, what was wrong and how it came about)."""
    of = Round(kind, seed, url, folder)
    try:
        return of.run(), None
    except Exception as error:  # noqa: BLE001  told to the test
        return None, f"{type(error).__name__}: {error}\n{of.story()}"
    finally:
        of.db.close()


def many_rounds(url, jobs, answers):
    """A process's share."""
    with tempfile.TemporaryDirectory(prefix="tidegate-") as folder:
        for kind, seed in iter(jobs.get, None):
            answers.put(one_round(kind, seed, url, Path(folder)))


class Writers(unittest.TestCase):
    """Many rounds, several at a time, each on a database of its own."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster("track_commit_timestamp=on", "autovacuum_naptime=1s", "deadlock_timeout=300ms")

    def play(self, rounds):
        processes, began = multiprocessing.get_context("fork"), time.monotonic()
        jobs, answers = processes.Queue(), processes.Queue()
        for item in [*rounds, *[None] * WORKERS]:
            jobs.put(item)
        workers = [processes.Process(target=many_rounds, args=(self.cluster.url(self.cluster.database()), jobs, answers)) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        figures, faults = [], []
        for _ in rounds:
            figure, fault = answers.get(timeout=300)
            figures += [figure] if figure else []
            faults += [fault] if fault else []
            if fault:
                print(fault, flush=True)
        for worker in workers:
            worker.join()
        print(f"{len(figures)} rounds in {time.monotonic() - began:.0f} s, {len(faults)} faults; " + ", ".join(f"{name} {sum(f[name] for f in figures)}" for name in ("swaps", "rollbacks", "writes")))
        print(sorted(Counter(verb.replace(" alone", "").replace("  ", " ") for f in figures for verb in f["verbs"]).items()))
        self.assertEqual(len(faults), 0, "\n\n".join(faults[:3]))
        return figures

    def kind(self, kind):
        if os.environ.get("TIDEGATE_SEED"):
            wanted, seed, times = (os.environ["TIDEGATE_SEED"] + ":1").split(":")[:3]
            return self.play([(kind, seed)] * int(times)) if wanted == kind else self.skipTest("another kind is wanted")
        figures = self.play([(kind, seed) for seed in range(ROUNDS)])
        if ROUNDS >= 100:  # or it has tried nothing
            self.assertGreater(sum(figure["swaps"] for figure in figures), ROUNDS // 2)
            self.assertGreater(sum(figure["rollbacks"] for figure in figures), ROUNDS // 8)
        return None

    def test_keyed(self):
        self.kind("keyed")

    def test_partitioned_row_by_row(self):
        self.kind("parted")

    def test_partitioned_by_exchange(self):
        self.kind("exchange")

    def test_by_replacing(self):
        self.kind("replace")

    def test_without_a_key(self):
        self.kind("keyless")


if __name__ == "__main__":
    harness.main()
