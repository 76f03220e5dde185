#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/shell_run_int.h"

/* From words to fields: parameters, substitutions, splitting, braces. */

/* Braces and commas that stand unquoted, until it is known whether they are an expansion. */
enum { BRACE_OPEN = '\3', BRACE_COMMA = '\4', BRACE_CLOSE = '\5' };

void shell_add_field(ShellRun *run, ShellFields *fields, const char *text) {
  fields->items = arena_grow(run->arena, fields->items, fields->n, sizeof *fields->items);
  fields->items[fields->n++] = text;
}

static const ShellFields *value_of(ShellRun *run, const char *name) {
  ShellVariable *found = shell_find(run, name, strlen(name));
  if (found == NULL || found->n == 0) return NULL;
  if (found->n > run->widest) run->widest = found->n;
  return &found->choices[run->choice < found->n ? run->choice : found->n - 1];
}

/* ---- the parts of a word ----------------------------------------------------------------------------------------- */

typedef struct Expander {
  ShellRun *run;
  ShellFields *fields; /* NULL: nothing is split */
  Buf text;
  bool open; /* the field exists, although it may be empty */
} Expander;

static void close_field(Expander *e) {
  if (e->open || e->text.len > 0) shell_add_field(e->run, e->fields, arena_strdup(e->run->arena, buf_text(&e->text)));
  buf_clear(&e->text);
  e->open = false;
}

/* Doubling a variable in a loop would fill the memory: beyond the limits nothing is followed further. */
void shell_spend(ShellRun *run, size_t bytes) {
  run->bytes += bytes;
  if (run->bytes <= SHELL_MAX_EXPANDED) return;
  shell_doubt(run, "the words become longer than is followed");
  run->steps = SHELL_MAX_STEPS;
}

/* A value: split where it stands unquoted. */
static void put_value(Expander *e, const char *value, bool quoted) {
  shell_spend(e->run, strlen(value));
  if (e->run->bytes > SHELL_MAX_EXPANDED) return;
  const ShellFields *set = quoted || e->fields == NULL ? NULL : value_of(e->run, "IFS");
  const char *between = set == NULL || set->n != 1 || !*set->items[0] ? " \t\n" : set->items[0];
  for (; *value != '\0'; value++) {
    if (!quoted && e->fields != NULL && strchr(between, *value) != NULL)
      close_field(e);
    else
      buf_putc(&e->text, *value);
  }
}

static void put_text(Expander *e, const char *text, bool quoted) {
  shell_spend(e->run, strlen(text));
  for (; *text != '\0'; text++) {
    char c = *text;
    if (!quoted && e->fields != NULL) {
      if (c == '*' || c == '?' || (c == '[' && strchr(text, ']') != NULL)) c = SHELL_UNKNOWN;
      if (c == '{') c = BRACE_OPEN;
      if (c == ',') c = BRACE_COMMA;
      if (c == '}') c = BRACE_CLOSE;
    }
    buf_putc(&e->text, c);
  }
}

static void put_fields(Expander *e, const ShellFields *value, const ShellPart *part) {
  bool apart = part->all && e->fields != NULL && !(part->quoted && strcmp(part->text, "*") == 0);
  for (size_t i = 0; i < value->n; i++) {
    if (i > 0 && apart)
      close_field(e);
    else if (i > 0)
      put_value(e, " ", part->quoted);
    put_value(e, value->items[i], part->quoted);
    if (part->quoted && value->n > 0) e->open = true;
    if (!part->all) break;
  }
}

/* $1, $@, $#, $?: false when it is a variable's name. */
static bool special(Expander *e, const ShellPart *part) {
  const ShellRun *run = e->run;
  char c = *part->text;
  if (isalpha((unsigned char)c) || c == '_') return false;
  if (part->all) {
    put_fields(e, &run->arguments, part);
    return true;
  }
  size_t number = 0;
  for (const char *at = part->text; isdigit((unsigned char)*at) && number < 1000; at++)
    number = number * 10 + (size_t)(*at - '0');
  if (isdigit((unsigned char)c) && number > 0 && number <= run->arguments.n)
    put_value(e, run->arguments.items[number - 1], part->quoted);
  else if (strcmp(part->text, "0") == 0 && run->zero != NULL)
    put_value(e, run->zero, part->quoted);
  else if (!isdigit((unsigned char)c) || number == 0 || !run->has_arguments)
    buf_putc(&e->text, SHELL_UNKNOWN);
  return true;
}

static void put_word(Expander *e, const ShellWord *word, bool quoted);

/* A variable that this text does not set: the environment may. */
static void put_unset(Expander *e, const ShellPart *part) {
  ShellFields value = {0};
  if (part->arg == NULL || (part->op != '-' && part->op != '=')) {
    if (part->arg != NULL) shell_touch(e->run, part->arg);
    buf_putc(&e->text, SHELL_UNKNOWN);
    return;
  }
  buf_putc(&e->text, SHELL_ASSUMED);
  put_word(e, part->arg, part->quoted);
  if (part->op != '=') return;
  shell_add_field(e->run, &value, shell_expand_text(e->run, part->arg));
  shell_set(e->run, part->text, strlen(part->text), value);
}

/* The argument of that number, if the name is one that is given. */
static bool argument(const ShellRun *run, const char *name, ShellFields *ret) {
  size_t place = isdigit((unsigned char)*name) ? strtoul(name, NULL, 10) : 0;
  if (place == 0 || place > run->arguments.n) return false;
  *ret = (ShellFields){.items = run->arguments.items + place - 1, .n = 1};
  return true;
}

/* ${!x[@]} */
static void places(ShellRun *run, const ShellFields *value, ShellFields *ret) {
  for (size_t i = 0; i < value->n; i++)
    shell_add_field(run, ret, value->keys == NULL ? arena_printf(run->arena, "%zu", i) : value->keys[i]);
}

/* ${x#…}, ${x[1]}, ${!x} and their kin. */
static void put_made(Expander *e, const ShellPart *part) {
  ShellRun *run = e->run;
  const char *index = part->index == NULL ? NULL : shell_touch(run, part->index);
  const char *arg = part->arg == NULL ? "" : shell_touch(run, part->arg), *name = part->text;
  ShellFields numbered, made = {0};
  const ShellFields *value = value_of(run, name);
  if (argument(run, name, &numbered)) value = &numbered;
  if (part->all && strchr("@*", *name) != NULL && run->has_arguments) value = &run->arguments;
  bool known = value != NULL;
  if (part->op == 'o' && value != NULL && strcmp(arg, "@P") == 0) /* as a prompt: substitutions in it run */
    for (size_t i = 0; i < value->n; i++)
      shell_run_text(run, arena_printf(run->arena, ": \"%s\"", value->items[i]), (ShellInput){0});
  if (part->op == '!' && value != NULL && part->index == NULL && part->all && strchr("@*", *name) == NULL) {
    places(run, value, &made);
    put_fields(e, &made, part);
    return;
  }
  const ShellFields *counted = index == NULL ? NULL : value_of(run, index); /* ${x[i]} */
  if (counted != NULL && counted->n == 1 && (value == NULL || value->keys == NULL)) index = counted->items[0];
  if (part->op == '!' && value != NULL && value->n == 1 && *arg == '\0') value = value_of(run, value->items[0]);
  if (part->op == '!' && value != NULL && index == NULL && !part->all) {
    put_fields(e, value, part);
  } else if (part->op != '!' && value != NULL && shell_param(run, part, value, index, arg, &made)) {
    put_fields(e, &made, part);
  } else {
    if (known) buf_putc(&e->text, SHELL_MADE);
    buf_putc(&e->text, SHELL_UNKNOWN);
  }
}

static void put_parameter(Expander *e, const ShellPart *part) {
  ShellRun *run = e->run;
  if (part->index != NULL || (part->op != '\0' && strchr("-=+?", part->op) == NULL)) {
    put_made(e, part);
    return;
  }
  if (part->op == '\0' && special(e, part)) return;
  ShellFields numbered;
  const ShellFields *value = value_of(run, part->text);
  if (argument(run, part->text, &numbered)) value = &numbered;
  if (value == NULL) {
    put_unset(e, part);
    return;
  }
  bool empty = value->n == 0 || (value->n == 1 && *value->items[0] == '\0');
  bool instead = part->arg != NULL && !part->all && ((empty && part->op != '+') || (!empty && part->op == '+'));
  if (part->arg != NULL && !instead) shell_touch(run, part->arg);
  if (instead && part->op != '\0')
    put_word(e, part->arg, part->quoted);
  else if (part->op != '+')
    put_fields(e, value, part);
}

/* What a substitution prints. It has a shell of its own, and which choice of the variables is expanded outside stays.
 */
static ShellOutput printed_by(ShellRun *run, const ShellPart *part, ShellInput input) {
  ShellOutput out = {0};
  size_t choice = run->choice, widest = run->widest;
  bool branching = run->branching;
  run->branching = true;
  shell_eval(run, part->body, input, &out);
  run->choice = choice;
  run->widest = widest;
  run->branching = branching;
  return out;
}

static void put_output(Expander *e, const ShellPart *part) {
  ShellOutput out = printed_by(e->run, part, (ShellInput){0});
  while (out.text.len > 0 && out.text.data[out.text.len - 1] == '\n') out.text.data[--out.text.len] = '\0';
  if (out.unknown && out.made) buf_putc(&e->text, SHELL_MADE);
  if (out.unknown)
    buf_putc(&e->text, SHELL_UNKNOWN);
  else
    put_value(e, buf_text(&out.text), part->quoted);
  buf_release(&out.text);
}

static void put_process(Expander *e, const ShellPart *part) {
  ShellRun *run = e->run;
  ShellOutput out = printed_by(run, part, (ShellInput){.piped = true});
  const char *name = arena_printf(run->arena, "/dev/fd/%zu", 1000 + run->pipes++);
  const char *text = out.unknown && out.made ? (const char[]){SHELL_MADE, SHELL_UNKNOWN, '\0'} : NULL;
  if (text != NULL) text = arena_strdup(run->arena, text);
  if (!out.unknown) text = arena_strdup(run->arena, buf_text(&out.text));
  shell_name(run, &run->files, (ShellNamed){.name = name, .text = text});
  buf_puts(&e->text, name);
  buf_release(&out.text);
}

static void put_word(Expander *e, const ShellWord *word, bool quoted) {
  bool only_all = word->n == 1 && word->parts[0].kind == SHELL_PARAM && word->parts[0].all;
  if (only_all && !e->run->has_arguments && strchr("@*", *word->parts[0].text) != NULL) {
    buf_putc(&e->text, SHELL_UNKNOWN);
    return;
  }
  for (size_t i = 0; i < word->n; i++) {
    const ShellPart *part = &word->parts[i];
    switch (part->kind) {
      case SHELL_TEXT:
        put_text(e, part->text, part->quoted || quoted);
        break;
      case SHELL_PARAM:
        put_parameter(e, part);
        break;
      case SHELL_COMMAND:
        put_output(e, part);
        break;
      case SHELL_PROCESS:
        put_process(e, part);
        break;
      case SHELL_ARITH:
        (void)shell_touch(e->run, part->arg);
        buf_putc(&e->text, SHELL_UNKNOWN);
        break;
    }
    if (part->quoted && part->kind == SHELL_TEXT) e->open = true;
  }
  /* "" and "$x" are a field, "$@" only if it has some. */
  if (word->quoted && !only_all) e->open = true;
}

const char *shell_touch(ShellRun *run, const ShellWord *word) {
  for (size_t i = 0; i < word->n_items; i++) (void)shell_touch(run, &word->items[i]);
  return shell_expand_text(run, word);
}

const char *shell_expand_text(ShellRun *run, const ShellWord *word) {
  Expander e = {.run = run};
  put_word(&e, word, true);
  const char *text = arena_strdup(run->arena, buf_text(&e.text));
  buf_release(&e.text);
  return text;
}

/* ---- braces ------------------------------------------------------------------------------------------------------ */

static char plain_byte(char c) { return c == BRACE_OPEN ? '{' : c == BRACE_COMMA ? ',' : c == BRACE_CLOSE ? '}' : c; }

static const char *without_braces(ShellRun *run, const char *text) {
  char *copy = arena_strdup(run->arena, text);
  for (char *at = copy; *at != '\0'; at++) *at = plain_byte(*at);
  return copy;
}

/* The end of the group that opens at `open`, and whether it holds a comma of its own. */
static const char *group_end(const char *open, bool *ret_comma) {
  int depth = 0;
  *ret_comma = false;
  for (const char *at = open; *at != '\0'; at++) {
    if (*at == BRACE_OPEN) depth++;
    if (*at == BRACE_COMMA && depth == 1) *ret_comma = true;
    if (*at == BRACE_CLOSE && --depth == 0) return at;
  }
  return NULL;
}

static void expand_braces(ShellRun *run, const char *text, ShellFields *ret);

static void expand_list(ShellRun *run, const char *text, const char *open, const char *end, ShellFields *ret) {
  int depth = 0;
  const char *begin = open + 1;
  for (const char *at = open + 1; at <= end; at++) {
    if (*at == BRACE_OPEN) depth++;
    if (*at == BRACE_CLOSE && at < end) depth--;
    if (at < end && !(*at == BRACE_COMMA && depth == 0)) continue;
    shell_spend(run, strlen(text));
    if (run->bytes > SHELL_MAX_EXPANDED) return;
    expand_braces(
        run, arena_printf(run->arena, "%.*s%.*s%s", (int)(open - text), text, (int)(at - begin), begin, end + 1), ret);
    begin = at + 1;
    if (ret->n > SHELL_MAX_LOOP) {
      shell_doubt(run, "braces make more words than are followed");
      return;
    }
  }
}

/* {1..5}, with the leading zeros of {01..05}. */
static bool expand_numbers(ShellRun *run, const char *text, const char *open, const char *end, ShellFields *ret) {
  long from, to;
  int used = 0, dots = 0;
  const char *inside = arena_strndup(run->arena, open + 1, (size_t)(end - open - 1));
  if (sscanf(inside, "%9ld..%n%9ld%n", &from, &dots, &to, &used) != 2 || inside[used] != '\0') return false;
  if (from > to || to - from > SHELL_MAX_LOOP) return false;
  int width = *inside == '0' ? dots - 2 : 1;
  shell_spend(run, (size_t)(to - from + 1) * strlen(text));
  for (long i = from; i <= to && run->bytes <= SHELL_MAX_EXPANDED; i++)
    expand_braces(run, arena_printf(run->arena, "%.*s%0*ld%s", (int)(open - text), text, width, i, end + 1), ret);
  return true;
}

static void expand_braces(ShellRun *run, const char *text, ShellFields *ret) {
  for (const char *open = strchr(text, BRACE_OPEN); open != NULL; open = strchr(open + 1, BRACE_OPEN)) {
    bool comma;
    const char *end = group_end(open, &comma);
    if (end == NULL) break;
    if (comma) {
      expand_list(run, text, open, end, ret);
      return;
    }
    if (expand_numbers(run, text, open, end, ret)) return;
  }
  shell_add_field(run, ret, without_braces(run, text));
}

static void drop_empty(ShellFields *fields, size_t from) {
  size_t kept = from;
  for (size_t i = from; i < fields->n; i++)
    if (*fields->items[i] != '\0') fields->items[kept++] = fields->items[i];
  fields->n = kept;
}

void shell_expand(ShellRun *run, const ShellWord *words, size_t n, ShellFields *ret) {
  *ret = (ShellFields){0};
  for (size_t i = 0; i < n; i++) {
    ShellFields fields = {0};
    Expander e = {.run = run, .fields = &fields};
    put_word(&e, &words[i], false);
    close_field(&e);
    buf_release(&e.text);
    for (size_t k = 0; k < words[i].n_items; k++) shell_touch(run, &words[i].items[k]);
    for (size_t k = 0; k < fields.n; k++) {
      size_t before = ret->n;
      expand_braces(run, fields.items[k], ret);
      if (ret->n > before + 1) drop_empty(ret, before); /* {a,} */
    }
  }
}
