#include <string.h>
#include <strings.h>

#include "cascade/cascade_int.h"
#include "cascade/cascade_sql.h"
#include "engine/sql_text.h"

/* dbt's own tests of a child as checks of its draft. Whatever a check cannot say is left to dbt, and that is said. */

typedef struct Tests {
  Arena *arena;
  Engine *engine;
  const Graph *graph;
  const CascadeStep *step;
  const Shape *shape;
} Tests;

static const char *column_of(const Tests *tests, const char *name) {
  for (size_t i = 0; i < tests->shape->n; i++)
    if (strcasecmp(tests->shape->columns[i].name, name) == 0)
      return sql_ident(tests->arena, tests->shape->columns[i].name);
  return NULL;
}

static const char *values_of(const Tests *tests, const LineageTest *test) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < test->n; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ",
               test->bare ? test->values[i] : sql_literal(tests->arena, test->values[i]));
  return arena_strdup(tests->arena, buf_text(&out));
}

/* NULL: the other model is in no place that SQL could name. */
static const char *relationship(const Tests *tests, const LineageTest *test, const char *column) {
  const GraphNode *to = graph_at(tests->graph, test->to);
  const char *table = cascade_relation(tests->arena, to, tests->engine->ops->grants != NULL);
  if (table == NULL) return NULL;
  return sql_fill(tests->arena, sql_draft_relationship, "column", column, "table", table, "field",
                  sql_ident(tests->arena, test->field), NULL);
}

/* As SQL; NULL: no check says this. */
static const char *condition_of(const Tests *tests, const LineageTest *test, bool *ret_total) {
  const char *column = test->kind == NULL ? NULL : column_of(tests, test->column);
  *ret_total = false;
  if (column == NULL) return NULL;
  if (strcmp(test->kind, "not_null") == 0) return arena_printf(tests->arena, "%s IS NOT NULL", column);
  if (strcmp(test->kind, "accepted_values") == 0)
    return arena_printf(tests->arena, "%s IN (%s)", column, values_of(tests, test));
  if (strcmp(test->kind, "relationships") == 0) return relationship(tests, test, column);
  *ret_total = true;
  return arena_printf(tests->arena, "count(%s) = count(DISTINCT %s)", column, column);
}

static CascadeCheck check_of(const Tests *tests, const LineageTest *test) {
  CascadeCheck check = {.name = test->name, .why = test->why};
  Error err;
  int offset;
  if (check.why != NULL) return check;
  check.sql = condition_of(tests, test, &check.total);
  if (check.sql == NULL) {
    check.why = "is SQL of its own over the table as it is";
  } else if (!tests->engine->ops->describe_condition(tests->engine, tests->arena, tests->step->table, NULL, check.sql,
                                                     check.total, &offset, &err)) {
    check.why = arena_printf(tests->arena, "cannot be asked here (%s)", err.message);
    check.sql = NULL;
  }
  return check;
}

void cascade_checks(Arena *arena, Engine *engine, const Graph *graph, const CascadeStep *step, CascadeChild *child) {
  Tests tests = {arena, engine, graph, step, child->shape};
  const LineageTest *found;
  size_t n;
  lineage_tests(arena, graph, step->node->id, &found, &n);
  CascadeCheck *checks = arena_array(arena, n, sizeof *checks);
  for (size_t i = 0; i < n; i++) checks[i] = check_of(&tests, &found[i]);
  child->checks = checks;
  child->n_checks = n;
}

/* ---- in the draft ------------------------------------------------------------------------------------------------ */

static void put_item(Buf *out, const char *sql, const char *from) {
  Json json = {.out = out, .comma = false};
  buf_puts(out, "    - ");
  json_text(&json, NULL, sql);
  buf_printf(out, " # %s\n", from);
}

/* A list of the draft's own takes the place of tidegate.yaml's, so that one's are put into it. */
static void put_list(Buf *out, Arena *arena, const CascadeChild *child, bool totals, bool *comma) {
  const SpecTexts *own = totals ? &child->spec->total_checks : &child->spec->row_checks;
  size_t n = 0;
  for (size_t i = 0; i < child->n_checks; i++) n += child->checks[i].sql != NULL && child->checks[i].total == totals;
  if (n == 0) return;
  if (!*comma) buf_puts(out, "checks:\n");
  *comma = true;
  buf_printf(out, "  %s:\n", totals ? "totals" : "rows");
  for (size_t i = 0; i < own->n; i++) put_item(out, own->items[i].text, "tidegate.yaml");
  for (size_t i = 0; i < child->n_checks; i++) {
    const CascadeCheck *check = &child->checks[i];
    if (check->sql == NULL || check->total != totals) continue;
    put_item(
        out, check->sql,
        arena_printf(arena, "dbt's test %s%s", cascade_plain(arena, check->name), totals ? ", within the range" : ""));
  }
}

void cascade_put_checks(Buf *out, Arena *arena, const CascadeChild *child) {
  bool comma = false;
  put_list(out, arena, child, false, &comma);
  put_list(out, arena, child, true, &comma);
  for (size_t i = 0; i < child->n_checks; i++) {
    const CascadeCheck *check = &child->checks[i];
    if (check->sql != NULL) continue;
    buf_printf(out, "# Not held against dbt's test %s, which %s: dbt test --select %s\n",
               cascade_plain(arena, check->name), cascade_plain(arena, check->why),
               cascade_plain(arena, cascade_shell_word(arena, check->name)));
  }
}
