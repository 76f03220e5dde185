#include "engine/sqlite/values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static bool type_has(const char *type, const char *word) { return strcasestr(type, word) != NULL; }

Affinity affinity_of_type(const char *type, bool strict) {
  if (strict && strcasecmp(type, "ANY") == 0) return AFFINITY_NONE;
  if (type_has(type, "INT")) return AFFINITY_NUMERIC;
  if (type_has(type, "CHAR") || type_has(type, "CLOB") || type_has(type, "TEXT")) return AFFINITY_TEXT;
  if (type[0] == '\0' || type_has(type, "BLOB")) return AFFINITY_NONE;
  if (type_has(type, "REAL") || type_has(type, "FLOA") || type_has(type, "DOUB")) return AFFINITY_REAL;
  return AFFINITY_NUMERIC;
}

const char *affinity_word(Affinity affinity) {
  static const char *const words[] = {"", "TEXT", "NUMERIC", "REAL"};
  return words[affinity];
}

/* SQLite turns a real into an integer under NUMERIC affinity when nothing is lost (sqlite3VdbeIntegerAffinity). */
static void real_to_integer(Value *value) {
  if (!(value->real > -9223372036854775808.0 && value->real < 9223372036854775807.0)) return;
  int64_t whole = (int64_t)value->real;
  if ((double)whole != value->real) return;
  value->type = SQLITE_INTEGER;
  value->integer = whole;
}

/* Text that looks like a number becomes one; the copy is needed because conversion changes the value in place. */
static void text_to_number(sqlite3_stmt *stmt, int i, Value *value) {
  sqlite3_value *copy = sqlite3_value_dup(sqlite3_column_value(stmt, i));
  if (copy == NULL) error_out_of_memory();
  int type = sqlite3_value_numeric_type(copy);
  if (type == SQLITE_INTEGER) {
    value->type = SQLITE_INTEGER;
    value->integer = sqlite3_value_int64(copy);
  } else if (type == SQLITE_FLOAT) {
    value->type = SQLITE_FLOAT;
    value->real = sqlite3_value_double(copy);
    real_to_integer(value);
  }
  sqlite3_value_free(copy);
}

/* A number as the text that SQLite stores for it, in a copy so that the statement's own value stays a number. */
static void number_to_text(sqlite3_stmt *stmt, int i, Value *value) {
  value->owned = sqlite3_value_dup(sqlite3_column_value(stmt, i));
  if (value->owned == NULL) error_out_of_memory();
  value->type = SQLITE_TEXT;
  value->bytes = sqlite3_value_text(value->owned);
  value->n = sqlite3_value_bytes(value->owned);
}

void value_read(sqlite3_stmt *stmt, int i, Affinity affinity, Value *ret) {
  *ret = (Value){.type = sqlite3_column_type(stmt, i)};
  switch (ret->type) {
    case SQLITE_INTEGER:
      ret->integer = sqlite3_column_int64(stmt, i);
      if (affinity == AFFINITY_TEXT) number_to_text(stmt, i, ret);
      break;
    case SQLITE_FLOAT:
      ret->real = sqlite3_column_double(stmt, i);
      if (affinity == AFFINITY_TEXT)
        number_to_text(stmt, i, ret);
      else if (affinity == AFFINITY_NUMERIC)
        real_to_integer(ret);
      break;
    case SQLITE_TEXT:
      ret->bytes = sqlite3_column_text(stmt, i);
      if (ret->bytes == NULL) error_out_of_memory();
      ret->n = sqlite3_column_bytes(stmt, i);
      if (affinity == AFFINITY_NUMERIC || affinity == AFFINITY_REAL) text_to_number(stmt, i, ret);
      break;
    case SQLITE_BLOB:
      ret->bytes = sqlite3_column_blob(stmt, i);
      ret->n = sqlite3_column_bytes(stmt, i);
      break;
    default:
      break;
  }
  if (affinity == AFFINITY_REAL && ret->type == SQLITE_INTEGER) {
    ret->type = SQLITE_FLOAT;
    ret->real = (double)ret->integer;
  }
  if (ret->type == SQLITE_FLOAT && ret->real == 0.0) ret->real = 0.0; /* −0.0 is stored as 0.0 */
}

void values_release(Value *values, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (values[i].owned != NULL) {
      sqlite3_value_free(values[i].owned);
      values[i].owned = NULL;
    }
}

static double as_real(const Value *value) {
  return value->type == SQLITE_INTEGER ? (double)value->integer : value->real;
}

static bool is_number(const Value *value) { return value->type == SQLITE_INTEGER || value->type == SQLITE_FLOAT; }

bool value_equal(const Value *a, const Value *b, double tolerance) {
  if (tolerance > 0 && is_number(a) && is_number(b)) return fabs(as_real(a) - as_real(b)) <= tolerance;
  if (a->type != b->type) return false;
  switch (a->type) {
    case SQLITE_INTEGER:
      return a->integer == b->integer;
    case SQLITE_FLOAT:
      return a->real == b->real;
    case SQLITE_NULL:
      return true;
    default:
      return a->n == b->n && (a->n == 0 || memcmp(a->bytes, b->bytes, (size_t)a->n) == 0);
  }
}

/* The type's tag and eight bytes: the number itself, or the length of what follows. */
enum { ENCODED_HEAD = 1 + sizeof(int64_t) };

void value_encode(const Value *value, Buf *out) {
  int64_t length = value->n;
  const void *fixed = value->type == SQLITE_INTEGER ? (const void *)&value->integer
                      : value->type == SQLITE_FLOAT ? (const void *)&value->real
                                                    : (const void *)&length;
  buf_reserve(out, ENCODED_HEAD + (size_t)value->n);
  char *at = out->data + out->len;
  *at = (char)value->type;
  memcpy(at + 1, fixed, sizeof(int64_t));
  if (value->n > 0) memcpy(at + ENCODED_HEAD, value->bytes, (size_t)value->n);
  out->len += ENCODED_HEAD + (size_t)value->n;
}

void value_bind(sqlite3_stmt *stmt, int i, const Value *value) {
  switch (value->type) {
    case SQLITE_INTEGER:
      sqlite3_bind_int64(stmt, i, value->integer);
      break;
    case SQLITE_FLOAT:
      sqlite3_bind_double(stmt, i, value->real);
      break;
    case SQLITE_TEXT:
      sqlite3_bind_text(stmt, i, value->n == 0 ? "" : value->bytes, value->n, SQLITE_STATIC);
      break;
    case SQLITE_BLOB:
      sqlite3_bind_blob(stmt, i, value->n == 0 ? "" : value->bytes, value->n, SQLITE_STATIC);
      break;
    default:
      sqlite3_bind_null(stmt, i);
  }
}

const char *value_text(Arena *arena, const Value *value) {
  switch (value->type) {
    case SQLITE_INTEGER:
      return arena_printf(arena, "%" PRId64, value->integer);
    case SQLITE_FLOAT:
      return arena_printf(arena, "%.15g", value->real);
    case SQLITE_TEXT:
      return arena_strndup(arena, value->bytes, (size_t)value->n);
    case SQLITE_BLOB: {
      BUF_SCOPED out = {0};
      buf_puts(&out, "x'");
      for (int i = 0; i < value->n && i < 32; i++) buf_printf(&out, "%02x", ((const unsigned char *)value->bytes)[i]);
      buf_puts(&out, value->n > 32 ? "…'" : "'");
      return arena_strdup(arena, buf_text(&out));
    }
    default:
      return NULL;
  }
}

bool value_date(const DateCodec *codec, const Value *value, Instant *ret) {
  switch (value->type) {
    case SQLITE_INTEGER:
      return datecodec_from_int(codec, value->integer, ret);
    case SQLITE_FLOAT:
      return datecodec_from_real(codec, value->real, ret);
    case SQLITE_TEXT:
      return datecodec_from_text(codec, value->bytes, (size_t)value->n, ret);
    default:
      return false;
  }
}
