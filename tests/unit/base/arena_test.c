#include "base/arena.h"

#include "base_test.h"

static void memory_is_zeroed_and_aligned(void **state) {
  ARENA_SCOPED arena = {0};
  static const size_t sizes[] = {0, 1, 7, 16, 17, 1000, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 1000 * 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned char *memory = arena_alloc(&arena, sizes[i]);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
    for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(memory[j], 0);
    memset(memory, 0xA5, sizes[i]);
  }
}

static void pieces_do_not_overlap(void **state) {
  ARENA_SCOPED arena = {0};
  unsigned char *pieces[2000];
  for (size_t i = 0; i < 2000; i++) memset(pieces[i] = arena_alloc(&arena, i % 50 + 1), (int)(i % 251), i % 50 + 1);
  for (size_t i = 0; i < 2000; i++)
    for (size_t j = 0; j <= i % 50; j++) assert_int_equal(pieces[i][j], i % 251);
}

static void texts_are_copied(void **state) {
  ARENA_SCOPED arena = {0};
  char text[] = "tide";
  char *copy = arena_strdup(&arena, text);
  text[0] = 'x';
  assert_string_equal(copy, "tide");
  assert_null(arena_strdup(&arena, NULL));
  assert_string_equal(arena_strdup(&arena, ""), "");
  assert_string_equal(arena_strndup(&arena, "tidegate", 4), "tide");
  assert_string_equal(arena_strndup(&arena, NULL, 0), "");
  assert_memory_equal(arena_strndup(&arena, "a\0b", 3), "a\0b", 4);
}

static void printf_takes_what_it_needs(void **state) {
  ARENA_SCOPED arena = {0};
  assert_string_equal(arena_printf(&arena, "%s-%d", "a", 7), "a-7");
  assert_string_equal(arena_printf(&arena, "%s", ""), "");
  char *long_text = arena_printf(&arena, "%40000d", 1);
  assert_int_equal(strlen(long_text), 40000);
  assert_int_equal(long_text[39999], '1');
}

static void arrays_grow_by_doubling(void **state) {
  ARENA_SCOPED arena = {0};
  size_t n = 0;
  int *numbers = arena_grow(&arena, NULL, n, sizeof *numbers);
  for (int i = 0; i < 5000; i++) {
    int *before = numbers;
    numbers = arena_grow(&arena, numbers, n, sizeof *numbers);
    bool power = n == 0 || (n & (n - 1)) == 0;
    assert_true(power ? numbers != before : numbers == before);
    numbers[n++] = i;
  }
  for (size_t i = 0; i < n; i++) assert_int_equal(numbers[i], (int)i);
  assert_int_equal(n, 5000);
}

static void release_leaves_an_arena_that_works(void **state) {
  Arena arena = {0};
  arena_release(&arena);
  arena_alloc(&arena, 100);
  arena_release(&arena);
  assert_null(arena.head);
  assert_string_equal(arena_strdup(&arena, "again"), "again");
  arena_release(&arena);
}

static void too_much(void) {
  Arena arena = {0};
  arena_alloc(&arena, SIZE_MAX - 8);
}

static void overflowing_product(void) {
  Arena arena = {0};
  arena_array(&arena, SIZE_MAX / 2, 3);
}

static void exhaustion_ends_the_process(void **state) {
  assert_int_equal(exit_status_of(too_much), error_exit_status(ERR_MEMORY));
  assert_int_equal(exit_status_of(overflowing_product), error_exit_status(ERR_MEMORY));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(pieces_do_not_overlap),
      cmocka_unit_test(texts_are_copied),
      cmocka_unit_test(printf_takes_what_it_needs),
      cmocka_unit_test(arrays_grow_by_doubling),
      cmocka_unit_test(release_leaves_an_arena_that_works),
      cmocka_unit_test(exhaustion_ends_the_process),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
