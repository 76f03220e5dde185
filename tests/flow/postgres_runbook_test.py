"""The runbook's steps in psql: runbook_test with PostgreSQL's types, a JSON column and an identity column."""

import harness
import runbook_test
from postgres_harness import PostgresFlow

SCENE = """
CREATE TABLE orders(id int NOT NULL, day date NOT NULL, cents int, rate numeric(4,2), tag text, extra json, PRIMARY KEY (day, id));
CREATE TABLE sales(day date NOT NULL, id int NOT NULL, cents int, net numeric(12,2), tag text, note text DEFAULT 'fresh',
                   extra json, nr bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE sales_early PARTITION OF sales FOR VALUES FROM ('2024-01-01') TO ('2024-01-12');
CREATE TABLE sales_late PARTITION OF sales FOR VALUES FROM ('2024-01-12') TO ('2025-01-01');
INSERT INTO orders SELECT k, date '2024-01-01' + i, 100 * k + i, 1.5, 'it''s {day} "' || k, format('{"k": %s}', k)::json
FROM generate_series(0, 19) i, generate_series(1, 5) k;
INSERT INTO sales (day, id, cents, net, tag, note, extra) SELECT day, id, cents, cents * rate, tag, 'note ' || id, extra FROM orders ORDER BY 1, 2;
UPDATE sales SET net = cents WHERE day BETWEEN '2024-01-10' AND '2024-01-13' AND id % 2 = 0;
UPDATE sales SET net = NULL WHERE day = '2024-01-14' AND id = 3;
UPDATE sales SET tag = upper(tag) WHERE day = '2024-01-11' AND id = 5;
DELETE FROM sales WHERE day = '2024-01-12' AND id IN (1, 4);
INSERT INTO sales (day, id, cents, net, tag) VALUES ('2024-01-13', 9, 1, 2, 'ghost');
CREATE VIEW daily AS SELECT day, sum(net) AS net FROM sales GROUP BY day;
"""


class Typed(runbook_test.Typed, PostgresFlow):
    scene = SCENE
    spec_text = runbook_test.SPEC.replace("tag\n", "tag, extra\n") + "publish: changes\n"
    width = 7
    slowly = "WITH w AS MATERIALIZED (SELECT pg_sleep(0.3) AS x)"
    bag_scene = runbook_test.Typed.bag_scene.replace("day TEXT", "day date")

    trigger = """CREATE TABLE audit(id int);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO audit VALUES (new.id); RETURN new; END$$;
    CREATE TRIGGER noted AFTER UPDATE ON sales FOR EACH ROW EXECUTE FUNCTION note()"""
    stamps, stamp, stamp_spec = "timestamptz", "'{}+00'", ""

    def make_scene(self):
        """It is there already."""

    def client(self):
        self.clients.append(runbook_test.Client(["psql", "-X", "-A", "-t", self.database], r"\echo"))
        return self.clients[-1]

    def test_what_exchanges_nothing_has_no_partitions(self):
        self.built(self.file)
        document, client = self.document(), self.client()
        self.assertEqual(self.steps(client, document, runbook_test.LEFT, "When it exchanges partitions"), [[[]], [[]]])

    def hand_tables(self):
        return self.rows("SELECT relname FROM pg_class WHERE relname LIKE 'tidegate_hand%'")


class Forms(runbook_test.Forms, PostgresFlow):
    key_type = "date"

    def target(self, name):
        return self.quoted(name)

    def client(self):
        return runbook_test.Client(["psql", "-X", "-A", "-t", self.database], r"\echo")

    def down(self):
        text = (self.folder / "tidegate.yaml").read_text(encoding="utf-8")
        (self.folder / "tidegate.yaml").write_text(text.replace(self.cluster.folder, "/nowhere"), encoding="utf-8")


class Questions(runbook_test.Questions, PostgresFlow):
    def test_sessions_and_locks(self):
        sessions, one = self.blocks("{application: \"it's me\", role: nobody, advisory_lock: '4294967338'}", "sql")
        two = self.blocks("{advisory_lock: '7,42'}", "sql")[0]
        client = runbook_test.Client(["psql", "-X", "-A", "-t", self.database], r"\echo")
        self.assertEqual([client.block(text) for text in (sessions, one, two)], [[[]], [[]], [[]]])
        job = self.connect()
        job.cursor().execute("SET application_name = 'it''s me'; SELECT pg_advisory_lock(4294967338); SELECT pg_advisory_lock(7, 42)")
        pid = str(job.get_backend_pid())
        self.assertTrue(client.block(sessions)[0][0].startswith(pid + "|it's me|"))
        self.assertEqual([client.block(text)[0] for text in (one, two)], [[pid + "|t"]] * 2)
        job.close()
        client.close()

    def test_a_session_that_does_not_end_is_ended(self):
        """What the step “Stop one that is running” has for a statement that goes on."""
        self.blocks(None)
        document = runbook_test.sections(self.tidegate("runbook", "t").out)
        text = [text for _, text in document[(runbook_test.LEFT, "Stop one that is running")]][2]
        client = runbook_test.Client(["psql", "-X", "-A", "-t", self.database], r"\echo")
        ours = self.connect()
        ours.cursor().execute("SET application_name = 'tidegate'")
        other = self.connect()
        listed, ended = client.block(text)
        self.assertEqual([line.split("|")[0] for line in listed], [str(ours.get_backend_pid())])
        self.assertEqual(ended, [f"{listed[0].split('|')[0]}|t"])
        other.cursor().execute("SELECT 1")
        client.close()


class Check(runbook_test.Check, PostgresFlow):
    def make_tables(self):
        self.sql("CREATE TABLE orders(day date, id int); CREATE TABLE sales(day date NOT NULL, id int NOT NULL, net int, PRIMARY KEY (day, id));"
                 "INSERT INTO sales VALUES ('2024-01-01', 1, 1); INSERT INTO orders VALUES ('2024-01-01', 1)")


if __name__ == "__main__":
    harness.main()
