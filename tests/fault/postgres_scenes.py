"""The scenes of scenes.py on PostgreSQL, reached through a proxy that disturbs them."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flow"))
import harness  # noqa: E402
import postgres_harness  # noqa: E402
import psycopg2  # noqa: E402
from harness import wait_until  # noqa: E402
from postgres_proxy import LONGEST_IDLE, Proxy  # noqa: E402

ORDERS = """
CREATE TABLE shops(id int PRIMARY KEY, name text);
INSERT INTO shops VALUES(1, 'north'), (2, 'south');
CREATE TABLE orders(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, rate int NOT NULL, shop int);
INSERT INTO orders SELECT i * 10 + k + 1, date '2024-01-01' + i, 100 + k, 3, k % 2 + 1
FROM generate_series(0, 13) i, generate_series(0, 9) k WHERE k <= 3 + i % 7;
"""
# The faults: wrong values, a row that is missing, one too many, two on the wrong date.
SALES = """
INSERT INTO sales SELECT id, day, cents, cents * rate, shop, 'note ' || id FROM orders;
UPDATE sales SET net = cents WHERE day BETWEEN '2024-01-04' AND '2024-01-10' AND id % 3 = 0;
DELETE FROM sales WHERE id IN (34, 53);
INSERT INTO sales VALUES(1000, '2024-01-06', 1, 1, 1, 'too many'), (1001, '2024-01-08', 1, 1, 2, 'too many');
UPDATE sales SET day = '2024-01-09' WHERE id = 43;
UPDATE sales SET day = '2024-01-04' WHERE id = 72;
CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
ANALYZE;
"""
KEYED = ORDERS + """
CREATE TABLE sales(id int PRIMARY KEY, day date NOT NULL, cents int NOT NULL, net int, shop int REFERENCES shops(id), note text);
CREATE INDEX sales_day ON sales(day);
COMMENT ON TABLE sales IS 'what was sold';
""" + SALES + """
CREATE TABLE refunds(id int PRIMARY KEY, sale int NOT NULL REFERENCES sales(id) ON DELETE CASCADE);
INSERT INTO refunds SELECT id, id FROM sales WHERE id % 10 = 1 AND id < 1000;
"""
KEYED_SPEC = """
target: sales
range: 2024-01-04..2024-01-10
wrong: the rate was left out, rows were lost, doubled and put on the wrong day
correct: one row an order, net is cents times rate
changes: {net: yes, day: yes, new rows: yes, vanished rows: yes}
control: 2024-01-01..2024-01-03
recompute: SELECT id, day, cents, cents * rate AS net, shop FROM orders WHERE day >= :from AND day < :to
"""
PARTED = ORDERS + """
CREATE TABLE sales(id int, day date NOT NULL, cents int NOT NULL, net int, shop int, note text, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM ('2024-01-01') TO ('2024-01-06');
CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM ('2024-01-06') TO ('2024-01-11');
CREATE TABLE sales_3 PARTITION OF sales FOR VALUES FROM ('2024-01-11') TO ('2024-01-16');
CREATE INDEX sales_net ON sales(net) WHERE net > 10;
COMMENT ON TABLE sales_2 IS 'the second';
COMMENT ON INDEX sales_1_pkey IS 'its key';
""" + SALES
PARTED_SPEC = KEYED_SPEC.replace("shop FROM", "shop, 'note ' || id AS note FROM").replace("control: 2024-01-01..2024-01-03\n", "").replace("net: yes, day: yes", "net: yes, note: yes") + "publish: exchange\n"
REPLACED = ORDERS + """
CREATE TABLE sales(id int, day date NOT NULL, cents int NOT NULL, net int, shop int, note text, PRIMARY KEY (day, id));
CREATE INDEX sales_net ON sales(net) WHERE net > 10;
""" + SALES
REPLACED_SPEC = PARTED_SPEC.replace("exchange", "replace")
KEYLESS = """
CREATE TABLE orders(day date NOT NULL, item text, cents int, rate int);
INSERT INTO orders SELECT date '2024-01-01' + i, 'item ' || k / 2, 100 + k / 2, 3 FROM generate_series(0, 9) i, generate_series(0, 5) k;
CREATE TABLE sales(day date NOT NULL, item text, cents int, net int);
INSERT INTO sales SELECT day, item, cents, CASE WHEN day BETWEEN '2024-01-04' AND '2024-01-07' AND item = 'item 1'
                  THEN cents ELSE cents * rate END FROM orders;
CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
ANALYZE;
"""
KEYLESS_SPEC = """
target: sales
range: 2024-01-04..2024-01-07
wrong: the rate was left out
correct: net is cents times rate
control: 2024-01-01..2024-01-03
recompute: SELECT day, item, cents, cents * rate AS net FROM orders WHERE day >= :from AND day < :to
"""
SCENES = {"keyed": (KEYED, KEYED_SPEC), "keyless": (KEYLESS, KEYLESS_SPEC), "exchange": (PARTED, PARTED_SPEC),
          "replace": (REPLACED, REPLACED_SPEC)}
PRODUCTION = "SELECT * FROM sales ORDER BY 1, 2, 3, 4"
BREAK = "UPDATE sales SET net = -5 WHERE day = '2024-01-05'; DELETE FROM sales WHERE id = 61"
# What a tool that can only write in place would do: the right values of its batch's dates, straight into production.
TOOL = """
UPDATE sales SET net = o.cents * o.rate FROM orders o
 WHERE o.id = sales.id AND sales.day >= '{from}' AND sales.day < '{to}' AND sales.id < 1000;
DELETE FROM sales WHERE day >= '{from}' AND day < '{to}' AND id >= 1000;
INSERT INTO sales SELECT id, day, cents, cents * rate, shop, NULL FROM orders
 WHERE id IN (34, 53) AND day >= '{from}' AND day < '{to}'
"""
# The same command and, before it, the commands that lead to where it can be given.
WAY = {
    "run": ["plan"],
    "swap": ["plan", "run"],
    "rollback": ["plan", "run", "swap"],
    "swap again": ["plan", "run", "swap", "rollback"],
    "finish": ["plan", "run", "swap"],
    "discard": ["plan", "run"],
    "snapshot": [],
    "restore": ["snapshot", "in place"],
}
WORDS = {
    "plan": ["plan", "backfill.yaml"],
    "run": ["run", "backfill.yaml"],
    "swap": ["swap", "backfill.yaml", "--yes"],
    "rollback": ["rollback", "backfill.yaml"],
    "swap again": ["swap", "backfill.yaml", "--yes"],
    "finish": ["finish", "backfill.yaml", "--early"],
    "discard": ["discard", "backfill.yaml"],
    "restore": ["restore", "backfill.yaml"],
}
WAITS = 25  # seconds in which whoever is gone must have let go
LEDGER = ("meta", "backfill", "date", "batch", "col", "finding", "object", "exchange", "event", "xact")
# Of Tidegate's tables and views those that are not the ledger's own, in whatever schema they stand.
OURS = f"""
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'v', 'p', 'm') AND (n.nspname = 'tidegate' AND c.relname NOT IN {LEDGER} OR starts_with(c.relname, 'tidegate_'))
 ORDER BY 1"""


class Scene(postgres_harness.PostgresFlow):
    """A scene outside a test case: made by name, driven to a point on the way, put back there as often as wanted. The
    ledger knows the database by its oid, so that it is made again with the same one."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-"))
        self.cluster = postgres_harness.server()
        self.proxy = Proxy(self.cluster)
        self.name = self.cluster.database(self.scene)
        self.database = self.cluster.url(self.name)
        self.named = self.proxy.url(self.name)

    def tearDown(self):
        self.drop()
        super().tearDown()
        self.cluster.drop(f"{self.name}_mark")
        self.proxy.close()

    @classmethod
    def at(cls, name, leading):
        scene = cls()
        cls.scene, text = SCENES[name]
        scene.setUp()
        scene.file = scene.spec(text)
        scene.before = scene.rows(PRODUCTION)
        for verb in leading:
            scene.go(verb)
        scene.oid = scene.value("SELECT oid::int FROM pg_database WHERE datname = current_database()")
        scene.cluster.run(f"CREATE DATABASE {scene.name}_mark TEMPLATE {scene.name} STRATEGY file_copy")
        return scene

    def drop(self):
        """PostgreSQL 15 may panic in it, as the database has the oid of one that was dropped before: its statistics are
        taken for dropped already. The drop is committed by then, and the server comes up again by itself."""
        wait_until(self.dropped, what="the server after its panic")

    def dropped(self):
        try:
            self.cluster.drop(self.name)
        except psycopg2.OperationalError:
            if "trying to drop stats entry already dropped" not in Path(self.cluster.folder, "log").read_text(encoding="utf-8"):
                raise
            return False
        return True

    def back(self, crash=False):
        self.drop()
        # The quick strategy writes no WAL for what sequences count on from there: a crash would lose it.
        self.cluster.run(f"CREATE DATABASE {self.name} TEMPLATE {self.name}_mark OID {self.oid} "
                         f"STRATEGY {'file_copy' if crash else 'wal_log'}")

    def words(self, verb):
        if verb != "snapshot":
            return WORDS[verb]
        tool = " ".join(TOOL.split())
        # Past the proxy: the tool is not what is disturbed.
        return ["snapshot", "backfill.yaml", "--then", f'psql -X -q -1 -v ON_ERROR_STOP=1 -d "{self.database}" -c "{tool}"']

    def go(self, verb):
        if verb == "in place":
            self.sql(BREAK)
            return None
        return self.tidegate(*self.words(verb))

    def newest(self):
        """State and id of the newest backfill; (None, None) without one."""
        if not self.value("SELECT count(*) FROM pg_class WHERE relname = 'backfill'"):
            return None, None
        found = self.rows("SELECT state, id FROM tidegate.backfill ORDER BY number DESC LIMIT 1")
        return found[0] if found else (None, None)

    def strays(self):
        """Tables and views that the ledger does not know, or knows and cannot find."""
        there = {name for (name,) in self.rows(OURS)}
        if self.newest()[0] is None:
            return sorted(there)
        known = {name for (name,) in self.rows(
            "SELECT coalesce(to_regclass(name)::text, name) FROM tidegate.object WHERE dropped_at = 0")}
        return sorted(there ^ known)

    def until_free(self, words):
        """The command until no holder that is gone, and no orphan of its, stands in the way."""
        end = time.monotonic() + WAITS
        while True:
            result = self.run_tidegate(*words)
            if result.code not in (harness.LEASED, harness.LOCKED) or time.monotonic() > end:
                return result
            time.sleep(0.1)

    def swaps(self):
        """How often it was published, as the ledger has it."""
        if self.newest()[0] is None:
            return 0
        return self.value("SELECT count(*) FROM tidegate.event WHERE what = 'swapped'")

    def sessions(self):
        """Sessions of Tidegate that do not end."""
        query = "SELECT pid, state, query FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database()"
        end = time.monotonic() + 10
        while (left := self.rows(query)) and time.monotonic() < end:
            time.sleep(0.05)
        return left

    def writers_get_in(self):
        """Production's writers wait no longer than what the server grants an idle transaction."""
        connection = self.connect(autocommit=False)
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = '{LONGEST_IDLE}s'")
        cursor.execute("LOCK TABLE sales IN ROW EXCLUSIVE MODE")
        connection.close()

    def picture(self):
        """Everything that a command leaves behind but times, owners, ids and how the dates fell into batches."""
        state, backfill = self.newest()
        tables = {"production": self.rows(PRODUCTION), "state": state, "catalogue": self.catalogue()}
        if self.value("SELECT count(*) FROM pg_class WHERE relname = 'refunds'"):
            tables["children"] = self.rows("SELECT * FROM refunds ORDER BY 1")
        if backfill is None:
            return tables
        tables["dates"] = self.rows(
            "SELECT date, expected_rows, suspect_rows, batch > 0, production, recomputed, stable, inserts, updates, deletes, "
            f"moves_in, moves_out FROM tidegate.date WHERE backfill = '{backfill}' ORDER BY 1")
        tables["columns"] = self.rows(
            f"SELECT column_name, sum(changed_rows) FROM tidegate.col WHERE backfill = '{backfill}' GROUP BY 1 ORDER BY 1")
        tables["seal"] = self.rows(f"SELECT seal FROM tidegate.backfill WHERE id = '{backfill}'")
        tables["findings"] = self.rows("SELECT kind, subject, found_rows FROM tidegate.finding ORDER BY 1, 2")
        # A snapshot makes its ledger, and with it the id, anew.
        tables["objects"] = self.rows(f"SELECT replace(name, '{backfill}', 'ID'), role, dropped_at > 0 FROM tidegate.object ORDER BY 1")
        for (name,) in self.rows(OURS):
            if self.value(f"SELECT relkind = 'r' FROM pg_class WHERE oid = '{name}'::regclass"):
                tables[name.replace(backfill, "ID")] = sorted(map(repr, self.rows(f"SELECT * FROM {name}")))
        return tables
