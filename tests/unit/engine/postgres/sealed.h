#ifndef TIDEGATE_TESTS_ENGINE_POSTGRES_SEALED_H
#define TIDEGATE_TESTS_ENGINE_POSTGRES_SEALED_H

#include "engine/postgres/work.h"
#include "server.h"

/* A target, what it should be (table want), and the change set between the two. */

enum { DATES = 10 };

typedef struct Case {
  Fixture *f;
  Shape shape;
  Instant dates[DATES + 1]; /* from 2024-01-01 */
  EngineWriter writer;
  bool *columns;
  ChangeCounts counts;
} Case;

/* Stands in for the driver's: nothing here asks what it says. */
static inline bool no_token(Engine *engine, Arena *arena, const char **ret, Error *err) {
  *ret = "";
  return true;
}

static inline ShapeColumn column_of(Arena *arena, const char *word, size_t length, bool *ret_date) {
  size_t n = strcspn(word, "!^@-=,");
  ShapeColumn column = {.name = arena_strndup(arena, word, n), .type = "", .given = true};
  *ret_date = false;
  for (size_t i = n; i < length; i++) {
    column.not_null |= word[i] == '!';
    column.key |= word[i] == '^';
    column.given &= word[i] != '-' && word[i] != '=';
    column.generated |= word[i] == '=';
    *ret_date |= word[i] == '@';
  }
  return column;
}

/* columns: names with commas between, each with marks: ! NOT NULL, ^ key, @ date, - not given, = generated. */
static inline Case case_of(Fixture *f, const char *table, const char *columns) {
  static const EngineOps ops = {.change_token = no_token};
  Case c = {.f = f};
  ShapeColumn *list = arena_array(&f->arena, 32, sizeof *list);
  f->engine->ops = &ops;
  for (const char *at = columns; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0')) {
    bool date;
    list[c.shape.n] = column_of(&f->arena, at, strcspn(at, ","), &date);
    if (date) c.shape.date = c.shape.n;
    c.shape.keyed |= list[c.shape.n++].key;
  }
  c.shape.table = table;
  c.shape.columns = list;
  c.shape.null_keys = true;
  c.shape.codec = (DateCodec){.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()};
  for (int i = 0; i <= DATES; i++) c.dates[i] = INT64_C(1704067200) + i * INT64_C(86400);
  c.writer = (EngineWriter){.engine = pg_engine(f->engine), .id = "t1"};
  c.columns = arena_array(&f->arena, c.shape.n, sizeof *c.columns);
  return c;
}

static inline Job job_of(const Case *c) {
  return (Job){.shape = &c->shape, .id = "t1", .range = {c->dates[0], c->dates[DATES]}, .dates = c->dates, .n = DATES};
}

/* Compares `want` with the target into the change set. */
static inline void seal(Case *c) {
  Error err = {0};
  ShapeSql sql;
  BatchFacts facts;
  Arena *arena = &c->f->arena;
  PgEngine *engine = c->writer.engine;
  Job job = job_of(c);
  const char *table = pg_object(engine, arena, "t1", "changes");
  const char *date = sql_ident(arena, c->shape.columns[c->shape.date].name);
  job.recompute = arena_printf(arena, "SELECT * FROM want WHERE %s >= :from AND %s < :to", date, date);
  must(pg_ledger_create(&engine->base, &err), &err);
  must(pg_shape_sql(engine, arena, &c->shape, &sql, &err), &err);
  run(c->f, changes_create_sql(engine, arena, &sql, "", table));
  run(c->f, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  must(compare_into(engine, arena, &sql, &job, table, &facts, &err), &err);
  run(c->f, "COMMIT");
  run(c->f, arena_printf(arena, "ANALYZE %s", table));
  for (size_t i = 0; i < facts.n; i++) {
    c->counts.inserts += facts.dates[i].inserts;
    c->counts.updates += facts.dates[i].updates;
    c->counts.deletes += facts.dates[i].deletes;
    c->counts.moves += facts.dates[i].moves_in;
  }
  for (size_t i = 0; i < c->shape.n; i++) c->columns[i] = facts.column_changes[i] > 0;
}

static inline bool end_of(Case *c, bool ok) {
  run(c->f, ok ? "COMMIT" : "ROLLBACK");
  return ok;
}

static inline bool apply(Case *c, bool skip_triggers, Error *err) {
  run(c->f, "BEGIN");
  return end_of(c, pg_apply(&c->writer, &c->shape, c->columns, c->counts, skip_triggers, err));
}

static inline void applied(Case *c) {
  Error err = {0};
  must(apply(c, false, &err), &err);
}

static inline bool reverted(Case *c, LaterRows later, int64_t *ret_left, Error *err) {
  run(c->f, "BEGIN");
  return end_of(c, pg_revert(&c->writer, &c->shape, c->columns, later, false, ret_left, err));
}

/* What a query's rows are: fields with commas, rows with bars. */
static inline void assert_rows(Fixture *f, const char *expected, const char *sql) {
  const char *rows =
      one(f, arena_printf(&f->arena, "SELECT string_agg(trim(both '()' from r::text), '|') FROM (%s) AS r", sql));
  assert_string_equal(rows, expected);
}

#endif
