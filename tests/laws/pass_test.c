#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/gate.h"

/* Law 8 at run time: without a pass there is no writer, and a denial hands out none. */

static Engine *engine;
static char path[] = "/tmp/tidegate-pass-XXXXXX";

static int open_scratch(void **state) {
  Error err;
  int fd = mkstemp(path);
  if (fd < 0) return -1;
  close(fd);
  return engine_open(path, NULL, &engine, &err) ? 0 : -1;
}

static int close_scratch(void **state) {
  engine_close(&engine);
  return unlink(path);
}

static void test_law_08_no_writer_without_a_pass(void **state) {
  Error err = {0};
  EngineWriter *writer = NULL;
  assert_false(engine->ops->writer_open(engine, NULL, "7f3a", 1, &writer, &err));
  assert_int_equal(err.code, ERR_DENIED);
  assert_null(writer);
}

/* Every act: an empty plan is understood in nothing, and nothing is what it may do. */
static void test_law_08_a_denial_hands_out_no_pass(void **state) {
  static const GateAct acts[] = {GATE_PLAN, GATE_BATCH, GATE_SWAP, GATE_ROLLBACK, GATE_SNAPSHOT};
  ARENA_SCOPED arena = {0};
  Plan plan = {.shape = {.table = "sales", .codec = {.grain = GRAIN_DAY, .zone = zone_utc()}}, .day_zone = zone_utc()};
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    Error err = {0};
    Verdict verdict;
    static const char before;
    const GatePass *pass = (const GatePass *)(const void *)&before;
    assert_true(gate_judge(&arena, engine, &plan, acts[i], 1, &verdict, &pass, &err));
    assert_false(verdict.allow);
    assert_null(pass);
  }
}

/* A question that cannot be asked: neither verdict nor pass. */
static void test_law_08_work_without_end_is_not_judged(void **state) {
  ARENA_SCOPED arena = {0};
  Plan plan = {0};
  static const double needs[] = {-1, 1e300, (double)INFINITY, (double)NAN};
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    Error err = {0};
    Verdict verdict = {0};
    const GatePass *pass = NULL;
    assert_false(gate_judge(&arena, engine, &plan, GATE_SWAP, needs[i], &verdict, &pass, &err));
    assert_null(pass);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_law_08_no_writer_without_a_pass),
      cmocka_unit_test(test_law_08_a_denial_hands_out_no_pass),
      cmocka_unit_test(test_law_08_work_without_end_is_not_judged),
  };
  return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
