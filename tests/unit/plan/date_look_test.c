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

static void numbers_that_are_days_or_months_as_digits(void **state) {
  static const char *const day[] = {"20240131", "20240201"}, *const month[] = {"202401", "202412"},
                           *const no_day[] = {"20240131", "20240201", "20240230"}, *const august_1970[] = {"20130208"};
  ARENA_SCOPED arena = {0};
  DateProfile numbers = {.kinds = DATE_KINDS_ALL, .integers = 2, .samples = day, .n_samples = 2};
  DateLook look = look_at(&arena, "date_id", "integer", false, numbers);
  assert_true(look.looks && look.known && look.kind == DAY_NUMBER);
  numbers.samples = month;
  look = look_at(&arena, "month", "integer", false, numbers);
  assert_true(look.looks && look.known && look.kind == MONTH_NUMBER);
  numbers.samples = no_day; /* the third is a bad value, not a sign of seconds */
  numbers.n_samples = 3;
  look = look_at(&arena, "date_id", "integer", false, numbers);
  assert_true(look.looks && look.known && look.kind == DAY_NUMBER);
  numbers.samples = august_1970;
  numbers.n_samples = 1;
  look = look_at(&arena, "created_at", "integer", false, numbers);
  assert_true(look.kind == DAY_NUMBER);
  look = look_at(&arena, "amount", "integer", false, numbers);
  assert_false(look.looks || look.known);
}

static void texts_that_are_months_or_days_without_dashes(void **state) {
  static const char *const month[] = {"2024-01", "2024-12"}, *const basic[] = {"20240131", "20240201"},
                           *const mixed[] = {"2024-01", "2024-01-02"};
  ARENA_SCOPED arena = {0};
  DateProfile texts = {.kinds = DATE_KINDS_ALL, .texts = 2, .samples = month, .n_samples = 2};
  DateLook look = look_at(&arena, "m", "text", false, texts);
  assert_true(look.looks && look.known && look.kind == MONTH_TEXT);
  texts.samples = basic;
  look = look_at(&arena, "m", "text", false, texts);
  assert_true(look.looks && look.known && look.kind == BASIC_TEXT);
  texts.samples = mixed;
  look = look_at(&arena, "m", "text", false, texts);
  assert_false(look.looks);
}

/* How many stand there after a column of `found` came to two of `held`. */
static size_t after(DateKind held, DateKind found) {
  size_t n = 2;
  return plan_date_joins(held, &n, found) ? n + 1 : n;
}

static void of_several_columns_the_one_of_days_goes_first(void **state) {
  assert_int_equal(after(DATE_TEXT, UNIX_SECONDS), 3);
  assert_int_equal(after(MONTH_TEXT, MONTH_NUMBER), 3);
  assert_int_equal(after(MONTH_TEXT, DATE_TEXT), 1);
  assert_int_equal(after(DAY_NUMBER, TIMESTAMP_TEXT), 1);
  assert_int_equal(after(MONTH_NUMBER, DAY_NUMBER), 1);
  assert_int_equal(after(DATE_TEXT, MONTH_TEXT), 2);
  assert_int_equal(after(TIMESTAMP_TEXT, DAY_NUMBER), 2);
  size_t none = 0;
  assert_true(plan_date_joins(DATE_TEXT, &none, MONTH_NUMBER));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_type_alone_decides),
      cmocka_unit_test(what_the_engine_cannot_work_with_is_refused),
      cmocka_unit_test(numbers_of_a_kind_that_the_engine_has),
      cmocka_unit_test(numbers_that_are_days_or_months_as_digits),
      cmocka_unit_test(texts_that_are_months_or_days_without_dashes),
      cmocka_unit_test(of_several_columns_the_one_of_days_goes_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
