#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/run_int.h"

enum { DATES = 100 };

/* A run over 100 dates of 10 rows each, on an engine of these capabilities. */
typedef struct Scene {
  EngineOps ops;
  struct SceneEngine {
    Engine base;
    EngineCaps caps;
  } engine;
  Plan plan;
  DateRecord dates[DATES];
  Run run;
} Scene;

static EngineCaps scene_caps(Engine *engine) { return ((struct SceneEngine *)engine)->caps; }

static Scene *start(EngineCaps caps) {
  Scene *scene = test_calloc(1, sizeof *scene);
  scene->ops.caps = scene_caps;
  scene->engine = (struct SceneEngine){{&scene->ops}, caps};
  scene->plan.spec.budget.batch = 60;
  for (int i = 0; i < DATES; i++) scene->dates[i] = (DateRecord){.date = i, .expected = 10};
  scene->run = (Run){.engine = &scene->engine.base, .plan = &scene->plan, .dates = scene->dates, .n_dates = DATES};
  return scene;
}

static const EngineCaps server = {.readers_unblocked = true, .writes_apart = true};

/* Writes the next batch in so many seconds a date; its dates. */
static size_t write_next(Scene *scene, double seconds_a_date) {
  Run *run = &scene->run;
  size_t from, n;
  assert_true(run_next_batch(run, &from, &n));
  run->batches++;
  for (size_t i = 0; i < n; i++) run->dates[from + i].batch = run->batches;
  run_measured(run, n, 10 * (int64_t)n, seconds_a_date * (double)n);
  return n;
}

static void sizes_grow_by_a_date_and_then_by_half(void **state) {
  (void)state;
  Scene *scene = start(server);
  static const size_t expected[] = {1, 2, 3, 4, 6, 9, 13, 19, 28};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(write_next(scene, 0.001), expected[i]);
  test_free(scene);
}

static void a_gap_neither_shrinks_nor_grows(void **state) {
  (void)state;
  Scene *scene = start(server);
  scene->dates[3].suspect = 1; /* the first batch: 3 dates lie before it */
  static const size_t expected[] = {1, 2, 1, 3, 4};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(write_next(scene, 0.001), expected[i]);
  test_free(scene);
}

static void a_batch_that_took_too_long_halves_the_next(void **state) {
  (void)state;
  Scene *scene = start(server);
  for (int i = 0; i < 5; i++) write_next(scene, 0.001);
  assert_int_equal(write_next(scene, 100), 9);
  scene->run.n_speeds = 0; /* the size alone, not what is expected by the speed */
  scene->plan.spec.budget.batch = 1e9;
  assert_int_equal(write_next(scene, 0.001), 4);
  assert_int_equal(write_next(scene, 0.001), 6);
  test_free(scene);
}

static void slowing_down_halves_once_a_batch(void **state) {
  (void)state;
  Scene *scene = start(server);
  for (int i = 0; i < 6; i++) write_next(scene, 0.001);
  run_slow_down(&scene->run); /* the last had 9 dates */
  run_slow_down(&scene->run);
  assert_int_equal(write_next(scene, 0.001), 4);
  for (int i = 0; i < 3; i++) run_slow_down(&scene->run);
  assert_int_equal(write_next(scene, 0.001), 2);
  run_slow_down(&scene->run);
  assert_int_equal(write_next(scene, 0.001), 1);
  run_slow_down(&scene->run);
  assert_int_equal(write_next(scene, 0.001), 1); /* never less than a date */
  assert_int_equal(write_next(scene, 0.001), 2);
  test_free(scene);
}

static void the_budget_bounds_a_batch_by_the_measured_speed(void **state) {
  (void)state;
  Scene *scene = start(server);
  for (int i = 0; i < 4; i++) write_next(scene, 14); /* 1.4 s a row: four dates are 56 s, five are 70 s */
  assert_int_equal(scene->run.size, 6);
  assert_int_equal(write_next(scene, 14), 4);
  test_free(scene);
}

static void where_writers_wait_a_batch_lasts_a_second(void **state) {
  (void)state;
  Scene *scene = start((EngineCaps){.readers_unblocked = false});
  for (int i = 0; i < 3; i++) write_next(scene, 0.3);
  assert_int_equal(write_next(scene, 0.3), 3); /* size 4 would be 1.2 s */
  test_free(scene);
  scene = start(server); /* written inside its transaction, and nobody waits */
  for (int i = 0; i < 3; i++) write_next(scene, 0.3);
  assert_int_equal(write_next(scene, 0.3), 4);
  assert_true(run_directly(&scene->run));
  test_free(scene);
}

static void nine_rows_of_ten_kept_to_the_speed(void **state) {
  (void)state;
  Scene *scene = start(server);
  Run *run = &scene->run;
  run_measured(run, 1, 10, 5);    /* a small first batch, all overhead */
  run_measured(run, 2, 800, 8);   /* 0.01 s a row */
  run_measured(run, 3, 190, 9.5); /* 0.05 s a row */
  assert_true(run_expected_seconds(run, 100) > 4.999 && run_expected_seconds(run, 100) < 5.001);
  for (int i = 0; i < 10; i++) run_measured(run, 4, 100, 1 + i); /* ten alike in size: the ninth */
  assert_int_equal(run->n_speeds, 10);
  assert_true(run_expected_seconds(run, 100) > 8.999 && run_expected_seconds(run, 100) < 9.001);
  test_free(scene);
}

static void nothing_measured_counts_as_the_whole_budget(void **state) {
  (void)state;
  Scene *scene = start(server);
  assert_true(run_expected_seconds(&scene->run, 5) == 60);
  run_measured(&scene->run, 1, 0, 1); /* a date without rows says nothing of a row */
  assert_true(run_expected_seconds(&scene->run, 5) == 60);
  test_free(scene);
}

/* Dates that a worker writes at this moment are nobody else's. */
static void what_is_being_written_is_not_given_out_again(void **state) {
  (void)state;
  Scene *scene = start(server);
  Run *run = &scene->run;
  bool taken[DATES] = {false};
  size_t from, n;
  for (int i = 0; i < 5; i++) write_next(scene, 0.001); /* 1 + 2 + 3 + 4 + 6 dates */
  run->taken = taken;
  assert_true(run_next_batch(run, &from, &n) && from == 16 && n == 9);
  for (size_t i = 0; i < n; i++) taken[from + i] = true;
  assert_true(run_next_batch(run, &from, &n) && from == 25 && n == 9);
  for (size_t i = 0; i < n; i++) taken[from + i] = true;
  taken[16] = false; /* given back: alone between what is written and what is being written */
  assert_true(run_next_batch(run, &from, &n) && from == 16 && n == 1);
  for (size_t i = 16; i < DATES; i++) taken[i] = true;
  assert_false(run_next_batch(run, &from, &n));
  test_free(scene);
}

/* Takes the next batch; its dates. */
static size_t take_next(Run *run) {
  size_t from, n;
  assert_true(run_next_batch(run, &from, &n));
  for (size_t i = 0; i < n; i++) run->taken[from + i] = true;
  return n;
}

static void what_is_left_is_shared_out(void **state) {
  (void)state;
  Scene *scene = start(server);
  Run *run = &scene->run;
  bool taken[DATES] = {false};
  size_t from, n;
  scene->plan.workers = 3;
  for (int i = 0; i < 9; i++) write_next(scene, 0.001); /* 85 of them; the next may have 42 */
  assert_true(run_next_batch(run, &from, &n) && from == 85 && n == 15);
  run->taken = taken;
  run->size = 8;
  run->idle = 3;
  assert_int_equal(take_next(run), 5);
  run->idle = 2;
  assert_int_equal(take_next(run), 5);
  run->idle = 1; /* the others have just begun, or have nearly done: a third of what is left */
  assert_int_equal(take_next(run), 2);
  assert_int_equal(take_next(run), 2); /* no crumbs: a quarter of what a batch may have */
  assert_int_equal(take_next(run), 1);
  assert_false(run_next_batch(run, &from, &n));
  test_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_grow_by_a_date_and_then_by_half),
      cmocka_unit_test(a_gap_neither_shrinks_nor_grows),
      cmocka_unit_test(a_batch_that_took_too_long_halves_the_next),
      cmocka_unit_test(slowing_down_halves_once_a_batch),
      cmocka_unit_test(the_budget_bounds_a_batch_by_the_measured_speed),
      cmocka_unit_test(where_writers_wait_a_batch_lasts_a_second),
      cmocka_unit_test(nine_rows_of_ten_kept_to_the_speed),
      cmocka_unit_test(nothing_measured_counts_as_the_whole_budget),
      cmocka_unit_test(what_is_being_written_is_not_given_out_again),
      cmocka_unit_test(what_is_left_is_shared_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
