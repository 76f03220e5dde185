#include <string.h>
#include <strings.h>

#include "lineage/sql_tree.h"

/*
 * PostgreSQL's dialect, by PostgreSQL's own parser (libpg_query). Names are resolved by scopes, columns by the aliases
 * of the scope; a column without an alias is taken to be of every table of its scope and of those around it, which errs
 * towards "is read".
 */

enum { NO_TABLE = -1, ANY_TABLE = -2, ITSELF = -3, MOST_DEEP = 400 };

typedef struct Item {
  const char *alias;
  int read; /* index in SqlWalk.reads; NO_TABLE: a subquery or function; ANY_TABLE: a join; ITSELF: what is written */
} Item;

typedef struct Scope {
  const struct Scope *outer;
  Item *items;
  size_t n;
  const char **ctes;
  size_t n_ctes;
} Scope;

static void walk(SqlWalk *w, Scope *scope, const json_t *node);
static void walk_select(SqlWalk *w, const Scope *outer, const json_t *select);

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

const char *sql_member(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

static const char *string_node(const json_t *node) { return sql_member(json_object_get(node, "String"), "sval"); }

const char *sql_last_name(const json_t *names) {
  size_t n = json_array_size(names);
  return n == 0 ? NULL : string_node(json_array_get(names, n - 1));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static SqlName name_of(const SqlWalk *w, const json_t *range) {
  SqlName name = {.database = arena_strdup(w->arena, sql_member(range, "catalogname")),
                  .schema = arena_strdup(w->arena, sql_member(range, "schemaname")),
                  .name = arena_strdup(w->arena, sql_member(range, "relname"))};
  if (name.schema == NULL) name.schema = w->schema;
  return name;
}

static bool is_cte(const Scope *scope, const json_t *range) {
  const char *name = sql_member(range, "relname");
  if (name == NULL || sql_member(range, "schemaname") != NULL) return false;
  for (; scope != NULL; scope = scope->outer)
    for (size_t i = 0; i < scope->n_ctes; i++)
      if (strcmp(scope->ctes[i], name) == 0) return true;
  return false;
}

static int add_read(SqlWalk *w, SqlName table) {
  for (size_t i = 0; i < w->n; i++)
    if (sql_same_table(&w->reads[i].table, &table)) return (int)i;
  w->reads = arena_grow(w->arena, w->reads, w->n, sizeof *w->reads);
  w->reads[w->n] = (SqlWalkRead){.table = table};
  return (int)w->n++;
}

static void add_write(SqlWalk *w, SqlWalkWrite write) {
  w->writes = arena_grow(w->arena, w->writes, w->n_writes, sizeof *w->writes);
  w->writes[w->n_writes++] = write;
}

static void add_item(SqlWalk *w, Scope *scope, const char *alias, int read) {
  scope->items = arena_grow(w->arena, scope->items, scope->n, sizeof *scope->items);
  scope->items[scope->n++] = (Item){arena_strdup(w->arena, alias), read};
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void add_column(SqlWalk *w, int read, const char *column) {
  if (read < 0) return;
  SqlWalkRead *r = &w->reads[read];
  if (column == NULL) r->all = true;
  if (r->all) return;
  for (size_t i = 0; i < r->n; i++)
    if (strcmp(r->columns[i], column) == 0) return;
  r->columns = arena_grow(w->arena, r->columns, r->n, sizeof *r->columns);
  r->columns[r->n++] = arena_strdup(w->arena, column);
}

/* NULL: all of them. */
static void add_everywhere(SqlWalk *w, const Scope *scope, bool around, const char *column) {
  for (; scope != NULL; scope = around ? scope->outer : NULL)
    for (size_t i = 0; i < scope->n; i++) add_column(w, scope->items[i].read, column);
}

static const Item *find_item(const Scope *scope, const char *alias) {
  for (; scope != NULL; scope = scope->outer)
    for (size_t i = 0; i < scope->n; i++)
      if (scope->items[i].alias != NULL && strcmp(scope->items[i].alias, alias) == 0) return &scope->items[i];
  return NULL;
}

static void walk_column(SqlWalk *w, const Scope *scope, const json_t *column) {
  const json_t *fields = json_object_get(column, "fields");
  size_t n = json_array_size(fields);
  const char *name = sql_last_name(fields);
  const char *qualifier = n > 1 ? string_node(json_array_get(fields, n - 2)) : NULL;
  const Item *item = find_item(scope, n == 1 && name != NULL ? name : qualifier != NULL ? qualifier : "");
  if (n == 1) {
    if (name != NULL && item != NULL) add_column(w, item->read, NULL); /* a whole row */
    add_everywhere(w, scope, name != NULL, name);
  } else if (item == NULL || item->read == ANY_TABLE) {
    add_everywhere(w, scope, true, name);
  } else {
    add_column(w, item->read, name);
  }
}

/* ---- FROM -------------------------------------------------------------------------------------------------------- */

static const char *alias_of(const json_t *node) {
  const char *alias = sql_member(json_object_get(node, "alias"), "aliasname");
  return alias != NULL ? alias : sql_member(node, "relname");
}

static void from_table(SqlWalk *w, Scope *scope, const json_t *range) {
  add_item(w, scope, alias_of(range), is_cte(scope, range) ? NO_TABLE : add_read(w, name_of(w, range)));
}

static void from_item(SqlWalk *w, Scope *scope, const json_t *node);

static void from_join(SqlWalk *w, Scope *scope, const json_t *join) {
  size_t i;
  json_t *column;
  size_t first = scope->n;
  from_item(w, scope, json_object_get(join, "larg"));
  from_item(w, scope, json_object_get(join, "rarg"));
  bool natural = json_is_true(json_object_get(join, "isNatural"));
  for (size_t k = first; k < scope->n; k++) {
    if (natural) add_column(w, scope->items[k].read, NULL);
    json_array_foreach(json_object_get(join, "usingClause"), i, column)
        add_column(w, scope->items[k].read, string_node(column));
  }
  walk(w, scope, json_object_get(join, "quals"));
  if (json_object_get(join, "alias") != NULL) add_item(w, scope, alias_of(join), ANY_TABLE);
}

static void from_item(SqlWalk *w, Scope *scope, const json_t *node) {
  const json_t *part;
  if (++w->depth > MOST_DEEP) {
    w->unread = "it is nested too deeply";
  } else if ((part = json_object_get(node, "RangeVar")) != NULL) {
    from_table(w, scope, part);
  } else if ((part = json_object_get(node, "JoinExpr")) != NULL) {
    from_join(w, scope, part);
  } else if ((part = json_object_get(node, "RangeSubselect")) != NULL) {
    walk(w, scope, json_object_get(part, "subquery"));
    add_item(w, scope, alias_of(part), NO_TABLE);
  } else if ((part = json_object_get(node, "RangeTableSample")) != NULL) {
    from_item(w, scope, json_object_get(part, "relation"));
    walk(w, scope, json_object_get(part, "args"));
  } else {
    walk(w, scope, node);
    part = json_object_get(node, "RangeFunction");
    if (part != NULL) add_item(w, scope, alias_of(part), NO_TABLE);
  }
  w->depth--;
}

static void walk_from(SqlWalk *w, Scope *scope, const json_t *items) {
  size_t i;
  json_t *item;
  json_array_foreach(items, i, item) from_item(w, scope, item);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void add_cte(SqlWalk *w, Scope *scope, const char *name) {
  scope->ctes = arena_grow(w->arena, scope->ctes, scope->n_ctes, sizeof *scope->ctes);
  scope->ctes[scope->n_ctes++] = arena_strdup(w->arena, name != NULL ? name : "");
}

static void walk_with(SqlWalk *w, Scope *scope, const json_t *with) {
  size_t i;
  json_t *entry;
  bool recursive = json_is_true(json_object_get(with, "recursive"));
  const json_t *entries = json_object_get(with, "ctes");
  if (recursive)
    json_array_foreach(entries, i, entry)
        add_cte(w, scope, sql_member(json_object_get(entry, "CommonTableExpr"), "ctename"));
  json_array_foreach(entries, i, entry) {
    const json_t *cte = json_object_get(entry, "CommonTableExpr");
    walk(w, scope, json_object_get(cte, "ctequery"));
    if (!recursive) add_cte(w, scope, sql_member(cte, "ctename"));
  }
}

/* Everything of the statement but the members named. */
static void walk_rest(SqlWalk *w, Scope *scope, const json_t *statement, const char *const *but) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)statement, key, value) {
    const char *const *skip = but;
    while (*skip != NULL && strcmp(*skip, key) != 0) skip++;
    if (*skip == NULL) walk(w, scope, value);
  }
}

static SqlWalkWrite table_write(const SqlWalk *w, const json_t *range, const char *kind, const char *deed) {
  return (SqlWalkWrite){.table = name_of(w, range),
                        .kind = kind,
                        .deed = deed,
                        .temporary = sql_same(sql_member(range, "relpersistence"), "t")};
}

static void walk_select(SqlWalk *w, const Scope *outer, const json_t *select) {
  static const char *const but[] = {"withClause", "fromClause", "larg", "rarg", "intoClause", NULL};
  Scope scope = {.outer = outer};
  const json_t *into = json_object_get(json_object_get(select, "intoClause"), "rel");
  if (++w->depth > MOST_DEEP) {
    w->unread = "it is nested too deeply";
  } else if (select != NULL) {
    if (into != NULL) add_write(w, table_write(w, into, "table", "select into"));
    walk_with(w, &scope, json_object_get(select, "withClause"));
    walk_select(w, &scope, json_object_get(select, "larg"));
    walk_select(w, &scope, json_object_get(select, "rarg"));
    walk_from(w, &scope, json_object_get(select, "fromClause"));
    walk_rest(w, &scope, select, but);
  }
  w->depth--;
}

/* INSERT, UPDATE, DELETE, MERGE. */
static void walk_change(SqlWalk *w, const Scope *outer, const json_t *change, const char *deed) {
  static const char *const but[] = {"relation",       "withClause", "fromClause", "usingClause",
                                    "sourceRelation", "cols",       NULL};
  Scope scope = {.outer = outer};
  const json_t *relation = json_object_get(change, "relation");
  add_write(w, table_write(w, relation, "table", deed));
  walk_with(w, &scope, json_object_get(change, "withClause"));
  add_item(w, &scope, alias_of(relation), ITSELF);
  walk_from(w, &scope, json_object_get(change, "fromClause"));
  walk_from(w, &scope, json_object_get(change, "usingClause"));
  if (json_object_get(change, "sourceRelation") != NULL)
    from_item(w, &scope, json_object_get(change, "sourceRelation"));
  walk_rest(w, &scope, change, but);
  if (outer->outer != NULL && json_object_get(change, "returningList") != NULL) /* in a WITH: others read it */
    add_column(w, add_read(w, name_of(w, relation)), NULL);
}

static void walk_create_as(SqlWalk *w, const Scope *outer, const json_t *create) {
  bool materialized = sql_same(sql_member(create, "objtype"), "OBJECT_MATVIEW");
  Scope scope = {.outer = outer};
  add_write(w, table_write(w, json_object_get(json_object_get(create, "into"), "rel"),
                           materialized ? "materialized view" : "table",
                           materialized ? "create materialized view" : "create table as"));
  walk(w, &scope, json_object_get(create, "query"));
}

/* Only a temporary table matters: what is put into it later is looked through. */
static void walk_create(SqlWalk *w, const json_t *create) {
  SqlWalkWrite write = table_write(w, json_object_get(create, "relation"), "table", "create table");
  if (write.temporary) add_write(w, write);
}

static void walk_view(SqlWalk *w, const Scope *outer, const json_t *view) {
  Scope scope = {.outer = outer};
  add_write(w, table_write(w, json_object_get(view, "view"), "view", "create view"));
  walk(w, &scope, json_object_get(view, "query"));
}

static void walk_copy(SqlWalk *w, const Scope *outer, const json_t *copy) {
  Scope scope = {.outer = outer};
  const json_t *relation = json_object_get(copy, "relation");
  const char *file = sql_member(copy, "filename");
  if (json_is_true(json_object_get(copy, "is_from"))) {
    add_write(w, table_write(w, relation, "table", "copy from"));
    return;
  }
  add_write(w, (SqlWalkWrite){.kind = "export",
                              .deed = "copy to",
                              .file_name = arena_strdup(w->arena, file != NULL ? file : "standard output")});
  walk(w, &scope, json_object_get(copy, "query"));
  if (relation != NULL) add_column(w, add_read(w, name_of(w, relation)), NULL);
}

static bool walk_statement(SqlWalk *w, Scope *scope, const char *type, const json_t *value) {
  static const struct {
    const char *type, *deed;
  } changes[] = {{"InsertStmt", "insert"}, {"UpdateStmt", "update"}, {"DeleteStmt", "delete"}, {"MergeStmt", "merge"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (strcmp(type, changes[i].type) == 0) {
      walk_change(w, scope, value, changes[i].deed);
      return true;
    }
  if (strcmp(type, "SelectStmt") == 0)
    walk_select(w, scope, value);
  else if (strcmp(type, "CreateTableAsStmt") == 0)
    walk_create_as(w, scope, value);
  else if (strcmp(type, "ViewStmt") == 0)
    walk_view(w, scope, value);
  else if (strcmp(type, "CopyStmt") == 0)
    walk_copy(w, scope, value);
  else if (strcmp(type, "CreateFunctionStmt") == 0 || strcmp(type, "DoStmt") == 0)
    w->unread = "the body of a function is not read";
  else if (strcmp(type, "CreateStmt") == 0)
    walk_create(w, value);
  else
    return false;
  return true;
}

static void walk(SqlWalk *w, Scope *scope, const json_t *node) {
  const char *key;
  json_t *value;
  size_t i;
  if (++w->depth > MOST_DEEP) {
    w->unread = "it is nested too deeply";
  } else if (json_is_array(node)) {
    json_array_foreach(node, i, value) walk(w, scope, value);
  } else if (json_is_object(node)) {
    json_object_foreach((json_t *)node, key, value) {
      if (strcmp(key, "ColumnRef") == 0)
        walk_column(w, scope, value);
      else if (!walk_statement(w, scope, key, value))
        walk(w, scope, value);
    }
  }
  w->depth--;
}
void sql_walk(SqlWalk *w, const json_t *tree) {
  Scope scope = {0};
  walk(w, &scope, tree);
}
