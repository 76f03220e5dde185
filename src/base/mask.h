#ifndef TIDEGATE_BASE_MASK_H
#define TIDEGATE_BASE_MASK_H

#include <stddef.h>

#include "base/arena.h"

/* The command line of `n` bytes without its secrets, each of which is ***, and not longer than a record holds; in the
 * arena. Masked text stays as it is. */
const char *mask_secrets(Arena *arena, const char *text, size_t n);

#endif
