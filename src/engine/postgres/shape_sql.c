#include "engine/postgres/shape_sql.h"

#include <inttypes.h>
#include <string.h>

#include "engine/postgres/lex.h"
#include "engine/postgres/postgres_sql.h"

static const char looking[] = "looking at the target";

/* A table of PostgreSQL has at most so many columns; so many has the change set beside the target's. */
enum { MOST_COLUMNS = 1600, CHANGE_COLUMNS = 4 };

/* ---- the target's columns ---------------------------------------------------------------------------------------- */

/* Types whose own hash function cannot be called by name, and a cast under which one can that keeps values apart. */
static const struct {
  const char *type, *cast, *hash;
} hashed_as[] = {{"date", "::timestamp", "pg_catalog.timestamp_hash_extended"},
                 {"timestamp with time zone", " AT TIME ZONE 'UTC'", "pg_catalog.timestamp_hash_extended"},
                 {"boolean", "::int4", "pg_catalog.hashint4extended"}};

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static PgColumn read_column(Arena *arena, const PGresult *rows, int i) {
  PgColumn column = {.name = sql_ident(arena, pg_peek(rows, i, 0)),
                     .type = pg_text(arena, rows, i, 1),
                     .cast = pg_text(arena, rows, i, 2),
                     .collate = "",
                     .hash = pg_text(arena, rows, i, 4),
                     .hash_cast = "",
                     .as_text = !pg_bool(rows, i, 5),
                     .boxed = pg_bool(rows, i, 5) && pg_peek(rows, i, 4) == NULL && pg_bool(rows, i, 6)};
  if (pg_peek(rows, i, 3) != NULL) column.collate = arena_printf(arena, " COLLATE %s", pg_peek(rows, i, 3));
  for (size_t k = 0; k < sizeof hashed_as / sizeof *hashed_as; k++)
    if (strcmp(column.cast, hashed_as[k].type) == 0 ||
        (k == 1 && starts_with(column.cast, "timestamp(") && strstr(column.cast, "with time zone") != NULL)) {
      column.hash = hashed_as[k].hash;
      column.hash_cast = hashed_as[k].cast;
      column.boxed = false;
    }
  if (column.as_text || (column.hash == NULL && !column.boxed)) {
    column.hash = "pg_catalog.hashtextextended";
    column.hash_cast = "::text COLLATE \"C\"";
    column.boxed = false;
  } else if (column.collate[0] != '\0') {
    column.hash_cast = " COLLATE \"C\"";
  }
  return column;
}

/* Domains are seldom, and dear to resolve: so only where there are any, by asking again. */
static bool ask(PgEngine *engine, Arena *arena, const Shape *shape, PGresult **ret, Error *err) {
  const char *plain = sql_fill(arena, sql_shape_columns, "base", "t", "down", "", NULL);
  const char *under = sql_fill(arena, sql_shape_columns, "base", "b", "down", sql_shape_down, NULL);
  PG_SCOPED rows = NULL;
  bool domains = false;
  if (!pg_query(engine, plain, &shape->table, 1, &rows, looking, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) domains = domains || pg_bool(rows, i, 8);
  if (domains) return pg_query(engine, under, &shape->table, 1, ret, looking, err);
  *ret = rows;
  rows = NULL;
  return true;
}

static bool read_columns(Arena *arena, const PGresult *rows, ShapeSql *sql, Error *err) {
  const Shape *shape = sql->shape;
  PgColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  for (size_t c = 0; c < shape->n; c++) {
    int found = -1;
    for (int i = 0; i < PQntuples(rows); i++)
      if (strcmp(pg_peek(rows, i, 0), shape->columns[c].name) == 0) found = i;
    if (found < 0)
      return error_set(err, ERR_SUPERSEDED, "%s has no column “%s” any more", shape->table, shape->columns[c].name);
    columns[c] = read_column(arena, rows, found);
    sql->identity |= pg_bool(rows, found, 7);
  }
  sql->columns = columns;
  return true;
}

static const size_t *indices(Arena *arena, const Shape *shape, bool (*want)(const ShapeColumn *), size_t *ret_n) {
  size_t *list = arena_array(arena, shape->n, sizeof *list), n = 0;
  for (size_t i = 0; i < shape->n; i++)
    if (want(&shape->columns[i])) list[n++] = i;
  *ret_n = n;
  return list;
}

static bool is_given(const ShapeColumn *column) { return column->given; }
static bool is_stored(const ShapeColumn *column) { return !column->generated; }
static bool is_key(const ShapeColumn *column) { return column->key; }
static bool is_rest(const ShapeColumn *column) { return !column->generated && !column->given; }

bool pg_shape_sql(PgEngine *engine, Arena *arena, const Shape *shape, ShapeSql *ret, Error *err) {
  ShapeSql sql = {.shape = shape};
  PG_SCOPED rows = NULL;
  if (!ask(engine, arena, shape, &rows, err)) return false;
  if (PQntuples(rows) == 0) return error_set(err, ERR_NOT_FOUND, "there is no table %s in the database", shape->table);
  sql.table = pg_text(arena, rows, 0, 9);
  sql.partitioned = pg_bool(rows, 0, 10);
  sql.schema = pg_text(arena, rows, 0, 11);
  sql.name = pg_text(arena, rows, 0, 12);
  if (!read_columns(arena, rows, &sql, err)) return false;
  sql.given = indices(arena, shape, is_given, &sql.n_given);
  sql.stored = indices(arena, shape, is_stored, &sql.n_stored);
  sql.key = indices(arena, shape, is_key, &sql.n_key);
  sql.rest = indices(arena, shape, is_rest, &sql.n_rest);
  if (CHANGE_COLUMNS + sql.n_stored + sql.n_given > MOST_COLUMNS) {
    error_set(err, ERR_SPEC,
              "%s has too many columns: the change set would hold %zu old and %zu new ones, and a table has at most %d",
              shape->table, sql.n_stored, sql.n_given, MOST_COLUMNS - CHANGE_COLUMNS);
    return error_hint(err, "let the recompute give fewer of them: the key, the date and those that are to change");
  }
  sql.date = sql.columns[shape->date].name;
  sql.date_type = sql.columns[shape->date].cast;
  *ret = sql;
  return true;
}

/* ---- dates
 * ------------------------------------------------------------------------------------------------------------------ */

const Instant *shape_dates(Arena *arena, const DateCodec *codec, DateRange range, size_t *ret_n) {
  Instant *dates = arena_grow(arena, NULL, 0, sizeof *dates);
  size_t n = 0;
  for (Instant at = range.from; at < range.to; at = grain_next(codec->grain, codec->zone, at)) {
    dates[n++] = at;
    dates = arena_grow(arena, dates, n, sizeof *dates);
  }
  dates[n] = range.to;
  *ret_n = n;
  return dates;
}

const char *shape_number(Arena *arena, Instant at) { return arena_printf(arena, "%" PRId64, at); }

static bool is_text(const ShapeSql *sql) {
  return strcmp(sql->date_type, "text") == 0 || strcmp(sql->date_type, "bpchar") == 0 ||
         strcmp(sql->date_type, "character varying") == 0;
}

bool shape_may_be_no_date(const ShapeSql *sql) {
  DateKind kind = sql->shape->codec.kind;
  return is_text(sql) || kind == DAY_NUMBER || kind == MONTH_NUMBER;
}

/* The type that bounds of the column have. */
static const char *bound_type(const ShapeSql *sql) {
  if (is_text(sql)) return "text";
  if (!date_kind_is_text(sql->shape->codec.kind)) return "int8";
  if (strcmp(sql->date_type, "date") == 0) return "date";
  return strstr(sql->date_type, "with time zone") != NULL ? "timestamptz" : "timestamp";
}

/* Without its type, for arrays. */
static const char *bare_bound(Arena *arena, const ShapeSql *sql, Instant date) {
  DateBound bound = datecodec_bound(&sql->shape->codec, date);
  if (bound.type == BOUND_INT) return arena_printf(arena, "%" PRId64, bound.integer);
  if (strcmp(bound.text, "9999-12-32") == 0 && !is_text(sql)) return "'infinity'";
  bool zoned = strcmp(bound_type(sql), "timestamptz") == 0;
  return arena_printf(arena, "'%s%s'", bound.text, zoned ? (strlen(bound.text) > 10 ? "+00" : " 00:00+00") : "");
}

const char *shape_bound(Arena *arena, const ShapeSql *sql, Instant date) {
  return arena_printf(arena, "%s::%s", bare_bound(arena, sql, date), bound_type(sql));
}

/* True of a text, or of digits, that is the date of a day or month that exists, as the codec has it. */
static const char *is_date(Arena *arena, const ShapeSql *sql, const char *column) {
  const char *dash = date_kind_has_dashes(sql->shape->codec.kind) ? "-" : "", *cast = is_text(sql) ? "" : "::text";
  if (date_kind_grain(sql->shape->codec.kind) == GRAIN_MONTH)
    return arena_printf(arena, "(%s)%s ~ '^[0-9]{4}%s(0[1-9]|1[0-2])$'", column, cast, dash);
  return arena_printf(arena,
                      "(%s)%s ~ '^([0-9]{4}%s((0[13578]|1[02])%s(0[1-9]|[12][0-9]|3[01])|(0[469]|11)%s(0[1-9]|[12][0-9]"
                      "|30)|02%s(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])"
                      "|([02468][048]|[13579][26])00)%s02%s29)$'",
                      column, cast, dash, dash, dash, dash, dash, dash);
}

const char *shape_within(Arena *arena, const ShapeSql *sql, const char *column, DateRange range) {
  bool checked = shape_may_be_no_date(sql);
  return arena_printf(arena, "%s >= %s AND %s < %s%s%s", column, shape_bound(arena, sql, range.from), column,
                      shape_bound(arena, sql, range.to), checked ? " AND " : "",
                      checked ? is_date(arena, sql, column) : "");
}

const char *shape_in_range(Arena *arena, const ShapeSql *sql, const char *alias, DateRange range) {
  return shape_within(arena, sql, arena_printf(arena, "%s%s", alias, sql->date), range);
}

/* Days one after the other: their place is a subtraction. */
static bool plain_days(const ShapeSql *sql, const Instant *dates, size_t n) {
  return strcmp(sql->date_type, "date") == 0 && sql->shape->codec.grain == GRAIN_DAY &&
         dates[n] - dates[0] == (Instant)n * 86400;
}

const char *shape_date_place(Arena *arena, const ShapeSql *sql, const char *column, const Instant *dates, size_t n) {
  if (plain_days(sql, dates, n)) {
    const char *first = shape_bound(arena, sql, dates[0]), *end = shape_bound(arena, sql, dates[n]);
    return arena_printf(arena, "CASE WHEN %s < %s THEN 0 WHEN %s >= %s THEN %zu ELSE %s - %s + 1 END", column, first,
                        column, end, n + 1, column, first);
  }
  BUF_SCOPED bounds = {0};
  for (size_t i = 0; i <= n; i++) buf_printf(&bounds, "%s%s", i == 0 ? "" : ",", bare_bound(arena, sql, dates[i]));
  const char *type = bound_type(sql);
  const char *place = arena_printf(arena, "width_bucket((%s)::%s%s, ARRAY[%s]::%s[])", column, type,
                                   is_text(sql) ? " COLLATE \"C\"" : "", buf_text(&bounds), type);
  return shape_may_be_no_date(sql) ? arena_printf(arena, "CASE WHEN %s THEN %s END", is_date(arena, sql, column), place)
                                   : place;
}

/* The seconds between one date and the next where that is always the same; 0 where it is not. */
static Instant step_of(const Instant *dates, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (dates[i + 1] - dates[i] != dates[1] - dates[0]) return 0;
  return dates[1] - dates[0];
}

static const char *instants(Arena *arena, const Instant *dates, size_t n) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++) buf_printf(&out, "%s%" PRId64, i == 0 ? "" : ",", dates[i]);
  return arena_printf(arena, "ARRAY[%s]::int8[]", buf_text(&out));
}

const char *shape_place_instant(Arena *arena, const char *place, const Instant *dates, size_t n) {
  Instant step = step_of(dates, n);
  if (step > 0) return arena_printf(arena, "(%" PRId64 " + (%s - 1) * %" PRId64 "::int8)", dates[0], place, step);
  return arena_printf(arena, "(%s)[%s]", instants(arena, dates, n), place);
}

const char *shape_instant_place(Arena *arena, const char *instant, const Instant *dates, size_t n) {
  Instant step = step_of(dates, n);
  if (step > 0) return arena_printf(arena, "((%s - %" PRId64 ") / %" PRId64 " + 1)", instant, dates[0], step);
  return arena_printf(arena, "width_bucket(%s, %s)", instant, instants(arena, dates, n + 1));
}

/* As to_date() names it. */
static const char *date_form(const ShapeSql *sql) {
  bool month = date_kind_grain(sql->shape->codec.kind) == GRAIN_MONTH;
  if (date_kind_has_dashes(sql->shape->codec.kind)) return month ? "YYYY-MM" : "YYYY-MM-DD";
  return month ? "YYYYMM" : "YYYYMMDD";
}

const char *shape_instant(Arena *arena, const ShapeSql *sql, const char *column) {
  static const char *const steps[] = {[GRAIN_HOUR] = "hour",
                                      [GRAIN_DAY] = "day",
                                      [GRAIN_WEEK] = "week",
                                      [GRAIN_MONTH] = "month",
                                      [GRAIN_YEAR] = "year"};
  const DateCodec *codec = &sql->shape->codec;
  const char *zone = sql_literal(arena, zone_name(codec->zone)), *type = bound_type(sql), *local;
  if (strcmp(type, "date") == 0)
    local = arena_printf(arena, "(%s)::timestamp", column);
  else if (shape_may_be_no_date(sql))
    local = arena_printf(arena, "CASE WHEN %s THEN to_date((%s)::text, '%s')::timestamp END",
                         is_date(arena, sql, column), column, date_form(sql));
  else if (strcmp(type, "int8") == 0)
    local = arena_printf(arena, "to_timestamp((%s) / %s) AT TIME ZONE %s", column,
                         codec->kind == UNIX_MILLIS ? "1000.0" : "1.0", zone);
  else
    local = arena_printf(arena, "(%s)%s AT TIME ZONE %s", column,
                         strcmp(type, "timestamp") == 0 ? " AT TIME ZONE 'UTC'" : "", zone);
  return arena_printf(arena, "extract(epoch FROM date_trunc('%s', %s) AT TIME ZONE %s)::int8", steps[codec->grain],
                      local, zone);
}

/* ---- lists
 * ------------------------------------------------------------------------------------------------------------------ */

const char *shape_column(Arena *arena, const Shape *shape, size_t column, const char *before, const char *prefix) {
  return arena_printf(arena, "%s%s", before,
                      sql_ident(arena, arena_printf(arena, "%s%s", prefix, shape->columns[column].name)));
}

const char *pg_shape_list(Arena *arena, const Shape *shape, const size_t *columns, size_t n, const char *before,
                          const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ", shape_column(arena, shape, columns[i], before, prefix));
  return arena_strdup(arena, buf_text(&out));
}

const char *pg_shape_set(Arena *arena, const ShapeSql *sql, const bool *columns, const char *before,
                         const char *prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_given; i++)
    if (columns[sql->given[i]])
      buf_printf(&out, "%s%s = %s", out.len == 0 ? "" : ", ", sql->columns[sql->given[i]].name,
                 shape_column(arena, sql->shape, sql->given[i], before, prefix));
  return arena_strdup(arena, buf_text(&out));
}

const char *pg_shape_key_match(Arena *arena, const ShapeSql *sql, const char *left, const char *left_prefix,
                               const char *right, const char *right_prefix) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&out, "%s%s %s %s", i == 0 ? "" : " AND ",
               shape_column(arena, sql->shape, sql->key[i], left, left_prefix),
               sql->shape->columns[sql->key[i]].not_null ? "=" : "IS NOT DISTINCT FROM",
               shape_column(arena, sql->shape, sql->key[i], right, right_prefix));
  return arena_strdup(arena, buf_text(&out));
}

static bool is_float(const char *type) { return strcmp(type, "double precision") == 0 || strcmp(type, "real") == 0; }

static bool is_integer(const char *type) {
  return strcmp(type, "bigint") == 0 || strcmp(type, "integer") == 0 || strcmp(type, "smallint") == 0;
}

const char *shape_differs(Arena *arena, const ShapeSql *sql, size_t column, const char *left, const char *right) {
  const PgColumn *facts = &sql->columns[column];
  double tolerance = sql->shape->columns[column].tolerance;
  if (facts->as_text)
    return arena_printf(arena, "(%s)::text COLLATE \"C\" IS DISTINCT FROM (%s)::text COLLATE \"C\"", left, right);
  const char *differs = arena_printf(arena, "%s%s IS DISTINCT FROM %s", left, facts->collate, right);
  if (tolerance <= 0) return differs;
  if (is_float(facts->cast)) /* by halves, which are exact: the difference of the whole may be beyond the type */
    return arena_printf(arena, "(%s AND NOT coalesce(abs(%s / 2 - %s / 2) <= %.17g, false))", differs, left, right,
                        tolerance / 2);
  const char *wide = is_integer(facts->cast) ? "::numeric" : "";
  return arena_printf(arena, "(%s AND NOT coalesce(abs(%s%s - %s%s) <= %.17g, false))", differs, left, wide, right,
                      wide, tolerance);
}

/* Each column's hash is seeded with that of those before it, so exchanged values are seen; a NULL hashes to a number of
 * its own. */
const char *shape_hash(Arena *arena, const ShapeSql *sql, const size_t *columns, size_t n, const char *before,
                       const char *prefix) {
  const char *hash = "20131";
  for (size_t i = 0; i < n; i++) {
    const PgColumn *column = &sql->columns[columns[i]];
    const char *value = shape_column(arena, sql->shape, columns[i], before, prefix);
    if (column->boxed)
      hash = arena_printf(arena, "pg_catalog.hashint8extended(pg_catalog.hash_array_extended(ARRAY[%s], 7), %s)", value,
                          hash);
    else if (sql->shape->columns[columns[i]].not_null)
      hash = arena_printf(arena, "%s(%s%s, %s)", column->hash, value, column->hash_cast, hash);
    else
      hash = arena_printf(arena, "pg_catalog.hashint8extended(coalesce(%s(%s%s, 7), 4711), %s)", column->hash, value,
                          column->hash_cast, hash);
  }
  return hash;
}

/* ---- rows
 * -------------------------------------------------------------------------------------------------------------------
 */

bool shape_overlaid(const Job *job) { return job->overlay && job->id != NULL; }

static bool is_named(Arena *arena, const PgToken *token, const char *name) {
  bool is_name = token->kind == PG_LEX_WORD || (token->kind == PG_LEX_NAME && *token->at == '"');
  return is_name && strcmp(pg_lex_name(arena, token), name) == 0;
}

/* The query with the target's full name, wherever it stands, led to the session's own relations: to the overlay. */
static const char *to_overlay(Arena *arena, const ShapeSql *sql, const char *query) {
  BUF_SCOPED out = {0};
  PgLexer lexer = {.at = query};
  PgToken schema = {0}, dot = {0};
  const char *copied = query;
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END; schema = dot, dot = token) {
    if (!is_named(arena, &schema, sql->schema) || !pg_lex_is_punct(&dot, '.') || !is_named(arena, &token, sql->name))
      continue;
    buf_append(&out, copied, (size_t)(schema.at - copied));
    buf_puts(&out, "pg_temp");
    copied = dot.at;
  }
  buf_puts(&out, copied);
  return arena_strndup(arena, buf_text(&out), out.len);
}

const char *shape_recompute(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job) {
  DateRange range = {job->dates[0], job->dates[job->n]};
  if (job->recompute == NULL)
    return sql_fill(arena, sql_shape_rows, "columns",
                    pg_shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""), "table",
                    job->id == NULL ? sql->table : pg_object(engine, arena, job->id, "shadow"), "where",
                    shape_in_range(arena, sql, "", range), NULL);
  BUF_SCOPED columns = {0};
  for (size_t i = 0; i < sql->n_given; i++) {
    const PgColumn *column = &sql->columns[sql->given[i]];
    buf_printf(&columns, "%sCAST(r.%s AS %s)%s AS %s", i == 0 ? "" : ", ", column->name, column->cast, column->collate,
               column->name);
  }
  const char *query = pg_parameters(arena, job->recompute, &sql->shape->codec, bound_type(sql), range);
  return sql_fill(arena, sql_shape_given, "columns", buf_text(&columns), "recompute",
                  shape_overlaid(job) ? to_overlay(arena, sql, query) : query, NULL);
}

/* The new side of a change over all stored columns: what is not given stays as it was. */
static const char *new_side(Arena *arena, const ShapeSql *sql) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < sql->n_stored; i++)
    buf_printf(&out, "%s%s", i == 0 ? "" : ", ",
               shape_column(arena, sql->shape, sql->stored[i], "c.",
                            sql->shape->columns[sql->stored[i]].given ? "new_" : "old_"));
  return arena_strdup(arena, buf_text(&out));
}

const char *pg_shape_overlay(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, Instant before) {
  if (sql->shape->way != WAY_CHANGES) /* the dates of the range alone, all of them */
    return sql_fill(arena, sql_shape_rows, "columns",
                    pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", ""), "table",
                    pg_object(engine, arena, id, "rows"), "where", "true", NULL);
  return sql_fill(arena, sql->shape->keyed ? sql_shape_overlay_keyed : sql_shape_overlay_keyless, "columns",
                  pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "p.", ""), "target", sql->table,
                  "changes", pg_object(engine, arena, id, "changes"), "before", arena_printf(arena, "%" PRId64, before),
                  "match", pg_shape_key_match(arena, sql, "o.", "old_", "p.", ""), "new", new_side(arena, sql), NULL);
}

Fingerprint shape_fingerprint(int64_t rows, const char *sum) {
  __extension__ unsigned __int128 total = 0;
  bool negative = sum != NULL && *sum == '-';
  for (const char *s = sum == NULL ? "" : sum + negative; *s >= '0' && *s <= '9'; s++)
    total = total * 10 + (unsigned)(*s - '0');
  if (negative) total = -total;
  return (Fingerprint){.rows = rows, .low = (uint64_t)total, .high = (uint64_t)(total >> 64)};
}
