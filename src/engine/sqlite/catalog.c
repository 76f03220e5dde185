#include <string.h>

#include "engine/sqlite/catalog_int.h"
#include "engine/sqlite/lex.h"
#include "engine/sqlite/sqlite_sql.h"

static const char doing[] = "reading the catalogue";

bool sqlite_list_tables(Engine *base, Arena *arena, const char *const **ret, size_t *ret_n, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  const char **names = NULL;
  size_t n = 0;
  if (!sql_prepare(engine, sql_facts_tables, &stmt, doing, err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    names = arena_grow(arena, names, n, sizeof *names);
    names[n++] = sql_text(arena, &stmt, 0);
  }
  *ret = names;
  *ret_n = n;
  return true;
}

/* Prepares one of the statements of facts.sql with :name bound. */
static bool prepare_for(SqliteEngine *engine, const char *sql, const char *name, Stmt *ret, Error *err) {
  if (!sql_prepare(engine, sql, ret, doing, err)) return false;
  sql_bind_text(ret, ":name", name);
  return true;
}

/* ---- the table and its columns ----------------------------------------------------------------------------------- */

typedef struct Entry {
  const char *name, *sql;
  TableKind kind;
  bool without_rowid;
} Entry;

static bool starts_with(const char *name, const char *prefix) {
  return sqlite3_strnicmp(name, prefix, (int)strlen(prefix)) == 0;
}

static TableKind kind_of(const char *name, const char *type, const char *kept_as) {
  if (strcmp(type, "view") == 0) return TABLE_VIEW;
  if (starts_with(name, "sqlite_") || starts_with(name, "tidegate_")) return TABLE_SYSTEM;
  if (kept_as != NULL && strcmp(kept_as, "shadow") == 0) return TABLE_SYSTEM;
  return kept_as != NULL && strcmp(kept_as, "virtual") == 0 ? TABLE_VIRTUAL : TABLE_ORDINARY;
}

static bool find_entry(SqliteEngine *engine, Arena *arena, const char *name, Entry *ret, Error *err) {
  STMT_SCOPED stmt = {0};
  bool row;
  if (!prepare_for(engine, sql_facts_table, name, &stmt, err) || !sql_step(engine, &stmt, &row, doing, err))
    return false;
  if (!row) {
    error_set(err, ERR_NOT_FOUND, "there is no table or view '%s' in %s", name, engine->path);
    return error_hint(err, "see which there are: tidegate init");
  }
  ret->name = sql_text(arena, &stmt, 0);
  ret->kind = kind_of(ret->name, sql_text(arena, &stmt, 1), sql_text(arena, &stmt, 2));
  ret->without_rowid = sqlite3_column_int(stmt.handle, 3) != 0;
  ret->sql = sql_text(arena, &stmt, 4);
  if (ret->sql == NULL) ret->sql = "";
  return true;
}

bool catalog_spelling(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, Error *err) {
  Entry entry = {0};
  if (!find_entry(engine, arena, table, &entry, err)) return false;
  *ret = entry.name;
  return true;
}

bool catalog_columns(SqliteEngine *engine, Arena *arena, const char *table, ColumnFacts **ret, size_t *ret_n,
                     Error *err) {
  STMT_SCOPED stmt = {0};
  ColumnFacts *columns = NULL;
  size_t n = 0;
  if (!prepare_for(engine, sql_facts_columns, table, &stmt, err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    columns = arena_grow(arena, columns, n, sizeof *columns);
    columns[n++] = (ColumnFacts){.name = sql_text(arena, &stmt, 0),
                                 .type = sql_text(arena, &stmt, 1),
                                 .not_null = sqlite3_column_int(stmt.handle, 2) != 0,
                                 .has_default = sqlite3_column_int(stmt.handle, 3) != 0,
                                 .primary = sqlite3_column_int(stmt.handle, 4),
                                 .generated = sqlite3_column_int(stmt.handle, 5) >= 2};
  }
  *ret = columns;
  *ret_n = n;
  return true;
}

/* A primary key that is the rowid is never NULL though it need not say so: an INTEGER PRIMARY KEY without an index of
 * its own (with DESC it has one, and then takes NULL). */
static bool mark_rowid_key(SqliteEngine *engine, const Entry *entry, ColumnFacts *columns, size_t n, Error *err) {
  ColumnFacts *key = NULL;
  size_t parts = 0;
  for (size_t i = 0; i < n; i++)
    if (columns[i].primary > 0) {
      key = &columns[i];
      parts++;
    }
  if (entry->kind == TABLE_VIEW || entry->without_rowid || parts != 1 || sqlite3_stricmp(key->type, "INTEGER") != 0)
    return true;
  STMT_SCOPED stmt = {0};
  bool row;
  if (!prepare_for(engine, sql_facts_primary_index, entry->name, &stmt, err) ||
      !sql_step(engine, &stmt, &row, doing, err))
    return false;
  if (sqlite3_column_int(stmt.handle, 0) == 0) key->not_null = true;
  return true;
}

bool catalog_rowid(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, Error *err) {
  static const char *const names[] = {"rowid", "_rowid_", "oid"};
  Entry entry = {0};
  ColumnFacts *columns;
  size_t n;
  *ret = NULL;
  if (!find_entry(engine, arena, table, &entry, err) || !catalog_columns(engine, arena, table, &columns, &n, err))
    return false;
  if (entry.without_rowid || entry.kind == TABLE_VIEW || entry.kind == TABLE_VIRTUAL) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names && *ret == NULL; i++) {
    bool hidden = false;
    for (size_t j = 0; j < n; j++) hidden = hidden || sqlite3_stricmp(columns[j].name, names[i]) == 0;
    if (!hidden) *ret = names[i];
  }
  return true;
}

/* CHECK and AUTOINCREMENT are reserved: a bare word that reads so is the keyword, a column of that name is quoted. */
static void read_keywords(const char *sql, TableFacts *facts) {
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;) {
    if (lex_is(&token, "CHECK")) facts->has_checks = true;
    if (lex_is(&token, "AUTOINCREMENT")) facts->autoincrement = true;
  }
}

/* ---- indexes, triggers, foreign keys ----------------------------------------------------------------------------- */

static void add_name(Arena *arena, const char *const **names, size_t *n, const char *name) {
  const char **grown = arena_grow(arena, (void *)*names, *n, sizeof *grown);
  grown[(*n)++] = name;
  *names = grown;
}

static bool read_indexes(SqliteEngine *engine, Arena *arena, const char *table, TableFacts *facts, Error *err) {
  STMT_SCOPED stmt = {0};
  IndexFacts *indexes = NULL;
  size_t n = 0;
  if (!prepare_for(engine, sql_facts_indexes, table, &stmt, err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    const char *name = sql_text(arena, &stmt, 0);
    if (n == 0 || strcmp(indexes[n - 1].name, name) != 0) {
      indexes = arena_grow(arena, indexes, n, sizeof *indexes);
      indexes[n++] = (IndexFacts){.name = name,
                                  .unique = sqlite3_column_int(stmt.handle, 1) != 0,
                                  .partial = sqlite3_column_int(stmt.handle, 2) != 0};
    }
    IndexFacts *index = &indexes[n - 1];
    if (sqlite3_column_int(stmt.handle, 3) == -2)
      index->expression = true;
    else
      add_name(arena, &index->columns, &index->n, sql_text(arena, &stmt, 4));
  }
  facts->indexes = indexes;
  facts->n_indexes = n;
  return true;
}

/* Stands after CREATE [TEMP] TRIGGER [IF NOT EXISTS] [schema.]name: a name may be any word, so it is passed over by
 * its place. */
static LexToken after_trigger_name(Lexer *lexer) {
  LexToken token;
  do token = lex_next(lexer);
  while (token.kind != LEX_END && !lex_is(&token, "TRIGGER"));
  LexToken name = lex_next(lexer);
  token = lex_next(lexer);
  if (lex_is(&name, "IF") && lex_is(&token, "NOT")) {
    lex_next(lexer);
    name = lex_next(lexer);
    token = lex_next(lexer);
  }
  if (lex_is_punct(&token, '.')) {
    lex_next(lexer);
    token = lex_next(lexer);
  }
  return token;
}

TriggerFacts trigger_facts(const char *name, const char *sql) {
  Lexer lexer = {.at = sql};
  LexToken token = after_trigger_name(&lexer);
  while (lex_is(&token, "BEFORE") || lex_is(&token, "AFTER") || lex_is(&token, "INSTEAD") || lex_is(&token, "OF"))
    token = lex_next(&lexer);
  return (TriggerFacts){.name = name,
                        .on_insert = lex_is(&token, "INSERT"),
                        .on_update = lex_is(&token, "UPDATE"),
                        .on_delete = lex_is(&token, "DELETE")};
}

static bool read_triggers(SqliteEngine *engine, Arena *arena, const char *table, TableFacts *facts, Error *err) {
  STMT_SCOPED stmt = {0};
  TriggerFacts *triggers = NULL;
  size_t n = 0;
  if (!sql_prepare(engine, sql_facts_triggers, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":table", table);
  sql_bind_int(&stmt, ":others", 0);
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    triggers = arena_grow(arena, triggers, n, sizeof *triggers);
    triggers[n++] = trigger_facts(sql_text(arena, &stmt, 0), sql_text(arena, &stmt, 1));
  }
  facts->triggers = triggers;
  facts->n_triggers = n;
  return true;
}

bool catalog_foreign_keys(SqliteEngine *engine, Arena *arena, const char *child, const char *parent,
                          const ForeignKeyFacts **ret, size_t *ret_n, Error *err) {
  STMT_SCOPED stmt = {0};
  ForeignKeyFacts *keys = NULL;
  size_t n = 0;
  int last = -1;
  if (!sql_prepare(engine, sql_facts_foreign_keys, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":child", child);
  sql_bind_text(&stmt, ":parent", parent);
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    const char *name = sql_text(arena, &stmt, 0);
    int id = sqlite3_column_int(stmt.handle, 1);
    if (n == 0 || id != last || strcmp(keys[n - 1].child, name) != 0) {
      keys = arena_grow(arena, keys, n, sizeof *keys);
      keys[n++] =
          (ForeignKeyFacts){.child = name, .parent = sql_text(arena, &stmt, 2), .on_delete = sql_text(arena, &stmt, 3)};
    }
    last = id;
    ForeignKeyFacts *key = &keys[n - 1];
    size_t columns = key->n;
    add_name(arena, &key->child_columns, &columns, sql_text(arena, &stmt, 4));
    add_name(arena, &key->parent_columns, &key->n, sql_text(arena, &stmt, 5));
  }
  *ret = keys;
  *ret_n = n;
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool read_definition(SqliteEngine *engine, Arena *arena, const char *table, const char **ret, Error *err) {
  STMT_SCOPED stmt = {0};
  BUF_SCOPED text = {0};
  if (!prepare_for(engine, sql_facts_definition, table, &stmt, err)) return false;
  for (bool row;;) {
    if (!sql_step(engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    buf_printf(&text, "%s;\n", sql_peek(&stmt, 0));
  }
  *ret = arena_strdup(arena, buf_text(&text));
  return true;
}

bool sqlite_find_table(Engine *base, Arena *arena, const char *name, const char **ret_name, TableKind *ret_kind,
                       Error *err) {
  Entry entry = {0};
  if (!find_entry(sqlite_engine(base), arena, name, &entry, err)) return false;
  *ret_name = entry.name;
  *ret_kind = entry.kind;
  return true;
}

bool sqlite_describe_table(Engine *base, Arena *arena, const char *name, TableFacts *ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  Entry entry = {0};
  ColumnFacts *columns;
  if (!find_entry(engine, arena, name, &entry, err)) return false;
  TableFacts facts = {.name = entry.name, .kind = entry.kind};
  read_keywords(entry.sql, &facts);
  if (!catalog_columns(engine, arena, entry.name, &columns, &facts.n_columns, err) ||
      !mark_rowid_key(engine, &entry, columns, facts.n_columns, err) ||
      !read_indexes(engine, arena, entry.name, &facts, err) || !read_triggers(engine, arena, entry.name, &facts, err) ||
      !catalog_foreign_keys(engine, arena, NULL, entry.name, &facts.incoming, &facts.n_incoming, err) ||
      !catalog_foreign_keys(engine, arena, entry.name, NULL, &facts.outgoing, &facts.n_outgoing, err) ||
      !read_definition(engine, arena, entry.name, &facts.definition, err))
    return false;
  facts.columns = columns;
  *ret = facts;
  return true;
}

bool sqlite_object_identity(Engine *base, Arena *arena, const char *name, const char **ret, Error *err) {
  SqliteEngine *engine = sqlite_engine(base);
  STMT_SCOPED stmt = {0};
  BUF_SCOPED text = {0};
  bool row;
  if (!prepare_for(engine, sql_facts_object, name, &stmt, err) || !sql_step(engine, &stmt, &row, doing, err))
    return false;
  *ret = NULL;
  if (!row) return true;
  for (int i = 0; i < 3; i++) {
    const char *part = sql_peek(&stmt, i);
    buf_append(&text, part == NULL ? "" : part, (size_t)sqlite3_column_bytes(stmt.handle, i) + 1);
  }
  char hex[33];
  hash_hex(buf_text(&text), text.len, hex);
  *ret = arena_strdup(arena, hex);
  return true;
}
