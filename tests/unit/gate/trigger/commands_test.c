#include "gate/trigger/trigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

/* One row a command: "" = not a trigger; "?" before an answer = not sure; else system target from to. */
typedef struct Row {
  const char *command, *answer;
} Row;

static char *told(Arena *arena, const char *command) {
  BUF_SCOPED text = {0};
  TriggerReport report = trigger_classify(arena, command, strlen(command));
  for (size_t i = 0; i < report.n; i++) {
    const Trigger *item = &report.items[i];
    const char *fields[] = {item->system, item->target, item->from, item->to};
    buf_printf(&text, "%s%s", i == 0 ? "" : ", ", item->sure ? "" : "? ");
    for (size_t k = 0; k < 4; k++) buf_printf(&text, "%s%s", k == 0 ? "" : " ", fields[k] == NULL ? "-" : fields[k]);
  }
  return arena_strdup(arena, buf_text(&text));
}

static void check(const Row *rows, size_t n) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    ARENA_SCOPED arena = {0};
    const char *got = told(&arena, rows[i].command);
    if (strcmp(got, rows[i].answer) == 0) continue;
    wrong++;
    print_message("%s\n  wanted: %s\n  got:    %s\n", rows[i].command, rows[i].answer, got);
  }
  assert_int_equal(wrong, 0);
}

#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

/* Abbreviations, clusters, repetition: argparse as Python's documentation has it. */
static void arguments_as_argparse_reads_them(void **state) {
  (void)state;
  static const Row rows[] = {
      {"airflow dags backfill --start 2024-01-01 --end=2024-01-31 d", "airflow2 d 2024-01-01 2024-01-31"},
      {"airflow dags backfill -s2024-01-01 -e2024-01-31 d", "airflow2 d 2024-01-01 2024-01-31"},
      {"airflow dags backfill -xBy -s 2024-01-01 -e 2024-01-02 d", "airflow2 d 2024-01-01 2024-01-02"},
      {"airflow dags backfill -ys 2024-01-01 -e 2024-01-02 d", "airflow2 d 2024-01-01 2024-01-02"},
      {"airflow dags backfill d -s 2024-01-01 -e 2024-01-02 -e 2024-03-31", "airflow2 d 2024-01-01 2024-03-31"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 -- d", "airflow2 d 2024-01-01 2024-01-02"},
      {"airflow partitions clear -d d -s 2024-01-01 -e 2024-01-02 --clear-task-instances",
       "airflow3 d 2024-01-01 2024-01-02"},
      {"airflow partitions clear -d d --date 2024-01-01~2024-01-02 --dry-run", ""},
      {"airflow partitions clear -d d --date 2024-01-01~2024-01-02", "airflow3 d - -"},
      {"airflow dags backfill -c '{\"a\": 1}' --pool p -S x -s 2024-01-01 -e 2024-01-02 d",
       "airflow2 d 2024-01-01 2024-01-02"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 --dry d", ""},
      {"airflow dags backfill -yn -s 2024-01-01 -e 2024-01-02 d", ""},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 -- --dry-run", "airflow2 --dry-run 2024-01-01 2024-01-02"},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-02 $DRY d", "airflow2 - 2024-01-01 2024-01-02"},
      {"airflow dags backfill ${DRY:---dry-run} -s 2024-01-01 -e 2024-01-02 d", "airflow2 d 2024-01-01 2024-01-02"},
      {"airflow dags backfill -s '2024-01-01 00:00:00' -e 2024-01-31T23:00:00+00:00 d",
       "airflow2 d 2024-01-01 2024-01-31"},
      {"airflow dags backfill -s yesterday -e 2024-02-30 d", "airflow2 d - -"},
      {"airflow backfill create --dag d --from 2024-01-01 --to 2024-01-31 --rep failed",
       "airflow3 d 2024-01-01 2024-01-31"},
      {"airflow backfill create --dag-id d --from-date 2024-01-01T00:00:00Z --to-date 2024-01-31",
       "airflow3 d 2024-01-01 2024-01-31"}};
  CHECK(rows);
}

static void every_tool(void **state) {
  (void)state;
  static const Row rows[] = {
      {"airflow backfill -s 2024-01-01 -e 2024-01-31 d", "airflow1.10 d 2024-01-01 2024-01-31"},
      {"airflow backfill -s 2024-01-01 -e 2024-01-31 -dr d", ""},
      {"airflow backfill --start_date 2024-01-01 --end_date 2024-01-31 --reset_dagruns d",
       "airflow1.10 d 2024-01-01 2024-01-31"},
      {"airflow run d t 2024-01-05", "airflow1.10 d 2024-01-05 2024-01-05"},
      {"airflow trigger_dag -e 2024-01-05 d", "airflow1.10 d 2024-01-05 2024-01-05"},
      {"airflow backfill list; airflow backfill cancel 3; airflow backfill pause 3", ""},
      {"airflow dags trigger -e 2024-01-05 d", "airflow2 d 2024-01-05 2024-01-05"},
      {"airflow dags trigger d --conf '{\"start_date\": \"2024-01-01\", \"end_date\": \"2024-01-31\"}'",
       "airflow2 d 2024-01-01 2024-01-31"},
      {"airflow dags test d 2024-01-05", "airflow2 d 2024-01-05 2024-01-05"},
      {"airflow tasks test d t 2024-01-05", "airflow2 d 2024-01-05 2024-01-05"},
      {"airflow tasks test -n d t 2024-01-05", ""},
      {"airflow tasks run -A -f d t 2024-01-05", "airflow2 d 2024-01-05 2024-01-05"},
      {"airflow tasks list d; airflow tasks state d t 2024-01-05; airflow db check", ""},
      {"airflow $SUB -s 2024-01-01 d", "? ? - - -"},
      {"airflowctl dagrun trigger --dag-id d --logical-date 2024-01-05", "airflow3 d 2024-01-05 2024-01-05"},
      {"astro dev run dags backfill -s 2024-01-01 -e 2024-01-31 d", "airflow2 d 2024-01-01 2024-01-31"},
      {"dbt run -s a b --event-time-start 2024-01-01 --event-time-end 2024-02-01", "dbt a b 2024-01-01 2024-01-31"},
      {"dbt --debug build -f", "dbt - - -"},
      {"dbt --target prod run --full-refresh -m a+", "dbt a+ - -"},
      {"dbt run --vars '{start_date: 2024-01-01, end_date: 2024-01-31}' -s a", "dbt a 2024-01-01 2024-01-31"},
      {"dbt run --vars \"{start_date: $A}\" -s a", "dbt a - -"},
      {"dbt run --event-time-start 2024-01-01T06:00:00 --event-time-end 2024-01-02T06:00:00",
       "dbt - 2024-01-01 2024-01-02"},
      {"dbt run; dbt build -s a; dbt test; dbt ls --full-refresh", ""},
      {"sqlmesh plan --restate-model a --restate-model b -s 2024-01-01 -e 2024-01-31",
       "sqlmesh a b 2024-01-01 2024-01-31"},
      {"sqlmesh plan dev", ""},
      {"sqlmesh --paths x plan --auto-apply", "? sqlmesh - - -"},
      {"sqlmesh run -s 2024-01-01", "sqlmesh - 2024-01-01 -"},
      {"sqlmesh audit -s 2024-01-01 -e 2024-01-31", ""},
      {"dagster job backfill -j d --from 2024-01-01 --to 2024-01-31", "dagster d 2024-01-01 2024-01-31"},
      {"dagster job backfill -j d --partitions 2024-01-03,2024-01-01", "dagster d 2024-01-01 2024-01-03"},
      {"dagster asset materialize --select a --partition 2024-01-05", "dagster a 2024-01-05 2024-01-05"},
      {"dagster asset materialize --select a --partition-range 2024-01-01...2024-01-31",
       "dagster a 2024-01-01 2024-01-31"},
      {"dagster asset materialize --select a", ""},
      {"prefect deployment run f/p -p start_date=2024-01-01 -p end_date=2024-01-31",
       "prefect f/p 2024-01-01 2024-01-31"},
      {"prefect deployment run f/p --params '{\"from_date\": \"2024-01-01\", \"to_date\": \"2024-01-31\"}'",
       "prefect f/p 2024-01-01 2024-01-31"},
      {"prefect deployment run f/p", ""},
      {"bqetl query backfill a.b --start_date=2024-01-01 --end_date=2024-01-31", "bqetl a.b 2024-01-01 2024-01-31"},
      {"bqetl query backfill a.b --start_date=2024-01-01 --end_date=2024-01-31 --dry_run", ""},
      {"luigi --module m RangeDaily --of T --start 2024-01-01 --stop 2024-02-01", "luigi T 2024-01-01 2024-01-31"},
      {"python -m luigi --module m T --date 2024-01-05", "luigi T 2024-01-05 2024-01-05"},
      {"luigi --module m T", ""},
      {"pyflyte backfill -p a -d b --from-date 2024-01-01 --to-date 2024-01-31 daily",
       "flyte daily 2024-01-01 2024-01-31"},
      {"pyflyte backfill --dry-run -p a -d b --from-date 2024-01-01 --to-date 2024-01-31 daily", ""},
      {"mage run p pipe --runtime-vars '{\"start_date\": \"2024-01-01\", \"end_date\": \"2024-01-02\"}'",
       "mage pipe 2024-01-01 2024-01-02"},
      {"spark-submit --master yarn --conf a=b job.py 2024-01-01 2024-01-31", "? spark job.py 2024-01-01 2024-01-31"},
      {"spark-submit job.py", ""},
      {"uv run --with x airflow dags backfill -s 2024-01-01 -e 2024-01-02 d", "airflow2 d 2024-01-01 2024-01-02"},
      {"conda run -n e dbt run --full-refresh", "dbt - - -"},
      {"seq 1 3 | xargs -I{} airflow tasks run d t 2024-01-0{}", "airflow2 d - -"},
      {"printf '2024-01-01\\n2024-01-02\\n' | xargs -n1 airflow tasks run d t",
       "airflow2 d 2024-01-01 2024-01-01, airflow2 d 2024-01-02 2024-01-02"},
      {"alias b='airflow dags backfill'\nb -s 2024-01-01 -e 2024-01-02 d", "airflow2 d 2024-01-01 2024-01-02"},
      {"echo 'airflow dags backfill -s 2024-01-01 -e 2024-01-02 d' > x.sh; bash x.sh",
       "airflow2 d 2024-01-01 2024-01-02"},
      {"docker run --rm apache/airflow:2.9 dags backfill -s 2024-01-01 -e 2024-01-02 d",
       "airflow2 d 2024-01-01 2024-01-02"},
      {"npm run backfill", "? npm - - -"},
      {"python scripts/backfill.py 2024-01-01", "? script - - -"},
      {"perl -e 'system(\"airflow dags backfill\")'", "airflow2 - - -"},
      {"mywrapper airflow dags backfill -s 2024-01-01 -e 2024-01-02 d", "? airflow2 d 2024-01-01 2024-01-02"}};
  CHECK(rows);
}

static void requests(void **state) {
  (void)state;
  static const Row rows[] = {
      {"curl -sX POST -H 'A: b' --json '{\"dag_id\": \"d\", \"from_date\": \"2024-01-01\", \"to_date\": "
       "\"2024-01-31\"}' http://a/api/v2/backfills/",
       "airflow3 API d 2024-01-01 2024-01-31"},
      {"curl http://a/api/v2/backfills", ""},
      {"curl -X PUT http://a/api/v2/backfills/3/cancel", ""},
      {"curl -X POST $AIRFLOW/api/v2/dags/d/dagRuns -d '{\"logical_date\": \"2024-01-05T00:00:00Z\"}'",
       "airflow3 API d 2024-01-05 2024-01-05"},
      {"curl -X POST http://a/api/v1/dags/d/dagRuns -d @body.json", "airflow2 API d - -"},
      {"curl -X POST http://a/api/v1/dags/~/dagRuns/list -d '{}'", ""},
      {"curl -X POST http://a/api/v2/dags/d/clearTaskInstances -d '{\"dry_run\": true, \"start_date\": "
       "\"2024-01-01\"}'",
       ""},
      {"curl -X DELETE http://a/api/v2/dags/d/dagRuns/x", "airflow3 API d - -"},
      {"curl -X PATCH http://a/api/v2/dags/d -d '{\"is_paused\": true}'", ""},
      {"wget --post-data='{\"dag_id\":\"d\",\"from_date\":\"2024-01-01\",\"to_date\":\"2024-01-02\"}' "
       "http://a/api/v2/backfills",
       "airflow3 API d 2024-01-01 2024-01-02"},
      {"http POST a/api/v2/backfills dag_id=d from_date=2024-01-01 to_date=2024-01-02 A:b",
       "airflow3 API d 2024-01-01 2024-01-02"},
      {"xh a/api/v1/dags/d/clearTaskInstances dry_run:=false start_date=2024-01-01 end_date=2024-01-02",
       "airflow2 API d 2024-01-01 2024-01-02"},
      {"echo '{\"dag_id\":\"d\",\"from_date\":\"2024-01-01\",\"to_date\":\"2024-01-02\"}' | curl -d @- "
       "http://a/api/v2/backfills",
       "airflow3 API d 2024-01-01 2024-01-02"},
      {"curl -X POST https://x/aws_mwaa/cli --data-raw 'dags backfill -s 2024-01-01 -e 2024-01-02 d'",
       "airflow2 (MWAA) d 2024-01-01 2024-01-02"},
      {"curl http://d/graphql -d '{\"query\": \"mutation { launchPartitionBackfill }\"}'", "dagster API - - -"},
      {"curl http://d/graphql -d '{\"query\": \"{ runs { id } }\"}'", ""},
      {"curl -X POST http://p/api/deployments/7/create_flow_run -d '{\"parameters\": {\"start_date\": \"2024-01-01\", "
       "\"end_date\": \"2024-01-02\"}}'",
       "prefect API 7 2024-01-01 2024-01-02"},
      {"curl -X POST $URL -d '{\"dag_id\": \"d\"}'", "? API d - -"},
      {"curl -fsSL https://example.org/install.sh -o x; curl -X POST http://a/api/items -d '{}'", ""}};
  CHECK(rows);
}

static void statements(void **state) {
  (void)state;
  static const Row rows[] = {
      {"psql -c \"DELETE FROM sales WHERE day >= '2024-01-01' AND day < '2024-02-01'\"",
       "psql sales 2024-01-01 2024-01-31"},
      {"psql -Atc \"update \\\"S\\\".\\\"x\\\" set a = 1 where d between date '2024-01-01' and date '2024-01-31'\" db",
       "psql S.x 2024-01-01 2024-01-31"},
      {"psql --command=\"insert into s select * from r where d = '2024-01-05'\"", "psql s 2024-01-05 2024-01-05"},
      {"psql <<E\nMERGE INTO s USING r ON s.k = r.k AND s.d > '2024-01-01' AND s.d <= '2024-01-31' WHEN MATCHED THEN "
       "DELETE;\nE",
       "psql s 2024-01-02 2024-01-31"},
      {"psql -c 'select * from s where d = 1; -- delete from s' -c \"select 'delete from s'\"", ""},
      {"psql -c \"select * from s where d >= '2024-01-01'\"", ""},
      {"psql -c \"update users set name = 'x' where id = 3\"", ""},
      {"psql -c 'truncate sales'", "? psql sales - -"},
      {"psql -f sql/backfill_sales.sql", "? psql - - -"},
      {"psql -f report.sql; psql -l", ""},
      {"sqlite3 x.db \"delete from s where d in ('2024-01-05', '2024-01-03')\"", "sqlite3 s 2024-01-03 2024-01-05"},
      {"echo \"delete from s where d = '2024-01-05'\" | sqlite3 x.db", "sqlite3 s 2024-01-05 2024-01-05"},
      {"duckdb x.db -c \"create or replace table s as select * from r\"", "? duckdb s - -"},
      {"bq query --use_legacy_sql=false \"DELETE FROM \\`p.d.s\\` WHERE day = '2024-01-05'\"",
       "bq p.d.s 2024-01-05 2024-01-05"},
      {"bq ls", ""},
      {"snowsql -q \"delete from s where d >= '2024-01-01' and d <= '2024-01-31'\"", "snowsql s 2024-01-01 2024-01-31"},
      {"clickhouse-client -q \"ALTER TABLE s DELETE WHERE d >= toDate('2024-01-01') AND d < toDate('2024-01-03')\"",
       "clickhouse s 2024-01-01 2024-01-02"},
      {"mysql -e \"delete from s where d = '2024-01-05'\"", "mysql s 2024-01-05 2024-01-05"}};
  CHECK(rows);
}

/* What is dangerous is named with what it does. */
static void dangers(void **state) {
  (void)state;
  static const Row rows[] = {
      {"airflow dags backfill -t x -s 2024-01-01 -e 2024-01-02 d", "-t only some tasks"},
      {"airflow dags backfill --reset-d -s 2024-01-01 -e 2024-01-02 d", "--reset-d deletes the runs"},
      {"airflow dags backfill -mI -s 2024-01-01 -e 2024-01-02 d", "-m marks tasks as done"},
      {"dbt run --full-refresh", "--full-refresh rebuilds all history"},
      {"sqlmesh plan --restate-model m", "--restate-model computes the model anew"},
      {"dagster job backfill -j j --all", "--all every partition"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ARENA_SCOPED arena = {0};
    TriggerReport report = trigger_classify(&arena, rows[i].command, strlen(rows[i].command));
    assert_int_equal(report.n, 1);
    if (report.items[0].danger == NULL || strstr(report.items[0].danger, rows[i].answer) == NULL)
      fail_msg("%s: %s", rows[i].command, report.items[0].danger);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_as_argparse_reads_them), cmocka_unit_test(every_tool),
                                     cmocka_unit_test(requests), cmocka_unit_test(statements),
                                     cmocka_unit_test(dangers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
