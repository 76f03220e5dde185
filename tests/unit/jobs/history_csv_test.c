#include "history_test.h"

static void runs_by_job(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  const char *path =
      folder_file(folder, "runs.csv",
                  "note,job,scheduled,started,ended\r\n"
                  "\"a, \"\"b\"\"\",load,2026-11-01T02:00:00+01:00,2026-11-01T02:00:05+01:00,2026-11-01T01:20:00Z\r\n"
                  "\r\n"
                  ",\"other\",2026-11-01T03:00:00Z,2026-11-01T03:00:00Z,2026-11-01T03:10:00Z\r\n"
                  ",load,2026-11-02T02:00:00+01:00,2026-11-02T02:00:09+01:00,2026-11-02T02:30:00+01:00\r\n"
                  ",load,2026-11-03T02:00:00+01:00,2026-11-03T02:00:09+01:00,");
  assert_int_equal(folder_read(folder, "csv", path, &jobs), 2);
  assert_string_equal(jobs[0].name, "load");
  assert_int_equal(jobs[0].runs, 2); /* the third is still going on */
  assert_true(jobs[0].p95 == 1800);
  assert_true(jobs[0].jitter == 9);
  assert_null(jobs[0].expression);
  assert_string_not_equal(doubt(&jobs[0], "schedule"), "");
  assert_string_equal(jobs[1].name, "other");
  JobHistory again;
  Error err = {0};
  assert_true(jobs_history_read(&folder->arena, NULL, jobs[1].from, NULL, &again, &err));
  assert_string_equal(again.name, "other");
  assert_false(jobs_history_read(&folder->arena, NULL, arena_printf(&folder->arena, "csv %s job gone", path), NULL,
                                 &again, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void old_runs_are_left_out(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  size_t n;
  Error err = {0};
  JobSource source = {.kind = "csv",
                      .place = folder_file(folder, "runs.csv",
                                           "job,scheduled,started,ended\n"
                                           "load,2013-11-01T02:00:00Z,2013-11-01T02:00:00Z,2013-11-01T02:20:00Z\n")};
  assert_true(jobs_history(&folder->arena, NULL, &source, &jobs, &n, &err));
  assert_int_equal(n, 1);
  assert_int_equal(jobs[0].runs, 0);
  assert_true(jobs[0].p95 == -1);
}

static void faults_have_their_place(void **state) {
  Folder *folder = *state;
  static const char head[] = "job,scheduled,started,ended\n";
  const struct {
    const char *text, *where, *part;
  } cases[] = {
      {"job,scheduled,start,ended\n", "runs.csv:1:1", "no column 'started'"},
      {"", "runs.csv:1:1", "no column 'job'"},
      {"load,2026-11-01T02:00:00Z\n", "runs.csv:2:1", "2 fields"},
      {"l\303\266ad,2026-11-01T02:00:00,2026-11-01T02:00:00Z,2026-11-01T02:00:00Z\n", "runs.csv:2:6",
       "scheduled is no time"},
      {"\nload,2026-11-01T02:00:00Z,soon,2026-11-01T02:00:00Z\n", "runs.csv:3:27", "started is no time"},
      {"load,2026-11-01T02:00:00Z,2026-11-01T02:00:00Z,2026-11-01T01:59:00Z\n", "runs.csv:2:48",
       "ends before it starts"},
      {"load,2026-11-01T02:00:00Z,2026-11-01T01:00:00Z,2026-11-01T03:00:00Z\n", "runs.csv:2:27", "before it is due"},
      {",2026-11-01T02:00:00Z,2026-11-01T02:00:00Z,2026-11-01T03:00:00Z\n", "runs.csv:2:1", "no job's name"},
      {"\"load,2026-11-01T02:00:00Z\n", "runs.csv:2:1", "not closed"},
      {"\"load\"x,2026-11-01T02:00:00Z\n", "runs.csv:2:1", "neither a comma"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = i < 2 ? cases[i].text : arena_printf(&folder->arena, "%s%s", head, cases[i].text);
    folder_fails(folder, "csv", folder_file(folder, "runs.csv", text), cases[i].where, cases[i].part);
  }
  folder_fails(folder, "csv", "/no/such/file", "", "cannot read /no/such/file");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)
  const struct CMUnitTest tests[] = {TEST(runs_by_job), TEST(old_runs_are_left_out), TEST(faults_have_their_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
