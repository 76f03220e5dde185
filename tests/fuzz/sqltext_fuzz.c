#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/sql_text.h"

/* Any text as PostgreSQL's SQL: every statement is read, or has a line and a reason. */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

static void check(const SqlStatement *statement) {
  require((statement->writes.name != NULL) != (statement->file_name != NULL), "what it writes");
  require(statement->kind != NULL && statement->deed != NULL && statement->text != NULL && statement->line >= 1,
          "words");
  require(statement->dates.window >= 0, "window");
  for (size_t i = 0; i < statement->n; i++) {
    require(statement->reads[i].table.name != NULL, "what it reads");
    for (size_t k = 0; k < statement->reads[i].n; k++) require(statement->reads[i].columns[k] != NULL, "columns");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  SqlScript script = sql_parse(&arena, arena_strndup(&arena, (const char *)data, size));
  for (size_t i = 0; i < script.n; i++) check(&script.statements[i]);
  for (size_t i = 0; i < script.n_unread; i++)
    require(script.unread[i].line >= 1 && script.unread[i].why[0] != '\0', "unread");
  return 0;
}
