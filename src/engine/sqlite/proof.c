#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/sqlite/publish.h"
#include "engine/sqlite/sqlite_sql.h"
#include "engine/sqlite/work.h"

/* What shows before the swap that production will take every row, and that a second way gives the same values. */

bool sqlite_orphans(Engine *base, Arena *arena, const Shape *shape, const char *id, const char **ret_child,
                    int64_t *ret, Error *err) {
  ShapeSql sql;
  return shape_sql(sqlite_engine(base), arena, shape, &sql, err) &&
         publish_orphans(sqlite_engine(base), arena, &sql, shape_object(arena, id, "changes"), 'D', "old_", ret_child,
                         ret, err);
}

/* The body of the target's own CREATE TABLE, from its opening parenthesis: SQLite writes the statement as `CREATE TABLE
 * name(…`. */
static const char *definition_body(Arena *arena, SqliteEngine *engine, const char *table, const char **ret,
                                   Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  *ret = NULL;
  if (!sql_prepare(engine, sql_proof_definition, &stmt, "reading the target's definition", err)) return NULL;
  sql_bind_text(&stmt, ":name", table);
  if (!sql_step(engine, &stmt, &row, "reading the target's definition", err) || !row) return NULL;
  const char *text = sql_text(arena, &stmt, 0);
  char quote = 0;
  for (const char *s = text; *s != '\0'; s++) {
    if (quote != 0) {
      if (*s == quote) quote = 0;
    } else if (*s == '"' || *s == '\'' || *s == '`') {
      quote = *s;
    } else if (*s == '[') {
      quote = ']';
    } else if (*s == '(') {
      return *ret = s;
    }
  }
  return text;
}

/* New rows whole: what the recompute does not give stays as it was. */
static const char *probe_sql(Arena *arena, const ShapeSql *sql, const char *changes) {
  BUF_SCOPED columns = {0}, values = {0};
  for (size_t i = 0; i < sql->n_stored; i++) {
    const ShapeColumn *column = &sql->shape->columns[sql->stored[i]];
    if (!column->given && sql->shape->keyed == false) continue;
    buf_printf(&columns, "%s%s", columns.len == 0 ? "" : ", ", sql_ident(arena, column->name));
    buf_printf(&values, "%s%s", values.len == 0 ? "" : ", ",
               sql_ident(arena, arena_printf(arena, "%s%s", column->given ? "new_" : "old_", column->name)));
  }
  return sql_fill(arena, sql_proof_probe_updates, "columns", buf_text(&columns), "values", buf_text(&values), "changes",
                  changes, NULL);
}

/* Rows whose foreign key has no parent. */
static bool probe_parents(SqliteEngine *engine, Arena *arena, const ShapeSql *sql, const char *changes,
                          const char **ret, Error *err) {
  TableFacts facts;
  if (!sqlite_describe_table(&engine->base, arena, sql->shape->table, &facts, err)) return false;
  for (size_t i = 0; i < facts.n_outgoing && *ret == NULL; i++) {
    const ForeignKeyFacts *key = &facts.outgoing[i];
    BUF_SCOPED match = {0}, present = {0};
    bool given = true;
    for (size_t k = 0; k < key->n; k++) {
      const char *child = sql_ident(arena, arena_printf(arena, "new_%s", key->child_columns[k]));
      bool found = false;
      for (size_t c = 0; c < sql->n_given; c++)
        found |= strcasecmp(sql->shape->columns[sql->given[c]].name, key->child_columns[k]) == 0;
      given &= found;
      buf_printf(&match, "%sf.%s = n.%s", k == 0 ? "" : " AND ", sql_ident(arena, key->parent_columns[k]), child);
      buf_printf(&present, " AND n.%s IS NOT NULL", child);
    }
    if (!given) continue;
    double n;
    const char *text = sql_fill(arena, sql_proof_no_parent, "changes", changes, "whole", buf_text(&present), "parent",
                                sql_ident(arena, key->parent), "match", buf_text(&match), NULL);
    if (!sqlite_number(&engine->base, text, &n, err)) return false;
    if (n > 0) *ret = arena_printf(arena, "%.0f rows have no parent in %s", n, key->parent);
  }
  return true;
}

bool sqlite_probe_constraints(Engine *base, Arena *arena, const Shape *shape, const char *id, const char **ret_refusal,
                              Error *err) {
  static const char doing[] = "trying the constraints";
  SqliteEngine *engine = sqlite_engine(base);
  ShapeSql sql;
  const char *body;
  *ret_refusal = NULL;
  if (!shape_sql(engine, arena, shape, &sql, err)) return false;
  if (definition_body(arena, engine, shape->table, &body, err) == NULL || body == NULL)
    return error_set(err, ERR_DATABASE, "cannot read how %s was made", shape->table);
  const char *changes = shape_object(arena, id, "changes");
  if (!sql_run(engine, sql_session_foreign_keys_off, doing, err) ||
      !sql_run(engine, sql_proof_probe_forget, doing, err))
    return false;
  Error refusal;
  bool ok = sql_run(engine, sql_fill(arena, sql_proof_probe_create, "body", body, NULL), doing, &refusal) &&
            sql_run(engine, probe_sql(arena, &sql, changes), doing, &refusal) &&
            sql_run(engine, publish_insert_sql(arena, &sql, "temp.tidegate_probe", changes), doing, &refusal);
  Error ignored;
  sql_run(engine, sql_proof_probe_forget, doing, &ignored);
  sql_run(engine, sql_session_foreign_keys_on, doing, &ignored);
  if (!ok && refusal.code != ERR_HELD) {
    *err = refusal;
    return false;
  }
  if (!ok) *ret_refusal = arena_strdup(arena, refusal.message);
  return probe_parents(engine, arena, &sql, changes, ret_refusal, err);
}

/* ---- the oracle -------------------------------------------------------------------------------------------------- */

static ptrdiff_t shape_index(const Shape *shape, const char *name) {
  for (size_t i = 0; i < shape->n; i++)
    if (strcasecmp(shape->columns[i].name, name) == 0) return (ptrdiff_t)i;
  return -1;
}

typedef struct Oracle {
  SqliteEngine *engine;
  Arena *arena;
  ShapeSql sql;
  Stmt sample, ask;
  Finding *finding;
} Oracle;

static void oracle_bind_key(Oracle *oracle) {
  sqlite3_reset(oracle->ask.handle);
  sqlite3_clear_bindings(oracle->ask.handle);
  for (size_t i = 0; i < oracle->sql.n_given; i++) {
    const ShapeColumn *column = &oracle->sql.shape->columns[oracle->sql.given[i]];
    int at = sqlite3_bind_parameter_index(oracle->ask.handle, arena_printf(oracle->arena, ":%s", column->name));
    if (column->key && at > 0)
      sqlite3_bind_value(oracle->ask.handle, at, sqlite3_column_value(oracle->sample.handle, (int)i));
  }
}

static void oracle_disagrees(Oracle *oracle, size_t column, const Value *ours, const Value *theirs) {
  Finding *finding = oracle->finding;
  if (finding->count++ >= 20) return;
  BUF_SCOPED key = {0};
  for (size_t i = 0; i < oracle->sql.n_given; i++) {
    if (!oracle->sql.shape->columns[oracle->sql.given[i]].key) continue;
    const char *text = sql_text(oracle->arena, &oracle->sample, (int)i);
    buf_printf(&key, "%s%s", key.len == 0 ? "" : ", ", text == NULL ? "NULL" : text);
  }
  finding->examples = arena_grow(oracle->arena, (void *)finding->examples, finding->n, sizeof(Example));
  ((Example *)finding->examples)[finding->n++] = (Example){.key = arena_strdup(oracle->arena, buf_text(&key)),
                                                           .column = oracle->sql.shape->columns[column].name,
                                                           .old_value = value_text(oracle->arena, ours),
                                                           .new_value = value_text(oracle->arena, theirs)};
}

static bool oracle_ask(Oracle *oracle, Error *err) {
  bool row;
  oracle_bind_key(oracle);
  if (!sql_step(oracle->engine, &oracle->ask, &row, "asking the oracle", err)) return false;
  static const Value null = {.type = SQLITE_NULL};
  for (int c = 0; c < sqlite3_column_count(oracle->ask.handle); c++) {
    ptrdiff_t column = shape_index(oracle->sql.shape, sqlite3_column_name(oracle->ask.handle, c));
    if (column < 0) continue;
    for (size_t i = 0; i < oracle->sql.n_given; i++) {
      if (oracle->sql.given[i] != (size_t)column) continue;
      Value ours, theirs = null;
      Affinity affinity = oracle->sql.affinity[column];
      value_read(oracle->sample.handle, (int)i, affinity, &ours);
      if (row) value_read(oracle->ask.handle, c, affinity, &theirs);
      if (!value_equal(&ours, &theirs, oracle->sql.shape->columns[column].tolerance))
        oracle_disagrees(oracle, (size_t)column, &ours, &theirs);
      values_release(&ours, 1);
      values_release(&theirs, 1);
    }
  }
  return true;
}

static const char *sample_sql(const Oracle *oracle, const char *id, bool in_place) {
  Arena *arena = oracle->arena;
  const ShapeSql *sql = &oracle->sql;
  if (in_place)
    return sql_fill(arena, sql_proof_sample_in_place, "given",
                    shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""), "range",
                    shape_range(arena, sql, sql->table), "kept",
                    shape_range(arena, sql, shape_object(arena, id, "snapshot")), NULL);
  return sql_fill(arena, sql_proof_sample, "given",
                  shape_list(arena, sql->shape, sql->given, sql->n_given, "n.", "new_"), "changes",
                  shape_object(arena, id, "changes"), NULL);
}

bool sqlite_ask_oracle(Engine *base, Arena *arena, const Shape *shape, const char *id, const DateRange *in_place,
                       const char *sql, size_t n, int64_t *ret_asked, Finding *ret, Error *err) {
  Oracle oracle = {.engine = sqlite_engine(base), .arena = arena, .finding = ret};
  *ret = (Finding){.kind = FINDING_ROW_CHECK};
  *ret_asked = 0;
  if (!shape_sql(oracle.engine, arena, shape, &oracle.sql, err)) return false;
  const char *sample = sample_sql(&oracle, id, in_place != NULL);
  bool ok = sql_prepare(oracle.engine, sample, &oracle.sample, "drawing the sample", err) &&
            sql_prepare(oracle.engine, sql, &oracle.ask, "asking the oracle", err);
  if (ok) sql_bind_int(&oracle.sample, ":limit", (int64_t)n);
  if (ok && in_place != NULL) sql_bind_range(&oracle.sample, &shape->codec, *in_place);
  for (bool row = true; ok && row;) {
    ok = sql_step(oracle.engine, &oracle.sample, &row, "drawing the sample", err);
    if (!ok || !row) break;
    ok = oracle_ask(&oracle, err);
    ++*ret_asked;
  }
  stmt_finalize(&oracle.sample);
  stmt_finalize(&oracle.ask);
  return ok;
}
