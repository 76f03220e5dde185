#ifndef TIDEGATE_ENGINE_SHAPE_H
#define TIDEGATE_ENGINE_SHAPE_H

#include "time/datecodec.h"

/* The target as the engine works on it. */

typedef struct ShapeColumn {
  const char *name, *type;
  bool key;
  bool given;     /* the recompute gives it and it is written; else preserved or generated */
  bool generated; /* never read nor written: the database makes it */
  bool not_null;
  double tolerance; /* reals at most this far apart count as equal; 0: exact */
} ShapeColumn;

/* How the swap publishes: row by row from the change set, by exchanging whole partitions, or by replacing every row of
 * the range. */
typedef enum ShapeWay { WAY_CHANGES, WAY_EXCHANGE, WAY_REPLACE } ShapeWay;

/* As plan resolved it, with every column of the target in its order. */
typedef struct Shape {
  const char *table;
  const ShapeColumn *columns;
  size_t n;
  size_t date;     /* index of the date column; always given */
  bool null_dates; /* rows of the recompute without a date are declared to be fine: they are left out */
  bool null_keys;  /* keys that hold a NULL are declared to be fine: NULL equals NULL in them */
  bool keyed;      /* false: no key; whole dates are replaced */
  ShapeWay way;    /* others than WAY_CHANGES: where EngineOps.exchange_facts or replace_facts found them possible */
  DateCodec codec;
} Shape;

#endif
