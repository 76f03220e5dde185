#ifndef TIDEGATE_BASE_HASH_H
#define TIDEGATE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A fingerprint of a set of rows: their count and the sum, modulo 2^128, of their hashes. The order of rows does not
 * matter and duplicates count (a XOR would let them cancel).
 */
typedef struct Fingerprint {
  int64_t rows;
  uint64_t low, high;
} Fingerprint;

/* One row's hash (XXH3, 128 bits). */
typedef struct RowHash {
  uint64_t low, high;
} RowHash;

RowHash hash_bytes(const void *bytes, size_t n);

void fingerprint_add(Fingerprint *sum, RowHash hash);
/* The rows of `other` added to those of `sum`, or taken out of them. */
void fingerprint_plus(Fingerprint *sum, const Fingerprint *other);
void fingerprint_minus(Fingerprint *sum, const Fingerprint *other);
bool fingerprint_equal(const Fingerprint *a, const Fingerprint *b);

/* "rows:32 hex digits", as the ledger keeps it; at most 56 bytes with the NUL. */
enum { FINGERPRINT_TEXT = 56 };
void fingerprint_text(const Fingerprint *fingerprint, char text[FINGERPRINT_TEXT]);
/* Back from that text; false if it is not of that form. */
bool fingerprint_parse(const char *text, Fingerprint *ret);

/* 32 hex digits of the hash of a text: digests of specs and plans. */
void hash_hex(const void *bytes, size_t n, char text[33]);

#endif
