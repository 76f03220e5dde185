#include "lineage/sql_script.h"

#include <string.h>
#include <strings.h>

bool sql_same(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcasecmp(a, b) == 0); }

bool sql_same_table(const SqlName *a, const SqlName *b) {
  return sql_same(a->name, b->name) && sql_same(a->schema, b->schema) && sql_same(a->database, b->database);
}

static int line_at(const char *text, size_t offset) {
  int line = 1;
  for (size_t i = 0; i < offset && text[i] != '\0'; i++) line += text[i] == '\n';
  return line;
}

void sql_build_unread(SqlBuild *build, size_t offset, const char *why) {
  build->unread = arena_grow(build->arena, build->unread, build->n_unread, sizeof *build->unread);
  build->unread[build->n_unread++] = (SqlUnread){line_at(build->text, offset), why};
}

/* What put rows into the temporary table of that name, from the i-th on; *i ends behind it. NULL: nothing more. */
static const SqlStatement *temporary_of(const SqlBuild *build, const SqlName *name, size_t *i) {
  if (name->schema != NULL && !sql_same(name->schema, build->schema)) return NULL;
  while (*i < build->n_temporary) {
    const SqlStatement *made = &build->temporary[(*i)++];
    if (sql_same(made->writes.name, name->name)) return made;
  }
  return NULL;
}

static void merge_read(Arena *arena, SqlRead **reads, size_t *n, SqlRead read) {
  for (size_t i = 0; i < *n; i++) {
    SqlRead *old = &(*reads)[i];
    if (!sql_same_table(&old->table, &read.table)) continue;
    const char **columns = arena_array(arena, old->n + read.n, sizeof *columns);
    size_t both = 0;
    for (size_t k = 0; k < old->n; k++) columns[both++] = old->columns[k];
    for (size_t k = 0; k < read.n; k++) columns[both++] = read.columns[k];
    *old = (SqlRead){old->table, columns, both, old->all || read.all};
    return;
  }
  *reads = arena_grow(arena, *reads, *n, sizeof **reads);
  (*reads)[(*n)++] = read;
}

/* Dates through a temporary table: the widest of both. */
static SqlDates widest(SqlDates a, SqlDates b) {
  a.known = a.known && b.known;
  a.cumulative = a.cumulative || b.cumulative;
  a.after = a.after || b.after;
  a.all = a.all || b.all;
  if (b.has_grain && (!a.has_grain || b.grain > a.grain)) a.grain = b.grain;
  a.has_grain = a.has_grain || b.has_grain;
  a.window += b.window;
  a.days += b.days;
  a.earlier += b.earlier;
  if (a.why == NULL) a.why = b.why;
  return a;
}

/* The statement as it is when temporary tables are looked through. */
static SqlStatement resolve(const SqlBuild *build, const SqlWalk *w, const SqlWalkWrite *write,
                            SqlStatement statement) {
  SqlRead *reads = NULL;
  size_t n = 0;
  for (size_t i = 0; i < w->n; i++) {
    const SqlWalkRead *read = &w->reads[i];
    size_t at = 0;
    const SqlStatement *made = temporary_of(build, &read->table, &at);
    if (write->table.name != NULL && sql_same_table(&read->table, &write->table)) {
      statement.reads_itself = true;
    } else if (made != NULL) {
      for (; made != NULL; made = temporary_of(build, &read->table, &at)) {
        for (size_t k = 0; k < made->n; k++) merge_read(build->arena, &reads, &n, made->reads[k]);
        statement.dates = widest(statement.dates, made->dates);
      }
    } else {
      merge_read(build->arena, &reads, &n, (SqlRead){read->table, read->columns, read->n, read->all});
    }
  }
  statement.reads = reads;
  statement.n = n;
  return statement;
}

static void add_statement(SqlBuild *build, const SqlStatement *statement, bool temporary) {
  SqlStatement **list = temporary ? &build->temporary : &build->statements;
  size_t *n = temporary ? &build->n_temporary : &build->n;
  *list = arena_grow(build->arena, *list, *n, sizeof **list);
  (*list)[(*n)++] = *statement;
}

void sql_build_add(SqlBuild *build, const SqlWalk *walk, const SqlDates *dates, size_t start, const char *statement) {
  SqlStatement plain = {.dates = *dates, .line = line_at(build->text, start), .text = statement};
  for (size_t i = 0; i < walk->n_writes; i++) {
    const SqlWalkWrite *write = &walk->writes[i];
    size_t at = 0;
    bool temporary = write->file_name == NULL && temporary_of(build, &write->table, &at) != NULL;
    plain.writes = write->table;
    plain.kind = write->kind;
    plain.deed = write->deed;
    plain.file_name = write->file_name;
    SqlStatement resolved = resolve(build, walk, write, plain);
    add_statement(build, &resolved, write->temporary || temporary);
  }
}

SqlScript sql_build_end(const SqlBuild *build) {
  return (SqlScript){build->statements, build->n, build->unread, build->n_unread};
}
