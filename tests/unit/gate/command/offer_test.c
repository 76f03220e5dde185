#include "gate/command/offer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gate/trigger/cases.h"
#include "plan/plan.h"

/* ---- the line ---------------------------------------------------------------------------------------------------- */

static const char *line_of(Arena *arena, const char *text, int shift, const char **ret_why) {
  TriggerReport report = trigger_classify(arena, text, strlen(text));
  assert_true(report.n > 0);
  return offer_line(arena, text, strlen(text), &report, shift, ret_why);
}

typedef struct Row {
  const char *command, *line; /* NULL: it is left to a person */
} Row;

static void check_lines(const Row *rows, size_t n, int shift) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    ARENA_SCOPED arena = {0};
    const char *why = NULL, *line = line_of(&arena, rows[i].command, shift, &why);
    if (line == rows[i].line || (line != NULL && rows[i].line != NULL && strcmp(line, rows[i].line) == 0)) continue;
    wrong++;
    print_message("%s\n  wanted: %s\n  got:    %s (%s)\n", rows[i].command, rows[i].line, line, why);
  }
  assert_int_equal(wrong, 0);
}

#define CHECK(rows, shift) check_lines(rows, sizeof rows / sizeof *rows, shift)

/* Each tool's own meaning of its end. */
static void every_tool_gets_its_own_places(void **state) {
  (void)state;
  static const Row rows[] = {
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales",
       "airflow dags backfill -s {from} -e {to_inclusive}T23:59:59 sales"},
      {"airflow backfill create --dag-id d --from-date 2024-01-01T00:00:00Z --to-date 2024-01-31",
       "airflow backfill create --dag-id d --from-date {from}T00:00:00Z --to-date {to_inclusive}T23:59:59"},
      {"airflow backfill -s 2024-01-01 -e 2024-01-31 d", "airflow backfill -s {from} -e {to_inclusive}T23:59:59 d"},
      {"airflow tasks clear -y -s 2024-01-05 -e 2024-01-05 d",
       "airflow tasks clear -y -s {from} -e {to_inclusive}T23:59:59 d"},
      {"airflow dags trigger -e 2024-01-05 d", "airflow dags trigger -e {date} d"},
      {"airflow tasks run d t 2024-01-05", "airflow tasks run d t {date}"},
      {"airflow dags trigger d --conf '{\"start_date\": \"2024-01-01\", \"end_date\": \"2024-01-31\"}'",
       "airflow dags trigger d --conf '{\"start_date\": \"{from}\", \"end_date\": \"{to_inclusive}\"}'"},
      {"airflowctl backfill create --dag-id d --from-date 2024-01-01 --to-date 2024-01-31",
       "airflowctl backfill create --dag-id d --from-date {from} --to-date {to_inclusive}T23:59:59"},
      {"dbt run -s a b --event-time-start 2024-01-01 --event-time-end 2024-02-01",
       "dbt run -s a b --event-time-start {from} --event-time-end {to}"},
      {"dbt run --event-time-start 2024-01-01T06:00:00 --event-time-end 2024-01-02T06:00:00",
       "dbt run --event-time-start {from}T06:00:00 --event-time-end {to_inclusive}T06:00:00"},
      {"dbt run --vars '{start_date: 2024-01-01, end_date: 2024-01-31}' -s a",
       "dbt run --vars '{start_date: {from}, end_date: {to_inclusive}}' -s a"},
      {"sqlmesh plan --restate-model a -s 2024-01-01 -e 2024-01-31",
       "sqlmesh plan --restate-model a -s {from} -e {to_inclusive}"},
      {"dagster job backfill -j d --from 2024-01-01 --to 2024-01-31",
       "dagster job backfill -j d --from {from} --to {to_inclusive}"},
      {"dagster job backfill -j d --partitions 2024-01-01,2024-01-02,2024-01-03",
       "dagster job backfill -j d --partitions {dates}"},
      {"dagster asset materialize --select a --partition 2024-01-05",
       "dagster asset materialize --select a --partition {date}"},
      {"dagster asset materialize --select a --partition-range 2024-01-01...2024-01-31",
       "dagster asset materialize --select a --partition-range {from}...{to_inclusive}"},
      {"prefect deployment run f/p -p start_date=2024-01-01 -p end_date=2024-01-31",
       "prefect deployment run f/p -p start_date={from} -p end_date={to_inclusive}"},
      {"bqetl query backfill a.b --start_date=2024-01-01 --end_date=2024-01-31",
       "bqetl query backfill a.b --start_date={from} --end_date={to_inclusive}"},
      {"luigi --module m RangeDaily --of T --start 2024-01-01 --stop 2024-02-01",
       "luigi --module m RangeDaily --of T --start {from} --stop {to}"},
      {"luigi --module m T --date 2024-01-05", "luigi --module m T --date {date}"},
      {"pyflyte backfill -p a -d b --from-date 2024-01-01 --to-date 2024-01-31 daily",
       "pyflyte backfill -p a -d b --from-date {from} --to-date {to_inclusive} daily"},
      {"airflow dags backfill -s 20240101 -e 20240131 d",
       "airflow dags backfill -s {from_nodash} -e {to_inclusive_nodash}T235959 d"},
      {"psql -c \"DELETE FROM sales WHERE day >= '2024-01-01' AND day < '2024-02-01'\"",
       "psql -c \"DELETE FROM sales WHERE day >= '{from}' AND day < '{to}'\""},
      {"curl -d '{\"dag_id\":\"d\",\"from_date\":\"2024-01-01\",\"to_date\":\"2024-01-31\"}' http://a/api/v2/backfills",
       "curl -d '{\"dag_id\":\"d\",\"from_date\":\"{from}\",\"to_date\":\"{to_inclusive}T23:59:59\"}' "
       "http://a/api/v2/backfills"},
      {"curl -d '{\"dag_id\":\"d\",\"from_date\":\"2024-01-01\",\"to_date\":\"2024-01-31T06:00:00Z\"}' "
       "http://a/api/v2/backfills",
       "curl -d '{\"dag_id\":\"d\",\"from_date\":\"{from}\",\"to_date\":\"{to_inclusive}T06:00:00Z\"}' "
       "http://a/api/v2/backfills"},
      {"curl -d '{\"dry_run\":false,\"start_date\":\"2024-01-01\",\"end_date\":\"2024-01-31\"}' "
       "http://a/api/v2/dags/d/clearTaskInstances",
       "curl -d '{\"dry_run\":false,\"start_date\":\"{from}\",\"end_date\":\"{to_inclusive}T23:59:59\"}' "
       "http://a/api/v2/dags/d/clearTaskInstances"},
      {"airflow dags clear --partition-date-start 2024-01-01 --partition-date-end 2024-01-31 d",
       "airflow dags clear --partition-date-start {from} --partition-date-end {to_inclusive}T23:59:59 d"}};
  CHECK(rows, 0);
}

/* Quotes, wrappers and variables stay as they were typed. */
static void the_rest_of_the_line_stays(void **state) {
  (void)state;
  static const Row rows[] = {{"S=2024-01-01; airflow dags backfill -s $S -e \"2024-01-31\" d",
                              "S={from}; airflow dags backfill -s $S -e \"{to_inclusive}T23:59:59\" d"},
                             {"ssh prod \"airflow dags backfill -s 2024-01-01 -e 2024-01-31 'd'\"",
                              "ssh prod \"airflow dags backfill -s {from} -e {to_inclusive}T23:59:59 'd'\""},
                             {"bash <<'EOF'\nairflow dags backfill \\\n -s 2024-01-01 -e 2024-01-31 d\nEOF",
                              "bash <<'EOF'\nairflow dags backfill \\\n -s {from} -e {to_inclusive}T23:59:59 d\nEOF"},
                             {"airflow dags backfill -e 2024-01-02 -s 2024-01-01 -e 2024-03-31 d",
                              "airflow dags backfill -e 2024-01-02 -s {from} -e {to_inclusive}T23:59:59 d"},
                             {"airflow dags backfill -s '2024-01-01' -e '2024-01-31' d >/tmp/log.20240131x",
                              "airflow dags backfill -s '{from}' -e '{to_inclusive}T23:59:59' d >/tmp/log.20240131x"}};
  CHECK(rows, 0);
}

static void what_cannot_be_replaced_surely_is_left(void **state) {
  (void)state;
  static const Row rows[] = {
      {"airflow dags backfill -s \"$(date -d yesterday +%F)\" -e \"$END\" d", NULL},
      {"airflow dags backfill -s 2024-01-01 d", NULL},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 d >log-2024-01-01.txt", NULL},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 d; airflow dags backfill -s 2024-02-01 -e 2024-02-29 d",
       NULL},
      {"for d in 2024-01-01 2024-01-02; do airflow tasks run d t $d; done", NULL},
      {"dagster job backfill -j d --partitions 2024-01-01,2024-01-03", NULL},
      {"airflow dags backfill -s 2024-01-01 -e 2024-01-31 {from}", NULL},
      {"AIRFLOW__CORE__PASSWORD=hunter2 airflow dags backfill -s 2024-01-01 -e 2024-01-31 d", NULL},
      {"Y=2024; airflow dags backfill -s $Y-01-01 -e $Y-01-31 d", NULL}};
  CHECK(rows, 0);
}

static void dates_that_are_not_those_of_the_rows(void **state) {
  (void)state;
  static const Row rows[] = {{"airflow dags backfill -s 2024-01-02 -e 2024-02-01 d",
                              "airflow dags backfill -s {from+1d} -e {to_inclusive+1d}T23:59:59 d"},
                             {"airflow tasks run d t 20240105", "airflow tasks run d t {date_nodash+1d}"},
                             {"dagster job backfill -j d --partitions 2024-01-01,2024-01-02", NULL}};
  CHECK(rows, -1);
}

/* ---- the property ------------------------------------------------------------------------------------------------ */

static const char *day_add(Arena *arena, const char *day, int n) {
  Civil civil = {.year = atoi(day), .month = atoi(day + 5), .day = atoi(day + 8)};
  civil = civil_from_days(civil_to_days(civil.year, civil.month, civil.day) + n);
  return arena_printf(arena, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
}

static const char *without_dashes(Arena *arena, const char *day) {
  return arena_printf(arena, "%.4s%.2s%.2s", day, day + 5, day + 8);
}

/* What plan_variables gives for such a batch. */
static const char *fill(Arena *arena, const char *line, const char *from, int days) {
  const char *last = day_add(arena, from, days - 1), *to = day_add(arena, from, days);
  BUF_SCOPED dates = {0};
  for (int i = 0; i < days; i++) buf_printf(&dates, "%s%s", i == 0 ? "" : ",", day_add(arena, from, i));
  const ProcessVariable variables[] = {{"{from}", "", from},
                                       {"{to}", "", to},
                                       {"{to_inclusive}", "", last},
                                       {"{date}", "", from},
                                       {"{dates}", "", arena_strdup(arena, buf_text(&dates))},
                                       {"{from_nodash}", "", without_dashes(arena, from)},
                                       {"{to_nodash}", "", without_dashes(arena, to)},
                                       {"{to_inclusive_nodash}", "", without_dashes(arena, last)},
                                       {"{date_nodash}", "", without_dashes(arena, from)}};
  return plan_fill(arena, line, variables, sizeof variables / sizeof *variables);
}

static bool same(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

/* The drafted command over a batch's dates is the same command over exactly those. */
static void check_batch(Arena *arena, const char *command, const char *line, const Trigger *was, const char *from,
                        int days) {
  const char *filled = fill(arena, line, from, days);
  TriggerReport report = trigger_classify(arena, filled, strlen(filled));
  bool ok = report.n == 1 && report.items[0].sure && same(report.items[0].system, was->system) &&
            same(report.items[0].target, was->target) && same(report.items[0].danger, was->danger) &&
            same(report.items[0].from, from) && same(report.items[0].to, day_add(arena, from, days - 1));
  if (!ok) fail_msg("%s\n  drafted %s\n  filled  %s", command, line, filled);
}

static size_t check_command(const char *command, bool *ret_drafted) {
  ARENA_SCOPED arena = {0};
  TriggerReport report = trigger_classify(&arena, command, strlen(command));
  const char *why = NULL;
  *ret_drafted = false;
  if (report.n != 1 || !report.items[0].sure || report.items[0].from == NULL || report.items[0].to == NULL) return 0;
  const char *line = offer_line(&arena, command, strlen(command), &report, 0, &why);
  assert_true((line == NULL) == (why != NULL));
  *ret_drafted = line != NULL;
  if (line == NULL) {
    print_message("left to a person (%s): %.150s\n", why, command);
    return 1;
  }
  static const int sizes[] = {1, 2, 27, 31, 366};
  static const char *const days[] = {"2023-02-28", "2024-02-29", "2019-12-31", "2030-06-15", "1999-01-01"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (!plan_takes_one_date(line) || sizes[i] == 1)
      check_batch(&arena, command, line, &report.items[0], days[i], sizes[i]);
  return 1;
}

/* `column`: the field of a line that holds the command; counts those with dates, and those that were drafted. */
static void check_file(const char *name, int column, size_t *ret_dated, size_t *ret_drafted) {
  ARENA_SCOPED arena = {0};
  char *at = read_cases(&arena, name), *fields[16];
  for (size_t n; (n = next_row(&at, fields, 16)) > 0;) {
    bool drafted;
    *ret_dated += check_command(unescape(&arena, fields[(size_t)column < n ? (size_t)column : n - 1]), &drafted);
    *ret_drafted += drafted;
  }
}

static void a_drafted_command_names_exactly_its_batch(void **state) {
  (void)state;
  size_t dated = 0, drafted = 0;
  check_file("triggers.tsv", 1, &dated, &drafted);
  check_file("trigger_seen.txt", 0, &dated, &drafted);
  print_message("%zu commands with dates, %zu drafted\n", dated, drafted);
  assert_true(dated > 100 && drafted > dated * 3 / 4);
}

/* ---- the draft --------------------------------------------------------------------------------------------------- */

static Offer draft(Arena *arena, const char *text, const char *table, const Spec *pipeline) {
  Error err;
  Offer offer;
  TriggerReport report = trigger_classify(arena, text, strlen(text));
  OfferAsk ask = {.text = text, .n = strlen(text), .report = &report, .table = table, .pipeline = pipeline};
  assert_true(offer_draft(arena, &ask, &offer, &err));
  return offer;
}

/* Filled in as a person would, it is a spec with just these values. */
static void a_filled_draft_is_a_spec(void **state) {
  (void)state;
  static const char *const commands[] = {
      "airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales",
      "airflow dags backfill -s '2024-01-01' -e \"2024-01-31\" sales # 'x: y'",
      "bash <<'EOF'\nairflow dags backfill -s 2024-01-01 \\\n   -e 2024-01-31 sales\nEOF\n",
      "\tairflow dags backfill -s 2024-01-01 -e 2024-01-31 sales"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    ARENA_SCOPED arena = {0};
    Error err;
    Spec spec;
    Offer offer = draft(&arena, commands[i], "shop.sales", NULL);
    assert_string_equal(offer.path, "shop.sales-2024-01-01-2024-01-31.backfill.yaml");
    assert_non_null(offer.line);
    static const char *const values[] = {"db.sqlite", "too low", "as in the source", "net", "\"0 2 * * *\"",
                                         "UTC",       "20m"};
    BUF_SCOPED filled = {0};
    size_t n = 0;
    for (const char *at = strchr(offer.yaml, '\n'); *at != '\0';) {
      if (strncmp(at, OFFER_BLANK "  ", strlen(OFFER_BLANK) + 2) == 0 ||
          strncmp(at, OFFER_BLANK " ", strlen(OFFER_BLANK) + 1) == 0) {
        if (at[-1] == ' ' && at[-2] == ':') {
          assert_true(n < sizeof values / sizeof *values);
          buf_puts(&filled, values[n++]);
          at += strlen(OFFER_BLANK);
          continue;
        }
      }
      buf_putc(&filled, *at++);
    }
    if (!spec_parse(&arena, "draft.yaml", buf_text(&filled), NULL, NULL, &spec, &err))
      fail_msg("%s %s\n%s", err.where, err.message, buf_text(&filled));
    assert_string_equal(spec.target.text, "shop.sales");
    assert_string_equal(spec.range.text, "2024-01-01..2024-01-31");
    assert_string_equal(spec.wrong.text, "too low");
    assert_true(spec.recompute.shell);
    assert_string_equal(spec.recompute.command.items[0].text, offer.line);
  }
}

static void an_unfilled_draft_is_refused_with_each_place(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Error err;
  Spec spec;
  Offer offer = draft(&arena, "airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales", NULL, NULL);
  assert_false(spec_parse(&arena, "d.yaml", offer.yaml, NULL, NULL, &spec, &err));
  assert_int_equal(err.code, ERR_SPEC);
  static const char *const wanted[] = {"d.yaml:4:11 database",
                                       "d.yaml:5:9 target",
                                       "d.yaml:7:8 wrong",
                                       "d.yaml:8:10 correct",
                                       "d.yaml:9:10 changes",
                                       "schedule",
                                       "zone",
                                       "p95"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (strstr(err.message, wanted[i]) == NULL) fail_msg("%s is not in: %s\n%s", wanted[i], err.message, offer.yaml);
  assert_string_equal(err.where, "d.yaml:4:11");
}

/* What tidegate.yaml says is not said again. */
static void what_the_pipeline_knows_is_not_repeated(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Error err;
  Spec pipeline, spec;
  static const char top[] =
      "database: db.sqlite\njobs: {nightly: {writes: [sales], schedule: \"0 2 * * *\", zone: UTC, p95: 20m}}\n";
  static const char own[] =
      "target: sales\nrange: 2024-01-01\nwrong: w\ncorrect: c\nchanges: net\nrecompute: SELECT 1\n";
  if (!spec_parse(&arena, "b.yaml", own, "tidegate.yaml", top, &pipeline, &err)) fail_msg("%s", err.message);
  Offer offer = draft(&arena, "airflow dags backfill -s 2024-01-01 -e 2024-01-31 sales", "sales", &pipeline);
  assert_null(strstr(offer.yaml, "production:"));
  assert_null(strstr(offer.yaml, "database:"));
  assert_null(strstr(offer.yaml, "schedule"));
  offer = draft(&arena, "airflow dags backfill -s 2024-01-01 -e 2024-01-31 other", "other", &pipeline);
  assert_non_null(strstr(offer.yaml, "production:"));
  assert_false(spec_parse(&arena, "d.yaml", offer.yaml, "tidegate.yaml", top, &spec, &err));
}

static void what_is_to_be_typed(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Offer offer = draft(&arena, "airflow dags backfill -s '2024-01-01' -e 2024-01-31 sales", "sales", NULL);
  assert_string_equal(offer.backfill, "tidegate backfill sales-2024-01-01-2024-01-31.backfill.yaml");
  assert_string_equal(offer.snapshot,
                      "tidegate snapshot sales-2024-01-01-2024-01-31.backfill.yaml --then 'airflow dags backfill -s "
                      "'\\''{from}'\\'' -e {to_inclusive}T23:59:59 sales'");
  offer = draft(&arena, "airflow dags backfill -s 2024-01-01 -e 2024-01-31 d", "../e il", NULL);
  assert_string_equal(offer.path, "_._e_il-2024-01-01-2024-01-31.backfill.yaml");
}

/* No secret in the file. */
static void a_secret_is_left_out(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Offer offer =
      draft(&arena,
            "curl -u me:hunter2 -d '{\"dag_id\":\"d\",\"from_date\":\"2024-01-01\",\"to_date\":\"2024-01-31\"}' "
            "http://a/api/v2/backfills",
            "sales", NULL);
  assert_null(strstr(offer.yaml, "hunter2"));
  assert_null(strstr(offer.snapshot, "hunter2"));
  assert_null(offer.line);
  assert_non_null(strstr(offer.yaml, "command: " OFFER_BLANK));
}

static void a_file_is_never_written_over(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Error err;
  char folder[] = "/tmp/tidegate-offer.XXXXXX";
  assert_non_null(mkdtemp(folder));
  Offer offer = draft(&arena, "airflow dags backfill -s 2024-01-01 -e 2024-01-31 d", "sales", NULL);
  offer.path = arena_printf(&arena, "%s/%s", folder, offer.path);
  assert_true(offer_write(&offer, &err));
  offer.yaml = "other";
  assert_false(offer_write(&offer, &err));
  assert_int_equal(err.code, ERR_USAGE);
  assert_non_null(strstr(err.message, "exists already"));
  char text[64] = "";
  FILE *file = fopen(offer.path, "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_not_equal(text, "other");
  unlink(offer.path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_tool_gets_its_own_places),
                                     cmocka_unit_test(the_rest_of_the_line_stays),
                                     cmocka_unit_test(what_cannot_be_replaced_surely_is_left),
                                     cmocka_unit_test(dates_that_are_not_those_of_the_rows),
                                     cmocka_unit_test(a_drafted_command_names_exactly_its_batch),
                                     cmocka_unit_test(a_filled_draft_is_a_spec),
                                     cmocka_unit_test(an_unfilled_draft_is_refused_with_each_place),
                                     cmocka_unit_test(what_the_pipeline_knows_is_not_repeated),
                                     cmocka_unit_test(what_is_to_be_typed),
                                     cmocka_unit_test(a_secret_is_left_out),
                                     cmocka_unit_test(a_file_is_never_written_over)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
