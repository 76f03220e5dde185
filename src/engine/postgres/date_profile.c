#include <string.h>

#include "engine/postgres/postgres_int.h"
#include "engine/postgres/postgres_sql.h"

/* What the values of a date column look like, found without reading a large table through. */

static const char doing[] = "looking at the date column";

/* A table of at most so many pages is read whole; of a larger one about so many pages and rows; so many distinct values
 * are handed on. */
enum { SMALL_PAGES = 256, SAMPLE_PAGES = 64, SAMPLE_ROWS = 20000, SAMPLE_VALUES = 200 };

/* ---- what a type can hold --------------------------------------------------------------------------------------- */

typedef struct TypeWords {
  const char *name;
  unsigned kinds; /* 1 << DateKind */
  bool native;
  const char *why_not, *way_out;
} TypeWords;

#define CONVERT                                                                                                   \
  "convert it (ALTER TABLE … ALTER COLUMN … TYPE date or timestamptz USING …; the table is rewritten), or " \
  "name another date_column"
#define BY_TYPE "leave date_kind out: the column's type says how it holds its dates"

static const TypeWords types[] = {
    {"date", 1u << DATE_TEXT, true, "it holds days and nothing else", BY_TYPE},
    {"timestamp", 1u << TIMESTAMP_TEXT, true, "it holds times and nothing else", BY_TYPE},
    {"timestamptz", 1u << TIMESTAMP_TEXT, true, "it holds instants and nothing else", BY_TYPE},
    {"text", 1u << DATE_TEXT | 1u << MONTH_TEXT | 1u << BASIC_TEXT, false,
     "a text sorts by time only when every value is written YYYY-MM-DD, YYYYMMDD or YYYY-MM", CONVERT},
    {"integer", 1u << UNIX_SECONDS | 1u << UNIX_MILLIS | 1u << DAY_NUMBER | 1u << MONTH_NUMBER, false,
     "a whole number is understood only as YYYYMMDD, YYYYMM, unix seconds or milliseconds", CONVERT},
    {"fraction", 0, false, "of numbers, only whole ones are understood, as YYYYMMDD, unix seconds or milliseconds",
     CONVERT},
    {NULL, 0, false, "it holds no dates that can be compared", CONVERT},
};

static const TypeWords *words_of(const char *kind) {
  const TypeWords *words = types;
  while (words->name != NULL && (kind == NULL || strcmp(words->name, kind) != 0)) words++;
  return words;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* The column, as the statements name it. */
typedef struct Place {
  const TypeWords *type;
  const char *table, *column, *value, *present;
  bool stored, small, indexed; /* stored: has pages of its own, of which some can be read */
  double pages;
} Place;

static bool find_place(PgEngine *engine, Arena *arena, const char *table, const char *column, Place *ret,
                       DateProfile *profile, Error *err) {
  PG_SCOPED rows = NULL;
  const char *const values[] = {table, column};
  if (!pg_query(engine, sql_dates_column, values, 2, &rows, doing, err)) return false;
  if (PQntuples(rows) == 0) return error_set(err, ERR_NOT_FOUND, "%s has no column '%s'", table, column);
  const TypeWords *type = words_of(pg_peek(rows, 0, 3));
  Place place = {.type = type,
                 .column = pg_text(arena, rows, 0, 0),
                 .table = pg_text(arena, rows, 0, 1),
                 .stored = pg_real(rows, 0, 4) >= 0,
                 .pages = pg_real(rows, 0, 4),
                 .indexed = pg_bool(rows, 0, 5)};
  bool zoned = type->name != NULL && strcmp(type->name, "timestamptz") == 0;
  const char *value = zoned ? sql_dates_value_zoned : type->native ? sql_dates_value_day : sql_dates_value_text;
  place.small = place.stored && place.pages <= SMALL_PAGES;
  place.value = sql_fill(arena, value, "column", place.column, NULL);
  place.present = sql_fill(arena, type->native ? sql_dates_finite : sql_dates_present, "column", place.column, NULL);
  profile->kinds = type->kinds;
  profile->native = type->native;
  profile->why_not = arena_printf(arena, "is of the type %s: %s", pg_peek(rows, 0, 2), type->why_not);
  profile->way_out = type->way_out;
  *ret = place;
  return true;
}

static const char *fill(Arena *arena, const Place *place, const char *sql, const char *limit) {
  double percent = place->pages > SAMPLE_PAGES ? 100.0 * SAMPLE_PAGES / place->pages : 100;
  return sql_fill(arena, sql, "table", place->table, "column", place->column, "value", place->value, "present",
                  place->present, "limit", limit, "percent", arena_printf(arena, "%.9f", percent), "rows",
                  arena_printf(arena, "%d", SAMPLE_ROWS), NULL);
}

/* Counts of a small table; of a large one only what an index tells at once. */
static bool read_counts(PgEngine *engine, Arena *arena, const Place *place, DateProfile *profile, Error *err) {
  PG_SCOPED counts = NULL;
  PG_SCOPED ends = NULL;
  profile->rows = profile->nulls = -1;
  if (place->small) {
    if (!pg_query(engine, fill(arena, place, sql_dates_count_all, ""), NULL, 0, &counts, doing, err)) return false;
    profile->rows = pg_int(counts, 0, 0);
    profile->nulls = pg_int(counts, 0, 1);
  }
  if (!place->small && !place->indexed) return true;
  if (!pg_query(engine, fill(arena, place, sql_dates_ends, ""), NULL, 0, &ends, doing, err)) return false;
  profile->lowest = pg_text(arena, ends, 0, 0);
  profile->highest = pg_text(arena, ends, 0, 1);
  return true;
}

static void add_sample(Arena *arena, const char ***samples, DateProfile *profile, const char *text) {
  if (text == NULL || profile->n_samples == SAMPLE_VALUES) return;
  for (size_t i = profile->n_samples; i > 0; i--)
    if (strcmp((*samples)[i - 1], text) == 0) return;
  *samples = arena_grow(arena, *samples, profile->n_samples, sizeof **samples);
  (*samples)[profile->n_samples++] = arena_strdup(arena, text);
}

static bool read_sample(PgEngine *engine, Arena *arena, const Place *place, DateProfile *profile, Error *err) {
  PG_SCOPED rows = NULL;
  const char **samples = NULL;
  const char *limit = arena_printf(arena, "%d", SAMPLE_VALUES);
  const char *sql = place->small    ? sql_dates_sample_all
                    : place->stored ? sql_dates_sample_spread
                                    : sql_dates_sample_first;
  if (!pg_query(engine, fill(arena, place, sql, limit), NULL, 0, &rows, doing, err)) return false;
  add_sample(arena, &samples, profile, profile->lowest);
  add_sample(arena, &samples, profile, profile->highest);
  for (int i = 0; i < PQntuples(rows); i++) add_sample(arena, &samples, profile, pg_peek(rows, i, 0));
  profile->samples = samples;
  if (place->type->native || (place->type->kinds >> DATE_TEXT & 1) != 0)
    profile->texts = (int64_t)profile->n_samples;
  else
    profile->integers = (int64_t)profile->n_samples;
  return true;
}

bool pg_date_profile(Engine *base, Arena *arena, const char *table, const char *column, DateProfile *ret, Error *err) {
  PgEngine *engine = pg_engine(base);
  DateProfile profile = {.rows = -1, .nulls = -1};
  Place place;
  if (!find_place(engine, arena, table, column, &place, &profile, err)) return false;
  if (profile.kinds != 0 &&
      (!read_counts(engine, arena, &place, &profile, err) || !read_sample(engine, arena, &place, &profile, err)))
    return false;
  *ret = profile;
  return true;
}
