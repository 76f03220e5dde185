#include "view/runbook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"

/* What the steps do is tried in tests/flow/runbook_test.py, in the real clients. */

static void has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("“%s” is not in:\n%s", part, text);
}

static RunbookFacts facts_of(Plan *plan) {
  return (RunbookFacts){.target = "da\"ily",
                        .database = "f.db",
                        .engine = "sqlite",
                        .spec = &plan->spec,
                        .shape = &plan->shape,
                        .dated = true,
                        .changes = "tidegate_7f3a_changes",
                        .shadow = "tidegate_7f3a_shadow",
                        .snapshot = "tidegate_7f3a_snapshot",
                        .radius = &plan->radius,
                        .now = scene_first};
}

static const char *document_of(Arena *arena, const RunbookFacts *facts) {
  BUF_SCOPED out = {0};
  Page page = view_runbook(arena, facts);
  page_render(&out, arena, &page, PAGE_MARKDOWN, NULL);
  return arena_strdup(arena, buf_text(&out));
}

static void names_are_quoted_in_sql(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  RunbookFacts facts = facts_of(&plan);
  const char *document = document_of(&arena, &facts);
  has(document, "UPDATE \"da\"\"ily\" AS p SET");
  has(document, "WHERE target = 'da\"ily'");
  facts.engine = "postgres";
  facts.target = "ops.\"da\"\"ily\"";
  plan.spec.postgres.schema.text = "Led\"ger";
  document = document_of(&arena, &facts);
  has(document, "LOCK TABLE ops.\"da\"\"ily\" IN SHARE ROW EXCLUSIVE MODE;");
  has(document, "CREATE TABLE \"Led\"\"ger\".tidegate_hand_shadow");
}

static void without_a_database_it_says_so(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  RunbookFacts facts = facts_of(&plan);
  facts.shape = NULL;
  facts.dated = false;
  facts.radius = NULL;
  facts.unseen = "it does not answer";
  facts.no_shape = "the database could not be looked at";
  const char *document = document_of(&arena, &facts);
  has(document, "rests on tidegate.yaml alone: it does not answer");
  has(document, "SELECT lease_owner, lease_epoch");
  assert_null(strstr(document, "UPDATE \"da"));
}

/* Secrets go by a pipe, and what is put into a shell's line is quoted. */
static void questions_hold_no_secret_and_are_quoted(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  SpecText command[] = {{.text = "/bin/is it"}, {.text = "a'b"}};
  SpecLive *live = &plan.spec.production.live;
  live->airflow =
      (SpecAirflow){.url.text = "http://h:8080", .dag.text = "it's", .user.text = "me", .password_env.text = "PW"};
  live->process.text = "load'er";
  live->command = (SpecTexts){command, 2};
  live->application.text = "o'load";
  live->advisory_lock.text = "7,42";
  RunbookFacts facts = facts_of(&plan);
  facts.engine = "postgres";
  const char *document = document_of(&arena, &facts);
  has(document, "'http://h:8080/api/v2/dags/it'\\''s/dagRuns?state=running&state=queued'");
  has(document, "printf 'user = \"%s:%s\"\\n' 'me' \"$PW\" |\n  curl -fsS -K -");
  has(document, "pgrep -af -- 'load'\\''er'");
  has(document, "'/bin/is it' 'a'\\''b'; echo $?");
  has(document, "application_name = 'o''load'");
  has(document, "classid::bigint = 7 AND objid::bigint = 42");
}

static void a_job_concerns_it_by_any_of_three(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Plan plan = scene_plan();
  SpecText daily = {.text = "ops.daily"}, flights = {.text = "FLIGHTS"}, other = {.text = "other"};
  static const SpecSource source = {.table.text = "flights", .column.text = "d"};
  plan.spec.sources = &source;
  plan.spec.n_sources = 1;
  RunbookFacts facts = facts_of(&plan);
  facts.target = "daily";
  const SpecJob writes = {.writes = {&daily, 1}, .reads = {&flights, 1}}, reads = {.reads = {&daily, 1}},
                feeds = {.writes = {&flights, 1}}, none = {.writes = {&other, 1}, .reads = {&flights, 1}};
  assert_string_equal(runbook_concern(&arena, &facts, &writes), "writes it");
  assert_string_equal(runbook_concern(&arena, &facts, &reads), "reads it");
  assert_string_equal(runbook_concern(&arena, &facts, &feeds), "feeds it");
  assert_null(runbook_concern(&arena, &facts, &none));
  facts.target = "audit.daily";
  assert_null(runbook_concern(&arena, &facts, &reads));
}

static void a_mark_is_found_again(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  const char *target, *digest;
  const char *mark = runbook_mark(&arena, "ops.\"a --> b\" %41", "0123abcd");
  assert_null(strstr(mark, "--"));
  const char *document = arena_printf(&arena, "x\n<!-- %s -->\ny", mark);
  assert_true(runbook_mark_find(&arena, document, &target, &digest));
  assert_string_equal(target, "ops.\"a --> b\" %41");
  assert_string_equal(digest, "0123abcd");
  assert_false(runbook_mark_find(&arena, "tidegate-runbook target=x", &target, &digest));
  assert_false(runbook_mark_find(&arena, "", &target, &digest));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_quoted_in_sql),
      cmocka_unit_test(without_a_database_it_says_so),
      cmocka_unit_test(questions_hold_no_secret_and_are_quoted),
      cmocka_unit_test(a_job_concerns_it_by_any_of_three),
      cmocka_unit_test(a_mark_is_found_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
