#include "jobs/live.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* A folder, and a database in it. */
typedef struct Place {
  char folder[64], database[96];
  Engine *engine;
  Arena arena;
} Place;

static void sql(const Place *place, const char *statement) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static int setup(void **state) {
  Place *place = calloc(1, sizeof *place);
  Error err = {0};
  snprintf(place->folder, sizeof place->folder, "/tmp/tidegate-live.XXXXXX");
  assert_non_null(mkdtemp(place->folder));
  snprintf(place->database, sizeof place->database, "%s/data.db", place->folder);
  sql(place, "CREATE TABLE run(started, ended)");
  if (!engine_open(place->database, NULL, &place->engine, &err)) fail_msg("%s", err.message);
  *state = place;
  return 0;
}

static int teardown(void **state) {
  Place *place = *state;
  char command[128];
  engine_close(&place->engine);
  arena_release(&place->arena);
  snprintf(command, sizeof command, "rm -r '%s'", place->folder);
  assert_int_equal(system(command), 0);
  free(place);
  return 0;
}

static const char *at(Place *place, const char *name) {
  return arena_printf(&place->arena, "%s/%s", place->folder, name);
}

static const char *write_file(Place *place, const char *name, const char *text) {
  const char *path = at(place, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

static JobAnswer ask(Place *place, SpecLive live) {
  JobAsk question = {.name = "nightly", .live = &live};
  JobAnswer answer;
  if (live.timeout == 0) live.timeout = 10;
  jobs_ask(&place->arena, place->engine, &question, &answer);
  jobs_ask_end(&question);
  return answer;
}

static void expect(JobAnswer answer, JobState state, const char *part) {
  const char *why = answer.why == NULL ? "" : answer.why;
  if (answer.state != state || strstr(why, part) == NULL)
    fail_msg("state %d instead of %d, or “%s” does not say “%s”", answer.state, state, why, part);
  assert_true((answer.todo != NULL) == (state == JOB_UNKNOWN));
}

#define TEXT(words) ((SpecText){.text = (words)})

/* ---- the database ------------------------------------------------------------------------------------------------ */

static void nothing_named_is_nothing_asked(void **state) {
  assert_false(jobs_can_ask(&(SpecLive){.timeout = 10}));
  assert_true(jobs_can_ask(&(SpecLive){.lock_file = TEXT("x")}));
  expect(ask(*state, (SpecLive){0}), JOB_IDLE, "");
}

static void a_number_above_nought_is_a_run(void **state) {
  Place *place = *state;
  SpecLive live = {.running = TEXT("SELECT count(*) FROM run WHERE ended IS NULL")};
  expect(ask(place, live), JOB_IDLE, "");
  sql(place, "INSERT INTO run VALUES ('2026-11-30 02:00', NULL)");
  expect(ask(place, live), JOB_RUNNING, "running gives 1");
  expect(ask(place, (SpecLive){.running = TEXT("SELECT count(*) FROM gone")}), JOB_UNKNOWN, "gone");
  expect(ask(place, (SpecLive){.running = TEXT("SELECT started FROM run")}), JOB_UNKNOWN, "not one");
}

static void a_young_sign_of_life_is_a_run(void **state) {
  Place *place = *state;
  SpecLive live = {.heartbeat = TEXT("SELECT max(started) FROM run"), .heartbeat_within = 120};
  expect(ask(place, live), JOB_IDLE, ""); /* there never was one */
  sql(place, "INSERT INTO run VALUES (datetime('now', '-30 seconds'), NULL)");
  expect(ask(place, live), JOB_RUNNING, "heartbeat: the last sign of life is 3");
  sql(place, "UPDATE run SET started = datetime('now', '-3 minutes')");
  expect(ask(place, live), JOB_IDLE, "");
  sql(place, "UPDATE run SET started = strftime('%s', 'now')");
  expect(ask(place, live), JOB_UNKNOWN, "not one"); /* a text of digits is not seconds */
  sql(place, "UPDATE run SET started = CAST(strftime('%s', 'now') AS INTEGER) - 60");
  expect(ask(place, live), JOB_RUNNING, "heartbeat");
  sql(place, "UPDATE run SET started = datetime('now', '1 hour')");
  expect(ask(place, live), JOB_RUNNING, "in the future");
  sql(place, "UPDATE run SET started = 'yesterday'");
  expect(ask(place, live), JOB_UNKNOWN, "not one");
}

static void a_slow_answer_is_none(void **state) {
  SpecLive live = {.timeout = 0.2,
                   .running = TEXT("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) "
                                   "SELECT count(*) FROM n")};
  expect(ask(*state, live), JOB_UNKNOWN, "in time");
}

static void a_locked_file_is_told_apart(void **state) {
  Place *place = *state;
  sqlite3 *db;
  SpecLive live = {.running = TEXT("SELECT count(*) FROM run"), .timeout = 0.2};
  assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  JobAnswer answer = ask(place, live);
  assert_int_equal(answer.state, JOB_UNKNOWN);
  assert_true(answer.locked);
  live.lock_file = TEXT("/no/such/folder/lock");
  assert_false(ask(place, live).locked); /* there is another reason as well */
  sqlite3_close(db);
}

static void sessions_are_not_sqlite_s(void **state) {
  expect(ask(*state, (SpecLive){.application = TEXT("nightly")}), JOB_UNKNOWN, "sqlite has no sessions");
}

/* ---- a lock file ------------------------------------------------------------------------------------------------- */

/* Another process that locks the file in one of three ways until it is ended. */
static pid_t locker(const char *path, char way) {
  int ends[2];
  char ready;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    int file = open(path, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = way == 'f' ? flock(file, LOCK_EX) : fcntl(file, way == 'p' ? F_SETLK : F_OFD_SETLK, &lock);
    if (failed != 0 || write(ends[1], "y", 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ends[0], &ready, 1), 1);
  close(ends[0]);
  close(ends[1]);
  return child;
}

static void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static void a_locked_lock_file_is_a_run_however_it_is_locked(void **state) {
  Place *place = *state;
  SpecLive live = {.lock_file = TEXT(write_file(place, "lock", ""))};
  for (const char *way = "fpo"; *way != '\0'; way++) {
    expect(ask(place, live), JOB_IDLE, "");
    pid_t child = locker(live.lock_file.text, *way);
    expect(ask(place, live), JOB_RUNNING, "is locked");
    end(child);
    expect(ask(place, live), JOB_IDLE, "");
  }
}

static void asking_takes_no_lock(void **state) {
  Place *place = *state;
  SpecLive live = {.lock_file = TEXT(write_file(place, "lock", ""))};
  int file = open(live.lock_file.text, O_RDWR);
  ask(place, live);
  assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
  expect(ask(place, live), JOB_RUNNING, "is locked");
  close(file);
}

static void a_lock_on_another_file_is_none(void **state) {
  Place *place = *state;
  SpecLive live = {.lock_file = TEXT(write_file(place, "lock", ""))};
  pid_t child = locker(write_file(place, "other", ""), 'f');
  expect(ask(place, live), JOB_IDLE, "");
  end(child);
}

static void a_living_process_in_the_file_is_a_run(void **state) {
  Place *place = *state;
  char text[32];
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  snprintf(text, sizeof text, "%d\n", (int)child);
  SpecLive live = {.lock_file = TEXT(write_file(place, "lock", text))};
  expect(ask(place, live), JOB_RUNNING, "is alive");
  end(child);
  expect(ask(place, live), JOB_IDLE, "");
  write_file(place, "lock", "host-17 since noon");
  expect(ask(place, live), JOB_UNKNOWN, "says nothing");
  write_file(place, "lock", "17th");
  expect(ask(place, live), JOB_UNKNOWN, "says nothing");
}

static void a_file_that_is_not_there_is_no_run_unless_its_folder_is_gone(void **state) {
  Place *place = *state;
  expect(ask(place, (SpecLive){.lock_file = TEXT(at(place, "lock"))}), JOB_IDLE, "");
  expect(ask(place, (SpecLive){.lock_file = TEXT(at(place, "fodler/lock"))}), JOB_UNKNOWN, "cannot be looked at");
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* A process of another session, not our child, whose command line holds the word; ended by the number in the file. */
static pid_t stranger(Place *place, const char *word) {
  char command[512], text[32] = "";
  const char *path = at(place, "stranger");
  snprintf(command, sizeof command, "setsid sh -c 'echo $$ >%s.new; mv %s.new %s; sleep 60; : %s' &", path, path, path,
           word);
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  for (int i = 0; i < 400 && access(path, F_OK) != 0; i++) poll(NULL, 0, 50);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  return atoi(text);
}

static void a_command_line_that_matches_is_a_run(void **state) {
  Place *place = *state;
  char word[64];
  snprintf(word, sizeof word, "nightly_of_%d", (int)getpid());
  SpecLive live = {.process = TEXT(arena_printf(&place->arena, "sleep 60; : nightly_of_%d$", (int)getpid()))};
  expect(ask(place, live), JOB_IDLE, "");
  pid_t other = stranger(place, word);
  JobAnswer answer = ask(place, live);
  kill(-other, SIGKILL);
  expect(answer, JOB_RUNNING, "process: process ");
  assert_null(strstr(answer.why, "nightly")); /* a command line may hold a password */
}

/* Every pattern holds our number: another run of this test may be beside. */
static void what_we_started_and_who_started_us_are_no_run(void **state) {
  Place *place = *state;
  char line[96], own[64];
  snprintf(line, sizeof line, "kill -STOP $$; : child_of_%d", (int)getpid());
  pid_t child = fork();
  if (child == 0) {
    /* One process: a sleeping child of its own would outlive it, and whoever reads our output would wait for that. */
    execl("/bin/sh", "sh", "-c", line, NULL);
    _exit(1);
  }
  assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
  snprintf(own, sizeof own, "child_of_%d$", (int)getpid());
  SpecLive live = {.process = TEXT(own)};
  JobAnswer answer = ask(place, live);
  end(child);
  expect(answer, JOB_IDLE, "");
  snprintf(own, sizeof own, "^us_%d$", (int)getpid()); /* as main has called us */
  live.process = TEXT(own);
  expect(ask(place, live), JOB_IDLE, "");
  child = fork();
  if (child == 0) _exit(ask(place, live).state == JOB_IDLE ? 0 : 1);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void a_wrong_expression_is_unknown(void **state) {
  expect(ask(*state, (SpecLive){.process = TEXT("(nightly")}), JOB_UNKNOWN, "process: ");
}

/* ---- systemd, and a command -------------------------------------------------------------------------------------- */

/* A systemctl of ours that says this. */
static void systemctl(Place *place, const char *says, int status) {
  const char *path = write_file(place, "systemctl",
                                arena_printf(&place->arena, "#!/bin/sh\nprintf '%s'\necho \"$@\" >%s/asked\nexit %d\n",
                                             says, place->folder, status));
  assert_int_equal(chmod(path, 0755), 0);
}

static void a_unit_is_judged_by_its_state(void **state) {
  Place *place = *state;
  static const struct {
    const char *says, *words;
    JobState state;
    bool failed, retrying;
  } cases[] = {
      {"LoadState=loaded\\nActiveState=inactive\\nSubState=dead\\n", "", JOB_IDLE, false, false},
      {"LoadState=loaded\\nActiveState=activating\\nSubState=start\\n", "is activating (start)", JOB_RUNNING, false,
       false},
      {"LoadState=loaded\\nActiveState=active\\nSubState=running\\n", "is active", JOB_RUNNING, false, false},
      {"LoadState=loaded\\nActiveState=reloading\\nSubState=reload\\n", "is reloading", JOB_RUNNING, false, false},
      {"LoadState=loaded\\nActiveState=deactivating\\nSubState=stop\\n", "is deactivating", JOB_RUNNING, false, false},
      {"LoadState=loaded\\nActiveState=activating\\nSubState=auto-restart\\n", "auto-restart", JOB_RUNNING, false,
       true},
      {"LoadState=loaded\\nActiveState=active\\nSubState=exited\\n", "", JOB_IDLE, false, false},
      {"LoadState=loaded\\nActiveState=failed\\nSubState=failed\\n", "failed", JOB_IDLE, true, false},
      {"LoadState=loaded\\nActiveState=novelty\\nSubState=new\\n", "is novelty", JOB_RUNNING, false, false},
      {"LoadState=not-found\\nActiveState=inactive\\nSubState=dead\\n", "is not-found", JOB_UNKNOWN, false, false},
      {"", "is not known", JOB_UNKNOWN, false, false},
  };
  const char *before = getenv("PATH");
  setenv("PATH", arena_printf(&place->arena, "%s:%s", place->folder, before), 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    systemctl(place, cases[i].says, 0);
    JobAnswer answer = ask(place, (SpecLive){.systemd = TEXT("nightly.service")});
    expect(answer, cases[i].state, cases[i].words);
    assert_int_equal(answer.failed, cases[i].failed);
    assert_int_equal(answer.retrying, cases[i].retrying);
  }
  systemctl(place, "LoadState=loaded\\nActiveState=inactive\\n", 1);
  expect(ask(place, (SpecLive){.systemd = TEXT("nightly.service")}), JOB_UNKNOWN, "exit status 1");
  expect(ask(place, (SpecLive){.systemd = TEXT("nightly.timer")}), JOB_UNKNOWN, "is a timer");
  setenv("PATH", before, 1);
}

static SpecLive by_command(Place *place, const char *script) {
  SpecText *words = arena_array(&place->arena, 3, sizeof *words);
  words[0] = TEXT("sh");
  words[1] = TEXT("-c");
  words[2] = TEXT(script);
  return (SpecLive){.command = {words, 3}};
}

static JobAnswer too_slow(Place *place, const char *script) {
  SpecLive slow = by_command(place, script);
  slow.timeout = 0.2;
  JobAnswer answer = ask(place, slow);
  expect(answer, JOB_UNKNOWN, "live.timeout");
  return answer;
}

static void a_command_says_it_by_its_status(void **state) {
  Place *place = *state;
  expect(ask(place, by_command(place, "exit 0")), JOB_IDLE, "");
  expect(ask(place, by_command(place, "exit 1")), JOB_RUNNING, "says that it runs");
  JobAnswer answer = ask(place, by_command(place, "echo secret-4711; exit 3"));
  expect(answer, JOB_UNKNOWN, "status 3");
  assert_null(strstr(answer.why, "4711"));
  expect(ask(place, by_command(place, "kill -9 $$")), JOB_UNKNOWN, "killed by signal 9");
  too_slow(place, "exec sleep 60");
  answer = too_slow(place, "exec sleep 60 >/dev/null 2>&1");
  assert_non_null(strstr(answer.todo, "by hand"));
  expect(ask(place, by_command(place, "head -c 5000000 /dev/zero; exit 1")), JOB_RUNNING, "says that it runs");
  too_slow(place, "exec yes");
  SpecText missing = TEXT("/no/such/program");
  expect(ask(place, (SpecLive){.command = {&missing, 1}}), JOB_UNKNOWN, "cannot be run");
}

static void a_run_outweighs_what_is_unknown(void **state) {
  Place *place = *state;
  SpecLive live = by_command(place, "exit 1");
  live.running = TEXT("SELECT count(*) FROM gone");
  expect(ask(place, live), JOB_RUNNING, "command");
}

int main(int argc, char **argv) {
  size_t length = strlen(argv[0]);
  memset(argv[0], 0, length);
  snprintf(argv[0], length + 1, "us_%d", (int)getpid()); /* what /proc tells as our command line */
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
      CASE(nothing_named_is_nothing_asked),
      CASE(a_number_above_nought_is_a_run),
      CASE(a_young_sign_of_life_is_a_run),
      CASE(a_slow_answer_is_none),
      CASE(a_locked_file_is_told_apart),
      CASE(sessions_are_not_sqlite_s),
      CASE(a_locked_lock_file_is_a_run_however_it_is_locked),
      CASE(asking_takes_no_lock),
      CASE(a_lock_on_another_file_is_none),
      CASE(a_living_process_in_the_file_is_a_run),
      CASE(a_file_that_is_not_there_is_no_run_unless_its_folder_is_gone),
      CASE(a_command_line_that_matches_is_a_run),
      CASE(what_we_started_and_who_started_us_are_no_run),
      CASE(a_wrong_expression_is_unknown),
      CASE(a_unit_is_judged_by_its_state),
      CASE(a_command_says_it_by_its_status),
      CASE(a_run_outweighs_what_is_unknown),
#undef CASE
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
