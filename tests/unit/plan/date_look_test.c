#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_int.h"

/* What is made of a column, by what an engine says of its type and values. */

typedef struct Told {
  Engine base;
  DateProfile profile;
} Told;

static bool tell(Engine *engine, Arena *arena, const char *table, const char *column, DateProfile *ret, Error *err) {
  *ret = ((Told *)engine)->profile;
  return true;
}

static DateLook look_at(Arena *arena, const char *name, const char *type, bool declared, DateProfile profile) {
  static const EngineOps ops = {.name = "told", .date_profile = tell};
  Told told = {.base = {.ops = &ops}, .profile = profile};
  ColumnFacts column = {.name = name, .type = type};
  DateLook look;
  Error err = {0};
  assert_true(plan_date_look(arena, &told.base, "t", &column, declared, &look, &err));
  return look;
}

static const char *const stamps[] = {"2024-07-01 10:00:00", "2024-07-02 11:00:00"}, *const days[] = {"2024-07-01"},
                         *const seconds[] = {"1719792000"}, *const julian[] = {"2460493"};

static void the_type_alone_decides(void **state) {
  ARENA_SCOPED arena = {0};
  DateProfile date = {.kinds = 1u << DATE_TEXT, .native = true, .why_not = "w", .way_out = "o"};
  DateLook look = look_at(&arena, "d", "date", false, date);
  assert_true(look.looks && look.known && !look.refused && look.kind == DATE_TEXT);
  look = look_at(&arena, "b", "business_day", false, date); /* a domain */
  assert_true(look.looks && look.known && look.kind == DATE_TEXT);
  date.kinds = 1u << TIMESTAMP_TEXT;
  look = look_at(&arena, "d", "timestamp with time zone", false, date);
  assert_true(look.looks && look.known && look.kind == TIMESTAMP_TEXT && look.separator == ' ');
}

static void what_the_engine_cannot_work_with_is_refused(void **state) {
  ARENA_SCOPED arena = {0};
  DateProfile text = {
      .kinds = 1u << DATE_TEXT, .why_not = "w", .way_out = "o", .texts = 2, .samples = stamps, .n_samples = 2};
  DateLook look = look_at(&arena, "s", "text", false, text);
  assert_true(look.refused && !look.looks && !look.known);
  text.samples = days;
  text.texts = (int64_t)(text.n_samples = 1);
  look = look_at(&arena, "s", "text", false, text);
  assert_true(!look.refused && look.looks && look.known && look.kind == DATE_TEXT);
  DateProfile none = {.why_not = "w", .way_out = "o"};
  look = look_at(&arena, "d", "daterange", false, none);
  assert_true(look.refused && !look.looks);
  look = look_at(&arena, "id", "uuid", false, none);
  assert_true(!look.refused && !look.looks && !look.known);
  look = look_at(&arena, "n", "numeric", true, none);
  assert_true(look.refused && !look.known);
}

static void numbers_of_a_kind_that_the_engine_has(void **state) {
  ARENA_SCOPED arena = {0};
  DateProfile numbers = {.kinds = 1u << UNIX_SECONDS | 1u << UNIX_MILLIS,
                         .why_not = "w",
                         .way_out = "o",
                         .integers = 1,
                         .samples = seconds,
                         .n_samples = 1};
  DateLook look = look_at(&arena, "created_at", "bigint", false, numbers);
  assert_true(look.looks && look.known && look.kind == UNIX_SECONDS && !look.refused);
  numbers.samples = julian;
  look = look_at(&arena, "created_at", "bigint", false, numbers);
  assert_true(look.refused && !look.known);
  numbers.kinds = DATE_KINDS_ALL;
  look = look_at(&arena, "created_at", "bigint", false, numbers);
  assert_true(look.known && look.kind == JULIAN_DAY && !look.refused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_type_alone_decides),
      cmocka_unit_test(what_the_engine_cannot_work_with_is_refused),
      cmocka_unit_test(numbers_of_a_kind_that_the_engine_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
