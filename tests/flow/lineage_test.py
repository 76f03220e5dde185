"""Lineage from everything there is, read together: the catalogue, SQL text, OpenLineage events and the hand-written list
name the same tables, and what is downstream is one node each, with the dates that it needs. On both engines."""

import json
import unittest

from harness import Flow
from postgres_harness import PostgresFlow

SCENE = """
CREATE TABLE flights (flight_date {date}, origin text, dep_delay numeric);
CREATE TABLE daily_delays (flight_date {date} NOT NULL, origin text NOT NULL, flights int, avg_dep_delay numeric,
                           PRIMARY KEY (flight_date, origin));
CREATE TABLE monthly_delays (month text, flights int, delay numeric);
CREATE TABLE rolling_delays (flight_date {date}, delay numeric);
CREATE TABLE traffic (flight_date {date}, flights int);
CREATE VIEW worst_days AS SELECT flight_date, avg_dep_delay FROM daily_delays WHERE avg_dep_delay > 30;
CREATE VIEW worst_months AS SELECT month, delay FROM monthly_delays WHERE delay > 30;
CREATE VIEW busy_days AS SELECT flight_date, origin, flights FROM daily_delays;
"""

ROLLING = """INSERT INTO rolling_delays
SELECT flight_date, avg(avg_dep_delay) OVER (ORDER BY flight_date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM daily_delays;
"""
TRAFFIC = """-- made anew each night
DELETE FROM traffic;
INSERT INTO traffic SELECT flight_date, sum(flights) FROM daily_delays GROUP BY flight_date;
"""


def event(job, inputs, outputs, kind="COMPLETE"):
    def datasets(names):
        return [{"namespace": space, "name": name} for space, name in names]

    return json.dumps({"eventType": kind, "eventTime": "2026-11-01T02:00:00Z", "run": {"runId": job},
                       "job": {"namespace": "etl", "name": job}, "inputs": datasets(inputs), "outputs": datasets(outputs)})


class ReadTogether:
    """What holds on both engines. `space`, `full`: what OpenLineage calls the database and a table of it."""

    def setUp(self):
        super().setUp()
        (self.folder / "sql" / "marts").mkdir(parents=True)
        (self.folder / "sql" / "marts" / "monthly.sql").write_text(self.monthly)
        (self.folder / "sql" / "rolling.sql").write_text(ROLLING)
        (self.folder / "sql" / "traffic.sql").write_text(TRAFFIC)
        (self.folder / "events.ndjson").write_text("\n".join([
            event("load_monthly", [self.dataset("daily_delays")], [self.dataset("monthly_delays")]),
            event("send", [self.dataset("monthly_delays")], [("s3://exports", "customers/monthly.csv")], "FAIL")]))
        self.pipeline("lineage: {sql: sql, openlineage: events.ndjson}",
                      "downstream: [{name: delays board, kind: dashboard, reads: [monthly_delays]}, monthly_delays]")

    def dataset(self, table):
        return self.space, self.full.format(table)

    def pipeline(self, *lines):
        (self.folder / "tidegate.yaml").write_text("\n".join((f"database: {self.named}", *lines)) + "\n")

    def impact(self, *args):
        found = self.tidegate("impact", "daily_delays", "--json", *args).json
        names = [node["name"].removeprefix("public.") for node in found["nodes"]]
        self.assertEqual(len(names), len(set(names)), names)
        nodes = dict(zip(names, found["nodes"]))
        ids = {node["id"]: name for name, node in nodes.items()}
        edges = {(ids[edge["parent"]], ids[edge["child"]]) for edge in found["edges"]}
        return found, nodes, edges

    def test_one_table_is_one_node(self):
        _, nodes, edges = self.impact()
        for reader in ("SQL text", "OpenLineage", "tidegate.yaml", "catalogue"):
            self.assertIn(reader, nodes["monthly_delays"]["reader"])
        self.assertLessEqual({("daily_delays", "monthly_delays"), ("monthly_delays", "worst_months"),
                              ("daily_delays", "worst_days"), ("monthly_delays", "delays board"),
                              ("daily_delays", "rolling_delays"), ("daily_delays", "traffic")}, edges)
        self.assertNotIn(("daily_delays", "worst_months"), edges)
        self.assertNotIn(("daily_delays", "delays board"), edges)
        wanted = {"monthly_delays": "cascade", "worst_months": "follows", "worst_days": "follows", "delays board": "person",
                  "rolling_delays": "cascade", "traffic": "cascade"}
        self.assertEqual({name: nodes[name]["needs"] for name in wanted}, wanted)
        self.assertIn(("monthly_delays", "customers/monthly.csv"), edges)

    def test_each_has_its_own_dates(self):
        _, nodes, _ = self.impact("--range", "2013-02-05..2013-02-10")
        dates = {name: (nodes[name]["first"], nodes[name]["last"])
                 for name in ("monthly_delays", "rolling_delays", "traffic")}
        self.assertEqual(dates, {"monthly_delays": ("2013-02", "2013-02"), "rolling_delays": ("2013-02-05", "2013-02-16"),
                                 "traffic": ("2013-02-05", "2013-02-10")})

    def test_what_reads_other_columns_needs_nothing(self):
        _, nodes, _ = self.impact("--columns", "avg_dep_delay", "--all")
        self.assertEqual({name: nodes[name]["needs"] for name in ("traffic", "busy_days", "rolling_delays", "worst_days")},
                         {"traffic": "nothing", "busy_days": "nothing", "rolling_delays": "cascade", "worst_days": "follows"})

    def test_what_is_not_read_is_said(self):
        (self.folder / "sql" / "broken.sql").write_text("SELECT 1;\n\nINSERT INTO traffic SELEC 1;\n")
        (self.folder / "sql" / "model.sql").write_text("-- dbt\nSELECT * FROM {{ ref('daily_delays') }}\n")
        (self.folder / "events.ndjson").write_text("no json\n")
        found, _, _ = self.impact()
        said = "; ".join(source["failed"] or "" for source in found["read"])
        self.assertIn("broken.sql:3", said)
        self.assertIn("model.sql:2: it is written in Jinja", said)
        self.assertIn("events.ndjson:1: no JSON", said)

    def test_hostile_names_stay_names(self):
        name = "<script>alert(1)</script>\n'\";--"
        (self.folder / "events.ndjson").write_text(event(name, [self.dataset("daily_delays")], [(self.space, "x" + name)]))
        _, nodes, _ = self.impact()
        self.assertTrue(any("script" in node["name"] for node in nodes.values()))
        svg = self.tidegate("impact", "daily_delays", "--format", "html").out
        self.assertNotIn("<script>alert", svg)


class SqliteLineage(ReadTogether, Flow):
    space, full = "sqlite://db.sqlite", "main.{}"
    monthly = ("DELETE FROM monthly_delays WHERE month = strftime('%Y-%m', :from);\nINSERT INTO monthly_delays\n"
               "SELECT strftime('%Y-%m', flight_date) AS month, sum(flights), avg(avg_dep_delay) FROM daily_delays GROUP BY 1;\n")

    def setUp(self):
        super().setUp()
        self.sql(SCENE.format(date="text") + "INSERT INTO daily_delays VALUES ('2013-02-01', 'JFK', 1, 2.5);")

    def test_nothing_of_the_text_is_run(self):
        (self.folder / "sql" / "drop.sql").write_text("DROP TABLE flights; DELETE FROM daily_delays; ATTACH 'x.db' AS x;")
        before = self.rows("SELECT name FROM sqlite_schema ORDER BY name")
        self.impact()
        self.assertEqual(self.rows("SELECT name FROM sqlite_schema ORDER BY name"), before)
        self.assertFalse((self.folder / "x.db").exists())


class PostgresLineage(ReadTogether, PostgresFlow):
    space, full = "postgres://db.example:5432", "flights.public.{}"
    scene = SCENE.format(date="date") + "CREATE MATERIALIZED VIEW kept AS SELECT flight_date, flights FROM daily_delays;"
    monthly = ("SET search_path TO public;\nINSERT INTO Monthly_Delays\nSELECT to_char(date_trunc('month', flight_date), 'YYYY-MM'), "
               "sum(flights), avg(avg_dep_delay) FROM public.daily_delays GROUP BY date_trunc('month', flight_date);\n")

    def test_a_materialized_view_is_refreshed_where_its_columns_change(self):
        _, nodes, _ = self.impact("--columns", "flights")
        self.assertEqual(nodes["kept"]["needs"], "refresh")
        _, nodes, _ = self.impact("--columns", "avg_dep_delay", "--all")
        self.assertEqual(nodes["kept"]["needs"], "nothing")


if __name__ == "__main__":
    unittest.main()
