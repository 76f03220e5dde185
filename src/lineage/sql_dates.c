#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lineage/sql_tree.h"

/*
 * How the dates of a statement's output hang on the dates that it reads. Which column holds dates is not known here:
 * the last word of a column's name says so (flight_date, created_at). Where it stays open, more dates are taken rather
 * than fewer: what is recomputed needlessly is right, what is left out is stale.
 */

/* Frame bits of parsenodes.h, the same in every PostgreSQL. */
enum {
  FRAME_ROWS = 0x4,
  FRAME_START_UNBOUNDED = 0x20,
  FRAME_END_UNBOUNDED = 0x100,
  FRAME_START_BEFORE = 0x800,
  FRAME_END_AFTER = 0x4000,
  FRAME_START_AFTER = 0x2000
};
enum { MOST_WINDOWS = 32 };

typedef struct Look {
  SqlDates dates;
  const json_t *windows[MOST_WINDOWS]; /* of WINDOW clauses */
  size_t n_windows;
  SqlPairs pairs;
} Look;

static void look(Look *l, const json_t *node);

void sql_say(SqlDates *dates, const char *why) {
  if (dates->why == NULL) dates->why = why;
}

static void say(Look *l, const char *why) { sql_say(&l->dates, why); }

bool sql_one_of(const char *word, const char *const *words) {
  for (; word != NULL && *words != NULL; words++)
    if (strcasecmp(word, *words) == 0) return true;
  return false;
}

/* ---- columns and constants --------------------------------------------------------------------------------------- */

bool sql_is_date_name(const char *name) {
  static const char *const words[] = {"date", "day",  "dt", "ds", "month",     "week",
                                      "year", "hour", "at", "ts", "timestamp", NULL};
  const char *last = name == NULL ? NULL : strrchr(name, '_');
  return sql_one_of(last == NULL ? name : last + 1, words);
}

/* The column that the expression is, casts passed over; NULL: something else. */
const json_t *sql_column_of(const json_t *node) {
  for (const json_t *cast; (cast = json_object_get(node, "TypeCast")) != NULL;) node = json_object_get(cast, "arg");
  return json_object_get(json_object_get(node, "ColumnRef"), "fields");
}

static const json_t *constant_of(const json_t *node) {
  for (const json_t *cast; (cast = json_object_get(node, "TypeCast")) != NULL;) node = json_object_get(cast, "arg");
  return json_object_get(node, "A_Const");
}

static const char *text_of(const json_t *node) {
  return sql_member(json_object_get(constant_of(node), "sval"), "sval");
}

/* "6 days", "-6 day", "1 month": whole days, at least as many as it can be; −1: no such text. *ret_back: minus. */
static int days_of_text(const char *text, bool *ret_back) {
  static const struct {
    const char *unit;
    double days;
  } units[] = {{"day", 1}, {"week", 7}, {"month", 31}, {"year", 366}, {"hour", 1. / 24}, {"min", 1. / 1440}};
  char *end;
  double n = text == NULL ? 0 : strtod(text, &end);
  *ret_back = n < 0;
  if (text == NULL || end == text || !(n > -100000 && n < 100000)) return -1;
  end += strspn(end, " ");
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strncasecmp(end, units[i].unit, strlen(units[i].unit)) == 0) {
      double days = (n < 0 ? -n : n) * units[i].days;
      return (int)days + (days > (int)days);
    }
  return -1;
}

void sql_modify(const json_t *node, SqlMoved *moved) {
  const char *text = text_of(node);
  bool back;
  int days = days_of_text(text, &back);
  if (days > 0) *(back ? &moved->earlier : &moved->later) += days;
  if (text == NULL) return;
  if (strncasecmp(text, "weekday ", 8) == 0) moved->later += 6;
  if (strcasecmp(text, "localtime") == 0 || strcasecmp(text, "utc") == 0) {
    moved->later++;
    moved->earlier++;
  }
}

/* A number of days, as an integer or an interval; −1: neither. */
int sql_days_of(const json_t *node) {
  bool ignored;
  const json_t *constant = constant_of(node);
  const json_t *number = json_object_get(json_object_get(constant, "ival"), "ival");
  if (json_object_get(constant, "ival") != NULL) {
    json_int_t n = json_integer_value(number);
    return n >= 0 && n < 100000 ? (int)n : -1;
  }
  return days_of_text(text_of(node), &ignored);
}

/* ---- grains ------------------------------------------------------------------------------------------------------ */

static void set_grain(Look *l, Grain grain, const char *why) {
  if (l->dates.has_grain && l->dates.grain >= grain) return;
  l->dates.has_grain = true;
  l->dates.grain = grain;
  say(l, why);
}

static void grain_of_word(Look *l, const char *word, const char *why) {
  Grain grain;
  if (word == NULL) return;
  if (strcasecmp(word, "quarter") == 0)
    set_grain(l, GRAIN_YEAR, why); /* there is no grain of quarters: a year holds whole ones */
  else if (strcasecmp(word, "doy") != 0 && strcasecmp(word, "dow") != 0 && grain_parse(word, &grain))
    set_grain(l, grain, why);
}

/* strftime's and to_char's pictures: the finest part decides. */
static void grain_of_picture(Look *l, const char *picture) {
  static const struct {
    const char *const parts[5];
    Grain grain;
  } rows[] = {{{"%d", "%j", "DD", "dd", "%e"}, GRAIN_DAY},
              {{"%W", "%V", "IW", "WW", "%U"}, GRAIN_WEEK},
              {{"%m", "MM", "mm", "Mon", "%b"}, GRAIN_MONTH},
              {{"%Y", "YYYY", "yyyy", "%y", "YY"}, GRAIN_YEAR}};
  for (size_t i = 0; picture != NULL && i < sizeof rows / sizeof *rows; i++)
    for (size_t k = 0; k < 5; k++)
      if (strstr(picture, rows[i].parts[k]) != NULL) {
        set_grain(l, rows[i].grain, "dates are cut by a picture");
        return;
      }
}

/* date(x, 'start of month') of SQLite. */
static void modifiers(Look *l, const json_t *args, size_t from) {
  for (size_t i = from; i < json_array_size(args); i++) {
    const char *text = text_of(json_array_get(args, i));
    if (text != NULL && strncasecmp(text, "start of ", 9) == 0)
      grain_of_word(l, text + 9, "dates are cut by 'start of'");
  }
}

static void look_at_call(Look *l, const json_t *call) {
  static const char *const truncates[] = {"date_trunc", "datetrunc", "timestamp_trunc", "trunc", NULL};
  static const char *const dates[] = {"date", "datetime", "julianday", "unixepoch", NULL};
  const char *name = sql_last_name(json_object_get(call, "funcname"));
  const json_t *args = json_object_get(call, "args");
  const json_t *first = json_array_get(args, 0), *second = json_array_get(args, 1);
  if (name == NULL) return;
  if (sql_one_of(name, truncates)) {
    if (sql_moved(second).fields != NULL) grain_of_word(l, text_of(first), "date_trunc");
    if (sql_moved(first).fields != NULL) grain_of_word(l, text_of(second), "date_trunc");
  } else if ((strcasecmp(name, "extract") == 0 || strcasecmp(name, "date_part") == 0) &&
             sql_column_of(second) != NULL) {
    grain_of_word(l, text_of(first), "extract");
  } else if (strcasecmp(name, "strftime") == 0) {
    if (sql_column_of(second) != NULL || json_object_get(second, "FuncCall") != NULL)
      grain_of_picture(l, text_of(first));
    if (sql_column_of(second) != NULL) modifiers(l, args, 2);
    if (sql_column_of(first) != NULL) grain_of_picture(l, text_of(second));
  } else if (strcasecmp(name, "to_char") == 0) {
    if (sql_column_of(first) != NULL) grain_of_picture(l, text_of(second));
  } else if (strcasecmp(name, "substr") == 0 || strcasecmp(name, "substring") == 0 || strcasecmp(name, "left") == 0) {
    const json_t *fields = sql_column_of(first);
    int length = sql_days_of(json_array_get(args, json_array_size(args) - 1));
    if (fields != NULL && sql_is_date_name(sql_last_name(fields)) && (length == 4 || length == 7))
      set_grain(l, length == 4 ? GRAIN_YEAR : GRAIN_MONTH, "the first letters of a date");
  } else if (sql_one_of(name, dates) && sql_column_of(first) != NULL) {
    modifiers(l, args, 1);
  }
}

/* Does the expression give or hold a date? */
bool sql_has_date(const json_t *node) {
  const char *key;
  json_t *value;
  size_t i;
  const json_t *fields = json_object_get(json_object_get(node, "ColumnRef"), "fields");
  if (fields != NULL) return sql_is_date_name(sql_last_name(fields));
  if (json_is_array(node)) {
    json_array_foreach(node, i, value) if (sql_has_date(value)) return true;
  } else if (json_is_object(node)) {
    json_object_foreach((json_t *)node, key, value) if (sql_has_date(value)) return true;
  }
  return false;
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static const json_t *window_named(const Look *l, const char *name) {
  for (size_t i = 0; name != NULL && i < l->n_windows; i++)
    if (sql_member(l->windows[i], "name") != NULL && strcmp(sql_member(l->windows[i], "name"), name) == 0)
      return l->windows[i];
  return NULL;
}

/* n below 0: nobody knows how far. */
static void widen(SqlDates *dates, int *place, int n, const char *why) {
  if (n < 0)
    dates->all = true;
  else if (n > *place)
    *place = n;
  sql_say(dates, why);
}

static void look_at_frame(Look *l, const json_t *window) {
  json_int_t frame = json_integer_value(json_object_get(window, "frameOptions"));
  bool rows = (frame & FRAME_ROWS) != 0;
  if ((frame & FRAME_END_UNBOUNDED) != 0 || (frame & (FRAME_END_AFTER | FRAME_START_AFTER)) != 0) {
    l->dates.after = true;
    say(l, "a window over later rows");
  }
  if ((frame & FRAME_START_UNBOUNDED) != 0) {
    l->dates.cumulative = true;
    say(l, "a window from the beginning");
  }
  if ((frame & FRAME_START_BEFORE) != 0)
    widen(&l->dates, rows ? &l->dates.window : &l->dates.days, sql_days_of(json_object_get(window, "startOffset")),
          rows ? "ROWS … PRECEDING, taken for as many dates: wrong where dates are missing" : "RANGE … PRECEDING");
}

static void look_at_window(Look *l, const json_t *call, const json_t *over) {
  static const char *const ranks[] = {"row_number",  "rank",       "dense_rank", "percent_rank", "cume_dist",
                                      "first_value", "last_value", "nth_value",  "ntile",        NULL};
  const char *name = sql_last_name(json_object_get(call, "funcname"));
  const json_t *named = window_named(l, sql_member(over, "name"));
  if (named == NULL) named = window_named(l, sql_member(over, "refname"));
  const json_t *window = named != NULL && json_object_get(over, "orderClause") == NULL ? named : over;
  const json_t *partition = json_object_get(named != NULL ? named : over, "partitionClause");
  if (sql_has_date(partition)) return; /* within a date, or within what the date is cut to, which look_at_call sees */
  if (sql_one_of(name, ranks) || json_object_get(window, "orderClause") == NULL) {
    l->dates.all = true;
    say(l, "a window over all dates");
  } else if (name != NULL && (strcasecmp(name, "lag") == 0 || strcasecmp(name, "lead") == 0)) {
    const json_t *steps = json_array_get(json_object_get(call, "args"), 1);
    widen(&l->dates, &l->dates.window, steps == NULL ? 1 : sql_days_of(steps),
          "lag, taken for as many dates: wrong where dates are missing");
    if (strcasecmp(name, "lead") == 0) l->dates.after = true;
  } else {
    look_at_frame(l, window);
  }
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static bool has_aggregate(const json_t *node) {
  static const char *const names[] = {"count",     "sum",      "avg",          "min",     "max",
                                      "stddev",    "variance", "bool_and",     "bool_or", "string_agg",
                                      "array_agg", "json_agg", "group_concat", "median",  "approx_count_distinct",
                                      "total",     NULL};
  const char *key;
  json_t *value;
  size_t i;
  const json_t *call = json_object_get(node, "FuncCall");
  if (json_object_get(node, "SelectStmt") != NULL) return false;
  if (call != NULL && json_object_get(call, "over") == NULL &&
      sql_one_of(sql_last_name(json_object_get(call, "funcname")), names))
    return true;
  if (json_is_array(node)) {
    json_array_foreach(node, i, value) if (has_aggregate(value)) return true;
  } else if (json_is_object(node)) {
    json_object_foreach((json_t *)node, key, value) if (has_aggregate(value)) return true;
  }
  return false;
}

/* A key of GROUP BY, `1` resolved. */
static bool is_date_key(const json_t *key, const json_t *targets) {
  const json_t *number = json_object_get(json_object_get(key, "A_Const"), "ival");
  if (number != NULL) {
    json_int_t place = json_integer_value(json_object_get(number, "ival"));
    key = place < 1 ? NULL : json_object_get(json_array_get(targets, (size_t)place - 1), "ResTarget");
  }
  return sql_has_date(key);
}

static bool compares_dates(const json_t *node) {
  const char *key;
  json_t *value;
  size_t i;
  const json_t *expression = json_object_get(node, "A_Expr");
  if (expression != NULL && sql_has_date(json_object_get(expression, "lexpr")) &&
      sql_has_date(json_object_get(expression, "rexpr")))
    return true;
  if (json_is_array(node)) {
    json_array_foreach(node, i, value) if (compares_dates(value)) return true;
  } else if (json_is_object(node)) {
    json_object_foreach((json_t *)node, key, value) if (compares_dates(value)) return true;
  }
  return false;
}

/* Is a date added to, or taken from, in there? */
static bool holds_move(const json_t *node) {
  static const char *const signs[] = {"+", "-", NULL};
  const char *key;
  json_t *value;
  size_t i;
  const json_t *expression = json_object_get(node, "A_Expr");
  if (expression != NULL && sql_one_of(sql_last_name(json_object_get(expression, "name")), signs) &&
      sql_has_date(expression))
    return true;
  if (json_is_array(node)) {
    json_array_foreach(node, i, value) if (holds_move(value)) return true;
  } else if (json_is_object(node)) {
    json_object_foreach((json_t *)node, key, value) if (holds_move(value)) return true;
  }
  return false;
}

/* A date in the output is another than the one that was read: day + 7 AS day, (at AT TIME ZONE 'Asia/Tokyo')::date. An
 * INSERT goes by place, so that there a date may have no name. */
static void look_at_output(Look *l, const json_t *targets) {
  size_t i;
  json_t *item;
  bool plain = false, unclear = false;
  json_array_foreach(targets, i, item) {
    const json_t *target = json_object_get(item, "ResTarget"), *value = json_object_get(target, "val");
    const char *name = sql_member(target, "name");
    SqlMoved moved = sql_moved(value);
    if (name == NULL ? !sql_is_date_name(sql_last_name(moved.fields)) : !sql_is_date_name(name)) continue;
    if (moved.fields == NULL) {
      unclear = unclear || holds_move(value);
      continue;
    }
    plain = plain || moved.later + moved.earlier == 0;
    sql_move(&l->dates, moved.later, moved.earlier);
  }
  if (!unclear || plain) return;
  l->dates.all = true;
  say(l, "a date computed from another");
}

/* DISTINCT ON (…) keeps a row of all that have the same key; DISTINCT alone only drops doubles. */
static bool is_distinct_by_date(const json_t *distinct, const json_t *targets) {
  return json_object_size(json_array_get(distinct, 0)) > 0 ? sql_has_date(distinct) : sql_has_date(targets);
}

static void look_at_select(Look *l, const json_t *select) {
  size_t i;
  json_t *key, *window;
  const json_t *targets = json_object_get(select, "targetList"), *group = json_object_get(select, "groupClause");
  json_array_foreach(json_object_get(select, "windowClause"), i, window) if (l->n_windows < MOST_WINDOWS)
      l->windows[l->n_windows++] = json_object_get(window, "WindowDef");
  const json_t *distinct = json_object_get(select, "distinctClause");
  bool limited = json_object_get(select, "limitCount") != NULL || json_object_get(select, "limitOffset") != NULL;
  bool totals = group != NULL || distinct != NULL || has_aggregate(targets);
  bool dated = group == NULL && distinct != NULL && is_distinct_by_date(distinct, targets);
  look_at_output(l, targets);
  json_array_foreach(group, i, key) {
    dated = dated || is_date_key(key, targets);
    if (json_object_get(key, "GroupingSet") != NULL) l->dates.all = true;
  }
  if (((totals && !dated) || limited) && !compares_dates(json_object_get(select, "whereClause"))) {
    l->dates.all = true;
    say(l, limited ? "a limit over all dates" : "a total without a date");
  }
}

static void look(Look *l, const json_t *node) {
  const char *key;
  json_t *value;
  size_t i;
  if (json_is_array(node)) {
    json_array_foreach(node, i, value) look(l, value);
    return;
  }
  const json_t *around = l->pairs.nearest;
  if (json_object_get(node, "targetList") != NULL && json_object_get(node, "relation") == NULL) {
    l->pairs.nearest = json_object_get(node, "targetList");
    if (l->pairs.output == NULL) l->pairs.output = l->pairs.nearest;
    look_at_select(l, node);
  }
  json_object_foreach((json_t *)node, key, value) {
    if (strcmp(key, "A_Expr") == 0) sql_look_at_comparison(&l->dates, &l->pairs, value);
    if (strcmp(key, "FuncCall") == 0) {
      look_at_call(l, value);
      if (json_object_get(value, "over") != NULL) look_at_window(l, value, json_object_get(value, "over"));
    }
    look(l, value);
  }
  l->pairs.nearest = around;
}

SqlDates sql_dates(const json_t *tree) {
  Look l = {.dates = {.known = true}};
  look(&l, tree);
  sql_settle_pairs(&l.dates, &l.pairs);
  return l.dates;
}
