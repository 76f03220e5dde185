#include <string.h>

#include "engine/postgres/compare_int.h"
#include "engine/postgres/postgres_sql.h"

static const char looking[] = "looking for examples";

const char *compare_column(Compare *compare, const char *alias, const char *prefix, size_t column) {
  return shape_column(compare->arena, compare->job->shape, column, arena_printf(compare->arena, "%s.", alias), prefix);
}

/* ---- findings
 * ------------------------------------------------------------------------------------------------------------- */

static Finding *finding_of(Compare *compare, FindingKind kind, size_t index) {
  for (size_t i = 0; i < compare->n_findings; i++)
    if (compare->findings[i].kind == kind && compare->findings[i].index == index) return &compare->findings[i];
  compare->findings = arena_grow(compare->arena, compare->findings, compare->n_findings, sizeof *compare->findings);
  Finding *finding = &compare->findings[compare->n_findings++];
  *finding = (Finding){.kind = kind, .index = index};
  return finding;
}

/* A column as text on the new side, else on the old; recomputed rows have one side only. */
static const char *either(Compare *compare, size_t column, bool from_changes) {
  if (!from_changes) return arena_printf(compare->arena, "%s::text", compare_column(compare, "r", "", column));
  const char *old_value = compare_column(compare, "r", "old_", column);
  if (!compare->job->shape->columns[column].given) return arena_printf(compare->arena, "%s::text", old_value);
  return arena_printf(compare->arena, "CASE WHEN r.op = 'D' THEN %s ELSE %s END::text", old_value,
                      compare_column(compare, "r", "new_", column));
}

static const char *key_text(Compare *compare, bool from_changes) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < compare->sql.n_key; i++)
    buf_printf(&out, "%scoalesce(%s, 'NULL')", i == 0 ? "" : " || ', ' || ",
               either(compare, compare->sql.key[i], from_changes));
  return out.len == 0 ? "NULL" : arena_strdup(compare->arena, buf_text(&out));
}

static void add_examples(Compare *compare, Finding *finding, const PGresult *rows, ptrdiff_t column) {
  Arena *arena = compare->arena;
  for (int i = 0; i < PQntuples(rows) && finding->n < compare->job->max_examples; i++) {
    finding->examples = arena_grow(arena, (void *)finding->examples, finding->n, sizeof(Example));
    ((Example *)finding->examples)[finding->n++] =
        (Example){.date = pg_text(arena, rows, i, 0),
                  .key = pg_text(arena, rows, i, 1),
                  .column = column < 0 ? NULL : compare->job->shape->columns[column].name,
                  .old_value = pg_text(arena, rows, i, 2),
                  .new_value = pg_text(arena, rows, i, 3)};
  }
}

static bool read_examples(Compare *compare, const FindingSource *source, Finding *finding, const char *text,
                          Error *err) {
  PG_SCOPED rows = NULL;
  if (!pg_query(compare->engine, text, NULL, 0, &rows, looking, err)) return false;
  add_examples(compare, finding, rows, source->column);
  return true;
}

bool pg_compare_find(Compare *compare, const FindingSource *source, Error *err) {
  Arena *arena = compare->arena;
  const Job *job = compare->job;
  if (job->fingerprint_only && source->kind != FINDING_ROW_CHECK) return true;
  Finding *finding = finding_of(compare, source->kind, source->index);
  finding->count += source->count;
  if (finding->n > 0 || job->max_examples == 0) return true;
  size_t column = (size_t)source->column;
  const char *old_value = "NULL::text", *new_value = "NULL::text";
  if (source->column >= 0 && source->from_changes)
    old_value = arena_printf(arena, "%s::text", compare_column(compare, "r", "old_", column));
  if (source->column >= 0)
    new_value =
        arena_printf(arena, "%s::text", compare_column(compare, "r", source->from_changes ? "new_" : "", column));
  const char *text =
      sql_fill(arena, sql_compare_examples, "date", either(compare, job->shape->date, source->from_changes), "key",
               key_text(compare, source->from_changes), "old", old_value, "new", new_value, "rows", source->rows,
               "where", source->where, "limit", arena_printf(arena, "%zu", job->max_examples), NULL);
  return read_examples(compare, source, finding, text, err);
}

bool compare_find_repeated(Compare *compare, const char *rows, const char *key, const char *where, bool from_changes,
                           Error *err) {
  Arena *arena = compare->arena;
  PG_SCOPED found = NULL;
  size_t most = compare->job->max_examples > 0 ? compare->job->max_examples : 1;
  const char *repeated = sql_fill(arena, sql_compare_repeated, "rows", rows, "key", key, "where", where, "limit",
                                  arena_printf(arena, "%zu", most), NULL);
  const char *text =
      sql_fill(arena, sql_compare_examples, "date", either(compare, compare->job->shape->date, from_changes), "key",
               key_text(compare, from_changes), "old", "NULL::text", "new", "r.tidegate_times", "rows",
               arena_printf(arena, "(%s)", repeated), "where", "true", "limit", arena_printf(arena, "%zu", most), NULL);
  if (!pg_query(compare->engine, text, NULL, 0, &found, "looking for keys that several rows have", err)) return false;
  if (PQntuples(found) == 0) return true;
  Finding *finding = finding_of(compare, FINDING_DUPLICATE_KEY, 0);
  finding->count += pg_int(found, 0, 3);
  for (int i = 0; i < PQntuples(found) && finding->n < compare->job->max_examples; i++) {
    finding->examples = arena_grow(arena, (void *)finding->examples, finding->n, sizeof(Example));
    ((Example *)finding->examples)[finding->n++] =
        (Example){.date = pg_text(arena, found, i, 0), .key = pg_text(arena, found, i, 1)};
  }
  return true;
}

/* ---- what is asked of the recompute's rows
 * -------------------------------------------------------------------------------- */

const RowFact *compare_row_facts(Compare *compare, const char *alias, size_t *ret_n) {
  const Job *job = compare->job;
  const ShapeSql *sql = &compare->sql;
  RowFact *facts = arena_array(compare->arena, sql->n_given + job->n_row_checks, sizeof *facts);
  size_t n = 0;
  for (size_t i = 0; i < sql->n_given && !job->fingerprint_only; i++) {
    const ShapeColumn *column = &job->shape->columns[sql->given[i]];
    bool key = column->key && !job->shape->null_keys;
    if (!key && !column->not_null) continue;
    facts[n++] = (RowFact){
        .kind = key ? FINDING_NULL_KEY : FINDING_NOT_NULL,
        .index = key ? 0 : sql->given[i],
        .column = (ptrdiff_t)sql->given[i],
        .where = arena_printf(compare->arena, "%s IS NULL", compare_column(compare, alias, "", sql->given[i]))};
  }
  for (size_t i = 0; i < job->n_row_checks && !job->fingerprint_only; i++)
    facts[n++] = (RowFact){.kind = FINDING_ROW_CHECK,
                           .index = i,
                           .column = -1,
                           .where = arena_printf(compare->arena, "NOT %s.tidegate_check_%zu", alias, i)};
  *ret_n = n;
  return facts;
}

/* ---- what is asked of the differences
 * ---------------------------------------------------------------------------------------- */

/* "r.old_a AS a, …": a row under its own names, for a person's condition. */
static const char *named_row(Compare *compare, const char *prefix) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  bool is_new = strcmp(prefix, "new_") == 0;
  for (size_t i = 0; i < sql->n_stored; i++) {
    size_t column = sql->stored[i];
    bool given = compare->job->shape->columns[column].given;
    buf_printf(&out, "%s%s AS %s", i == 0 ? "" : ", ",
               is_new && !given ? arena_printf(compare->arena, "NULL::%s", sql->columns[column].type)
                                : compare_column(compare, "r", prefix, column),
               sql->columns[column].name);
  }
  return arena_strdup(compare->arena, buf_text(&out));
}

const char *compare_scope_conditions(Compare *compare) {
  BUF_SCOPED out = {0};
  const Job *job = compare->job;
  for (size_t i = 0; i < job->n_scope; i++) {
    if (job->scope[i].where == NULL) continue;
    const char *row = named_row(compare, job->scope[i].kind == JOB_SCOPE_NEW ? "new_" : "old_");
    buf_printf(&out, ", coalesce((SELECT (%s\n) FROM (SELECT %s) AS q), false) AS tidegate_scope_%zu",
               job->scope[i].where, row, i);
  }
  return out.len == 0 ? "" : arena_strdup(compare->arena, buf_text(&out));
}

/* "NOT (…)" of what allows a change of this kind; NULL: always allowed. */
static const char *not_allowed(Compare *compare, int kind, size_t column) {
  BUF_SCOPED out = {0};
  const Job *job = compare->job;
  for (size_t i = 0; i < job->n_scope; i++) {
    const JobScope *scope = &job->scope[i];
    bool matches = (int)scope->kind == kind && (kind != JOB_SCOPE_COLUMN || scope->column == column);
    matches |= kind == JOB_SCOPE_COLUMN && scope->kind == JOB_SCOPE_ANY;
    if (!matches) continue;
    if (scope->where == NULL) return NULL;
    buf_printf(&out, " AND NOT r.tidegate_scope_%zu", i);
  }
  return arena_strdup(compare->arena, buf_text(&out));
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

size_t compare_change_count_at(const Compare *compare, size_t column) {
  size_t at = 0;
  while (compare->sql.given[at] != column) at++;
  return DIFF_MORE + at;
}

const RowFact *compare_scope_facts(Compare *compare, size_t *ret_n) {
  const Job *job = compare->job;
  const ShapeSql *sql = &compare->sql;
  Arena *arena = compare->arena;
  RowFact *facts = arena_array(arena, sql->n_given + 3, sizeof *facts);
  size_t n = 0, date = job->shape->date;
  const char *old_date = compare_column(compare, "r", "old_", date);
  if (!job->shape->columns[date].key) /* else no key moves */
    facts[n++] = (RowFact){.kind = FINDING_KEY_OUTSIDE,
                           .column = (ptrdiff_t)date,
                           .of_moves = true,
                           .where = arena_printf(arena, "r.op = 'M' AND NOT coalesce(%s, false)",
                                                 shape_within(arena, sql, old_date, job->range))};
  const char *vanished = not_allowed(compare, JOB_SCOPE_VANISHED, 0), *arrived = not_allowed(compare, JOB_SCOPE_NEW, 0);
  if (vanished != NULL && !may_have_moved(compare))
    facts[n++] = (RowFact){.kind = FINDING_VANISHED,
                           .counted_by = vanished[0] == '\0' ? DIFF_D + 1 : 0,
                           .column = -1,
                           .where = arena_printf(arena, "r.op = 'D'%s", vanished)};
  if (job->n_scope > 0 && arrived != NULL)
    facts[n++] = (RowFact){.kind = FINDING_NEW_ROW,
                           .counted_by = arrived[0] == '\0' ? DIFF_I + 1 : 0,
                           .column = -1,
                           .where = arena_printf(arena, "r.op = 'I'%s", arrived)};
  for (size_t i = 0; i < sql->n_given && job->n_scope > 0; i++) {
    const char *refused = not_allowed(compare, JOB_SCOPE_COLUMN, sql->given[i]);
    if (refused == NULL) continue;
    const char *differs = shape_differs(arena, sql, sql->given[i], compare_column(compare, "r", "new_", sql->given[i]),
                                        compare_column(compare, "r", "old_", sql->given[i]));
    facts[n++] = (RowFact){.kind = FINDING_OUT_OF_SCOPE,
                           .counted_by = refused[0] == '\0' ? compare_change_count_at(compare, sql->given[i]) + 1 : 0,
                           .index = sql->given[i],
                           .column = (ptrdiff_t)sql->given[i],
                           .where = arena_printf(arena, "r.op IN ('U', 'M') AND %s%s", differs, refused)};
  }
  *ret_n = n;
  return facts;
}
