#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/sql_text.h"
#include "plan/plan_int.h"
#include "plan/plan_sql.h"

/* dbt's own tests of a table as checks. Whatever a check cannot say is left to dbt, and that is said. */

typedef struct Tests {
  Arena *arena;
  Engine *engine;
  const Graph *graph;
  const Shape *shape;
  const char *recompute;
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
  const GraphName *to = &graph_at(tests->graph, test->to)->name;
  if (to->table == NULL) return NULL;
  const char *table = sql_ident(tests->arena, to->table);
  if (to->schema != NULL && tests->engine->ops->grants != NULL)
    table = arena_printf(tests->arena, "%s.%s", sql_ident(tests->arena, to->schema), table);
  return sql_fill(tests->arena, sql_dbt_checks_relationship, "column", column, "table", table, "field",
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

static DbtCheck check_of(const Tests *tests, const LineageTest *test) {
  DbtCheck check = {.name = test->name, .why = test->why};
  Error err;
  int offset;
  if (check.why != NULL) return check;
  check.sql = condition_of(tests, test, &check.total);
  if (check.sql == NULL) {
    check.why = "is SQL of its own over the table as it is";
  } else if (!tests->engine->ops->describe_condition(tests->engine, tests->arena, tests->shape->table,
                                                     check.total ? NULL : tests->recompute, check.sql, check.total,
                                                     &offset, &err)) {
    check.why = arena_printf(tests->arena, "cannot be asked here (%s)", err.message);
    check.sql = NULL;
  }
  return check;
}

void plan_dbt_checks(Arena *arena, Engine *engine, const Graph *graph, NodeId model, const Shape *shape,
                     const char *recompute, const DbtCheck **ret, size_t *ret_n) {
  Tests tests = {arena, engine, graph, shape, recompute};
  const LineageTest *found;
  lineage_tests(arena, graph, model, &found, ret_n);
  DbtCheck *checks = arena_array(arena, *ret_n, sizeof *checks);
  for (size_t i = 0; i < *ret_n; i++) checks[i] = check_of(&tests, &found[i]);
  *ret = checks;
}

/* ---- those that a spec does not ask -------------------------------------------------------------------------------
 */

typedef struct Condition {
  const char *at;
  bool text; /* inside '…' */
} Condition;

/* The next byte that matters: outside of texts blanks, quotes of names and capitals make no other condition. */
static int next_of(Condition *condition) {
  const char **at = &condition->at;
  while (!condition->text && (**at == '"' || isspace((unsigned char)**at))) (*at)++;
  if (**at == '\'') condition->text = !condition->text;
  if (**at == '\0') return '\0';
  int byte = (unsigned char)*(*at)++;
  return condition->text ? byte : tolower(byte);
}

static bool says_the_same(const char *asked, const char *test) {
  Condition a = {.at = asked}, b = {.at = test};
  int one, other;
  do {
    one = next_of(&a);
    other = next_of(&b);
  } while (one == other && one != '\0');
  return one == other;
}

static bool is_asked(const Plan *plan, const DbtCheck *check) {
  const char *const *asked = check->total ? plan->total_checks : plan->row_checks;
  size_t n = check->total ? plan->n_total_checks : plan->n_row_checks;
  for (size_t i = 0; i < n; i++)
    if (check->sql != NULL && says_the_same(asked[i], check->sql)) return true;
  return false;
}

void plan_measure_dbt_checks(Arena *arena, Engine *engine, Plan *plan) {
  const DbtCheck *found;
  size_t n;
  if (plan->radius.target == GRAPH_NONE) return;
  plan_dbt_checks(arena, engine, plan->radius.graph, plan->radius.target, &plan->shape, plan->recompute, &found, &n);
  DbtCheck *unasked = arena_array(arena, n, sizeof *unasked);
  plan->n_dbt_tests = 0;
  for (size_t i = 0; i < n; i++)
    if (!is_asked(plan, &found[i])) unasked[plan->n_dbt_tests++] = found[i];
  plan->dbt_tests = unasked;
}
