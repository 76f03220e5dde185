#ifndef TIDEGATE_TESTS_ENGINE_POSTGRES_CHANGES_H
#define TIDEGATE_TESTS_ENGINE_POSTGRES_CHANGES_H

#include "server.h"

#include "engine/postgres/work.h"

/* Change sets for the tests, made as a run makes them. */

#define JANUARY ((Instant)1704067200) /* 2024-01-01 */
#define DAY ((Instant)86400)
#define FEBRUARY (JANUARY + 31 * DAY)
static const char id[] = "01test";
static const char changes[] = "tidegate.tidegate_01test_changes";

static inline bool is_in(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
    if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0')) return true;
  return false;
}

/* key and given: names with commas between; given NULL: every column that is not generated; key "": none. */
static inline Shape shape_of(Fixture *f, const char *table, const char *date, const char *key, const char *given) {
  Error err = {0};
  PG_SCOPED rows = NULL;
  must(pg_query(pg_engine(f->engine),
                "SELECT attname, format_type(atttypid, atttypmod), attnotnull, attgenerated <> '' FROM pg_attribute "
                "WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                &table, 1, &rows, "reading columns", &err),
       &err);
  size_t n = (size_t)PQntuples(rows);
  ShapeColumn *columns = arena_array(&f->arena, n, sizeof *columns);
  Shape shape = {.table = table,
                 .columns = columns,
                 .n = n,
                 .keyed = key[0] != '\0',
                 .codec = {.kind = DATE_TEXT, .grain = GRAIN_DAY, .zone = zone_utc()}};
  for (size_t i = 0; i < n; i++) {
    columns[i] = (ShapeColumn){.name = pg_text(&f->arena, rows, (int)i, 0),
                               .type = pg_text(&f->arena, rows, (int)i, 1),
                               .not_null = pg_bool(rows, (int)i, 2),
                               .generated = pg_bool(rows, (int)i, 3)};
    columns[i].key = is_in(key, columns[i].name);
    columns[i].given = !columns[i].generated && (given == NULL || is_in(given, columns[i].name));
    if (strcmp(columns[i].name, date) == 0) shape.date = i;
  }
  return shape;
}

/* The change set that the recompute of January makes. */
static inline BatchFacts stage(Fixture *f, const Shape *shape, const char *recompute) {
  static const EngineOps ops = {.change_token = pg_change_token};
  PgEngine *engine = pg_engine(f->engine);
  Error err = {0};
  ShapeSql sql;
  BatchFacts facts;
  engine->base.ops = &ops;
  Instant *dates = arena_array(&f->arena, 32, sizeof *dates);
  for (int i = 0; i < 32; i++) dates[i] = JANUARY + i * DAY;
  Job job = {.shape = shape,
             .id = id,
             .recompute = recompute,
             .range = {JANUARY, FEBRUARY},
             .dates = dates,
             .n = 31,
             .max_examples = 5};
  bool own;
  run(f, "CREATE SCHEMA IF NOT EXISTS tidegate");
  run(f, arena_printf(&f->arena, "DROP TABLE IF EXISTS %s", changes));
  must(pg_shape_sql(engine, &f->arena, shape, &sql, &err), &err);
  run(f, changes_create_sql(engine, &f->arena, &sql, "", pg_object(engine, &f->arena, id, "changes")));
  must(pg_begin(engine, true, &own, "staging", &err), &err);
  bool ok = compare_into(engine, &f->arena, &sql, &job, pg_object(engine, &f->arena, id, "changes"), &facts, &err);
  must(ok, &err);
  must(pg_end(engine, own, true, "staging", &err), &err);
  return facts;
}

#endif
