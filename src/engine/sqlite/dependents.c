#include <string.h>

#include "engine/sqlite/catalog_int.h"
#include "engine/sqlite/lex.h"
#include "engine/sqlite/reads.h"
#include "engine/sqlite/sqlite_sql.h"

/* What depends on a table: views, triggers, foreign keys. SQLite resolves every name itself (reads.h); only where it
 * cannot, because something is broken, is the text searched. */

static const char doing[] = "looking for what depends on the table";

typedef struct Search {
  SqliteEngine *engine;
  Arena *arena;
  const char *table;
  DependentFacts *found;
  size_t n;
  const char **views; /* that read the table, directly or through others */
  size_t n_views;
} Search;

static void add(Search *search, const char *name, const char *kind, const char *via, const char *needs) {
  search->found = arena_grow(search->arena, search->found, search->n, sizeof *search->found);
  search->found[search->n++] = (DependentFacts){.name = name, .kind = kind, .via = via, .needs = needs};
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* ret_texts: their SQL, may be NULL. */
static bool view_names(Search *search, const char ***ret, const char ***ret_texts, size_t *ret_n, Error *err) {
  STMT_SCOPED stmt = {0};
  const char **names = NULL, **texts = NULL;
  size_t n = 0;
  if (!sql_prepare(search->engine, sql_facts_views, &stmt, doing, err)) return false;
  for (bool row;;) {
    if (!sql_step(search->engine, &stmt, &row, doing, err)) return false;
    if (!row) break;
    names = arena_grow(search->arena, names, n, sizeof *names);
    texts = arena_grow(search->arena, texts, n, sizeof *texts);
    texts[n] = sql_text(search->arena, &stmt, 1);
    names[n++] = sql_text(search->arena, &stmt, 0);
  }
  *ret = names;
  if (ret_texts != NULL) *ret_texts = texts;
  *ret_n = n;
  return true;
}

/* ---- what views read --------------------------------------------------------------------------------------------- */

/* A view that stands in order, and what it reads. */
typedef struct ViewLog {
  const char *name;
  bool hides; /* some of the columns that it reads are not in the log */
  AccessLog log;
  size_t first, end; /* of its own reads */
} ViewLog;

typedef struct ViewReads {
  Arena *arena;
  ViewLog *views;
  size_t n_views;
  ReadFacts *reads;
  size_t n;
} ViewReads;

static ReadFacts *own_read(ViewReads *all, ViewLog *view, const char *source) {
  for (size_t i = view->first; i < all->n; i++)
    if (all->reads[i].reader == view->name && sqlite3_stricmp(all->reads[i].source, source) == 0) return &all->reads[i];
  all->reads = arena_grow(all->arena, all->reads, all->n, sizeof *all->reads);
  const char **none = arena_alloc(all->arena, sizeof *none);
  all->reads[all->n] =
      (ReadFacts){.reader = view->name, .kind = "view", .source = source, .columns = view->hides ? NULL : none};
  return &all->reads[all->n++];
}

static bool is_view(const ViewReads *all, const char *name) {
  for (size_t i = 0; name != NULL && i < all->n_views; i++)
    if (strcmp(all->views[i].name, name) == 0) return true;
  return false;
}

/* What other views in it read is theirs. */
static void add_reads(ViewReads *all, ViewLog *view) {
  view->first = all->n;
  for (size_t i = 0; i < view->log.n; i++) {
    const Access *item = &view->log.items[i];
    bool own = item->within == NULL || strcmp(item->within, view->name) == 0 || !is_view(all, item->within);
    if (item->kind != ACCESS_READ || !own || sqlite3_stricmp(item->table, view->name) == 0) continue;
    ReadFacts *read = own_read(all, view, item->table);
    if (item->column[0] == '\0' || view->hides) continue;
    const char **columns = arena_grow(all->arena, (void *)read->columns, read->n, sizeof *columns);
    columns[read->n++] = item->column;
    read->columns = columns;
  }
  view->end = all->n;
}

static bool has_within(const AccessLog *log, const char *name) {
  for (size_t i = 0; i < log->n; i++)
    if (log->items[i].within != NULL && strcmp(log->items[i].within, name) == 0) return true;
  return false;
}

/* Does another view that this one reads account for `name` standing in its log? */
static bool is_through(const ViewReads *all, const ViewLog *view, const char *name) {
  for (size_t i = view->first; i < view->end; i++)
    for (size_t k = 0; k < all->n_views; k++)
      if (sqlite3_stricmp(all->views[k].name, all->reads[i].source) == 0 &&
          (strcmp(all->views[k].name, name) == 0 || has_within(&all->views[k].log, name)))
        return true;
  return false;
}

/* A view of which no column is named (count(*)) is not reported itself, only what it reads. */
static void add_unnamed(ViewReads *all) {
  for (size_t i = 0; i < all->n_views; i++) {
    ViewLog *view = &all->views[i];
    for (size_t k = 0; k < all->n_views; k++) {
      const char *other = all->views[k].name;
      if (k == i || !has_within(&view->log, other) || is_through(all, view, other)) continue;
      own_read(all, view, other);
    }
  }
}

bool sqlite_view_reads(Engine *base, Arena *arena, const ReadFacts **ret, size_t *ret_n, Error *err) {
  Search search = {.engine = sqlite_engine(base), .arena = arena};
  const char **names, **texts;
  size_t n;
  if (!view_names(&search, &names, &texts, &n, err)) return false;
  ViewReads all = {.arena = arena, .views = arena_array(arena, n, sizeof *all.views)};
  for (size_t i = 0; i < n; i++) {
    STMT_SCOPED stmt = {0};
    ViewLog *view = &all.views[all.n_views];
    const char *sql = sql_fill(arena, sql_facts_view_rows, "view", sql_ident(arena, names[i]), NULL);
    view->name = names[i];
    view->hides = lex_joins_by_name(texts[i]);
    if (access_prepare(search.engine, arena, sql, &stmt, &view->log) == SQLITE_OK) all.n_views++;
  }
  for (size_t i = 0; i < all.n_views; i++) add_reads(&all, &all.views[i]);
  add_unnamed(&all);
  *ret = all.reads;
  *ret_n = all.n;
  return true;
}

/* ---- views of the table ------------------------------------------------------------------------------------------ */

/* The other view through which alone the view reads the table; NULL when it reads it itself. */
static const char *read_through(const Search *search, const AccessLog *log, const char *view, const char **views,
                                size_t n) {
  const char *through = NULL;
  for (size_t i = 0; i < log->n; i++) {
    const Access *item = &log->items[i];
    if (item->kind != ACCESS_READ || sqlite3_stricmp(item->table, search->table) != 0 || item->column[0] == '\0')
      continue;
    const char *other = NULL;
    for (size_t j = 0; j < n; j++)
      if (item->within != NULL && strcmp(views[j], item->within) == 0 && strcmp(views[j], view) != 0) other = views[j];
    if (other == NULL) return NULL;
    through = other;
  }
  return through;
}

static bool is_self(const Search *search, const char *view) { return sqlite3_stricmp(view, search->table) == 0; }

static void look_at_view(Search *search, const char *view, const char **views, size_t n) {
  STMT_SCOPED stmt = {0};
  AccessLog log;
  const char *sql = sql_fill(search->arena, sql_facts_view_rows, "view", sql_ident(search->arena, view), NULL);
  if (access_prepare(search->engine, search->arena, sql, &stmt, &log) != SQLITE_OK) {
    const char *words = sqlite3_errmsg(search->engine->db);
    add(search, view, "view", arena_printf(search->arena, "is broken: %s", words), "unknown");
    return;
  }
  if (!access_touches(&log, ACCESS_READ, search->table, NULL)) return;
  const char *through = read_through(search, &log, view, views, n);
  const char *via = through == NULL ? arena_printf(search->arena, "reads %s", search->table)
                                    : arena_printf(search->arena, "reads %s through %s", search->table, through);
  add(search, view, "view", via, "follows");
  search->found[search->n - 1].through = through != NULL;
  search->views = arena_grow(search->arena, search->views, search->n_views, sizeof *search->views);
  search->views[search->n_views++] = view;
}

static bool look_at_views(Search *search, Error *err) {
  const char **views;
  size_t n;
  if (!view_names(search, &views, NULL, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (!is_self(search, views[i])) look_at_view(search, views[i], views, n);
  return true;
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

typedef struct Trigger {
  const char *name, *sql, *table;
  TriggerFacts facts;
} Trigger;

static const char *event_of(const Trigger *trigger) {
  return trigger->facts.on_insert ? "INSERT" : trigger->facts.on_update ? "UPDATE" : "DELETE";
}

/* A statement that makes the trigger fire: preparing it compiles the trigger's body. NULL when the columns cannot be
 * read. */
static const char *firing_statement(Search *search, const Trigger *trigger) {
  Arena *arena = search->arena;
  const char *table = sql_ident(arena, trigger->table);
  if (trigger->facts.on_insert) return sql_fill(arena, sql_facts_fire_insert, "table", table, NULL);
  if (trigger->facts.on_delete) return sql_fill(arena, sql_facts_fire_delete, "table", table, NULL);
  BUF_SCOPED assignments = {0};
  ColumnFacts *columns;
  size_t n;
  Error ignored;
  if (!catalog_columns(search->engine, arena, trigger->table, &columns, &n, &ignored)) return NULL;
  for (size_t i = 0; i < n; i++) {
    if (columns[i].generated) continue;
    const char *name = sql_ident(arena, columns[i].name);
    buf_printf(&assignments, "%s%s = %s", assignments.len == 0 ? "" : ", ", name, name);
  }
  return sql_fill(arena, sql_facts_fire_update, "table", table, "assignments", buf_text(&assignments), NULL);
}

static bool mentions(const char *sql, const char *name) {
  Lexer lexer = {.at = sql};
  for (LexToken token; (token = lex_next(&lexer)).kind != LEX_END;)
    if (lex_names(&token, name)) return true;
  return false;
}

/* A view over the table counts as the table. */
static bool body_touches(const Search *search, const AccessLog *log, AccessKind kind, const char *trigger) {
  if (access_touches(log, kind, search->table, trigger)) return true;
  for (size_t i = 0; i < search->n_views; i++)
    if (access_touches(log, kind, search->views[i], trigger)) return true;
  return false;
}

static bool mentions_any(const Search *search, const char *sql) {
  if (mentions(sql, search->table)) return true;
  for (size_t i = 0; i < search->n_views; i++)
    if (mentions(sql, search->views[i])) return true;
  return false;
}

/* What the trigger does with the table, in words; NULL: nothing. SQLite names a WITH table instead of the trigger in
 * whose body it stands, so there the text decides. */
static const char *deeds_of(Search *search, const Trigger *trigger) {
  STMT_SCOPED stmt = {0};
  AccessLog log;
  const char *sql = firing_statement(search, trigger);
  if (sql == NULL || access_prepare(search->engine, search->arena, sql, &stmt, &log) != SQLITE_OK)
    return mentions_any(search, trigger->sql) ? "mentions (by text)" : NULL;
  bool reads = body_touches(search, &log, ACCESS_READ, trigger->name);
  bool writes = body_touches(search, &log, ACCESS_WRITE, trigger->name);
  if (reads || writes) return reads && writes ? "reads and writes" : reads ? "reads" : "writes";
  return mentions(trigger->sql, "WITH") && mentions_any(search, trigger->sql) ? "mentions (by text)" : NULL;
}

static void look_at_foreign_trigger(Search *search, const Trigger *trigger) {
  const char *deeds = deeds_of(search, trigger);
  if (deeds == NULL) return;
  const char *via =
      arena_printf(search->arena, "%s %s on %s of %s", deeds, search->table, event_of(trigger), trigger->table);
  add(search, trigger->name, "trigger", via, "unknown");
}

static void look_at_own_trigger(Search *search, const Trigger *trigger) {
  const char *via = arena_printf(search->arena, "fires on %s of %s", event_of(trigger), search->table);
  add(search, trigger->name, "trigger", via, "unknown");
}

static bool look_at_triggers(Search *search, bool others, Error *err) {
  STMT_SCOPED stmt = {0};
  if (!sql_prepare(search->engine, sql_facts_triggers, &stmt, doing, err)) return false;
  sql_bind_text(&stmt, ":table", search->table);
  sql_bind_int(&stmt, ":others", others);
  for (bool row;;) {
    if (!sql_step(search->engine, &stmt, &row, doing, err)) return false;
    if (!row) return true;
    Trigger trigger = {
        sql_text(search->arena, &stmt, 0), sql_text(search->arena, &stmt, 1), sql_text(search->arena, &stmt, 2), {0}};
    trigger.facts = trigger_facts(trigger.name, trigger.sql);
    if (others)
      look_at_foreign_trigger(search, &trigger);
    else
      look_at_own_trigger(search, &trigger);
  }
}

/* ---- foreign keys ------------------------------------------------------------------------------------------------ */

static bool look_at_children(Search *search, Error *err) {
  const ForeignKeyFacts *keys;
  size_t n;
  if (!catalog_foreign_keys(search->engine, search->arena, NULL, search->table, &keys, &n, err)) return false;
  for (size_t i = 0; i < n; i++) {
    bool refuses = strcmp(keys[i].on_delete, "NO ACTION") == 0 || strcmp(keys[i].on_delete, "RESTRICT") == 0;
    add(search, keys[i].child, "foreign key", arena_printf(search->arena, "ON DELETE %s", keys[i].on_delete),
        refuses ? "follows" : "unknown");
  }
  return true;
}

bool sqlite_dependents(Engine *base, Arena *arena, const char *table, const char **ret_schema,
                       const DependentFacts **ret, size_t *ret_n, Error *err) {
  Search search = {.engine = sqlite_engine(base), .arena = arena};
  if (!catalog_spelling(search.engine, arena, table, &search.table, err) || !look_at_views(&search, err) ||
      !look_at_triggers(&search, false, err) || !look_at_triggers(&search, true, err) ||
      !look_at_children(&search, err))
    return false;
  *ret_schema = NULL;
  *ret = search.found;
  *ret_n = search.n;
  return true;
}
