#include <inttypes.h>
#include <string.h>

#include "view/runbook_int.h"
#include "view/runbook_sql.h"
#include "view/words.h"

/* Without anything of Tidegate's: a backfill with tables of one's own, and a snapshot for a tool that writes in place.
 */

static HandNames own_names(Arena *arena, const RunbookFacts *facts) {
  bool postgres = strcmp(facts->engine, "postgres") == 0;
  const char *schema = facts->spec->postgres.schema.text;
  const char *before =
      postgres ? arena_printf(arena, "%s.", hand_quoted(arena, "", schema == NULL ? "tidegate" : schema, '"')) : "";
  return (HandNames){.changes = arena_printf(arena, "%stidegate_hand_changes", before),
                     .shadow = arena_printf(arena, "%stidegate_hand_shadow", before),
                     .snapshot = arena_printf(arena, "%stidegate_hand_snapshot", before),
                     .log = arena_printf(arena, "%stidegate_hand_log", before),
                     .id = ""};
}

static void put_range(Hand *hand, DateRange range) { page_code(hand->page, "sql", hand_range(hand, range)); }

static DateRange planned_range(const RunbookFacts *facts) {
  return facts->plan == NULL ? (DateRange){0, 0} : facts->plan->range;
}

/* ---- a backfill -------------------------------------------------------------------------------------------------- */

static void session(Hand *hand, bool postgres) {
  Page *page = hand->page;
  page_heading(page, 3, "Before anything");
  page_say(
      page, PAGE_BEFORE,
      "Is work allowed now, and does the production job not run (chapters above)? Who else knows that you do this?");
  page_say(page, PAGE_TEXT,
           "All of it in one session of `%s`. The range is half open: the end is the first date that is not touched. "
           "Where dates are not filled in, fill them in. Type these two blocks again in every new session.",
           postgres ? "psql" : "sqlite3");
  HAND_SQL(hand, {sql_runbook_hand_session, sql_runbook_postgres_hand_session});
  put_range(hand, planned_range(hand->facts));
  page_say(page, PAGE_NEVER, "work on a range that nobody wrote down, and do not widen it on the way.");
}

static void wrong(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Look at what is wrong");
  page_say(page, PAGE_TEXT, "Keep what this prints, the fingerprints above all: they are compared at the end.");
  HAND_SQL(hand, {sql_runbook_hand_look, sql_runbook_hand_look});
  if (hand->facts->shape->keyed) HAND_SQL(hand, {sql_runbook_hand_duplicates, sql_runbook_hand_duplicates});
  HAND_SQL(hand, {sql_runbook_hand_fingerprint, sql_runbook_postgres_hand_fingerprint});
}

static void shadow(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Make a shadow");
  page_say(
      page, PAGE_TEXT,
      "Tables beside production; production is only read until you publish. When a name is taken already, somebody "
      "else is at it: find out who.");
  HAND_SQL(hand, {sql_runbook_hand_make, sql_runbook_postgres_hand_make});
  if (!hand->facts->shape->keyed) return;
  hand_set(hand, "role", "shadow");
  hand_set(hand, "index_of", hand_fill(hand, "{shadow}"));
  HAND_SQL(hand, {sql_runbook_hand_index, sql_runbook_hand_index});
}

static void recompute(Hand *hand) {
  Page *page = hand->page;
  const Plan *plan = hand->facts->plan;
  page_heading(page, 3, "Recompute a batch");
  if (plan == NULL)
    page_say(page, PAGE_TEXT,
             "No backfill was planned, so the SELECT that gives the right rows is not known: put it in the place of "
             "RECOMPUTE. It gives the columns named, for dates from :from up to, not including, :to.");
  else if (plan->recompute == NULL)
    page_say(page, PAGE_TEXT,
             "The newest backfill recomputes by a command of its own, not by SQL: run that into the shadow, or put a "
             "SELECT that gives the same in the place of RECOMPUTE.");
  else
    page_say(page, PAGE_TEXT, "The recompute is that of the newest backfill, `%s`.", plan->id == NULL ? "" : plan->id);
  if (plan != NULL && plan->overlay)
    page_say(page, PAGE_NEVER,
             "cut the range into batches here: the recompute reads the target itself, and later dates would not see "
             "earlier ones corrected.");
  page_say(page, PAGE_TEXT,
           "A long range goes batch by batch: set :from and :to to a few dates, run this, set them to the next. "
           "Afterwards set them to the whole range again.");
  hand_set(hand, "recompute", plan == NULL || plan->recompute == NULL ? "RECOMPUTE" : plan->recompute);
  HAND_SQL(hand, {sql_runbook_hand_batch, sql_runbook_hand_batch});
}

/* Those of the newest backfill, else those of tidegate.yaml. */
static void checks(Hand *hand, bool totals, const char *text, const char *words) {
  const Plan *plan = hand->facts->plan;
  const SpecTexts *own = totals ? &hand->facts->spec->total_checks : &hand->facts->spec->row_checks;
  size_t n = plan == NULL ? own->n : totals ? plan->n_total_checks : plan->n_row_checks;
  if (n == 0) return;
  page_say(hand->page, PAGE_TEXT, "%s", words);
  for (size_t i = 0; i < n; i++) {
    hand_set(hand, "check", plan == NULL ? own->items[i].text : totals ? plan->total_checks[i] : plan->row_checks[i]);
    HAND_SQL(hand, {text, text});
  }
}

static void control(Hand *hand) {
  Page *page = hand->page;
  const Plan *plan = hand->facts->plan;
  const char *text = hand->facts->shape->keyed ? sql_runbook_hand_differences : sql_runbook_hand_differences_keyless;
  page_heading(page, 3, "Compare with control dates");
  page_say(
      page, PAGE_TEXT,
      "Dates that are right today must be reproduced: set :from and :to to them, recompute as above, and compare. "
      "Every number is 0, or the recompute is not understood: stop. Then empty the shadow, set the range again and "
      "recompute it.");
  if (plan != NULL && plan->control.declared) put_range(hand, plan->control.range);
  HAND_SQL(hand, {text, text}, {sql_runbook_hand_control_end, sql_runbook_hand_control_end});
}

/* ---- the change scope -------------------------------------------------------------------------------------------- */

static bool is_listed(const Plan *plan, size_t column) {
  for (size_t i = 0; i < plan->n_scope; i++)
    if (plan->scope[i].kind == JOB_SCOPE_ANY ||
        (plan->scope[i].kind == JOB_SCOPE_COLUMN && plan->scope[i].column == column))
      return true;
  return false;
}

/* n.old and n.new of the column differ. */
static const char *changed(Hand *hand, const ShapeColumn *column) {
  Arena *arena = hand->page->arena;
  const char *old = hand_quoted(arena, "old_", column->name, '"'), *new = hand_quoted(arena, "new_", column->name, '"');
  if (hand->postgres) return arena_printf(arena, "n.%s::text IS DISTINCT FROM n.%s::text", old, new);
  return arena_printf(arena, "n.%s IS NOT n.%s COLLATE BINARY", old, new);
}

static const char *changed_any(Hand *hand, const Plan *plan, bool listed) {
  const Shape *shape = hand->facts->shape;
  const char *all = NULL;
  for (size_t i = 0; i < shape->n; i++) {
    if (!hand_picked(shape, &shape->columns[i], PICK_VALUES) || is_listed(plan, i) != listed) continue;
    const char *one = changed(hand, &shape->columns[i]);
    all = all == NULL ? one : arena_printf(hand->page->arena, "%s OR %s", all, one);
  }
  return all;
}

static void scope_rule(Hand *hand, const Plan *plan, const JobScope *rule) {
  const Shape *shape = hand->facts->shape;
  Arena *arena = hand->page->arena;
  if (rule->where == NULL) return;
  hand_set(hand, "where", rule->where);
  if (rule->kind == JOB_SCOPE_NEW) HAND_SQL(hand, {sql_runbook_hand_scope_new, sql_runbook_hand_scope_new});
  if (rule->kind == JOB_SCOPE_VANISHED) HAND_SQL(hand, {sql_runbook_hand_scope_gone, sql_runbook_hand_scope_gone});
  if (rule->kind != JOB_SCOPE_COLUMN && rule->kind != JOB_SCOPE_ANY) return;
  bool one = rule->kind == JOB_SCOPE_COLUMN;
  const char *what = one ? changed(hand, &shape->columns[rule->column]) : changed_any(hand, plan, true);
  if (what == NULL) return;
  hand_set(hand, "name", hand_quoted(arena, "", one ? shape->columns[rule->column].name : "any column", '\''));
  hand_set(hand, "changed", arena_printf(arena, "(%s)", what));
  HAND_SQL(hand, {sql_runbook_hand_scope_column, sql_runbook_hand_scope_column});
}

static void scope(Hand *hand) {
  const Plan *plan = hand->facts->plan;
  if (plan == NULL || plan->n_scope == 0 || !hand->facts->shape->keyed) return;
  bool new_rows = false, gone = false;
  page_say(hand->page, PAGE_TEXT, "Nothing but the declared change scope may differ. Every number is 0.");
  for (size_t i = 0; i < plan->n_scope; i++) {
    scope_rule(hand, plan, &plan->scope[i]);
    new_rows = new_rows || plan->scope[i].kind == JOB_SCOPE_NEW;
    gone = gone || plan->scope[i].kind == JOB_SCOPE_VANISHED;
  }
  const char *rest = changed_any(hand, plan, false);
  hand_set(hand, "where", "false");
  if (rest != NULL) {
    hand_set(hand, "changed", rest);
    HAND_SQL(hand, {sql_runbook_hand_scope_rest, sql_runbook_hand_scope_rest});
  }
  if (!new_rows) HAND_SQL(hand, {sql_runbook_hand_scope_new, sql_runbook_hand_scope_new});
  if (!gone) HAND_SQL(hand, {sql_runbook_hand_scope_gone, sql_runbook_hand_scope_gone});
}

static void compare(Hand *hand) {
  Page *page = hand->page;
  bool keyed = hand->facts->shape->keyed, values = hand_any(hand->facts->shape, PICK_VALUES);
  page_heading(page, 3, "Compare with production");
  page_say(page, PAGE_TEXT, "No row may lie outside of the range%s. Every number is 0.",
           keyed ? ", and a key must be whole and stand once" : "");
  HAND_SQL(hand, {sql_runbook_hand_outside, sql_runbook_hand_outside},
           {keyed ? sql_runbook_hand_shadow_faults : NULL, keyed ? sql_runbook_hand_shadow_faults : NULL});
  checks(hand, false, sql_runbook_hand_row_check, "The checks on rows. Every number is 0.");
  page_say(page, PAGE_TEXT,
           "Write down every difference as a change set, old and new side by side, and count it. Is it as much as was "
           "expected? Look at some.");
  if (keyed)
    HAND_SQL(hand, {sql_runbook_hand_new_rows, sql_runbook_hand_new_rows},
             {values ? sql_runbook_hand_update_rows : NULL, values ? sql_runbook_postgres_hand_update_rows : NULL},
             {sql_runbook_hand_deleted_rows, sql_runbook_postgres_hand_deleted_rows});
  else
    HAND_SQL(hand, {sql_runbook_hand_keyless_old, sql_runbook_postgres_hand_keyless_old},
             {sql_runbook_hand_keyless_new, sql_runbook_hand_keyless_new});
  HAND_SQL(hand, {sql_runbook_look, sql_runbook_postgres_look});
  scope(hand);
}

/* ---- publishing -------------------------------------------------------------------------------------------------- */

static void publish(Hand *hand, bool keyless) {
  Page *page = hand->page;
  bool rest = hand->facts->shape->keyed && hand_any(hand->facts->shape, PICK_REST);
  page_heading(page, 3, "Publish in one transaction");
  page_say(
      page, PAGE_BEFORE,
      "Ask once more whether the production job runs. Have the sources changed since? Recomputed once more, aside, "
      "nothing may differ: both numbers are 0.");
  HAND_SQL(hand, {sql_runbook_hand_again, sql_runbook_hand_again});
  page_say(page, PAGE_TEXT, "Where they are not 0, empty both tables and go back to “Recompute a batch”:");
  HAND_SQL(hand, {sql_runbook_hand_empty, sql_runbook_hand_empty});
  page_say(page, PAGE_TEXT, "Where they are, take the lock:");
  HAND_SQL(hand, {sql_runbook_begin, sql_runbook_postgres_begin});
  page_say(page, PAGE_TEXT, "Production must not have drifted: both numbers are 0. If not: `ROLLBACK;`");
  HAND_SQL(hand, {sql_runbook_drift, sql_runbook_postgres_drift});
  hand_triggers(hand, true);
  hand_set(hand, "what", "published");
  page_say(page, PAGE_TEXT, "The numbers of rows must be those of D, then U, then I. If not: `ROLLBACK;`");
  HAND_SQL(hand, {sql_runbook_publish, keyless ? sql_runbook_postgres_publish_keyless : sql_runbook_postgres_publish},
           {rest ? sql_runbook_note_rest : NULL, rest ? sql_runbook_postgres_note_rest : NULL},
           {sql_runbook_hand_log, sql_runbook_postgres_hand_log});
  checks(hand, true, sql_runbook_hand_total_check,
         "The checks on totals, on production as it is now. Each holds (1 or t). If not: `ROLLBACK;`");
  hand_triggers(hand, false);
  HAND_SQL(hand, {sql_runbook_commit, sql_runbook_postgres_commit});
  page_say(page, PAGE_NEVER, "retry without end: when the lock is not had, wait for the writer, then begin again.");
}

static void verify(Hand *hand) {
  Page *page = hand->page;
  const char *text = hand->facts->shape->keyed ? sql_runbook_hand_differences : sql_runbook_hand_differences_keyless;
  page_heading(page, 3, "Verify");
  page_say(
      page, PAGE_TEXT,
      "Production's range equals the shadow: every number is 0. The fingerprint of the range is a new one; that of "
      "the rows outside is the one of before, unless production itself wrote there meanwhile.");
  HAND_SQL(hand, {text, text}, {sql_runbook_hand_fingerprint, sql_runbook_postgres_hand_fingerprint});
  page_say(page, PAGE_TEXT, "Then see to everything downstream that must be refreshed.");
}

static void put_back(Hand *hand, bool keyless) {
  Page *page = hand->page;
  page_heading(page, 3, "Take it back by hand");
  page_say(page, PAGE_BEFORE, "Rows that these show were written since; what follows overwrites them: decide first.");
  HAND_SQL(hand, {sql_runbook_begin, sql_runbook_postgres_begin}, {sql_runbook_later, sql_runbook_postgres_later});
  hand_triggers(hand, true);
  hand_set(hand, "what", "taken back");
  HAND_SQL(hand,
           {sql_runbook_put_back, keyless ? sql_runbook_postgres_put_back_keyless : sql_runbook_postgres_put_back},
           {sql_runbook_hand_log, sql_runbook_postgres_hand_log});
  hand_triggers(hand, false);
  HAND_SQL(hand, {sql_runbook_commit, sql_runbook_postgres_commit});
  page_heading(page, 3, "Clean up");
  page_say(page, PAGE_BEFORE,
           "The change set is the last copy of the old rows: keep it for %s after publishing, and until the range was "
           "looked at again.",
           words_duration(page->arena, hand->facts->spec->retention));
  HAND_SQL(hand, {sql_runbook_hand_drop, sql_runbook_hand_drop});
}

static void missing(Page *page, const RunbookFacts *facts) {
  const char *why =
      facts->shape == NULL
          ? facts->no_shape
          : "which column says to which date a row belongs is not known; write date_column in tidegate.yaml";
  page_say(page, PAGE_TEXT, "The statements of this chapter cannot be written: %s.", why);
}

void runbook_hand(Page *page, const RunbookFacts *facts) {
  HandNames names = own_names(page->arena, facts);
  Hand hand = hand_of(page, facts, &names);
  page_heading(page, 2, "By hand: a backfill from nothing");
  if (facts->shape == NULL || !facts->dated) {
    missing(page, facts);
    return;
  }
  bool keyless = !facts->shape->keyed || !hand_any(facts->shape, PICK_VALUES);
  session(&hand, hand.postgres);
  wrong(&hand);
  shadow(&hand);
  recompute(&hand);
  control(&hand);
  compare(&hand);
  publish(&hand, keyless);
  verify(&hand);
  put_back(&hand, keyless);
}

/* ---- a tool that writes in place --------------------------------------------------------------------------------- */

/* An identity column, which no UPDATE may set; the catalogue's facts do not tell it from another default. */
static bool numbers_itself(const TableFacts *table, const ShapeColumn *column) {
  for (size_t i = 0; table != NULL && i < table->n_columns; i++)
    if (strcmp(table->columns[i].name, column->name) == 0)
      return table->columns[i].has_default && strstr(column->type, "int") != NULL;
  return false;
}

/* Every stored column of a row counts. */
static const Shape *whole_shape(Arena *arena, const Shape *shape, const TableFacts *table) {
  Shape *whole = arena_array(arena, 1, sizeof *whole);
  ShapeColumn *columns = arena_array(arena, shape->n, sizeof *columns);
  for (size_t i = 0; i < shape->n; i++) {
    columns[i] = shape->columns[i];
    columns[i].given = !columns[i].generated && (shape->columns[i].given || !numbers_itself(table, &columns[i]));
    columns[i].tolerance = 0;
  }
  *whole = *shape;
  whole->columns = columns;
  return whole;
}

static void restore(Hand *hand, HandSql mark) {
  const HandSql all = hand->facts->shape->keyed
                          ? (HandSql){sql_runbook_hand_restore, sql_runbook_hand_restore}
                          : (HandSql){sql_runbook_hand_restore_keyless, sql_runbook_hand_restore_keyless};
  HAND_SQL(hand, {sql_runbook_begin, sql_runbook_postgres_begin});
  hand_triggers(hand, true);
  hand_sql(hand, (const HandSql[]){all, mark}, 2);
  hand_triggers(hand, false);
  HAND_SQL(hand, {sql_runbook_commit, sql_runbook_postgres_commit});
}

static void take(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Take a snapshot");
  page_say(
      page, PAGE_TEXT,
      "In a session as under “Before anything”, with the range that the tool will write. Keep the fingerprints. The "
      "number of rows is that of the range.");
  HAND_SQL(hand, {NULL, sql_runbook_postgres_hand_schema},
           {sql_runbook_hand_fingerprint, sql_runbook_postgres_hand_fingerprint},
           {sql_runbook_hand_snapshot, sql_runbook_hand_snapshot});
  if (!hand->facts->shape->keyed) return;
  hand_set(hand, "role", "snapshot");
  hand_set(hand, "index_of", hand_fill(hand, "{snapshot}"));
  HAND_SQL(hand, {sql_runbook_hand_index, sql_runbook_hand_index});
}

static void run_tool(Hand *hand) {
  Page *page = hand->page;
  bool keyed = hand->facts->shape->keyed;
  page_heading(page, 3, "Run the tool, then compare");
  page_say(
      page, PAGE_TEXT,
      "Run it for exactly that range. “New” is what it took away, “gone” what it added; the fingerprint outside must "
      "be the one of before.");
  HAND_SQL(hand,
           {keyed ? sql_runbook_hand_differences : sql_runbook_hand_differences_keyless,
            keyed ? sql_runbook_hand_differences : sql_runbook_hand_differences_keyless},
           {sql_runbook_hand_fingerprint, sql_runbook_postgres_hand_fingerprint});
  page_say(page, PAGE_NEVER, "start a tool that you cannot stop, or whose exact command is not written down.");
}

void runbook_in_place(Page *page, const RunbookFacts *facts) {
  page_heading(page, 2, "By hand: a tool that writes production in place");
  if (facts->shape == NULL || !facts->dated) {
    missing(page, facts);
    return;
  }
  RunbookFacts whole = *facts;
  whole.shape = whole_shape(page->arena, facts->shape, facts->table);
  HandNames names = own_names(page->arena, facts);
  names.shadow = names.snapshot;
  Hand own = hand_of(page, &whole, &names);
  take(&own);
  run_tool(&own);
  page_heading(page, 3, "Restore the range");
  page_say(page, PAGE_BEFORE, "Rows of the range that somebody else wrote since the snapshot go too: whose are they?");
  restore(&own, (HandSql){NULL, NULL});
  page_heading(page, 3, "Drop the snapshot");
  page_say(page, PAGE_BEFORE, "It is the last copy of the old rows: keep it for %s.",
           words_duration(page->arena, facts->spec->retention));
  HAND_SQL(&own, {sql_runbook_hand_drop_snapshot, sql_runbook_hand_drop_snapshot});

  names.snapshot = names.shadow = facts->snapshot;
  names.id = facts->record == NULL ? "ID" : facts->record->id;
  Hand left = hand_of(page, &whole, &names);
  page_heading(page, 3, "Restore from a snapshot of Tidegate");
  page_say(page, PAGE_TEXT,
           "Its state is `opened` or `checked`, and the range is the one of that backfill. Comparing is as above, with "
           "its table.");
  restore(&left, (HandSql){sql_runbook_mark_restored, sql_runbook_postgres_mark_restored});
  page_say(page, PAGE_BEFORE, "Production equals it, or was checked and the retention is over: then it may go.");
  HAND_SQL(&left, {sql_runbook_clear_snapshot, sql_runbook_postgres_clear_snapshot});
}
