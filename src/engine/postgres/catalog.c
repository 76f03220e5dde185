#include <ctype.h>
#include <string.h>

#include "engine/postgres/catalog_int.h"
#include "engine/postgres/postgres_sql.h"

static const char doing[] = "reading the catalogue";

bool pg_list_tables(Engine *base, Arena *arena, const char *const **ret, size_t *ret_n, Error *err) {
  PgEngine *engine = pg_engine(base);
  PG_SCOPED result = NULL;
  if (!pg_query(engine, sql_facts_tables, (const char *[]){engine->schema}, 1, &result, doing, err)) return false;
  size_t n = (size_t)PQntuples(result);
  const char **names = arena_array(arena, n, sizeof *names);
  for (size_t i = 0; i < n; i++) names[i] = pg_text(arena, result, (int)i, 0);
  *ret = names;
  *ret_n = n;
  return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* One part of a name: as SQL reads it (without quotes, else in small letters), and its own letters. */
typedef struct NamePart {
  const char *read, *written;
} NamePart;

/* Takes a part from *at and stands behind it; false when a quote is never closed or something follows it. */
static bool take_part(Arena *arena, const char **at, NamePart *ret) {
  BUF_SCOPED text = {0};
  const char *c = *at;
  if (*c != '"') {
    size_t n = strcspn(c, ".");
    char *small = arena_strndup(arena, c, n);
    *ret = (NamePart){small, arena_strndup(arena, c, n)};
    for (; *small != '\0'; small++)
      if ((unsigned char)*small < 128) *small = (char)tolower((unsigned char)*small);
    *at = c + n;
    return n > 0;
  }
  for (c++; *c != '\0' && (*c != '"' || c[1] == '"'); c++) {
    c += *c == '"';
    buf_putc(&text, *c);
  }
  if (*c != '"' || (c[1] != '.' && c[1] != '\0')) return false;
  ret->read = ret->written = arena_strdup(arena, buf_text(&text));
  *at = c + 1;
  return true;
}

/* name or schema.name; anything else is one name as it stands. */
static void read_name(Arena *arena, const char *text, NamePart *ret_schema, NamePart *ret_name) {
  NamePart parts[2] = {{NULL, NULL}, {NULL, NULL}};
  const char *at = text;
  bool ok = take_part(arena, &at, &parts[0]);
  bool two = ok && *at == '.';
  if (two) {
    at++;
    ok = take_part(arena, &at, &parts[1]);
  }
  *ret_schema = ok && two ? parts[0] : (NamePart){NULL, NULL};
  *ret_name = ok && *at == '\0' ? parts[two] : (NamePart){text, text};
}

static bool find(PgEngine *engine, Arena *arena, const char *name, const char *more, PGresult **ret, Error *err) {
  NamePart schema, table;
  read_name(arena, name, &schema, &table);
  const char *values[] = {schema.read, schema.written, table.read, table.written, name, engine->schema};
  return pg_query(engine, sql_fill(arena, sql_facts_find, "more", more, NULL), values, sizeof values / sizeof *values,
                  ret, doing, err);
}

bool catalog_find(PgEngine *engine, Arena *arena, const char *name, const char **ret, Error *err) {
  PG_SCOPED result = NULL;
  if (!find(engine, arena, name, "", &result, err)) return false;
  *ret = PQntuples(result) == 0 ? NULL : pg_text(arena, result, 0, 0);
  return true;
}

static bool not_there(PgEngine *engine, Arena *arena, const char *name, Error *err) {
  NamePart schema, table;
  PG_SCOPED result = NULL;
  read_name(arena, name, &schema, &table);
  const char *values[] = {table.read, table.written, engine->schema};
  if (!pg_query(engine, sql_facts_same_name, values, 3, &result, doing, err)) return false;
  error_set(err, ERR_NOT_FOUND, "there is no table or view '%s' in the database %s", name, PQdb(engine->conn));
  const char *others = pg_peek(result, 0, 0);
  return others == NULL ? error_hint(err, "see which there are: tidegate init")
                        : error_hint(err, "of this name there is: %s", others);
}

bool catalog_must_find(PgEngine *engine, Arena *arena, const char *name, const char **ret, Error *err) {
  if (!catalog_find(engine, arena, name, ret, err)) return false;
  return *ret != NULL || not_there(engine, arena, name, err);
}

bool pg_find_table(Engine *base, Arena *arena, const char *name, const char **ret_name, TableKind *ret_kind,
                   Error *err) {
  PG_SCOPED result = NULL;
  if (!find(pg_engine(base), arena, name, "", &result, err)) return false;
  if (PQntuples(result) == 0) return not_there(pg_engine(base), arena, name, err);
  *ret_name = pg_text(arena, result, 0, PQfnumber(result, "name"));
  *ret_kind = catalog_kind(result);
  return true;
}

bool catalog_query(PgEngine *engine, const char *sql, const char *oid, const char *second, PGresult **ret, Error *err) {
  return pg_query(engine, sql, (const char *[]){oid, second}, second == NULL ? 1 : 2, ret, doing, err);
}

/* ---- the table's parts ------------------------------------------------------------------------------------------ */

/* A table while it is read. */
typedef struct Reading {
  PgEngine *engine;
  Arena *arena;
  const char *oid;
  PGresult *relation; /* the row of sql_facts_relation */
  bool domains;
  TableFacts facts;
} Reading;

static bool ask(const Reading *reading, const char *sql, const char *second, PGresult **ret, Error *err) {
  return catalog_query(reading->engine, sql, reading->oid, second, ret, err);
}

static bool has(const Reading *reading, const char *what) {
  return pg_bool(reading->relation, 0, PQfnumber(reading->relation, what));
}

static bool read_relation(Reading *reading, Error *err) {
  if (!ask(reading, sql_facts_relation, reading->engine->schema, &reading->relation, err)) return false;
  if (PQntuples(reading->relation) == 0)
    return error_set(err, ERR_NOT_FOUND, "the table was dropped while it was looked at");
  reading->facts.name = pg_text(reading->arena, reading->relation, 0, PQfnumber(reading->relation, "name"));
  reading->facts.autoincrement = has(reading, "autoincrement");
  reading->facts.has_checks = has(reading, "has_checks");
  return true;
}

static bool read_domains(Reading *reading, Error *err) {
  PG_SCOPED result = NULL;
  if (!has(reading, "has_types")) return true;
  if (!ask(reading, sql_facts_domains, NULL, &result, err)) return false;
  reading->domains = pg_bool(result, 0, 0);
  reading->facts.has_checks = reading->facts.has_checks || reading->domains;
  return true;
}

static bool read_columns(Reading *reading, Error *err) {
  Arena *arena = reading->arena;
  PG_SCOPED result = NULL;
  const char *sql = sql_fill(arena, sql_facts_columns, "domain", reading->domains ? sql_facts_columns_domain : "",
                             "strict", reading->domains ? sql_facts_columns_strict : "", "defaulted",
                             reading->domains ? sql_facts_columns_defaulted : "", NULL);
  if (!ask(reading, sql, NULL, &result, err)) return false;
  int n = PQntuples(result);
  ColumnFacts *columns = arena_array(arena, (size_t)n, sizeof *columns);
  for (int i = 0; i < n; i++)
    columns[i] = (ColumnFacts){.name = pg_text(arena, result, i, 0),
                               .type = pg_text(arena, result, i, 1),
                               .not_null = pg_bool(result, i, 2),
                               .generated = pg_bool(result, i, 3),
                               .has_default = pg_bool(result, i, 4),
                               .primary = (int)pg_int(result, i, 5)};
  reading->facts.columns = columns;
  reading->facts.n_columns = (size_t)n;
  return true;
}

static bool read_indexes(Reading *reading, Error *err) {
  Arena *arena = reading->arena;
  PG_SCOPED result = NULL;
  if (!ask(reading, sql_facts_indexes, NULL, &result, err)) return false;
  int n = PQntuples(result);
  IndexFacts *indexes = arena_array(arena, (size_t)n, sizeof *indexes);
  for (int i = 0; i < n; i++) {
    indexes[i] = (IndexFacts){.name = pg_text(arena, result, i, 0),
                              .unique = pg_bool(result, i, 1),
                              .partial = pg_bool(result, i, 2),
                              .expression = pg_bool(result, i, 3)};
    indexes[i].columns = pg_array(arena, pg_peek(result, i, 4), &indexes[i].n);
  }
  reading->facts.indexes = indexes;
  reading->facts.n_indexes = (size_t)n;
  return true;
}

static bool read_triggers(Reading *reading, Error *err) {
  Arena *arena = reading->arena;
  PG_SCOPED result = NULL;
  if (!has(reading, "has_triggers")) return true;
  if (!ask(reading, sql_facts_triggers, NULL, &result, err)) return false;
  int n = PQntuples(result);
  TriggerFacts *triggers = arena_array(arena, (size_t)n, sizeof *triggers);
  for (int i = 0; i < n; i++)
    triggers[i] = (TriggerFacts){.name = pg_text(arena, result, i, 0),
                                 .on_insert = pg_bool(result, i, 1),
                                 .on_update = pg_bool(result, i, 2),
                                 .on_delete = pg_bool(result, i, 3)};
  reading->facts.triggers = triggers;
  reading->facts.n_triggers = (size_t)n;
  return true;
}

static bool read_foreign_keys(Reading *reading, const char *side, const ForeignKeyFacts **ret, size_t *ret_n,
                              Error *err) {
  Arena *arena = reading->arena;
  PG_SCOPED result = NULL;
  if (!has(reading, "has_keys")) return true;
  if (!ask(reading, sql_facts_foreign_keys, side, &result, err)) return false;
  int n = PQntuples(result);
  ForeignKeyFacts *keys = arena_array(arena, (size_t)n, sizeof *keys);
  for (int i = 0; i < n; i++) {
    keys[i] = (ForeignKeyFacts){.child = pg_text(arena, result, i, 0),
                                .parent = pg_text(arena, result, i, 1),
                                .on_delete = pg_text(arena, result, i, 2)};
    keys[i].child_columns = pg_array(arena, pg_peek(result, i, 3), &keys[i].n);
    keys[i].parent_columns = pg_array(arena, pg_peek(result, i, 4), &keys[i].n);
  }
  *ret = keys;
  *ret_n = (size_t)n;
  return true;
}

static bool read_definition(Reading *reading, Error *err) {
  static const struct {
    const char *what, *sql;
  } parts[] = {
      {"has_types", sql_facts_definition_types},       {"has_keys", sql_facts_definition_children},
      {"has_triggers", sql_facts_definition_triggers}, {"has_rules", sql_facts_definition_rules},
      {"has_policies", sql_facts_definition_policies}, {"has_publications", sql_facts_definition_publications}};
  PG_SCOPED result = NULL;
  BUF_SCOPED more = {0};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (has(reading, parts[i].what)) buf_printf(&more, "%s\n", parts[i].sql);
  const char *sql = sql_fill(reading->arena, sql_facts_definition, "more", buf_text(&more), "kind",
                             has(reading, "has_types") ? sql_facts_definition_kind : "", "partitions",
                             has(reading, "has_partitions") ? sql_facts_definition_partitions : "", NULL);
  if (!ask(reading, sql, NULL, &result, err)) return false;
  reading->facts.definition = pg_text(reading->arena, result, 0, 0);
  return true;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static bool read_table(Reading *reading, Error *err) {
  TableFacts *facts = &reading->facts;
  return read_relation(reading, err) && read_domains(reading, err) && read_columns(reading, err) &&
         catalog_judge(reading->engine, reading->arena, reading->oid, reading->relation, facts, err) &&
         read_indexes(reading, err) && read_triggers(reading, err) &&
         read_foreign_keys(reading, "incoming", &facts->incoming, &facts->n_incoming, err) &&
         read_foreign_keys(reading, "outgoing", &facts->outgoing, &facts->n_outgoing, err) &&
         read_definition(reading, err);
}

bool pg_describe_table(Engine *base, Arena *arena, const char *name, TableFacts *ret, Error *err) {
  Reading reading = {.engine = pg_engine(base), .arena = arena};
  bool ok = catalog_must_find(reading.engine, arena, name, &reading.oid, err) && read_table(&reading, err);
  PQclear(reading.relation);
  if (ok) *ret = reading.facts;
  return ok;
}

bool pg_object_identity(Engine *base, Arena *arena, const char *name, const char **ret, Error *err) {
  PG_SCOPED result = NULL;
  BUF_SCOPED text = {0};
  if (!find(pg_engine(base), arena, name, sql_facts_find_marker, &result, err)) return false;
  *ret = NULL;
  if (PQntuples(result) == 0) return true;
  const char *const parts[] = {"oid", "relkind", "marker"};
  for (int i = 0; i < 3; i++) {
    int column = PQfnumber(result, parts[i]);
    buf_append(&text, PQgetvalue(result, 0, column), (size_t)PQgetlength(result, 0, column) + 1);
  }
  char hex[33];
  hash_hex(buf_text(&text), text.len, hex);
  *ret = arena_strdup(arena, hex);
  return true;
}
