"""The cascade on PostgreSQL, over the manifest that dbt 1.12 wrote of tests/dbt/project: whatever was made from wrong rows
is in the end what a build from scratch makes. dbt is not needed: the tables are made by its own compiled SQL."""

import json
import lzma
import re
import unittest
from pathlib import Path

from backfills import DELAYS, OVERRIDES
from harness import DENIED, HELD, INCOMPLETE, NOT_FOUND, STATE, USAGE, main
from postgres_harness import PostgresFlow

MANIFEST = Path(__file__).resolve().parents[1] / "data" / "dbt" / "1.12" / "manifest.json.xz"
# Every airport's flights of five months; some are cancelled.
FLIGHTS = """CREATE TABLE flights AS
SELECT d::date AS flight_date, (ARRAY['9E', 'B6', 'UA'])[1 + k % 3] AS carrier, (ARRAY['EWR', 'JFK', 'LGA', 'JFK'])[1 + k % 4] AS origin,
  'BOS' AS dest, CASE WHEN (d::date - date '2013-01-01') * 7 % 11 = k % 11 THEN NULL ELSE (d::date - date '2013-01-01') * 31 % 97 + k * 17 % 61 END AS dep_delay,
  187 AS distance
FROM generate_series(timestamp '2013-01-01', timestamp '2013-05-31', '1 day') d, generate_series(0, 23) k"""
WRONG = """UPDATE analytics.daily_delays SET avg_dep_delay = round(avg_dep_delay * (flights - cancelled) / flights, 2)
WHERE flight_date BETWEEN '2013-02-03' AND '2013-02-24' AND cancelled > 0"""
BACKFILLED = ["airport_days", "carrier_days", "delay_to_date", "late_carriers", "monthly_delays", "origin_scorecard", "rolling_week"]
KINDS = {"incremental": "TABLE", "table": "TABLE", "view": "VIEW", "materialized_view": "MATERIALIZED VIEW"}


def ordered(nodes):
    """Models and seeds, parents first."""
    done, rest = [], {name: node for name, node in nodes.items() if node["resource_type"] in ("model", "seed")}
    while rest:
        for name in [name for name, node in rest.items() if not set(node["depends_on"].get("nodes", [])) & set(rest)]:
            done.append(rest.pop(name))
    return done


class Cascade(PostgresFlow):
    scene = FLIGHTS

    def setUp(self):
        super().setUp()
        text = lzma.decompress(MANIFEST.read_bytes()).decode().replace("dbt_1_12", self.name)
        self.manifest = json.loads(text)
        (self.folder / "target").mkdir()
        (self.folder / "target" / "manifest.json").write_text(text, encoding="utf-8")
        self.models = ordered(self.manifest["nodes"])
        self.build("analytics")
        self.sql(WRONG)
        self.build("wrong", keep=True)
        self.pipeline()
        (self.folder / "fix.yaml").write_text(DELAYS, encoding="utf-8")

    def pipeline(self, overrides=OVERRIDES):
        (self.folder / "tidegate.yaml").write_text(
            f"database: {self.named}\nproduction: none\nbudget: {{duty: 100 %}}\n"
            f"lineage:\n  dbt: target/manifest.json\n  overrides:{overrides}", encoding="utf-8")

    def make(self, model, schema):
        """One of dbt's tables by dbt's SQL, in this schema."""
        name, kind = f'"{model["alias"]}"', KINDS.get(model["config"]["materialized"])
        if model["resource_type"] == "seed":
            self.sql(f"""CREATE TABLE {schema}.{name} AS SELECT * FROM (VALUES ('9E', 'Endeavor Air'), ('B6', 'JetBlue Airways'),
                ('UA', 'United Air Lines')) AS c(carrier, name)""")
        elif kind and model["name"] != "metricflow_time_spine":
            code = self.whole(model).replace(f'"{self.name}"."analytics"', schema)
            self.sql(f"CREATE {kind} {schema}.{name} AS {code}")

    def whole(self, model):
        """Its SQL of all rows: dbt never gives that of what must not be made anew."""
        return re.sub(r"where flight_date >= \(select max.*", "", model["compiled_code"]) if model["name"] == "origin_counts" else model["compiled_code"]

    def build(self, schema, keep=False):
        """Everything from scratch; keep: everything but daily_delays anew in analytics itself, from its wrong rows."""
        if not keep:
            self.sql(f"CREATE SCHEMA {schema}")
        for model in self.models:
            if not keep:
                self.make(model, schema)
            elif model["config"]["materialized"] in ("incremental", "table") and model["name"] not in ("daily_delays", "metricflow_time_spine"):
                self.sql(f'TRUNCATE analytics."{model["alias"]}"; INSERT INTO analytics."{model["alias"]}" {self.whole(model)}')
            elif model["config"]["materialized"] == "materialized_view":
                self.sql(f'REFRESH MATERIALIZED VIEW analytics.{model["name"]}')

    def tables(self):
        return [model["alias"] for model in self.models
                if model["config"]["materialized"] in KINDS and model["name"] not in ("stg_flights", "metricflow_time_spine")]

    def differing(self):
        """The tables that are not what a build from scratch gives, row for row."""
        self.sql("DROP SCHEMA IF EXISTS scratch CASCADE")
        self.build("scratch")
        return sorted(name for name in self.tables() if self.value(
            f'SELECT count(*) FROM ((TABLE analytics."{name}" EXCEPT ALL TABLE scratch."{name}") UNION ALL '
            f'(TABLE scratch."{name}" EXCEPT ALL TABLE analytics."{name}")) AS d'))

    def step(self, document, name):
        return next(step for step in document["steps"] if step["name"].split(".")[-1] == name)

    def versions(self, name):
        """Every row's own version: a row that is written anew, even with the same values, gets another."""
        return dict(self.rows(f"SELECT ctid::text, xmin::text FROM analytics.{name}"))

    def wrong_rows(self, name):
        return self.value(f"SELECT count(*) FROM (TABLE scratch.{name} EXCEPT ALL TABLE analytics.{name}) AS d")

    def rebuild(self, name):
        """What `dbt run --select NAME` does."""
        self.sql(f"TRUNCATE analytics.{name}; INSERT INTO analytics.{name} {self.model(name)['compiled_code']}")

    def model(self, name):
        return next(model for model in self.models if model["name"] == name)

    def test_everything_is_as_if_built_from_scratch(self):
        self.swapped("fix.yaml")
        self.assertEqual(set(self.differing()), {*BACKFILLED, "carrier_totals", "airport_totals"})
        before = {name: self.versions(name) for name in [*BACKFILLED, "flight_counts"]}
        wrong = {name: self.wrong_rows(name) for name in before}
        first = self.tidegate("cascade", "--yes", "--json", "fix.yaml", code=INCOMPLETE).json
        self.assertEqual(self.differing(), ["carrier_totals"])
        for name, versions in before.items():
            written = set(self.versions(name).items()) - set(versions.items())
            self.assertEqual(len(written), wrong[name], f"rows of {name} that were right stay untouched")
        self.assertEqual(wrong["flight_counts"], 0)
        self.assertEqual(self.step(first, "flight_counts")["needs"], "nothing", "it reads no column that changes")
        self.assertEqual(self.step(first, "airport_totals")["done"], "refreshed")
        self.assertEqual(self.step(first, "carrier_totals")["command"], "dbt run --select carrier_totals")
        self.assertEqual(self.step(first, "rolling_week")["range"]["to"], "2013-03-02")
        order = [step["name"] for step in first["steps"]]
        self.assertEqual(len(order), len(set(order)), "what two ways lead to is one step")
        self.rebuild("carrier_totals")
        self.tidegate("cascade", "--yes", "--done", "carrier_totals", "fix.yaml", code=INCOMPLETE)
        last = self.tidegate("cascade", "--yes", "--json", "--done", "flights_by_month", "fix.yaml").json
        self.assertEqual(last["left"], 0)
        self.assertEqual(self.differing(), [])
        backfills = self.value("SELECT count(*) FROM tidegate.backfill")
        self.tidegate("cascade", "--yes", "fix.yaml")
        self.assertEqual(self.value("SELECT count(*) FROM tidegate.backfill"), backfills, "what is done is not done again")

    def test_a_window_that_is_too_short_is_denied(self):
        self.swapped("fix.yaml")
        self.pipeline(OVERRIDES.replace("window: 6", "window: 2"))
        before = self.versions("rolling_week")
        result = self.tidegate("cascade", "--yes", "fix.yaml", code=DENIED)
        self.assertIn("control", result.err)
        self.assertIn("overrides", result.err)
        self.assertEqual(self.versions("rolling_week"), before)
        self.assertNotIn("airport_days", self.differing(), "what came before stays right")
        self.pipeline()
        self.tidegate("cascade", "--yes", "fix.yaml", code=INCOMPLETE)
        self.assertEqual(self.differing(), ["carrier_totals"])

    def test_a_wrong_range_shows_in_the_comparison(self):
        """The comparison with a build from scratch sees what the gate would have denied: dates that were left wrong."""
        self.swapped("fix.yaml")
        self.pipeline(OVERRIDES.replace("window: 6", "window: 2"))
        self.tidegate("cascade", "--yes", "fix.yaml", code=DENIED)
        draft = next(self.folder.glob("cascade-*/analytics.rolling_week.yaml"))
        lines = ["control: 2013-01-20..2013-01-31" if line.startswith("control:") else line
                 for line in draft.read_text(encoding="utf-8").splitlines()]
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.tidegate("cascade", "--yes", "fix.yaml", code=INCOMPLETE)
        self.assertIn("rolling_week", self.differing())

    def test_looking_writes_nothing(self):
        self.swapped("fix.yaml")
        before = self.rows("SELECT count(*) FROM tidegate.backfill UNION ALL SELECT count(*) FROM tidegate.event")
        result = self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json
        self.assertIn("recompute:", self.step(result, "airport_days")["draft"])
        self.assertEqual(self.step(result, "rolling_week")["waits_for"], "analytics.airport_days")
        self.assertEqual(self.rows("SELECT count(*) FROM tidegate.backfill UNION ALL SELECT count(*) FROM tidegate.event"), before)
        self.assertEqual(list(self.folder.glob("cascade-*")), [])
        # What has no SQL: an ordinary run would look at what is new alone, so the whole is run again, or the dates are told.
        manifest = self.folder / "target" / "manifest.json"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(re.sub(r"(airport_days|carrier_days)\.sql", r"\1.py", text), encoding="utf-8")
        result = self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json
        told = {name: self.step(result, name) for name in ("airport_days", "carrier_days")}
        self.assertEqual({(step["act"], step["why"]) for step in told.values()}, {("hand", "it is written in Python")})
        self.assertEqual({step["command"] for step in told.values()},
                         {"dbt run --full-refresh --select airport_days",
                          "dbt run --select carrier_days --event-time-start 2013-02-03 --event-time-end 2013-02-25"})

    def test_what_dbt_says_of_a_model_decides(self):
        """What it cannot be told, dates that it does not make, names that it does not know a model by, columns that a table
        has not got."""
        (self.folder / "fix.yaml").write_text(DELAYS.replace("{avg_dep_delay: cancelled > 0}", '["*"]'), encoding="utf-8")
        self.swapped("fix.yaml")
        self.sql("ALTER TABLE analytics.flight_counts DROP COLUMN cancelled")
        result = self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json
        steps = {step["name"]: step for step in result["steps"]}
        self.assertEqual([steps[f"analytics.{name}"]["command"] for name in ("carrier_ranks_v1", "carrier ranks")],
                         ["dbt run --select carrier_ranks.v1", "dbt run --select carrier_ranks.v2"])
        kept = steps["analytics.origin_counts"]
        self.assertEqual((kept["act"], kept.get("command")), ("hand", None))
        self.assertIn("full_refresh: false", kept["why"])
        self.assertIn("range: 2013-02..2013-02", steps["analytics.carrier_months"]["draft"])
        counts = steps["analytics.flight_counts"]["draft"]
        self.assertIn('SELECT "flight_date", "flights" FROM (', counts)
        self.assertIn("# Its SQL gives what the table has no column for: cancelled", counts)
        (self.folder / "counts.yaml").write_text(counts, encoding="utf-8")
        self.plan("counts.yaml")
        # Its own tests are checks, where they say as much.
        self.assertIn("\"\\\"origin\\\" IN ('EWR', 'JFK', 'LGA')\" # dbt's test accepted_values", steps["analytics.airport_days"]["draft"])
        self.assertIn("airport_days_flights, which looks only where", steps["analytics.airport_days"]["draft"])
        self.assertIn('IN (SELECT \\"origin\\" FROM \\"analytics\\".\\"airport_days\\"', steps["analytics.rolling_week"]["draft"])
        self.assertIn('"count(\\"flight_date\\") = count(DISTINCT', steps["analytics.delay_to_date"]["draft"])
        # A month that its job does not make is not made by the cascade either; but what is there is made right.
        manifest = self.folder / "target" / "manifest.json"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(text.replace('"begin":"2013-02-01T', '"begin":"2013-03-01T'), encoding="utf-8")
        draft = self.step(self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json, "carrier_months")["draft"]
        self.assertIn("range: 2013-02..2013-02", draft)
        self.sql("DELETE FROM analytics.carrier_months WHERE month < '2013-03-01'")
        draft = self.step(self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json, "carrier_months")["draft"]
        self.assertIn("from 2013-03-01T00:00:00 on", draft)
        # dbt takes whole days: a month is no time to it.
        manifest.write_text(re.sub(r"(carrier_months)\.sql", r"\1.py", text), encoding="utf-8")
        self.assertEqual(self.step(self.tidegate("cascade", "--dry-run", "--json", "fix.yaml").json, "carrier_months")["command"],
                         "dbt run --select carrier_months --event-time-start 2013-02-01 --event-time-end 2013-03-01")
        # What does not pass dbt's tests is not published.
        manifest.write_text(text.replace('"values":["EWR","JFK","LGA"]', '"values":["EWR","JFK"]'), encoding="utf-8")
        before = self.versions("airport_days")
        self.assertIn("origin", self.tidegate("cascade", "--yes", "fix.yaml", code=HELD).err)
        self.assertEqual(self.versions("airport_days"), before)

    def test_what_cannot_be_is_refused(self):
        self.plan("fix.yaml")
        self.assertIn("swap", self.tidegate("cascade", "--yes", "fix.yaml", code=STATE).err)
        self.tidegate("run", "fix.yaml")
        self.assertIn("tidegate cascade", self.tidegate("swap", "--yes", "fix.yaml").out)
        self.assertIn("--yes", self.tidegate("cascade", "fix.yaml", code=USAGE).err)
        self.tidegate("cascade", "--yes", "--done", "no_such", "fix.yaml", code=NOT_FOUND)
        self.tidegate("cascade", "--yes", "--done", "carrier_history", "fix.yaml", code=STATE)
        self.tidegate("cascade", "--yes", "--done", "worst_days", "fix.yaml", code=USAGE)


# Whose rows stand at other dates than what they are made from, in other grains, or come and go; and how their key is called.
ELSEWHERE = {
    "airport": ("day, origin", "SELECT day, origin, sum(minutes) AS minutes FROM daily GROUP BY 1, 2"),
    "compared": ("day, origin", """
        SELECT d.day, d.origin, d.minutes - p.minutes AS more FROM airport d JOIN airport p ON p.day = d.day - 45 AND p.origin = d.origin"""),
    "local": ("day", "SELECT (at AT TIME ZONE 'America/New_York')::date AS day, sum(minutes) AS minutes FROM daily GROUP BY 1"),
    "sundays": ("week", "SELECT date_trunc('week', day + 1)::date - 1 AS week, sum(minutes) AS minutes FROM daily GROUP BY 1"),
    "months": ("month", "SELECT date_trunc('month', day)::date AS month, sum(minutes) AS minutes FROM daily GROUP BY 1"),
    "three_months": ("month", "SELECT month, sum(minutes) OVER (ORDER BY month ROWS 2 PRECEDING) AS minutes FROM months"),
    "longest": ("day, origin", """
        SELECT DISTINCT ON (origin, date_trunc('month', day)) day, origin, minutes
        FROM airport ORDER BY origin, date_trunc('month', day), minutes DESC, day"""),
    "top": ("day, origin", "SELECT day, origin, minutes FROM airport ORDER BY minutes DESC, day, origin LIMIT 20"),
}
DAILY = """
CREATE TABLE raw AS SELECT d::date AS day, (d + make_interval(hours => k * 2)) AT TIME ZONE 'UTC' AS at, (ARRAY['JFK', 'LGA'])[1 + k % 2] AS origin,
  (d::date - date '2024-01-01') * 31 % 97 + k * 17 % 61 AS minutes
FROM generate_series(timestamp '2023-11-01', timestamp '2024-06-30', '1 day') d, generate_series(0, 11) k;
CREATE TABLE daily(day date NOT NULL, at timestamptz NOT NULL, origin text NOT NULL, minutes int, PRIMARY KEY (at, origin));
INSERT INTO daily SELECT day, at, origin, minutes FROM raw;
UPDATE daily SET minutes = minutes + CASE day WHEN '2024-02-07' THEN 500 ELSE 60 END WHERE day BETWEEN '2024-02-05' AND '2024-02-20' AND origin = 'LGA';
"""
DAILY_SPEC = """
target: daily
date_column: day
range: 2024-02-05..2024-02-20
wrong: hours were added at LGA
correct: the minutes as flown
changes: {minutes: origin = 'LGA'}
recompute: SELECT day, at, origin, minutes FROM raw WHERE day >= :from AND day < :to
"""


class Elsewhere(PostgresFlow):
    scene = DAILY

    def content(self, name):
        return self.rows(f"SELECT t::text FROM {name} AS t ORDER BY 1")

    def test_all_but_what_is_rebuilt_is_made_right(self):
        (self.folder / "sql").mkdir()
        for name, (key, query) in ELSEWHERE.items():
            self.sql(f"CREATE TABLE {name} AS {query}; ALTER TABLE {name} ADD PRIMARY KEY ({key})")
            (self.folder / "sql" / f"{name}.sql").write_text(f"INSERT INTO {name} {query};\n", encoding="utf-8")
        (self.folder / "tidegate.yaml").write_text(f"database: {self.named}\nproduction: none\nlineage: {{sql: sql}}\n", encoding="utf-8")
        self.spec(DAILY_SPEC, "fix.yaml")
        self.swapped("fix.yaml")
        # A row that is no longer the longest goes: that is for a person to say.
        held = self.tidegate("cascade", "--yes", "fix.yaml", code=HELD)
        draft = next(self.folder.glob("cascade-*/longest.yaml"))
        self.assertIn('changes: ["*", new rows, vanished rows]', held.err)
        draft.write_text(draft.read_text(encoding="utf-8") + 'changes: ["*", new rows, vanished rows]\n', encoding="utf-8")
        told = self.tidegate("cascade", "--yes", "fix.yaml", code=INCOMPLETE).out
        self.assertRegex(told, "rebuild +top .*a limit over all dates")
        made = {name: self.content(name) for name in ELSEWHERE}
        for name, (_, query) in ELSEWHERE.items():
            self.sql(f"TRUNCATE {name}; INSERT INTO {name} {query}")
        self.assertEqual([name for name in ELSEWHERE if made[name] != self.content(name)], ["top"])


if __name__ == "__main__":
    main()
