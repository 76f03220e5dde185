#include "engine/engine.h"

#include <string.h>

#include "engine/sqlite/sqlite.h"

bool engine_open(const char *url, Engine **ret_engine, Error *err) {
  if (strstr(url, "://") != NULL) {
    error_set(err, ERR_DATABASE, "no engine for '%.*s://': this build knows SQLite files", (int)strcspn(url, ":"), url);
    return error_hint(err, "give the path of a SQLite file");
  }
  return sqlite_open(url, ret_engine, err);
}

void engine_close(Engine **engine) {
  if (*engine != NULL) (*engine)->ops->close(*engine);
  *engine = NULL;
}
