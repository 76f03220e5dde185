#include "view/runbook.h"

#include <string.h>

#include "view/paint.h"
#include "view/runbook_sql.h"
#include "view/words.h"

/* A word of the templates in runbook.sql and what stands for it. */
typedef struct Filling {
  const char *word, *text;
} Filling;

enum { FILLINGS = 20 };

/* Everything typed by hand, as the client of one engine understands it. */
typedef struct Hand {
  const char *client, *look, *lock, *drift, *publish, *note_rest, *mark_swapped, *later, *put_back, *mark_rolled_back,
      *clear;
} Hand;

static const Hand sqlite = {"sqlite3",
                            sql_runbook_look,
                            sql_runbook_lock,
                            sql_runbook_drift,
                            sql_runbook_publish,
                            NULL,
                            sql_runbook_mark_swapped,
                            sql_runbook_later,
                            sql_runbook_put_back,
                            sql_runbook_mark_rolled_back,
                            sql_runbook_clear};
static const Hand postgres = {"psql",
                              sql_runbook_postgres_look,
                              sql_runbook_postgres_lock,
                              sql_runbook_postgres_drift,
                              sql_runbook_postgres_publish,
                              sql_runbook_postgres_note_rest,
                              sql_runbook_postgres_mark_swapped,
                              sql_runbook_postgres_later,
                              sql_runbook_postgres_put_back,
                              sql_runbook_postgres_mark_rolled_back,
                              sql_runbook_postgres_clear};

static bool is_postgres(const RunbookFacts *facts) { return strcmp(facts->engine, "postgres") == 0; }

/* "name" with its quotes doubled. */
static const char *quoted(Arena *arena, const char *prefix, const char *name, char quote) {
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

typedef enum Pick { PICK_KEY, PICK_GIVEN, PICK_VALUES, PICK_STORED, PICK_REST } Pick;

static bool picked(const Shape *shape, const ShapeColumn *column, Pick pick) {
  if (pick == PICK_KEY) return shape->keyed ? column->key : column->given;
  if (pick == PICK_GIVEN) return column->given;
  if (pick == PICK_VALUES) return column->given && !column->key;
  return !column->generated && (pick == PICK_STORED || !column->given);
}

/* Every picked column by a pattern in which @ is its quoted name and ? its name in the change set under the prefix. */
static const char *columns(Arena *arena, const Shape *shape, Pick pick, const char *pattern, const char *prefix,
                           const char *separator) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    if (!picked(shape, &shape->columns[i], pick)) continue;
    if (out.len > 0) buf_puts(&out, separator);
    for (const char *c = pattern; *c != '\0'; c++) {
      if (*c == '@')
        buf_puts(&out, quoted(arena, "", shape->columns[i].name, '"'));
      else if (*c == '?')
        buf_puts(&out, quoted(arena, prefix, shape->columns[i].name, '"'));
      else
        buf_putc(&out, *c);
    }
  }
  return arena_strdup(arena, buf_text(&out));
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

/* Production's row p has the values of the change set's row n in every picked column. */
static const char *match(Arena *arena, const RunbookFacts *facts, Pick pick, const char *prefix) {
  const Shape *shape = facts->shape;
  if (!is_postgres(facts)) return columns(arena, shape, pick, "p.@ IS n.?", prefix, " AND ");
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++) {
    const ShapeColumn *column = &shape->columns[i];
    const Shape alone = {.columns = column, .n = 1, .keyed = shape->keyed};
    bool never_null = shape->keyed && column->key && !shape->null_keys; /* = can use an index and a hash */
    const char *pattern = never_null                      ? "p.@ = n.?"
                          : has_no_equality(column->type) ? "p.@::text IS NOT DISTINCT FROM n.?::text"
                                                          : "p.@ IS NOT DISTINCT FROM n.?";
    if (picked(shape, column, pick))
      buf_printf(&out, "%s%s", out.len == 0 ? "" : " AND ", columns(arena, &alone, pick, pattern, prefix, ""));
  }
  return arena_strdup(arena, buf_text(&out));
}

static void prepare(Arena *arena, const RunbookFacts *facts, Filling fillings[FILLINGS]) {
  const Shape *shape = facts->shape;
  const char *id = facts->id == NULL ? "ID" : facts->id, *schema = facts->spec->postgres.schema.text;
  const char *same_old = match(arena, facts, PICK_STORED, "old_"), *key_old = match(arena, facts, PICK_KEY, "old_");
  const char *key_new = match(arena, facts, PICK_KEY, "new_");
  const Filling all[FILLINGS] = {
      {"table", is_postgres(facts) ? facts->target : quoted(arena, "", facts->target, '"')},
      {"changes", facts->changes},
      {"ledger", quoted(arena, "", schema == NULL ? "tidegate" : schema, '"')},
      {"schema", quoted(arena, "", schema == NULL ? "tidegate" : schema, '\'')},
      {"id", quoted(arena, "", id, '\'')},
      {"same_old", same_old},
      {"same_new", match(arena, facts, PICK_GIVEN, "new_")},
      {"key_old", key_old},
      {"here_old", shape->keyed ? key_old : same_old},
      {"key_new", key_new},
      {"taken", shape->keyed ? key_new : "false"}, /* without a key a row may be there twice */
      {"set_old", columns(arena, shape, PICK_GIVEN, "@ = n.?", "old_", ", ")},
      {"set_new", columns(arena, shape, PICK_GIVEN, "@ = n.?", "new_", ", ")},
      {"values_old", columns(arena, shape, PICK_VALUES, "@ = n.?", "old_", ", ")},
      {"values_new", columns(arena, shape, PICK_VALUES, "@ = n.?", "new_", ", ")},
      {"set_rest", columns(arena, shape, PICK_REST, "? = p.@", "old_", ", ")},
      {"all", columns(arena, shape, PICK_STORED, "@", "", ", ")},
      {"all_old", columns(arena, shape, PICK_STORED, "?", "old_", ", ")},
      {"given", columns(arena, shape, PICK_GIVEN, "@", "", ", ")},
      {"given_new", columns(arena, shape, PICK_GIVEN, "?", "new_", ", ")}};
  memcpy(fillings, all, sizeof all);
}

static bool any(Arena *arena, const Shape *shape, Pick pick) {
  return *columns(arena, shape, pick, "@", "", "") != '\0';
}

static Hand hand_of(Arena *arena, const RunbookFacts *facts) {
  const Shape *shape = facts->shape;
  Hand hand = is_postgres(facts) ? postgres : sqlite;
  if (is_postgres(facts) && (!shape->keyed || !any(arena, shape, PICK_VALUES))) { /* nothing is ever updated */
    hand.publish = sql_runbook_postgres_publish_keyless;
    hand.put_back = sql_runbook_postgres_put_back_keyless;
  }
  if (!shape->keyed || !any(arena, shape, PICK_REST)) hand.note_rest = NULL;
  return hand;
}

static const char *filling(const Filling fillings[FILLINGS], const char *word, size_t n) {
  for (size_t i = 0; i < FILLINGS; i++)
    if (strlen(fillings[i].word) == n && strncmp(fillings[i].word, word, n) == 0) return fillings[i].text;
  return NULL;
}

static void put_filled(Buf *out, const Filling fillings[FILLINGS], const char *template) {
  while (*template != '\0') {
    size_t n = *template == '{' ? strcspn(template + 1, "}") : 0;
    const char *text = n == 0 ? NULL : filling(fillings, template + 1, n);
    if (text != NULL) {
      buf_puts(out, text);
      template += n + 2;
    } else {
      buf_putc(out, *template ++);
    }
  }
}

enum { MOST_TEMPLATES = 3 };

/* Templates that are NULL are left out. */
static void put_sql(Buf *out, const Filling fillings[FILLINGS], const char *what,
                    const char *const templates[MOST_TEMPLATES]) {
  buf_printf(out, "%s\n\n```sql\n", what);
  for (size_t i = 0; i < MOST_TEMPLATES; i++) {
    if (templates[i] == NULL) continue;
    if (i > 0) buf_putc(out, '\n');
    put_filled(out, fillings, templates[i]);
  }
  buf_puts(out, "\n```\n\n");
}

/* A line of the table of facts; control characters are shown as escapes, line breaks as spaces. */
static void put_fact(Buf *out, Arena *arena, const char *what, const char *text) {
  char *line = arena_strdup(arena, text == NULL ? "not declared" : text);
  for (char *c = line; *c != '\0'; c++)
    if (*c == '\n' || *c == '|') *c = *c == '|' ? '/' : ' ';
  for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; n--) line[n - 1] = '\0';
  buf_printf(out, "| %s | ", what);
  paint_escape(out, line);
  buf_puts(out, " |\n");
}

static const char *texts(Arena *arena, const SpecTexts *list) {
  const char *all = NULL;
  for (size_t i = 0; i < list->n; i++)
    all = all == NULL ? list->items[i].text : arena_printf(arena, "%s; %s", all, list->items[i].text);
  return all;
}

static void put_facts(Buf *out, Arena *arena, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  const SpecProduction *production = &spec->production;
  const SpecBudget *budget = &spec->budget;
  const char *schedule = production->none ? "none, declared" : production->when.expression.text;
  if (production->when.expression.text != NULL)
    schedule =
        arena_printf(arena, "%s (%s, %s); takes %s, guard %s, start jitter %s", schedule, production->when.dialect,
                     production->when.zone.text == NULL ? "UTC" : production->when.zone.text,
                     production->when.p95 < 0 ? "?" : words_duration(arena, production->when.p95),
                     words_duration(arena, production->when.guard),
                     production->when.jitter > 0 ? words_duration(arena, production->when.jitter) : "none");
  buf_puts(out, "| | |\n|---|---|\n");
  put_fact(out, arena, "target", facts->target);
  put_fact(out, arena, "database", facts->database);
  put_fact(out, arena, "owner", spec->owner.text);
  put_fact(out, arena, "contacts", texts(arena, &spec->contacts));
  put_fact(out, arena, "production runs", schedule);
  put_fact(out, arena, "idle hours", spec->idle.text == NULL ? "all day" : spec->idle.text);
  put_fact(out, arena, "budget",
           arena_printf(arena, "batch %s, statement %s, lock %s × %d tries, swap lock %s, duty %.0f %%",
                        words_duration(arena, budget->batch), words_duration(arena, budget->statement),
                        words_duration(arena, budget->lock), budget->lock_tries,
                        words_duration(arena, budget->swap_lock), budget->duty * 100));
  put_fact(out, arena, "old rows are kept",
           arena_printf(arena, "%s after the swap at least", words_duration(arena, spec->retention)));
  for (size_t i = 0; facts->radius != NULL && i < facts->radius->n; i++) {
    const LineageNode *node = &facts->radius->nodes[i];
    put_fact(out, arena, i == 0 ? "feeds" : "", arena_printf(arena, "%s (%s)", node->name, needs_name(node->needs)));
  }
  put_fact(out, arena, "notes", spec->runbook_note.text == NULL ? "-" : spec->runbook_note.text);
}

static void put_correctness(Buf *out, Arena *arena, const Spec *spec) {
  buf_puts(out, "\n## How correctness is judged\n\n");
  if (spec->target.text == NULL || spec->wrong.text == NULL) {
    buf_puts(out,
             "Each backfill's own file says it: `wrong`, `correct`, and as evidence `control` dates, the change "
             "scope under `changes`, `checks` on rows and totals.\n");
    return;
  }
  buf_puts(out, "As the newest backfill has it:\n\n| | |\n|---|---|\n");
  put_fact(out, arena, "wrong", spec->wrong.text);
  put_fact(out, arena, "correct", spec->correct.text);
  put_fact(out, arena, "control dates", spec->control.text);
  for (size_t i = 0; i < spec->n_changes; i++) {
    const ScopeRule *rule = &spec->changes[i];
    static const char *const kinds[] = {"", "any column", "new rows", "vanished rows"};
    put_fact(out, arena, i == 0 ? "may change" : "",
             arena_printf(arena, "%s where %s", rule->kind == SCOPE_COLUMN ? rule->column.text : kinds[rule->kind],
                          rule->where.text == NULL ? "anywhere" : rule->where.text));
  }
  put_fact(out, arena, "checks on rows", texts(arena, &spec->row_checks));
  put_fact(out, arena, "checks on totals", texts(arena, &spec->total_checks));
}

static void put_exchange(Buf *out, const Filling fillings[FILLINGS]) {
  put_sql(
      out, fillings,
      "### Exchanged partitions\n\nLook before step 2: a backfill that exchanges whole partitions has rows here. Then "
      "the steps above are not for it: the change set is a view, and what stands under `tidegate_ID_p1`, … are whole "
      "partitions.",
      (const char *[MOST_TEMPLATES]){sql_runbook_postgres_exchanged});
  put_sql(
      out, fillings,
      "Where they are in production, this prints the statements that put the old partitions back; run them in one "
      "transaction. Rows that were written since stay behind in the partitions that are taken out: do not drop those.",
      (const char *[MOST_TEMPLATES]){sql_runbook_postgres_exchange_back});
}

static void put_by_hand(Buf *out, Arena *arena, const RunbookFacts *facts) {
  Filling fillings[FILLINGS];
  prepare(arena, facts, fillings);
  Hand hand = hand_of(arena, facts);
  const char *list = "";
  if (facts->id == NULL)
    list = arena_printf(
        arena, " and put the backfill's id (`SELECT id, target, state FROM %s;`) in the place of ID",
        is_postgres(facts) ? arena_printf(arena, "%s.backfill", filling(fillings, "ledger", 6)) : "tidegate_backfill");
  buf_printf(out,
             "## By hand, with Tidegate missing\n\nThe change set is a table in the same database: `op` is I (insert), "
             "U (update), D (delete) or M (an update that moves a row to another date); `old_…` is the row as it was, "
             "`new_…` as it will be. Open the database with `%s`%s. Stop when a step does not give what it "
             "says: `ROLLBACK;` leaves production untouched.\n\n",
             hand.client, list);
  put_sql(out, fillings, "### 1. Look at the change set", (const char *[MOST_TEMPLATES]){hand.look});
  put_sql(out, fillings,
          "### 2. Publish\n\nTake the lock. The state must be `ready` (or `rolled_back`) and nobody may drive it "
          "(the second column is NULL).",
          (const char *[MOST_TEMPLATES]){hand.lock});
  put_sql(out, fillings, "Production must not have drifted: both counts are 0, or `ROLLBACK;`.",
          (const char *[MOST_TEMPLATES]){hand.drift});
  put_sql(out, fillings, "Apply, mark and commit; the numbers of rows are those of step 1.",
          (const char *[MOST_TEMPLATES]){hand.publish, hand.note_rest, hand.mark_swapped});
  put_sql(out, fillings,
          "### 3. Take back\n\nTake the lock. Rows that these two show were written after the swap: decide about "
          "them first, the next step overwrites them.",
          (const char *[MOST_TEMPLATES]){hand.lock, hand.later});
  put_sql(out, fillings, "Put the old rows back, mark and commit.",
          (const char *[MOST_TEMPLATES]){hand.put_back, hand.mark_rolled_back});
  put_sql(out, fillings,
          "### 4. Clear away\n\nOnly when nobody needs the old rows any more: this is the last copy of them.",
          (const char *[MOST_TEMPLATES]){hand.clear});
  if (is_postgres(facts)) put_exchange(out, fillings);
}

void view_runbook(Buf *out, Arena *arena, const RunbookFacts *facts) {
  buf_puts(out, "# Runbook: backfilling ");
  paint_escape(out, facts->target);
  buf_puts(out, "\n\nPrinted by `tidegate runbook`; print it again when tidegate.yaml or the table changes.\n\n");
  put_facts(out, arena, facts);
  put_correctness(out, arena, facts->spec);
  buf_puts(out,
           "\n## With Tidegate\n\n```sh\ntidegate plan SPEC        # answers every question; denies what is unsafe\n"
           "tidegate run PLAN         # writes aside; Ctrl-C pauses, the same command carries on\n"
           "tidegate diff PLAN        # look at what would change\n"
           "tidegate swap PLAN        # publish in one transaction\n"
           "tidegate rollback PLAN    # the way back, as long as the old rows are kept\n"
           "tidegate finish PLAN      # after the retention: drops what was kept\n```\n\n");
  put_by_hand(out, arena, facts);
}
