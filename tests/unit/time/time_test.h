#ifndef TIDEGATE_TESTS_TIME_TEST_H
#define TIDEGATE_TESTS_TIME_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above. */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "time/quantity.h"
#include "time/zone.h"

/* What every test of this room needs: instants and zones from text. A test that names one wrongly fails. */
static inline Instant at(const char *text) {
  Instant instant = 0;
  Error err = {0};
  if (!instant_parse(text, &instant, &err)) fail_msg("%s", err.message);
  return instant;
}

static inline const Zone *zone(Arena *arena, const char *name) {
  const Zone *opened = NULL;
  Error err = {0};
  if (!zone_open(arena, name, &opened, &err)) fail_msg("%s", err.message);
  return opened;
}

/* The instant as the zone shows it must read so. */
#define assert_instant(instant, in_zone, expected) \
  do {                                             \
    char shown[40];                                \
    instant_rfc3339((instant), (in_zone), shown);  \
    assert_string_equal(shown, (expected));        \
  } while (0)

#define assert_contains(text, part)                                              \
  do {                                                                           \
    if (strstr((text), (part)) == NULL) fail_msg("'%s' lacks '%s'", text, part); \
  } while (0)

#endif
