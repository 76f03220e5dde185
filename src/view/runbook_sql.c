#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "view/runbook_int.h"
#include "view/runbook_sql.h"

const char *hand_quoted(Arena *arena, const char *prefix, const char *name, char quote) {
  BUF_SCOPED out = {0};
  buf_putc(&out, quote);
  buf_puts(&out, prefix);
  for (; *name != '\0'; name++) {
    if (*name == quote) buf_putc(&out, quote);
    buf_putc(&out, *name);
  }
  buf_putc(&out, quote);
  return arena_strdup(arena, buf_text(&out));
}

/* ---- lists of columns -------------------------------------------------------------------------------------------- */

bool hand_picked(const Shape *shape, const ShapeColumn *column, Pick pick) {
  if (pick == PICK_KEY) return shape->keyed ? column->key : column->given;
  if (pick == PICK_GIVEN) return column->given;
  if (pick == PICK_VALUES) return column->given && !(shape->keyed && column->key);
  return !column->generated && (pick == PICK_STORED || !column->given);
}

bool hand_any(const Shape *shape, Pick pick) {
  for (size_t i = 0; i < shape->n; i++)
    if (hand_picked(shape, &shape->columns[i], pick)) return true;
  return false;
}

static void put_pattern(Buf *out, Arena *arena, const char *pattern, const char *name, const char *prefix) {
  for (const char *c = pattern; *c != '\0'; c++) {
    if (*c == '@' || *c == '?')
      buf_puts(out, hand_quoted(arena, *c == '@' ? "" : prefix, name, '"'));
    else
      buf_putc(out, *c);
  }
}

const char *hand_columns(Arena *arena, const Shape *shape, Pick pick, const char *pattern, const char *prefix,
                         const char *separator) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    if (!hand_picked(shape, &shape->columns[i], pick)) continue;
    if (out.len > 0) buf_puts(&out, separator);
    put_pattern(&out, arena, pattern, shape->columns[i].name, prefix);
  }
  return arena_strdup(arena, buf_text(&out));
}

/* "name" type, …; a type is the catalogue's own text. */
static const char *typed_columns(const Hand *hand, Pick pick, const char *prefix) {
  const Shape *shape = hand->facts->shape;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (hand_picked(shape, &shape->columns[i], pick))
      buf_printf(&out, "%s%s%s%s", out.len == 0 ? "" : ", ",
                 hand_quoted(hand->page->arena, prefix, shape->columns[i].name, '"'),
                 shape->columns[i].type == NULL || *shape->columns[i].type == '\0' ? "" : " ",
                 shape->columns[i].type == NULL ? "" : shape->columns[i].type);
  return arena_strdup(hand->page->arena, buf_text(&out));
}

/* PostgreSQL's types that nothing can be equal to; box and circle are equal when their areas are. */
static bool has_no_equality(const char *type) {
  static const char *const types[] = {"json", "xml", "point", "line", "lseg", "box", "path", "polygon", "circle"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    size_t n = strlen(types[i]);
    if (strncmp(type, types[i], n) == 0 && (type[n] == '\0' || type[n] == '[')) return true;
  }
  return false;
}

/* How p and n are compared. A key is compared as its index does it; values in SQLite byte by byte, whatever the
 * column's collation. */
static const char *same_pattern(const Hand *hand, const ShapeColumn *column) {
  const Shape *shape = hand->facts->shape;
  if (!hand->postgres) return shape->keyed && column->key ? "p.@ IS n.?" : "p.@ IS n.? COLLATE BINARY";
  if (shape->keyed && column->key && !shape->null_keys) return "p.@ = n.?"; /* can use an index and a hash */
  return has_no_equality(column->type) ? "p.@::text IS NOT DISTINCT FROM n.?::text" : "p.@ IS NOT DISTINCT FROM n.?";
}

/* Production's row p has the values of the row `other` in every picked column. */
static const char *match(const Hand *hand, Pick pick, const char *other, const char *prefix) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    const ShapeColumn *column = &shape->columns[i];
    if (!hand_picked(shape, column, pick)) continue;
    char *pattern = arena_strdup(arena, same_pattern(hand, column));
    char *n = strstr(pattern, "n.?");
    *n = *other;
    if (out.len > 0) buf_puts(&out, " AND ");
    put_pattern(&out, arena, pattern, column->name, prefix);
  }
  return arena_strdup(arena, buf_text(&out));
}

/* A column of alias p and the same of another row differ; @ and ? as above. */
static const char *differs(const Hand *hand, const ShapeColumn *column, const char *other, const char *prefix) {
  Arena *arena = hand->page->arena;
  BUF_SCOPED out = {0};
  const char *text = hand->postgres && has_no_equality(column->type) ? "::text" : "";
  const char *pattern =
      hand->postgres
          ? arena_printf(arena, "p.@%s IS DISTINCT FROM %s.?%s", text, other, text)
          : arena_printf(arena, "(p.@ IS NOT %s.? COLLATE BINARY OR typeof(p.@) <> typeof(%s.?))", other, other);
  put_pattern(&out, arena, pattern, column->name, prefix);
  if (column->tolerance <= 0) return arena_strdup(arena, buf_text(&out));
  BUF_SCOPED near = {0};
  put_pattern(&near, arena, arena_printf(arena, "abs(p.@ - %s.?)", other), column->name, prefix);
  return arena_printf(arena, "(%s AND NOT coalesce(%s <= %.17g, %s))", buf_text(&out), buf_text(&near),
                      column->tolerance, hand->postgres ? "false" : "0");
}

/* The same of any picked column, by OR. */
static const char *any_differs(const Hand *hand, Pick pick, const char *other, const char *prefix) {
  const Shape *shape = hand->facts->shape;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (hand_picked(shape, &shape->columns[i], pick))
      buf_printf(&out, "%s%s", out.len == 0 ? "" : " OR ", differs(hand, &shape->columns[i], other, prefix));
  return out.len == 0 ? "false" : arena_strdup(hand->page->arena, buf_text(&out));
}

/* Which rows of production the change set's rows with `op` are, for a DELETE in SQLite: by an IN, which is one look-up
 * a row, unless a key may be NULL. */
static const char *those(const Hand *hand, const char *changes, char op, const char *prefix) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  if (shape->keyed && !shape->null_keys)
    return arena_printf(arena, "(%s) IN (SELECT %s FROM %s AS n WHERE n.op = '%c')",
                        hand_columns(arena, shape, PICK_KEY, "p.@", "", ", "),
                        hand_columns(arena, shape, PICK_KEY, "n.?", prefix, ", "), changes, op);
  return arena_printf(arena, "EXISTS (SELECT 1 FROM %s AS n WHERE n.op = '%c' AND %s)", changes, op,
                      match(hand, PICK_KEY, "n", prefix));
}

/* What tells one row from another, as one text, for a fingerprint. */
static const char *line_of(const Hand *hand) {
  return hand_columns(hand->page->arena, hand->facts->shape, PICK_STORED, "quote(p.@)", "", " || ',' || ");
}

/* The new values of a row that changes: what is within its column's tolerance stays as it is. */
static const char *new_values(const Hand *hand) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    const ShapeColumn *column = &shape->columns[i];
    if (!column->given) continue;
    const char *pattern =
        column->tolerance <= 0
            ? "s.@"
            : arena_printf(arena, "CASE WHEN abs(p.@ - s.@) <= %.17g THEN p.@ ELSE s.@ END", column->tolerance);
    if (out.len > 0) buf_puts(&out, ", ");
    put_pattern(&out, arena, pattern, column->name, "");
  }
  return arena_strdup(arena, buf_text(&out));
}

/* The given columns; as texts where a type has no equality. */
static const char *plain_columns(const Hand *hand) {
  const Shape *shape = hand->facts->shape;
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    const ShapeColumn *column = &shape->columns[i];
    if (!column->given) continue;
    if (out.len > 0) buf_puts(&out, ", ");
    bool as_text = hand->postgres && has_no_equality(column->type);
    put_pattern(&out, hand->page->arena, as_text ? "@::text AS @" : "@", column->name, "");
  }
  return arena_strdup(hand->page->arena, buf_text(&out));
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

void hand_set(Hand *hand, const char *word, const char *text) {
  for (size_t i = 0; i < hand->n; i++) {
    if (strcmp(hand->fillings[i].word, word) != 0) continue;
    hand->fillings[i].text = text;
    return;
  }
  hand->fillings = arena_grow(hand->page->arena, hand->fillings, hand->n, sizeof *hand->fillings);
  hand->fillings[hand->n++] = (Filling){word, text};
}

static const char *milliseconds(Arena *arena, double seconds, bool postgres) {
  return arena_printf(arena, postgres ? "'%.0fms'" : "%.0f", seconds * 1000);
}

static void set_names(Hand *hand, const HandNames *names) {
  const RunbookFacts *facts = hand->facts;
  Arena *arena = hand->page->arena;
  const char *schema = facts->spec->postgres.schema.text == NULL ? "tidegate" : facts->spec->postgres.schema.text;
  hand_set(hand, "table", hand->postgres ? facts->target : hand_quoted(arena, "", facts->target, '"'));
  hand_set(hand, "target", hand_quoted(arena, "", facts->target, '\''));
  hand_set(hand, "changes", names->changes);
  hand_set(hand, "shadow", names->shadow);
  hand_set(hand, "snapshot", names->snapshot);
  hand_set(hand, "log", names->log);
  hand_set(hand, "ledger", hand_quoted(arena, "", schema, '"'));
  hand_set(hand, "schema", hand_quoted(arena, "", schema, '\''));
  hand_set(hand, "id", hand_quoted(arena, "", names->id, '\''));
  hand_set(hand, "lock_ms", milliseconds(arena, facts->spec->budget.lock, hand->postgres));
  hand_set(hand, "statement_ms", milliseconds(arena, facts->spec->budget.statement, hand->postgres));
  hand_set(hand, "overriding", hand->postgres ? " OVERRIDING SYSTEM VALUE" : "");
}

static void set_rows(Hand *hand, const HandNames *names) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  const char *same_old = match(hand, PICK_STORED, "n", "old_"), *key_old = match(hand, PICK_KEY, "n", "old_");
  const char *key_new = match(hand, PICK_KEY, "n", "new_");
  hand_set(hand, "same_old", same_old);
  hand_set(hand, "same_new", match(hand, PICK_GIVEN, "n", "new_"));
  hand_set(hand, "key_old", key_old);
  hand_set(hand, "here_old", shape->keyed ? key_old : same_old);
  hand_set(hand, "key_new", key_new);
  hand_set(hand, "taken", shape->keyed ? key_new : "false"); /* without a key a row may be there twice */
  hand_set(hand, "key_shadow", match(hand, PICK_KEY, "s", ""));
  hand_set(hand, "goes", those(hand, names->changes, 'D', "old_"));
  hand_set(hand, "came", those(hand, names->changes, 'I', "new_"));
  hand_set(hand, "differs", any_differs(hand, PICK_VALUES, "s", ""));
  hand_set(hand, "differs_stored", any_differs(hand, PICK_STORED, "s", ""));
  hand_set(hand, "null_key", hand_columns(arena, shape, PICK_KEY, "@ IS NULL", "", " OR "));
}

static void set_lists(Hand *hand) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  const struct {
    const char *word;
    Pick pick;
    const char *pattern, *prefix;
  } lists[] = {{"set_old", PICK_GIVEN, "@ = n.?", "old_"},
               {"set_new", PICK_GIVEN, "@ = n.?", "new_"},
               {"values_old", PICK_VALUES, "@ = n.?", "old_"},
               {"values_new", PICK_VALUES, "@ = n.?", "new_"},
               {"set_rest", PICK_REST, "? = p.@", "old_"},
               {"all", PICK_STORED, "@", ""},
               {"all_old", PICK_STORED, "?", "old_"},
               {"given", PICK_GIVEN, "@", ""},
               {"given_new", PICK_GIVEN, "?", "new_"},
               {"key", PICK_KEY, "@", ""},
               {"p_all", PICK_STORED, "p.@", ""},
               {"s_given", PICK_GIVEN, "s.@", ""},
               {"set_stored", PICK_VALUES, "@ = s.@", ""}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    hand_set(hand, lists[i].word, hand_columns(arena, shape, lists[i].pick, lists[i].pattern, lists[i].prefix, ", "));
  hand_set(hand, "shadow_columns", typed_columns(hand, PICK_GIVEN, ""));
  /* SQLite keeps in a column without a type whatever production had. */
  hand_set(hand, "change_columns",
           hand->postgres ? arena_printf(arena, "%s, %s", typed_columns(hand, PICK_STORED, "old_"),
                                         typed_columns(hand, PICK_GIVEN, "new_"))
                          : arena_printf(arena, "%s, %s", hand_columns(arena, shape, PICK_STORED, "?", "old_", ", "),
                                         hand_columns(arena, shape, PICK_GIVEN, "?", "new_", ", ")));
  hand_set(hand, "line", line_of(hand));
  hand_set(hand, "s_kept", new_values(hand));
  hand_set(hand, "plain", plain_columns(hand));
}

/* Only dates of the change set are looked through. */
static const char *of_dates(const Hand *hand, const char *changes, char op, const char *prefix) {
  Arena *arena = hand->page->arena;
  if (!hand->facts->dated) return "";
  const char *name = hand->facts->shape->columns[hand->facts->shape->date].name;
  return arena_printf(arena, " WHERE %s IN (SELECT %s FROM %s WHERE op = '%c')", hand_quoted(arena, "", name, '"'),
                      hand_quoted(arena, prefix, name, '"'), changes, op);
}

Hand hand_of(Page *page, const RunbookFacts *facts, const HandNames *names) {
  Hand hand = {.page = page, .facts = facts, .postgres = strcmp(facts->engine, "postgres") == 0};
  set_names(&hand, names);
  if (facts->shape == NULL) return hand;
  set_rows(&hand, names);
  set_lists(&hand);
  if (facts->dated)
    hand_set(&hand, "date", hand_quoted(page->arena, "", facts->shape->columns[facts->shape->date].name, '"'));
  hand_set(&hand, "of_old_dates", of_dates(&hand, names->changes, 'D', "old_"));
  hand_set(&hand, "of_new_dates", of_dates(&hand, names->changes, 'I', "new_"));
  hand_set(&hand, "shadow_differences", hand_fill(&hand, sql_runbook_hand_shadow_differences));
  return hand;
}

static const char *filling(const Hand *hand, const char *word, size_t n) {
  for (size_t i = 0; i < hand->n; i++)
    if (strlen(hand->fillings[i].word) == n && strncmp(hand->fillings[i].word, word, n) == 0)
      return hand->fillings[i].text;
  return NULL;
}

const char *hand_fill(const Hand *hand, const char *text) {
  BUF_SCOPED out = {0};
  while (*text != '\0') {
    size_t n = *text == '{' ? strcspn(text + 1, "}") : 0;
    const char *filled = n == 0 ? NULL : filling(hand, text + 1, n);
    if (filled == NULL) {
      buf_putc(&out, *text++);
      continue;
    }
    buf_puts(&out, filled);
    text += n + 2;
  }
  return arena_strdup(hand->page->arena, buf_text(&out));
}

void hand_sql(Hand *hand, const HandSql *templates, size_t n) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < n; i++) {
    const char *text = hand->postgres ? templates[i].postgres : templates[i].sqlite;
    if (text == NULL) continue;
    if (out.len > 0) buf_putc(&out, '\n');
    hand_fold(&out, hand->page->arena, hand_fill(hand, text));
  }
  if (out.len > 0) page_code(hand->page, "sql", buf_text(&out));
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

void hand_triggers(Hand *hand, bool off) {
  const TableFacts *table = hand->facts->table;
  if (table == NULL || table->n_triggers == 0) return;
  if (hand->facts->spec->triggers != TRIGGERS_SKIP) {
    if (off) page_say(hand->page, PAGE_BEFORE, "The target's own triggers fire for every row: is that wanted?");
    return;
  }
  if (off) page_say(hand->page, PAGE_TEXT, "Its triggers must not fire:");
  if (!hand->postgres) {
    HAND_SQL(hand, {off ? sql_runbook_triggers_off : sql_runbook_triggers_on, NULL});
    return;
  }
  for (size_t i = 0; i < table->n_triggers; i++) {
    hand_set(hand, "name", hand_quoted(hand->page->arena, "", table->triggers[i].name, '"'));
    HAND_SQL(hand, {NULL, off ? sql_runbook_postgres_trigger_off : sql_runbook_postgres_trigger_on});
  }
}

/* ---- the range --------------------------------------------------------------------------------------------------- */

/* A bound in the date column's own form, as the client's language has literals. */
static const char *literal(const Hand *hand, Instant at, bool place, const char *name) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  DateBound bound = datecodec_bound(&shape->codec, at);
  const char *type = shape->columns[shape->date].type;
  const char *form = shape->codec.kind == MONTH_TEXT   ? "YYYY-MM"
                     : shape->codec.kind == BASIC_TEXT ? "YYYYMMDD"
                                                       : "YYYY-MM-DD";
  const char *text = place ? arena_printf(arena, "%s of %s", form, name) : arena_strdup(arena, bound.text);
  bool zoned = strstr(type, "with time zone") != NULL || strncmp(type, "timestamptz", 11) == 0;
  if (bound.type != BOUND_TEXT && place) return arena_printf(arena, "NUMBER_OF_%s", name);
  if (bound.type == BOUND_INT) return arena_printf(arena, "%" PRId64, bound.integer);
  if (bound.type == BOUND_REAL) return arena_printf(arena, "%.17g", bound.real);
  if (!hand->postgres) return hand_quoted(arena, "", text, '\'');
  if (zoned && !place) text = arena_printf(arena, "%s%s", text, strlen(text) > 10 ? "+00" : " 00:00+00");
  bool texts = strncmp(type, "character", 9) == 0 || strcmp(type, "text") == 0;
  return arena_printf(arena, "%s::%s", hand_quoted(arena, "", text, '\''), texts ? "text" : type);
}

/* :from_date and :from_unix, for a recompute that has them. */
static const char *further(const Hand *hand, Instant at, bool place, const char *name, bool day) {
  Arena *arena = hand->page->arena;
  Civil civil = zone_civil(hand->facts->shape->codec.zone, at);
  const char *text = day ? arena_printf(arena, "'%04d-%02d-%02d'%s", civil.year, civil.month, civil.day,
                                        hand->postgres ? "::date" : "")
                         : arena_printf(arena, "%" PRId64, at);
  if (place) text = day ? "'YYYY-MM-DD'" : "SECONDS_SINCE_1970";
  if (!hand->postgres) return arena_printf(arena, ".parameter set :%s \"%s\"", name, text);
  return arena_printf(arena, "\\set %s %s", name, hand_quoted(arena, "", text, '\''));
}

const char *hand_range(const Hand *hand, DateRange range) {
  Arena *arena = hand->page->arena;
  const Plan *plan = hand->facts->plan;
  bool place = range.from == range.to;
  const char *from = literal(hand, range.from, place, "FROM"), *to = literal(hand, range.to, place, "TO");
  const char *lines = hand->postgres
                          ? arena_printf(arena, "\\set from %s\n\\set to %s", hand_quoted(arena, "", from, '\''),
                                         hand_quoted(arena, "", to, '\''))
                          : arena_printf(arena, ".parameter set :from \"%s\"\n.parameter set :to \"%s\"", from, to);
  const char *recompute = plan == NULL || plan->recompute == NULL ? "" : plan->recompute;
  static const struct {
    const char *name;
    bool end, day;
  } more[] = {
      {"from_date", false, true}, {"to_date", true, true}, {"from_unix", false, false}, {"to_unix", true, false}};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (strstr(recompute, arena_printf(arena, ":%s", more[i].name)) != NULL)
      lines = arena_printf(arena, "%s\n%s", lines,
                           further(hand, more[i].end ? range.to : range.from, place, more[i].name, more[i].day));
  return lines;
}
