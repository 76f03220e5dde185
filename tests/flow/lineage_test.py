"""Lineage from everything there is, read together: the catalogue, SQL text, OpenLineage events and the hand-written list
name the same tables, and what is downstream is one node each, with the dates that it needs. On both engines."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from harness import DENIED, Flow
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


def manifest(schema):
    """dbt's manifest of two models: the table of months, which SQL text and events name too, and one that it alone knows."""
    def node(name, parents):
        return {"resource_type": "model", "unique_id": f"model.flights.{name}", "name": name, "alias": name,
                "package_name": "flights", "database": "flights", "schema": schema, "relation_name": f'"flights"."{schema}"."{name}"',
                "original_file_path": f"models/{name}.sql", "path": f"{name}.sql", "config": {"materialized": "incremental"},
                "depends_on": {"nodes": parents}, "columns": {}}

    source = {"resource_type": "source", "unique_id": "source.flights.raw.daily_delays", "name": "daily_delays",
              "identifier": "daily_delays", "source_name": "raw", "package_name": "flights", "database": "flights", "schema": schema,
              "relation_name": f'"flights"."{schema}"."daily_delays"', "columns": {}}
    nodes = [node("monthly_delays", [source["unique_id"]]), node("scorecard", ["model.flights.monthly_delays"])]
    return json.dumps({
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.10.0",
                     "generated_at": "2026-11-01T00:00:00Z", "project_name": "flights", "adapter_type": "postgres"},
        "nodes": {one["unique_id"]: one for one in nodes}, "sources": {source["unique_id"]: source}, "exposures": {},
        "metrics": {}, "semantic_models": {}, "saved_queries": {}, "disabled": {}, "macros": {},
        "parent_map": {}, "child_map": {}})


class Marquez:
    """A server that answers as Marquez does, a page at a time."""

    def __init__(self, events, token=None):
        self.asked = asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                query = {name: int(values[0]) for name, values in parse_qs(url.query).items() if values[0].isdigit()}
                asked.append(self.path)
                known = token is None or self.headers.get("Authorization") == f"Bearer {token}"
                page = events[query.get("offset", 0):][:query.get("limit", 100)]
                body = json.dumps({"events": page, "totalCount": len(events)}).encode()
                self.send_response(200 if known and url.path == "/api/v1/events/lineage" else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()


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
        names = [node["name"].removeprefix(f"{self.schema}.") for node in found["nodes"]]
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
        (self.folder / "sql" / "array.sql").write_text("INSERT INTO traffic SELECT NULL, length('{{1,2},{3,4}}');\n")
        (self.folder / "events.ndjson").write_text("no json\n")
        found, _, _ = self.impact()
        said = "; ".join(source["failed"] or "" for source in found["read"])
        self.assertIn("broken.sql:3", said)
        self.assertIn("model.sql:2: it is written in Jinja", said)
        self.assertNotIn("array.sql", said)
        self.assertIn("events.ndjson:1: no JSON", said)

    def test_a_manifest_names_the_same_table(self):
        (self.folder / "manifest.json").write_text(manifest(self.schema))
        self.pipeline("lineage: {dbt: manifest.json, sql: sql, openlineage: events.ndjson}")
        _, nodes, edges = self.impact()
        for reader in ("dbt manifest", "SQL text", "OpenLineage", "catalogue"):
            self.assertIn(reader, nodes["monthly_delays"]["reader"])
        self.assertLessEqual({("daily_delays", "monthly_delays"), ("monthly_delays", "scorecard"),
                              ("monthly_delays", "worst_months")}, edges)

    def test_marquez_is_asked_for_its_events(self):
        loads = [json.loads(event(f"load_{i}", [self.dataset("daily_delays")], [self.dataset(f"copy_{i}")])) for i in range(120)]
        loads.insert(30, {"eventType": "COMPLETE"})  # what is no event does not end the reading
        with Marquez(loads) as marquez:
            self.pipeline(f"lineage: {{openlineage: '{marquez.url}/'}}")
            found, nodes, _ = self.impact("--all")
        self.assertEqual(sum(name.startswith("copy_") for name in nodes), 120)
        self.assertEqual(len(marquez.asked), 2)
        self.assertTrue(any(source["covers"] == "120 events of 120 jobs" for source in found["read"]))

    def test_a_token_is_never_shown(self):
        with Marquez([], token="right") as marquez:
            self.pipeline(f"lineage: {{openlineage: '{marquez.url}'}}")
            for token, said in (("wrong-secret", "status 401"), ("right", "0 events")):
                result = self.run_tidegate("impact", "daily_delays", "--json", env={"OPENLINEAGE_API_KEY": token})
                self.assertIn(said, result.out)
                self.assertNotIn("secret", result.out + result.err)

    def test_hostile_names_stay_names(self):
        name = "<script>alert(1)</script>\n'\";--"
        (self.folder / "events.ndjson").write_text(event(name, [self.dataset("daily_delays")], [(self.space, "x" + name)]))
        _, nodes, _ = self.impact()
        self.assertTrue(any("script" in node["name"] for node in nodes.values()))
        svg = self.tidegate("impact", "daily_delays", "--format", "html").out
        self.assertNotIn("<script>alert", svg)


class SqliteLineage(ReadTogether, Flow):
    space, schema, full = "sqlite://db.sqlite", "main", "main.{}"
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
    space, schema, full = "postgres://db.example:5432", "public", "flights.public.{}"
    scene = SCENE.format(date="date") + "CREATE MATERIALIZED VIEW kept AS SELECT flight_date, flights FROM daily_delays;"
    monthly = ("SET search_path TO public;\nINSERT INTO Monthly_Delays\nSELECT to_char(date_trunc('month', flight_date), 'YYYY-MM'), "
               "sum(flights), avg(avg_dep_delay) FROM public.daily_delays GROUP BY date_trunc('month', flight_date);\n")

    def test_a_materialized_view_is_refreshed_where_its_columns_change(self):
        _, nodes, _ = self.impact("--columns", "flights")
        self.assertEqual(nodes["kept"]["needs"], "refresh")
        _, nodes, _ = self.impact("--columns", "avg_dep_delay", "--all")
        self.assertEqual(nodes["kept"]["needs"], "nothing")

    def test_a_table_of_another_schema_is_another(self):
        """A manifest made for another schema says nothing of the target, and what is said of its name alone is the target's."""
        (self.folder / "manifest.json").write_text(manifest("staging"))
        self.pipeline("lineage: {dbt: manifest.json}")
        found = json.loads(self.run_tidegate("impact", "daily_delays", "--json").out)
        self.assertRegex(found["finding"], r"none of the sources.*staging\.daily_delays is known to dbt manifest: was that made for another")
        self.assertNotIn("staging.scorecard", [node["name"] for node in found["nodes"]])
        self.pipeline("lineage: {dbt: manifest.json, sql: sql}")
        found, nodes, _ = self.impact()
        self.assertIsNone(found["finding"])
        self.assertIn("traffic", nodes)
        self.assertIn("worst_months", nodes)
        self.assertNotIn("scorecard", " ".join(nodes))
        self.assertIn("and not flights.staging.daily_delays", self.tidegate("impact", "daily_delays").out)
        self.pipeline("lineage: {dbt: manifest.json, required: yes}")
        (self.folder / "backfill.yaml").write_text("target: daily_delays\nrange: 2013-02-01..2013-02-02\nwrong: w\ncorrect: c\nchanges: [flights]\n"
                                                   "recompute: SELECT * FROM daily_delays WHERE flight_date >= :from AND flight_date < :to\n")
        self.assertIn("staging.daily_delays", self.tidegate("plan", "backfill.yaml", code=DENIED).out)

    def test_what_the_catalogue_knows(self):
        """Views on views under quoted names, materialized views, functions by their text, foreign keys and tables."""
        self.sql("""
            CREATE SCHEMA "Bi ""x"" . y";
            CREATE VIEW "Bi ""x"" . y"."Worst.Days" AS SELECT * FROM worst_days;
            CREATE VIEW "Bi ""x"" . y".whole_row AS SELECT d FROM daily_delays d;
            CREATE MATERIALIZED VIEW "Bi ""x"" . y".kept AS SELECT "Worst.Days".flight_date FROM "Bi ""x"" . y"."Worst.Days";
            CREATE FUNCTION late(text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
              RETURN (SELECT count(*) FROM daily_delays WHERE origin = $1); END $$;
            CREATE FUNCTION old() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM daily_delays_of_old); END $$;
            CREATE TABLE remarks (flight_date date, origin text, remark text,
                                  FOREIGN KEY (flight_date, origin) REFERENCES daily_delays ON DELETE CASCADE);
            CREATE TABLE orders (flight_date date, origin text, FOREIGN KEY (flight_date, origin) REFERENCES daily_delays);
            CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
            CREATE FOREIGN TABLE far (flight_date date) SERVER nowhere OPTIONS (schema_name 'public', table_name 'daily_delays');
            CREATE VIEW from_far AS SELECT * FROM far;
            CREATE FOREIGN TABLE elsewhere (flight_date date) SERVER nowhere OPTIONS (schema_name 'other', table_name 'daily_delays');
            """)
        self.pipeline()
        found, nodes, edges = self.impact()
        bi = '"Bi ""x"" . y".'
        needs = {name: (node["kind"], node["needs"]) for name, node in nodes.items() if name != "daily_delays"}
        self.assertEqual(needs, {
            "worst_days": ("view", "follows"), "busy_days": ("view", "follows"), "kept": ("materialized view", "refresh"),
            bi + '"Worst.Days"': ("view", "follows"), bi + "whole_row": ("view", "follows"), bi + "kept": ("materialized view", "refresh"),
            "late(text)": ("function", "unknown"), "remarks": ("foreign key", "unknown"), "orders": ("foreign key", "follows"),
            "far": ("foreign table", "unknown"), "from_far": ("view", "follows")})
        self.assertLessEqual({("daily_delays", "worst_days"), ("worst_days", bi + '"Worst.Days"'),
                              (bi + '"Worst.Days"', bi + "kept")}, edges)
        self.assertNotIn(("daily_delays", bi + "kept"), edges)
        self.assertIn("ON DELETE CASCADE by flight_date, origin", " ".join(str(edge["via"]) for edge in found["edges"]))
        _, nodes, _ = self.impact("--columns", "flights", "--all")
        self.assertEqual({name: nodes[name]["needs"] for name in ("busy_days", bi + "whole_row", "worst_days", bi + "kept")},
                         {"busy_days": "follows", bi + "whole_row": "follows", "worst_days": "nothing", bi + "kept": "nothing"})


if __name__ == "__main__":
    unittest.main()
