#include "history_test.h"

static void lines_of_a_crontab(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  const char *path = folder_file(folder, "tab",
                                 "# a comment\n"
                                 "SHELL=/bin/sh\n"
                                 "  RANDOM_DELAY = \"5\"\n"
                                 "0 2 * * *\t/opt/load.sh --all | tee x=y\n"
                                 "CRON_TZ=Asia/Tokyo\n"
                                 "@daily python3 -m report\n"
                                 "30 1,13 * * mon-fri /opt/load.sh --all | tee x=y\n"
                                 "@reboot /opt/start\n"
                                 "61 * * * * /opt/wrong\n"
                                 "0 3 * * * [ -x /opt/a ] && /opt/a\n");
  assert_int_equal(folder_read(folder, "crontab", path, &jobs), 6);
  assert_string_equal(jobs[0].name, "load");
  assert_string_equal(jobs[0].expression, "0 2 * * *");
  assert_string_equal(jobs[0].dialect, "vixie");
  assert_string_equal(jobs[0].command, "/opt/load.sh --all | tee x=y");
  assert_true(jobs[0].jitter == 300);
  assert_string_not_equal(doubt(&jobs[0], "zone"), "");
  assert_string_equal(jobs[1].expression, "@daily");
  assert_string_equal(jobs[1].zone, "Asia/Tokyo");
  assert_non_null(strstr(doubt(&jobs[1], "zone"), "Debian's cron ignores it"));
  assert_string_equal(jobs[2].expression, "30 1,13 * * mon-fri");
  assert_non_null(jobs[3].refusal); /* @reboot */
  assert_null(jobs[3].expression);
  assert_non_null(jobs[4].refusal);
  assert_string_equal(jobs[5].name, "tab"); /* the command says nothing */
}

/* Two lines that run the same are told apart when they are read again. */
static void a_line_is_found_again(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  const char *path = folder_file(folder, "tab", "0 2 * * 1-5 load\n0 4 * * 6 load\n0 5 * * 0 other\n");
  assert_int_equal(folder_read(folder, "crontab", path, &jobs), 3);
  for (size_t i = 0; i < 3; i++) {
    JobHistory again;
    Error err = {0};
    assert_true(jobs_history_read(&folder->arena, NULL, jobs[i].from, NULL, &again, &err));
    assert_string_equal(again.expression, jobs[i].expression);
  }
  folder_file(folder, "tab", "0 2 * * 1-5 load\n");
  JobHistory gone;
  Error err = {0};
  assert_false(jobs_history_read(&folder->arena, NULL, jobs[2].from, NULL, &gone, &err));
  assert_int_equal(err.code, ERR_NOT_FOUND);
}

/* A proposal is written into a file, and from there into reports; told by it, the line is found all the same. */
static void a_secret_of_a_line_stays_there(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  JobHistory again;
  Error err = {0};
  const char *path = folder_file(folder, "tab", "0 2 * * * load --password=hush\n0 4 * * * load --password=hush2\n");
  assert_int_equal(folder_read(folder, "crontab", path, &jobs), 2);
  for (size_t i = 0; i < 2; i++) {
    assert_null(strstr(jobs[i].command, "hush"));
    assert_null(strstr(jobs[i].from, "hush"));
    assert_true(jobs_history_read(&folder->arena, NULL, jobs[i].from, NULL, &again, &err));
    assert_string_equal(again.expression, jobs[i].expression);
  }
  const char *before = arena_printf(&folder->arena, "crontab %s command load --password=hush", path);
  assert_true(jobs_history_read(&folder->arena, NULL, before, NULL, &again, &err));
}

/* Below a folder cron.d the sixth field is the user. */
static void the_user_is_no_part_of_the_command(void **state) {
  Folder *folder = *state;
  const JobHistory *jobs;
  assert_int_equal(mkdir(arena_printf(&folder->arena, "%s/cron.d", folder->path), 0700), 0);
  const char *path = folder_file(folder, "cron.d/etl", "0 2 * * * postgres /opt/load\n@hourly root  cd / && x\n");
  assert_int_equal(folder_read(folder, "crontab", path, &jobs), 2);
  assert_string_equal(jobs[0].command, "/opt/load");
  assert_string_equal(jobs[1].command, "cd / && x");
  assert_string_equal(jobs[1].name, "etl");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)
  const struct CMUnitTest tests[] = {TEST(lines_of_a_crontab), TEST(a_line_is_found_again),
                                     TEST(a_secret_of_a_line_stays_there), TEST(the_user_is_no_part_of_the_command)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
