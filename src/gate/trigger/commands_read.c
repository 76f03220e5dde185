#include <string.h>

#include "base/doc.h"
#include "gate/trigger/commands_int.h"

/* How the arguments of a command are read that the table has: its flags and operands, by their roles. */

/* ---- one entry's flags ------------------------------------------------------------------------------------------- */

/* A flag of the list: its names up to "=", a role or the end. */
typedef struct Flag {
  const char *names, *role; /* role "" when it has none; both end at a '|' */
  size_t n_names, n_role;
  bool valued;
} Flag;

/* The flag at *at, which moves behind it; false at the end. */
static bool next_flag(const char **at, Flag *ret) {
  const char *text = *at;
  if (*text == '\0') return false;
  size_t n = strcspn(text, "|"), names = 0;
  while (names < n && text[names] == '-') {
    while (names < n && text[names] != ' ') names++;
    while (names < n && text[names] == ' ') names++;
  }
  *ret = (Flag){.names = text, .n_names = names};
  ret->valued = names < n && text[names] == '=';
  if (ret->valued) names++;
  while (names < n && text[names] == ' ') names++;
  ret->role = text + names;
  ret->n_role = n - names;
  *at = text + n + (text[n] == '|');
  return true;
}

static bool role_is(const Flag *flag, const char *role) {
  return flag->n_role == strlen(role) && memcmp(flag->role, role, flag->n_role) == 0;
}

bool commands_same_name(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i] && !((a[i] == '_' || a[i] == '-') && (b[i] == '_' || b[i] == '-'))) return false;
  return true;
}

/* Does the flag have this name, n bytes, wholly or (long ones) as its beginning? */
static bool flag_has(const Flag *flag, const char *name, size_t n, bool beginning) {
  for (size_t i = 0; i < flag->n_names;) {
    size_t length = 0;
    while (i + length < flag->n_names && flag->names[i + length] != ' ') length++;
    bool fits = beginning ? length > n && n > 2 && flag->names[i + 1] == '-' : length == n;
    if (fits && commands_same_name(flag->names + i, name, n)) return true;
    i += length + 1;
  }
  return false;
}

static bool find_flag(const CommandEntry *entry, const char *name, size_t n, Flag *ret) {
  const char *at = entry->flags;
  while (next_flag(&at, ret))
    if (flag_has(ret, name, n, false)) return true;
  for (at = entry->flags; n > 2 && name[1] == '-' && next_flag(&at, ret);)
    if (flag_has(ret, name, n, true)) return true;
  return false;
}

/* ---- the reading of one command ---------------------------------------------------------------------------------- */

static void take_target(CommandReading *r, const char *value) {
  const char *sure = word_sure(r->f->arena, value);
  if (sure == NULL || *sure == '\0')
    r->target_unknown = true;
  else
    buf_printf(&r->target, "%s%s", r->target.len == 0 ? "" : " ", sure);
}

static void take_date(CommandReading *r, char role, const char *value) {
  date_take(r->f->arena, &r->span, role, value, (r->entry->traits & EXCLUSIVE) != 0);
}

/* NAME=VALUE, or a value of a name: a date when the name says so and the value is one. */
static void take_named(CommandReading *r, const char *name, const char *value) {
  char role = date_role(name);
  const char *sure = word_sure(r->f->arena, value);
  r->hinted |= hints_at_backfill(name) && (sure == NULL || !word_in(sure, "0 false False no none None null"));
  if (role == '\0' || (sure != NULL && date_day(r->f->arena, sure, false) == NULL)) return;
  date_take(r->f->arena, &r->span, role, value, false);
}

static void take_param(CommandReading *r, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL) return;
  const char *value = equals + 1;
  size_t n = strlen(value);
  /* Prefect reads JSON: a quoted text is a text. */
  if (n > 1 && *value == '"' && value[n - 1] == '"') value = arena_strndup(r->f->arena, value + 1, n - 2);
  take_named(r, arena_strndup(r->f->arena, text, (size_t)(equals - text)), value);
}

static void take_tree(CommandReading *r, const DocNode *node) {
  if (node->kind == DOC_SCALAR && node->key != NULL) take_named(r, node->key, node->text);
  if (node->kind == DOC_SCALAR && node->key == NULL && date_day(r->f->arena, node->text, false) != NULL)
    take_date(r, r->span.from == NULL ? 'o' : 't', node->text);
  for (size_t i = 0; i < node->n; i++) take_tree(r, &node->children[i]);
}

static void take_json(CommandReading *r, const char *value) {
  const DocNode *root;
  Error ignored;
  const char *sure = word_sure(r->f->arena, value);
  if (sure != NULL && doc_parse(r->f->arena, "argument", sure, strlen(sure), &root, &ignored)) {
    take_tree(r, root);
  } else if (text_names(value, "date* start* end*")) {
    r->span = (DateSpan){.any = true};
  }
}

/* FROM…TO with any of the usual signs between; both ends are meant except where the tool's end is not. */
static void take_range(CommandReading *r, const char *value) {
  static const char *const signs[] = {"...", "..", "/", ":", ","};
  const char *sure = word_sure(r->f->arena, value);
  r->span.any = true;
  r->span.from = r->span.to = NULL;
  for (size_t i = 0; sure != NULL && i < sizeof signs / sizeof *signs; i++) {
    const char *sign = strstr(sure, signs[i]);
    if (sign == NULL) continue;
    take_date(r, 'f', arena_strndup(r->f->arena, sure, (size_t)(sign - sure)));
    take_date(r, 't', sign + strlen(signs[i]));
    return;
  }
  /* 2024-01-01-2024-02-01, as Luigi writes an interval. */
  if (sure != NULL && strlen(sure) == 21 && sure[10] == '-') {
    take_date(r, 'f', arena_strndup(r->f->arena, sure, 10));
    take_date(r, 't', sure + 11);
  } else if (sure != NULL && strlen(sure) == 7) { /* a month */
    const char *first = arena_printf(r->f->arena, "%s-01", sure), *next = date_add(r->f->arena, first, 31);
    take_date(r, 'o', first);
    if (r->span.from != NULL) r->span.to = date_day(r->f->arena, arena_printf(r->f->arena, "%.7s-01", next), true);
  } else if (sure != NULL) {
    take_date(r, 'o', sure);
  }
}

/* D,D,…: the first and the last of them. */
static void take_dates(CommandReading *r, const char *value) {
  const char *sure = word_sure(r->f->arena, value), *first = NULL, *last = NULL;
  r->span = (DateSpan){.any = true};
  while (sure != NULL && *sure != '\0') {
    size_t n = strcspn(sure, ",");
    const char *day = date_day(r->f->arena, arena_strndup(r->f->arena, sure, n), false);
    if (day == NULL) return;
    if (first == NULL || strcmp(day, first) < 0) first = day;
    if (last == NULL || strcmp(day, last) > 0) last = day;
    sure += n + (sure[n] == ',');
  }
  r->span.from = first;
  r->span.to = last;
}

/* A table of BigQuery, perhaps with its partition: d.t$20240105, p:d.t$202401. */
static void take_table(CommandReading *r, const char *value) {
  const char *partition = strchr(value, '$');
  size_t n = partition == NULL ? strlen(value) : (size_t)(partition - value);
  char *table = arena_strndup(r->f->arena, value, n), *colon = strchr(table, ':');
  if (colon != NULL) *colon = '.';
  r->target.len = 0;
  r->target_unknown = false;
  take_target(r, table);
  if (partition == NULL)
    r->span = (DateSpan){0};
  else if (strlen(partition) == 7)
    take_range(r, arena_printf(r->f->arena, "%.4s-%s", partition + 1, partition + 5));
  else
    take_date(r, 'o', arena_strndup(r->f->arena, partition + 1, 8));
}

static void take_until(CommandReading *r, const char *value) {
  take_date(r, 't', value);
  r->until_midnight = strlen(value) <= 10; /* no time behind the date */
}

static void take_flag(CommandReading *r, const Flag *flag, const char *word, const char *value) {
  if (role_is(flag, "from") || role_is(flag, "to") || role_is(flag, "on"))
    take_date(r, *flag->role, value == NULL ? "\1" : value);
  else if (role_is(flag, "until"))
    take_until(r, value == NULL ? "\1" : value);
  else if (role_is(flag, "target") && value != NULL)
    take_target(r, value);
  else if (role_is(flag, "instead") && value != NULL)
    r->instead = word_sure(r->f->arena, value);
  else if (role_is(flag, "table") && value != NULL)
    take_table(r, value);
  else if (role_is(flag, "range") && value != NULL)
    take_range(r, value);
  else if (role_is(flag, "dates") && value != NULL)
    take_dates(r, value);
  else if (role_is(flag, "json") && value != NULL)
    take_json(r, value);
  else if (role_is(flag, "param") && value != NULL)
    take_param(r, value);
  else if (role_is(flag, "dry"))
    r->dry |= value == NULL && strpbrk(word, "\1\2") == NULL;
  else if (flag->n_role > 9 && memcmp(flag->role, "target !!", 9) == 0) {
    r->restates = true;
    if (value != NULL) take_target(r, value);
    buf_printf(&r->danger, "%s%s %.*s", r->danger.len == 0 ? "" : "; ", word, (int)flag->n_role - 9, flag->role + 9);
  } else if (flag->n_role > 1 && *flag->role == '!')
    buf_printf(&r->danger, "%s%s %.*s", r->danger.len == 0 ? "" : "; ", word, (int)flag->n_role - 1, flag->role + 1);
}

/* The role of the operand that comes now; the last role goes on when it ends with *. False: it has none. */
static bool operand_role(const CommandReading *r, char ret[16]) {
  const char *at = r->entry->operands;
  for (size_t i = 0; i < r->operand; i++) {
    const char *blank = strchr(at, ' ');
    if (blank == NULL && strchr(at, '*') == NULL) return false;
    if (blank != NULL) at = blank + 1;
  }
  size_t n = strcspn(at, " ");
  memcpy(ret, at, n < 15 ? n : 15);
  ret[n < 15 ? n : 15] = '\0';
  return n > 0;
}

static void take_operand(CommandReading *r, const char *word) {
  char role[16];
  if ((r->entry->traits & LOOSE) != 0 && strchr(word, '=') != NULL && *word != '=') {
    take_param(r, word);
    return;
  }
  if (!operand_role(r, role)) {
    r->unclear |= !word_known(word);
    return;
  }
  r->operand++;
  const char *sure = word_sure(r->f->arena, word);
  if (strcmp(role, "target") == 0) take_target(r, word);
  if (strcmp(role, "table") == 0) take_table(r, word);
  if (strcmp(role, "on") == 0) take_date(r, 'o', word);
  if (strcmp(role, "date*") == 0 && sure != NULL && date_day(r->f->arena, sure, false) != NULL)
    take_date(r, r->span.from == NULL ? 'o' : 't', word);
}

/* -xBy, -s2024-01-01: false when a letter is not known. */
static size_t take_cluster(CommandReading *r, Argv args, size_t i) {
  const char *word = args.words[i];
  for (size_t k = 1; word[k] != '\0'; k++) {
    Flag flag;
    char name[3] = {'-', word[k], '\0'};
    if (!find_flag(r->entry, name, 2, &flag)) return i;
    if (!flag.valued) {
      take_flag(r, &flag, word[k] == '\2' ? word : name, NULL);
      continue;
    }
    if (word[k + 1] != '\0') {
      take_flag(r, &flag, name, word + k + 1 + (word[k + 1] == '='));
      return i;
    }
    take_flag(r, &flag, name, i + 1 < args.n ? args.words[i + 1] : NULL);
    return i + 1;
  }
  return i;
}

/* --select a b c: values of dbt's lists go on to the next flag. */
static size_t take_more_targets(CommandReading *r, Argv args, size_t i) {
  while (i + 1 < args.n && *args.words[i + 1] != '-') take_target(r, args.words[++i]);
  return i;
}

static size_t take_word(CommandReading *r, Argv args, size_t i) {
  const char *given = args.words[i], *word = given + strspn(given, "\2");
  Flag flag;
  if (*word != '-' || word[1] == '\0') {
    take_operand(r, word);
    return i;
  }
  size_t n = strcspn(word, "=");
  const char *value = word[n] == '=' ? word + n + 1 : NULL;
  bool found = find_flag(r->entry, word, n, &flag);
  const char *scope = (r->entry->traits & SCOPED) != 0 && word[1] == '-' ? strchr(word + 2, '-') : NULL;
  if (!found && scope != NULL && scope < word + n) {
    const char *bare = arena_printf(r->f->arena, "-%.*s", (int)(word + n - scope), scope);
    found = find_flag(r->entry, bare, strlen(bare), &flag);
  }
  if (!found) {
    if (word[1] != '-') return take_cluster(r, args, i);
    if ((r->entry->traits & LOOSE) == 0) return i;
    bool next = value == NULL && i + 1 < args.n && *args.words[i + 1] != '-';
    take_named(r, arena_strndup(r->f->arena, word + 2, n - 2), value != NULL ? value : next ? args.words[i + 1] : "");
    return next ? i + 1 : i;
  }
  if (flag.valued && value == NULL && i + 1 < args.n) value = args.words[++i];
  take_flag(r, &flag, given, value);
  bool lists = word_in(r->entry->programs, "dbt") || strncmp(r->entry->programs, "dbt ", 4) == 0;
  return lists && role_is(&flag, "target") ? take_more_targets(r, args, i) : i;
}

void commands_read(CommandReading *r, Argv args, size_t from) {
  bool flags = true;
  for (size_t i = from; i < args.n; i++) {
    if (flags && strcmp(args.words[i], "--") == 0)
      flags = false;
    else if (flags)
      i = take_word(r, args, i);
    else
      take_operand(r, args.words[i]);
  }
}
