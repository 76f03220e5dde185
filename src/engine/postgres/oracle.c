#include <string.h>

#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

/* A second way to get the values of some changed rows. */

enum {
  ORACLE_EXAMPLES = 20,
  ORACLE_CHUNK = 20 /* rows asked for in one statement, which has a time limit */
};

static const char doing[] = "asking the oracle";

typedef struct Oracle {
  PgEngine *engine;
  Arena *arena;
  ShapeSql sql;
  const char *changes, *ask;
  const size_t *columns; /* that it answers, by their index in the shape */
  size_t n;
  Finding finding;
} Oracle;

/* The oracle's SQL with its :key parameters replaced: by what stands in the change set, or by NULLs of their types. */
static const char *with_key(const Oracle *oracle, const char *text, bool values) {
  const ShapeSql *sql = &oracle->sql;
  const char **pairs = arena_array(oracle->arena, 2 * sql->n_key, sizeof *pairs);
  for (size_t i = 0; i < sql->n_key; i++) {
    pairs[2 * i] = arena_printf(oracle->arena, ":%s", sql->shape->columns[sql->key[i]].name);
    pairs[2 * i + 1] = values ? pg_shape_list(oracle->arena, sql->shape, &sql->key[i], 1, "tidegate_n.", "new_")
                              : arena_printf(oracle->arena, "(NULL::%s)", sql->columns[sql->key[i]].type);
  }
  return pg_replace(oracle->arena, text, pairs, sql->n_key);
}

static const char *parameters(const Oracle *oracle) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < oracle->sql.n_key; i++)
    buf_printf(&out, "%s:%s", i == 0 ? "" : ", ", oracle->sql.shape->columns[oracle->sql.key[i]].name);
  return arena_strdup(oracle->arena, buf_text(&out));
}

/* Which of the columns that are written does it give? */
static bool answered(Oracle *oracle, const char *text, Error *err) {
  PG_SCOPED described = NULL;
  const ShapeSql *sql = &oracle->sql;
  int offset;
  if (!pg_describe(oracle->engine, with_key(oracle, text, false), &described, &offset, doing, err))
    return err->code != ERR_SPEC ? false
                                 : error_hint(err, "its parameters are the key's columns: %s", parameters(oracle));
  size_t *columns = arena_array(oracle->arena, sql->n_given, sizeof *columns);
  for (size_t i = 0; i < sql->n_given; i++)
    for (int c = 0; c < PQnfields(described); c++)
      if (strcmp(PQfname(described, c), sql->shape->columns[sql->given[i]].name) == 0) {
        columns[oracle->n++] = sql->given[i];
        break;
      }
  oracle->columns = columns;
  if (oracle->n > 0) return true;
  error_set(err, ERR_SPEC, "the oracle gives none of the columns that are written: nothing can be compared");
  return error_hint(err, "name its columns as %s does: SELECT … AS COLUMN", sql->shape->table);
}

/* For each column: do the two differ, ours, theirs. */
static const char *answers(Oracle *oracle) {
  const ShapeSql *sql = &oracle->sql;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < oracle->n; i++) {
    const PgColumn *column = &sql->columns[oracle->columns[i]];
    const char *ours = pg_shape_list(oracle->arena, sql->shape, &oracle->columns[i], 1, "tidegate_n.", "new_");
    const char *theirs = arena_printf(oracle->arena, "CAST(tidegate_o.%s AS %s)", column->name, column->cast);
    buf_printf(&out, "%s%s, (%s)::text, (%s)::text", i == 0 ? "" : ", ",
               shape_differs(oracle->arena, sql, oracle->columns[i], ours, theirs), ours, theirs);
  }
  return arena_strdup(oracle->arena, buf_text(&out));
}

static const char *ask_sql(Oracle *oracle, const char *text) {
  const ShapeSql *sql = &oracle->sql;
  BUF_SCOPED key = {0};
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&key, "%scoalesce(%s::text, 'NULL')", i == 0 ? "" : " || ', ' || ",
               pg_shape_list(oracle->arena, sql->shape, &sql->key[i], 1, "tidegate_n.", "new_"));
  const char *date = pg_shape_list(oracle->arena, sql->shape, &sql->shape->date, 1, "tidegate_n.", "new_");
  return sql_fill(oracle->arena, sql_proof_ask, "date", arena_printf(oracle->arena, "%s::text", date), "key",
                  key.len == 0 ? "NULL" : buf_text(&key), "answers", answers(oracle), "changes", oracle->changes,
                  "oracle", with_key(oracle, text, true), NULL);
}

static void disagrees(Oracle *oracle, const PGresult *rows, int row, size_t i) {
  Finding *finding = &oracle->finding;
  if (finding->count++ >= ORACLE_EXAMPLES) return;
  int at = 2 + 3 * (int)i;
  finding->examples = arena_grow(oracle->arena, (void *)finding->examples, finding->n, sizeof(Example));
  ((Example *)finding->examples)[finding->n++] =
      (Example){.date = pg_text(oracle->arena, rows, row, 0),
                .key = pg_text(oracle->arena, rows, row, 1),
                .column = oracle->sql.shape->columns[oracle->columns[i]].name,
                .old_value = pg_text(oracle->arena, rows, row, at + 1),
                .new_value = pg_text(oracle->arena, rows, row, at + 2)};
}

/* Asks for the rows of the sample from `from` on, some at a time. */
static bool ask_some(Oracle *oracle, const PGresult *sample, int from, Error *err) {
  BUF_SCOPED changes = {0};
  PG_SCOPED rows = NULL;
  for (int i = from; i < PQntuples(sample) && i < from + ORACLE_CHUNK; i++)
    buf_printf(&changes, "%s\"%s\"", i == from ? "{" : ",", pg_peek(sample, i, 0));
  buf_putc(&changes, '}');
  const char *list = buf_text(&changes);
  if (!pg_query(oracle->engine, oracle->ask, &list, 1, &rows, doing, err)) return false;
  for (int row = 0; row < PQntuples(rows); row++)
    for (size_t i = 0; i < oracle->n; i++)
      if (pg_bool(rows, row, 2 + 3 * (int)i)) disagrees(oracle, rows, row, i);
  return true;
}

/* What stands for the change set where production was written in place. */
static const char *written_in_place(Oracle *oracle, const char *id, DateRange range) {
  Arena *arena = oracle->arena;
  const ShapeSql *sql = &oracle->sql;
  BUF_SCOPED columns = {0};
  for (size_t i = 0; i < sql->n_stored; i++)
    buf_printf(&columns, "%s%s AS %s", i == 0 ? "" : ", ", shape_column(arena, sql->shape, sql->stored[i], "p.", ""),
               shape_column(arena, sql->shape, sql->stored[i], "", "new_"));
  return sql_fill(arena, sql_proof_in_place, "date", shape_column(arena, sql->shape, sql->shape->date, "p.", ""),
                  "columns", buf_text(&columns), "target", sql->table, "range", shape_in_range(arena, sql, "p.", range),
                  "hash", shape_hash(arena, sql, sql->stored, sql->n_stored, "p.", ""), "kept",
                  shape_hash(arena, sql, sql->stored, sql->n_stored, "s.", ""), "snapshot",
                  pg_object(oracle->engine, arena, id, "snapshot"), "kept_range",
                  shape_in_range(arena, sql, "s.", range), NULL);
}

bool pg_ask_oracle(Engine *base, Arena *arena, const Shape *shape, const char *id, const DateRange *in_place,
                   const char *sql, size_t n, int64_t *ret_asked, Finding *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  Oracle oracle = {.engine = engine,
                   .arena = arena,
                   .changes = pg_object(engine, arena, id, "changes"),
                   .finding = {.kind = FINDING_ROW_CHECK}};
  PG_SCOPED sample = NULL;
  if (!pg_shape_sql(engine, arena, shape, &oracle.sql, err) || !answered(&oracle, sql, err)) return false;
  const ShapeSql *facts = &oracle.sql;
  if (in_place != NULL) oracle.changes = written_in_place(&oracle, id, *in_place);
  const char *hash = shape->keyed ? shape_hash(arena, facts, facts->key, facts->n_key, "c.", "new_")
                                  : shape_hash(arena, facts, facts->given, facts->n_given, "c.", "new_");
  const char *draw = sql_fill(arena, sql_proof_sample, "hash", hash, "changes", oracle.changes, NULL);
  const char *const values[] = {arena_printf(arena, "%zu", n < INT32_MAX ? n : (size_t)INT32_MAX), id};
  if (!pg_query(engine, draw, values, 2, &sample, "drawing the sample", err)) return false;
  oracle.ask = ask_sql(&oracle, sql);
  for (int from = 0; from < PQntuples(sample); from += ORACLE_CHUNK)
    if (!ask_some(&oracle, sample, from, err)) return false;
  *ret = oracle.finding;
  *ret_asked = PQntuples(sample);
  return true;
}
