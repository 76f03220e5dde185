#include <stdlib.h>

#include "engine/postgres/compare_int.h"
#include "engine/postgres/postgres_sql.h"

/*
 * The comparison of a batch whose new rows are written already: one join tells of both sides and of what differs. Every
 * row must have been joined once, so the sums hold; a key that several rows have is seen by the counts, and then both
 * sides are read by themselves.
 */

enum { BOTH_PLACE, BOTH_NEW, BOTH_OLD_ROWS, BOTH_OLD_HASH, BOTH_DIFFERENCES, BOTH_WRITTEN, BOTH_THERE };

static const char *const *facts_of(Compare *compare, const PGresult *rows, int i, int column) {
  size_t n;
  return pg_array(compare->arena, pg_peek(rows, i, column), &n);
}

static bool take_date(Compare *compare, const PGresult *rows, int i, Error *err) {
  const char *place = pg_peek(rows, i, BOTH_PLACE);
  long at = place == NULL ? -1 : strtol(place, NULL, 10);
  if (!compare_take_recomputed(compare, place, facts_of(compare, rows, i, BOTH_NEW), err)) return false;
  if (at < 1 || at > (long)compare->job->n) return true;
  compare->dates[at - 1].production =
      shape_fingerprint(pg_int(rows, i, BOTH_OLD_ROWS), pg_peek(rows, i, BOTH_OLD_HASH));
  return compare_take_differences(compare, (size_t)at - 1, facts_of(compare, rows, i, BOTH_DIFFERENCES), err);
}

static bool compare_both(Compare *compare, const char *written, int64_t *rows_written, int64_t there, Error *err) {
  PG_SCOPED rows = NULL;
  int64_t new_rows = 0, old_rows = 0;
  bool count = *rows_written < 0;
  const char *text = pg_compare_both_sql(compare, written, count, there < 0);
  if (!pg_query(compare->engine, text, NULL, 0, &rows, "recomputing", err)) return false;
  int n = PQntuples(rows);
  for (int i = 0; i < n; i++) {
    new_rows += strtoll(facts_of(compare, rows, i, BOTH_NEW)[FACT_ROWS], NULL, 10);
    old_rows += pg_int(rows, i, BOTH_OLD_ROWS);
  }
  if (count) *rows_written = n > 0 ? pg_int(rows, 0, BOTH_WRITTEN) : 0;
  if (there < 0 && n > 0) there = pg_int(rows, 0, BOTH_THERE);
  if (n > 0 && (new_rows != *rows_written || old_rows != there)) return compare_by_sides(compare, err);
  for (int i = 0; i < n; i++)
    if (!take_date(compare, rows, i, err)) return false;
  return compare_find_odd(compare, err);
}

bool compare_written(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, const char *written,
                     int64_t *rows, int64_t there, BatchFacts *ret, Error *err) {
  Compare compare = {.engine = engine, .arena = arena, .job = job, .sql = *sql};
  const char *token;
  if (!engine->base.ops->change_token(&engine->base, arena, &token, err)) return false;
  compare_init(&compare, written);
  compare.differing = pg_compare_joined_sql(&compare, compare.recomputed);
  if (!compare_both(&compare, written, rows, there, err)) return false;
  *ret = compare_facts(&compare, token);
  return true;
}
