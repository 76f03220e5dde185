"""Publishing by exchange: whole partitions written beside production change places with the old ones, which are the kept
rows. Every test asks production itself, and the catalogue, what became of it."""

import threading
import time

import harness
from harness import CONFLICT, DRIFT, HELD, LOCKED, STATE
from postgres_harness import PostgresFlow

# Rows 1 to 3 of each day of 2024; production has doubled the amounts of May and June.
SCENE = """
CREATE SCHEMA "Odd";
CREATE TABLE raw (day date NOT NULL, id int NOT NULL, amount int NOT NULL);
INSERT INTO raw SELECT '2024-04-01'::date + d, i, d * 3 + i FROM generate_series(0, 120) AS d, generate_series(1, 3) AS i;
CREATE TABLE sales (
  id int, day date NOT NULL, amount int NOT NULL CHECK (amount >= 0), note text COLLATE "C" DEFAULT 'none',
  doubled int GENERATED ALWAYS AS (amount * 2) STORED, CONSTRAINT sales_key PRIMARY KEY (day, id))
  PARTITION BY RANGE (day);
CREATE TABLE sales_4 PARTITION OF sales FOR VALUES FROM ('2024-04-01') TO ('2024-05-01');
CREATE TABLE "Odd"."sales of May" PARTITION OF sales FOR VALUES FROM ('2024-05-01') TO ('2024-06-01')
  WITH (fillfactor = 90);
CREATE TABLE sales_6 PARTITION OF sales FOR VALUES FROM ('2024-06-01') TO ('2024-07-01') WITH (autovacuum_enabled = on);
CREATE TABLE sales_7 PARTITION OF sales FOR VALUES FROM ('2024-07-01') TO ('2024-08-01');
CREATE INDEX sales_amount ON sales (amount) WHERE amount > 10;
CREATE UNIQUE INDEX ON sales (day, amount);
COMMENT ON TABLE "Odd"."sales of May" IS 'it''s May';
COMMENT ON COLUMN sales_6.amount IS 'cents';
COMMENT ON INDEX sales_6_day_amount_idx IS 'an index';
CREATE VIEW monthly AS SELECT date_trunc('month', day) AS month, sum(amount) AS amount FROM sales GROUP BY 1;
CREATE ROLE reader_of_sales;
GRANT SELECT ON sales TO reader_of_sales;
INSERT INTO sales (id, day, amount, note) SELECT id, day, CASE WHEN day BETWEEN '2024-05-01' AND '2024-06-28' THEN 2 ELSE 1 END * amount, 'n' || id FROM raw;
ANALYZE;
"""
SPEC = """
target: sales
range: 2024-05-01..2024-06-28
wrong: amounts were doubled
correct: as they came
changes: {amount: true}
recompute: |
  SELECT id, day, amount, 'n' || id AS note FROM raw WHERE day >= :from AND day < :to
"""
NOW = "SELECT day, id, amount, note, doubled FROM sales ORDER BY 1, 2"
RIGHT = "SELECT day, id, amount, 'n' || id, 2 * amount FROM raw ORDER BY 1, 2"
OTHER = "SELECT * FROM sales WHERE day NOT BETWEEN '2024-05-01' AND '2024-06-28' ORDER BY day, id"


class Exchange(PostgresFlow):
    scene = SCENE.replace("CREATE ROLE reader_of_sales;", "DO $$ BEGIN CREATE ROLE reader_of_sales; EXCEPTION WHEN duplicate_object THEN NULL; END $$;")

    def setUp(self):
        super().setUp()
        self.before, self.right, self.other = self.rows(NOW), self.rows(RIGHT), self.rows(OTHER)
        self.assertNotEqual(self.before, self.right)

    def way(self, spec):
        return self.tidegate("--json", "plan", spec).json["plan"]["publish"]

    def parts(self):
        return [name for (name,) in self.rows("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^tidegate_.*_p[0-9]+$' ORDER BY 1")]

    def oids(self):
        return self.rows("SELECT relid::oid::int FROM pg_partition_tree('sales') WHERE isleaf ORDER BY relid::regclass::text")

    def test_default_privileges_give_nobody_more(self):
        """A table made anew has the grants of ALTER DEFAULT PRIVILEGES; a partition that changes places has those it had."""
        self.sql("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
        spec, catalogue = self.spec(SPEC), self.catalogue()
        for _ in range(2):
            self.assertEqual(self.way(spec)["way"], "exchange")
            self.tidegate("run", spec)
            self.tidegate("swap", spec, "--yes")
            self.assertEqual(self.rows(NOW), self.right)
            self.assertEqual(self.catalogue(), catalogue)
            self.tidegate("rollback", spec)
            self.tidegate("discard", spec)
        self.assertEqual(self.catalogue(), catalogue)

    def test_whole_story(self):
        spec = self.spec(SPEC)
        catalogue, oids = self.catalogue(), self.oids()
        plan = self.plan(spec)
        for word in ("by exchanging partitions", "2 partitions", "no DEFAULT partition", "row by row: about"):
            self.assertIn(word, plan.out)
        self.tidegate("run", spec)
        self.assertEqual(self.rows(NOW), self.before, "law 1")
        self.assertEqual(self.catalogue(), catalogue)
        self.assertEqual(self.rows("SELECT reloptions FROM pg_class WHERE relkind = 'r' AND relname ~ '^tidegate_.*_p[0-9]+$' ORDER BY relname"),
                         [(["fillfactor=90", "autovacuum_enabled=off"],), (["autovacuum_enabled=on"],)])
        self.assertIn("177 changes: 177 updates", self.tidegate("diff", spec).out)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.assertEqual(self.catalogue(), catalogue, "hazard 11")
        self.assertNotEqual(self.oids(), oids, "it was an exchange")
        self.assertEqual(self.rows("SELECT sum(amount) FROM monthly"), self.rows("SELECT sum(amount) FROM raw"), "hazard 12")
        self.assertIn("177 changes", self.tidegate("diff", spec).out)
        self.tidegate("rollback", spec)
        self.assertEqual((self.rows(NOW), self.oids(), self.catalogue()), (self.before, oids, catalogue))
        self.tidegate("swap", spec, "--yes")
        self.assertEqual((self.rows(NOW), self.catalogue()), (self.right, catalogue))
        self.assertEqual(len(self.parts()), 2, "law 6: the old partitions are kept")
        self.tidegate("finish", spec, "--early")
        self.assertEqual((self.rows(NOW), self.catalogue(), self.parts()), (self.right, catalogue, []))
        self.assertEqual(self.rows("SELECT count(*) FROM pg_views WHERE viewname LIKE 'tidegate_%'"), [(0,)])

    def test_discard_leaves_nothing(self):
        spec = self.spec(SPEC)
        catalogue = self.catalogue()
        self.built(spec)
        self.assertEqual(len(self.parts()), 2)
        self.tidegate("discard", spec)
        self.assertEqual((self.parts(), self.catalogue(), self.rows(NOW)), ([], catalogue, self.before))

    def test_when_it_is_not_possible_the_plan_says_why_and_goes_row_by_row(self):
        reasons = {
            "CREATE TABLE rest PARTITION OF sales DEFAULT": "DEFAULT partition",
            "CREATE TABLE child (day date, id int, FOREIGN KEY (day, id) REFERENCES sales)": "foreign keys",
            "CREATE PUBLICATION news FOR TABLE sales": "published",
            "CREATE INDEX own ON sales_6 (note)": "has indexes that the table does not have",
            "GRANT SELECT ON sales_6 TO reader_of_sales": "has grants of its own",
            "ALTER TABLE sales_6 ALTER amount SET STATISTICS 500": "statistics settings",
            "ALTER TABLE sales_6 ALTER amount SET STATISTICS 0": "statistics settings",
            "CREATE VIEW june AS SELECT * FROM sales_6": "is read by a view directly",
        }
        for statement, reason in reasons.items():
            with self.subTest(reason=reason):
                name = self.cluster.database(self.scene)
                self.cluster.drop(self.name)
                self.name, self.database = name, self.cluster.url(name)
                self.named = self.database
                self.sql(statement)
                spec = self.spec(SPEC)
                way = self.way(spec)
                self.assertEqual(way["way"], "changes")
                self.assertIn(reason, way["why"])
                self.assertIn(reason, self.tidegate("plan", self.spec(SPEC + "publish: exchange\n", "forced.yaml"), code=harness.USAGE).err)
                if "PUBLICATION" not in statement:
                    self.swapped(spec)
                    self.assertEqual(self.rows(NOW), self.right)

    def test_few_changes_go_row_by_row(self):
        self.sql("UPDATE sales s SET amount = r.amount FROM raw r WHERE r.day = s.day AND r.id = s.id")
        self.sql("UPDATE sales SET amount = 3 * amount WHERE day = '2024-06-20'; UPDATE sales SET amount = 3 * amount WHERE day = '2024-06-01' AND id = 1")
        way = self.way(self.spec(SPEC))
        self.assertEqual((way["way"], way["changed_share"]), ("changes", 0))
        self.swapped("backfill.yaml")
        self.assertEqual(self.rows(NOW), self.right)

    def test_the_spec_has_the_last_word(self):
        spec = self.spec(SPEC + "publish: changes\n")
        self.assertEqual(self.way(spec)["way"], "changes")
        oids = self.oids()
        self.swapped(spec)
        self.assertEqual((self.rows(NOW), self.oids()), (self.right, oids))

    def test_a_write_into_the_range_is_drift(self):
        spec = self.spec(SPEC)
        self.built(spec)
        self.sql("UPDATE sales SET amount = 1000 WHERE day = '2024-06-03' AND id = 2")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_rows_outside_the_range_may_be_written_at_any_time(self):
        spec = self.spec(SPEC)
        self.built(spec)
        self.sql("UPDATE sales SET amount = 5555 WHERE day = '2024-06-29' AND id = 1; DELETE FROM sales WHERE day = '2024-06-30' AND id = 1;"
                 "INSERT INTO sales VALUES (9, '2024-06-30', 9, 'new')")
        other = self.rows(OTHER)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(OTHER), other, "law 2")
        self.sql("UPDATE sales SET note = 'later' WHERE day = '2024-06-29'; DELETE FROM sales WHERE day = '2024-06-30' AND id = 2")
        other = self.rows(OTHER)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(OTHER), other)
        inside = "SELECT * FROM sales WHERE day BETWEEN '2024-05-01' AND '2024-06-28'"
        self.assertEqual(len(self.rows(inside)), 177)
        self.assertEqual(sum(row[2] for row in self.rows(inside)), 2 * self.value("SELECT sum(amount) FROM raw WHERE day BETWEEN '2024-05-01' AND '2024-06-28'"))

    def later(self):
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("UPDATE sales SET note = 'later' WHERE day = '2024-05-05' AND id = 1;"
                 "INSERT INTO sales VALUES (7, '2024-05-06', 7000, 'arrived')")
        return spec

    def test_rollback_refuses_when_rows_were_written_since(self):
        spec = self.later()
        now = self.rows(NOW)
        out = self.tidegate("rollback", spec, code=CONFLICT).out
        self.assertIn("changed since", out)
        self.assertIn("1, 2024-05-05", out)
        self.assertEqual(self.rows(NOW), now)

    def expected(self, **changed):
        rows = {(day, ident): rest for day, ident, *rest in self.before}
        rows["2024-05-06", 7] = [7000, "arrived", 14000]
        for key, value in changed.items():
            rows["2024-05-05", 1] = value
        return [(day, ident, *rest) for (day, ident), rest in sorted(rows.items())]

    def test_rollback_keeps_later_rows(self):
        spec = self.later()
        kept = self.rows("SELECT amount, 'later', doubled FROM sales WHERE day = '2024-05-05' AND id = 1")[0]
        self.tidegate("rollback", spec, "--keep-later")
        self.assertEqual(self.rows(NOW), self.expected(row=list(kept)))
        self.tidegate("swap", spec, "--yes", code=DRIFT)

    def test_rollback_overwrites_later_rows_but_not_new_ones(self):
        spec = self.later()
        self.tidegate("rollback", spec, "--overwrite-later")
        self.assertEqual(self.rows(NOW), self.expected())

    def test_rollback_after_columns_came(self):
        """What the rows got when a column came is not its default of today; rows that stay keep what was written to them."""
        spec = self.later()
        self.sql("ALTER TABLE sales ADD COLUMN \"Odd one\" text COLLATE \"C\" NOT NULL DEFAULT 'it''s old', ADD COLUMN plain int;"
                 "ALTER TABLE sales ALTER COLUMN \"Odd one\" SET DEFAULT 'new'; ALTER TABLE sales ALTER COLUMN plain SET DEFAULT 3;"
                 "UPDATE sales SET plain = 5 WHERE day IN ('2024-05-06', '2024-05-02') AND id IN (2, 7)")
        catalogue = self.catalogue()
        changed = self.rows("SELECT day, id, amount, note, doubled, plain FROM sales WHERE plain = 5 OR note = 'later' ORDER BY 1, 2")
        self.assertGreater(len(changed), 1)
        self.tidegate("rollback", spec, code=CONFLICT)
        self.tidegate("rollback", spec, "--keep-later")
        self.assertEqual(self.catalogue(), catalogue)
        self.assertEqual(self.rows("SELECT day, id, amount, note, doubled, plain FROM sales WHERE plain = 5 OR note = 'later' ORDER BY 1, 2"), changed)
        self.assertEqual(self.rows("SELECT DISTINCT \"Odd one\" FROM sales"), [("it's old",)])
        self.sql("INSERT INTO sales(id, day, amount) VALUES(900, '2024-05-07', 90)")
        self.assertEqual(self.rows("SELECT \"Odd one\", plain FROM sales WHERE id = 900"), [("new", 3)])
        self.tidegate("discard", spec)
        self.assertEqual(self.parts(), [])

    def test_rollback_says_which_column_is_in_the_way(self):
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("ALTER TABLE sales ADD COLUMN twice int GENERATED ALWAYS AS (amount * 2) STORED")
        result = self.tidegate("rollback", spec, "--overwrite-later", code=STATE)
        for word in ("twice", "is computed", "drop the column"):
            self.assertIn(word, result.err)
        self.assertEqual(self.rows(NOW), self.right)
        self.sql("ALTER TABLE sales DROP COLUMN twice")
        self.tidegate("rollback", spec, "--overwrite-later")
        self.assertEqual(self.rows(NOW), self.before)

    def test_what_was_written_to_a_replacement_is_never_published_again(self):
        """Written while it was production, taken back: nothing of it counts as recomputed any more."""
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("UPDATE sales SET note = 'later' WHERE day = '2024-05-05' AND id = 1")
        self.tidegate("rollback", spec, "--overwrite-later")
        self.assertEqual(self.rows(NOW), self.before)
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)

    def test_rows_that_vanished_since_are_told(self):
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("DELETE FROM sales WHERE day = '2024-05-05' AND id = 1")
        self.assertIn("vanished since", self.tidegate("rollback", spec, code=CONFLICT).out)
        self.tidegate("rollback", spec, "--keep-later", code=CONFLICT)
        self.tidegate("rollback", spec, "--overwrite-later")
        self.assertEqual(self.rows(NOW), self.before)

    def test_finish_refuses_after_published_rows_were_written_again(self):
        spec = self.later()
        self.assertIn("written again", self.tidegate("finish", spec, "--early", code=harness.DENIED).err)
        self.assertEqual(len(self.parts()), 2)

    def held(self, change, kind, spec=SPEC):
        self.sql(change)
        self.plan(self.spec(spec))
        result = self.tidegate("run", "backfill.yaml", code=HELD)
        self.assertIn(kind, [f for (f,) in self.rows("SELECT kind FROM tidegate.finding")], repr(result))
        self.assertEqual(self.rows(NOW), self.before)

    def test_findings(self):
        cases = {
            "out-of-scope": ("SELECT 1", SPEC.replace("'n' || id", "'x' || id")),
            "vanished": ("DELETE FROM raw WHERE day = '2024-06-10' AND id = 3", SPEC),
            "new-row": ("INSERT INTO raw VALUES ('2024-06-10', 4, 777)", SPEC),
            "duplicate-key": ("INSERT INTO raw VALUES ('2024-06-10', 3, 777)", SPEC),
            "row-check": ("UPDATE raw SET amount = 999 WHERE day = '2024-06-11' AND id = 1", SPEC + "checks: {rows: ['amount < 900']}\n"),
            "out-of-dates": ("SELECT 1", SPEC.replace("SELECT id, day,", "SELECT id, CASE WHEN day = '2024-06-28' THEN day + 1 ELSE day END AS day,")
                             .replace("changes: {amount: true}", "changes: {amount: true, new rows: true, vanished rows: true}")),
            "emptied-date": ("SELECT 1", SPEC.replace("changes: {amount: true}", "changes: {amount: true, vanished rows: true}").replace("FROM raw WHERE", "FROM raw WHERE day <> '2024-06-10' AND")),
        }
        for kind, (change, spec) in cases.items():
            with self.subTest(kind=kind):
                name = self.cluster.database(self.scene)
                self.cluster.drop(self.name)
                self.name, self.database = name, self.cluster.url(name)
                self.named = self.database
                self.held(change, kind, spec)

    def test_the_evidence_is_that_of_the_change_set(self):
        """Counts and fingerprints of every date, and what changes in each column, are the same on both ways."""
        self.sql("ALTER TABLE sales ADD price numeric(10, 2), ADD data json, ADD flag char(5);"
                 "UPDATE sales SET price = amount, data = '{}', flag = CASE WHEN id = 1 THEN 'x' END;"
                 "UPDATE sales SET price = NULL WHERE amount % 5 = 0; DELETE FROM sales WHERE day = '2024-05-03' AND id = 2;"
                 "INSERT INTO sales VALUES (8, '2024-05-07', 8000, 'gone'), (9, '2024-06-08', 9000, NULL)")
        spec = SPEC.replace("{amount: true}", '{amount: true, price: "id < 10", data: true, flag: true, new rows: true, vanished rows: "id > 7"}')
        spec = spec.replace("AS note", "AS note, CASE WHEN amount % 7 > 0 THEN amount END AS price, '{ }'::json AS data, CASE WHEN id = 1 THEN 'x ' END AS flag")
        spec += "checks: {rows: ['price > 0']}\n"
        evidence = {}
        for way in ("exchange", "changes"):
            self.built(self.spec(f"{spec}publish: {way}\n", f"{way}.yaml"))
            evidence[way] = [self.rows(f"SELECT to_jsonb(x) - '{{backfill,batch,at}}'::text[] FROM tidegate.{table} AS x WHERE backfill = "
                                       "(SELECT id FROM tidegate.backfill ORDER BY number DESC LIMIT 1) ORDER BY 1")
                             for table in ("date", "col")]
            self.tidegate("discard", f"{way}.yaml")
        self.assertEqual(evidence["exchange"], evidence["changes"])
        self.assertTrue(all(evidence["exchange"]))

    def test_rows_that_fill_room_before_the_end(self):
        """A replacement of 40 MB in which dates have died and were vacuumed: what is written anew goes into that room."""
        self.sql("ALTER TABLE sales ALTER note SET STORAGE PLAIN; TRUNCATE raw; TRUNCATE sales;"
                 "INSERT INTO raw SELECT '2024-05-01'::date + d, i, d * 800 + i FROM generate_series(0, 6) AS d, generate_series(1, 800) AS i;"
                 "INSERT INTO sales SELECT id, day, 2 * amount + 100000, repeat('n', 7000) FROM raw; ANALYZE")
        spec = SPEC.replace("2024-06-28", "2024-05-07").replace("'n' || id AS note", "repeat('n', 7000) AS note") + "publish: exchange\n"
        self.built(self.spec(spec, budget="budget: {duty: 100 %}"))
        before = self.value("SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^tidegate_.*_p1$'")
        self.assertGreater(before, 5000 * 8192)
        (part,) = self.parts()
        self.sql("UPDATE sales SET amount = amount + 1 WHERE day IN ('2024-05-02', '2024-05-03')")
        self.tidegate("swap", "backfill.yaml", "--yes", code=DRIFT)
        self.sql(f"DELETE FROM tidegate.{part} WHERE day IN ('2024-05-02', '2024-05-03')")
        self.sql(f"VACUUM tidegate.{part}")
        self.tidegate("run", "backfill.yaml")
        self.tidegate("swap", "backfill.yaml", "--yes")
        self.assertEqual(self.rows("SELECT day, id, amount FROM sales ORDER BY 1, 2"), self.rows("SELECT day, id, amount FROM raw ORDER BY 1, 2"))
        self.assertEqual(self.value("SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('sales')"), before)

    def test_missing_dates_are_filled(self):
        self.sql("DELETE FROM sales WHERE day BETWEEN '2024-05-01' AND '2024-06-28'")
        spec = self.spec(SPEC.replace("changes: {amount: true}", "changes: {new rows: true}"))
        self.assertEqual(self.way(spec)["way"], "exchange")
        self.swapped(spec)
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), self.other and [(d, i, a, n, dd) for i, d, a, n, dd in self.other])

    def test_the_runbook_takes_an_exchange_back(self):
        self.swapped(self.spec(SPEC))
        text = self.tidegate("runbook", "sales", "--database", self.named).out
        block = next(part for part in text.split("```") if "DETACH PARTITION" in part)
        ident = self.value("SELECT id FROM tidegate.backfill")
        statements = [row[0] for row in self.rows(block.removeprefix("sql").replace("'ID'", f"'{ident}'"))]
        self.assertEqual(len(statements), 2)
        self.sql("BEGIN; " + " ".join(statements) + " COMMIT;")
        self.assertEqual(self.rows(NOW), self.before)

    def test_readers_do_not_wait_behind_a_long_reader(self):
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock_tries: 3}")
        self.built(spec)
        long_reader = self.connect(autocommit=False)
        long_reader.cursor().execute("SELECT count(*) FROM sales")
        waits, ended = [], threading.Event()

        def probe():
            connection = self.connect()
            cursor = connection.cursor()
            while not ended.is_set():
                began = time.monotonic()
                cursor.execute("SELECT amount FROM sales WHERE day = '2024-05-05' AND id = 1")
                waits.append(time.monotonic() - began)
            connection.close()

        thread = threading.Thread(target=probe)
        thread.start()
        try:
            self.tidegate("swap", spec, "--yes", code=LOCKED)
        finally:
            ended.set()
            thread.join()
        self.assertGreater(len(waits), 20)
        # Behind each of the swap's tries they would wait for as long as it does.
        self.assertLess(sum(seconds for seconds in waits if seconds > 0.5), 1.5)
        self.assertEqual(self.rows(NOW), self.before)
        long_reader.rollback()
        long_reader.close()
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)


class Stamps(PostgresFlow):
    """Partitions by time stamps with a zone, days of New York."""

    scene = """
    CREATE TABLE raw (at timestamptz NOT NULL, id int NOT NULL, amount int NOT NULL);
    INSERT INTO raw SELECT timestamptz '2024-10-20 04:30+00' + h * interval '7 hours', h, h FROM generate_series(0, 120) AS h;
    CREATE TABLE events (at timestamptz NOT NULL, id int NOT NULL, amount int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
    CREATE TABLE events_10 PARTITION OF events FOR VALUES FROM ('2024-10-01 00:00 America/New_York') TO ('2024-11-01 00:00 America/New_York');
    CREATE TABLE events_11 PARTITION OF events FOR VALUES FROM ('2024-11-01 00:00 America/New_York') TO ('2024-12-01 00:00 America/New_York');
    INSERT INTO events SELECT at, id, -amount FROM raw;
    """

    def test_days_of_a_zone_over_the_end_of_summer_time(self):
        spec = self.spec("""
            target: events
            range: 2024-10-29..2024-11-05
            zone: America/New_York
            date_column: at
            wrong: signs
            correct: as they came
            changes: amount
            publish: exchange
            recompute: SELECT at, id, amount FROM raw WHERE at >= :from AND at < :to
            """)
        catalogue = self.catalogue()
        self.assertEqual(self.tidegate("--json", "plan", spec).json["plan"]["publish"]["way"], "exchange")
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        days = "(at AT TIME ZONE 'America/New_York')::date BETWEEN '2024-10-29' AND '2024-11-05'"
        self.assertEqual(self.rows(f"SELECT count(*) FROM events WHERE {days} AND amount < 0"), [(0,)])
        self.assertEqual(self.rows(f"SELECT count(*) FROM events WHERE NOT ({days}) AND amount > 0"), [(0,)])
        self.assertEqual(self.rows("SELECT count(*) FROM events"), [(121,)])
        self.assertEqual(self.catalogue(), catalogue)


if __name__ == "__main__":
    harness.main()
