"""The cascade against a real dbt on PostgreSQL, on the flights of 2013: dbt builds everything right, keeps that aside, and
builds February wrong. After the backfill of daily_delays and its cascade, what dbt has to do is done by dbt, and every
table is what it built from scratch, row for row."""

import json
import re
import shlex
import subprocess
from pathlib import Path

from backfills import DELAYS, OVERRIDES
from harness import INCOMPLETE, main
from postgres_harness import PostgresFlow, server

SCRIPT = Path(__file__).resolve().parents[2] / "script" / "dbt"
# A microbatch model is built day by day, so the year ends in April.
DAYS = ["--event-time-start", "2013-01-01", "--event-time-end", "2013-05-01"]
TABLES = ["daily_delays", "flight_counts", "airport_days", "rolling_week", "origin_scorecard", "monthly_delays", "delay_to_date",
          "late_carriers", "carrier_days", "carrier_totals", "airport_totals", "worst_days"]
PIPELINE = f"""
production: none
budget: {{duty: 100 %, batch: 10m}}
lineage:
  dbt: project/lineage
  overrides:{OVERRIDES}"""


def run(*words):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=900)
    if done.returncode:
        raise AssertionError(f"{words[:3]} gave {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def flights(url):
    run(SCRIPT, "flights", url)
    run("psql", "-X", "-q", "-d", url, "-c", "DELETE FROM flights WHERE flight_date >= '2013-05-01'", "-c", "ANALYZE flights")


class RealDbt(PostgresFlow):
    scene = staticmethod(flights)

    def dbt(self, *words):
        return run(SCRIPT, "run", self.named, self.folder / "project", "--", *words)

    def content(self, database, table):
        connection = server().connect(database)
        cursor = connection.cursor()
        cursor.execute(f"SELECT t::text FROM analytics.{table} AS t ORDER BY 1")
        rows = cursor.fetchall()
        connection.close()
        return rows

    def differing(self):
        return [table for table in TABLES if self.content(self.name, table) != self.content("scratch", table)]

    def test_after_the_cascade_all_is_as_dbt_builds_it_from_scratch(self):
        run(SCRIPT, "project", self.folder / "project")
        self.dbt("build", "--full-refresh", *DAYS)
        server().run(f"CREATE DATABASE scratch TEMPLATE {self.name}")
        self.addCleanup(server().drop, "scratch")
        wrong = "{wrong_from: '2013-02-01', wrong_to: '2013-02-28'}"
        self.dbt("run", "--full-refresh", "--select", "daily_delays+", "--vars", wrong, *DAYS)
        # In a folder of its own: dbt writes its target's manifest anew at every run, with SQL of what that run made alone.
        self.dbt("compile", "--full-refresh", "--target-path", "lineage")
        # What the one reads does not change, and these flights do not show in the other.
        right = {"flight_counts", "late_carriers"}
        self.assertEqual(set(TABLES) - set(self.differing()), right)
        # The microbatch model is handed to dbt, over a snapshot.
        line = shlex.join([str(SCRIPT), "run", self.named, str(self.folder / "project"), "--", "run", "--select", "carrier_days"])
        handed = json.dumps(f"{line} --event-time-start {{from}} --event-time-end {{to}}")
        (self.folder / "tidegate.yaml").write_text(f"database: {self.named}{PIPELINE}targets: {{analytics.carrier_days: {{in_place: {handed}}}}}\n",
                                                   encoding="utf-8")
        (self.folder / "fix.yaml").write_text(DELAYS.replace("range: 2013-02-03..2013-02-24", "range: 2013-02-01..2013-02-28"), encoding="utf-8")
        self.swapped("fix.yaml")
        told = self.tidegate("cascade", "--yes", "fix.yaml", code=INCOMPLETE, timeout=900)
        self.assertRegex(told.out, r"untouched analytics\.flight_counts ")
        self.assertRegex(told.out, r"analytics\.late_carriers .*: nothing differs")
        self.assertEqual(self.differing(), ["carrier_totals"])
        self.assertEqual(self.rows("SELECT target, state FROM tidegate.backfill WHERE state NOT IN ('swapped', 'discarded')"),
                         [("analytics.carrier_days", "checked")])
        command = re.search(r"dbt (run --select carrier_totals)", told.out).group(1)
        self.dbt(*command.split())
        self.assertEqual(self.differing(), [])
        self.tidegate("cascade", "--yes", "--done", "carrier_totals", "fix.yaml", code=INCOMPLETE)
        self.tidegate("cascade", "--yes", "--done", "flights_by_month", "fix.yaml")


if __name__ == "__main__":
    main()
