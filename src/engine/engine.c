#include "engine/engine.h"

#include <string.h>

#ifdef TIDEGATE_POSTGRES
#include "engine/postgres/postgres.h"
#endif
#include "engine/sqlite/sqlite.h"

static bool is_postgres(const char *url) {
  return strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0;
}

bool engine_open(const char *url, const EngineOptions *options, Engine **ret_engine, Error *err) {
#ifdef TIDEGATE_POSTGRES
  if (is_postgres(url)) return postgres_open(url, options, ret_engine, err);
#else
  if (is_postgres(url)) {
    error_set(err, ERR_DATABASE, "this build of Tidegate was made without PostgreSQL");
    return error_hint(err, "build it with libpq-dev installed: script/build");
  }
#endif
  if (strstr(url, "://") != NULL) {
    error_set(err, ERR_DATABASE, "no engine for '%.*s://': Tidegate knows SQLite files and postgresql:// URLs",
              (int)strcspn(url, ":"), url);
    return error_hint(err, "give the path of a SQLite file or postgresql://host/database");
  }
  return sqlite_open(url, ret_engine, err);
}

void engine_close(Engine **engine) {
  if (*engine != NULL) (*engine)->ops->close(*engine);
  *engine = NULL;
}

bool engine_end(const Engine *engine, EngineWriter *writer, bool ok, Error *err) {
  if (ok) return engine->ops->commit(writer, err);
  engine->ops->abort(writer);
  return false;
}
