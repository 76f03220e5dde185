#include "cli/docs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

static const struct {
  const char *path;
  void (*print)(Buf *out);
} pages[] = {{"docs/reference/commands.md", docs_commands},     {"docs/reference/exit-codes.md", docs_exit_codes},
             {"docs/reference/states.md", docs_states},         {"states.mermaid", docs_states_diagram},
             {"docs/reference/gate-rules.md", docs_gate_rules}, {"docs/reference/spec.md", docs_spec},
             {"completions/tidegate.bash", docs_bash},          {"completions/_tidegate", docs_zsh}};

/* Makes every directory of the path. */
static bool make_directories(Arena *arena, const char *path) {
  char *partial = arena_strdup(arena, path);
  for (char *slash = strchr(partial + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) return false;
    *slash = '/';
  }
  return true;
}

static bool write_page(const char *directory, const char *path, const Buf *text) {
  ARENA_SCOPED arena = {0};
  const char *full = arena_printf(&arena, "%s/%s", directory, path);
  FILE *file = make_directories(&arena, full) ? fopen(full, "we") : NULL;
  bool ok = file != NULL && fwrite(buf_text(text), 1, text->len, file) == text->len;
  if (file != NULL) ok = fclose(file) == 0 && ok;
  if (!ok) fprintf(stderr, "tidegate: error: cannot write %s: %s\n", full, strerror(errno));
  return ok;
}

static bool write_man(const char *directory, const Command *command) {
  char path[80];
  BUF_SCOPED text = {0};
  snprintf(path, sizeof path, "man/tidegate%s%s.1.scd", command == NULL ? "" : "-",
           command == NULL ? "" : command->name);
  docs_man(&text, command);
  return write_page(directory, path, &text);
}

int docs_print(const char *directory) {
  bool ok = write_man(directory, NULL);
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    BUF_SCOPED text = {0};
    pages[i].print(&text);
    ok = write_page(directory, pages[i].path, &text) && ok;
  }
  for (const Command *const *c = commands_all(); *c != NULL; c++) ok = write_man(directory, *c) && ok;
  return ok ? 0 : error_exit_status(ERR_NOT_FOUND);
}
