#ifndef TIDEGATE_BASE_MASK_H
#define TIDEGATE_BASE_MASK_H

#include <stddef.h>

#include "base/arena.h"

/* The command line of `n` bytes without its secrets, each of which is ***, and not longer than a record holds; in the
 * arena. Masked text stays as it is. */
const char *mask_secrets(Arena *arena, const char *text, size_t n);
/* The same of what a command has printed, whole: the values of variables of this environment whose names say that they
 * are secrets are masked, too. */
const char *mask_output(Arena *arena, const char *text, size_t n);

#endif
