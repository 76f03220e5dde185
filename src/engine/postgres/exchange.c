#include "engine/postgres/exchange.h"

#include <inttypes.h>
#include <string.h>

#include "engine/postgres/postgres_sql.h"

static const char doing[] = "looking at the partitions", making[] = "making a replacement";

/* ---- can it be done?
 * ---------------------------------------------------------------------------------------------------------- */

static const char *const checked[] = {
    "partitioned by ranges of the date column alone, every bound the start of a date",
    "no DEFAULT partition",
    "no foreign keys from it or to it",
    "no triggers that would not fire",
    "not published",
    "no identity column and no row security",
    "partitions without grants, triggers, indexes, statistics, rules or a replica identity of their own",
    "a CHECK that spares the ATTACH from reading rows, and every index, before the lock is taken",
};

/* A reason that lies in the shape alone. */
static const char *shape_reason(const ShapeSql *sql) {
  const Shape *shape = sql->shape;
  if (!shape->keyed) return "it has no key";
  if (!shape->columns[shape->date].key) return "its key does not hold the date";
  if (sql->n_rest > 0) return "the recompute does not give every column";
  for (size_t i = 0; i < shape->n; i++)
    if (shape->columns[i].tolerance > 0) return "a tolerance keeps old values";
  return NULL;
}

/* Where a bound lies; false in *ret_start when it is not the start of a date. */
static bool bound_instant(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *bound, Instant *ret,
                          bool *ret_start, Error *err) {
  PG_SCOPED rows = NULL;
  const char *typed = arena_printf(arena, "%s::%s", sql_literal(arena, bound), sql->date_type);
  const char *text = sql_fill(arena, sql_exchange_bound_instants, "instant", shape_instant(arena, sql, typed), NULL);
  if (!pg_query(engine, text, NULL, 0, &rows, doing, err)) return false;
  *ret = pg_int(rows, 0, 0);
  PG_SCOPED again = NULL;
  text = sql_fill(arena, sql_exchange_bound_again, "bound", typed, "again", shape_bound(arena, sql, *ret), NULL);
  if (!pg_query(engine, text, NULL, 0, &again, doing, err)) return false;
  *ret_start = pg_bool(again, 0, 0);
  return true;
}

static bool read_partitions(PgEngine *engine, const ShapeSql *sql, PGresult **ret, Error *err) {
  const char *values[] = {sql->shape->table, engine->schema};
  return pg_query(engine, sql_exchange_partitions, values, 2, ret, doing, err);
}

/* The i-th of the partitions, when the range reaches into it. */
static bool look_at_part(PgEngine *engine, Arena *arena, const ShapeSql *sql, const PGresult *rows, int i,
                         DateRange range, DateRange *ret, const char **ret_why, Error *err) {
  bool starts[2] = {true, true};
  *ret = (DateRange){0, 0};
  *ret_why = pg_text(arena, rows, i, 5);
  if (pg_peek(rows, i, 3) == NULL) return true;
  if (!bound_instant(engine, arena, sql, pg_peek(rows, i, 3), &ret->from, &starts[0], err) ||
      !bound_instant(engine, arena, sql, pg_peek(rows, i, 4), &ret->to, &starts[1], err))
    return false;
  if (*ret_why == NULL && !(starts[0] && starts[1])) *ret_why = "has a bound that is not the start of a date";
  if (ret->to <= range.from || ret->from >= range.to) *ret_why = NULL;
  return true;
}

static bool parts_facts(PgEngine *engine, Arena *arena, const ShapeSql *sql, DateRange range, ExchangeFacts *facts,
                        Error *err) {
  PG_SCOPED rows = NULL;
  Instant reached = range.from;
  double whole = 0, covered = 0;
  if (!read_partitions(engine, sql, &rows, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    DateRange part;
    const char *why;
    if (!look_at_part(engine, arena, sql, rows, i, range, &part, &why, err)) return false;
    if (why != NULL) {
      facts->why_not = arena_printf(arena, "partition %s %s", pg_peek(rows, i, 0), why);
      return true;
    }
    if (part.to <= range.from || part.from >= range.to || part.from == part.to) continue;
    facts->partitions++;
    facts->rows += pg_int(rows, i, 6);
    DateRange within = exchange_within(&(ExchangePart){.range = part}, range);
    whole += (double)(part.to - part.from);
    covered += (double)(within.to - within.from);
    if (part.from <= reached && part.to > reached) reached = part.to;
  }
  facts->covered = whole > 0 ? covered / whole : 0;
  if (facts->partitions == 0 || reached < range.to) facts->why_not = "dates of the range have no partition";
  return true;
}

bool pg_exchange_facts(Engine *base, Arena *arena, const Shape *shape, DateRange range, bool skip_triggers,
                       ExchangeFacts *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  ShapeSql sql;
  PG_SCOPED rows = NULL;
  ExchangeFacts facts = {.checked = checked, .n_checked = sizeof checked / sizeof *checked};
  if (!pg_shape_sql(engine, arena, shape, &sql, err)) return false;
  const char *values[] = {shape->table, shape->columns[shape->date].name, skip_triggers ? "true" : "false"};
  bool schemas = PQserverVersion(engine->conn) >= 150000;
  const char *text =
      sql_fill(arena, sql_exchange_why_not, "published", schemas ? sql_exchange_published_schema : "", NULL);
  if (!pg_query(engine, text, values, 3, &rows, doing, err)) return false;
  facts.why_not = pg_text(arena, rows, 0, 0);
  if (facts.why_not == NULL) facts.why_not = shape_reason(&sql);
  if (facts.why_not == NULL && !parts_facts(engine, arena, &sql, range, &facts, err)) return false;
  *ret = facts;
  return true;
}

/* ---- what the ledger knows
 * ---------------------------------------------------------------------------------------------------- */

const char *exchange_replacement(PgEngine *engine, Arena *arena, const char *id, int64_t nth) {
  return pg_object(engine, arena, id, arena_printf(arena, "p%" PRId64, nth));
}

bool exchange_parts(PgEngine *engine, Arena *arena, const char *id, ExchangePart **ret, size_t *ret_n, Error *err) {
  PG_SCOPED rows = NULL;
  const char *text = sql_fill(arena, sql_exchange_list, "ledger", pg_schema(engine, arena), NULL);
  if (!pg_query(engine, text, &id, 1, &rows, doing, err)) return false;
  size_t n = (size_t)PQntuples(rows);
  ExchangePart *parts = arena_array(arena, n, sizeof *parts);
  for (size_t i = 0; i < n; i++)
    parts[i] = (ExchangePart){.nth = pg_int(rows, (int)i, 0),
                              .partition = pg_text(arena, rows, (int)i, 1),
                              .replacement = exchange_replacement(engine, arena, id, pg_int(rows, (int)i, 0)),
                              .lower = pg_text(arena, rows, (int)i, 2),
                              .upper = pg_text(arena, rows, (int)i, 3),
                              .range = {pg_int(rows, (int)i, 4), pg_int(rows, (int)i, 5)},
                              .kept = pg_peek(rows, (int)i, 2)[0] == '\0' ? pg_object(engine, arena, id, "kept") : NULL,
                              .sealed = pg_bool(rows, (int)i, 6),
                              .swapped = pg_text(arena, rows, (int)i, 7)};
  *ret = parts;
  *ret_n = n;
  return true;
}

DateRange exchange_within(const ExchangePart *part, DateRange range) {
  return (DateRange){part->range.from > range.from ? part->range.from : range.from,
                     part->range.to < range.to ? part->range.to : range.to};
}

bool exchange_range(PgEngine *engine, const Shape *shape, const char *id, DateRange *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  PG_SCOPED rows = NULL;
  const char *text = sql_fill(&arena, sql_exchange_range, "ledger", pg_schema(engine, &arena), NULL);
  if (!pg_query(engine, text, &id, 1, &rows, doing, err)) return false;
  *ret = (DateRange){pg_int(rows, 0, 0), grain_next(shape->codec.grain, shape->codec.zone, pg_int(rows, 0, 1))};
  return true;
}

bool exchange_counts(PgEngine *engine, const char *id, ChangeCounts *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  PG_SCOPED rows = NULL;
  const char *text = sql_fill(&arena, sql_exchange_counts, "ledger", pg_schema(engine, &arena), NULL);
  if (!pg_query(engine, text, &id, 1, &rows, "counting the change set", err)) return false;
  *ret = (ChangeCounts){.inserts = pg_int(rows, 0, 0), .updates = pg_int(rows, 0, 1), .deletes = pg_int(rows, 0, 2)};
  return true;
}

/* ---- the views
 * -------------------------------------------------------------------------------------------------------------- */

/* Where the rows of one side stand. */
static const char *standing(const ExchangePart *part, bool new_side, bool swapped) {
  if (part->kept != NULL) return new_side ? part->replacement : part->sealed ? part->kept : part->partition;
  return new_side == swapped ? part->partition : part->replacement;
}

/* Rows of the range of one side. */
static const char *side(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *parts, size_t n,
                        DateRange range, bool new_side, bool swapped) {
  BUF_SCOPED out = {0};
  const char *instant = shape_instant(arena, sql, sql->date);
  for (size_t i = 0; i < n; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : " UNION ALL ",
               sql_fill(arena, sql_exchange_side, "instant", instant, "stored",
                        pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", ""), "table",
                        standing(&parts[i], new_side, swapped), "in_range",
                        shape_in_range(arena, sql, "", exchange_within(&parts[i], range)), NULL));
  return arena_strdup(arena, buf_text(&out));
}

static const char *renamed(Arena *arena, const ShapeSql *sql, const size_t *columns, size_t n, const char *alias,
                           const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++)
    buf_printf(&out, "%s%s.%s AS %s", i == 0 ? "" : ", ", alias, sql->columns[columns[i]].name,
               shape_column(arena, sql->shape, columns[i], "", prefix));
  return arena_strdup(arena, buf_text(&out));
}

/* What differs between the sides within the range. */
static const char *changes_select(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *parts,
                                  size_t n, DateRange range, bool swapped) {
  BUF_SCOPED differs = {0};
  for (size_t i = 0; i < sql->n_given; i++)
    if (!sql->shape->columns[sql->given[i]].key)
      buf_printf(&differs, " OR %s",
                 shape_differs(arena, sql, sql->given[i], arena_printf(arena, "s.%s", sql->columns[sql->given[i]].name),
                               arena_printf(arena, "p.%s", sql->columns[sql->given[i]].name)));
  return sql_fill(arena, sql_exchange_changes, "old", renamed(arena, sql, sql->stored, sql->n_stored, "p", "old_"),
                  "new", renamed(arena, sql, sql->given, sql->n_given, "s", "new_"), "new_side",
                  side(engine, arena, sql, parts, n, range, true, swapped), "old_side",
                  side(engine, arena, sql, parts, n, range, false, swapped), "match",
                  pg_shape_key_match(arena, sql, "s.", "", "p.", ""), "differs", buf_text(&differs), NULL);
}

bool exchange_views(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, const ExchangePart *parts,
                    size_t n, bool swapped, Error *err) {
  static const char viewing[] = "making the change set's view";
  DateRange range;
  if (!exchange_range(engine, sql->shape, id, &range, err)) return false;
  const char *changes = sql_fill(arena, sql_exchange_view, "view", pg_object(engine, arena, id, "changes"), "rows",
                                 changes_select(engine, arena, sql, parts, n, range, swapped), NULL);
  const char *rows = sql_fill(arena, sql_exchange_view, "view", pg_object(engine, arena, id, "rows"), "rows",
                              side(engine, arena, sql, parts, n, range, true, swapped), NULL);
  return pg_run(engine, changes, NULL, 0, NULL, viewing, err) && pg_run(engine, rows, NULL, 0, NULL, viewing, err);
}

bool exchange_changes_of(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, Instant date,
                         const char **ret, Error *err) {
  ExchangePart *parts;
  size_t n, k = 0;
  if (!exchange_parts(engine, arena, id, &parts, &n, err)) return false;
  DateRange range = {date, grain_next(sql->shape->codec.grain, sql->shape->codec.zone, date)};
  while (k < n && parts[k].range.to <= date) k++;
  if (k == n) return error_set(err, ERR_INTERNAL, "no partition of backfill %s has the date", id);
  *ret = arena_printf(arena, "(%s)", changes_select(engine, arena, sql, &parts[k], 1, range, parts[k].swapped != NULL));
  return true;
}

/* ---- making the replacements
 * -------------------------------------------------------------------------------------------------- */

static bool revoke_defaults(PgEngine *engine, Arena *arena, const char *replacement, Error *err) {
  PG_SCOPED granted = NULL;
  if (!pg_query(engine, sql_exchange_granted, &replacement, 1, &granted, making, err)) return false;
  for (int i = 0; i < PQntuples(granted); i++) {
    const char *revoke =
        sql_fill(arena, sql_exchange_revoke, "replacement", replacement, "who", pg_peek(granted, i, 0), NULL);
    if (!pg_run(engine, revoke, NULL, 0, NULL, making, err)) return false;
  }
  return true;
}

/* The partition's storage parameters; until the swap without autovacuum, as everything else that is written beside. */
static const char *storage(Arena *arena, const char *own) {
  static const char off[] = "autovacuum_enabled = off";
  if (own == NULL || own[0] == '\0') return arena_printf(arena, " WITH (%s)", off);
  if (strstr(own, "autovacuum_enabled") != NULL) return arena_printf(arena, " WITH (%s)", own);
  return arena_printf(arena, " WITH (%s, %s)", own, off);
}

bool exchange_vacuum_again(PgEngine *engine, Arena *arena, const ExchangePart *part, Error *err) {
  int64_t own;
  const char *text = sql_fill(arena, sql_exchange_vacuum_again, "replacement", part->replacement, NULL);
  return pg_number(engine, sql_exchange_vacuum_own, &part->partition, 1, &own, making, err) &&
         (own > 0 || pg_run(engine, text, NULL, 0, NULL, making, err));
}

static bool create_replacement(PgEngine *engine, Arena *arena, const PGresult *rows, int i, const char *replacement,
                               Error *err) {
  const char *tablespace = pg_peek(rows, i, 8);
  const char *create =
      sql_fill(arena, sql_exchange_create, "replacement", replacement, "partition", pg_peek(rows, i, 0), "compression",
               PQserverVersion(engine->conn) >= 140000 ? " INCLUDING COMPRESSION" : "", "with",
               storage(arena, pg_peek(rows, i, 7)), "tablespace",
               tablespace == NULL ? "" : arena_printf(arena, " TABLESPACE %s", tablespace), NULL);
  const char *owner =
      sql_fill(arena, sql_exchange_owner, "replacement", replacement, "owner", pg_peek(rows, i, 10), NULL);
  return pg_run(engine, create, NULL, 0, NULL, making, err) && revoke_defaults(engine, arena, replacement, err) &&
         pg_run(engine, owner, NULL, 0, NULL, making, err);
}

bool exchange_note_part(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *part, Error *err) {
  const char *values[] = {writer->id,
                          arena_printf(arena, "%" PRId64, part->nth),
                          part->partition,
                          part->lower,
                          part->upper,
                          arena_printf(arena, "%" PRId64, part->range.from),
                          arena_printf(arena, "%" PRId64, part->range.to)};
  return writer_note_object(writer, arena, sql, part->replacement, "partition", false, err) &&
         pg_run(writer->engine, sql_fill(arena, sql_exchange_add, "ledger", pg_schema(writer->engine, arena), NULL),
                values, 7, NULL, making, err);
}

static bool add_part(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const PGresult *rows, int i, int64_t nth,
                     DateRange range, Error *err) {
  ExchangePart part = {.nth = nth,
                       .partition = pg_peek(rows, i, 0),
                       .replacement = exchange_replacement(writer->engine, arena, writer->id, nth),
                       .lower = pg_peek(rows, i, 3),
                       .upper = pg_peek(rows, i, 4),
                       .range = range};
  return create_replacement(writer->engine, arena, rows, i, part.replacement, err) &&
         exchange_note_part(writer, arena, sql, &part, err);
}

bool exchange_create(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  PgEngine *engine = writer->engine;
  PG_SCOPED rows = NULL;
  DateRange range;
  int64_t nth = 0;
  ExchangePart *parts;
  size_t n;
  if (!exchange_range(engine, sql->shape, writer->id, &range, err) || !read_partitions(engine, sql, &rows, err))
    return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    DateRange part;
    const char *why;
    if (!look_at_part(engine, arena, sql, rows, i, range, &part, &why, err)) return false;
    if (why != NULL)
      return error_set(err, ERR_SUPERSEDED, "partition %s cannot be exchanged any more: it %s", pg_peek(rows, i, 0),
                       why);
    if (part.to <= range.from || part.from >= range.to || part.from == part.to) continue;
    if (!add_part(writer, arena, sql, rows, i, ++nth, part, err)) return false;
  }
  return exchange_parts(engine, arena, writer->id, &parts, &n, err) &&
         exchange_note_views(writer, arena, sql, parts, n, err);
}

bool exchange_note_views(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *parts, size_t n,
                         Error *err) {
  PgEngine *engine = writer->engine;
  return exchange_views(engine, arena, sql, writer->id, parts, n, false, err) &&
         writer_note_object(writer, arena, sql, pg_object(engine, arena, writer->id, "changes"), "changes", true,
                            err) &&
         writer_note_object(writer, arena, sql, pg_object(engine, arena, writer->id, "rows"), "changes", true, err);
}
