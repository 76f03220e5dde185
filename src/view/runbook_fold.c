#include <string.h>

#include "view/runbook_int.h"

enum { LINE = 76 }; /* of a statement; with the indent of the plain text 80 */

/* Does a clause begin here? Lines are broken before it rather than anywhere. */
static bool is_clause(const char *text) {
  static const char *const words[] = {"FROM ",  "WHERE ", "AND ",  "OR ",     "SET ",   "SELECT ", "VALUES ",
                                      "ORDER ", "GROUP ", "JOIN ", "HAVING ", "UNION ", "WHEN ",   "(SELECT "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strncmp(text, words[i], strlen(words[i])) == 0) return true;
  return false;
}

/* The blank outside of quotes among the first `most` bytes at which the line is best broken; 0: none. */
static size_t best_blank(const char *line, size_t n, size_t most) {
  size_t found = 0, clause = 0;
  char quote = '\0';
  for (size_t i = 0; i < n && (i <= most || found == 0); i++) {
    if (quote != '\0')
      quote = line[i] == quote ? '\0' : quote;
    else if (line[i] == '\'' || line[i] == '"')
      quote = line[i];
    else if (line[i] == ' ' && i > 2)
      found = i;
    if (found == i && i > most / 3 && is_clause(line + i + 1)) clause = i;
  }
  return clause > 0 ? clause : found;
}

static bool unbalanced(const char *line, size_t n) {
  size_t quotes = 0;
  for (size_t i = 0; i < n; i++) quotes += line[i] == '\'' || line[i] == '"';
  return quotes % 2 == 1;
}

void hand_fold(Buf *out, Arena *arena, const char *text) {
  for (bool more = *text != '\0'; more;) {
    size_t n = strcspn(text, "\n");
    const char *line = arena_strndup(arena, text, n), *indent = "";
    bool leave = *line == '\\' || *line == '.' || strstr(line, "--") != NULL || strchr(line, '$') != NULL ||
                 strstr(line, "/*") != NULL || unbalanced(line, n);
    for (size_t left = n; !leave && left + strlen(indent) > LINE;) {
      size_t at = best_blank(line, left, LINE - strlen(indent));
      if (at == 0) break;
      buf_printf(out, "%s%.*s\n", indent, (int)at, line);
      line += at + 1;
      left -= at + 1;
      indent = "  ";
    }
    buf_printf(out, "%s%s", indent, line);
    more = text[n] == '\n';
    text += n + (more ? 1 : 0);
    if (more) buf_putc(out, '\n');
  }
}
