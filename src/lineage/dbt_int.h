#ifndef TIDEGATE_LINEAGE_DBT_INT_H
#define TIDEGATE_LINEAGE_DBT_INT_H

#include "base/buf.h"
#include "lineage/dbt.h"
#include "lineage/json_file.h"

/* Private to the files that read a manifest. */

/* What is wanted of a node; the order is that of the table in dbt_manifest.c. */
typedef enum DbtField {
  DBT_OTHER,
  DBT_ID,
  DBT_TYPE,
  DBT_NAME,
  DBT_ALIAS,
  DBT_DATABASE,
  DBT_SCHEMA,
  DBT_IDENTIFIER,
  DBT_RELATION,
  DBT_FILE,
  DBT_PACKAGE,
  DBT_URL,
  DBT_GROUP,
  DBT_MATERIALIZED,
  DBT_STRATEGY,
  DBT_UNIQUE_KEY,
  DBT_EVENT_TIME,
  DBT_BATCH_SIZE,
  DBT_BEGIN,
  DBT_OWNER_NAME,
  DBT_OWNER_EMAIL,
  DBT_TEXTS, /* of the above each holds one text */
  DBT_COMPILED = DBT_TEXTS,
  DBT_EXPORTS,
  DBT_FULL_REFRESH,
  DBT_CONFIG, /* and these hold fields or texts of their own */
  DBT_DEPENDS,
  DBT_OWNER,
  DBT_NODE_RELATION,
  DBT_PARENTS
} DbtField;

/* The node that is being read: places in `texts`, 0 for none. */
typedef struct DbtNode {
  Buf texts;
  size_t at[DBT_TEXTS];
  size_t *parents;
  size_t n_parents, room;
  bool exports, never_whole;
  int64_t compiled_from, compiled_to;
  int64_t from, to; /* the whole of it in the file */
} DbtNode;

typedef struct DbtReading {
  Graph *graph;
  Arena scratch;
  uint32_t source;
  DbtNode node;
  bool disabled;   /* the section of nodes that are */
  bool overwrites; /* its adapter overwrites where no strategy is named */
  size_t n_models, n_tests, n_sources, n_exposures, n_others, n_disabled, n_nodes;
  size_t n_nameless, n_twice;
  const char *twice; /* the first id that stands twice */
} DbtReading;

/* dbt_node.c: puts the node that was read into the graph, and empties it. */
void dbt_node_done(DbtReading *reading);
void dbt_node_clear(DbtNode *node);

/* dbt_compiled.c: a piece of a source's file, to be freed; NULL when the file is another by now. */
char *dbt_slice(const GraphSource *source, int64_t at, int64_t length);

#endif
