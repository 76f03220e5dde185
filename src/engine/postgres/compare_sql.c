#include <string.h>

#include "engine/postgres/compare_int.h"
#include "engine/postgres/postgres_sql.h"

/* The statements of a comparison, put together from compare.sql. */

/* Both sides have the key. */
#define COMPARE_MATCHED "s.tidegate_here AND p.tidegate_tid IS NOT NULL"

/* `rows`: the recompute's, or the same as they were written. */
const char *pg_compare_recomputed_sql(Compare *compare, const char *rows) {
  BUF_SCOPED checks = {0};
  const Job *job = compare->job;
  for (size_t i = 0; i < job->n_row_checks && !job->fingerprint_only; i++)
    buf_printf(&checks, ", (%s\n) AS tidegate_check_%zu", job->row_checks[i], i);
  const char *place = shape_date_place(compare->arena, &compare->sql,
                                       arena_printf(compare->arena, "q.%s", compare->sql.date), job->dates, job->n);
  return sql_fill(compare->arena, sql_compare_recomputed, "checks", buf_text(&checks), "place", place, "recompute",
                  rows, NULL);
}

const char *pg_compare_production_sql(Compare *compare) {
  const ShapeSql *sql = &compare->sql;
  const Job *job = compare->job;
  return sql_fill(compare->arena, sql_compare_production, "place",
                  shape_date_place(compare->arena, sql, sql->date, job->dates, job->n), "stored",
                  pg_shape_list(compare->arena, sql->shape, sql->stored, sql->n_stored, "", ""), "target", sql->table,
                  "in_range", shape_in_range(compare->arena, sql, "", (DateRange){job->dates[0], job->dates[job->n]}),
                  NULL);
}

/* Equality that a full join can be made by: arrays of one element call two NULLs equal. */
static const char *join_match(Compare *compare) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < sql->n_key; i++) {
    const char *s = compare_column(compare, "s", "", sql->key[i]), *p = compare_column(compare, "p", "", sql->key[i]);
    bool strict = sql->shape->columns[sql->key[i]].not_null;
    buf_printf(&out, strict ? "%s%s = %s" : "%sARRAY[%s] = ARRAY[%s]", i == 0 ? "" : " AND ", s, p);
  }
  return arena_strdup(compare->arena, buf_text(&out));
}

static const char *differs_sql(Compare *compare) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < sql->n_given; i++)
    if (!sql->shape->columns[sql->given[i]].key)
      buf_printf(&out, " OR %s",
                 shape_differs(compare->arena, sql, sql->given[i], compare_column(compare, "s", "", sql->given[i]),
                               compare_column(compare, "p", "", sql->given[i])));
  return arena_strdup(compare->arena, buf_text(&out));
}

/* A value within its tolerance becomes production's own, because that is what stays. */
static const char *new_values(Compare *compare) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < sql->n_given; i++) {
    size_t column = sql->given[i];
    const char *s = compare_column(compare, "s", "", column), *p = compare_column(compare, "p", "", column);
    const char *name = shape_column(compare->arena, sql->shape, column, "", "new_");
    if (sql->shape->columns[column].tolerance > 0)
      buf_printf(&out, "%sCASE WHEN p.tidegate_tid IS NULL OR s.tidegate_here IS NULL OR %s THEN %s ELSE %s END AS %s",
                 i == 0 ? "" : ", ", shape_differs(compare->arena, sql, column, s, p), s, p, name);
    else
      buf_printf(&out, "%s%s AS %s", i == 0 ? "" : ", ", s, name);
  }
  return arena_strdup(compare->arena, buf_text(&out));
}

static const char *old_values(Compare *compare) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < sql->n_stored; i++)
    buf_printf(&out, "%s%s AS %s", i == 0 ? "" : ", ", compare_column(compare, "p", "", sql->stored[i]),
               shape_column(compare->arena, sql->shape, sql->stored[i], "", "old_"));
  return arena_strdup(compare->arena, buf_text(&out));
}

/* The given columns without those that have a tolerance. */
static const size_t *exact_columns(Compare *compare, size_t *ret_n) {
  size_t *list = arena_array(compare->arena, compare->sql.n_given, sizeof *list), n = 0;
  for (size_t i = 0; i < compare->sql.n_given; i++)
    if (compare->job->shape->columns[compare->sql.given[i]].tolerance <= 0) list[n++] = compare->sql.given[i];
  *ret_n = n;
  return list;
}

const char *compare_given_hash(Compare *compare, const char *before, const char *prefix) {
  return shape_hash(compare->arena, &compare->sql, compare->sql.given, compare->sql.n_given, before, prefix);
}

/* The facts of the recompute's rows, alias s; `both`: in a join with production's rows, where s may be missing. */
static const char *recomputed_facts(Compare *compare, bool both) {
  BUF_SCOPED out = {0};
  size_t n, n_exact;
  const RowFact *facts = compare_row_facts(compare, "s", &n);
  const size_t *exact = exact_columns(compare, &n_exact);
  const char *of = both ? " FILTER (WHERE s.tidegate_here)" : "", *and = both ? "s.tidegate_here AND " : "";
  buf_printf(&out, "ARRAY[count(%s)::numeric, coalesce(sum(%s)%s, 0), ", both ? "s.tidegate_here" : "*",
             compare_given_hash(compare, "s.", ""), of);
  if (compare->tolerant)
    buf_printf(&out, "coalesce(sum(%s)%s, 0)", shape_hash(compare->arena, &compare->sql, exact, n_exact, "s.", ""), of);
  else
    buf_puts(&out, "NULL");
  for (size_t i = 0; i < n; i++)
    if (both && facts[i].column >= 0 && compare->job->shape->columns[facts[i].column].not_null)
      buf_puts(&out, ", 0"); /* the table that they were written to refuses it */
    else
      buf_printf(&out, ", count(*) FILTER (WHERE %s(%s))", and, facts[i].where);
  buf_puts(&out, "]");
  return arena_strdup(compare->arena, buf_text(&out));
}

const char *compare_recomputed_facts(Compare *compare) { return recomputed_facts(compare, false); }

/* Is a column never NULL, and compared by its own equality? That is cheaper to ask than IS DISTINCT FROM. */
static bool is_strict(const Compare *compare, size_t column) {
  return compare->job->shape->columns[column].not_null && !compare->sql.columns[column].as_text && !compare->tolerant;
}

/* A column's value is another one in the rows s and p. Of a strict column it is NULL where one of them is missing. */
static const char *pair_differs(Compare *compare, size_t column) {
  const char *s = compare_column(compare, "s", "", column), *p = compare_column(compare, "p", "", column);
  if (is_strict(compare, column))
    return arena_printf(compare->arena, "NOT (%s%s = %s)", s, compare->sql.columns[column].collate, p);
  return shape_differs(compare->arena, &compare->sql, column, s, p);
}

/* Some column's. */
static const char *pairs_differ(Compare *compare) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  for (size_t i = 0; i < sql->n_given; i++)
    if (!sql->shape->columns[sql->given[i]].key) buf_printf(&out, " OR %s", pair_differs(compare, sql->given[i]));
  return arena_strdup(compare->arena, buf_text(&out));
}

/* A column's value is another one in the two rows of a key. `both`: they are s and p, of which one may be missing. */
static const char *column_changes(Compare *compare, size_t column, bool both) {
  Arena *arena = compare->arena;
  if (both && is_strict(compare, column)) return pair_differs(compare, column);
  if (both) return arena_printf(arena, "%s AND %s", COMPARE_MATCHED, pair_differs(compare, column));
  return arena_printf(arena, "r.op IN ('U', 'M') AND %s",
                      shape_differs(arena, &compare->sql, column, compare_column(compare, "r", "new_", column),
                                    compare_column(compare, "r", "old_", column)));
}

/* The facts of the differences: rows r of the change set's form, or with `both` the two sides that r was made of. */
static const char *differences_facts(Compare *compare, bool both) {
  BUF_SCOPED out = {0};
  const ShapeSql *sql = &compare->sql;
  size_t n;
  const RowFact *facts = compare_scope_facts(compare, &n);
  if (both)
    buf_printf(&out,
               "ARRAY[count(*) FILTER (WHERE p.tidegate_tid IS NULL)::numeric, count(*) FILTER (WHERE %s AND "
               "(false%s)), count(*) FILTER (WHERE s.tidegate_here IS NULL), 0, ",
               COMPARE_MATCHED, pairs_differ(compare));
  else
    buf_puts(&out,
             "ARRAY[count(*) FILTER (WHERE r.op = 'I')::numeric, count(*) FILTER (WHERE r.op = 'U'), "
             "count(*) FILTER (WHERE r.op = 'D'), count(*) FILTER (WHERE r.op = 'M'), ");
  if (compare->table == NULL)
    buf_puts(&out, "0, 0");
  else
    buf_printf(
        &out, "coalesce(sum(%s) FILTER (WHERE r.op IN ('U', 'D')), 0), coalesce(sum(%s) FILTER (WHERE r.op <> 'D'), 0)",
        compare_given_hash(compare, "r.", "old_"), compare_given_hash(compare, "r.", "new_"));
  for (size_t i = 0; i < sql->n_given; i++)
    if (compare->job->shape->columns[sql->given[i]].key)
      buf_puts(&out, ", 0"); /* by it the two were found to be one row */
    else
      buf_printf(&out, ", count(*) FILTER (WHERE %s)", column_changes(compare, sql->given[i], both));
  for (size_t i = 0; i < n; i++)
    if (facts[i].counted_by > 0 || (both && facts[i].of_moves))
      buf_puts(&out, ", 0");
    else
      buf_printf(&out, ", count(*) FILTER (WHERE %s)", facts[i].where);
  buf_puts(&out, "]");
  return arena_strdup(compare->arena, buf_text(&out));
}

const char *pg_compare_differences_sql(Compare *compare, const char *rows) {
  return sql_fill(compare->arena, sql_compare_differences, "place",
                  shape_instant_place(compare->arena, "r.date", compare->job->dates, compare->job->n), "facts",
                  differences_facts(compare, false), "conditions", compare_scope_conditions(compare), "rows", rows,
                  NULL);
}

/* The joined rows as changes, where a fact of the differences is asked of these; no key moves in them. */
static const char *both_changes(Compare *compare) {
  size_t n;
  const RowFact *facts = compare_scope_facts(compare, &n);
  for (size_t i = 0; i < n; i++)
    if (facts[i].counted_by == 0 && !facts[i].of_moves)
      return sql_fill(compare->arena, sql_compare_both_changes, "conditions", compare_scope_conditions(compare), "old",
                      old_values(compare), "new", new_values(compare), "differs", differs_sql(compare), NULL);
  return "";
}

const char *pg_compare_both_sql(Compare *compare, const char *written, bool count, bool count_there) {
  const ShapeSql *sql = &compare->sql;
  Arena *arena = compare->arena;
  const Job *job = compare->job;
  const char *in_range = shape_in_range(arena, sql, "", (DateRange){job->dates[0], job->dates[job->n]});
  return sql_fill(
      arena, sql_compare_both, "recomputed_facts", recomputed_facts(compare, true), "hash",
      compare_given_hash(compare, "p.", ""), "differences", differences_facts(compare, true), "written",
      count ? sql_fill(arena, sql_compare_count, "rows", written, NULL) : "NULL", "there",
      count_there ? sql_fill(arena, sql_compare_there, "target", sql->table, "in_range", in_range, NULL) : "NULL",
      "recomputed", compare->recomputed, "production", compare->production, "match", join_match(compare), "changes",
      both_changes(compare), NULL);
}

const char *compare_changes_of(Compare *compare) {
  const Job *job = compare->job;
  if (compare->differing != NULL) return compare->differing;
  return sql_fill(compare->arena, sql_compare_changes_of, "changes", compare->table, "first",
                  shape_number(compare->arena, job->dates[0]), "last", shape_number(compare->arena, job->dates[job->n]),
                  NULL);
}

/* The differences between the new rows, a statement, and production's. */
const char *pg_compare_joined_sql(Compare *compare, const char *new_rows) {
  const Job *job = compare->job;
  const char *place = "coalesce(s.tidegate_place, p.tidegate_place)";
  const char *moves = job->shape->columns[job->shape->date].key ? "" : sql_compare_moves;
  return sql_fill(compare->arena, sql_compare_joined, "new_rows", new_rows, "moves", moves, "instant",
                  shape_place_instant(compare->arena, place, job->dates, job->n), "old", old_values(compare), "new",
                  new_values(compare), "n", arena_printf(compare->arena, "%zu", job->n), "production",
                  compare->production, "match", join_match(compare), "differs", differs_sql(compare), NULL);
}

const char *pg_compare_batch_sql(Compare *compare) {
  return sql_fill(compare->arena, sql_compare_batch, "recomputed", compare->recomputed, "joined",
                  pg_compare_joined_sql(compare, sql_compare_all_of_s), "changes", compare->table, "recomputed_facts",
                  compare_recomputed_facts(compare), "differences", pg_compare_differences_sql(compare, "d"), NULL);
}
