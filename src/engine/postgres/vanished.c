#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

/* Keys of production that the recompute no longer gives: judged over the whole range, because a key may only have moved
 * between batches. */

/* The conditions under which `changes` lets rows vanish. */
static const char *allowed(Arena *arena, const Job *job) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < job->n_scope; i++) {
    if (job->scope[i].kind != JOB_SCOPE_VANISHED) continue;
    buf_printf(&out, "%s(%s\n)", out.len == 0 ? "" : " OR ",
               job->scope[i].where == NULL ? "true" : job->scope[i].where);
  }
  return out.len == 0 ? "false" : arena_strdup(arena, buf_text(&out));
}

/* c."old_a" AS "a" for every stored column. */
static const char *old_row(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_stored; i++)
    buf_printf(&out, "%s%s AS %s", i == 0 ? "" : ", ",
               pg_shape_list(arena, sql->shape, &sql->stored[i], 1, "c.", "old_"), sql->columns[sql->stored[i]].name);
  return arena_strdup(arena, buf_text(&out));
}

/* The date column, then the key, as texts. */
static const char *texts(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  buf_printf(&out, "r.%s::text", sql->date);
  for (size_t i = 0; i < sql->n_key; i++) buf_printf(&out, ", r.%s::text", sql->columns[sql->key[i]].name);
  return arena_strdup(arena, buf_text(&out));
}

static Example example(Arena *arena, const ShapeSql *sql, const PGresult *rows, int row) {
  BUF_SCOPED key = {0};
  for (size_t i = 0; i < sql->n_key; i++) {
    const char *text = pg_peek(rows, row, (int)i + 2);
    buf_printf(&key, "%s%s", i == 0 ? "" : ", ", text == NULL ? "NULL" : text);
  }
  return (Example){.date = pg_text(arena, rows, row, 1), .key = arena_strdup(arena, buf_text(&key))};
}

bool pg_vanished(Engine *base, Arena *arena, const Job *job, Finding *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED rows = NULL;
  ShapeSql sql;
  if (!pg_shape_sql(engine, arena, job->shape, &sql, err)) return false;
  const char *text =
      sql_fill(arena, sql_vanished_rows, "texts", texts(arena, &sql), "old", old_row(arena, &sql), "changes",
               pg_object(engine, arena, job->id, "changes"), "allowed", allowed(arena, job), NULL);
  const char *limit = arena_printf(arena, "%zu", job->max_examples > 0 ? job->max_examples : 1);
  if (!pg_query(engine, text, &limit, 1, &rows, "looking for keys that vanish", err)) return false;
  int n = PQntuples(rows);
  Example *examples = arena_array(arena, (size_t)n, sizeof *examples);
  for (int i = 0; i < n; i++) examples[i] = example(arena, &sql, rows, i);
  *ret = (Finding){.kind = FINDING_VANISHED,
                   .count = n > 0 ? pg_int(rows, 0, 0) : 0,
                   .examples = examples,
                   .n = job->max_examples > 0 ? (size_t)n : 0};
  return true;
}
