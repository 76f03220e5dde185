#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/process.h"
#include "gate/command/command_int.h"
#include "gate/command/offer.h"
#include "gate/trigger/trigger_int.h"

/*
 * A command's dates, replaced by places. Where a date stands is seen in the text; whether it is right is asked of the
 * reader of command lines: the line filled with other dates must be the same command over exactly those.
 */

enum { MOST_DATES = 6, N_PLACES = 9 };

/* A date as it stands in the text; a list of them, D,D,…, counts as one. */
typedef struct Literal {
  size_t at, n;
  bool compact, list, listed; /* listed: it holds every date of the range, once */
  const char *day;
} Literal;

/* ---- where they stand -------------------------------------------------------------------------------------------- */

/* A time may follow. */
static bool goes_on(const char *text, size_t n, size_t at) {
  return at < n && isalnum((unsigned char)text[at]) && text[at] != 'T' && text[at] != 'Z';
}

/* The bytes of a date at the place, 10 or 8; 0: there is none. */
static size_t date_length(Arena *arena, const char *text, size_t n, size_t at) {
  if (at > 0 && isalnum((unsigned char)text[at - 1])) return 0;
  for (size_t length = 10; length >= 8; length -= 2)
    if (at + length <= n && !goes_on(text, n, at + length) && (length == 10) == (text[at + 4] == '-') &&
        date_day(arena, arena_strndup(arena, text + at, length), false) != NULL)
      return length;
  return 0;
}

static void take_list(Arena *arena, const char *text, size_t n, const Trigger *trigger, Literal *literal) {
  const char *expected = trigger->from, *last = NULL;
  size_t at = literal->at + literal->n, next;
  bool in_order = strcmp(literal->day, expected) == 0;
  while (at < n && text[at] == ',' && (next = date_length(arena, text, n, at + 1)) > 0) {
    expected = date_add(arena, expected, 1);
    last = date_day(arena, arena_strndup(arena, text + at + 1, next), false);
    in_order = in_order && strcmp(last, expected) == 0;
    literal->list = true;
    at += 1 + next;
  }
  literal->listed = literal->list && in_order && strcmp(last, trigger->to) == 0;
  literal->n = at - literal->at;
}

/* False: there are more than anybody would want to see replaced. */
static bool find_literals(Arena *arena, const char *text, size_t n, const Trigger *trigger, Literal ret[MOST_DATES],
                          size_t *ret_n) {
  *ret_n = 0;
  for (size_t at = 0; at < n;) {
    size_t length = date_length(arena, text, n, at);
    if (length == 0) {
      at++;
      continue;
    }
    if (*ret_n == MOST_DATES) return false;
    Literal *literal = &ret[(*ret_n)++];
    *literal = (Literal){.at = at, .n = length, .compact = length == 8};
    literal->day = date_day(arena, arena_strndup(arena, text + at, length), false);
    take_list(arena, text, n, trigger, literal);
    at = literal->at + literal->n;
  }
  return true;
}

/* ---- what they become -------------------------------------------------------------------------------------------- */

typedef struct Rewriting {
  Arena *arena;
  const char *text;
  size_t n;
  const Trigger *trigger;
  Literal literals[MOST_DATES];
  size_t n_literals;
} Rewriting;

/* By literal: the name of its place, NULL: it stays. */
typedef struct Choice {
  const char *names[MOST_DATES];
} Choice;

/* The last moment of a day, where the command's end would leave out what is due after its midnight. */
static const char *day_end(const Rewriting *r, const Literal *literal, const char *name) {
  if (!r->trigger->until_midnight || strcmp(name, "to_inclusive") != 0) return "";
  return literal->compact ? "T235959" : "T23:59:59";
}

static const char *write_line(const Rewriting *r, Arena *arena, const Choice *choice, int shift) {
  BUF_SCOPED out = {0};
  size_t at = 0;
  for (size_t i = 0; i < r->n_literals; i++) {
    const Literal *literal = &r->literals[i];
    const char *name = choice->names[i];
    if (name == NULL) continue;
    buf_append(&out, r->text + at, literal->at - at);
    buf_printf(&out, "{%s%s", name, literal->compact && !literal->list ? "_nodash" : "");
    if (shift != 0) buf_printf(&out, "%+dd", -shift);
    buf_printf(&out, "}%s", day_end(r, literal, name));
    at = literal->at + literal->n;
  }
  buf_append(&out, r->text + at, r->n - at);
  return arena_strdup(arena, buf_text(&out));
}

static const char *compact(Arena *arena, const char *day) {
  return arena_printf(arena, "%.4s%.2s%.2s", day, day + 5, day + 8);
}

static const char *all_days(Arena *arena, const char *from, const char *to) {
  BUF_SCOPED out = {0};
  for (const char *day = from;; day = date_add(arena, day, 1)) {
    buf_printf(&out, "%s%s", out.len == 0 ? "" : ",", day);
    if (strcmp(day, to) >= 0) return arena_strdup(arena, buf_text(&out));
  }
}

/* The line over the dates from..to is read as the same command over exactly those. Without shift: that is only a
 * matter of the names of the places. */
static bool is_same(Arena *arena, const char *line, const Trigger *trigger, const char *from, const char *to) {
  const char *end = date_add(arena, to, 1);
  const ProcessVariable variables[N_PLACES] = {{"{from}", "", from},
                                               {"{to}", "", end},
                                               {"{to_inclusive}", "", to},
                                               {"{date}", "", from},
                                               {"{dates}", "", all_days(arena, from, to)},
                                               {"{from_nodash}", "", compact(arena, from)},
                                               {"{to_nodash}", "", compact(arena, end)},
                                               {"{to_inclusive_nodash}", "", compact(arena, to)},
                                               {"{date_nodash}", "", compact(arena, from)}};
  const char *filled = process_fill(arena, line, variables, N_PLACES);
  TriggerReport report = trigger_classify(arena, filled, strlen(filled));
  if (report.n != 1 || !report.items[0].sure) return false;
  const Trigger *found = &report.items[0];
  const char *const pairs[][2] = {{found->system, trigger->system},
                                  {found->target, trigger->target},
                                  {found->danger, trigger->danger},
                                  {found->from, from},
                                  {found->to, to}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const char *a = pairs[i][0], *b = pairs[i][1];
    if (a != b && (a == NULL || b == NULL || strcmp(a, b) != 0)) return false;
  }
  return true;
}

/* Over ends of months and years, and over one day. */
static bool is_right(const Rewriting *r, const Choice *choice, bool one_date) {
  static const char *const ranges[][2] = {{"2031-02-26", "2031-03-02"},
                                          {"2033-12-30", "2034-01-03"},
                                          {"2032-02-29", "2032-02-29"},
                                          {"2030-11-01", "2030-11-01"}};
  ARENA_SCOPED arena = {0};
  const char *line = write_line(r, &arena, choice, 0);
  for (size_t i = one_date ? 2 : 0; i < sizeof ranges / sizeof *ranges; i++)
    if (!is_same(&arena, line, r->trigger, ranges[i][0], ranges[i][1])) return false;
  return true;
}

/* The names that a literal may get, by its day. */
static size_t names_of(const Rewriting *r, size_t i, const char *ret[3]) {
  const Literal *literal = &r->literals[i];
  size_t n = 0;
  if (literal->list) {
    if (literal->listed) ret[n++] = "dates";
    return n;
  }
  if (strcmp(literal->day, r->trigger->from) == 0) ret[n++] = "from";
  if (strcmp(literal->day, r->trigger->to) == 0) ret[n++] = "to_inclusive";
  if (strcmp(literal->day, date_add(r->arena, r->trigger->to, 1)) == 0) ret[n++] = "to";
  return n;
}

/* Tries every way to name the dates that are the command's; *ret is one that is right. */
static bool choose(const Rewriting *r, size_t i, Choice *choice) {
  const char *names[3];
  if (i == r->n_literals) return is_right(r, choice, false);
  size_t n = names_of(r, i, names);
  choice->names[i] = NULL;
  if (n == 0) return choose(r, i + 1, choice);
  for (size_t k = 0; k < n; k++) {
    choice->names[i] = names[k];
    if (choose(r, i + 1, choice)) return true;
  }
  return false;
}

static bool choose_one_date(const Rewriting *r, Choice *choice) {
  if (strcmp(r->trigger->from, r->trigger->to) != 0) return false;
  *choice = (Choice){0};
  for (size_t i = 0; i < r->n_literals; i++)
    if (!r->literals[i].list && strcmp(r->literals[i].day, r->trigger->from) == 0) choice->names[i] = "date";
  return is_right(r, choice, true);
}

/* Does each replaced date matter to the command? One that does not may be a file's name, or another command's. */
static bool is_needed(const Rewriting *r, const Choice *choice) {
  for (size_t i = 0; i < r->n_literals; i++) {
    Choice without = *choice;
    if (choice->names[i] == NULL) continue;
    without.names[i] = NULL;
    if (is_right(r, &without, strcmp(choice->names[i], "date") == 0)) return false;
  }
  return true;
}

static const char *why_not_at_all(const Rewriting *r, const TriggerReport *report) {
  static const char *const taken[] = {"{from", "{to}", "{to_", "{date", "TIDEGATE_"};
  if (r->text == NULL) return "it was no command line";
  if (report->n != 1) return "it starts more than one backfill";
  if (!r->trigger->sure) return "what it does is not understood";
  if (r->trigger->from == NULL || r->trigger->to == NULL) return "its first and last date do not stand in it";
  if (strlen(r->text) != r->n) return "it holds a NUL";
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strstr(r->text, taken[i]) != NULL) return "it holds what would be taken for a place of a date";
  if (strcmp(mask_secrets(r->arena, r->text, r->n), r->text) != 0)
    return "it may hold a secret, which must not stand in a file: put that into the environment";
  return NULL;
}

const char *offer_line(Arena *arena, const char *text, size_t n, const TriggerReport *report, int shift,
                       const char **ret_why) {
  Rewriting r = {
      .arena = arena, .text = text == NULL ? NULL : arena_strndup(arena, text, n), .n = n, .trigger = report->items};
  Choice choice = {0};
  *ret_why = why_not_at_all(&r, report);
  if (*ret_why != NULL) return NULL;
  bool few = find_literals(arena, r.text, n, r.trigger, r.literals, &r.n_literals);
  bool found = few && choose(&r, 0, &choice);
  found = found || (few && choose_one_date(&r, &choice));
  if (!found)
    *ret_why = "its dates do not stand in it as they are, each in one place";
  else if (!is_needed(&r, &choice))
    *ret_why = "one of its dates stands in more than one place, and perhaps not for the same thing";
  for (size_t i = 0; found && i < r.n_literals; i++)
    if (shift != 0 && r.literals[i].list && choice.names[i] != NULL)
      *ret_why = "it lists dates that are not those of the rows";
  return *ret_why != NULL ? NULL : write_line(&r, arena, &choice, shift);
}
