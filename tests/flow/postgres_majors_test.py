"""The way on a server of another major than Debian's: TIDEGATE_POSTGRES_MAJOR says which. What the whole suite asks of
one major is asked of the others by script/soak majors; here is what their catalogues differ in, once each."""

import os
import re
import subprocess
import unittest

import harness
from harness import DATABASE, USAGE
from postgres_tables_test import Scene

MAJOR = int(os.environ["TIDEGATE_POSTGRES_MAJOR"])
COMPUTED = "VIRTUAL" if MAJOR >= 18 else "STORED"
SCENE = f"""
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE raw (day date NOT NULL, id int NOT NULL, n numeric(10,2), b bytea, t timestamptz, j jsonb, a text[], r int4range, m mood);
INSERT INTO raw SELECT date '2024-01-01' + i / 4, i, i * 1.5, decode(lpad(to_hex(i), 4, '0'), 'hex'), '2024-01-01 12:00+00'::timestamptz
  + i * interval '1 hour', jsonb_build_object('i', i), ARRAY['a', i::text], int4range(i, i + 3), 'high' FROM generate_series(0, 239) i;
CREATE TABLE fact (LIKE raw, twice numeric GENERATED ALWAYS AS (n * 2) STORED,
  thrice numeric GENERATED ALWAYS AS (n * 3) {COMPUTED}, PRIMARY KEY (day, id));
CREATE TABLE part (LIKE fact INCLUDING GENERATED, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
INSERT INTO fact SELECT day, id, n, '\\x00', t + interval '5 hours', '{{}}', a, NULL, 'low' FROM raw;
INSERT INTO part SELECT day, id, n, '\\x00', t, j, a, r, 'low' FROM raw;
ANALYZE;
"""
SPEC = """
date_column: day
range: 2024-01-01..2024-01-31
wrong: the wrong values
correct: those of raw
changes: [b, t, j, r, m]
recompute: SELECT * FROM raw WHERE day >= :from AND day < :to
"""
NOW = "SELECT day, id, n, b::text, t, j, a, r::text, m, twice, thrice FROM {} WHERE {} ORDER BY id"
RIGHT = "SELECT day, id, n, b::text, t, j, a, r::text, m, n * 2, n * 3 FROM raw WHERE day < '2024-02-01' ORDER BY id"


class Majors(Scene):
    scene = SCENE

    def test_the_server_is_of_that_major_and_doctor_has_nothing_against_it(self):
        self.assertEqual(self.value("SELECT current_setting('server_version_num')::int / 10000"), MAJOR)
        doctor = self.tidegate("doctor", "fact", "--database", self.named).out
        self.assertIn(f"PostgreSQL {MAJOR}.", doctor)
        self.assertNotIn("try the way on a copy", doctor)

    def right(self, table):
        return self.rows(RIGHT) + self.rows(NOW.format(table, "day >= '2024-02-01'"))

    def test_there_and_back_row_by_row(self):
        self.there_and_back(self.spec("target: fact" + SPEC), NOW.format("fact", "true"), self.right("fact"))

    def test_there_and_back_by_exchange(self):
        spec = self.spec("target: part\npublish: exchange" + SPEC)
        self.there_and_back(spec, NOW.format("part", "true"), self.right("part"))

    def test_two_workers(self):
        (self.folder / "tidegate.yaml").write_text("budget: {workers: 2, duty: 100 %}\n")
        self.there_and_back(self.spec("target: fact" + SPEC), NOW.format("fact", "true"), self.right("fact"))

    def least(self, target="fact"):
        """A role with what `doctor --grant` prints and no more; from 16 on its own word on inheritance is not asked."""
        role = f"least_{MAJOR}"
        self.sql(f"CREATE ROLE {role} LOGIN {'NOINHERIT' if MAJOR >= 16 else ''}")
        self.addCleanup(self.cluster.run, f"DROP ROLE {role}")  # after its database
        grants = self.tidegate("doctor", "--grant", role, "--publish", target, "--database", self.named).out
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.database], input=grants, text=True, check=True)
        self.sql(f"GRANT SELECT ON raw TO {role}")
        self.named = self.named.replace("user=postgres", f"user={role}")
        return role

    def test_with_the_least_rights(self):
        self.least()
        self.there_and_back(self.spec("target: fact" + SPEC), NOW.format("fact", "true"), self.right("fact"))

    def test_a_materialized_view_of_another_owner_is_refreshed_once_the_role_is_let(self):
        self.sql("CREATE MATERIALIZED VIEW moods AS SELECT day, m, count(*) AS n FROM fact GROUP BY 1, 2")
        self.least()
        spec = self.spec("target: fact" + SPEC)
        self.swapped(spec)
        told = self.tidegate("cascade", "--yes", spec, code=DATABASE).err
        self.sql(re.search("have a DBA run (GRANT [^;]*);", told)[1])
        self.tidegate("cascade", "--yes", spec)
        self.assertEqual(self.value("SELECT sum(n) FROM moods WHERE m = 'high'"), 124)

    def test_a_member_of_the_owner_exchanges_partitions_and_what_it_lacks_is_said(self):
        role, owner = self.least("part"), f"owner_{MAJOR}"
        self.sql(f"CREATE ROLE {owner}; GRANT {owner} TO {role}; GRANT SELECT ON raw TO {owner};" +
                 "".join(f"ALTER TABLE {table} OWNER TO {owner};" for table in ("part", "part_1", "part_2")))
        self.addCleanup(self.cluster.run, f"DROP ROLE {owner}")
        spec = self.spec("target: part\npublish: exchange" + SPEC)
        if MAJOR >= 16:
            self.sql(f"GRANT {owner} TO {role} WITH INHERIT TRUE, SET FALSE")
            self.assertIn("SET FALSE", self.plan(spec, code=USAGE).err)
            self.sql(f"GRANT {owner} TO {role} WITH SET TRUE")
        for right in ("CREATE ON SCHEMA public", "USAGE, CREATE ON SCHEMA tidegate")[MAJOR < 15:]:  # public was everybody's
            told = self.plan(spec, code=USAGE).err
            self.sql(re.search(f"GRANT {right} TO .*", told)[0])
        self.there_and_back(spec, NOW.format("part", "true"), self.right("part"))

    @unittest.skipIf(MAJOR < 17, "transaction_timeout came with 17")
    def test_a_transaction_may_take_what_the_budget_allows(self):
        self.sql(f"ALTER DATABASE {self.name} SET transaction_timeout = '300ms'")
        spec = self.spec("target: fact" + SPEC.replace("FROM raw", "FROM (SELECT raw.* FROM raw, pg_sleep(0.4)) AS slow"))
        self.there_and_back(spec, NOW.format("fact", "true"), self.right("fact"))


if __name__ == "__main__":
    harness.main()
