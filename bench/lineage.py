"""Measures the blast radius of one target over a manifest of dbt, cold, against Python's json.load of the same file.

The manifest is made here: N nodes of the shape and the size that dbt 1.12 writes, in layers, each model reading up to four
earlier ones; the same for the same N.
"""

import argparse
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

TARGET = "m_000100"


def node(name, kind, parents, at):
    incremental = kind == "model" and at % 10 == 0
    config = {
        "enabled": True, "alias": None, "schema": None, "database": None, "tags": [], "meta": {}, "group": None,
        "materialized": "incremental" if incremental else "view" if kind == "model" and at % 3 == 0 else
        "table" if kind == "model" else kind,
        "incremental_strategy": "microbatch" if incremental else None, "batch_size": "day" if incremental else None,
        "lookback": 1, "event_time": "order_date" if incremental else None, "persist_docs": {}, "post-hook": [], "pre-hook": [],
        "quoting": {}, "column_types": {}, "full_refresh": None, "unique_key": None, "on_schema_change": "ignore", "grants": {},
        "packages": [], "docs": {"show": True, "node_color": None}, "contract": {"enforced": False, "alias_types": True},
        "access": "protected", "freshness": None}
    columns = {f"c{i}": {"name": f"c{i}", "description": "a column", "meta": {}, "data_type": "bigint", "constraints": [],
                         "quote": None, "tags": []} for i in range(at % 6)}
    read = [parent.split(".")[-1] for parent in parents]
    sql = "select *\nfrom " + "\njoin ".join(read or ["raw"]) + "\nwhere x > 1 and y < 2 -- \"pad\"" * (at % 9)
    return {
        "database": "prod", "schema": "analytics", "name": name, "resource_type": kind, "package_name": "bench",
        "path": f"marts/{name}.sql", "original_file_path": f"models/marts/{name}.sql", "unique_id": f"{kind}.bench.{name}",
        "fqn": ["bench", "marts", name], "alias": name,
        "checksum": {"name": "sha256", "checksum": hashlib.sha256(name.encode()).hexdigest()}, "config": config, "tags": [],
        "description": f"Synthetic {kind} number {at}.", "columns": columns, "meta": {"owner": f"team-{at % 40}"}, "group": None,
        "docs": {"show": True, "node_color": None}, "patch_path": "bench://models/marts/schema.yml", "build_path": None,
        "unrendered_config": {"materialized": "table"}, "created_at": 1796009566.64,
        "relation_name": None if kind == "test" else f'"prod"."analytics"."{name}"', "raw_code": sql, "doc_blocks": [],
        "language": "sql", "refs": [{"name": name, "package": None, "version": None} for name in read], "sources": [],
        "metrics": [], "depends_on": {"macros": [], "nodes": parents},
        "compiled_path": f"target/compiled/bench/models/marts/{name}.sql", "compiled": True, "compiled_code": sql,
        "extra_ctes_injected": True, "extra_ctes": [], "contract": {"enforced": False, "alias_types": True, "checksum": None},
        "access": "protected", "constraints": [], "version": None, "latest_version": None, "deprecation_date": None,
        "primary_key": [], "time_spine": None}


def make(path, count):
    dice = random.Random(1)
    models = [f"m_{i:06d}" for i in range(count * 4 // 5)]
    parents = {}
    with open(path, "w", encoding="utf-8") as file:
        meta = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.12.0",
                "generated_at": "2026-11-30T00:00:00Z", "project_name": "bench", "adapter_type": "postgres"}
        file.write('{"metadata": ' + json.dumps(meta) + ', "nodes": {')
        for at in range(count):
            kind = "model" if at < len(models) else "test"
            name = models[at] if kind == "model" else f"unique_{at}"
            near = [max(0, min(at, len(models)) - 1 - int(dice.expovariate(1 / 200))) for _ in range(dice.randint(1, 4))]
            read = sorted({f"model.bench.{models[i]}" for i in near if models[i] != name}) if at > 0 else []
            parents[f"{kind}.bench.{name}"] = read
            file.write((", " if at else "") + json.dumps(f"{kind}.bench.{name}") + ": " + json.dumps(node(name, kind, read, at)))
        children = {name: [] for name in parents}
        for name, read in parents.items():
            for parent in read:
                children[parent].append(name)
        file.write('}, "sources": {}, "macros": {}, "exposures": {}, "metrics": {}, "disabled": {}, "parent_map": '
                   + json.dumps(parents) + ', "child_map": ' + json.dumps(children) + "}")


def measure(command, folder, repeat):
    """The least wall time, user time and the most memory in MB of so many runs."""
    best = None
    for _ in range(repeat):
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        if status != 0:
            sys.exit(f"{' '.join(command)} ends with {status}")
        found = {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024}
        best = found if best is None else {key: min(best[key], found[key]) for key in found}
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--nodes", type=int, default=100000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.folder / f"lineage-{options.nodes}"
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "manifest.json"
    if not manifest.exists():
        make(folder / "being-made.json", options.nodes)
        (folder / "being-made.json").rename(manifest)
    with sqlite3.connect(folder / "bench.db") as database:
        database.execute(f"CREATE TABLE IF NOT EXISTS {TARGET} (order_date TEXT PRIMARY KEY)")
    (folder / "tidegate.yaml").write_text("database: bench.db\nlineage: {dbt: manifest.json}\n", encoding="utf-8")
    binary = str(Path(options.binary).resolve())
    size = manifest.stat().st_size / 1e6
    found = {
        "nodes": options.nodes, "manifest_mb": size,
        "tidegate": measure([binary, "impact", TARGET], folder, options.repeat),
        "python": measure([sys.executable, "-c", "import json; json.load(open('manifest.json', encoding='utf-8'))"], folder, 1)}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{options.nodes} nodes, {size:.0f} MB")
    for who in ("tidegate", "python"):
        one = found[who]
        print(f"{who:9} {one['seconds']:6.2f} s  {one['cpu']:6.2f} s of a processor  {one['mb']:6.0f} MB "
              f"({one['mb'] * 1.048576 / size:.2f} of the file)")
    print(f"ratio     {found['tidegate']['cpu'] / found['python']['cpu']:.3f} of Python's processor time to read it at all")


main()
