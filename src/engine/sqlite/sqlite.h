#ifndef TIDEGATE_ENGINE_SQLITE_SQLITE_H
#define TIDEGATE_ENGINE_SQLITE_SQLITE_H

#include "engine/engine.h"

/* Opens a SQLite file that exists, read-write where its permissions allow. Errors: ERR_DATABASE. */
bool sqlite_open(const char *path, Engine **ret_engine, Error *err);

#endif
