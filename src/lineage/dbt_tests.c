#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "lineage/dbt_int.h"

/* dbt's own tests of a model. Few are wanted: each is read again from where it stands in the manifest. */

static yajl_val member(yajl_val node, const char *group, const char *name) {
  const char *path[] = {group, name, NULL};
  return node == NULL ? NULL : yajl_tree_get(node, group == NULL ? path + 1 : path, yajl_t_any);
}

static const char *text(yajl_val node, const char *group, const char *name) {
  return YAJL_GET_STRING(member(node, group, name));
}

/* What dbt writes into its SQL for a value; NULL: it is none. */
static const char *value_of(Arena *arena, yajl_val value) {
  if (YAJL_IS_STRING(value)) return arena_strdup(arena, YAJL_GET_STRING(value));
  if (YAJL_IS_NUMBER(value)) return arena_strdup(arena, YAJL_GET_NUMBER(value));
  return YAJL_IS_TRUE(value) ? "True" : YAJL_IS_FALSE(value) ? "False" : NULL;
}

static bool take_values(Arena *arena, yajl_val kwargs, LineageTest *ret) {
  yajl_val values = member(kwargs, NULL, "values");
  if (!YAJL_IS_ARRAY(values) || values->u.array.len == 0) return false;
  const char **taken = arena_array(arena, values->u.array.len, sizeof *taken);
  ret->bare = YAJL_IS_FALSE(member(kwargs, NULL, "quote"));
  for (size_t i = 0; i < values->u.array.len; i++) {
    taken[i] = value_of(arena, values->u.array.values[i]);
    if (taken[i] == NULL || (!ret->bare && strchr(taken[i], '\'') != NULL)) return false;
  }
  ret->values = taken;
  ret->n = values->u.array.len;
  return true;
}

/* Only a test that fails at the first row, and of all rows, says what a check says. */
static const char *why_less(Arena *arena, yajl_val test) {
  const char *severity = text(test, "config", "severity"), *where = text(test, "config", "where");
  const char *limit = text(test, "config", "error_if"), *calc = text(test, "config", "fail_calc");
  if (severity != NULL && strcasecmp(severity, "warn") == 0) return "only warns";
  if (where != NULL) return arena_printf(arena, "looks only where %s", where);
  if (limit != NULL && strcmp(limit, "!= 0") != 0) return arena_printf(arena, "fails only if %s", limit);
  return calc != NULL && strcmp(calc, "count(*)") != 0 ? "counts in a way of its own" : NULL;
}

static const char *last_part(const char *id) {
  const char *dot = strrchr(id, '.');
  return dot == NULL ? id : dot + 1;
}

/* A test reads several models and is one's: dbt says whose since 1.5, and names it in an argument in all versions. */
static bool is_of(yajl_val test, const GraphNode *model, size_t n_parents) {
  const char *attached = text(test, NULL, "attached_node"), *argument;
  yajl_val kwargs = member(test, "test_metadata", "kwargs");
  if (attached != NULL) return strcmp(attached, model->name.id) == 0;
  if (n_parents == 1) return true;
  argument = text(kwargs, NULL, "model");
  return argument == NULL || strstr(argument, last_part(model->name.id)) != NULL;
}

/* The model that the values must stand in: what the test reads beside the one whose it is. */
static bool take_other(const Graph *graph, NodeId test, NodeId model, LineageTest *ret) {
  size_t n, n_edges;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  const uint32_t *in = graph_next(graph, GRAPH_UP, test, &n);
  ret->to = n == 1 ? edges[in[0]].parent : GRAPH_NONE;
  for (size_t i = 0; i < n && n == 2; i++)
    if (edges[in[i]].parent != model) ret->to = edges[in[i]].parent;
  return ret->to != GRAPH_NONE && ret->field != NULL;
}

static void take_kind(Arena *arena, const Graph *graph, yajl_val node, NodeId test, NodeId model, LineageTest *ret) {
  static const char *const kinds[] = {"not_null", "unique", "accepted_values", "relationships"};
  const char *name = text(node, "test_metadata", "name");
  yajl_val kwargs = member(node, "test_metadata", "kwargs");
  ret->column = arena_strdup(arena, text(kwargs, NULL, "column_name"));
  ret->field = arena_strdup(arena, text(kwargs, NULL, "field"));
  if (name == NULL || ret->column == NULL || text(node, "test_metadata", "namespace") != NULL) return;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i], name) == 0) ret->kind = kinds[i];
  if (ret->kind == kinds[2] && !take_values(arena, kwargs, ret)) ret->kind = NULL;
  if (ret->kind == kinds[3] && !take_other(graph, test, model, ret)) ret->kind = NULL;
}

/* False: it is not this model's, or cannot be read any more. */
static bool read_test(Arena *arena, const Graph *graph, NodeId id, NodeId model, LineageTest *ret) {
  size_t n;
  const GraphNode *facts = graph_at(graph, id);
  const GraphSource *source = &graph_sources(graph, &n)[facts->compiled_source];
  char *slice = dbt_slice(source, facts->test_at, facts->test_length);
  yajl_val node = slice == NULL ? NULL : yajl_tree_parse(slice, NULL, 0);
  free(slice);
  graph_next(graph, GRAPH_UP, id, &n);
  bool ok = node != NULL && is_of(node, graph_at(graph, model), n);
  if (ok) {
    *ret = (LineageTest){.name = facts->shown, .to = GRAPH_NONE, .why = why_less(arena, node)};
    take_kind(arena, graph, node, id, model, ret);
  }
  yajl_tree_free(node);
  return ok;
}

void dbt_tests(Arena *arena, const Graph *graph, NodeId model, const LineageTest **ret, size_t *ret_n) {
  static const char unit[] = "unit_test.";
  const GraphNode *facts = graph_at(graph, model);
  size_t n, n_edges;
  const GraphEdge *edges = graph_edges(graph, &n_edges);
  const uint32_t *out = graph_next(graph, GRAPH_DOWN, model, &n);
  LineageTest *tests = arena_array(arena, n, sizeof *tests);
  bool known = facts->name.space != NULL && strcmp(facts->name.space, "dbt") == 0;
  *ret = tests;
  *ret_n = 0;
  for (size_t i = 0; i < n && known; i++) {
    const GraphNode *test = graph_at(graph, edges[out[i]].child);
    if (test->test_length == 0 || test->disabled || strncmp(test->name.id, unit, sizeof unit - 1) == 0) continue;
    *ret_n += read_test(arena, graph, edges[out[i]].child, model, &tests[*ret_n]);
  }
}
