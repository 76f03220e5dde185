#include "history_test.h"

/* Rank by rank; the first list and its 120 are those of tests/cases/schedules.md, A.2. */
static void nearest_rank(void **state) {
  const double few[] = {31, 29, 35, 30, 33, 32, 34, 120, 31, 30};
  double many[100];
  for (int i = 0; i < 100; i++) many[i] = 100 - i; /* 100 … 1 */
  assert_true(jobs_p95(few, 10) == 120);
  assert_true(jobs_p95(many + 81, 19) == 19); /* fewer than 20: the largest */
  assert_true(jobs_p95(many + 80, 20) == 19); /* the 19th of 20 */
  assert_true(jobs_p95(many + 79, 21) == 20); /* the 20th of 21 */
  assert_true(jobs_p95(many, 100) == 95);
  assert_true(jobs_p95(many, 1) == 100);
  assert_true(jobs_p95(NULL, 0) == -1);
}

enum { DAY = 86400 };

static JobHistory worked_out(Arena *arena, const JobRun *runs, size_t n, Instant next_due) {
  JobHistory history = {.p95 = -1};
  JobRun *own = arena_array(arena, n, sizeof *own);
  if (n > 0) memcpy(own, runs, n * sizeof *own);
  history_runs(arena, &history, own, n, next_due);
  return history;
}

static void queue_and_retries_count(void **state) {
  Folder *folder = *state;
  const JobRun runs[] = {{2 * DAY, 2 * DAY + 30, 2 * DAY + 630, false, false},
                         {DAY, DAY + 10, DAY + 310, false, false}};
  JobHistory history = worked_out(&folder->arena, runs, 2, 0);
  assert_int_equal(history.runs, 2);
  assert_true(history.p95 == 630);
  assert_true(history.jitter == 30);
  assert_int_equal(history.items[0].scheduled, DAY); /* oldest first */
  history = worked_out(&folder->arena, NULL, 0, 0);
  assert_true(history.p95 == -1);
  assert_int_equal(history.runs, 0);
}

/* Day 1 ran in time; the scheduler then stood until day 4, and made up for two runs before that of day 4, which had to
 * wait for them. */
static void what_was_caught_up_is_left_out(void **state) {
  Folder *folder = *state;
  const Instant up = 4 * DAY + 100;
  const JobRun runs[] = {{DAY, DAY + 1, DAY + 300, false, false},
                         {2 * DAY, up, up + 300, false, false},
                         {3 * DAY, up + 301, up + 600, false, false},
                         {4 * DAY, up + 601, up + 900, false, false},
                         {5 * DAY, 5 * DAY + 2, 5 * DAY + 400, false, false}};
  JobHistory history = worked_out(&folder->arena, runs, 5, 6 * DAY);
  assert_int_equal(history.late, 2);
  assert_int_equal(history.runs, 3);
  assert_true(history.p95 == 1000);
  assert_true(history.items[1].late && history.items[2].late && !history.items[3].late);
  /* The last run is late as well when it began after the next was due. */
  assert_int_equal(worked_out(&folder->arena, runs, 3, up - 1).late, 2);
}

/* One run at a time: the second waited for the first, which took too long. That is time in which production is busy. */
static void waiting_for_the_run_before_is_queue_time(void **state) {
  Folder *folder = *state;
  const JobRun runs[] = {{0, 1, 5000, false, false}, {3600, 5001, 8000, false, false}};
  JobHistory history = worked_out(&folder->arena, runs, 2, 7200);
  assert_int_equal(history.late, 0);
  assert_true(history.p95 == 5000);
  const JobRun longer[] = {{0, 1, 7300, false, false}, {3600, 7301, 9000, false, false}};
  history = worked_out(&folder->arena, longer, 2, 7200);
  assert_int_equal(history.late, 0); /* it began after the next was due, with the first in its way */
  assert_true(history.p95 == 7300);
}

/* 20 short failures beside 5 long runs do not make a job short; one long failure makes it long. */
static void failures_never_shorten(void **state) {
  Folder *folder = *state;
  JobRun runs[26];
  for (int i = 0; i < 25; i++) runs[i] = (JobRun){i * DAY, i * DAY, i * DAY + (i < 5 ? 3600 + i : 1), i >= 5, false};
  runs[25] = (JobRun){25 * DAY, 25 * DAY, 25 * DAY + 9000, true, false};
  assert_true(worked_out(&folder->arena, runs, 25, 0).p95 == 3604);
  assert_true(worked_out(&folder->arena, runs, 26, 0).p95 == 3604); /* one of 26 */
  assert_true(worked_out(&folder->arena, runs + 21, 5, 0).p95 == 9000);
}

static void a_source_is_named(void **state) {
  Folder *folder = *state;
  JobSource source = {0};
  Error err = {0};
  assert_true(jobs_source_parse(&folder->arena, "airflow=http://x:8080/a=b", &source, &err));
  assert_string_equal(source.place, "http://x:8080/a=b");
  assert_true(jobs_source_parse(&folder->arena, "pg_cron", &source, &err));
  assert_null(source.place);
  assert_false(jobs_source_parse(&folder->arena, "airflow", &source, &err));
  assert_non_null(strstr(err.hint, "airflow=URL"));
  assert_false(jobs_source_parse(&folder->arena, "csv=", &source, &err));
  assert_false(jobs_source_parse(&folder->arena, "cron=x", &source, &err));
  assert_int_equal(err.code, ERR_USAGE);
}

static void words_of_a_person_are_no_source(void **state) {
  Folder *folder = *state;
  static const char *const texts[] = {"the wiki, page 7",  "csv job load", "airflow dag x",
                                      "csv runs.csv job ", "csv",          ""};
  JobHistory history;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Error err = {0};
    assert_false(jobs_history_read(&folder->arena, NULL, texts[i], NULL, &history, &err));
    assert_int_equal(err.code, ERR_USAGE);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)
  const struct CMUnitTest tests[] = {TEST(nearest_rank),
                                     TEST(queue_and_retries_count),
                                     TEST(what_was_caught_up_is_left_out),
                                     TEST(waiting_for_the_run_before_is_queue_time),
                                     TEST(failures_never_shorten),
                                     TEST(a_source_is_named),
                                     TEST(words_of_a_person_are_no_source)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
