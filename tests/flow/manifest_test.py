"""Lineage from a dbt manifest in a plan, on SQLite: what each thing downstream needs and its dates; what is required, broken or
changed."""

import itertools
import json
import unittest

from harness import DENIED, HELD, OK, SUPERSEDED, Flow

SCENE = """
CREATE TABLE flights(day TEXT, late INTEGER, seats INTEGER);
CREATE TABLE daily(day TEXT PRIMARY KEY, late INTEGER, seats INTEGER);
WITH RECURSIVE d(day) AS (SELECT date('2024-01-25') UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2024-02-20')
INSERT INTO daily SELECT day, 1, 100 FROM d;
INSERT INTO flights SELECT day, 2, 100 FROM daily;
"""
SPEC = """
target: daily
range: 2024-02-05..2024-02-06
wrong: w
correct: c
changes: [late]
recompute: SELECT day, late, seats FROM flights WHERE day >= :from AND day < :to
"""
PIPELINE = """
database: db.sqlite
production: none
lineage:
  dbt: target/manifest.json
  overrides: {monthly: {grain: month}, rolling: {window: 6}}
"""


def model(name, reads, materialized="incremental", **config):
    return {"unique_id": f"model.p.{name}", "resource_type": "model", "name": name, "original_file_path": f"models/{name}.sql",
            "relation_name": f'"db"."main"."{name}"', "config": {"materialized": materialized, **config},
            "depends_on": {"nodes": [f"model.p.{parent}" for parent in reads]}}


def test_of_dbt(name, kind, column, reads=("daily",), config=None, **arguments):
    metadata = {} if kind is None else {"test_metadata": {"name": kind, "kwargs": {"column_name": column, **arguments}}}
    return {"unique_id": f"test.p.{name}", "resource_type": "test", "name": name, "attached_node": "model.p.daily", **metadata,
            "config": config or {}, "depends_on": {"nodes": [f"model.p.{parent}" for parent in reads]}}


class Lineage(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)
        self.pipeline(PIPELINE)
        self.nodes = [model("daily", []), model("monthly", ["daily"], incremental_strategy="merge", unique_key="month"),
                      model("rolling", ["daily"]), model("worst", ["rolling"], "view"), model("cube", ["monthly"], "table")]
        self.manifest()
        self.written = self.spec(SPEC)

    def pipeline(self, text):
        (self.folder / "tidegate.yaml").write_text(text, encoding="utf-8")

    def manifest(self, **more):
        (self.folder / "target").mkdir(exist_ok=True)
        document = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.10.1",
                                 "generated_at": "2026-01-01T00:00:00Z"},
                    "nodes": {node["unique_id"]: node for node in self.nodes}, **more}
        (self.folder / "target" / "manifest.json").write_text(json.dumps(document), encoding="utf-8")

    def radius(self, *args, code=OK):
        return self.tidegate("plan", self.written, "--json", *args, code=code).json["plan"]["blast_radius"]

    def test_each_child_with_its_need_and_its_dates(self):
        nodes = {node["name"]: node for node in self.radius()["nodes"]}
        self.assertEqual({name: node["needs"] for name, node in nodes.items()},
                         {"main.monthly": "cascade", "main.rolling": "cascade", "main.worst": "follows", "main.cube": "rebuild"})
        shown = self.tidegate("plan", self.written).out
        self.assertIn("2024-02", shown)
        self.assertIn("5–12 Feb 2024", shown)
        self.assertIn("upsert only", json.dumps(nodes["main.monthly"]))

    def test_required_lineage_that_was_read_is_allowed(self):
        self.tidegate("plan", self.written, "--require-lineage")

    def test_required_lineage_that_is_not_declared_denies(self):
        self.pipeline("database: db.sqlite\nproduction: none\n")
        self.tidegate("plan", self.written)
        denied = self.tidegate("plan", self.written, "--require-lineage", code=DENIED)
        self.assertIn("no source of lineage is declared", denied.out)
        self.pipeline("database: db.sqlite\nproduction: none\nlineage: {required: yes}\n")
        self.tidegate("plan", self.written, code=DENIED)

    def test_a_target_that_the_manifest_does_not_know_denies_when_required(self):
        self.nodes = [model("other", [])]
        self.manifest()
        self.assertIn("none of the sources", self.tidegate("plan", self.written, "--require-lineage", code=DENIED).out)

    def test_a_broken_manifest_is_blind_and_named(self):
        path = self.folder / "target" / "manifest.json"
        path.write_text(path.read_text(encoding="utf-8")[:300], encoding="utf-8")
        blind = " ".join(self.radius()["not_read"])
        self.assertIn("manifest.json:1:301: the file ends in the middle", blind)
        self.tidegate("plan", self.written, "--require-lineage", code=DENIED)

    def test_another_child_supersedes_the_plan(self):
        self.tidegate("plan", self.written)
        self.nodes.append(model("new", ["daily"]))
        self.manifest()
        changed = self.tidegate("run", self.written, code=SUPERSEDED)
        self.assertIn("downstream", changed.err)

    def test_the_same_child_made_anew_does_not(self):
        self.tidegate("plan", self.written)
        self.manifest(docs={})
        self.tidegate("run", self.written)

    def test_tests_of_the_target_are_offered_as_checks(self):
        self.nodes += [
            test_of_dbt("not_null_daily_day", "not_null", "day"),
            test_of_dbt("unique_daily_day", "unique", "day"),
            test_of_dbt("accepted_values_daily_late", "accepted_values", "late", values=[0, 1], quote=False),
            test_of_dbt("related", "relationships", "seats", reads=("group by", "daily"), field="seats"),
            test_of_dbt("warns", "not_null", "seats", config={"severity": "warn"}),
            test_of_dbt("of_its_own", None, None),
            model("group by", []), test_of_dbt("elsewhere", "not_null", "late", reads=("monthly",)) | {"attached_node": "model.p.monthly"}]
        self.manifest()
        self.sql('CREATE TABLE "group by"(seats INTEGER); INSERT INTO "group by" VALUES (100);')
        self.spec(SPEC + "checks: {rows: [ day  is NOT null ]}\n")
        tests = {test["name"]: test for test in self.tidegate("plan", self.written, "--json").json["plan"]["dbt_tests"]}
        self.assertEqual(set(tests), {"unique_daily_day", "accepted_values_daily_late", "related", "warns", "of_its_own"})
        self.assertEqual(tests["warns"]["why"], "only warns")
        self.assertIsNone(tests["of_its_own"].get("row"))
        shown = self.tidegate("plan", self.written).out
        self.assertIn("only by dbt, after the swap: warns, which only warns; of_its_own, which is SQL of its own", shown)
        # Taken over as they are printed, they are asked, and nothing is offered any more.
        lines = shown.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("tests "))
        offered = "\n".join(itertools.takewhile(lambda line: "only by dbt" not in line, lines[first + 1:]))
        self.spec(SPEC + "checks:\n" + offered + "\n")
        tests = self.tidegate("plan", self.written, "--json").json["plan"]["dbt_tests"]
        self.assertEqual({test["name"] for test in tests}, {"not_null_daily_day", "warns", "of_its_own"})
        self.assertIn("IN (0, 1)", self.tidegate("run", self.written, code=HELD).err)

    def test_a_source_that_is_itself_being_backfilled_is_waited_for(self):
        self.sql("CREATE TABLE raw(day TEXT, late INTEGER, seats INTEGER); INSERT INTO raw SELECT day, 3, seats FROM flights;")
        source = self.spec(SPEC.replace("target: daily", "target: flights\nkey: day").replace("FROM flights", "FROM raw"), "source.yaml")
        self.tidegate("plan", source)
        self.tidegate("plan", self.written)
        self.tidegate("run", source)
        denied = self.tidegate("plan", self.written, code=DENIED).out
        self.assertIn("flights, which the recompute reads, is itself being backfilled", denied)
        self.tidegate("swap", source, "--yes")
        self.tidegate("plan", self.written)


if __name__ == "__main__":
    unittest.main()
