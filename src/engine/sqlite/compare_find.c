#include <string.h>

#include "engine/sqlite/compare_int.h"
#include "engine/sqlite/sqlite_sql.h"

static const Value *given_value(const Compare *compare, const Value *new_row, size_t column) {
  for (size_t i = 0; i < compare->sql.n_given; i++)
    if (compare->sql.given[i] == column) return &new_row[i];
  return NULL;
}

static const Value *stored_value(const Compare *compare, const Value *old_row, size_t column) {
  for (size_t i = 0; i < compare->sql.n_stored; i++)
    if (compare->sql.stored[i] == column) return &old_row[i];
  return NULL;
}

/* The value of a column on the new side, else on the old. */
static const char *either_text(Compare *compare, const Value *old_row, const Value *new_row, size_t column) {
  const Value *value = new_row != NULL ? given_value(compare, new_row, column) : NULL;
  if (value == NULL && old_row != NULL) value = stored_value(compare, old_row, column);
  return value == NULL ? NULL : value_text(compare->arena, value);
}

static const char *key_text(Compare *compare, const Value *old_row, const Value *new_row) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < compare->sql.n_key; i++) {
    const char *text = either_text(compare, old_row, new_row, compare->sql.key[i]);
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ", text == NULL ? "NULL" : text);
  }
  return arena_strdup(compare->arena, buf_text(&out));
}

static Finding *finding_of(Compare *compare, FindingKind kind, size_t index) {
  for (size_t i = 0; i < compare->n_findings; i++)
    if (compare->findings[i].kind == kind && compare->findings[i].index == index) return &compare->findings[i];
  compare->findings = arena_grow(compare->arena, compare->findings, compare->n_findings, sizeof *compare->findings);
  Finding *finding = &compare->findings[compare->n_findings++];
  *finding = (Finding){.kind = kind, .index = index};
  finding->examples = arena_array(compare->arena, compare->job->max_examples, sizeof *finding->examples);
  return finding;
}

void compare_find(Compare *compare, FindingKind kind, size_t index, const Value *old_row, const Value *new_row,
                  ptrdiff_t column) {
  if (compare->job->fingerprint_only) return;
  Finding *finding = finding_of(compare, kind, index);
  finding->count++;
  if (finding->n >= compare->job->max_examples) return;
  const Value *old_value = old_row != NULL && column >= 0 ? stored_value(compare, old_row, (size_t)column) : NULL;
  const Value *new_value = new_row != NULL && column >= 0 ? given_value(compare, new_row, (size_t)column) : NULL;
  Example example = {
      .date = either_text(compare, old_row, new_row, compare->job->shape->date),
      .key = compare->job->shape->keyed ? key_text(compare, old_row, new_row) : NULL,
      .column = column >= 0 ? compare->job->shape->columns[column].name : NULL,
      .old_value = old_value != NULL ? value_text(compare->arena, old_value) : NULL,
      .new_value = new_value != NULL ? value_text(compare->arena, new_value) : NULL,
  };
  ((Example *)finding->examples)[finding->n++] = example;
}

bool compare_scope_prepare(Compare *compare, Error *err) {
  const Job *job = compare->job;
  BUF_SCOPED conditions = {0}, row = {0};
  bool any = false;
  for (size_t i = 0; i < job->n_scope; i++) {
    buf_printf(&conditions, "%s(%s)", i == 0 ? "" : ", ", job->scope[i].where == NULL ? "1" : job->scope[i].where);
    any |= job->scope[i].where != NULL;
  }
  if (!any || job->fingerprint_only) return true;
  for (size_t i = 0; i < compare->sql.n_stored; i++)
    buf_printf(&row, "%s?%zu AS %s", i == 0 ? "" : ", ", i + 1,
               sql_ident(compare->arena, job->shape->columns[compare->sql.stored[i]].name));
  const char *text =
      sql_fill(compare->arena, sql_compare_scope, "conditions", buf_text(&conditions), "row", buf_text(&row), NULL);
  return sql_prepare(compare->engine, text, &compare->scope, "reading the conditions of `changes`", err);
}

static void bind_scope_row(Compare *compare, const Value *old_row, const Value *new_row) {
  sqlite3_reset(compare->scope.handle);
  sqlite3_clear_bindings(compare->scope.handle);
  if (old_row != NULL) {
    for (size_t i = 0; i < compare->sql.n_stored; i++) value_bind(compare->scope.handle, (int)i + 1, &old_row[i]);
    return;
  }
  for (size_t i = 0; i < compare->sql.n_given; i++)
    value_bind(compare->scope.handle, (int)compare->stored_of_given[i] + 1, &new_row[i]);
}

static bool scope_allows(const Compare *compare, int kind, size_t column) {
  for (size_t i = 0; i < compare->job->n_scope; i++) {
    const JobScope *scope = &compare->job->scope[i];
    bool matches = (int)scope->kind == kind && (kind != JOB_SCOPE_COLUMN || scope->column == column);
    matches |= kind == JOB_SCOPE_COLUMN && scope->kind == JOB_SCOPE_ANY;
    if (matches && (scope->where == NULL || sqlite3_column_int(compare->scope.handle, (int)i) != 0)) return true;
  }
  return false;
}

/* May a key that is missing here have moved to a date of another batch? Then only the seal can tell
 * (EngineOps.vanished). */
static bool may_have_moved(const Compare *compare) {
  const Job *job = compare->job;
  if (job->shape->columns[job->shape->date].key) return false;
  if (job->dates[0] <= job->range.from && job->dates[job->n] >= job->range.to) return false;
  bool allowed = job->n_scope == 0;
  for (size_t i = 0; i < job->n_scope; i++)
    allowed |= job->scope[i].kind == JOB_SCOPE_ANY ||
               (job->scope[i].kind == JOB_SCOPE_COLUMN && job->scope[i].column == job->shape->date);
  return allowed;
}

bool compare_scope_judge(Compare *compare, char op, const Value *old_row, const Value *new_row, const bool *changed,
                         Error *err) {
  const Job *job = compare->job;
  if (job->fingerprint_only || !job->shape->keyed || (op == 'D' && may_have_moved(compare))) return true;
  if (job->n_scope == 0) {
    if (op == 'D') compare_find(compare, FINDING_VANISHED, 0, old_row, NULL, -1);
    return true;
  }
  if (compare->scope.handle != NULL) {
    bool row;
    bind_scope_row(compare, old_row, new_row);
    if (!sql_step(compare->engine, &compare->scope, &row, "judging a row against `changes`", err)) return false;
  }
  if (op == 'D' && !scope_allows(compare, JOB_SCOPE_VANISHED, 0))
    compare_find(compare, FINDING_VANISHED, 0, old_row, NULL, -1);
  if (op == 'I' && !scope_allows(compare, JOB_SCOPE_NEW, 0))
    compare_find(compare, FINDING_NEW_ROW, 0, NULL, new_row, -1);
  for (size_t i = 0; (op == 'U' || op == 'M') && i < compare->sql.n_given; i++) {
    size_t column = compare->sql.given[i];
    if (changed[i] && !scope_allows(compare, JOB_SCOPE_COLUMN, column))
      compare_find(compare, FINDING_OUT_OF_SCOPE, column, old_row, new_row, (ptrdiff_t)column);
  }
  return true;
}

bool compare_new_row(Compare *compare, sqlite3_stmt *stmt, size_t first_check, size_t *ret_date) {
  const Job *job = compare->job;
  const Value *row = compare->new_row;
  const Value *date_value = given_value(compare, row, job->shape->date);
  if (date_value->type == SQLITE_NULL && job->shape->null_dates) return false;
  if (!compare_date_of(compare, date_value, ret_date)) {
    compare_find(compare, FINDING_NULL_DATE, 0, NULL, row, (ptrdiff_t)job->shape->date);
    return false;
  }
  if (*ret_date == job->n) {
    compare_find(compare, FINDING_OUT_OF_DATES, 0, NULL, row, (ptrdiff_t)job->shape->date);
    return false;
  }
  if (job->fingerprint_only) return true;
  for (size_t i = 0; i < compare->sql.n_given; i++) {
    const ShapeColumn *column = &job->shape->columns[compare->sql.given[i]];
    if (row[i].type != SQLITE_NULL) continue;
    if (column->key && !job->shape->null_keys)
      compare_find(compare, FINDING_NULL_KEY, 0, NULL, row, (ptrdiff_t)compare->sql.given[i]);
    else if (column->not_null)
      compare_find(compare, FINDING_NOT_NULL, compare->sql.given[i], NULL, row, (ptrdiff_t)compare->sql.given[i]);
  }
  for (size_t i = 0; i < job->n_row_checks; i++) {
    int at = (int)(first_check + i);
    if (sqlite3_column_type(stmt, at) != SQLITE_NULL && sqlite3_column_double(stmt, at) == 0)
      compare_find(compare, FINDING_ROW_CHECK, i, NULL, row, -1);
  }
  return true;
}
