#include "scene.h"

/* A spec file on disk beside the database, planned and recorded. */
typedef struct Recorded {
  char path[96], pipeline[96];
  BackfillRecord record;
} Recorded;

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static Recorded recorded(Fixture *f, const char *pipeline) {
  Recorded ret;
  Spec spec;
  Error err = {0};
  run(f, sales_sql);
  snprintf(ret.path, sizeof ret.path, "%s.yaml", f->path);
  snprintf(ret.pipeline, sizeof ret.pipeline, "%s.tidegate.yaml", f->path);
  write_file(ret.path, GOOD);
  write_file(ret.pipeline, pipeline);
  must(spec_parse(&f->arena, ret.path, GOOD, ret.pipeline, pipeline, &spec, &err), &err);
  Plan plan;
  must(plan_resolve(&f->arena, f->engine, &spec, &plan, &err) &&
           plan_measure(&f->arena, f->engine, &plan, NULL, &err) && plan_record(&f->arena, f->engine, &plan, &err),
       &err);
  assert_non_null(plan.id);
  assert_true(strlen(plan.database_id) > 0);
  must(ledger_find(f->engine, &f->arena, ret.path, &ret.record, &err), &err);
  return ret;
}

static void clean(const Recorded *recorded) {
  unlink(recorded->path);
  unlink(recorded->pipeline);
}

static void a_recorded_plan_is_the_same_again(void **state) {
  Fixture *f = *state;
  Plan plan;
  Error err = {0};
  Recorded r = recorded(f, "owner: ann\n");
  must(plan_load(&f->arena, f->engine, &r.record, &plan, &err), &err);
  assert_string_equal(plan.id, r.record.id);
  assert_string_equal(plan.digest, r.record.digest);
  assert_int_equal(plan.rows, 6);
  assert_int_equal(plan.suspects, 3);
  assert_false(plan.measured);
  assert_null(plan.changed);
  clean(&r);
  must(plan_load(&f->arena, f->engine, &r.record, &plan, &err), &err); /* without its files too */
}

static void refused(Fixture *f, Recorded *r, const char *part) {
  Plan plan;
  Error err = {0};
  assert_refused(plan_load(&f->arena, f->engine, &r->record, &plan, &err), &err, ERR_SUPERSEDED, part);
  assert_string_equal(r->record.state, "superseded");
  must(ledger_reload(f->engine, &f->arena, &r->record, &err), &err);
  assert_string_equal(r->record.state, "superseded");
  assert_refused(plan_load(&f->arena, f->engine, &r->record, &plan, &err), &err, ERR_SUPERSEDED, part);
  clean(r);
}

static void a_changed_spec_supersedes(void **state) {
  Recorded r = recorded(*state, "");
  write_file(r.path, GOOD "# changed\n");
  refused(*state, &r, "the spec file");
}

static void a_changed_target_supersedes(void **state) {
  Recorded r = recorded(*state, "");
  run(*state, "CREATE INDEX by_total ON sales (total)");
  refused(*state, &r, "definition of the target");
}

static void a_dropped_target_supersedes(void **state) {
  Recorded r = recorded(*state, "");
  run(*state, "DROP VIEW best; DROP TABLE sales");
  refused(*state, &r, "no table “sales”");
}

static void changed_lineage_supersedes(void **state) {
  Recorded r = recorded(*state, "");
  run(*state, "CREATE VIEW worst AS SELECT min(total) FROM sales");
  refused(*state, &r, "downstream");
}

static void a_pipeline_file_supersedes_by_what_it_says_of_this_target(void **state) {
  Fixture *f = *state;
  Plan plan;
  Error err = {0};
  Recorded r = recorded(f, "retention: 7d\n");
  write_file(r.pipeline, "retention: 7d # a remark\nowner: ann\n");
  must(plan_load(&f->arena, f->engine, &r.record, &plan, &err), &err);
  write_file(r.pipeline, "retention: 1d\n");
  refused(f, &r, "tidegate.yaml");
}

static void after_the_swap_a_change_is_told_and_not_refused(void **state) {
  Fixture *f = *state;
  Plan plan;
  Error err = {0};
  Recorded r = recorded(f, "");
  must(ledger_move(f->engine, &r.record, (LedgerMove){.verb = "run"}, &err) &&
           ledger_move(f->engine, &r.record, (LedgerMove){.verb = "seal"}, &err) &&
           ledger_move(f->engine, &r.record, (LedgerMove){.verb = "swap"}, &err),
       &err);
  run(f, "CREATE VIEW worst AS SELECT min(total) FROM sales");
  must(plan_load(&f->arena, f->engine, &r.record, &plan, &err), &err);
  assert_has(plan.changed, "downstream");
  clean(&r);
}

static void the_document_is_json(void **state) {
  Fixture *f = *state;
  const DocNode *root;
  Error err = {0};
  Recorded r = recorded(f, "");
  must(doc_parse(&f->arena, "plan", r.record.plan, strlen(r.record.plan), &root, &err), &err);
  assert_string_equal(doc_text(root, "target", ""), "sales");
  assert_string_equal(doc_text(doc_get(root, "range"), "to", ""), "2024-03-07");
  assert_string_equal(doc_text(root, "digest", ""), r.record.digest);
  assert_int_equal(doc_get(root, "by_date")->n, 3);
  assert_int_equal(doc_int(doc_get(root, "control"), "same", -1), 6);
  clean(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(a_recorded_plan_is_the_same_again),
      FIXTURE_TEST(a_changed_spec_supersedes),
      FIXTURE_TEST(a_changed_target_supersedes),
      FIXTURE_TEST(a_dropped_target_supersedes),
      FIXTURE_TEST(changed_lineage_supersedes),
      FIXTURE_TEST(a_pipeline_file_supersedes_by_what_it_says_of_this_target),
      FIXTURE_TEST(after_the_swap_a_change_is_told_and_not_refused),
      FIXTURE_TEST(the_document_is_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
