#include <string.h>

#include "gate/trigger/shell_int.h"

/* Compound commands: loops, conditions, groups, functions. */

static bool read_do(ShellReader *r, const ShellNode **ret) {
  if (!shell_skip_lines(r)) return false;
  if (shell_take_reserved(r, "{")) return shell_read_list(r, ret) && shell_expect(r, "}");
  return shell_expect(r, "do") && shell_read_list(r, ret) && shell_expect(r, "done");
}

static bool read_for(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_FOR);
  const ShellNode *body = NULL;
  ShellWord word;
  bool any;
  shell_skip_blanks(r);
  if (shell_at_text(r, "((")) {
    r->at += 2;
    node->kind = SHELL_BRANCHES;
    node->loop = true;
    if (!shell_read_arithmetic(r, &word)) return shell_refuse(r, "a for (( is not closed");
    shell_add_word(r, node, word);
  } else {
    if (!shell_read_word(r, &word, &any)) return false;
    if (!any) return shell_refuse(r, "a for has no variable");
    shell_add_word(r, node, word);
    if (!shell_skip_lines(r)) return false;
    node->no_in = !shell_take_reserved(r, "in");
    while (!node->no_in) {
      shell_skip_blanks(r);
      if (!shell_read_word(r, &word, &any)) return false;
      if (!any) break;
      shell_add_word(r, node, word);
    }
  }
  shell_skip_blanks(r);
  if (shell_peek(r, 0) == ';') r->at++;
  if (!read_do(r, &body)) return false;
  shell_add_child(r, node, body);
  *ret = node;
  return true;
}

static bool read_while(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_BRANCHES);
  const ShellNode *condition = NULL, *body = NULL;
  node->loop = true;
  if (!shell_read_list(r, &condition) || !read_do(r, &body)) return false;
  shell_add_child(r, node, condition);
  shell_add_child(r, node, body);
  *ret = node;
  return true;
}

static bool read_if(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_BRANCHES);
  const ShellNode *list = NULL;
  do {
    if (!shell_read_list(r, &list)) return false;
    shell_add_child(r, node, list);
    if (!shell_expect(r, "then") || !shell_read_list(r, &list)) return false;
    shell_add_child(r, node, list);
    if (!shell_skip_lines(r)) return false;
  } while (shell_take_reserved(r, "elif"));
  if (shell_take_reserved(r, "else")) {
    if (!shell_read_list(r, &list)) return false;
    shell_add_child(r, node, list);
  }
  *ret = node;
  return shell_expect(r, "fi");
}

static bool read_patterns(ShellReader *r, ShellNode *node) {
  if (shell_peek(r, 0) == '(') r->at++;
  for (;;) {
    ShellWord word;
    bool any;
    shell_skip_blanks(r);
    if (!shell_read_word(r, &word, &any)) return false;
    if (!any) return shell_refuse(r, "a case has no pattern");
    shell_add_word(r, node, word);
    shell_skip_blanks(r);
    if (shell_peek(r, 0) == ')') break;
    if (shell_peek(r, 0) != '|') return shell_refuse(r, "a pattern of a case is not closed");
    r->at++;
  }
  r->at++;
  return true;
}

static bool read_case(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_BRANCHES);
  const ShellNode *list = NULL;
  ShellWord word;
  bool any;
  shell_skip_blanks(r);
  if (!shell_read_word(r, &word, &any)) return false;
  shell_add_word(r, node, word);
  if (!shell_expect(r, "in")) return false;
  for (;;) {
    if (!shell_skip_lines(r)) return false;
    if (shell_take_reserved(r, "esac")) break;
    if (!read_patterns(r, node) || !shell_read_list(r, &list)) return false;
    shell_add_child(r, node, list);
    if (!shell_skip_lines(r)) return false;
    if (shell_at_text(r, ";;&"))
      r->at += 3;
    else if (shell_at_text(r, ";;") || shell_at_text(r, ";&"))
      r->at += 2;
    else if (!shell_at_reserved(r, "esac"))
      return shell_refuse(r, "a case is not closed");
  }
  *ret = node;
  return true;
}

/* [[ … ]] runs nothing but the substitutions in it. */
static bool read_test(ShellReader *r, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_BRANCHES);
  for (;;) {
    ShellWord word;
    if (!shell_skip_lines(r)) return false;
    if (shell_ended(r)) return shell_refuse(r, "a [[ is not closed");
    if (shell_take_reserved(r, "]]")) break;
    size_t begin = r->at;
    if (!shell_read_test_word(r, &word)) return false;
    if (r->at == begin) return shell_refuse(r, "a [[ is not closed");
    shell_add_word(r, node, word);
  }
  *ret = node;
  return true;
}

static bool read_group(ShellReader *r, ShellNode **ret) {
  const ShellNode *list = NULL;
  *ret = shell_new_node(r, SHELL_GROUP);
  if (!shell_read_list(r, &list)) return false;
  shell_add_child(r, *ret, list);
  return shell_expect(r, "}");
}

static bool read_subshell(ShellReader *r, ShellNode **ret) {
  const ShellNode *list = NULL;
  r->at++;
  *ret = shell_new_node(r, SHELL_GROUP);
  if (shell_peek(r, 0) == '(') {
    ShellWord word;
    r->at++;
    if (shell_read_arithmetic(r, &word)) {
      (*ret)->kind = SHELL_BRANCHES;
      shell_add_word(r, *ret, word);
      return true;
    }
    if (*r->why_not != NULL) return false;
    r->at--;
  }
  if (!shell_read_parenthesis(r, &list)) return false;
  (*ret)->apart = true;
  shell_add_child(r, *ret, list);
  return true;
}

/* The end of NAME() before the place that begins with a word; 0: no function begins here. */
static size_t function_head(const ShellReader *r) {
  size_t n = 0;
  while (!shell_is_meta(shell_peek(r, n)) && strchr("$`'\"\\=", shell_peek(r, n)) == NULL) n++;
  if (n == 0) return 0;
  size_t end = n;
  while (shell_peek(r, end) == ' ' || shell_peek(r, end) == '\t') end++;
  if (shell_peek(r, end) != '(') return 0;
  for (end++; shell_peek(r, end) == ' ' || shell_peek(r, end) == '\t';) end++;
  return shell_peek(r, end) == ')' ? end + 1 : 0;
}

static bool read_function(ShellReader *r, size_t head, ShellNode **ret) {
  ShellNode *node = shell_new_node(r, SHELL_FUNCTION);
  const ShellNode *body = NULL;
  ShellWord name;
  bool any;
  size_t end = r->at + head;
  shell_skip_blanks(r);
  if (!shell_read_word(r, &name, &any)) return false;
  if (!any) return shell_refuse(r, "a function has no name");
  if (head > 0) r->at = end;
  shell_add_word(r, node, name);
  if (head == 0) {
    shell_skip_blanks(r);
    if (shell_at_text(r, "()")) r->at += 2;
  }
  if (!shell_skip_lines(r) || !shell_read_command(r, &body)) return false;
  shell_add_child(r, node, body);
  *ret = node;
  return true;
}

/* Words that a compound command begins with. */
static bool read_coproc(ShellReader *r, ShellNode **ret) {
  const ShellNode *body = NULL;
  *ret = shell_new_node(r, SHELL_GROUP);
  shell_skip_blanks(r);
  ShellReader before = *r;
  ShellWord name;
  bool any;
  /* A name stands there only if a compound command follows it. */
  if (!shell_read_word(r, &name, &any)) return false;
  shell_skip_blanks(r);
  bool compound = shell_peek(r, 0) == '(' || shell_at_reserved(r, "{") || shell_at_reserved(r, "while") ||
                  shell_at_reserved(r, "for") || shell_at_reserved(r, "if") || shell_at_reserved(r, "case") ||
                  shell_at_reserved(r, "until");
  const char *plain = shell_plain(r->arena, &name);
  if (!compound || plain == NULL || strcmp(plain, "{") == 0) *r = before;
  if (!shell_read_command(r, &body)) return false;
  shell_add_child(r, *ret, body);
  return true;
}

typedef bool Read(ShellReader *r, ShellNode **ret);

/* *ret NULL: no compound command begins here. */
bool shell_read_compound(ShellReader *r, ShellNode **ret) {
  static const struct {
    const char *word;
    Read *read;
  } words[] = {{"{", read_group},    {"if", read_if},       {"for", read_for},
               {"select", read_for}, {"while", read_while}, {"until", read_while},
               {"case", read_case},  {"[[", read_test},     {"coproc", read_coproc}};
  *ret = NULL;
  if (shell_peek(r, 0) == '(') return read_subshell(r, ret);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (shell_take_reserved(r, words[i].word)) return words[i].read(r, ret);
  if (shell_take_reserved(r, "function")) return read_function(r, 0, ret);
  size_t head = function_head(r);
  return head == 0 || read_function(r, head, ret);
}
