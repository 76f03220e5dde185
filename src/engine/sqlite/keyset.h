#ifndef TIDEGATE_ENGINE_SQLITE_KEYSET_H
#define TIDEGATE_ENGINE_SQLITE_KEYSET_H

#include "base/hash.h"

/* The keys that a comparison has met, by their hashes. {0} is empty; released by keyset_release. */

typedef struct KeySet {
  RowHash *slots; /* open addressing; {0,0} = free */
  size_t size, n;
} KeySet;

/* False if the hash is in the set already. */
bool keyset_add(KeySet *set, RowHash hash);
/* Room for n hashes. */
void keyset_reserve(KeySet *set, size_t n);
bool keyset_has(const KeySet *set, RowHash hash);
void keyset_release(KeySet *set);

#endif
