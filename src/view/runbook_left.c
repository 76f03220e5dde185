#include <string.h>

#include "view/runbook_int.h"
#include "view/runbook_sql.h"

/* With what Tidegate left in the database: its ledger and its change set. */

static void states(Page *page) {
  page_say(page, PAGE_ITEM, "`planned`, `superseded`: nothing was made. Nothing to do.");
  page_say(page, PAGE_ITEM,
           "`building`, `held`: the change set is not whole. Stop it, then clear it away. Never publish it.");
  page_say(page, PAGE_ITEM, "`ready`: everything was validated. It may be published, or cleared away.");
  page_say(page, PAGE_ITEM, "`swapped`: published. Verify; take back if it is wrong; clear away after the retention.");
  page_say(page, PAGE_ITEM, "`rolled_back`: taken back. It may be published again, or cleared away.");
  page_say(
      page, PAGE_ITEM,
      "`snapshotted`, `opened`, `checked`: a tool writes production in place over a snapshot. See the last chapter.");
  page_say(page, PAGE_ITEM, "`finished`, `discarded`, `restored`: over.");
}

static void look(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Look at the state of a backfill");
  page_say(page, PAGE_TEXT,
           "The ledger stands in the same database. Begin every session of `%s` so, and leave nothing of it out:",
           hand->postgres ? "psql" : "sqlite3");
  HAND_SQL(hand, {sql_runbook_hand_session, sql_runbook_postgres_hand_session});
  page_say(page, PAGE_TEXT, "Looking writes nothing. The newest backfill is on top.");
  HAND_SQL(hand, {sql_runbook_list, sql_runbook_postgres_list});
  states(page);
  page_say(page, PAGE_TEXT, "How far one is, what was found, which tables it has, and who did what:");
  HAND_SQL(hand, {sql_runbook_progress, sql_runbook_postgres_progress});
  page_say(page, PAGE_TEXT, "What it was to do, as its owner wrote it: range, what is wrong, the recompute.");
  HAND_SQL(hand, {sql_runbook_spec, sql_runbook_postgres_spec});
}

static void stop(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Stop one that is running");
  page_say(page, PAGE_BEFORE,
           "Who drives it, and when was it last heard of? No owner, or an owner that was silent for more than two "
           "minutes: nobody drives it.");
  HAND_SQL(hand, {sql_runbook_driver, sql_runbook_postgres_driver});
  page_say(page, PAGE_TEXT,
           "The owner reads user@host/place:pid:start. On that host `kill -INT` with that pid stops it after the piece "
           "of work in hand. Nothing is lost: production is untouched until a swap commits, and `tidegate run` carries "
           "on later.");
  page_say(page, PAGE_TEXT,
           "Where that host cannot be reached, take its lease. Its next transaction fails then, whatever it is.");
  HAND_SQL(hand, {sql_runbook_take_lease, sql_runbook_postgres_take_lease});
  if (hand->postgres) {
    page_say(page, PAGE_TEXT,
             "When that waits until the lock's time is over, a statement is still running. These are the sessions; the "
             "second statement ends every one of Tidegate's in this database, those on other targets too.");
    HAND_SQL(hand, {NULL, sql_runbook_postgres_sessions}, {NULL, sql_runbook_postgres_cancel});
  } else {
    page_say(page, PAGE_TEXT,
             "When that says “database is locked”, a statement is still running: only its process can be ended, by "
             "`fuser -v` on the database's file and `kill`.");
  }
  page_say(page, PAGE_NEVER,
           "drop or change its tables while somebody drives it, and do not end a production job's session.");
}

/* The state must be checked by a person: the statements cannot. */
static void publish(Hand *hand, bool note_rest, bool keyless) {
  Page *page = hand->page;
  page_heading(page, 3, "Look at its change set");
  page_say(
      page, PAGE_TEXT,
      "`op` is I (insert), U (update), D (delete) or M (an update that moves a row to another date); `old_…` is the "
      "row as it was, `new_…` as it will be.");
  HAND_SQL(hand, {sql_runbook_look, sql_runbook_postgres_look});
  page_heading(page, 3, "Publish it");
  page_say(
      page, PAGE_BEFORE,
      "Is the production job running, or will it before this is over? Ask as written under “When production runs”. "
      "If it is, or nobody can say, wait.");
  page_say(page, PAGE_TEXT,
           "Take the lock. The state must be `ready` or `rolled_back`, and nobody may drive it: the second column is "
           "empty. If not: `ROLLBACK;`");
  HAND_SQL(hand, {sql_runbook_lock, sql_runbook_postgres_lock});
  page_say(page, PAGE_TEXT, "Production must not have drifted: both numbers are 0. If not: `ROLLBACK;`");
  HAND_SQL(hand, {sql_runbook_drift, sql_runbook_postgres_drift});
  hand_triggers(hand, true);
  page_say(page, PAGE_TEXT,
           "Apply and mark. The numbers of rows must be those of the change set: D, then U and M together, then I. If "
           "not: `ROLLBACK;`");
  HAND_SQL(hand, {sql_runbook_publish, keyless ? sql_runbook_postgres_publish_keyless : sql_runbook_postgres_publish},
           {note_rest ? sql_runbook_note_rest : NULL, note_rest ? sql_runbook_postgres_note_rest : NULL},
           {sql_runbook_mark_swapped, sql_runbook_postgres_mark_swapped});
  hand_triggers(hand, false);
  HAND_SQL(hand, {sql_runbook_commit, sql_runbook_postgres_commit});
  page_say(page, PAGE_NEVER,
           "publish piece by piece, or leave the transaction open to think about it: writers wait behind it.");
  page_heading(page, 3, "Verify what was published");
  page_say(page, PAGE_TEXT,
           "Both lists are empty right after. Later, a row in them was written again since: by whom? A production job "
           "that brings the fault back must be stopped and put right first.");
  HAND_SQL(hand, {sql_runbook_later, sql_runbook_postgres_later});
}

static void put_back(Hand *hand, bool keyless) {
  Page *page = hand->page;
  page_heading(page, 3, "Take it back");
  page_say(page, PAGE_BEFORE,
           "The state is `swapped` and the change set is still there. Rows that the last two statements show were "
           "written after the swap; what follows overwrites them: decide about each first.");
  HAND_SQL(hand, {sql_runbook_lock, sql_runbook_postgres_lock}, {sql_runbook_later, sql_runbook_postgres_later});
  hand_triggers(hand, true);
  page_say(page, PAGE_TEXT, "Put the old rows back and mark. The numbers are those of I, then U and M, then D.");
  HAND_SQL(hand,
           {sql_runbook_put_back, keyless ? sql_runbook_postgres_put_back_keyless : sql_runbook_postgres_put_back},
           {sql_runbook_mark_rolled_back, sql_runbook_postgres_mark_rolled_back});
  hand_triggers(hand, false);
  HAND_SQL(hand, {sql_runbook_commit, sql_runbook_postgres_commit});
}

static void clear(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "Finish, or clear it away");
  page_say(page, PAGE_BEFORE,
           "After `swapped` the change set is the last copy of the old rows: keep it until the retention is over and "
           "the verification gave nothing. Nobody may drive it.");
  HAND_SQL(hand, {sql_runbook_clear_look, sql_runbook_postgres_clear_look});
  HAND_SQL(hand, {sql_runbook_clear, sql_runbook_postgres_clear});
  page_say(page, PAGE_NEVER, "drop any table that the list above does not name.");
}

static void exchange(Hand *hand) {
  Page *page = hand->page;
  page_heading(page, 3, "When it exchanges partitions");
  page_say(
      page, PAGE_BEFORE,
      "A backfill that exchanges whole partitions has rows here. Then publishing, taking back and clearing as "
      "written above are not for it: its change set is a view, and what stands under `tidegate_ID_p1`, … are whole "
      "partitions. Publish such a one with Tidegate alone.");
  HAND_SQL(hand, {NULL, sql_runbook_postgres_exchanged});
  page_say(page, PAGE_TEXT,
           "Where they are in production, this prints the statements that put the old partitions back; run them in one "
           "transaction. With Tidegate at hand `tidegate rollback` is the better way.");
  HAND_SQL(hand, {NULL, sql_runbook_postgres_exchange_back});
  page_say(
      page, PAGE_NEVER,
      "finish or discard such a backfill afterwards, and do not drop the partitions that were taken out: the ledger "
      "knows nothing of this, the old partitions have Tidegate's names now, and rows that were written since stay "
      "behind in the others.");
}

static void without_columns(Page *page, const RunbookFacts *facts) {
  page_heading(page, 3, "Publish, take back, clear away");
  page_say(page, PAGE_TEXT, "These statements name every column, and the columns are not known: %s.", facts->no_shape);
  page_say(
      page, PAGE_TEXT,
      "Print this again when that is put right: `tidegate runbook %s --output FILE`. A runbook written while all was "
      "well has them.",
      facts->target);
}

void runbook_left(Page *page, const RunbookFacts *facts) {
  HandNames names = {.changes = facts->changes,
                     .shadow = facts->shadow,
                     .snapshot = facts->snapshot,
                     .log = "",
                     .id = facts->record == NULL ? "ID" : facts->record->id};
  Hand hand = hand_of(page, facts, &names);
  page_heading(page, 2, "By hand: a backfill that Tidegate began");
  if (facts->record == NULL)
    page_say(
        page, PAGE_TEXT,
        "No backfill of it was seen when this was printed. Put the id that the first list shows in the place of ID, "
        "in the tables' names too.");
  else
    page_say(
        page, PAGE_TEXT,
        "This is written for the newest one, `%s`, which was `%s` when this was printed. For another, put its id in "
        "the place of that, in the tables' names too.",
        facts->record->id, facts->record->state);
  look(&hand);
  stop(&hand);
  const Shape *shape = facts->shape;
  if (shape == NULL) {
    without_columns(page, facts);
    return;
  }
  bool values = hand_any(shape, PICK_VALUES), keyless = !shape->keyed || !values; /* then nothing is ever updated */
  publish(&hand, shape->keyed && hand_any(shape, PICK_REST), keyless);
  put_back(&hand, keyless);
  clear(&hand);
  if (hand.postgres) exchange(&hand);
}
