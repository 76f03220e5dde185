#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

RowHash hash_bytes(const void *bytes, size_t n) {
  XXH128_hash_t hash = XXH3_128bits(bytes, n);
  return (RowHash){hash.low64, hash.high64};
}

void fingerprint_add(Fingerprint *sum, RowHash hash) {
  sum->rows++;
  sum->low += hash.low;
  sum->high += hash.high + (sum->low < hash.low);
}

void fingerprint_plus(Fingerprint *sum, const Fingerprint *other) {
  sum->rows += other->rows;
  sum->low += other->low;
  sum->high += other->high + (sum->low < other->low);
}

void fingerprint_minus(Fingerprint *sum, const Fingerprint *other) {
  sum->rows -= other->rows;
  sum->high -= other->high + (sum->low < other->low);
  sum->low -= other->low;
}

bool fingerprint_equal(const Fingerprint *a, const Fingerprint *b) {
  return a->rows == b->rows && a->low == b->low && a->high == b->high;
}

void fingerprint_text(const Fingerprint *fingerprint, char text[FINGERPRINT_TEXT]) {
  snprintf(text, FINGERPRINT_TEXT, "%" PRId64 ":%016" PRIx64 "%016" PRIx64, fingerprint->rows, fingerprint->high,
           fingerprint->low);
}

bool fingerprint_parse(const char *text, Fingerprint *ret) {
  Fingerprint parsed;
  char end;
  if (text == NULL || strlen(text) >= FINGERPRINT_TEXT) return false;
  if (sscanf(text, "%" SCNd64 ":%16" SCNx64 "%16" SCNx64 "%c", &parsed.rows, &parsed.high, &parsed.low, &end) != 3)
    return false;
  *ret = parsed;
  return true;
}

void hash_hex(const void *bytes, size_t n, char text[33]) {
  RowHash hash = hash_bytes(bytes, n);
  snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}
