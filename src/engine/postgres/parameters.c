#include "engine/postgres/parameters.h"

#include <stdio.h>
#include <string.h>

/* ---- replacing -------------------------------------------------------------------------------------------------- */

static const char *literal_of(const PgToken *token, const char *const *pairs, size_t n) {
  for (size_t i = 0; i < 2 * n; i += 2)
    if (strlen(pairs[i]) == token->n && memcmp(pairs[i], token->at, token->n) == 0) return pairs[i + 1];
  return NULL;
}

PgReplaced pg_replace_places(Arena *arena, const char *sql, const char *const *pairs, size_t n) {
  BUF_SCOPED text = {0};
  PgReplaced replaced = {.own_n = strlen(sql)};
  PgPlace *places = NULL;
  PgLexer lexer = {.at = sql};
  const char *copied = sql;
  for (PgToken token; (token = pg_lex_next(&lexer)).kind != PG_LEX_END;) {
    const char *literal = token.kind == PG_LEX_PARAMETER ? literal_of(&token, pairs, n) : NULL;
    if (literal == NULL) continue;
    buf_append(&text, copied, (size_t)(token.at - copied));
    places = arena_grow(arena, places, replaced.n, sizeof *places);
    places[replaced.n++] = (PgPlace){(size_t)(token.at - sql), token.n, text.len, strlen(literal)};
    buf_puts(&text, literal);
    copied = token.at + token.n;
  }
  buf_puts(&text, copied);
  buf_putc(&text, '\n');
  replaced.sql = arena_strndup(arena, buf_text(&text), text.len);
  replaced.places = places;
  return replaced;
}

const char *pg_replace(Arena *arena, const char *sql, const char *const *pairs, size_t n) {
  return pg_replace_places(arena, sql, pairs, n).sql;
}

int pg_own_offset(const PgReplaced *replaced, int offset) {
  if (offset < 0) return -1;
  size_t at = (size_t)offset, own = 0, behind = 0; /* both behind the last literal before `at` */
  for (size_t i = 0; i < replaced->n && replaced->places[i].at <= at; i++) {
    const PgPlace *place = &replaced->places[i];
    if (at < place->at + place->n) return (int)place->own_at;
    own = place->own_at + place->own_n;
    behind = place->at + place->n;
  }
  own += at - behind;
  return own > replaced->own_n ? -1 : (int)own;
}

/* ---- the parameters of a range ---------------------------------------------------------------------------------- */

static const char *const range_names[PG_RANGE_PARAMETERS] = {":from",    ":to",        ":from_date",
                                                             ":to_date", ":from_unix", ":to_unix"};

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* The type to cast a date's text to: texts without their length, which would cut. */
static const char *text_type(const char *date_type) {
  if (starts_with(date_type, "character varying")) return "text";
  return starts_with(date_type, "character") ? "bpchar" : date_type;
}

static const char *day_literal(Arena *arena, const Civil *day, const char *type) {
  return arena_printf(arena, "('%04d-%02d-%02d'::%s)", day->year, day->month, day->day, type);
}

/* The first civil day that does not begin before the instant. */
static Civil first_day(const DateCodec *codec, Instant date) {
  Instant day = grain_floor(GRAIN_DAY, codec->zone, date);
  if (day < date) day = grain_next(GRAIN_DAY, codec->zone, day);
  return zone_civil(codec->zone, day);
}

const char *pg_date_literal(Arena *arena, const DateCodec *codec, const char *date_type, Instant date) {
  date = instant_clamp(date);
  if (codec->kind == DATE_TEXT) {
    Civil day = first_day(codec, date);
    return day_literal(arena, &day, text_type(date_type));
  }
  if (codec->kind == TIMESTAMP_TEXT) {
    Civil at = civil_from_seconds(date);
    bool zoned = strstr(date_type, "with time zone") != NULL || starts_with(date_type, "timestamptz");
    return arena_printf(arena, "('%04d-%02d-%02d %02d:%02d:%02d%s'::%s)", at.year, at.month, at.day, at.hour, at.minute,
                        at.second, zoned ? "+00" : "", text_type(date_type));
  }
  DateBound bound = datecodec_bound(codec, date);
  if (bound.type == BOUND_TEXT) return arena_printf(arena, "('%s'::%s)", bound.text, text_type(date_type));
  if (bound.type == BOUND_REAL) return arena_printf(arena, "(%.17g::double precision)", bound.real);
  return arena_printf(arena, "('%lld'::bigint)", (long long)bound.integer);
}

const char *const *pg_range_pairs(Arena *arena, const DateCodec *codec, const char *date_type, DateRange range) {
  const Instant ends[2] = {range.from, range.to};
  const char **pairs = arena_array(arena, 2 * (size_t)PG_RANGE_PARAMETERS, sizeof *pairs);
  for (size_t i = 0; i < PG_RANGE_PARAMETERS; i++) {
    Instant end = ends[i % 2];
    Civil day = zone_civil(codec->zone, instant_clamp(end));
    pairs[2 * i] = range_names[i];
    pairs[2 * i + 1] = i < 2   ? pg_date_literal(arena, codec, date_type, end)
                       : i < 4 ? day_literal(arena, &day, "date")
                               : arena_printf(arena, "('%lld'::bigint)", (long long)end);
  }
  return pairs;
}

const char *pg_parameters(Arena *arena, const char *sql, const DateCodec *codec, const char *date_type,
                          DateRange range) {
  return pg_replace(arena, sql, pg_range_pairs(arena, codec, date_type, range), PG_RANGE_PARAMETERS);
}

bool pg_is_range_parameter(const PgToken *token) {
  for (size_t i = 0; i < PG_RANGE_PARAMETERS; i++)
    if (token->kind == PG_LEX_PARAMETER && strlen(range_names[i]) == token->n &&
        memcmp(range_names[i], token->at, token->n) == 0)
      return true;
  return false;
}
