#include <ctype.h>
#include <string.h>

#include "base/doc.h"
#include "gate/trigger/trigger_int.h"

/* The table of other tools' commands, and how their arguments are read. */

enum { NEVER = 1, DATED = 2, ASKS = 4, EXCLUSIVE = 8, LOOSE = 16, NAMED = 32, SCOPED = 64 };

typedef struct Entry {
  const char *system, *programs, *path;
  unsigned traits;
  const char *operands, *flags;
} Entry;

static const Entry entries[] = {
#define COMMAND(system, programs, path, traits, operands, flags) {system, programs, path, traits, operands, flags},
#include "gate/trigger/commands.def"
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

bool commands_know(const char *program) {
  for (size_t i = 0; i < N_ENTRIES; i++)
    if (word_in(program, entries[i].programs)) return true;
  return false;
}

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

/* '_' is as good as '-', as Airflow 1.10 and click's users write it. */
static bool same_name(const char *a, const char *b, size_t n) {
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
    if (fits && same_name(flag->names + i, name, n)) return true;
    i += length + 1;
  }
  return false;
}

static bool find_flag(const Entry *entry, const char *name, size_t n, Flag *ret) {
  const char *at = entry->flags;
  while (next_flag(&at, ret))
    if (flag_has(ret, name, n, false)) return true;
  for (at = entry->flags; n > 2 && name[1] == '-' && next_flag(&at, ret);)
    if (flag_has(ret, name, n, true)) return true;
  return false;
}

/* ---- the reading of one command ---------------------------------------------------------------------------------- */

typedef struct Reading {
  Finder *f;
  const Entry *entry;
  DateSpan span;
  Buf target, danger;
  const char *instead; /* what names the target better than the operands and other flags do; NULL: nothing */
  bool target_unknown, dry, restates;
  bool unclear; /* a word that may be any flag */
  bool hinted;  /* a parameter's name says that it may rewrite past dates */
  size_t operand;
} Reading;

static void take_target(Reading *r, const char *value) {
  const char *sure = word_sure(r->f->arena, value);
  if (sure == NULL || *sure == '\0')
    r->target_unknown = true;
  else
    buf_printf(&r->target, "%s%s", r->target.len == 0 ? "" : " ", sure);
}

static void take_date(Reading *r, char role, const char *value) {
  date_take(r->f->arena, &r->span, role, value, (r->entry->traits & EXCLUSIVE) != 0);
}

/* NAME=VALUE, or a value of a name: a date when the name says so and the value is one. */
static void take_named(Reading *r, const char *name, const char *value) {
  char role = date_role(name);
  const char *sure = word_sure(r->f->arena, value);
  r->hinted |= hints_at_backfill(name) && (sure == NULL || !word_in(sure, "0 false False no none None null"));
  if (role == '\0' || (sure != NULL && date_day(r->f->arena, sure, false) == NULL)) return;
  date_take(r->f->arena, &r->span, role, value, false);
}

static void take_param(Reading *r, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL) return;
  const char *value = equals + 1;
  size_t n = strlen(value);
  /* Prefect reads JSON: a quoted text is a text. */
  if (n > 1 && *value == '"' && value[n - 1] == '"') value = arena_strndup(r->f->arena, value + 1, n - 2);
  take_named(r, arena_strndup(r->f->arena, text, (size_t)(equals - text)), value);
}

static void take_tree(Reading *r, const DocNode *node) {
  if (node->kind == DOC_SCALAR && node->key != NULL) take_named(r, node->key, node->text);
  if (node->kind == DOC_SCALAR && node->key == NULL && date_day(r->f->arena, node->text, false) != NULL)
    take_date(r, r->span.from == NULL ? 'o' : 't', node->text);
  for (size_t i = 0; i < node->n; i++) take_tree(r, &node->children[i]);
}

static void take_json(Reading *r, const char *value) {
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
static void take_range(Reading *r, const char *value) {
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
static void take_dates(Reading *r, const char *value) {
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
static void take_table(Reading *r, const char *value) {
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

static void take_flag(Reading *r, const Flag *flag, const char *word, const char *value) {
  if (role_is(flag, "from") || role_is(flag, "to") || role_is(flag, "on"))
    take_date(r, *flag->role, value == NULL ? "\1" : value);
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
static bool operand_role(const Reading *r, char ret[16]) {
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

static void take_operand(Reading *r, const char *word) {
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
static size_t take_cluster(Reading *r, Argv args, size_t i) {
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
static size_t take_more_targets(Reading *r, Argv args, size_t i) {
  while (i + 1 < args.n && *args.words[i + 1] != '-') take_target(r, args.words[++i]);
  return i;
}

static size_t take_word(Reading *r, Argv args, size_t i) {
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

static void read_args(Reading *r, Argv args, size_t from) {
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

/* ---- which entry ------------------------------------------------------------------------------------------------- */

/* How many words of args the path takes, flags before it skipped; 0 when it does not fit; "" takes none. */
static bool path_fits(const char *path, Argv args, size_t *ret_taken) {
  size_t i = 0;
  bool begun = false, behind_flag = false;
  while (*path != '\0') {
    size_t n = strcspn(path, " ");
    if (i >= args.n) return false;
    const char *word = args.words[i++];
    word += strspn(word, "\2");
    bool same = strcspn(word, "\r") == n && same_name(word, path, n);
    if (same) {
      path += n;
      path += strspn(path, " ");
      begun = true;
    } else if (begun ? *word != '-' : *word != '-' && !behind_flag) {
      return false;
    }
    behind_flag = *word == '-';
  }
  *ret_taken = i;
  return true;
}

static const Entry *find_entry(const char *program, Argv args, size_t *ret_taken) {
  const Entry *best = NULL;
  for (size_t i = 0; i < N_ENTRIES; i++) {
    size_t taken;
    if (program != NULL && !word_in(program, entries[i].programs)) continue;
    if (program == NULL && strchr(entries[i].path, ' ') == NULL) continue;
    if (!path_fits(entries[i].path, args, &taken)) continue;
    if (best != NULL && strlen(best->path) >= strlen(entries[i].path)) continue;
    best = &entries[i];
    *ret_taken = taken;
  }
  return best;
}

/* Adds what the command is, unless it is harmless. `why` NULL: the program is the entry's. */
static void judge_entry(Finder *f, const Entry *entry, const char *system, Argv args, size_t taken, const char *why) {
  Reading r = {.f = f, .entry = entry};
  if ((entry->traits & NEVER) != 0) return;
  read_args(&r, args, taken);
  bool known_target = r.instead != NULL || (!r.target_unknown && r.target.len > 0);
  bool sure = why == NULL &&
              ((entry->traits & ASKS) == 0 || r.restates || ((entry->traits & (DATED | LOOSE)) == DATED && r.span.any));
  if (!sure && why == NULL)
    why = arena_printf(f->arena, "what %s%s%s does depends on how it is set up", system,
                       *entry->path == '\0' ? "" : " ", entry->path);
  Trigger found = {.sure = sure,
                   .system = system,
                   .target = !known_target       ? NULL
                             : r.instead != NULL ? r.instead
                                                 : arena_strdup(f->arena, buf_text(&r.target)),
                   .from = r.span.from,
                   .to = r.span.to,
                   .danger = r.danger.len == 0 ? NULL : arena_strdup(f->arena, buf_text(&r.danger)),
                   .why = sure ? NULL : why};
  if ((entry->traits & NAMED) != 0 && !r.span.any && r.danger.len == 0 && found.target != NULL &&
      hints_at_backfill(found.target)) {
    found.sure = false;
    found.why = "its name says that it may rewrite past dates";
    r.span.any = true;
  }
  if (r.hinted && !r.span.any && r.danger.len == 0) {
    found.sure = false;
    found.why = "a parameter's name says that it may rewrite past dates";
    r.span.any = true;
  }
  if (r.unclear && !r.span.any && r.danger.len == 0 && !r.restates) {
    found.sure = false;
    found.why = "which flags it gets is only known when it runs";
    r.span.any = true;
  }
  bool rewrites = (entry->traits & DATED) == 0 || r.span.any || r.restates || r.danger.len > 0;
  buf_release(&r.target);
  buf_release(&r.danger);
  if (!r.dry && rewrites) finder_add(f, found);
}

/* airflow $SUB: which command it is, is only known when it runs. */
static bool path_unknown(Argv args) {
  for (size_t i = 0, words = 0; i < args.n && words < 2; i++) {
    if (!word_known(args.words[i])) return true;
    words += *args.words[i] != '-';
  }
  return false;
}

bool commands_judge(Finder *f, const char *program, Argv args) {
  size_t taken = 0;
  if (!commands_know(program)) return false;
  const Entry *entry = find_entry(program, args, &taken);
  if (entry != NULL)
    judge_entry(f, entry, entry->system, args, taken, NULL);
  else if (strcmp(program, "astro") == 0 && args.n > 2 && strcmp(args.words[0], "dev") == 0 &&
           strcmp(args.words[1], "run") == 0)
    commands_airflow(f, "airflow2", (Argv){args.words + 2, args.n - 2});
  else if (path_unknown(args))
    finder_add(f, (Trigger){.system = "?",
                            .why = arena_printf(f->arena, "which command of %s this is, is only known when it runs",
                                                program)});
  return !trigger_names_table(program); /* a client of a database has SQL besides */
}

bool commands_fit(Finder *f, Argv args, const char *why) {
  size_t taken = 0, before = f->n;
  const Entry *entry = find_entry(NULL, args, &taken);
  if (entry != NULL) judge_entry(f, entry, "?", args, taken, why);
  return f->n > before;
}

void commands_airflow(Finder *f, const char *system, Argv args) {
  size_t taken = 0;
  const Entry *entry = find_entry("airflow", args, &taken);
  if (entry != NULL) judge_entry(f, entry, system, args, taken, NULL);
}

/* ---- code of other languages ------------------------------------------------------------------------------------- */

/* The words of the path, in order, as whole words. */
static bool code_names(const char *code, const Entry *entry) {
  const char *at = code;
  for (const char *path = entry->path; *path != '\0';) {
    char word[32];
    size_t n = strcspn(path, " ");
    memcpy(word, path, n);
    word[n] = '\0';
    do {
      at = strcasestr(at, word);
      if (at == NULL) return false;
      at += n;
    } while (isalnum((unsigned char)*at) || (at - n > code && isalnum((unsigned char)at[-(long)n - 1])));
    path += n;
    path += strspn(path, " ");
  }
  return true;
}

const char *commands_in_code(const char *code) {
  for (size_t i = 0; i < N_ENTRIES; i++) {
    const Entry *entry = &entries[i];
    if (strchr(entry->path, ' ') == NULL || (entry->traits & (NEVER | ASKS)) != 0) continue;
    if (text_names(code, entry->programs) && code_names(code, entry)) return entry->system;
  }
  if (text_names(code, "dbt* dbtRunner*") && text_names(code, "full-refresh* full_refresh* event-time* event_time*"))
    return "dbt";
  if (text_names(code, "run_deployment* create_flow_run*") && text_names(code, "start* end* date*")) return "prefect";
  return NULL;
}
