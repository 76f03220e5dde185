"""The gate in front of other tools' commands: each rule denies, what is proven is allowed once, and it is written down."""

import getpass
import textwrap

import harness
from backfills import SALES
from harness import DATABASE, DENIED, HELD, OK, STATE, USAGE, Flow, cron_in
from postgres_harness import PostgresFlow

ASK = 19
BACKFILL = "airflow dags backfill -s 2024-01-10 -e 2024-01-12 sales_daily"


class Gate:
    """On both engines."""

    def setUp(self):
        super().setUp()
        self.file = self.spec(SALES, production="production: none")
        self.pipeline()

    def pipeline(self, job="{writes: [sales], names: [sales_daily, \"dbt:fct_sales\"], schedule: none, per_date: 10s}", more=""):
        text = f"database: {self.named}\njobs:\n  nightly: {job}\n" + textwrap.dedent(more)
        (self.folder / "tidegate.yaml").write_text(text, encoding="utf-8")

    def gate(self, command=BACKFILL, code=DENIED, *options, **kwargs):
        return self.tidegate("gate", "--json", *options, "--command", command, code=code, **kwargs).json

    def denied(self, *rules, command=BACKFILL, code=DENIED):
        verdict = self.gate(command, code)
        self.assertEqual([reason["rule"] for reason in verdict["reasons"]], list(rules), verdict)
        return verdict["reasons"]

    def log(self):
        return self.tidegate("gate", "log", "--json").json["verdicts"]

    def snapshot(self):
        self.tidegate("snapshot", self.file)

    # ---- allowed

    def test_what_starts_no_backfill_is_allowed_and_not_recorded(self):
        for command in ("ls -l", "airflow dags list", "echo airflow dags backfill", "git commit -m 'airflow dags backfill'"):
            self.assertEqual(self.gate(command, OK)["decision"], "allow")
        self.assertEqual(self.log(), [])

    def test_all_proven_allows_once_and_the_check_is_owed(self):
        self.snapshot()
        verdict = self.gate(BACKFILL, OK)
        self.assertEqual((verdict["decision"], verdict["pass"]), ("allow", "1"))
        self.assertEqual(self.state(), "opened")
        self.assertIn("tidegate check", self.tidegate("status", self.file).out)
        for command in (BACKFILL, BACKFILL + " ", "dbt run -s fct_sales --event-time-start 2024-01-10 --event-time-end 2024-01-11"):
            reason = self.denied("check-owed", command=command)[0]
            self.assertIn(f"tidegate check {verdict['backfill']}", reason["hint"])
        self.sql("UPDATE sales SET net = net * 3 WHERE day BETWEEN '2024-01-10' AND '2024-01-12'")
        self.tidegate("check", self.file)
        self.assertEqual(self.state(), "checked")
        self.denied("no-plan")
        self.assertEqual([line["verdict"] for line in self.log()], ["deny"] * 4 + ["allow"])

    def test_what_an_outer_place_let_through_passes_the_inner_ones_once(self):
        self.snapshot()
        for place, code in (("shim", OK), ("shim", DENIED), ("bash", DENIED), ("airflow", OK), ("airflow", DENIED)):
            if place == "shim" and code == OK:
                self.gate("cd /tmp && " + BACKFILL, OK, "--place", "bash")
            verdict = self.gate(BACKFILL, code, "--place", place)
            self.assertEqual([reason["rule"] for reason in verdict["reasons"]], [] if code == OK else ["check-owed"], place)
        self.gate(BACKFILL.replace("-12", "-11"), DENIED, "--place", "airflow")
        self.assertEqual(self.state(), "opened")
        careless = "airflow dags backfill other"
        self.gate(careless, DENIED, "--place", "shim")
        self.gate(careless + "s --yes", OK, "--override", "known to be idempotent")
        for other in (careless, careless + "s"):  # part of a command is another one
            self.gate(other, DENIED, "--place", "shim")
        self.gate(careless, OK, "--override", "known to be idempotent")
        self.gate(careless, DENIED, "--place", "claude-code")
        self.gate(careless + "\n", OK, "--place", "bash")
        self.gate(careless, DENIED, "--place", "bash")
        self.gate(careless, OK, "--place", "shim")
        self.gate(careless, DENIED, "--place", "shim")

    def test_of_several_at_once_one_is_allowed(self):
        self.snapshot()
        rivals = [self.start("gate", "--command", BACKFILL + " " * i) for i in range(4)]
        for rival in rivals:
            rival.communicate()
        self.assertEqual([rival.returncode for rival in rivals].count(OK), 1)
        self.assertEqual([line["verdict"] for line in self.log()].count("allow"), 1)

    def test_the_words_behind_two_dashes_are_quoted_back(self):
        self.snapshot()
        words = BACKFILL.split() + ["--conf", "{\"a\": \"it's; rm -rf $HOME\"}"]
        self.assertEqual(self.tidegate("gate", "--json", "--", *words).json["decision"], "allow")

    def test_a_job_is_known_by_its_names_and_by_its_dag(self):
        self.pipeline(job="{writes: [sales], names: [\"dbt:fct_sales\"], schedule: none, "
                          "live: {airflow: {url: \"http://127.0.0.1:1\", dag: sales_dag}}}")
        by = {"nightly": "no-plan", "fct_sales": "not-mapped", "sales_dag": "no-plan", "other": "not-mapped"}
        for name, rule in by.items():
            self.denied(rule, command=BACKFILL.replace("sales_daily", name))
        self.denied("no-plan", command="dbt run -s fct_sales --event-time-start 2024-01-10 --event-time-end 2024-01-11")

    def test_logical_dates_become_the_dates_of_the_rows(self):
        self.pipeline(job="{writes: [sales], names: [sales_daily], schedule: none, per_date: 10s, dates: -1d}")
        self.snapshot()
        self.denied("no-plan")
        self.gate("airflow dags backfill -s 2024-01-11 -e 2024-01-13 sales_daily", OK)

    def test_sql_counts_for_tables_that_the_pipeline_knows(self):
        rewrite = "psql -c \"DELETE FROM {} WHERE day >= '2024-01-10' AND day < '2024-01-13'\""
        self.assertEqual(self.gate(rewrite.format("scratch"), OK)["triggers"], [])
        self.denied("no-plan", command=rewrite.format("sales"))
        self.denied("dates", command="psql -c \"DELETE FROM sales WHERE day >= '2024-01-10'\"")
        self.snapshot()
        self.gate(rewrite.format("sales"), OK)

    def test_ones_own_scripts_by_a_pattern(self):
        script = "./load_sales.sh 2024-01-10 2024-01-12"
        self.assertEqual(self.gate(script, OK)["verdict"], "not_trigger")
        self.pipeline(job="{writes: [sales], schedule: none, per_date: 10s, commands: ['load_sales.sh *', '* etl.py --sales *']}")
        self.assertEqual(self.gate("./load_other.sh 2024-01-10 2024-01-12", OK)["verdict"], "not_trigger")
        for command in (script, "sudo -u etl " + script, "cd x && /opt/" + script[2:], "python3 etl.py --sales --from=2024-01-10 --to=2024-01-12"):
            self.denied("no-plan", command=command)
        self.denied("dates", command="./load_sales.sh 2024-01-10")
        self.denied("dates", command="./load_sales.sh $A $B")
        self.snapshot()
        self.gate(script, OK)

    # ---- denied

    def test_dates(self):
        for dates in ("", "-s 2024-01-10", "-e 2024-01-10", "-s $A -e $B", "-s 2024-01-12 -e 2024-01-10"):
            self.denied("dates", command=f"airflow dags backfill {dates} sales_daily")

    def test_dates_that_are_not_over(self):
        today = self.value("SELECT CURRENT_DATE")
        self.denied("dates-not-over", "no-plan", command=f"airflow dags backfill -s 2024-01-10 -e {today} sales_daily")
        self.denied("dates-not-over", "no-plan", command="airflow dags backfill -s 2024-01-10 -e 2199-01-01 sales_daily")

    def test_not_understood(self):
        self.denied("not-understood", command="eval \"$X dags backfill\"", code=ASK)

    def test_not_mapped_prints_the_lines_to_add(self):
        hint = self.denied("not-mapped", command=BACKFILL.replace("sales_daily", "new_dag"))[0]["hint"]
        self.assertIn("  new_dag:\n    writes: [TABLE]", hint)
        self.denied("danger", "not-mapped", command="airflow tasks clear -s 2024-01-10 -e 2024-01-12 -R 'sales.*'")

    def test_no_pipeline(self):
        (self.folder / "tidegate.yaml").unlink()
        self.denied("pipeline")

    def test_dates_outside_the_plan(self):
        self.snapshot()
        reason = self.denied("no-plan", command=BACKFILL.replace("01-12", "01-13"))[0]
        self.assertIn("10–12 Jan 2024", reason["text"])

    def test_what_cannot_be_written_down_is_not_opened(self):
        self.denied("no-plan")
        self.snapshot()
        self.refuse_inserts(self.ledger("audit"))
        self.assertIn("cannot be written down, so it is a denial", self.tidegate("gate", "--command", BACKFILL, code=self.refused).err)
        self.assertEqual(self.state(), "snapshotted")

    def test_a_plan_without_a_snapshot(self):
        self.plan(self.file)
        self.assertIn("has no snapshot", self.denied("not-undoable")[0]["text"])

    def test_a_snapshot_that_production_no_longer_equals(self):
        self.snapshot()
        self.sql("UPDATE sales SET net = net + 1 WHERE day = '2024-01-11'")
        self.assertIn("production is no longer as it holds it on 2024-01-11;", self.denied("not-undoable")[0]["text"])
        self.sql("DELETE FROM sales WHERE day = '2024-01-12'")
        self.assertIn("on 2024-01-11 and 1 other date;", self.denied("not-undoable")[0]["text"])

    def test_a_snapshot_older_than_the_retention(self):
        self.snapshot()
        self.sql(f"UPDATE {self.ledger('backfill')} SET changed_at = changed_at - 8 * 86400")
        self.assertIn("older than the retention", self.denied("not-undoable")[0]["text"])

    def test_a_snapshot_whose_table_is_gone(self):
        self.snapshot()
        self.sql(f"DROP TABLE {self.objects()[0]}")
        self.assertIn("its table is gone", self.denied("not-undoable")[0]["text"])

    def test_a_run_that_is_too_near_or_going_on(self):
        near = "{writes: [sales], names: [sales_daily], schedule: \"%s\", zone: UTC, p95: 1m, per_date: %s, guard: 1m}"
        self.snapshot()
        self.pipeline(job=near % (cron_in(60), "30m"), more="budget: {batch: 10h}\n")
        self.assertIn("is too near", self.denied("window")[0]["text"])
        self.pipeline(job=near % (cron_in(60), "10s"), more="budget: {batch: 10h}\n")
        running = near.replace("guard: 1m", "guard: 1m, running: SELECT 1")
        self.pipeline(job=running % (cron_in(60), "10s"))
        self.assertIn("running now", self.denied("window")[0]["text"])

    def test_a_schedule_or_a_time_that_is_not_known(self):
        self.pipeline(job="{writes: [sales], names: [sales_daily], per_date: 10s}")
        self.tidegate("snapshot", self.file, code=DENIED)
        self.pipeline()
        self.snapshot()
        self.pipeline(job="{writes: [sales], names: [sales_daily], per_date: 10s}")
        self.assertIn("not declared", self.denied("window")[0]["text"])
        self.pipeline(job="{writes: [sales], names: [sales_daily], schedule: none}")
        self.denied("forecast-unknown")

    def test_more_dates_than_a_batch_may_have(self):
        self.pipeline(job="{writes: [sales], names: [sales_daily], schedule: none, per_date: 30s}")
        self.sql("INSERT INTO sales VALUES ('2024-01-10', 1000, 1), ('2024-01-12', 1001, 1)")
        self.snapshot()
        reason = self.denied("too-many-dates")[0]
        self.assertIn("has 2", reason["text"])
        self.assertIn("airflow dags backfill -s 2024-01-11 -e 2024-01-11T23:59:59 sales_daily\n", reason["hint"])
        self.pipeline(job="{writes: [sales], names: [sales_daily], schedule: none, per_date: 20s}")
        self.gate(BACKFILL, OK)

    def test_flags_that_destroy_ask(self):
        self.snapshot()
        reset = BACKFILL + " --reset-dagruns"
        self.assertIn("deletes the runs", self.denied("danger", command=reset, code=ASK)[0]["text"])
        self.assertEqual(self.state(), "opened")  # who says yes runs it, so its check is owed

    def test_a_flag_that_only_answers_does_not_ask(self):
        self.snapshot()
        self.gate(BACKFILL + " -y", OK)

    # ---- in spite of it

    def test_an_override_is_loud_and_recorded(self):
        self.assertEqual(self.tidegate("gate", "--override", "  ", "--command", BACKFILL, code=USAGE).out, "")
        out = self.tidegate("gate", "--override", "on call, INC-7", "--command", BACKFILL).out
        self.assertIn("BY OVERRIDE", out)
        line = self.log()[0]
        self.assertEqual((line["verdict"], line["because"], line["reasons"][0]["rule"]), ("override", "on call, INC-7", "no-plan"))

    def test_an_override_can_be_forbidden(self):
        self.pipeline(more="gate: {override: forbid}\n")
        verdict = self.gate(BACKFILL, DENIED, "--override", "please")
        self.assertEqual([reason["rule"] for reason in verdict["reasons"]], ["no-plan", "override"])
        self.assertEqual(self.log()[0]["verdict"], "deny")

    def test_an_override_can_need_a_second_person(self):
        self.pipeline(more="gate: {override: approver}\n")
        self.gate(BACKFILL, DENIED, "--override", "please")
        self.assertIn("somebody else", self.tidegate("gate", "approve", "1", code=DENIED).err)
        self.sql(f"UPDATE {self.ledger('audit')} SET who = 'somebody@else'")
        self.pipeline(more="gate: {override: approver, approvers: [nobody_here]}\n")
        self.assertIn("not among those", self.tidegate("gate", "approve", "1", code=DENIED).err)
        self.pipeline(more=f"gate: {{override: approver, approvers: [{getpass.getuser()}]}}\n")
        self.tidegate("gate", "approve", "1")
        self.tidegate("gate", "approve", "1", code=STATE)
        other = self.gate(BACKFILL + " -v", DENIED, "--override", "another line")
        self.assertEqual(other["reasons"][-1]["rule"], "override")
        self.assertTrue(self.gate(BACKFILL, OK, "--override", "please")["overridden"])
        self.gate(BACKFILL, DENIED, "--override", "please")  # a signature is good for once

    # ---- the record

    def test_secrets_are_masked_in_the_record(self):
        self.gate("PGPASSWORD=s3cret " + BACKFILL + " --conf 'postgresql://u:s3cret@h/d' --token s3cret", DENIED)
        line = self.log()[0]
        self.assertNotIn("s3cret", str(self.rows(f"SELECT * FROM {self.ledger('audit')}")))
        self.assertEqual(line["command"], "PGPASSWORD=*** " + BACKFILL + " --conf 'postgresql://u:***@h/d' --token ***")
        self.assertTrue(line["who"] and line["digest"] and line["at"])
        self.assertEqual((line["place"], line["target"]), ("shell", "sales"))
        self.assertIn("no-plan", self.tidegate("gate", "log").out)

    def test_without_the_database_it_is_denied(self):
        self.pipeline()
        broken = self.folder / "tidegate.yaml"
        broken.write_text(broken.read_text().replace(str(self.named), self.unreachable))
        self.denied("database")
        verdict = self.gate(BACKFILL, DENIED, "--override", "please")
        self.assertEqual([reason["rule"] for reason in verdict["reasons"]], ["database", "override"])


class Sqlite(Gate, Flow):
    unreachable = "nowhere.sqlite"
    refused = HELD

    def refuse_inserts(self, table):
        self.sql(f"CREATE TRIGGER full_up BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no room'); END")

    def setUp(self):
        super().setUp()
        self.sql("""
CREATE TABLE orders(day TEXT NOT NULL, id INTEGER NOT NULL, cents INTEGER, rate INTEGER, PRIMARY KEY (day, id));
WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 29)
INSERT INTO orders SELECT date('2024-01-01', '+' || i || ' days'), i, 100 + i, 3 FROM d;
CREATE TABLE sales(day TEXT NOT NULL, id INTEGER NOT NULL, net INTEGER, PRIMARY KEY (day, id));
INSERT INTO sales SELECT day, id, cents FROM orders;
""")

    def test_roles_prove_nothing_where_there_are_none(self):
        self.pipeline(job="{writes: [sales], names: [sales_daily], schedule: none, per_date: 1s, "
                          "shadow: {parameter: --shadow, role: etl}}", more="gate: {override: role, role: boss}\n")
        self.plan(self.file)
        self.assertIn("has no roles", self.denied("not-undoable", command=BACKFILL + " --shadow")[0]["text"])
        self.assertIn("has no roles", self.gate(BACKFILL, DENIED, "--override", "please")["reasons"][-1]["text"])


class Postgres(Gate, PostgresFlow):
    refused = DATABASE

    def refuse_inserts(self, table):
        self.sql("CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'no room'; END$$;"
                 f"CREATE TRIGGER full_up BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION no()")

    scene = """
CREATE TABLE orders(day date NOT NULL, id int NOT NULL, cents int, rate int, PRIMARY KEY (day, id));
INSERT INTO orders SELECT date '2024-01-01' + i, i, 100 + i, 3 FROM generate_series(0, 29) i;
CREATE TABLE sales(day date NOT NULL, id int NOT NULL, net int, PRIMARY KEY (day, id));
INSERT INTO sales SELECT day, id, cents FROM orders;
"""
    unreachable = "postgresql:///x?host=/nowhere"
    SHADOW = "{writes: [sales], names: [sales_daily], schedule: none, per_date: 1s, shadow: {parameter: \"--conf '{\\\"to\\\": \\\"shadow\\\"}'\", role: ROLE}}"
    INTO = BACKFILL + " --conf '{\"to\": \"shadow\"}'"

    def role(self, name, *grants):
        self.sql(f"DROP ROLE IF EXISTS {name}; CREATE ROLE {name}")
        for grant in grants:
            self.sql(grant)
        self.addCleanup(self.cluster.run, f"DROP ROLE IF EXISTS {name}")

    def shadow(self, role):
        self.pipeline(job=self.SHADOW.replace("ROLE", role))

    def test_a_shadow_is_proven_by_the_words_and_by_the_role(self):
        self.role("etl_shadow", "GRANT SELECT ON sales TO etl_shadow")
        self.shadow("etl_shadow")
        self.plan(self.file)
        self.assertIn("does not stand in it", self.denied("not-undoable")[0]["text"])
        for hidden in ("; " + BACKFILL, " | cat", " # {}"):
            command = BACKFILL + hidden.format("--conf '{\"to\": \"shadow\"}'")
            self.assertIn("does not stand in it", self.denied("not-undoable", command=command)[0]["text"])
        verdict = self.gate(self.INTO, OK)
        self.assertEqual(verdict["backfill"], None)
        self.assertEqual(self.state(), "planned")
        again = self.tidegate("gate", "--command", self.INTO, code=DENIED)
        self.assertIn("allowed once already", again.err)

    def test_a_role_that_could_write_proves_nothing(self):
        self.role("may_write", "GRANT UPDATE ON sales TO may_write")
        self.role("one_column", "GRANT UPDATE (net) ON sales TO one_column")
        self.role("a_member", "ALTER ROLE a_member NOINHERIT; GRANT may_write TO a_member")
        self.plan(self.file)
        for role in ("may_write", "one_column", "a_member", "postgres"):
            self.shadow(role)
            self.assertIn("could write production", self.denied("not-undoable", command=self.INTO)[0]["text"])
        self.shadow("no_such_role")
        self.assertIn("no role", self.denied("not-undoable", command=self.INTO)[0]["text"])

    def test_an_override_can_need_a_role(self):
        self.role("boss")
        self.pipeline(more="gate: {override: role, role: boss}\n")
        self.assertTrue(self.gate(BACKFILL, OK, "--override", "superusers are members of all")["overridden"])
        self.role("clerk", "GRANT USAGE, CREATE ON SCHEMA tidegate TO clerk; GRANT ALL ON ALL TABLES IN SCHEMA tidegate TO clerk",
                  "ALTER ROLE clerk LOGIN")
        text = (self.folder / "tidegate.yaml").read_text()
        (self.folder / "tidegate.yaml").write_text(text.replace("user=postgres", "user=clerk"))
        verdict = self.gate(BACKFILL, DENIED, "--override", "please")
        self.assertEqual(verdict["reasons"][-1]["rule"], "override")
        self.sql("GRANT boss TO clerk")
        self.assertTrue(self.gate(BACKFILL, OK, "--override", "please")["overridden"])


if __name__ == "__main__":
    harness.main()
