#ifndef TIDEGATE_BASE_ARENA_H
#define TIDEGATE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * A bump allocator: everything taken from an arena lives until arena_release. One arena a run, one a batch.
 * Zero-initialise: `Arena arena = {0};`. Allocation never returns NULL (error_out_of_memory ends the process).
 */
typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
  ArenaBlock *head;
} Arena;

/* size bytes, zeroed, aligned for any type; size 0 gives a valid pointer. */
void *arena_alloc(Arena *arena, size_t size) __attribute__((returns_nonnull));

/* n elements of size bytes, zeroed; an overflowing product ends the process like exhaustion. */
void *arena_array(Arena *arena, size_t n, size_t size) __attribute__((returns_nonnull));

/* A NUL-terminated copy of text (NULL gives NULL). */
char *arena_strdup(Arena *arena, const char *text);

/* A NUL-terminated copy of the first n bytes of text. */
char *arena_strndup(Arena *arena, const char *text, size_t n);

/* sprintf into the arena, however long it gets. */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Frees everything; the arena may be used again. NULL-safe members: an unused arena is fine. */
void arena_release(Arena *arena);

/* For `ARENA_SCOPED arena = {0};`: released when the scope ends. */
#define ARENA_SCOPED __attribute__((cleanup(arena_release))) Arena

/*
 * Grows an arena array: before `array[(*n)++] = x`, call array = arena_grow(arena, array, *n, sizeof *array).
 * Capacity doubles at powers of two, so no capacity need be kept.
 */
void *arena_grow(Arena *arena, void *array, size_t n, size_t size) __attribute__((returns_nonnull));

#endif
