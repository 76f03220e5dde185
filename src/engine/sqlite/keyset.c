#include "engine/sqlite/keyset.h"

#include <stdlib.h>

#include "base/error.h"

static bool is_free(RowHash slot) { return slot.low == 0 && slot.high == 0; }

static RowHash never_zero(RowHash hash) { return is_free(hash) ? (RowHash){1, 0} : hash; }

static RowHash *find_slot(const KeySet *set, RowHash hash) {
  size_t i = (size_t)hash.low & (set->size - 1);
  while (!is_free(set->slots[i]) && (set->slots[i].low != hash.low || set->slots[i].high != hash.high))
    i = (i + 1) & (set->size - 1);
  return &set->slots[i];
}

static void resize(KeySet *set, size_t size) {
  KeySet grown = {.size = size, .n = set->n};
  grown.slots = calloc(grown.size, sizeof *grown.slots);
  if (grown.slots == NULL) error_out_of_memory();
  for (size_t i = 0; i < set->size; i++)
    if (!is_free(set->slots[i])) *find_slot(&grown, set->slots[i]) = set->slots[i];
  free(set->slots);
  *set = grown;
}

bool keyset_add(KeySet *set, RowHash hash) {
  hash = never_zero(hash);
  if (set->n * 3 >= set->size * 2) resize(set, set->size == 0 ? 1024 : set->size * 2);
  RowHash *slot = find_slot(set, hash);
  if (!is_free(*slot)) return false;
  *slot = hash;
  set->n++;
  return true;
}

void keyset_reserve(KeySet *set, size_t n) {
  size_t size = 1024;
  while (size * 2 < n * 3) size *= 2;
  resize(set, size);
}

bool keyset_has(const KeySet *set, RowHash hash) { return set->n > 0 && !is_free(*find_slot(set, never_zero(hash))); }

void keyset_release(KeySet *set) {
  free(set->slots);
  *set = (KeySet){0};
}
