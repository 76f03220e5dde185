#include <ctype.h>
#include <string.h>

#include "gate/trigger/shell_words_int.h"

/* Words, and what is put into them: parameters, substitutions. */

bool shell_is_meta(char c) { return c == '\0' || strchr(" \t\r\n;&|<>()", c) != NULL; }

static void flush(WordBuilder *b) {
  if (b->text.len == 0) return;
  b->parts = arena_grow(b->r->arena, b->parts, b->n, sizeof *b->parts);
  b->parts[b->n++] = (ShellPart){
      .kind = SHELL_TEXT, .quoted = b->text_quoted, .text = arena_strndup(b->r->arena, b->text.data, b->text.len)};
  buf_clear(&b->text);
}

void word_put(WordBuilder *b, char c, bool quoted) {
  if (b->text.len > 0 && b->text_quoted != quoted) flush(b);
  b->text_quoted = quoted;
  buf_putc(&b->text, c);
}

/* One more part that is no text. */
static void word_add(WordBuilder *b, ShellPart part) {
  flush(b);
  b->parts = arena_grow(b->r->arena, b->parts, b->n, sizeof *b->parts);
  b->parts[b->n++] = part;
}

/* The word. Nothing is left to release. */
static ShellWord word_finish(WordBuilder *b) {
  flush(b);
  buf_release(&b->text);
  return (ShellWord){.parts = b->parts, .n = b->n, .quoted = b->quoted};
}

static const ShellWord *keep(ShellReader *r, ShellWord word) {
  ShellWord *kept = arena_alloc(r->arena, sizeof *kept);
  *kept = word;
  return kept;
}

/* ---- substitutions ----------------------------------------------------------------------------------------------- */

static bool backquotes(WordBuilder *b, bool quoted) {
  ShellReader *r = b->r;
  BUF_SCOPED text = {0};
  for (r->at++; !shell_ended(r) && shell_peek(r, 0) != '`'; r->at++) {
    char next = shell_peek(r, 1);
    if (shell_peek(r, 0) == '\\' && next != '\0' && (strchr("$`\\", next) != NULL || (quoted && next == '"'))) r->at++;
    buf_putc(&text, shell_peek(r, 0));
  }
  if (shell_ended(r)) return shell_refuse(r, "a backquote is not closed");
  r->at++;
  const ShellNode *body = NULL;
  if (!shell_read_inside(r, buf_text(&text), text.len, &body)) return false;
  word_add(b, (ShellPart){.kind = SHELL_COMMAND, .quoted = quoted, .body = body});
  return true;
}

/* Text with expansions up to one of the closing bytes, which is not read; quotes count. */
static bool read_until(ShellReader *r, const char *closing, bool in_quotes, ShellWord *ret) {
  WordBuilder b = {.r = r};
  bool ok = true;
  while (ok && !shell_ended(r) && strchr(closing, shell_peek(r, 0)) == NULL) {
    char c = shell_peek(r, 0);
    if (c == '\\' && shell_peek(r, 1) != '\0') {
      if (shell_peek(r, 1) != '\n') word_put(&b, shell_peek(r, 1), true);
      r->at += 2;
    } else if (c == '\'') {
      /* Whether this quotes inside "${x:-…}" depends on the shell. */
      ok = in_quotes ? shell_refuse(r, "a single quote inside \"${…}\" is read differently by shells")
                     : word_single_quotes(&b);
    } else if (c == '"') {
      ok = word_double_quotes(&b);
    } else if (c == '$' || c == '`') {
      ok = word_take_piece(&b, in_quotes);
    } else {
      word_put(&b, c, in_quotes);
      r->at++;
    }
  }
  *ret = word_finish(&b);
  if (!ok) return false;
  return shell_ended(r) ? shell_refuse(r, "a ${…} or an index is not closed") : true;
}

static size_t name_length(const ShellReader *r) {
  size_t n = 0;
  if (isdigit((unsigned char)shell_peek(r, 0))) {
    while (isdigit((unsigned char)shell_peek(r, n))) n++;
    return n;
  }
  while (isalnum((unsigned char)shell_peek(r, n)) || shell_peek(r, n) == '_') n++;
  if (n == 0 && shell_peek(r, 0) != '\0' && strchr("@*#?$!-", shell_peek(r, 0)) != NULL) n = 1;
  return n;
}

/* The operator behind a parameter's name, which is read. */
static void operator_of(ShellReader *r, ShellPart *part) {
  bool colon = shell_peek(r, 0) == ':', plain = part->op == '\0';
  char op = shell_peek(r, colon);
  if (plain && op != '\0' && strchr("-=+?", op) != NULL) {
    part->op = part->index == NULL ? op : 'o';
    r->at += 1U + colon;
  } else if (plain && (colon || (op != '\0' && strchr("#%/^,", op) != NULL))) {
    part->op = colon ? ':' : op;
    r->at++;
    part->twice = !colon && shell_peek(r, 0) == op;
    r->at += part->twice;
  } else {
    part->op = 'o';
  }
}

/* ${…}, from the dollar. */
static bool braces(WordBuilder *b, bool quoted) {
  ShellReader *r = b->r;
  ShellPart part = {.kind = SHELL_PARAM, .quoted = quoted, .text = ""};
  ShellWord word = {0};
  r->at += 2;
  char first = shell_peek(r, 0);
  if (first == '|' || first == ' ' || first == '\t' || first == '\n')
    return shell_refuse(r, "${ …; } runs a command in newer shells and is an error in others");
  if ((first == '!' || first == '#') && shell_peek(r, 1) != '}' && shell_peek(r, 1) != ':') {
    part.op = first == '!' ? '!' : 'L';
    r->at++;
  }
  size_t n = name_length(r);
  part.text = arena_strndup(r->arena, r->text + r->at, n);
  part.all = *part.text == '@' || *part.text == '*';
  r->at += n;
  if (shell_peek(r, 0) == '[') {
    r->at++;
    if (!read_until(r, "]", quoted, &word)) return false;
    r->at++;
    const char *plain = shell_plain(r->arena, &word);
    part.all = plain != NULL && (strcmp(plain, "@") == 0 || strcmp(plain, "*") == 0);
    if (!part.all) part.index = keep(r, word);
  }
  if (shell_peek(r, 0) != '}') {
    operator_of(r, &part);
    size_t begin = r->at;
    bool pattern = part.op == '#' || part.op == '%' || part.op == '/'; /* quotes count in it as outside */
    if (!read_until(r, "}", quoted && !pattern, &word)) return false;
    part.arg = keep(r, word);
    part.literal = true;
    for (size_t i = begin; i < r->at; i++)
      if (strchr("'\"\\", r->text[i]) != NULL) part.literal = false;
  }
  r->at++;
  word_add(b, part);
  return true;
}

bool shell_read_arithmetic(ShellReader *r, ShellWord *ret) {
  WordBuilder b = {.r = r};
  ShellReader before = *r;
  bool ok = true;
  int open = 0;
  while (ok && !shell_ended(r)) {
    char c = shell_peek(r, 0);
    if (c == ')' && open == 0) break;
    if (c == '(' || c == ')') open += c == '(' ? 1 : -1;
    if (c == '$' || c == '`')
      ok = word_take_piece(&b, true);
    else if (c == '"' || c == '\'')
      ok = c == '"' ? word_double_quotes(&b) : word_single_quotes(&b);
    else
      word_put(&b, shell_peek(r, 0), true), r->at++;
  }
  *ret = word_finish(&b);
  if (ok && shell_peek(r, 0) == ')' && shell_peek(r, 1) == ')') {
    r->at += 2;
    return true;
  }
  if (!ok && *r->why_not != NULL) return false;
  *r = before;
  return false;
}

static bool parenthesis(WordBuilder *b, bool quoted) {
  ShellReader *r = b->r;
  ShellWord inside;
  const ShellNode *body = NULL;
  r->at += 2;
  if (shell_peek(r, 0) == '(') {
    r->at++;
    if (shell_read_arithmetic(r, &inside)) {
      word_add(b, (ShellPart){.kind = SHELL_ARITH, .quoted = quoted, .arg = keep(r, inside)});
      return true;
    }
    if (*r->why_not != NULL) return false;
    r->at--;
  }
  if (!shell_read_parenthesis(r, &body)) return false;
  word_add(b, (ShellPart){.kind = SHELL_COMMAND, .quoted = quoted, .body = body});
  return true;
}

bool word_take_piece(WordBuilder *b, bool in_quotes) {
  ShellReader *r = b->r;
  char next = shell_peek(r, 1);
  if (!shell_count(r)) return false;
  if (shell_peek(r, 0) == '`') return backquotes(b, in_quotes);
  if (next == '(') return parenthesis(b, in_quotes);
  if (next == '{') return braces(b, in_quotes);
  if (next == '\'' && !in_quotes) return word_ansi_quotes(b);
  if (next == '"' && !in_quotes) {
    r->at++;
    return word_double_quotes(b);
  }
  r->at++;
  size_t n = name_length(r);
  if (n == 0) {
    word_put(b, '$', in_quotes);
    return true;
  }
  if (isdigit((unsigned char)shell_peek(r, 0))) n = 1;
  const char *name = arena_strndup(r->arena, r->text + r->at, n);
  r->at += n;
  word_add(b, (ShellPart){.kind = SHELL_PARAM, .quoted = in_quotes, .text = name, .all = *name == '@' || *name == '*'});
  return true;
}

static bool process(WordBuilder *b) {
  const ShellNode *body = NULL;
  b->r->at += 2;
  if (!shell_read_parenthesis(b->r, &body)) return false;
  word_add(b, (ShellPart){.kind = SHELL_PROCESS, .body = body});
  return true;
}

/* A pattern of extglob, @(a|b): text that matches file names. */
static bool pattern(WordBuilder *b) {
  ShellReader *r = b->r;
  int open = 0;
  do {
    char c = shell_peek(r, 0);
    if (c == '(' || c == ')') open += c == '(' ? 1 : -1;
    word_put(b, c, false);
    r->at++;
  } while (open > 0 && !shell_ended(r));
  return open == 0 || shell_refuse(r, "a pattern is not closed");
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool take_plain(WordBuilder *b) {
  ShellReader *r = b->r;
  if (shell_peek(r, 1) == '\0' && r->at + 1 >= r->n) {
    word_put(b, '\\', false);
    r->at++;
    return true;
  }
  if (shell_peek(r, 1) != '\n') {
    word_put(b, shell_peek(r, 1), true);
    b->quoted = true;
  }
  r->at += 2;
  return true;
}

static bool take(WordBuilder *b) {
  ShellReader *r = b->r;
  char c = shell_peek(r, 0);
  if (c == '\\') return take_plain(b);
  if (c == '\'') return word_single_quotes(b);
  if (c == '"') return word_double_quotes(b);
  if (c == '$' || c == '`') return word_take_piece(b, false);
  word_put(b, c, false);
  r->at++;
  return true;
}

bool shell_read_word(ShellReader *r, ShellWord *ret, bool *ret_any) {
  WordBuilder b = {.r = r};
  size_t begin = r->at;
  bool ok = shell_count(r);
  while (ok && !shell_ended(r)) {
    char c = shell_peek(r, 0), next = shell_peek(r, 1);
    if ((c == '<' || c == '>') && next == '(')
      ok = process(&b);
    else if (c != '\0' && strchr("@?*+!", c) != NULL && next == '(' && (c != '!' || r->at > begin)) {
      word_put(&b, c, false);
      r->at++;
      ok = pattern(&b);
    } else if (shell_is_meta(c))
      break;
    else
      ok = take(&b);
  }
  *ret_any = r->at > begin;
  *ret = word_finish(&b);
  return ok;
}

bool shell_read_test_word(ShellReader *r, ShellWord *ret) {
  WordBuilder b = {.r = r};
  bool ok = shell_count(r);
  while (ok && !shell_ended(r) && strchr(" \t\r\n", shell_peek(r, 0)) == NULL) {
    if ((shell_peek(r, 0) == '<' || shell_peek(r, 0) == '>') && shell_peek(r, 1) == '(')
      ok = process(&b);
    else
      ok = take(&b);
  }
  *ret = word_finish(&b);
  return ok;
}

bool shell_read_body(ShellReader *r, const char *text, size_t n, ShellWord *ret) {
  ShellReader inner = *r;
  inner.text = text;
  inner.n = n;
  inner.at = 0;
  inner.n_pending = 0;
  WordBuilder b = {.r = &inner};
  bool ok = true;
  while (ok && !shell_ended(&inner)) {
    char c = shell_peek(&inner, 0), next = shell_peek(&inner, 1);
    if (c == '\\' && next != '\0' && strchr("$`\\\n", next) != NULL) {
      if (next != '\n') word_put(&b, next, true);
      inner.at += 2;
    } else if (c == '$' || c == '`') {
      ok = word_take_piece(&b, true);
    } else {
      word_put(&b, c, true);
      inner.at++;
    }
  }
  *ret = word_finish(&b);
  ret->quoted = true;
  return ok;
}

const char *shell_plain(Arena *arena, const ShellWord *word) {
  BUF_SCOPED text = {0};
  if (word->is_array) return NULL;
  for (size_t i = 0; i < word->n; i++) {
    if (word->parts[i].kind != SHELL_TEXT) return NULL;
    buf_puts(&text, word->parts[i].text);
  }
  return arena_strdup(arena, buf_text(&text));
}
