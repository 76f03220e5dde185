#include "view/runbook.h"

#include <string.h>

#include "view/paint.h"
#include "view/runbook_sql.h"
#include "view/words.h"

/* A word of the templates in runbook.sql and what stands for it. */
typedef struct Filling {
  const char *word, *text;
} Filling;

enum { FILLINGS = 13 };

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

typedef enum Pick { PICK_KEY, PICK_GIVEN, PICK_STORED } Pick;

static bool picked(const Shape *shape, const ShapeColumn *column, Pick pick) {
  if (pick == PICK_KEY) return shape->keyed ? column->key : column->given;
  return pick == PICK_GIVEN ? column->given : !column->generated;
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

static void prepare(Arena *arena, const RunbookFacts *facts, Filling fillings[FILLINGS]) {
  const Shape *shape = facts->shape;
  const char *id = facts->id == NULL ? "ID" : facts->id;
  const Filling all[FILLINGS] = {{"table", quoted(arena, "", facts->target, '"')},
                                 {"changes", quoted(arena, "", arena_printf(arena, "tidegate_%s_changes", id), '"')},
                                 {"id", quoted(arena, "", id, '\'')},
                                 {"same_old", columns(arena, shape, PICK_STORED, "p.@ IS n.?", "old_", " AND ")},
                                 {"same_new", columns(arena, shape, PICK_GIVEN, "p.@ IS n.?", "new_", " AND ")},
                                 {"key_old", columns(arena, shape, PICK_KEY, "p.@ IS n.?", "old_", " AND ")},
                                 {"key_new", columns(arena, shape, PICK_KEY, "p.@ IS n.?", "new_", " AND ")},
                                 {"set_old", columns(arena, shape, PICK_GIVEN, "@ = n.?", "old_", ", ")},
                                 {"set_new", columns(arena, shape, PICK_GIVEN, "@ = n.?", "new_", ", ")},
                                 {"all", columns(arena, shape, PICK_STORED, "@", "", ", ")},
                                 {"all_old", columns(arena, shape, PICK_STORED, "?", "old_", ", ")},
                                 {"given", columns(arena, shape, PICK_GIVEN, "@", "", ", ")},
                                 {"given_new", columns(arena, shape, PICK_GIVEN, "?", "new_", ", ")}};
  memcpy(fillings, all, sizeof all);
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

static void put_sql(Buf *out, const Filling fillings[FILLINGS], const char *what, const char *template,
                    const char *template2) {
  buf_printf(out, "%s\n\n```sql\n", what);
  put_filled(out, fillings, template);
  if (template2 != NULL) {
    buf_putc(out, '\n');
    put_filled(out, fillings, template2);
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
  const char *schedule = production->none ? "none, declared" : production->schedule.text;
  if (production->schedule.text != NULL)
    schedule = arena_printf(arena, "%s (%s, %s); takes %s, guard %s, start jitter %s", schedule, production->dialect,
                            production->zone.text == NULL ? "UTC" : production->zone.text,
                            production->p95 < 0 ? "?" : words_duration(arena, production->p95),
                            words_duration(arena, production->guard),
                            production->jitter > 0 ? words_duration(arena, production->jitter) : "none");
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

static void put_by_hand(Buf *out, Arena *arena, const RunbookFacts *facts) {
  Filling fillings[FILLINGS];
  prepare(arena, facts, fillings);
  buf_printf(out,
             "## By hand, with Tidegate missing\n\nThe change set is a table in the same database: `op` is I (insert), "
             "U (update), D (delete) or M (an update that moves a row to another date); `old_…` is the row as it was, "
             "`new_…` as it will be. Open the database with `sqlite3`%s. Stop when a step does not give what it "
             "says: `ROLLBACK;` leaves production untouched.\n\n",
             facts->id == NULL ? " and put the backfill's id (`SELECT id, target, state FROM tidegate_backfill;`) in "
                                 "the place of ID"
                               : "");
  put_sql(out, fillings, "### 1. Look at the change set", sql_runbook_look, NULL);
  put_sql(out, fillings,
          "### 2. Publish\n\nTake the lock. The state must be `ready` (or `rolled_back`) and nobody may drive it "
          "(the second column is NULL).",
          sql_runbook_lock, NULL);
  put_sql(out, fillings, "Production must not have drifted: both counts are 0, or `ROLLBACK;`.", sql_runbook_drift,
          NULL);
  put_sql(out, fillings, "Apply, mark and commit; the numbers of rows are those of step 1.", sql_runbook_publish,
          sql_runbook_mark_swapped);
  put_sql(out, fillings,
          "### 3. Take back\n\nTake the lock. Rows that these two show were written after the swap: decide about "
          "them first, the next step overwrites them.",
          sql_runbook_lock, sql_runbook_later);
  put_sql(out, fillings, "Put the old rows back, mark and commit.", sql_runbook_put_back, sql_runbook_mark_rolled_back);
  put_sql(out, fillings,
          "### 4. Clear away\n\nOnly when nobody needs the old rows any more: this is the last copy of them.",
          sql_runbook_clear, NULL);
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
