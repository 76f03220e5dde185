#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct ArenaBlock {
  ArenaBlock *next;
  size_t used, size;
  _Alignas(max_align_t) unsigned char data[];
};

enum { BLOCK_SIZE = 16 * 1024 };

void *arena_alloc(Arena *arena, size_t size) {
  const size_t align = _Alignof(max_align_t);
  if (size > SIZE_MAX / 2) error_out_of_memory();
  size = (size + align - 1) / align * align;
  if (size == 0) size = align;
  ArenaBlock *block = arena->head;
  if (block == NULL || block->size - block->used < size) {
    size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    block = calloc(1, sizeof *block + capacity);
    if (block == NULL) error_out_of_memory();
    block->size = capacity;
    block->next = arena->head;
    arena->head = block;
  }
  void *memory = block->data + block->used;
  block->used += size;
  return memory;
}

void *arena_array(Arena *arena, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) error_out_of_memory();
  return arena_alloc(arena, bytes);
}

char *arena_strndup(Arena *arena, const char *text, size_t n) {
  char *copy = arena_alloc(arena, n + 1);
  if (n > 0) memcpy(copy, text, n);
  return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
  return text == NULL ? NULL : arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(Arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = arena_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1);
  if (n >= 0) vsnprintf(text, (size_t)n + 1, format, args);
  return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}

void *arena_grow(Arena *arena, void *array, size_t n, size_t size) {
  if (n != 0 && (n & (n - 1)) != 0) return array;
  size_t capacity = n == 0 ? 1 : n * 2;
  void *grown = arena_array(arena, capacity, size);
  if (n > 0) memcpy(grown, array, n * size);
  return grown;
}

void arena_release(Arena *arena) {
  for (ArenaBlock *block = arena->head, *next; block != NULL; block = next) {
    next = block->next;
    free(block);
  }
  arena->head = NULL;
}
