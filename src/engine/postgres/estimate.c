#include <string.h>

#include "base/doc.h"
#include "engine/postgres/postgres_sql.h"
#include "engine/postgres/work.h"

/* What the planner expects of a recompute, by EXPLAIN; the statement is the one that a batch runs. */

static const char explaining[] = "asking the planner about the recompute";

typedef struct Explain {
  PgEngine *engine;
  Arena *arena;
  ScanFacts *scans;
  size_t n;
} Explain;

/* Partitions of one table count together. */
static ScanFacts *scan_of(Explain *explain, const char *table) {
  for (size_t i = 0; i < explain->n; i++)
    if (strcmp(explain->scans[i].table, table) == 0) return &explain->scans[i];
  explain->scans = arena_grow(explain->arena, explain->scans, explain->n, sizeof *explain->scans);
  explain->scans[explain->n] = (ScanFacts){.table = table};
  return &explain->scans[explain->n++];
}

static bool add_scan(Explain *explain, const DocNode *node, Error *err) {
  PG_SCOPED result = NULL;
  const char *const values[] = {doc_text(node, "Schema", ""), doc_text(node, "Relation Name", "")};
  if (!pg_query(explain->engine, sql_estimate_relation, values, 2, &result, explaining, err)) return false;
  if (PQntuples(result) == 0) return true;
  double kept = doc_real(node, "Plan Rows", 0), rows = pg_real(result, 0, 1);
  ScanFacts *scan = scan_of(explain, pg_text(explain->arena, result, 0, 0));
  scan->rows += rows > kept ? rows : kept;
  scan->kept += kept;
  return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): a plan is as deep as the document, DOC_MAX_DEPTH at most */
static bool add_scans(Explain *explain, const DocNode *node, Error *err) {
  const DocNode *inner = doc_get(node, "Plans");
  if (strcmp(doc_text(node, "Node Type", ""), "Seq Scan") == 0 && !add_scan(explain, node, err)) return false;
  for (size_t i = 0; inner != NULL && i < inner->n; i++)
    if (!add_scans(explain, &inner->children[i], err)) return false;
  return true;
}

static bool explain_query(Explain *explain, const char *query, EstimateFacts *ret, Error *err) {
  PG_SCOPED result = NULL;
  const DocNode *root;
  const char *text = sql_fill(explain->arena, sql_estimate_explain, "query", query, NULL);
  if (!pg_query(explain->engine, text, NULL, 0, &result, explaining, err)) return false;
  const char *json = pg_peek(result, 0, 0);
  if (!doc_parse(explain->arena, "EXPLAIN", json, strlen(json), &root, err)) return false;
  const DocNode *plan = root->n == 0 ? NULL : doc_get(&root->children[0], "Plan");
  if (plan == NULL) return error_set(err, ERR_DATABASE, "%s: the server's EXPLAIN tells no plan", explaining);
  if (!add_scans(explain, plan, err)) return false;
  *ret = (EstimateFacts){.rows = doc_real(plan, "Plan Rows", 0),
                         .width = doc_real(plan, "Plan Width", 0),
                         .cost = doc_real(plan, "Total Cost", 0),
                         .scans = explain->scans,
                         .n_scans = explain->n};
  return true;
}

bool pg_estimate(Engine *base, Arena *arena, const Job *job, EstimateFacts *ret, Error *err) {
  Explain explain = {.engine = pg_engine(base), .arena = arena};
  ShapeSql sql;
  bool own;
  if (!pg_begin(explain.engine, true, &own, explaining, err)) return false;
  /* Planning may call functions that are declared to be stable. */
  bool ok = pg_run(explain.engine, sql_session_read_only, NULL, 0, NULL, explaining, err) &&
            pg_shape_sql(explain.engine, arena, job->shape, &sql, err) &&
            explain_query(&explain, shape_recompute(explain.engine, arena, &sql, job), ret, err);
  pg_undo(explain.engine, own);
  return ok;
}
