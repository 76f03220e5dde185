#include <stdlib.h>

#include "time/zone_table.h"
#include "time_test.h"

/* A TZif file being written for a test. */
typedef struct File {
  unsigned char bytes[4096];
  size_t n;
} File;

static void put(File *file, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; i--) file->bytes[file->n++] = (unsigned char)(value >> (8 * i));
}

static void put_header(File *file, char version, uint32_t times, uint32_t types, uint32_t chars, uint32_t leaps) {
  memcpy(file->bytes + file->n, "TZif", 4);
  file->n += 4;
  put(file, (unsigned char)version, 1);
  put(file, 0, 8);
  put(file, 0, 7);
  put(file, 0, 4);
  put(file, 0, 4);
  put(file, leaps, 4);
  put(file, times, 4);
  put(file, types, 4);
  put(file, chars, 4);
}

/* Two changes, at 1000 to +3600 and at 2000 to +7200; before them 0. */
static File two_changes(const char *footer) {
  File file = {.n = 0};
  put_header(&file, '2', 0, 0, 0, 0);
  put_header(&file, '2', 2, 3, 4, 0);
  put(&file, 1000, 8);
  put(&file, 2000, 8);
  put(&file, 1, 1);
  put(&file, 2, 1);
  for (int i = 0; i < 3; i++) {
    put(&file, (uint64_t)i * 3600, 4);
    put(&file, 0, 2);
  }
  put(&file, 0x414243, 3);
  put(&file, 0, 1);
  put(&file, '\n', 1);
  memcpy(file.bytes + file.n, footer, strlen(footer));
  file.n += strlen(footer);
  return file;
}

static bool parse(Arena *arena, const File *file, size_t n, Zone *parsed, const char **why) {
  /* Exactly n bytes on the heap, so that reading one more is seen. */
  unsigned char *copy = malloc(n == 0 ? 1 : n);
  memcpy(copy, file->bytes, n);
  bool ok = tzif_parse(arena, copy, n, parsed, why);
  free(copy);
  return ok;
}

static void reads_the_changes(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why = "";
  File file = two_changes("\n");
  assert_true(parse(&arena, &file, file.n, &parsed, &why));
  assert_int_equal(zone_offset(&parsed, 999), 0);
  assert_int_equal(zone_offset(&parsed, 1000), 3600);
  assert_int_equal(zone_offset(&parsed, 1999), 3600);
  assert_int_equal(zone_offset(&parsed, 2000), 7200);
  assert_int_equal(zone_offset(&parsed, INSTANT_MAX), 7200);
  arena_release(&arena);
}

static void the_footer_goes_on_after_the_last_change(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why = "";
  File file = two_changes("CET-1CEST,M3.5.0,M10.5.0/3\n");
  assert_true(parse(&arena, &file, file.n, &parsed, &why));
  assert_int_equal(zone_offset(&parsed, at("1970-07-01T00:00:00Z")), 7200);
  assert_int_equal(zone_offset(&parsed, at("1970-12-01T00:00:00Z")), 3600);
  assert_int_equal(zone_offset(&parsed, at("2024-07-01T00:00:00Z")), 7200);
  assert_int_equal(zone_offset(&parsed, at("9998-12-01T00:00:00Z")), 3600);
  arena_release(&arena);
}

/* RFC 9636, 3.3.1: summer time all the year round. */
static void perpetual_summer_time(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why = "";
  File file = two_changes("EST5EDT,0/0,J365/25\n");
  assert_true(parse(&arena, &file, file.n, &parsed, &why));
  assert_int_equal(zone_offset(&parsed, at("2024-01-01T04:30:00Z")), -14400);
  assert_int_equal(zone_offset(&parsed, at("2024-12-31T23:59:59Z")), -14400);
  assert_int_equal(zone_offset(&parsed, at("5024-07-01T00:00:00Z")), -14400);
  arena_release(&arena);
}

static void a_file_cut_anywhere_is_refused(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why;
  File file = two_changes("CET-1CEST,M3.5.0,M10.5.0/3\n");
  for (size_t n = 0; n < file.n; n++) {
    why = NULL;
    if (parse(&arena, &file, n, &parsed, &why)) fail_msg("accepted after %zu bytes", n);
    assert_non_null(why);
  }
  arena_release(&arena);
}

static void hostile_files_are_refused(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why = NULL;
  File file = two_changes("\n");
  File version_one = file, unordered = file, no_type = file, offset = file, counts = file,
       footer = two_changes("CET\n");
  version_one.bytes[4] = 0;
  assert_false(parse(&arena, &version_one, file.n, &parsed, &why));
  assert_contains(why, "version 1");
  unordered.bytes[44 + 44 + 14] = 0; /* the second at 208 */
  assert_false(parse(&arena, &unordered, file.n, &parsed, &why));
  assert_contains(why, "order");
  no_type.bytes[44 + 44 + 17] = 3;
  assert_false(parse(&arena, &no_type, file.n, &parsed, &why));
  assert_contains(why, "type");
  offset.bytes[44 + 44 + 18 + 12] = 0x7f;
  assert_false(parse(&arena, &offset, file.n, &parsed, &why));
  assert_contains(why, "offset");
  memset(counts.bytes + 44 + 20, 0xff, 24);
  assert_false(parse(&arena, &counts, file.n, &parsed, &why));
  assert_contains(why, "cut off");
  assert_false(parse(&arena, &footer, footer.n, &parsed, &why));
  assert_contains(why, "POSIX");
  arena_release(&arena);
}

/* right/ zones count leap seconds: their instants are not those of a database. */
static void leap_seconds_are_refused(void **state) {
  Arena arena = {0};
  Zone parsed = {.name = "test"};
  const char *why = NULL;
  File file = {.n = 0};
  put_header(&file, '2', 0, 0, 0, 0);
  put_header(&file, '2', 0, 1, 4, 1);
  put(&file, 0, 6);
  put(&file, 0x41424300, 4);
  put(&file, 78796800, 8);
  put(&file, 1, 4);
  put(&file, 0x0a0a, 2);
  assert_false(parse(&arena, &file, file.n, &parsed, &why));
  assert_contains(why, "leap");
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_changes),         cmocka_unit_test(the_footer_goes_on_after_the_last_change),
      cmocka_unit_test(perpetual_summer_time),     cmocka_unit_test(a_file_cut_anywhere_is_refused),
      cmocka_unit_test(hostile_files_are_refused), cmocka_unit_test(leap_seconds_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
