#ifndef TIDEGATE_ENGINE_POSTGRES_POSTGRES_H
#define TIDEGATE_ENGINE_POSTGRES_POSTGRES_H

#include "engine/engine.h"

/* PostgreSQL 13 to 18 over libpq. `url`: postgresql://… as libpq takes it (service files, environment, ~/.pgpass). */
bool postgres_open(const char *url, const EngineOptions *options, Engine **ret_engine, Error *err);

#endif
