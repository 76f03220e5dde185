#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gate/trigger/trigger.h"

/* One row a request: method and path, a body or NULL, and what is said of it: "" = not a trigger; "?" before an answer
 * = not sure; else target from to, and "!" when it is dangerous. */
typedef struct Row {
  const char *method, *path, *body, *answer;
} Row;

static char *told(Arena *arena, const Row *row) {
  BUF_SCOPED command = {0}, text = {0};
  buf_printf(&command, "curl -X %s 'http://airflow:8080%s'", row->method, row->path);
  if (row->body != NULL) buf_printf(&command, " -d '%s'", row->body);
  TriggerReport report = trigger_classify(arena, buf_text(&command), command.len);
  for (size_t i = 0; i < report.n; i++) {
    const Trigger *item = &report.items[i];
    const char *fields[] = {item->target, item->from, item->to};
    buf_printf(&text, "%s%s", i == 0 ? "" : ", ", item->sure ? "" : "? ");
    for (size_t k = 0; k < 3; k++) buf_printf(&text, "%s%s", k == 0 ? "" : " ", fields[k] == NULL ? "-" : fields[k]);
    if (item->danger != NULL) buf_puts(&text, " !");
    if (strcmp(item->system, strstr(row->path, "/v2/") != NULL ? "airflow3 API" : "airflow2 API") != 0)
      buf_printf(&text, " (%s)", item->system);
  }
  return arena_strdup(arena, buf_text(&text));
}

static void check(const Row *rows, size_t n) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    ARENA_SCOPED arena = {0};
    const char *got = told(&arena, &rows[i]);
    if (strcmp(got, rows[i].answer) == 0) continue;
    wrong++;
    print_message("%s %s %s\n  wanted: %s\n  got:    %s\n", rows[i].method, rows[i].path,
                  rows[i].body == NULL ? "" : rows[i].body, rows[i].answer, got);
  }
  assert_int_equal(wrong, 0);
}

#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)
#define DATES "\"start_date\": \"2024-01-01T00:00:00Z\", \"end_date\": \"2024-01-31T00:00:00Z\""
#define RANGE "\"dag_id\": \"d\", \"from_date\": \"2024-01-01T00:00:00Z\", \"to_date\": \"2024-01-31T00:00:00Z\""

static void backfills(void **state) {
  (void)state;
  static const Row rows[] = {
      {"POST", "/api/v2/backfills", "{" RANGE "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/backfills/", "{" RANGE "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/af/api/v2/backfills?x=1", "{" RANGE "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/backfills", "{" RANGE ", \"reprocess_behavior\": \"none\"}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/backfills", "{" RANGE ", \"reprocess_behavior\": \"completed\"}", "d 2024-01-01 2024-01-31 !"},
      {"POST", "/api/v2/backfills", "{" RANGE ", \"run_backwards\": true}", "d 2024-01-01 2024-01-31 !"},
      /* What is handed to the runs is not the range. */
      {"POST", "/api/v2/backfills", "{" RANGE ", \"dag_run_conf\": {\"to_date\": \"2024-01-02\"}}",
       "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/backfills", "{\"dag_run_conf\": {\"from_date\": \"2024-01-01\", \"to_date\": \"2024-01-02\"}}",
       "- - -"},
      {"POST", "/api/v2/backfills", "{" RANGE ", \"dag_id\": \"e\"}", "- - -"},
      {"POST", "/api/v2/backfills", NULL, "- - -"},
      {"POST", "/api/v2/backfills", "[1]", "- - -"},
      {"POST", "/api/v2/x/../backfills", "{" RANGE "}", "d 2024-01-01 2024-01-31"},
      {"POST", "//api//v2/./b%61ckfills", "{" RANGE "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/backfills/dry_run", "{" RANGE "}", ""},
      {"PUT", "/api/v2/backfills/3/pause", NULL, ""},
      {"PUT", "/api/v2/backfills/3/unpause", NULL, ""},
      {"PUT", "/api/v2/backfills/3/cancel", NULL, ""},
      {"GET", "/api/v2/backfills", NULL, ""},
      {"POST", "/api/v2/backfills/3/again", NULL, "? 3 - -"},
      {"\"$M\"", "/api/v2/backfills", "{" RANGE "}", "? d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/assets/3/materialize", "{}", "3 - -"},
      {"POST", "/api/v2/assets/events", "{\"asset_id\": 3}", ""}};
  CHECK(rows);
}

static void clears(void **state) {
  (void)state;
  static const Row rows[] = {
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": false, " DATES "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v1/dags/d/clearTaskInstances", "{\"dry_run\": false, " DATES "}", "d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": \"off\", " DATES "}", "? d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{" DATES "}", "? d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": true, " DATES "}", ""},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"x\": {\"dry_run\": true}, " DATES "}",
       "? d 2024-01-01 2024-01-31"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": true, \"dry_run\": false, " DATES "}", "? d - -"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": false, \"include_past\": true, " DATES "}",
       "d 2024-01-01 2024-01-31 !"},
      {"POST", "/api/v2/dags/d/clearTaskInstances", "{\"dry_run\": false, \"dag_run_id\": \"r\"}", "d - -"},
      {"POST", "/api/v2/dags/d/clearDagRuns",
       "{\"dry_run\": false, \"partition_date_start\": \"2024-01-01\", \"partition_date_end\": \"2024-01-02\"}",
       "d 2024-01-01 2024-01-02"},
      {"POST", "/api/v2/dags/~/clearDagRuns", "{\"dry_run\": false, \"dag_runs\": [{\"dag_run_id\": \"r\"}]}", "- - -"},
      {"POST", "/api/v2/dags/d/clearPartitions", "{\"dry_run\": false, \"run_id\": \"r\"}", "d - -"},
      {"POST", "/api/v2/dags/d/dagRuns/r/clear", "{\"dry_run\": false}", "d - -"},
      {"POST", "/api/v2/dags/d/dagRuns/r/clear", "{\"dry_run\": true}", ""},
      {"POST", "/api/v1/dags/d/updateTaskInstancesState", "{\"dry_run\": false, \"new_state\": \"success\"}", "d - -"},
      {"POST", "/api/v1/dags/d/updateTaskInstancesState", "{\"dry_run\": true, \"new_state\": \"success\"}", ""}};
  CHECK(rows);
}

static void runs(void **state) {
  (void)state;
  static const Row rows[] = {
      {"POST", "/api/v2/dags/d/dagRuns", "{\"logical_date\": \"2024-01-05T00:00:00Z\"}", "d 2024-01-05 2024-01-05"},
      {"POST", "/api/v2/dags/d/dagRuns",
       "{\"logical_date\": null, \"conf\": {\"start_date\": \"2024-01-01\", \"end_date\": \"2024-01-02\"}}",
       "d 2024-01-01 2024-01-02"},
      {"POST", "/api/v1/dags/d/dagRuns", "{}", "d - -"},
      {"POST", "/api/experimental/dags/d/dag_runs", "{\"execution_date\": \"2024-01-05T00:00:00\"}",
       "d 2024-01-05 2024-01-05"},
      {"POST", "/api/v2/dags/~/dagRuns/list", "{}", ""},
      {"POST", "/api/v2/dags/~/dagRuns/~/taskInstances/list", "{}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r", "{\"state\": \"queued\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r", "{\"state\": \"queued\", \"note\": \"again\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r", "{\"note\": \"seen\"}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r", "{\"note\": \"a\", \"note\": \"b\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r", NULL, "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/list", "{\"state\": \"queued\"}", "d - - !"},
      {"DELETE", "/api/v2/dags/d/dagRuns/r", NULL, "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns", "{\"actions\": [{\"action\": \"delete\", \"entities\": [\"r\"]}]}",
       "d - - !"},
      {"PATCH", "/api/v2/dags/~/dagRuns/~/taskInstances", "{\"actions\": []}", "- - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t", "{\"new_state\": \"failed\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t", "{\"note\": \"seen\"}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t/2", "{\"new_state\": \"success\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t/dry_run", "{\"new_state\": \"success\"}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t/2/dry_run", "{\"new_state\": \"success\"}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/dry_run", "{\"new_state\": \"success\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskGroupInstances/g", "{\"new_state\": \"success\"}", "d - - !"},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskGroupInstances/g/dry_run", "{\"new_state\": \"success\"}", ""},
      {"DELETE", "/api/v2/dags/d/dagRuns/r/taskInstances/t", NULL, "d - - !"},
      {"PATCH", "/api/v1/dags/d/dagRuns/r/taskInstances/t/setNote", "{\"note\": \"seen\"}", ""},
      {"POST", "/api/v2/dags/d/dagRuns/r/taskInstances/t/xcomEntries", "{\"key\": \"k\"}", ""},
      {"PUT", "/api/v2/dags/d/dagRuns/r/taskInstances/t/state-store/a/b", "{}", ""},
      {"PATCH", "/api/v2/dags/d/dagRuns/r/taskInstances/t/-1/hitlDetails", "{}", ""},
      {"POST", "/api/v2/dags/d/runAgain", "{}", "? d - -"},
      {"POST", "/api/v2/dags/d/'$WHAT'", "{}", "? d - -"},
      {"PATCH", "/api/v2/dags/backfill_daily", "{\"is_paused\": false}", ""},
      {"DELETE", "/api/v2/dags/d", NULL, ""},
      {"POST", "/api/v2/dags/d/favorite", NULL, ""},
      {"PATCH", "/api/v2/variables/backfill", "{}", ""}};
  CHECK(rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(backfills), cmocka_unit_test(clears), cmocka_unit_test(runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
