#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/shell_run_int.h"

/* What ${x#…}, ${x/a/b}, ${x:1:2}, ${x[1]} and their kin make of a known value (bash(1), "Parameter Expansion"). What
 * is not made here, as with patterns of more than one *, is not known. */

static bool has_mark(const char *text) {
  for (; *text != '\0'; text++)
    if (*text >= 1 && *text <= 6) return true;
  return false;
}

/* A number written out, blanks around it. */
static bool number(const char **at, long *ret) {
  char *end;
  const char *begin = *at + strspn(*at, " ");
  if (!isdigit((unsigned char)*begin) && !(*begin == '-' && isdigit((unsigned char)begin[1]))) return false;
  *ret = strtol(begin, &end, 10);
  *at = end + strspn(end, " ");
  return true;
}

/* ${x:FROM} and ${x:FROM:COUNT} of n: the part as [*ret_from, *ret_to). A count below 0 is a place from the end. */
static bool slice(const char *text, long n, long *ret_from, long *ret_to) {
  long from, count = n;
  if (!number(&text, &from) || (*text != '\0' && *text != ':')) return false;
  bool counted = *text == ':';
  if (counted && (text++, !number(&text, &count) || *text != '\0')) return false;
  if (from < 0) from = from + n < 0 ? n : from + n;
  if (from > n) from = n;
  *ret_from = from;
  *ret_to = count < 0 ? n + count : count > n - from ? n : from + count;
  return *ret_to >= from;
}

/* The last place of `part` in text; NULL: nowhere. */
static const char *last_of(const char *text, const char *part) {
  const char *found = NULL;
  if (*part == '\0') return text + strlen(text);
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) found = at;
  return found;
}

/* A pattern as text, or as what stands before and behind its one *. */
typedef struct Pattern {
  const char *before, *behind;
  bool star;
} Pattern;

static bool read_pattern(ShellRun *run, const char *text, Pattern *ret) {
  const char *star = strchr(text, '*');
  if (strpbrk(text, "?[\\(") != NULL || (star != NULL && strchr(star + 1, '*') != NULL)) return false;
  ret->star = star != NULL;
  ret->before = star == NULL ? text : arena_strndup(run->arena, text, (size_t)(star - text));
  ret->behind = star == NULL ? "" : star + 1;
  return true;
}

static const char *without_beginning(const char *value, const Pattern *p, bool longest) {
  size_t n = strlen(p->before);
  if (strncmp(value, p->before, n) != 0) return value;
  if (!p->star) return value + n;
  const char *end = longest ? last_of(value + n, p->behind) : strstr(value + n, p->behind);
  return end == NULL ? value : end + strlen(p->behind);
}

static const char *without_end(ShellRun *run, const char *value, const Pattern *p, bool longest) {
  size_t n = strlen(value), end = strlen(p->star ? p->behind : p->before);
  if (end > n || strcmp(value + n - end, p->star ? p->behind : p->before) != 0) return value;
  const char *kept = arena_strndup(run->arena, value, n - end);
  if (!p->star) return kept;
  const char *at = longest ? strstr(kept, p->before) : last_of(kept, p->before);
  return at == NULL ? value : arena_strndup(run->arena, value, (size_t)(at - kept));
}

/* PATTERN/TEXT. In newer shells an & of the text stands for what matched. */
static bool replace(ShellRun *run, const char *value, const char *arg, bool every, const char **ret) {
  const char *slash = strchr(arg, '/'), *to = slash == NULL ? "" : slash + 1;
  const char *part = slash == NULL ? arg : arena_strndup(run->arena, arg, (size_t)(slash - arg));
  BUF_SCOPED text = {0};
  if (*part == '\0' || strpbrk(part, "*?[\\(") != NULL || *part == '#' || *part == '%' || strchr(to, '&') != NULL)
    return false;
  for (const char *at; (at = strstr(value, part)) != NULL;) {
    buf_append(&text, value, (size_t)(at - value));
    buf_puts(&text, to);
    value = at + strlen(part);
    shell_spend(run, text.len);
    if (!every || run->bytes > SHELL_MAX_EXPANDED) break;
  }
  buf_puts(&text, value);
  *ret = arena_strdup(run->arena, buf_text(&text));
  return true;
}

static const char *in_case(ShellRun *run, const char *value, bool upper, bool all) {
  char *copy = arena_strdup(run->arena, value);
  for (size_t i = 0; copy[i] != '\0' && (all || i == 0); i++)
    copy[i] = (char)(upper ? toupper((unsigned char)copy[i]) : tolower((unsigned char)copy[i]));
  return copy;
}

/* One value and what the operator makes of it; false: not known. */
static bool made_of(ShellRun *run, const ShellPart *part, const char *arg, const char *value, const char **ret) {
  Pattern pattern;
  long from, to;
  if (has_mark(value)) return false;
  shell_spend(run, strlen(value));
  switch (part->op) {
    case 'L':
      *ret = arena_printf(run->arena, "%zu", strlen(value));
      return true;
    case '#':
    case '%':
      if (!read_pattern(run, arg, &pattern)) return false;
      *ret = part->op == '#' ? without_beginning(value, &pattern, part->twice)
                             : without_end(run, value, &pattern, part->twice);
      return true;
    case '/':
      return replace(run, value, arg, part->twice, ret);
    case '^':
    case ',':
      *ret = in_case(run, value, part->op == '^', part->twice);
      return *arg == '\0';
    case ':':
      if (!slice(arg, (long)strlen(value), &from, &to)) return false;
      *ret = arena_strndup(run->arena, value + from, (size_t)(to - from));
      return true;
    case 'o':
      *ret = in_case(run, value, arg[0] != '\0' && tolower((unsigned char)arg[1]) == 'u', strcmp(arg, "@u") != 0);
      if (strcmp(arg, "@E") == 0) *ret = value;
      return strcmp(arg, "@U") == 0 || strcmp(arg, "@u") == 0 || strcmp(arg, "@L") == 0 ||
             (strcmp(arg, "@E") == 0 && strchr(value, '\\') == NULL);
    default:
      *ret = value;
      return part->op == '\0';
  }
}

/* One element. */
static bool pick(const ShellFields *value, const char *index, ShellFields *ret) {
  long i;
  if (has_mark(index)) return false;
  for (size_t k = value->keys == NULL ? 0 : value->n; k > 0; k--)
    if (strcmp(value->keys[k - 1], index) == 0) {
      *ret = (ShellFields){.items = value->items + k - 1, .n = 1};
      return true;
    }
  if (value->keys != NULL || !number(&index, &i) || *index != '\0') return false;
  if (i < 0) i += (long)value->n;
  *ret = i >= 0 && (size_t)i < value->n ? (ShellFields){.items = value->items + i, .n = 1} : (ShellFields){0};
  return true;
}

bool shell_param(ShellRun *run, const ShellPart *part, const ShellFields *value, const char *index, const char *arg,
                 ShellFields *ret) {
  ShellFields picked = *value, made = {0};
  long from, to, first = part->text[0] == '@' || part->text[0] == '*';
  if (has_mark(arg) || (!part->literal && *arg != '\0')) return false;
  if (index != NULL && !pick(value, index, &picked)) return false;
  if (part->all && part->op == ':') { /* of "$@" the 0th is the shell's name */
    if (!slice(arg, (long)picked.n + first, &from, &to) || from < first) return false;
    *ret = (ShellFields){.items = picked.items + from - first, .n = (size_t)(to - from)};
    return true;
  }
  if (part->all && part->op == 'L') {
    shell_add_field(run, ret, arena_printf(run->arena, "%zu", picked.n));
    return true;
  }
  for (size_t i = 0; i < picked.n; i++) {
    const char *text;
    if (!made_of(run, part, arg, picked.items[i], &text)) return false;
    shell_add_field(run, &made, text);
    if (!part->all) break;
  }
  *ret = made;
  return true;
}
