#include <ctype.h>
#include <string.h>

#include "gate/trigger/shell_int.h"

/* The grammar: lists, pipelines, simple commands; compound ones stand in shell_compound.c. */

bool shell_refuse(ShellReader *r, const char *why) {
  if (*r->why_not == NULL) *r->why_not = why;
  return false;
}

bool shell_count(ShellReader *r) {
  return ++*r->pieces <= SHELL_MAX_PIECES || shell_refuse(r, "the text has more pieces than are looked at");
}

ShellNode *shell_new_node(ShellReader *r, ShellKind kind) {
  ShellNode *node = arena_alloc(r->arena, sizeof *node);
  node->kind = kind;
  return node;
}

void shell_add_child(ShellReader *r, ShellNode *node, const ShellNode *child) {
  const ShellNode **children = arena_grow(r->arena, (void *)node->children, node->n, sizeof *children);
  children[node->n++] = child;
  node->children = (const ShellNode *const *)children;
}

void shell_add_word(ShellReader *r, ShellNode *node, ShellWord word) {
  ShellWord *words = arena_grow(r->arena, (void *)node->words, node->n_words, sizeof *words);
  words[node->n_words++] = word;
  node->words = words;
}

/* ---- between words ----------------------------------------------------------------------------------------------- */

void shell_skip_blanks(ShellReader *r) {
  while (!shell_ended(r)) {
    char c = shell_peek(r, 0);
    if (c == ' ' || c == '\t' || c == '\r')
      r->at++;
    else if (c == '\\' && shell_peek(r, 1) == '\n')
      r->at += 2;
    else if (c == '#')
      while (!shell_ended(r) && shell_peek(r, 0) != '\n') r->at++;
    else
      return;
  }
}

/* A line end, with the here-documents behind it. */
static bool end_line(ShellReader *r) {
  r->at++;
  return r->n_pending == 0 || shell_read_here(r);
}

bool shell_skip_lines(ShellReader *r) {
  for (;;) {
    shell_skip_blanks(r);
    if (shell_ended(r) || shell_peek(r, 0) != '\n') return true;
    if (!end_line(r)) return false;
  }
}

bool shell_at_text(const ShellReader *r, const char *text) {
  size_t n = strlen(text);
  return r->n - r->at >= n && memcmp(r->text + r->at, text, n) == 0;
}

/* Is the next word exactly this reserved word? */
bool shell_at_reserved(const ShellReader *r, const char *word) {
  return shell_at_text(r, word) && shell_is_meta(shell_peek(r, strlen(word)));
}

bool shell_take_reserved(ShellReader *r, const char *word) {
  if (!shell_at_reserved(r, word)) return false;
  r->at += strlen(word);
  return true;
}

bool shell_expect(ShellReader *r, const char *word) {
  if (!shell_skip_lines(r)) return false;
  return shell_take_reserved(r, word) || shell_refuse(r, "a compound command is not closed");
}

/* ---- redirections ------------------------------------------------------------------------------------------------ */

static bool read_here_start(ShellReader *r, ShellWord *body) {
  ShellPending here = {.body = body};
  here.tabs = shell_peek(r, 0) == '-';
  if (here.tabs) r->at++;
  shell_skip_blanks(r);
  if (!shell_read_delimiter(r, &here.delimiter, &here.quoted)) return false;
  if (r->n_pending == sizeof r->pending / sizeof *r->pending)
    return shell_refuse(r, "a line has more here-documents than are looked at");
  r->pending[r->n_pending++] = here;
  return true;
}

/* The bytes before the operator: digits or {name}. */
static size_t descriptor_length(const ShellReader *r) {
  size_t n = 0;
  if (shell_peek(r, 0) == '{') {
    for (n = 1; isalnum((unsigned char)shell_peek(r, n)) || shell_peek(r, n) == '_';) n++;
    return n > 1 && shell_peek(r, n) == '}' ? n + 1 : 0;
  }
  while (isdigit((unsigned char)shell_peek(r, n))) n++;
  return n;
}

/* Is a redirection next? Then it is read and added. */
static bool read_redirect(ShellReader *r, ShellNode *node, bool *ret_any) {
  static const struct {
    const char *text;
    ShellRedirectKind kind;
    bool fd;
  } operators[] = {{"<<<", SHELL_HERE, false},  {"<<", SHELL_HERE, false},   {"<>", SHELL_INPUT, false},
                   {"<&", SHELL_INPUT, true},   {"<", SHELL_INPUT, false},   {"&>>", SHELL_OUTPUT, false},
                   {"&>", SHELL_OUTPUT, false}, {">>", SHELL_OUTPUT, false}, {">|", SHELL_OUTPUT, false},
                   {">&", SHELL_OUTPUT, true},  {">", SHELL_OUTPUT, false}};
  size_t before = descriptor_length(r), i = 0, n = sizeof operators / sizeof *operators;
  ShellReader start = *r;
  *ret_any = false;
  r->at += before;
  while (i < n && !shell_at_text(r, operators[i].text)) i++;
  bool process = i < n && operators[i].text[1] == '\0' && shell_peek(r, 1) == '(';
  if (i == n || (before > 0 && *operators[i].text == '&') || process) {
    *r = start;
    return true;
  }
  const char *operator= operators[i].text;
  char number = before == 1 ? start.text[start.at] : '\0';
  ShellRedirect redirect = {operators[i].kind, operators[i].fd, false, NULL};
  redirect.other = before > 0 && !(number == '0' && *operator== '<') && !(number == '1' && *operator== '>');
  r->at += strlen(operator);
  ShellWord *word = arena_alloc(r->arena, sizeof *word);
  redirect.word = word;
  bool any = true, ok;
  if (strcmp(operator, "<<") == 0) {
    ok = read_here_start(r, word);
  } else {
    shell_skip_blanks(r);
    ok = shell_read_word(r, word, &any);
  }
  if (!ok) return false;
  if (!any) return shell_refuse(r, "a redirection goes nowhere");
  ShellRedirect *all = arena_grow(r->arena, (void *)node->redirects, node->n_redirects, sizeof *all);
  all[node->n_redirects++] = redirect;
  node->redirects = all;
  *ret_any = true;
  return true;
}

static bool read_redirects(ShellReader *r, ShellNode *node) {
  for (bool any = true; any;) {
    shell_skip_blanks(r);
    if (!read_redirect(r, node, &any)) return false;
  }
  return true;
}

/* ---- simple commands --------------------------------------------------------------------------------------------- */

/* How many bytes of the word's first text are NAME=, NAME+= or NAME[; 0: it is no assignment. */
static size_t assignment_length(const ShellWord *word) {
  if (word->n == 0 || word->parts[0].kind != SHELL_TEXT || word->parts[0].quoted) return 0;
  const char *text = word->parts[0].text;
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  if (n == 0 || isdigit((unsigned char)*text)) return 0;
  if (text[n] == '[') return n + 1;
  if (text[n] == '+') n++;
  return text[n] == '=' ? n + 1 : 0;
}

static bool read_array(ShellReader *r, ShellWord *word) {
  ShellNode items = {0};
  r->at++;
  for (;;) {
    ShellWord item;
    bool any;
    if (!shell_skip_lines(r)) return false;
    if (shell_peek(r, 0) == ')') break;
    if (!shell_read_word(r, &item, &any)) return false;
    if (!any) return shell_refuse(r, "an array is not closed");
    shell_add_word(r, &items, item);
  }
  r->at++;
  word->is_array = true;
  word->items = items.words;
  word->n_items = items.n_words;
  return true;
}

static bool read_simple(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_SIMPLE);
  size_t begin = r->at;
  for (;;) {
    ShellWord word;
    bool any;
    shell_skip_blanks(r);
    if (!read_redirect(r, node, &any)) return false;
    if (any) continue;
    if (!shell_read_word(r, &word, &any)) return false;
    if (!any) break;
    size_t assigns = assignment_length(&word);
    bool bare = assigns > 0 && word.n == 1 && word.parts[0].text[assigns] == '\0';
    if (bare && shell_peek(r, 0) == '(' && !read_array(r, &word)) return false;
    if (assigns > 0 && node->n_assigned == node->n_words) node->n_assigned++;
    shell_add_word(r, node, word);
  }
  *ret = node;
  return r->at > begin || shell_refuse(r, "a command is missing");
}

static bool at_closing_word(const ShellReader *r) {
  static const char *const words[] = {"then", "elif", "else", "fi", "do", "done", "esac", "}"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (shell_at_reserved(r, words[i])) return true;
  return false;
}

bool shell_read_command(ShellReader *r, const ShellNode **ret) {
  ShellNode *node = NULL;
  if (!shell_count(r)) return false;
  if (++r->depth > SHELL_MAX_DEPTH) return shell_refuse(r, "commands stand deeper in one another than is looked at");
  bool ok = shell_read_compound(r, &node);
  if (ok && node != NULL) ok = read_redirects(r, node);
  if (ok && node == NULL) ok = read_simple(r, &node);
  r->depth--;
  *ret = node;
  return ok;
}

/* ---- pipelines and lists ----------------------------------------------------------------------------------------- */

static void skip_prefixes(ShellReader *r) {
  for (bool more = true; more;) {
    shell_skip_blanks(r);
    more = shell_take_reserved(r, "!");
    if (!shell_take_reserved(r, "time")) continue;
    more = true;
    shell_skip_blanks(r);
    if (shell_take_reserved(r, "-p")) shell_skip_blanks(r);
    shell_take_reserved(r, "--");
  }
}

static bool read_pipeline(ShellReader *r, const ShellNode **ret) {
  ShellNode *pipe = shell_new_node(r, SHELL_PIPE);
  for (;;) {
    const ShellNode *command = NULL;
    skip_prefixes(r);
    char c = shell_peek(r, 0);
    if (pipe->n == 0 && (c == '\0' || c == ';' || c == '\n' || c == '&' || c == ')')) break; /* `!` or `time` alone */
    if (!shell_read_command(r, &command)) return false;
    shell_add_child(r, pipe, command);
    shell_skip_blanks(r);
    if (shell_peek(r, 0) != '|' || shell_peek(r, 1) == '|') break;
    r->at += shell_peek(r, 1) == '&' ? 2 : 1;
    if (!shell_skip_lines(r)) return false;
  }
  *ret = pipe->n == 1 ? pipe->children[0] : pipe;
  return true;
}

static bool read_and_or(ShellReader *r, const ShellNode **ret) {
  const ShellNode *first = NULL, *next = NULL;
  if (!read_pipeline(r, &first)) return false;
  *ret = first;
  shell_skip_blanks(r);
  if (!shell_at_text(r, "&&") && !shell_at_text(r, "||")) return true;
  ShellNode *node = shell_new_node(r, SHELL_BRANCHES);
  shell_add_child(r, node, first);
  while (shell_at_text(r, "&&") || shell_at_text(r, "||")) {
    r->at += 2;
    if (!shell_skip_lines(r) || !read_pipeline(r, &next)) return false;
    shell_add_child(r, node, next);
    shell_skip_blanks(r);
  }
  *ret = node;
  return true;
}

/* Adds to the list what is understood, so that it counts also when the rest is not. */
static bool fill_list(ShellReader *r, ShellNode *list) {
  for (;;) {
    const ShellNode *child = NULL;
    if (!shell_skip_lines(r)) return false;
    char c = shell_peek(r, 0);
    if (shell_ended(r) || c == ')' || at_closing_word(r) || shell_at_text(r, ";;") || shell_at_text(r, ";&"))
      return true;
    size_t begin = r->at;
    if (!read_and_or(r, &child)) return false;
    shell_add_child(r, list, child);
    shell_skip_blanks(r);
    c = shell_peek(r, 0);
    if ((c == ';' && shell_peek(r, 1) != ';' && shell_peek(r, 1) != '&') || c == '&')
      r->at++;
    else if (c != '\n' && c != ')' && !shell_ended(r) && c != ';' && !at_closing_word(r)) /* { (a) } */
      return shell_refuse(r, "something follows a command that cannot");
    if (r->at == begin) return shell_refuse(r, "a command is missing");
  }
}

bool shell_read_list(ShellReader *r, const ShellNode **ret) {
  ShellNode *list = shell_new_node(r, SHELL_LIST);
  *ret = list;
  return fill_list(r, list);
}

bool shell_read_parenthesis(ShellReader *r, const ShellNode **ret) {
  /* The here-documents of the line outside are none of this list's. */
  ShellPending outer[sizeof r->pending / sizeof *r->pending];
  size_t n_outer = r->n_pending;
  memcpy(outer, r->pending, sizeof outer);
  r->n_pending = 0;
  if (++r->depth > SHELL_MAX_DEPTH) return shell_refuse(r, "commands stand deeper in one another than is looked at");
  if (!shell_read_list(r, ret)) return false;
  r->depth--;
  if (shell_peek(r, 0) != ')') return shell_refuse(r, "a parenthesis is not closed");
  r->at++;
  memcpy(r->pending, outer, sizeof outer);
  r->n_pending = n_outer;
  return true;
}

bool shell_read_inside(ShellReader *r, const char *text, size_t n, const ShellNode **ret) {
  ShellReader inner = *r;
  inner.text = text;
  inner.n = n;
  inner.at = 0;
  inner.n_pending = 0;
  if (++inner.depth > SHELL_MAX_DEPTH) return shell_refuse(r, "commands stand deeper in one another than is looked at");
  if (!shell_read_list(&inner, ret)) return false;
  return shell_ended(&inner) || shell_refuse(r, "something closes what was not opened");
}

ShellText shell_read(Arena *arena, const char *text, size_t n) {
  ShellText ret = {0};
  size_t pieces = 0;
  ShellReader r = {.arena = arena, .text = text, .n = n, .pieces = &pieces, .why_not = &ret.why_not};
  ShellNode *list = shell_new_node(&r, SHELL_LIST);
  ret.root = list;
  if (n > SHELL_MAX_BYTES)
    shell_refuse(&r, "the text is longer than is looked at");
  else if (memchr(text, '\0', n) != NULL)
    shell_refuse(&r, "the text holds control bytes");
  else if (fill_list(&r, list) && !shell_ended(&r))
    shell_refuse(&r, "something closes what was not opened");
  else if (r.n_pending > 0)
    shell_read_here(&r);
  return ret;
}
