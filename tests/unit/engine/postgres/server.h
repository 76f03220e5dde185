#ifndef TIDEGATE_TESTS_ENGINE_POSTGRES_SERVER_H
#define TIDEGATE_TESTS_ENGINE_POSTGRES_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/postgres/postgres_int.h"

/*
 * A real server for the tests of one program: that of the socket folder in TIDEGATE_TEST_PGHOST (user postgres), else a
 * throw-away one of script/postgres, which is stopped when this program ends, however it does. Where the machine has no
 * PostgreSQL the tests are skipped, unless TIDEGATE_TEST_POSTGRES says that they must run.
 */
typedef struct Server {
  char host[128];
  FILE *reaper; /* waits for our end, then stops the server */
} Server;

static Server server;

static inline void must(bool ok, const Error *err) {
  if (!ok) fail_msg("%s (%s)", err->message, err->hint);
}

static inline int server_start(void **state) {
  const char *given = getenv("TIDEGATE_TEST_PGHOST"), *cases = getenv("TIDEGATE_CASES");
  char command[512], line[256] = "";
  if (given != NULL) {
    snprintf(server.host, sizeof server.host, "%s", given);
    return 0;
  }
  snprintf(server.host, sizeof server.host, "/tmp/tidegate-pg.XXXXXX");
  if (cases == NULL || mkdtemp(server.host) == NULL) return -1;
  snprintf(command, sizeof command,
           "trap '' INT TERM; cat >/dev/null; exec '%s/../../script/postgres' stop --data %s >/dev/null 2>&1", cases,
           server.host);
  server.reaper = popen(command, "we");
  snprintf(command, sizeof command, "'%s/../../script/postgres' start --data %s -c fsync=off -c max_connections=40",
           cases, server.host);
  FILE *start = popen(command, "re");
  bool up = start != NULL && fgets(line, sizeof line, start) != NULL;
  if (start == NULL || pclose(start) != 0 || !up) server.host[0] = '\0';
  return server.host[0] == '\0' && getenv("TIDEGATE_TEST_POSTGRES") != NULL ? -1 : 0;
}

static inline int server_stop(void **state) {
  if (server.reaper != NULL) pclose(server.reaper);
  return 0;
}

/* A database of its own for each test, opened by the driver. */
typedef struct Fixture {
  char name[64], url[256];
  Engine *engine;
  Arena arena;
} Fixture;

static inline Engine *open_as(const Fixture *f, const char *role) {
  Error err = {0};
  PgEngine *engine = calloc(1, sizeof *engine);
  char url[512];
  snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=%s", f->name, server.host, role);
  engine->url = strdup(url);
  engine->schema = strdup("tidegate");
  must(pg_connect(engine, &err), &err);
  return &engine->base;
}

static inline void close_engine(Engine *base) {
  PgEngine *engine = pg_engine(base);
  PQfinish(engine->conn);
  free(engine->url);
  free(engine->schema);
  free(engine);
}

static inline Engine *open_again(const Fixture *f) { return open_as(f, "postgres"); }

/* One statement in the server's database postgres. */
static inline void administer(const char *sql) {
  Fixture all = {.name = "postgres"};
  Error err = {0};
  Engine *engine = open_again(&all);
  must(pg_run(pg_engine(engine), sql, NULL, 0, NULL, sql, &err), &err);
  close_engine(engine);
}

static inline int fixture_setup(void **state) {
  static int n;
  char sql[128];
  if (server.host[0] == '\0') {
    *state = NULL;
    return 0;
  }
  Fixture *f = calloc(1, sizeof *f);
  snprintf(f->name, sizeof f->name, "unit_%ld_%d", (long)getpid(), ++n);
  snprintf(sql, sizeof sql, "CREATE DATABASE %s", f->name);
  administer(sql);
  f->engine = open_again(f);
  *state = f;
  return 0;
}

static inline int fixture_teardown(void **state) {
  Fixture *f = *state;
  char sql[128];
  if (f == NULL) return 0;
  close_engine(f->engine);
  arena_release(&f->arena);
  snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", f->name);
  administer(sql);
  free(f);
  return 0;
}

static inline Fixture *fixture_of(void **state) {
  if (*state == NULL) skip();
  return *state;
}

static inline void run_on(Engine *engine, const char *sql) {
  Error err = {0};
  must(pg_run(pg_engine(engine), sql, NULL, 0, NULL, sql, &err), &err);
}

static inline void run(Fixture *f, const char *sql) { run_on(f->engine, sql); }

/* The one text of a query; "NULL" for NULL. In the arena. */
static inline const char *one(Fixture *f, const char *sql) {
  Error err = {0};
  PG_SCOPED result = NULL;
  must(pg_query(pg_engine(f->engine), sql, NULL, 0, &result, sql, &err), &err);
  assert_int_equal(PQntuples(result), 1);
  const char *text = pg_text(&f->arena, result, 0, 0);
  return text == NULL ? "NULL" : text;
}

static inline void assert_has(const char *text, const char *part) {
  if (text == NULL || strstr(text, part) == NULL) fail_msg("“%s” is not in “%s”", part, text == NULL ? "NULL" : text);
}

static inline void assert_refused(bool ok, const Error *err, ErrorCode code, const char *part) {
  assert_false(ok);
  if (err->code != code) fail_msg("%s instead of %s: %s", error_word(err->code), error_word(code), err->message);
  assert_has(err->message, part);
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
