#include "view/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/doc.h"
#include "scene.h"

enum { DATES = 28 };

static Shape scene_shape(void) {
  return (Shape){.table = "daily", .columns = scene_columns, .n = 4, .codec = {.grain = GRAIN_DAY, .zone = zone_utc()}};
}

/* February 2013: ten rows a date, but none on the 5th, 4 on the 12th, 15 on the 19th. */
static Calendar scene_calendar(Arena *arena, const Shape *shape) {
  static DateRecord counts[DATES];
  size_t n = 0;
  for (int day = 1; day <= DATES; day++)
    if (day != 5)
      counts[n++] = (DateRecord){.date = scene_first + (day - 1) * SCENE_DAY,
                                 .expected = day == 12   ? 4
                                             : day == 19 ? 15
                                                         : 10};
  return calendar_mark(arena, shape, (DateRange){scene_first, scene_first + DATES * SCENE_DAY}, counts, n);
}

static void dates_are_held_against_their_weekday(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  Shape shape = scene_shape();
  Calendar calendar = scene_calendar(&arena, &shape);
  assert_int_equal(calendar.n, DATES);
  assert_int_equal(calendar.days[0].mark, DAY_PRESENT);
  assert_int_equal(calendar.days[4].mark, DAY_MISSING);
  assert_int_equal(calendar.days[11].mark, DAY_LOW);
  assert_int_equal(calendar.days[18].mark, DAY_HIGH);
  assert_int_equal(calendar.days[4].usual, 10);
}

static void a_month_is_a_grid_with_a_legend_and_a_list(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Shape shape = scene_shape();
  Calendar calendar = scene_calendar(&arena, &shape);
  calendar.null_dates = 2;
  view_calendar(&(Paint){.out = &out}, &arena, &calendar);
  assert_string_equal(buf_text(&out),
                      "daily  1–28 Feb 2013  by flight_date\n"
                      "\n"
                      "February 2013\n"
                      "  Mo  Tu  We  Th  Fr  Sa  Su\n"
                      "                  1   2   3 \n"
                      "  4   5x  6   7   8   9  10 \n"
                      " 11  12- 13  14  15  16  17 \n"
                      " 18  19+ 20  21  22  23  24 \n"
                      " 25  26  27  28 \n"
                      "\n"
                      "x         missing or empty: no row at all\n"
                      "-         low: less than half the rows of the median of its weekday (late?)\n"
                      "+         high: 1.5 times that median or more (doubled?)\n"
                      "\n"
                      "date        what     rows  usual\n"
                      "2013-02-05  missing     0     10\n"
                      "2013-02-12  low         4     10\n"
                      "2013-02-19  high       15     10\n"
                      "warning   2 rows without a date\n");
}

static void the_json_has_every_date(void **state) {
  (void)state;
  ARENA_SCOPED arena = {0};
  BUF_SCOPED out = {0};
  Shape shape = scene_shape();
  Calendar calendar = scene_calendar(&arena, &shape);
  const DocNode *root = NULL;
  Error err;
  Json json = {.out = &out};
  json_object(&json, NULL);
  view_calendar_json(&json, &calendar);
  json_object_end(&json);
  assert_true(doc_parse(&arena, "out", out.data, out.len, &root, &err));
  assert_int_equal(doc_get(root, "dates")->n, DATES);
  assert_string_equal(doc_text(&doc_get(root, "dates")->children[4], "mark", ""), "missing");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dates_are_held_against_their_weekday),
                                     cmocka_unit_test(a_month_is_a_grid_with_a_legend_and_a_list),
                                     cmocka_unit_test(the_json_has_every_date)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
