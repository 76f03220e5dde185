#ifndef TIDEGATE_ENGINE_SQLITE_DATE_SQL_H
#define TIDEGATE_ENGINE_SQLITE_DATE_SQL_H

#include "engine/sqlite/sqlite_int.h"

/* Is the column the rowid, or does an index over all rows lead with it, so that its ends and NULLs are cheap to find?
 */
bool date_indexed(SqliteEngine *engine, const char *table, const char *column, bool *ret, Error *err);

#endif
