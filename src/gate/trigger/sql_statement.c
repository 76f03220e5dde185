#include <ctype.h>
#include <string.h>

#include "gate/trigger/trigger_int.h"

/* Statements that rewrite a date range of a table. */

typedef enum TokenKind { TOKEN_WORD, TOKEN_STRING, TOKEN_SIGN } TokenKind;

typedef struct Token {
  TokenKind kind;
  const char *text; /* quotes removed */
} Token;

typedef struct Tokens {
  Token *items;
  size_t n;
} Tokens;

enum { MOST_TOKENS = 20000 };

static bool is_name_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '-' || c == SHELL_UNKNOWN || (c & 0x80);
}

/* Behind a comment that begins here; the place itself when none does. */
static const char *behind_comment(const char *at) {
  if (at[0] == '-' && at[1] == '-') return at + strcspn(at, "\n");
  if (at[0] != '/' || at[1] != '*') return at;
  const char *end = strstr(at + 2, "*/");
  return end == NULL ? at + strlen(at) : end + 2;
}

static void push(Arena *arena, Tokens *tokens, TokenKind kind, const char *text, size_t n) {
  tokens->items = arena_grow(arena, tokens->items, tokens->n, sizeof *tokens->items);
  tokens->items[tokens->n++] = (Token){kind, arena_strndup(arena, text, n)};
}

/* Quoted names become words, with what their dots join. */
static Tokens tokenise(Arena *arena, const char *sql) {
  Tokens tokens = {0};
  for (const char *at = sql; *at != '\0' && tokens.n < MOST_TOKENS;) {
    const char *behind = behind_comment(at);
    if (behind != at) {
      at = behind;
    } else if (*at == '\'') {
      const char *end = strchr(at + 1, '\'');
      if (end == NULL) break;
      push(arena, &tokens, TOKEN_STRING, at + 1, (size_t)(end - at - 1));
      at = end + 1;
    } else if (is_name_byte(*at) || *at == '"' || *at == '`') {
      BUF_SCOPED word = {0};
      while (*at != '\0' && (is_name_byte(*at) || *at == '"' || *at == '`')) {
        char quote = *at;
        if (quote != '"' && quote != '`') {
          if (quote == '-' && (at[1] == '-' || word.len == 0 || !isalnum((unsigned char)at[1]))) break;
          buf_putc(&word, *at++);
          continue;
        }
        for (at++; *at != '\0' && *at != quote; at++) buf_putc(&word, *at);
        if (*at != '\0') at++;
      }
      if (word.len > 0)
        push(arena, &tokens, TOKEN_WORD, buf_text(&word), word.len);
      else
        at++;
    } else if (isspace((unsigned char)*at)) {
      at++;
    } else {
      size_t n = strchr("<>=!", *at) != NULL && strchr("=>", at[1]) != NULL && at[1] != '\0' ? 2 : 1;
      push(arena, &tokens, TOKEN_SIGN, at, n);
      at += n;
    }
  }
  return tokens;
}

static const char *at(const Tokens *t, size_t i) { return i < t->n ? t->items[i].text : ""; }
static bool word_is(const Tokens *t, size_t i, const char *word) {
  return i < t->n && t->items[i].kind == TOKEN_WORD && strcasecmp(t->items[i].text, word) == 0;
}

static bool word_of(const Tokens *t, size_t i, const char *list) {
  char word[16] = "";
  if (i >= t->n || t->items[i].kind != TOKEN_WORD || strlen(t->items[i].text) >= sizeof word) return false;
  for (size_t k = 0; t->items[i].text[k] != '\0'; k++) word[k] = (char)tolower((unsigned char)t->items[i].text[k]);
  return word_in(word, list);
}

/* The date literal at i, what makes a date of it before it skipped; NULL when there is none. */
static const char *literal(Arena *arena, const Tokens *t, size_t i) {
  while (word_of(t, i, "date timestamp timestamptz datetime cast to_date to_timestamp todate todatetime") ||
         strcmp(at(t, i), "(") == 0)
    i++;
  /* "2024-01-01" is a string too for BigQuery and MySQL. */
  return i < t->n && t->items[i].kind != TOKEN_SIGN && word_known(at(t, i)) && date_day(arena, at(t, i), false) != NULL
             ? at(t, i)
             : NULL;
}

/* What a comparison with the date on its right says; with it on the left the other way round. */
static void take_comparison(Arena *arena, DateSpan *span, const char *sign, const char *value, bool left) {
  bool above = *sign == '>', equal = sign[1] == '=';
  if (strcmp(sign, "=") == 0)
    date_take(arena, span, 'o', value, false);
  else if (!above && *sign != '<')
    return;
  else if (above != left)
    date_take(arena, span, 'f', equal ? value : date_add(arena, date_day(arena, value, false), 1), false);
  else
    date_take(arena, span, 't', value, !equal);
}

/* Takes the range from comparisons with dates in [from, to). */
static DateSpan dates_of(Arena *arena, const Tokens *t, size_t from, size_t to) {
  DateSpan span = {0};
  for (size_t i = from; i < to; i++) {
    const char *sign = at(t, i), *value = literal(arena, t, i + 1);
    if (word_is(t, i, "between") && value != NULL) {
      date_take(arena, &span, 'f', value, false);
      for (size_t k = i + 1; k < to && k < i + 8; k++) {
        const char *end = word_is(t, k, "and") ? literal(arena, t, k + 1) : NULL;
        if (end != NULL) date_take(arena, &span, 't', end, false);
      }
    } else if (word_is(t, i, "in") && value != NULL) {
      for (size_t k = i + 1; k < to && strcmp(at(t, k), ")") != 0; k++) {
        const char *day = t->items[k].kind == TOKEN_STRING ? date_day(arena, at(t, k), false) : NULL;
        if (day == NULL) continue;
        if (span.from == NULL || strcmp(day, span.from) < 0) span.from = day;
        if (span.to == NULL || strcmp(day, span.to) > 0) span.to = day;
        span.any = true;
      }
    } else if (word_is(t, i, "partition") && value != NULL) {
      date_take(arena, &span, 'o', value, false);
    } else if (t->items[i].kind == TOKEN_SIGN && value != NULL) {
      take_comparison(arena, &span, sign, value, false);
    } else if (t->items[i].kind == TOKEN_SIGN && i > from && t->items[i - 1].kind == TOKEN_STRING) {
      value = literal(arena, t, i - 1);
      if (value != NULL) take_comparison(arena, &span, sign, value, true);
    }
  }
  return span;
}

typedef enum Rewrite { REWRITES_NOTHING, REWRITES_DATES, REWRITES_ALL } Rewrite;

static bool has_word(const Tokens *t, size_t from, size_t to, const char *word) {
  for (size_t i = from; i < to; i++)
    if (word_is(t, i, word)) return true;
  return false;
}

/* Where the statement in [from, to) begins: behind EXPLAIN ANALYZE, which runs it, what opens a block, and WITH. */
static size_t first_word(const Tokens *t, size_t from, size_t to) {
  size_t i = from;
  while (i < to && word_of(t, i, "do $$ begin atomic then else loop")) i++;
  bool runs = word_is(t, i, "explain") && has_word(t, i, to, "analyze");
  if (word_is(t, i, "with") || runs)
    while (i < to && !word_of(t, i, "delete update insert merge")) i++;
  return i;
}

/* What the statement in [from, to) does, and to which table (an index). Dates decide where it may touch a part. */
static Rewrite rewrite_of(const Tokens *t, size_t from, size_t to, size_t *ret_table) {
  size_t i = from;
  bool where = has_word(t, i, to, "where");
  if (word_is(t, i, "delete")) {
    *ret_table = i + (word_is(t, i + 1, "from") ? 2 : 1) + word_is(t, i + 2, "only");
    return where ? REWRITES_DATES : REWRITES_ALL;
  }
  if (word_is(t, i, "update")) {
    *ret_table = i + 1 + word_is(t, i + 1, "only");
    return REWRITES_DATES;
  }
  if (word_is(t, i, "truncate")) {
    i += 1 + word_is(t, i + 1, "table");
    *ret_table = i + word_is(t, i, "only");
    return REWRITES_ALL;
  }
  if (word_is(t, i, "merge")) {
    *ret_table = i + 1 + word_is(t, i + 1, "into");
    return REWRITES_DATES;
  }
  if (word_is(t, i, "alter") && word_is(t, i + 1, "table") &&
      (has_word(t, i, to, "delete") || has_word(t, i, to, "update") || has_word(t, i, to, "partition"))) {
    *ret_table = i + 2;
    return REWRITES_DATES;
  }
  if (word_is(t, i, "insert") || word_is(t, i, "replace")) {
    bool overwrite = word_is(t, i + 1, "overwrite");
    for (i++; i < to && (word_is(t, i, "or") || word_is(t, i, "replace") || word_is(t, i, "ignore") ||
                         word_is(t, i, "into") || word_is(t, i, "overwrite") || word_is(t, i, "table"));)
      i++;
    *ret_table = i;
    if (overwrite) return where ? REWRITES_DATES : REWRITES_ALL;
    return has_word(t, i, to, "select") ? REWRITES_DATES : REWRITES_NOTHING;
  }
  if (word_is(t, i, "create") && word_is(t, i + 1, "or") && word_is(t, i + 2, "replace") &&
      word_is(t, i + 3, "table")) {
    *ret_table = i + 4;
    return REWRITES_ALL;
  }
  return REWRITES_NOTHING;
}

/* The sign that a client or a driver puts a value for: :d, :'d', &d, @d, {d:Date}, ?, $1. */
static bool is_placeholder(const Tokens *t, size_t i) {
  if (i >= t->n) return false;
  if (t->items[i].kind == TOKEN_STRING) return strchr("&:@{", *at(t, i)) != NULL && *at(t, i) != '\0';
  if (t->items[i].kind == TOKEN_WORD) return at(t, i)[0] == '$' && isdigit((unsigned char)at(t, i)[1]);
  return strchr(":&@{?", *at(t, i)) != NULL;
}

/* Does the part in [from, to) compare with the clock, or a date's column with a value that comes later? */
static bool dates_come_later(const Tokens *t, size_t from, size_t to) {
  static const char clocks[] = "now current_date current_timestamp localtimestamp getdate sysdate curdate today";
  for (size_t i = from; i < to; i++) {
    if (word_of(t, i, clocks)) return true;
    bool compares =
        i > from && (t->items[i].kind == TOKEN_SIGN ? strchr("<>=", *at(t, i)) != NULL : word_is(t, i, "between"));
    if (compares && is_placeholder(t, i + 1) && t->items[i - 1].kind == TOKEN_WORD && date_role(at(t, i - 1)) != '\0')
      return true;
  }
  return false;
}

/* Is there a text in [from, to) of nothing but dates or their beginnings: '{2024-01-05}', LIKE '2024-01-%'? */
static bool dates_hidden(const Tokens *t, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    const char *text = t->items[i].kind == TOKEN_STRING ? at(t, i) : "";
    if (strspn(text, "0123456789-:TZ ,{}[]()\"+.%_") != strlen(text)) continue;
    for (text += strcspn(text, "0123456789"); *text != '\0'; text += strcspn(text, "0123456789")) {
      size_t n = strspn(text, "0123456789");
      if (n == 4 && text[4] == '-' && strspn(text + 5, "0123456789") == 2) return true;
      text += n;
    }
  }
  return false;
}

/* Is a month or a year compared in [from, to), of which a date is only the name? */
static bool spans_more(const Tokens *t, size_t from, size_t to) {
  static const char longer[] =
      "extract date_part year month quarter week to_char strftime toyyyymm tostartofmonth "
      "format_date last_day";
  for (size_t i = from; i < to; i++) {
    if (strcmp(at(t, i + 1), "(") != 0) continue;
    if (word_of(t, i, longer)) return true;
    /* date_trunc('day', ts), and BigQuery's date_trunc(ts, DAY) */
    size_t unit = i + 2 < to && t->items[i + 2].kind == TOKEN_STRING ? i + 2 : i + 4;
    if (word_of(t, i, "date_trunc trunc timestamp_trunc datetime_trunc") && strcasecmp(at(t, unit), "day") != 0)
      return true;
  }
  return false;
}

/* CALL and EXEC with a date, and a function whose name says what it does. */
static void call(Finder *f, const char *system, const Tokens *t, size_t from, size_t to) {
  bool calls = word_of(t, from, "call exec execute"), found = false;
  for (size_t i = from + 1; i < to && !found; i++) {
    bool names = t->items[i].kind == TOKEN_WORD && (calls || strcmp(at(t, i + 1), "(") == 0);
    found = names && hints_at_backfill(at(t, i));
    found |= calls && t->items[i].kind == TOKEN_STRING && date_day(f->arena, at(t, i), false) != NULL;
  }
  if (found && (calls || word_is(t, from, "select")))
    finder_add(f, (Trigger){.system = system, .why = "a procedure is called that may rewrite past dates"});
}

static void statement(Finder *f, const char *system, const Tokens *t, size_t from, size_t to) {
  from = first_word(t, from, to);
  size_t table = from, where = from;
  Rewrite rewrite = rewrite_of(t, from, to, &table);
  if (rewrite == REWRITES_NOTHING) {
    call(f, system, t, from, to);
    return;
  }
  DateSpan span = dates_of(f->arena, t, from, to);
  while (where < to && !word_of(t, where, "where on")) where++;
  if (span.any && spans_more(t, where, to)) span.from = span.to = NULL;
  bool later = !span.any && dates_come_later(t, where, to);
  bool hidden = !span.any && !later && dates_hidden(t, where, to);
  if (rewrite == REWRITES_DATES && !span.any && !later && !hidden) return;
  bool sure = span.any;
  finder_add(f, (Trigger){.sure = sure,
                          .system = system,
                          .target = table < to && word_known(at(t, table)) ? at(t, table) : NULL,
                          .from = span.from,
                          .to = span.to,
                          .why = sure     ? NULL
                                 : later  ? "which dates it takes is only known when it runs"
                                 : hidden ? "which dates it takes is not understood"
                                          : "the statement takes every row of the table"});
}

/* \i of psql, .read of sqlite3 and duckdb, source and \. of mysql, !source of snowsql: a file's statements. */
static void included_files(Finder *f, ShellRun *run, const char *system, const char *sql) {
  static const char verbs[] = "\\i \\ir \\include \\include_relative .read source \\. !source !load";
  for (const char *line = sql; *line != '\0'; line += *line == '\n') {
    line += strspn(line, " \t");
    size_t n = strcspn(line, "\n"), verb = strcspn(line, " \t\n");
    const char *name = line + verb + strspn(line + verb, " \t'");
    if (word_in(arena_strndup(f->arena, line, verb), verbs) && name < line + n)
      sql_file(f, run, system, arena_strndup(f->arena, name, strcspn(name, " \t\n;'")));
    line += n;
  }
}

/* \! of psql and mysql, .shell and .system of sqlite3 and duckdb: a line that a shell runs. */
static void shell_lines(Finder *f, ShellRun *run, const char *sql) {
  static const char *const marks[] = {"\\!", ".shell ", ".system "};
  for (const char *line = sql; *line != '\0'; line += *line == '\n') {
    size_t n = strcspn(line, "\n");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
      const char *mark = memmem(line, n, marks[i], strlen(marks[i]));
      if (mark == NULL || (*marks[i] == '.' && mark != line)) continue;
      const char *code = mark + strlen(marks[i]);
      shell_run_text(run, arena_strndup(f->arena, code, n - (size_t)(code - line)), (ShellInput){0});
    }
    line += n;
  }
}

void sql_statements(Finder *f, ShellRun *run, const char *system, const char *sql) {
  shell_lines(f, run, sql);
  included_files(f, run, system, sql);
  Tokens t = tokenise(f->arena, sql);
  size_t begin = 0;
  for (size_t i = 0; i <= t.n; i++) {
    if (i < t.n && !(t.items[i].kind == TOKEN_SIGN && strcmp(t.items[i].text, ";") == 0)) continue;
    if (i > begin) statement(f, system, &t, begin, i);
    begin = i + 1;
  }
}
