#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cascade/cascade.h"
#include "engine/sql_text.h"

/* Finds words of a statement outside quotes, comments and parentheses. Enough for the ends of a query: whether it is
 * right is asked of the database when it is planned. */

static size_t skip_quoted(const char *text, size_t i) {
  char quote = text[i++];
  while (text[i] != '\0') {
    if (text[i] == quote && text[i + 1] != quote) return i + 1;
    i += text[i] == quote ? 2 : 1;
  }
  return i;
}

/* Behind a dollar-quoted text of PostgreSQL, or behind the one sign when it is none. */
static size_t skip_dollar(const char *text, size_t i) {
  size_t n = 1;
  while (isalnum((unsigned char)text[i + n]) || text[i + n] == '_') n++;
  if (text[i + n] != '$') return i + 1;
  n++;
  for (size_t end = i + n; text[end] != '\0'; end++)
    if (strncmp(text + end, text + i, n) == 0) return end + n;
  return strlen(text);
}

static size_t skip_comment(const char *text, size_t i) {
  if (text[i] == '-') return i + strcspn(text + i, "\n");
  const char *end = strstr(text + i + 2, "*/");
  return end == NULL ? strlen(text) : (size_t)(end + 2 - text);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

/* Behind the quoted text or the comment that begins here; the place itself when none does. */
static size_t skip(const char *text, size_t i) {
  char c = text[i];
  if (c == '\'' || c == '"' || c == '`') return skip_quoted(text, i);
  if (c == '$' && !(i > 0 && is_word(text[i - 1]))) return skip_dollar(text, i);
  return (c == '-' && text[i + 1] == '-') || (c == '/' && text[i + 1] == '*') ? skip_comment(text, i) : i;
}

/* The place of the first of these words from `from` on, at depth 0; the statement's end when there is none. */
static size_t find_word(const char *text, size_t from, const char *const *words) {
  int depth = 0;
  for (size_t i = from; text[i] != '\0';) {
    size_t behind = skip(text, i);
    if (behind > i) {
      i = behind;
    } else if (is_word(text[i])) {
      size_t n = 0;
      while (is_word(text[i + n])) n++;
      for (size_t k = 0; depth == 0 && words[k] != NULL; k++)
        if (strlen(words[k]) == n && strncasecmp(text + i, words[k], n) == 0) return i;
      i += n;
    } else {
      depth += (text[i] == '(') - (text[i] == ')');
      if (text[i] == ';' && depth <= 0) return i;
      i++;
    }
  }
  return strlen(text);
}

/* What stands in the first parentheses between the places; NULL: there are none. */
static const char *in_parentheses(Arena *arena, const char *text, size_t from, size_t to) {
  size_t start = 0;
  for (size_t i = from, behind; i < to; i = behind) {
    behind = skip(text, i);
    if (behind > i) continue;
    behind = i + 1;
    if (text[i] == '(' && start == 0) start = behind;
    if (text[i] == ')' && start > 0) return arena_strndup(arena, text + start, i - start);
  }
  return NULL;
}

static bool is_end(const char *text, size_t i) { return text[i] == '\0' || text[i] == ';'; }

/* Where the query ends: at its semicolon, or where an INSERT says what becomes of rows that are there. */
static size_t find_end(const char *text, size_t from) {
  static const char *const on[] = {"on", "returning", NULL};
  static const char *const none[] = {NULL};
  size_t end = find_word(text, from, none);
  while (end > from && isspace((unsigned char)text[end - 1])) end--;
  for (size_t i = find_word(text, from, on); i < end; i = find_word(text, i + 2, on)) {
    const char *next = text + i + 2 + strspn(text + i + 2, " \t\r\n");
    if (tolower((unsigned char)text[i]) == 'r' || strncasecmp(next, "conflict", 8) == 0) {
      while (i > from && isspace((unsigned char)text[i - 1])) i--;
      return i;
    }
  }
  return end;
}

CascadeQuery cascade_query(Arena *arena, const char *statement) {
  static const char *const begin[] = {"select", "with", NULL};
  static const char *const first[] = {"select", "with", "create", "insert", "replace", NULL};
  CascadeQuery none = {0};
  if (statement == NULL) return none;
  size_t verb = find_word(statement, 0, first);
  size_t from = find_word(statement, verb, begin);
  if (is_end(statement, verb) || is_end(statement, from)) return none;
  /* WITH … INSERT INTO … SELECT would have to be put together anew. */
  static const char *const insert[] = {"insert", "update", "delete", "merge", NULL};
  if (tolower((unsigned char)statement[from]) == 'w' && !is_end(statement, find_word(statement, from, insert)))
    return none;
  bool by_place = strchr("iIrR", statement[verb]) != NULL;
  return (CascadeQuery){.sql = arena_strndup(arena, statement + from, find_end(statement, from) - from),
                        .by_place = by_place,
                        .columns = by_place ? in_parentheses(arena, statement, verb, from) : NULL};
}

/* ---- its columns ------------------------------------------------------------------------------------------------- */

static const char *add_name(Arena *arena, const char *list, const char *name) {
  return list == NULL ? name : arena_printf(arena, "%s, %s", list, name);
}

static bool has_column(const Shape *shape, const char *name) {
  for (size_t i = 0; i < shape->n; i++)
    if (strcasecmp(shape->columns[i].name, name) == 0) return true;
  return false;
}

/* A model that has got a column since its table was made (on_schema_change: ignore) gives more than there is. */
void cascade_columns(Arena *arena, Engine *engine, const CascadeStep *step, CascadeChild *child) {
  QueryFacts facts;
  Error ignored;
  int offset;
  const char *columns = NULL, *surplus = NULL;
  const CascadeQuery *query = &step->query;
  if (query->sql == NULL || query->by_place ||
      !engine->ops->describe_query(engine, arena, query->sql, &facts, &offset, &ignored))
    return;
  for (size_t i = 0; i < facts.n_columns; i++) {
    if (has_column(child->shape, facts.columns[i]))
      columns = add_name(arena, columns, sql_ident(arena, facts.columns[i]));
    else
      surplus = add_name(arena, surplus, facts.columns[i]);
  }
  if (surplus == NULL || columns == NULL) return;
  child->columns = columns;
  child->surplus = surplus;
}
