#ifndef TIDEGATE_ENGINE_SQLITE_VALUES_H
#define TIDEGATE_ENGINE_SQLITE_VALUES_H

#include "engine/sqlite/sqlite_int.h"

/* SQLite's column affinities (sqlite.org/datatype3.html, 3.1); STRICT tables' ANY is AFFINITY_NONE. */
typedef enum Affinity { AFFINITY_NONE, AFFINITY_TEXT, AFFINITY_NUMERIC, AFFINITY_REAL } Affinity;

Affinity affinity_of_type(const char *type, bool strict);
/* The type word with which a column of this affinity is declared: "", "TEXT", "NUMERIC", "REAL". */
const char *affinity_word(Affinity affinity);

/* One value as the target would store it. Text and blob bytes belong to the statement until its next step. */
typedef struct Value {
  int type; /* SQLITE_INTEGER, … SQLITE_NULL */
  int64_t integer;
  double real;
  const void *bytes;
  int n;
  sqlite3_value *owned; /* a converted copy, freed by values_release */
} Value;

/* Column i of the current row, with the affinity applied as an INSERT would. */
void value_read(sqlite3_stmt *stmt, int i, Affinity affinity, Value *ret);
void values_release(Value *values, size_t n);

/* Equal in type and bytes; −0.0 equals 0.0; two numbers at most `tolerance` apart are equal too. */
bool value_equal(const Value *a, const Value *b, double tolerance);

/* Appends a typed, length-prefixed, NULL-tagged form: no two different rows share one. */
void value_encode(const Value *value, Buf *out);

void value_bind(sqlite3_stmt *stmt, int i, const Value *value);

/* For people: NULL for SQL NULL, x'…' for blobs (the first 32 bytes), %.15g for reals. In the arena. */
const char *value_text(Arena *arena, const Value *value);

/* The date of a value by the codec; false when it has none. */
bool value_date(const DateCodec *codec, const Value *value, Instant *ret);

#endif
