#ifndef TIDEGATE_LINEAGE_LINEAGE_H
#define TIDEGATE_LINEAGE_LINEAGE_H

#include "engine/engine.h"
#include "lineage/graph.h"
#include "spec/spec.h"

/* What stands downstream of the target, by every source of lineage there is, and what each needs after a swap. */

typedef enum Needs {
  NEEDS_NOTHING, /* it reads only what did not change */
  NEEDS_FOLLOWS, /* it shows the new rows by itself: a view */
  NEEDS_REFRESH, /* it is made anew in one step: a materialized view, a cache */
  NEEDS_CASCADE, /* it is backfilled too, with a range of its own */
  NEEDS_REBUILD, /* it is made anew as a whole, by what makes it */
  NEEDS_PERSON,  /* somebody has to decide: what was sent out, what keeps history */
  NEEDS_UNKNOWN,
  NEEDS_COUNT_
} Needs;

/* What is asked of the graph. Everything but the target may be left out. */
typedef struct LineageAsk {
  const char *target;  /* as the engine spells it */
  const NodeId *start; /* the node itself, of a graph that was read, where it is no table of the database; else NULL */
  bool ranged;         /* range, grain and zone are given */
  DateRange range;     /* half-open: the dates that change */
  Grain grain;
  const Zone *zone;
  Instant now;                /* for what accumulates up to today; 0: not known */
  const char *const *columns; /* those that change; NULL: any may, or whole rows come and go */
  size_t n_columns;
} LineageAsk;

typedef struct LineageNode {
  const char *name, *kind; /* kind: view, trigger, foreign key, table, dashboard … */
  const char *via;         /* "reads daily_delays", … */
  Needs needs;
  const char *reader;    /* who knows it: "catalogue", "dbt manifest, tidegate.yaml", … */
  const char *why;       /* why it needs that, and what to mind: "upsert only: …"; NULL: nothing to say */
  NodeId id;             /* in BlastRadius.graph */
  uint32_t level, depth; /* the longest and the shortest way from the target, from 1 */
  bool ranged;           /* range and grain are known */
  DateRange range;       /* half-open: its dates that are wrong until it is recomputed; borders of its own grain */
  Grain grain;
  bool assumed;     /* nobody said how its dates come from those that it reads: taken to be the same dates */
  uint64_t parents; /* how many of its parents are in the blast radius, or the target itself */
  Instant at;       /* how old the word on it is; 0: as of now */
} LineageNode;

typedef struct BlastRadius {
  const LineageNode *nodes; /* parents before children, within a level by name; without the tests of dbt */
  size_t n;
  const char *const *blind; /* what was not read, to stand after "not read: " */
  size_t n_blind;
  const char *const *cycles; /* "a → b → a" */
  size_t n_cycles;
  const char *finding;   /* the target is known to no source that was to be read, or is ambiguous; NULL: neither */
  const char *uncovered; /* why `lineage: required` is not met; NULL: it is */
  NodeId target;         /* GRAPH_NONE: the graph does not know it */
  const Graph *graph;
} BlastRadius;

const char *needs_name(Needs needs);
/* The word's meaning; a word that is none of them, or NULL, is unknown. */
Needs needs_of(const char *word);

/*
 * Reads every source: the database's catalogue always, then what `lineage` and `downstream` of tidegate.yaml name. What
 * one of them cannot give is said in the graph (GraphSource.failed, graph_blinds) and is no error. target: whose
 * dependents the catalogue is asked for; NULL: it is no table of the database. Errors: ERR_DATABASE.
 */
bool lineage_read(Arena *arena, Engine *engine, const char *target, const Spec *spec, const Graph **ret, Error *err);

/* Walks a graph that was read. Everything in the arena; it keeps the graph. */
void lineage_radius(Arena *arena, const Graph *graph, const Engine *engine, const LineageAsk *ask, BlastRadius *ret);

/* Both. Errors: ERR_DATABASE. */
bool lineage_blast_radius(Arena *arena, Engine *engine, const LineageAsk *ask, const Spec *spec, BlastRadius *ret,
                          Error *err);

/* A table's name as this engine spells it: in SQLite a dot is a letter like others. */
GraphName lineage_relation(Arena *arena, const Engine *engine, const char *text);

/* The SQL that makes a node: compiled by dbt, read from the manifest at need. NULL when there is none, or when the file
 * is another by now. */
const char *lineage_compiled(Arena *arena, const Graph *graph, NodeId node);

/* A test that dbt has of a model's rows. */
typedef struct LineageTest {
  const char *name; /* as `dbt test --select` knows it */
  const char *kind; /* not_null, unique, accepted_values or relationships; NULL: none of them, or `why` */
  const char *why;  /* why it says less than that every row must pass, as the end of "it …"; NULL: it says that */
  const char *column;
  const char *const *values; /* of accepted_values, as dbt writes them between quotes, or bare */
  size_t n;
  bool bare;
  NodeId to; /* of relationships: the model that must have the value, in its column `field` */
  const char *field;
} LineageTest;

/* The tests of a model; none of a node that dbt does not know. Everything in the arena. */
void lineage_tests(Arena *arena, const Graph *graph, NodeId model, const LineageTest **ret, size_t *ret_n);

#endif
