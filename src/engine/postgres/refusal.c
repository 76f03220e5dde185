#include <string.h>

#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

/* Which tables are refused as targets, and what to do instead. Unlogged tables and partitions are not: the change set
 * with the old rows is logged, and a partition's bound is one more check that its rows must pass. */

typedef struct Judge {
  Arena *arena;
  const PGresult *relation, *obstacles; /* NULL obstacles: it has none */
  TableFacts *facts;
} Judge;

static const char *fact(const Judge *judge, const char *name) {
  return pg_peek(judge->relation, 0, PQfnumber(judge->relation, name));
}

static const char *obstacle(const Judge *judge, const char *name) {
  return judge->obstacles == NULL ? NULL : pg_peek(judge->obstacles, 0, PQfnumber(judge->obstacles, name));
}

static bool is(const Judge *judge, const char *name) {
  return pg_bool(judge->relation, 0, PQfnumber(judge->relation, name));
}

TableKind catalog_kind(const PGresult *row) {
  const char kind = *PQgetvalue(row, 0, PQfnumber(row, "relkind"));
  if (pg_bool(row, 0, PQfnumber(row, "system"))) return TABLE_SYSTEM;
  if (pg_bool(row, 0, PQfnumber(row, "temporary")) || kind == 'f') return TABLE_OTHER;
  return kind == 'v' || kind == 'm' ? TABLE_VIEW : TABLE_ORDINARY;
}

static void refuse(const Judge *judge, TableKind kind, const char *refusal, const char *way_out) {
  judge->facts->kind = kind;
  judge->facts->refusal = refusal;
  judge->facts->way_out = way_out;
}

/* What is no table of somebody's own with rows of its own. */
static void judge_kind(const Judge *judge) {
  const TableKind kind = catalog_kind(judge->relation);
  if (kind == TABLE_SYSTEM)
    refuse(judge, kind, "belongs to the database or to Tidegate itself and is never written",
           "name the production table to correct");
  else if (is(judge, "temporary"))
    refuse(judge, kind, "is a temporary table: it goes with the session that made it, and no other sees its rows",
           "name a table that stays");
  else if (*fact(judge, "relkind") == 'v')
    refuse(judge, kind,
           "is a view: it has no rows of its own to correct, and what INSTEAD OF triggers or rules would make of a "
           "change cannot be proven",
           "name the table that the view reads, or correct the view's definition");
  else if (kind == TABLE_VIEW)
    refuse(judge, kind, "is a materialized view: its rows are made anew by its query at the next refresh",
           "correct the table that it reads, or its definition; then REFRESH MATERIALIZED VIEW");
  else if (kind == TABLE_OTHER)
    refuse(
        judge, kind,
        arena_printf(judge->arena,
                     "is a foreign table of the server %s: its rows cannot be locked from here, and two databases do "
                     "not commit as one",
                     obstacle(judge, "server")),
        "run Tidegate on the database that holds the rows");
}

/* What makes a write of ours something else than what was proven. */
static void judge_writes(const Judge *judge) {
  Arena *arena = judge->arena;
  const char *name = judge->facts->name, *role = fact(judge, "role");
  const char *heirs = obstacle(judge, "heirs"), *far = obstacle(judge, "far_partitions"),
             *rules = obstacle(judge, "rules");
  if (heirs != NULL)
    refuse(judge, TABLE_ORDINARY,
           arena_printf(arena,
                        "is inherited by %s: reading it reads their rows too, and a row cannot be put back where "
                        "it came from",
                        heirs),
           "backfill each of those tables on its own; or make it a partitioned table");
  else if (far != NULL)
    refuse(judge, TABLE_ORDINARY,
           arena_printf(arena, "has partitions on other servers (%s): two databases do not commit as one", far),
           "backfill the partitions of this server one by one, and the others where they are");
  else if (rules != NULL)
    refuse(
        judge, TABLE_ORDINARY,
        arena_printf(arena, "has rules (%s) that do something else or more when its rows are written", rules),
        arena_printf(arena, "make a trigger of each, or for the time of the backfill: ALTER TABLE %s DISABLE RULE NAME",
                     name));
  else if (is(judge, "row_security"))
    refuse(
        judge, TABLE_ORDINARY,
        arena_printf(arena, "has row security that hides rows from %s: what is not seen would pass every check", role),
        arena_printf(arena,
                     "connect as a role that sees all rows: its owner (unless FORCE is set), or ALTER ROLE %s "
                     "BYPASSRLS",
                     role));
}

/* The first in the order of their bytes; NULL: there is none. */
static const char *own_name(const TableFacts *facts) {
  const char *first = NULL;
  for (size_t i = 0; i < facts->n_columns; i++) {
    const char *name = facts->columns[i].name;
    if (strncmp(name, "tidegate_", strlen("tidegate_")) == 0 && (first == NULL || strcmp(name, first) < 0))
      first = name;
  }
  return first;
}

/* The change set has two columns for each of the target's, named after it, and columns of its own. */
static void judge_names(const Judge *judge) {
  Arena *arena = judge->arena;
  const char *own = own_name(judge->facts), *alike = obstacle(judge, "names_alike");
  if (own != NULL)
    refuse(judge, TABLE_ORDINARY,
           arena_printf(arena, "has the column “%s”: names that begin with tidegate_ are Tidegate's own", own),
           "give the column another name");
  else if (alike != NULL)
    refuse(judge, TABLE_ORDINARY,
           arena_printf(arena, "has columns whose names differ only behind their first 59 bytes: %s", alike),
           "give one of them a shorter name: PostgreSQL cuts names at 63 bytes, and the change set needs four of them");
}

static void judge_rights(const Judge *judge) {
  Arena *arena = judge->arena;
  const char *role = fact(judge, "role");
  if (is(judge, "may_enter") && is(judge, "may_read")) return;
  refuse(judge, TABLE_ORDINARY,
         arena_printf(arena, "may not be read by %s: %s is missing", role,
                      is(judge, "may_enter") ? "SELECT" : "USAGE of its schema"),
         arena_printf(arena, "a DBA runs what this prints: tidegate doctor --grant %s", role));
}

/* PostgreSQL refuses to update or delete a row that it could not name to the subscribers. */
static bool judge_publications(const Judge *judge, PgEngine *engine, const char *oid, Error *err) {
  PG_SCOPED result = NULL;
  if (!catalog_query(engine, sql_facts_publications, oid, NULL, &result, err)) return false;
  if (PQntuples(result) == 0) return true;
  const char *publication = pg_text(judge->arena, result, 0, 0), *table = pg_text(judge->arena, result, 0, 1);
  refuse(
      judge, TABLE_ORDINARY,
      arena_printf(judge->arena,
                   pg_bool(result, 0, 2)
                       ? "is published by %s with a row filter over columns outside the replica identity of %s: "
                         "PostgreSQL refuses to update or delete its rows"
                       : "is published by %s, and %s has no replica identity: PostgreSQL refuses to update or delete "
                         "its rows",
                   publication, table),
      arena_printf(judge->arena,
                   "its owner says how subscribers tell rows apart: ALTER TABLE %s REPLICA IDENTITY FULL, or better "
                   "a primary key",
                   table));
  return true;
}

/* Names that a prefix of four letters makes longer than the 63 bytes of a name. */
static bool has_long_names(const TableFacts *facts) {
  for (size_t i = 0; i < facts->n_columns; i++)
    if (strlen(facts->columns[i].name) > 59) return true;
  return false;
}

static void judge_all(const Judge *judge) {
  judge_kind(judge);
  if (judge->facts->refusal == NULL) judge_rights(judge);
  if (judge->facts->refusal == NULL) judge_writes(judge);
  if (judge->facts->refusal == NULL) judge_names(judge);
}

bool catalog_judge(PgEngine *engine, Arena *arena, const char *oid, const PGresult *relation, TableFacts *facts,
                   Error *err) {
  PG_SCOPED obstacles = NULL;
  Judge judge = {.arena = arena, .relation = relation, .facts = facts};
  facts->kind = TABLE_ORDINARY;
  if ((is(&judge, "has_obstacles") || has_long_names(facts)) &&
      !catalog_query(engine, sql_facts_obstacles, oid, NULL, &obstacles, err))
    return false;
  if (obstacles != NULL && PQntuples(obstacles) > 0) judge.obstacles = obstacles;
  judge_all(&judge);
  if (facts->refusal == NULL && is(&judge, "has_publications") && !judge_publications(&judge, engine, oid, err))
    return false;
  facts->lacks = facts->refusal == NULL ? arena_strdup(arena, fact(&judge, "lacks")) : NULL;
  return true;
}
