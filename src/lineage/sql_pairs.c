#include <string.h>
#include <strings.h>

#include "lineage/sql_tree.h"

/* Dates of two tables that a condition compares. */

static const char *qualifier_of(const json_t *fields) {
  size_t n = json_array_size(fields);
  return n < 2 ? NULL : sql_member(json_object_get(json_array_get(fields, n - 2), "String"), "sval");
}

static bool is_operator(const json_t *expression, const char *const *signs) {
  return sql_one_of(sql_last_name(json_object_get(expression, "name")), signs);
}

/* date(COLUMN, '-6 days', …), date_trunc('month', COLUMN): what they do to the grain is seen elsewhere. Another zone
 * has another midnight. */
static SqlMoved moved_by_call(const json_t *call) {
  static const char *const names[] = {"date",     "datetime",   "julianday", "unixepoch",
                                      "strftime", "date_trunc", "timezone",  NULL};
  const char *name = sql_last_name(json_object_get(call, "funcname"));
  const json_t *args = json_object_get(call, "args");
  SqlMoved moved = {0};
  if (!sql_one_of(name, names)) return moved;
  for (size_t i = 0; i < json_array_size(args); i++) {
    const json_t *arg = json_array_get(args, i);
    SqlMoved inner = sql_moved(arg);
    if (inner.fields != NULL) moved.fields = inner.fields;
    moved.later += inner.later;
    moved.earlier += inner.earlier;
    sql_modify(arg, &moved);
  }
  moved.later += strcasecmp(name, "timezone") == 0;
  moved.earlier += strcasecmp(name, "timezone") == 0;
  return moved;
}

SqlMoved sql_moved(const json_t *node) {
  static const char *const minus[] = {"-", NULL}, *const plus[] = {"+", NULL};
  const json_t *fields = sql_column_of(node);
  if (fields != NULL) return (SqlMoved){.fields = fields};
  for (const json_t *cast; (cast = json_object_get(node, "TypeCast")) != NULL;) node = json_object_get(cast, "arg");
  const json_t *expression = json_object_get(node, "A_Expr"), *call = json_object_get(node, "FuncCall");
  if (call != NULL) return moved_by_call(call);
  int days = sql_days_of(json_object_get(expression, "rexpr"));
  if (days < 0 || (!is_operator(expression, minus) && !is_operator(expression, plus))) return (SqlMoved){0};
  SqlMoved moved = sql_moved(json_object_get(expression, "lexpr"));
  *(is_operator(expression, minus) ? &moved.earlier : &moved.later) += days;
  return moved;
}

void sql_move(SqlDates *dates, int later, int earlier) {
  if (later > dates->days) dates->days = later;
  if (earlier > dates->earlier) dates->earlier = earlier;
  if (later + earlier > 0) sql_say(dates, "a date moved by days");
}

static void add_pair(SqlDates *dates, SqlPairs *pairs, const json_t *left, const json_t *right, bool right_later,
                     bool offset) {
  const char *a = qualifier_of(left), *b = qualifier_of(right);
  const char *name = sql_last_name(left), *other = sql_last_name(right);
  if (a == NULL || b == NULL || strcmp(a, b) == 0 || name == NULL || other == NULL) return;
  if (!sql_is_date_name(name) && !sql_is_date_name(other) && strcmp(name, other) != 0) return;
  if (pairs->n == SQL_MOST_PAIRS)
    dates->all = true;
  else
    pairs->items[pairs->n++] = (SqlPair){a, b, right_later, offset};
}

/* A column beside something that is none. */
static void look_at_moved(SqlDates *dates, SqlPairs *pairs, const json_t *column, const json_t *node, bool later) {
  SqlMoved moved = sql_moved(node);
  int days = moved.later + moved.earlier;
  if (moved.fields != NULL) {
    add_pair(dates, pairs, column, moved.fields, later, true);
    if (days > dates->days) dates->days = days;
    if (moved.later > 0) dates->after = true;
    if (days > 0) sql_say(dates, "a date compared with another, days between");
  } else if (sql_is_date_name(sql_last_name(column)) && sql_has_date(node)) {
    dates->all = true;
    sql_say(dates, "a date compared with something computed from another");
  }
}

/* left OP right, where the sign says which is the later. */
static void look_at_sides(SqlDates *dates, SqlPairs *pairs, const json_t *left, const json_t *right, bool right_later) {
  const json_t *a = sql_column_of(left), *b = sql_column_of(right);
  if (a != NULL && b != NULL)
    add_pair(dates, pairs, a, b, right_later, false);
  else if (a != NULL)
    look_at_moved(dates, pairs, a, right, right_later);
  else if (b != NULL)
    look_at_moved(dates, pairs, b, left, !right_later);
  else if (sql_has_date(left) && sql_has_date(right))
    dates->all = true;
}

/* Is a date of that table in the output? */
static bool in_output(const json_t *output, const char *table) {
  size_t i;
  json_t *target;
  json_array_foreach(output, i, target) {
    const json_t *fields = sql_column_of(json_object_get(json_object_get(target, "ResTarget"), "val"));
    const char *qualifier = qualifier_of(fields);
    if (qualifier != NULL && table != NULL && strcmp(qualifier, table) == 0 && sql_is_date_name(sql_last_name(fields)))
      return true;
  }
  return false;
}

/* column = moved: what the one table has at a date shows in the other's, days later or earlier. Which of both gives the
 * output its date is seen by their names; else it may be either. */
static void look_at_equal(SqlDates *dates, const SqlPairs *pairs, const json_t *column, const json_t *node) {
  const json_t *fields = sql_column_of(column);
  SqlMoved moved = sql_moved(node);
  if (fields == NULL || moved.fields == NULL || moved.later + moved.earlier == 0) return;
  if (!sql_is_date_name(sql_last_name(fields)) && !sql_is_date_name(sql_last_name(moved.fields))) return;
  bool one = in_output(pairs->nearest, qualifier_of(fields)),
       other = in_output(pairs->nearest, qualifier_of(moved.fields));
  if (one || !other) sql_move(dates, moved.later, moved.earlier);
  if (other || !one) sql_move(dates, moved.earlier, moved.later);
}

void sql_look_at_comparison(SqlDates *dates, SqlPairs *pairs, const json_t *expression) {
  static const char *const equal[] = {"=", NULL};
  static const char *const below[] = {"<", "<=", NULL}, *const above[] = {">", ">=", NULL};
  static const char *const between[] = {"BETWEEN", NULL};
  const json_t *left = json_object_get(expression, "lexpr"), *right = json_object_get(expression, "rexpr");
  if (is_operator(expression, equal)) {
    look_at_equal(dates, pairs, left, right);
    look_at_equal(dates, pairs, right, left);
  }
  if (is_operator(expression, below)) look_at_sides(dates, pairs, left, right, true);
  if (is_operator(expression, above)) look_at_sides(dates, pairs, left, right, false);
  if (is_operator(expression, between)) {
    const json_t *ends = json_object_get(json_object_get(right, "List"), "items");
    look_at_sides(dates, pairs, left, json_array_get(ends, 0), false);
    look_at_sides(dates, pairs, left, json_array_get(ends, 1), true);
  }
}

/* Tables whose dates are compared without a bound on the other side. */
void sql_settle_pairs(SqlDates *dates, const SqlPairs *pairs) {
  for (size_t i = 0; i < pairs->n; i++) {
    const SqlPair *pair = &pairs->items[i];
    bool bounded = pair->offset;
    for (size_t k = 0; k < pairs->n && !bounded; k++)
      bounded = pairs->items[k].offset &&
                ((strcmp(pairs->items[k].left, pair->left) == 0 && strcmp(pairs->items[k].right, pair->right) == 0) ||
                 (strcmp(pairs->items[k].left, pair->right) == 0 && strcmp(pairs->items[k].right, pair->left) == 0));
    if (bounded) continue;
    bool left = in_output(pairs->output, pair->left), right = in_output(pairs->output, pair->right);
    if (left == right)
      dates->all = true;
    else if (right == pair->right_later)
      dates->cumulative = true; /* the output's date is the later one */
    else
      dates->after = true;
    sql_say(dates, "the dates of two tables are compared, without a bound");
  }
}
