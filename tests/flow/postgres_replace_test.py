"""Publishing by replacing every row of the range: the new rows are written beside production, the old ones copied, and the
swap deletes and inserts. Every test asks production itself, and the catalogue, what became of it."""

import os
import subprocess
import threading

import harness
from harness import CONFLICT, DRIFT, HELD, LOCKED
from postgres_harness import PostgresFlow

# Three rows a day from April to July 2024; production has doubled the amounts of May and June.
SCENE = """
CREATE TABLE raw (day date NOT NULL, id int NOT NULL, amount int NOT NULL);
INSERT INTO raw SELECT '2024-04-01'::date + d, d * 3 + i, d * 3 + i FROM generate_series(0, 120) AS d, generate_series(1, 3) AS i;
CREATE DOMAIN cents AS int CHECK (VALUE >= 0);
CREATE TABLE sales (
  id int PRIMARY KEY, "The day" date NOT NULL, amount cents NOT NULL, note text COLLATE "C" DEFAULT 'none',
  doubled int GENERATED ALWAYS AS (amount * 2) STORED NOT NULL, price numeric(10, 2) CHECK (price < 100000), data json, flag char(5));
CREATE INDEX sales_day ON sales ("The day");
CREATE INDEX sales_amount ON sales (amount) WHERE amount > 10;
COMMENT ON COLUMN sales.amount IS 'cents';
CREATE VIEW monthly AS SELECT date_trunc('month', "The day") AS month, sum(amount) AS amount FROM sales GROUP BY 1;
DO $$ BEGIN CREATE ROLE reader_of_sales; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
GRANT SELECT ON sales TO reader_of_sales;
INSERT INTO sales (id, "The day", amount, note, price, data, flag) SELECT id, day, CASE WHEN day BETWEEN '2024-05-01' AND '2024-06-28' THEN 2 ELSE 1 END * amount, 'n' || id,
  CASE WHEN id % 5 > 0 THEN amount END, '{}', 'x' FROM raw;
ANALYZE;
"""
SPEC = """
target: sales
range: 2024-05-01..2024-06-28
wrong: amounts were doubled
correct: as they came
changes: {amount: true, new rows: id > 1000, vanished rows: id > 1000}
publish: replace
recompute: |
  SELECT id, day AS "The day", amount, 'n' || id AS note, CASE WHEN id % 5 > 0 THEN amount END AS price, '{}'::json AS data, 'x ' AS flag
  FROM raw WHERE day >= :from AND day < :to
"""
COLUMNS = 'id, amount, note, doubled, price, data::text, flag'
NOW = f'SELECT "The day", {COLUMNS} FROM sales ORDER BY 2'
RIGHT = "SELECT day, id, amount, 'n' || id, 2 * amount, CASE WHEN id % 5 > 0 THEN amount END::numeric(10, 2), '{}', 'x    ' FROM raw ORDER BY 2"
OTHER = "SELECT ctid::text, xmin::text, * FROM sales WHERE \"The day\" NOT BETWEEN '2024-05-01' AND '2024-06-28' ORDER BY id"


class Replace(PostgresFlow):
    scene = SCENE

    def setUp(self):
        super().setUp()
        self.before, self.right, self.other = self.rows(NOW), self.rows(RIGHT), self.rows(OTHER)
        self.assertNotEqual(self.before, self.right)

    def anew(self, scene=None):
        name = self.cluster.database(scene or self.scene)
        self.cluster.drop(self.name)
        self.name, self.database = name, self.cluster.url(name)
        self.named = self.database

    def way(self, spec):
        return self.tidegate("--json", "plan", spec).json["plan"]["publish"]

    def ours(self):
        return [name for (name,) in self.rows("SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname ~ '^tidegate_' ORDER BY 1")]

    def test_whole_story(self):
        spec, catalogue = self.spec(SPEC), self.catalogue()
        plan = self.plan(spec)
        for word in ("by replacing every row of the range", "row by row: about", "replicas get every row"):
            self.assertIn(word, plan.out)
        self.tidegate("run", spec)
        self.assertEqual((self.rows(NOW), self.catalogue()), (self.before, catalogue), "law 1")
        self.assertIn("177 changes: 177 updates", self.tidegate("diff", spec).out)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual((self.rows(NOW), self.catalogue()), (self.right, catalogue))
        self.assertEqual(self.rows(OTHER), self.other, "law 2")
        self.assertEqual(self.value("SELECT count(DISTINCT xmin::text) FROM sales WHERE \"The day\" BETWEEN '2024-05-01' AND '2024-06-28'"), 1)
        self.assertIn("177 changes", self.tidegate("diff", spec).out)
        self.tidegate("rollback", spec)
        self.assertEqual((self.rows(NOW), self.rows(OTHER), self.catalogue()), (self.before, self.other, catalogue))
        self.tidegate("swap", spec, "--yes")
        self.assertEqual((self.rows(NOW), self.catalogue()), (self.right, catalogue))
        kept = self.value("SELECT count(*) FROM pg_class WHERE relname ~ '^tidegate_.*_kept$'")
        self.assertEqual(kept, 1, "law 6")
        self.tidegate("finish", spec, "--early")
        self.assertEqual((self.rows(NOW), self.ours(), self.catalogue()), (self.right, [], catalogue))

    def test_discard_leaves_nothing(self):
        spec, catalogue = self.spec(SPEC), self.catalogue()
        self.built(spec)
        self.assertEqual(len(self.ours()), 4)
        self.tidegate("discard", spec)
        self.assertEqual((self.ours(), self.catalogue(), self.rows(NOW)), ([], catalogue, self.before))

    def change_more(self):
        """New rows, rows that go, values that become NULL and that were."""
        self.sql("DELETE FROM sales WHERE \"The day\" = '2024-05-03'; UPDATE sales SET price = NULL WHERE id % 7 = 0 AND \"The day\" BETWEEN '2024-05-01' AND '2024-06-28';"
                 "INSERT INTO sales VALUES (2001, '2024-05-07', 5, 'gone'), (2002, '2024-06-08', 6, NULL), (2003, '2024-06-08', 7, NULL)")
        return SPEC.replace("{amount: true, new rows: id > 1000,", "{amount: true, price: id < 9999, note: true, data: true, new rows: true,")

    def test_the_evidence_is_that_of_the_change_set(self):
        spec, evidence = self.change_more(), {}
        for way in ("replace", "changes"):
            self.built(self.spec(spec.replace("publish: replace", f"publish: {way}"), f"{way}.yaml"))
            evidence[way] = [self.rows(f"SELECT to_jsonb(x) - '{{backfill,batch}}'::text[] FROM tidegate.{table} AS x WHERE backfill = "
                                       "(SELECT id FROM tidegate.backfill ORDER BY number DESC LIMIT 1) ORDER BY 1") for table in ("date", "col")]
            self.tidegate("swap", f"{way}.yaml", "--yes")
            self.assertEqual(self.rows(NOW), self.right)
            self.tidegate("rollback", f"{way}.yaml")
            self.tidegate("discard", f"{way}.yaml")
        self.assertEqual(evidence["replace"], evidence["changes"])
        self.assertTrue(all(evidence["replace"]))

    def test_where_others_would_see_a_difference_it_is_refused(self):
        reasons = {
            "CREATE TABLE child (id int REFERENCES sales)": "foreign keys",
            "CREATE TABLE shop (id int PRIMARY KEY); INSERT INTO shop SELECT id FROM sales; ALTER TABLE sales ADD FOREIGN KEY (id) REFERENCES shop": "foreign keys",
            "CREATE PUBLICATION news FOR TABLE sales": "it is published",
            "CREATE PUBLICATION news FOR TABLES IN SCHEMA public": "it is published",
            "ALTER TABLE sales REPLICA IDENTITY FULL": "replica identity",
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER t AFTER UPDATE ON sales FOR EACH ROW EXECUTE FUNCTION f()": "triggers",
            "ALTER TABLE sales ALTER id ADD GENERATED BY DEFAULT AS IDENTITY": "sequence",
            "CREATE SEQUENCE numbers; ALTER TABLE sales ALTER id SET DEFAULT nextval('numbers')": "sequence",
            "CREATE UNIQUE INDEX ON sales (id, amount)": "unique by more than its key",
            "CREATE UNIQUE INDEX ON sales (lower(note))": "unique by more than its key",
            "ALTER TABLE sales ADD EXCLUDE USING btree (id WITH =)": "unique by more than its key",
            "ALTER TABLE sales ADD extra int": "does not give every column",
        }
        for statement, reason in reasons.items():
            with self.subTest(reason=reason, statement=statement):
                self.anew()
                self.sql(statement)
                spec = self.spec(SPEC + ("triggers: fire\n" if "TRIGGER" in statement else ""))
                err = self.tidegate("plan", spec, code=harness.USAGE).err
                self.assertIn("`publish: replace` is not possible", err)
                self.assertIn(reason, err)
                self.assertEqual(self.rows(NOW), self.before)

    def test_dates_that_are_texts_are_not_replaced(self):
        self.sql('DROP VIEW monthly; ALTER TABLE sales ALTER "The day" TYPE text')
        spec = self.spec(SPEC.replace('day AS "The day"', 'day::text AS "The day"').replace("day >=", "day::text >=").replace("day <", "day::text <"))
        self.assertIn("its dates are texts", self.tidegate("plan", spec, code=harness.USAGE).err)

    def test_what_comes_between_run_and_swap_is_refused_too(self):
        statements = ["CREATE PUBLICATION news FOR ALL TABLES", "CREATE TABLE child (id int REFERENCES sales)", "CREATE UNIQUE INDEX ON sales (id, amount)"]
        for statement in statements:
            with self.subTest(statement=statement):
                self.anew()
                self.built(self.spec(SPEC))
                self.sql(statement)
                self.tidegate("swap", "backfill.yaml", "--yes", code=harness.SUPERSEDED)
                self.assertEqual(self.rows(NOW), self.before)

    def test_a_write_into_the_range_is_drift(self):
        spec = self.spec(SPEC)
        self.built(spec)
        self.sql("UPDATE sales SET amount = 1000 WHERE id = 150; DELETE FROM sales WHERE id = 160")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.sql("INSERT INTO sales (id, \"The day\", amount, note, data, flag) SELECT id, day, 1, 'n160', '{}', 'x' FROM raw WHERE id = 160")
        self.tidegate("run", spec)
        now = self.rows(NOW)
        self.tidegate("swap", spec, "--yes")
        self.assertEqual(self.rows(NOW), self.right)
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), now, "the old rows are those that the swap found")

    def test_a_writer_in_the_range_survives_or_stops_the_swap(self):
        spec = self.spec(SPEC, budget="budget: {duty: 100 %, lock_tries: 1}")
        self.built(spec)
        writer = self.connect(autocommit=False)
        writer.cursor().execute("UPDATE sales SET note = 'mine' WHERE id = 150")
        self.assertIn("production is untouched", self.tidegate("swap", spec, "--yes", code=LOCKED).err)
        writer.commit()
        writer.close()
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.assertIn(("mine",), self.rows("SELECT note FROM sales"))

    def test_rows_that_are_kept_are_those_that_are_deleted(self):
        """A row that changes behind its batch is copied anew with it: the rollback brings back what the swap took away."""
        spec = self.spec(SPEC)
        self.built(spec)
        self.sql("UPDATE sales SET amount = amount + 5 WHERE id = 150")
        now = self.rows(NOW)
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.assertEqual(self.rows(NOW), now)
        self.tidegate("run", spec)
        self.tidegate("swap", spec, "--yes")
        self.tidegate("rollback", spec)
        self.assertEqual(self.rows(NOW), now)

    def test_a_copy_that_lost_a_row_publishes_nothing(self):
        spec = self.spec(SPEC)
        self.sql("""CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              IF NEW.id = 150 THEN RETURN NULL; END IF; RETURN NEW; END $$;
            CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE o record; BEGIN
              FOR o IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP
                IF o.object_identity ~ '_kept$' THEN
                  EXECUTE format('CREATE TRIGGER lose BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION lose()', o.object_identity);
                END IF; END LOOP; END $$;
            CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch()""")
        self.built(spec)
        self.assertIn("what stands beside production changed", self.tidegate("swap", spec, "--yes", code=DRIFT).err)
        self.assertEqual(self.rows(NOW), self.before)

    LATER = ("UPDATE sales SET note = 'later' WHERE id = 100; DELETE FROM sales WHERE id = 110; UPDATE sales SET \"The day\" = '2024-07-20' WHERE id = 120;"
             "INSERT INTO sales VALUES (3000, '2024-05-06', 7000, 'arrived'); UPDATE sales SET amount = 1 WHERE id = 1")

    def after(self, way, *options):
        """Production after a swap on this way, later writes and a rollback; and what the rollback said first."""
        self.anew()
        spec = self.spec(self.change_more().replace("publish: replace", f"publish: {way}"))
        self.swapped(spec)
        self.sql(self.LATER)
        now = self.rows(NOW)
        refusal = self.tidegate("rollback", spec, code=CONFLICT).out
        self.assertEqual(self.rows(NOW), now)
        self.tidegate("rollback", spec, *options)
        return self.rows(NOW), [line for line in refusal.splitlines() if " since" in line]

    def test_rollback_treats_later_rows_as_a_change_set_does(self):
        for option in ("--keep-later", "--overwrite-later"):
            with self.subTest(option=option):
                replaced, changed = self.after("replace", option), self.after("changes", option)
                self.assertEqual(replaced, changed)
                for what in ("changed since", "vanished since", "moved since"):
                    self.assertIn(what, "\n".join(replaced[1]))
                self.assertIn(3000, [row[1] for row in replaced[0]], "law 6: what arrived stays")

    def test_a_rollback_does_not_make_a_later_swap_forget(self):
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("UPDATE sales SET note = 'later' WHERE id = 100")
        self.tidegate("rollback", spec, "--keep-later")
        self.tidegate("swap", spec, "--yes", code=DRIFT)
        self.assertIn(("later",), self.rows("SELECT note FROM sales"))

    def test_finish_refuses_after_published_rows_were_written_again(self):
        spec = self.spec(SPEC)
        self.swapped(spec)
        self.sql("UPDATE sales SET note = 'later' WHERE id = 100")
        self.assertIn("written again", self.tidegate("finish", spec, "--early", code=harness.DENIED).err)

    def test_the_runbook_takes_it_back(self):
        self.swapped(self.spec(self.change_more()))
        before = self.rows('SELECT "The day" FROM sales WHERE id > 2000')
        text = self.tidegate("runbook", "sales", "--database", self.named).out
        step = text.split("### Take it back")[1].split("\n### ")[0]
        ident = self.value("SELECT id FROM tidegate.backfill")
        self.sql("".join(part.removeprefix("sql") for part in step.split("```")[1::2]).replace("'ID'", f"'{ident}'"))
        self.assertEqual((self.state(), before), ("rolled_back", []))
        self.assertEqual(self.value("SELECT count(*) FROM sales WHERE id > 2000"), 3)
        self.assertEqual(self.rows("SELECT DISTINCT amount = 2 * id FROM sales WHERE id BETWEEN 100 AND 200"), [(True,)])
        part = next(part for part in text.split("```") if "DETACH PARTITION" in part)
        self.assertEqual(self.rows(part.removeprefix("sql").replace("'ID'", f"'{ident}'")), [], "no partition was exchanged")

    def test_findings(self):
        cases = {
            "out-of-scope": ("SELECT 1", SPEC.replace("'n' || id AS", "'x' || id AS")),
            "vanished": ("DELETE FROM raw WHERE id = 150", SPEC),
            "new-row": ("INSERT INTO raw VALUES ('2024-06-10', 900, 777)", SPEC),
            "duplicate-key": ("INSERT INTO raw SELECT * FROM raw WHERE id = 150", SPEC),
            "row-check": ("UPDATE raw SET amount = 999 WHERE id = 150", SPEC + "checks: {rows: ['amount < 900']}\n"),
        }
        for kind, (change, spec) in cases.items():
            with self.subTest(kind=kind):
                self.anew()
                self.sql(change)
                self.plan(self.spec(spec))
                result = self.tidegate("run", "backfill.yaml", code=HELD)
                self.assertIn(kind, [f for (f,) in self.rows("SELECT kind FROM tidegate.finding")], repr(result))
                self.assertEqual(self.rows(NOW), self.before)

    def test_rows_that_production_would_refuse(self):
        for statement in ("UPDATE raw SET amount = -1 WHERE id = 150", "UPDATE raw SET amount = 100001 WHERE id = 151"):
            with self.subTest(statement=statement):
                self.anew()
                self.sql(statement)
                self.plan(self.spec(SPEC.replace("{amount: true,", "{amount: true, price: true,")))
                self.assertIn("check constraint", self.tidegate("run", "backfill.yaml", code=HELD).err)
                self.assertEqual(self.rows(NOW), self.before)

    def test_keys_on_two_dates_are_held(self):
        """A key that moves, one that stands outside the range, and a new one that the recompute gives on two dates."""
        cases = {"UPDATE raw SET day = '2024-06-20' WHERE id = 150": "stands? on another date",
                 "UPDATE raw SET id = 3 WHERE id = 150": "stands? on another date",
                 "INSERT INTO raw VALUES ('2024-05-10', 2000, 1), ('2024-06-20', 2000, 1)": "more than once"}
        for statement, words in cases.items():
            with self.subTest(statement=statement):
                self.anew()
                self.sql(statement)
                self.plan(self.spec(SPEC.replace("new rows: id > 1000, vanished rows: id > 1000", "new rows: true, vanished rows: true")))
                result = self.tidegate("run", "backfill.yaml", code=HELD)
                self.assertRegex(result.out + result.err, words)
                self.assertEqual(self.rows(NOW), self.before)

    def test_one_role_runs_and_another_publishes(self):
        urls = {}
        for role, publish in (("rp_runner", []), ("rp_publisher", ["--publish"])):
            self.sql(f"DROP ROLE IF EXISTS {role}; CREATE ROLE {role} LOGIN")
            grants = self.tidegate("doctor", "--grant", role, *publish, "sales", "--database", self.named).out
            subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.database], input=grants, text=True, check=True,
                           env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})
            self.sql(f"GRANT SELECT ON raw TO {role}")
            urls[role] = self.named.replace("user=postgres", f"user={role}")
        spec = self.spec(SPEC)
        try:
            self.tidegate("plan", spec, "--database", urls["rp_runner"])
            self.tidegate("run", spec, "--database", urls["rp_runner"])
            for verb, expected in (("swap", self.right), ("rollback", self.before), ("swap", self.right)):
                self.tidegate(verb, spec, *(["--yes"] if verb == "swap" else []), "--database", urls["rp_publisher"])
                self.assertEqual(self.rows(NOW), expected)
        finally:
            self.sql("".join(f"REASSIGN OWNED BY {role} TO postgres; DROP OWNED BY {role};" for role in urls))

    def test_no_reader_sees_a_half(self):
        spec = self.spec(SPEC)
        self.built(spec)
        old, new = (self.value(f"SELECT sum(amount) FROM ({query}) AS q") for query in (NOW, RIGHT.replace("day, id", '"day", id')))
        seen, trouble, ended = set(), [], threading.Event()

        def read(isolation):
            try:
                connection = self.connect(autocommit=False)
                cursor = connection.cursor()
                while not ended.is_set():
                    cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
                    for _ in range(3):
                        cursor.execute("SELECT sum(amount), count(*) FROM sales")
                        seen.add((isolation, *cursor.fetchone()))
                    connection.commit()
                connection.close()
            except Exception as error:  # told by the test's own thread
                trouble.append(error)

        threads = [threading.Thread(target=read, args=(level,)) for level in ("READ COMMITTED", "REPEATABLE READ")]
        for thread in threads:
            thread.start()
        try:
            for verb in (("swap", spec, "--yes"), ("rollback", spec), ("swap", spec, "--yes")):
                harness.wait_until(lambda: self.run_tidegate(*verb).code == harness.OK, what=verb[0])
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        self.assertEqual(trouble, [])
        self.assertLessEqual({row[1:] for row in seen}, {(old, 363), (new, 363)})
        self.assertEqual(self.rows(NOW), self.right)


class Auto(PostgresFlow):
    """So many rows that it matters."""

    scene = """
    CREATE TABLE raw (day date NOT NULL, id int PRIMARY KEY, amount int NOT NULL);
    INSERT INTO raw SELECT '2024-05-01'::date + i / 2500, i, i FROM generate_series(0, 24999) AS i;
    CREATE TABLE sales (id int PRIMARY KEY, day date NOT NULL, amount int NOT NULL);
    INSERT INTO sales SELECT id, day, -1 - amount FROM raw; ANALYZE
    """
    SPEC = ("target: sales\nrange: 2024-05-01..2024-05-08\nwrong: signs\ncorrect: as they came\nchanges: amount\n"
            "recompute: SELECT id, day, amount FROM raw WHERE day >= :from AND day < :to\n")

    def test_chosen_when_nearly_every_row_changes(self):
        way = self.tidegate("--json", "plan", self.spec(self.SPEC)).json["plan"]["publish"]
        self.assertEqual((way["way"], way["changed_share"]), ("replace", 1))
        for cost in ("changes", "replace"):
            self.assertEqual(set(way[cost]), {"seconds", "lock_seconds", "wal_bytes"})
        self.swapped("backfill.yaml")
        self.assertEqual(self.value("SELECT count(*) FROM sales JOIN raw USING (id, day, amount)"), 20000)

    def test_not_chosen(self):
        cases = {
            "few rows": ("SELECT 1", self.SPEC.replace("05-08", "05-03"), "changes"),
            "few changes": ("UPDATE sales SET amount = -1 - amount WHERE id % 3 > 0", self.SPEC, "changes"),
            "not possible": ("CREATE TABLE child (id int REFERENCES sales)", self.SPEC, "changes"),
            "not wanted": ("SELECT 1", self.SPEC + "publish: changes\n", "changes"),
            "insisted on": ("UPDATE sales SET amount = -1 - amount WHERE id % 3 > 0", self.SPEC + "publish: replace\n", "replace"),
        }
        for name, (statement, spec, expected) in cases.items():
            with self.subTest(name=name):
                self.sql(statement + "; ANALYZE sales")
                way = self.tidegate("--json", "plan", self.spec(spec, f"{name.replace(' ', '_')}.yaml")).json["plan"]["publish"]
                self.assertEqual(way["way"], expected, way)
                if name == "not possible":
                    self.assertIn("foreign keys", way["not_replaced"])
                    self.sql("DROP TABLE child; UPDATE sales SET amount = raw.amount * -1 - 1 FROM raw WHERE raw.id = sales.id")
                if name == "few changes":
                    self.assertAlmostEqual(way["changed_share"], 1 / 3, places=2)
                    self.sql("UPDATE sales SET amount = -1 - raw.amount FROM raw WHERE raw.id = sales.id")


if __name__ == "__main__":
    harness.main()
