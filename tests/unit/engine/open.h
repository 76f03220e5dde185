#ifndef TIDEGATE_TESTS_ENGINE_OPEN_H
#define TIDEGATE_TESTS_ENGINE_OPEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/sqlite/sqlite.h"
#include "engine/sqlite/sqlite_int.h"

/* A database file of its own for each test, opened by the driver. */
typedef struct Fixture {
  char path[64];
  Engine *engine;
  Arena arena;
} Fixture;

static inline void must(bool ok, const Error *err) {
  if (!ok) fail_msg("%s (%s)", err->message, err->hint);
}

static inline Engine *open_again(const Fixture *fixture) {
  Engine *engine = NULL;
  Error err = {0};
  must(sqlite_open(fixture->path, &engine, &err), &err);
  return engine;
}

static inline int fixture_setup(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  snprintf(fixture->path, sizeof fixture->path, "/tmp/tidegate-test-XXXXXX");
  int fd = mkstemp(fixture->path);
  assert_true(fd >= 0);
  close(fd);
  fixture->engine = open_again(fixture);
  *state = fixture;
  return 0;
}

static inline int fixture_teardown(void **state) {
  Fixture *fixture = *state;
  engine_close(&fixture->engine);
  arena_release(&fixture->arena);
  unlink(fixture->path);
  free(fixture);
  return 0;
}

/* Runs statements as somebody else's program would. */
static inline void run_on(Engine *engine, const char *sql) {
  char *words = NULL;
  if (sqlite3_exec(sqlite_engine(engine)->db, sql, NULL, NULL, &words) != SQLITE_OK) fail_msg("%s: %s", words, sql);
}

static inline void run(Fixture *fixture, const char *sql) { run_on(fixture->engine, sql); }

/* The one text of a query; "NULL" for NULL. In the arena. */
static inline const char *one(Fixture *fixture, const char *sql) {
  Error err = {0};
  STMT_SCOPED stmt = {0};
  bool row = false;
  must(sql_prepare(sqlite_engine(fixture->engine), sql, &stmt, sql, &err) &&
           sql_step(sqlite_engine(fixture->engine), &stmt, &row, sql, &err),
       &err);
  assert_true(row);
  const char *text = sql_text(&fixture->arena, &stmt, 0);
  return text == NULL ? "NULL" : text;
}

static inline void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("“%s” is not in “%s”", part, text);
}

static inline void assert_refused(bool ok, const Error *err, ErrorCode code, const char *part) {
  assert_false(ok);
  if (err->code != code) fail_msg("%s instead of %s: %s", error_word(err->code), error_word(code), err->message);
  assert_has(err->message, part);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
