#include "lineage/sql_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "lineage/readers.h"
#include "lineage/sql_script.h"

/* A folder of .sql files into the graph. */

enum { MOST_DEEP = 16, MOST_BYTES = 16 * 1024 * 1024, MOST_FAULTS = 3 };

typedef struct Folder {
  Graph *graph;
  Arena *arena;                /* the graph's */
  bool manifest;               /* a dbt manifest is read too: what is written in Jinja is left to it without a word */
  const char **names, **texts; /* of the files that are read */
  size_t n_files, n_statements, n_jinja, n_faults;
  Buf faults;
} Folder;

static void leave_out(Folder *folder, const char *file, int line, const char *why) {
  if (++folder->n_faults > MOST_FAULTS) return;
  buf_printf(&folder->faults, "%s%s:%d: %s", folder->faults.len > 0 ? "; " : "", file, line, why);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* Several statements may write one table, and several files: what each says is taken together. */
void sql_tell_dates(GraphNode *facts, const SqlDates *dates) {
  bool first = facts->range_from == NULL;
  if (!dates->known || (!first && strcmp(facts->range_from, "its SQL") != 0)) return;
  facts->range_from = "its SQL";
  if (dates->has_grain && (!facts->has_grain || dates->grain > facts->grain)) facts->grain = dates->grain;
  facts->has_grain = facts->has_grain || dates->has_grain;
  if (dates->window > facts->window) facts->window = dates->window;
  if (dates->days > facts->window_days) facts->window_days = dates->days;
  if (dates->earlier > facts->earlier_days) facts->earlier_days = dates->earlier;
  facts->cumulative = facts->cumulative || dates->cumulative;
  /* Dates before the first that changed are wrong too, or all are: no range that begins there will do. */
  if ((dates->all || dates->after) && facts->whole == NULL)
    facts->whole = dates->why != NULL ? dates->why : "its dates hang on all that it reads";
}

static GraphName graph_name(const SqlName *name) {
  return (GraphName){.database = name->database, .schema = name->schema, .table = name->name};
}

static NodeId written_node(Folder *folder, const char *file, const SqlStatement *statement) {
  GraphName name = graph_name(&statement->writes);
  if (statement->file_name != NULL) name = (GraphName){.space = "export", .id = statement->file_name};
  NodeId node = graph_node(folder->graph, &name);
  GraphNode *facts = graph_facts(folder->graph, node);
  if (facts->kind == NULL) facts->kind = statement->kind;
  if (statement->file_name != NULL) facts->shown = statement->file_name;
  if (statement->n == 0 && !statement->reads_itself) return node;
  if (facts->file == NULL) {
    facts->file = file;
    facts->line = statement->line;
  }
  if (facts->sql == NULL) facts->sql = statement->text;
  if (facts->materialization == NULL && strncmp(statement->deed, "create ", 7) == 0)
    facts->materialization = strcmp(statement->kind, "materialized view") == 0 ? "materialized_view" : statement->kind;
  facts->reads_itself = facts->reads_itself || statement->reads_itself;
  if (strcmp(statement->kind, "table") == 0) sql_tell_dates(facts, &statement->dates);
  return node;
}

static void add_statement(Folder *folder, const char *file, const SqlStatement *statement) {
  static const char *const none[] = {NULL};
  NodeId child = written_node(folder, file, statement);
  for (size_t i = 0; i < statement->n; i++) {
    const SqlRead *read = &statement->reads[i];
    GraphName name = graph_name(&read->table);
    GraphEdge edge = {.parent = graph_node(folder->graph, &name), .child = child};
    edge.via = arena_printf(folder->arena, "%s in %s:%d", statement->deed, file, statement->line);
    if (!read->all) {
      edge.columns = read->n > 0 ? read->columns : none;
      edge.n_columns = (uint32_t)read->n;
    }
    graph_edge(folder->graph, &edge);
  }
  folder->n_statements++;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* `{{`, `{%` or `{#`; but '{{1,2}}' is an array of PostgreSQL. */
static bool is_jinja(const char *at, bool quoted) {
  if (at[0] != '{' || at[1] == '\0') return false;
  return at[1] == '%' || at[1] == '#' || (at[1] == '{' && (!quoted || at[2] == ' '));
}

/* The line of the first piece of Jinja; 0: none. */
static int jinja_line(const char *text) {
  int line = 1;
  for (const char *at = text; *at != '\0'; at++) {
    if (is_jinja(at, at > text && at[-1] == '\'')) return line;
    line += *at == '\n';
  }
  return 0;
}

static void take_text(Folder *folder, const char *file, const char *text) {
  int jinja = jinja_line(text);
  if (jinja > 0) {
    folder->n_jinja++;
    if (!folder->manifest) leave_out(folder, file, jinja, "it is written in Jinja: dbt's manifest says what it reads");
    return;
  }
  folder->names = arena_grow(folder->arena, folder->names, folder->n_files, sizeof *folder->names);
  folder->texts = arena_grow(folder->arena, folder->texts, folder->n_files, sizeof *folder->texts);
  folder->names[folder->n_files] = arena_strdup(folder->arena, file);
  folder->texts[folder->n_files++] = arena_strdup(folder->arena, text);
}

static void read_file(Folder *folder, const char *path, const char *shown) {
  FILE *file = fopen(path, "re");
  BUF_SCOPED text = {0};
  char piece[65536];
  size_t n;
  if (file == NULL) {
    leave_out(folder, shown, 1, strerror(errno));
    return;
  }
  while ((n = fread(piece, 1, sizeof piece, file)) > 0 && text.len <= MOST_BYTES) buf_append(&text, piece, n);
  fclose(file);
  if (text.len > MOST_BYTES)
    leave_out(folder, shown, 1, "it is longer than 16 MiB");
  else if (strlen(buf_text(&text)) != text.len)
    leave_out(folder, shown, 1, "it holds a NUL byte: it is no text");
  else
    take_text(folder, shown, buf_text(&text));
}

static void read_folder(Folder *folder, const char *path, const char *shown, int depth) {
  struct dirent **entries;
  int n = scandir(path, &entries, NULL, alphasort);
  if (n < 0) leave_out(folder, shown, 1, strerror(errno));
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    size_t length = strlen(name);
    struct stat facts;
    const char *inner = arena_printf(folder->arena, "%s/%s", path, name);
    const char *inner_shown = depth == 0 ? name : arena_printf(folder->arena, "%s/%s", shown, name);
    if (name[0] != '.' && lstat(inner, &facts) == 0) {
      if (S_ISDIR(facts.st_mode) && depth < MOST_DEEP)
        read_folder(folder, inner, inner_shown, depth + 1);
      else if (length > 4 && strcmp(name + length - 4, ".sql") == 0 && stat(inner, &facts) == 0 &&
               S_ISREG(facts.st_mode))
        read_file(folder, inner, inner_shown);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

/* ---- dialects ---------------------------------------------------------------------------------------------------- */

/* An upsert reads the row that it meets: that is not reading what was written before. */
static bool reads_back(const StatementFacts *facts, const char *statement) {
  return strcmp(facts->deed, "insert") == 0 && strcasestr(statement, "on conflict") == NULL;
}

/* A statement as the engine understood it. */
static void add_facts(SqlBuild *build, const StatementFacts *facts) {
  const char *statement = arena_strndup(build->arena, build->text + facts->offset, facts->length);
  size_t start = facts->offset + strspn(statement, " \t\r\n");
  if (facts->unread != NULL) sql_build_unread(build, start, facts->unread);
  if (facts->unread != NULL || facts->writes == NULL) return;
  SqlWalkWrite write = {{.name = facts->writes}, facts->kind, facts->deed, NULL, facts->temporary};
  SqlWalk walk = {.arena = build->arena, .writes = &write, .n_writes = 1};
  walk.reads = arena_array(build->arena, facts->n_reads, sizeof *walk.reads);
  for (size_t i = 0; i < facts->n_reads; i++) {
    const QueryRead *read = &facts->reads[i];
    if (sql_same(read->table, facts->writes) && !reads_back(facts, statement)) continue;
    walk.reads[walk.n++] =
        (SqlWalkRead){{.name = read->table}, (const char **)read->columns, read->n, read->columns == NULL};
  }
  SqlDates dates = sql_dates_of(build->arena, statement);
  sql_build_add(build, &walk, &dates, start, statement);
}

static void add_script(Folder *folder, const char *file, const SqlScript *script) {
  for (size_t i = 0; i < script->n; i++) add_statement(folder, file, &script->statements[i]);
  for (size_t i = 0; i < script->n_unread; i++) leave_out(folder, file, script->unread[i].line, script->unread[i].why);
}

static bool add_scripts(Folder *folder, Engine *engine, Error *err) {
  ScriptFacts *facts = arena_array(folder->arena, folder->n_files, sizeof *facts);
  bool (*describe)(Engine *, Arena *, const char *const *, size_t, ScriptFacts *, Error *) =
      engine->ops->describe_scripts;
  if (describe != NULL && !describe(engine, folder->arena, folder->texts, folder->n_files, facts, err)) return false;
  for (size_t i = 0; i < folder->n_files; i++) {
    SqlScript script;
    if (describe == NULL) {
      script = sql_parse(folder->arena, folder->texts[i]);
    } else {
      SqlBuild build = {.arena = folder->arena, .text = folder->texts[i]};
      for (size_t k = 0; k < facts[i].n; k++) add_facts(&build, &facts[i].statements[k]);
      script = sql_build_end(&build);
    }
    add_script(folder, folder->names[i], &script);
  }
  return true;
}

static bool read_path(LineageCase *reading, const char *path, Error *err) {
  Folder folder = {.graph = reading->graph, .arena = reading->arena, .manifest = reading->spec->lineage.dbt.n > 0};
  struct stat facts;
  uint32_t index = graph_begin(folder.graph, &(GraphSource){.reader = "SQL text", .path = path});
  if (stat(path, &facts) != 0)
    leave_out(&folder, path, 1, strerror(errno));
  else if (S_ISDIR(facts.st_mode))
    read_folder(&folder, path, path, 0);
  else
    read_file(&folder, path, path);
  bool ok = add_scripts(&folder, reading->engine, err);
  GraphSource *source = graph_source(folder.graph, index);
  source->covers = arena_printf(folder.arena, "%zu statement%s of %zu file%s", folder.n_statements,
                                folder.n_statements == 1 ? "" : "s", folder.n_files, folder.n_files == 1 ? "" : "s");
  if (folder.n_jinja > 0)
    source->covers = arena_printf(folder.arena, "%s; %zu in Jinja are not read here", source->covers, folder.n_jinja);
  if (folder.n_faults > MOST_FAULTS) buf_printf(&folder.faults, "; and %zu more", folder.n_faults - MOST_FAULTS);
  if (folder.n_faults > 0) source->failed = arena_strdup(folder.arena, buf_text(&folder.faults));
  buf_release(&folder.faults);
  return ok;
}

bool lineage_read_sql(LineageCase *reading, Error *err) {
  const SpecTexts *paths = &reading->spec->lineage.sql;
  for (size_t i = 0; i < paths->n; i++)
    if (!read_path(reading, paths->items[i].text, err)) return false;
  return true;
}
