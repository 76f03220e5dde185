#include "engine/postgres/postgres.h"

bool postgres_open(const char *url, const EngineOptions *options, Engine **ret_engine, Error *err) {
  return error_set(err, ERR_DATABASE, "PostgreSQL cannot be opened");
}
