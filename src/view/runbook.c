#include "view/runbook.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "view/runbook_int.h"
#include "view/words.h"

/* Who, what, when and how much: the chapters before the steps. */

static const char *texts(Arena *arena, const SpecTexts *list) {
  const char *all = NULL;
  for (size_t i = 0; i < list->n; i++)
    all = all == NULL ? list->items[i].text : arena_printf(arena, "%s; %s", all, list->items[i].text);
  return all;
}

static void whom_to_call(Page *page, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  page_heading(page, 2, "Whom to call");
  page_fact(page, "owner", spec->owner.text);
  page_fact(page, "contacts", texts(page->arena, &spec->contacts));
  page_fact(page, "what to know",
            spec->runbook_note.text == NULL ? "nothing was written down" : spec->runbook_note.text);
  page_say(page, PAGE_NEVER, "change the target before its owner knows that you do, and why.");
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *key_of(Arena *arena, const RunbookFacts *facts) {
  if (facts->spec->key.n > 0) return texts(arena, &facts->spec->key);
  if (facts->shape == NULL) return "not seen";
  return facts->shape->keyed ? hand_columns(arena, facts->shape, PICK_KEY, "@", "", ", ")
                             : "none: dates are replaced as a whole";
}

static const char *date_of(Arena *arena, const RunbookFacts *facts) {
  if (!facts->dated || facts->shape == NULL)
    return facts->spec->date_column.text == NULL ? "not known" : facts->spec->date_column.text;
  const DateCodec *codec = &facts->shape->codec;
  return arena_printf(arena, "%s, held as %s; a date is a %s, its midnight in %s",
                      facts->shape->columns[facts->shape->date].name, date_kind_name(codec->kind),
                      grain_name(codec->grain), zone_name(codec->zone));
}

static const char *columns_of(Arena *arena, const TableFacts *table) {
  const char *all = "";
  for (size_t i = 0; i < table->n_columns; i++) {
    const ColumnFacts *column = &table->columns[i];
    all = arena_printf(arena, "%s%s%s %s%s%s", all, i == 0 ? "" : ", ", column->name,
                       *column->type == '\0' ? "(no type)" : column->type, column->not_null ? " not null" : "",
                       column->generated ? " generated" : "");
  }
  return all;
}

static const char *triggers_of(Arena *arena, const RunbookFacts *facts) {
  const TableFacts *table = facts->table;
  static const char *const policies[] = {[TRIGGERS_DENY] = "a backfill is denied while there are any",
                                         [TRIGGERS_FIRE] = "they are to fire",
                                         [TRIGGERS_SKIP] = "they are not to fire"};
  const char *names = NULL;
  for (size_t i = 0; i < table->n_triggers; i++)
    names = names == NULL ? table->triggers[i].name : arena_printf(arena, "%s, %s", names, table->triggers[i].name);
  return names == NULL ? "none" : arena_printf(arena, "%s: %s", names, policies[facts->spec->triggers]);
}

static void the_table(Page *page, const RunbookFacts *facts) {
  Arena *arena = page->arena;
  page_heading(page, 2, "What the table is");
  page_fact(page, "table", facts->target);
  page_fact(page, "database", facts->database);
  page_fact(page, "opened with", strcmp(facts->engine, "postgres") == 0 ? "psql" : "sqlite3");
  page_fact(page, "key", key_of(arena, facts));
  page_fact(page, "date column", date_of(arena, facts));
  if (facts->table == NULL) return;
  page_fact(page, "columns", columns_of(arena, facts->table));
  page_fact(page, "triggers", triggers_of(arena, facts));
}

/* ---- what feeds it and what it feeds ----------------------------------------------------------------------------- */

static bool among(const Spec *spec, const char *table) {
  for (size_t i = 0; i < spec->n_sources; i++)
    if (strcasecmp(spec->sources[i].table.text, table) == 0) return true;
  return false;
}

static void put_sources(Page *page, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  Arena *arena = page->arena;
  bool any = spec->n_sources > 0;
  for (size_t i = 0; i < spec->n_sources; i++)
    page_fact(page, i == 0 ? "is made from" : "",
              arena_printf(arena, "%s, dates in %s", spec->sources[i].table.text, spec->sources[i].column.text));
  for (size_t i = 0; facts->plan != NULL && i < facts->plan->n_reads; i++) {
    if (among(spec, facts->plan->reads[i]) || strcmp(facts->plan->reads[i], facts->target) == 0) continue;
    page_fact(page, any ? "" : "is made from",
              arena_printf(arena, "%s, by the recompute of the newest backfill", facts->plan->reads[i]));
    any = true;
  }
  if (!any) page_fact(page, "is made from", NULL);
}

static void lineage(Page *page, const RunbookFacts *facts) {
  page_heading(page, 2, "What feeds it and what it feeds");
  put_sources(page, facts);
  runbook_downstream(page, facts);
}

/* ---- when work is allowed, and how much -------------------------------------------------------------------------- */

static void freezes(Page *page, const Spec *spec) {
  const char *all = NULL;
  for (size_t i = 0; i < spec->n_freezes; i++) {
    const char *one = spec->freezes[i].file ? arena_printf(page->arena, "the dates in %s", spec->freezes[i].text.text)
                                            : spec->freezes[i].text.text;
    all = all == NULL ? one : arena_printf(page->arena, "%s; %s", all, one);
  }
  page_fact(page, "frozen", all == NULL ? "never" : all);
}

static void when_allowed(Page *page, const RunbookFacts *facts) {
  const Spec *spec = facts->spec;
  Arena *arena = page->arena;
  page_heading(page, 2, "When work is allowed");
  const char *zone = spec->idle_zone.text;
  page_fact(page, "idle hours",
            spec->idle.text == NULL ? "all day, except beside the jobs above"
                                    : arena_printf(arena, "%s%s%s, except beside the jobs above", spec->idle.text,
                                                   zone == NULL ? "" : ", ", zone == NULL ? "" : zone));
  freezes(page, spec);
  page->passing = true;
  page_fact(page, "next windows", runbook_windows(arena, facts));
  page->passing = false;
  page_say(page, PAGE_NEVER, "start what cannot end before the next run, its guard included.");
}

static void correctness(Page *page, const RunbookFacts *facts) {
  Arena *arena = page->arena;
  const Spec *spec = facts->spec;
  page_heading(page, 2, "How correctness is judged");
  page_fact(page, "in words", spec->correctness.text);
  page_fact(page, "checks on rows", texts(arena, &spec->row_checks));
  page_fact(page, "checks on totals", texts(arena, &spec->total_checks));
  page_fact(page, "the way back", spec->rollback_path.text);
  if (facts->plan == NULL) return;
  const Spec *own = &facts->plan->spec;
  page_say(page, PAGE_TEXT, "The newest backfill has it so:");
  page_fact(page, "wrong", own->wrong.text);
  page_fact(page, "correct", own->correct.text);
  page_fact(page, "control dates", own->control.text);
  for (size_t i = 0; i < own->n_changes; i++) {
    const ScopeRule *rule = &own->changes[i];
    static const char *const kinds[] = {"", "any column", "new rows", "vanished rows"};
    page_fact(page, i == 0 ? "may change" : "",
              arena_printf(arena, "%s where %s", rule->kind == SCOPE_COLUMN ? rule->column.text : kinds[rule->kind],
                           rule->where.text == NULL ? "anywhere" : rule->where.text));
  }
  if (own->row_checks.n > 0) page_fact(page, "checks on rows", texts(arena, &own->row_checks));
  if (own->total_checks.n > 0) page_fact(page, "checks on totals", texts(arena, &own->total_checks));
}

static void how_much(Page *page, const RunbookFacts *facts) {
  const SpecBudget *budget = &facts->spec->budget;
  Arena *arena = page->arena;
  page_heading(page, 2, "What it may use");
  page_fact(page, "one batch", words_duration(arena, budget->batch));
  page_fact(page, "one statement", words_duration(arena, budget->statement));
  page_fact(page, "waiting for a lock",
            arena_printf(arena, "%s, at most %d times", words_duration(arena, budget->lock), budget->lock_tries));
  page_fact(page, "holding it to publish", words_duration(arena, budget->swap_lock));
  page_fact(page, "share of the time", arena_printf(arena, "%.0f %%", budget->duty * 100));
  if (strcmp(facts->engine, "postgres") == 0) {
    page_fact(page, "replicas behind", arena_printf(arena, "%s at most", words_duration(arena, budget->lag)));
    page_fact(page, "write-ahead log", arena_printf(arena, "%s a batch at most", words_size(arena, budget->wal)));
    if (budget->sessions > 0)
      page_fact(page, "other sessions", arena_printf(arena, "%d active ones at most", budget->sessions));
  }
  if (budget->canary.text != NULL)
    page_fact(page, "canary",
              arena_printf(arena, "%s within %s", budget->canary.text, words_duration(arena, budget->canary_time)));
  page_fact(page, "old rows are kept",
            arena_printf(arena, "%s after publishing at least", words_duration(arena, facts->spec->retention)));
}

static void with_tidegate(Page *page) {
  static const char lines[] =
      "tidegate status           # what there is, and its state\n"
      "tidegate plan SPEC        # answers every question; denies what is unsafe\n"
      "tidegate run PLAN         # writes aside; Ctrl-C pauses, it carries on\n"
      "tidegate diff PLAN        # look at what would change\n"
      "tidegate swap PLAN        # publish in one transaction\n"
      "tidegate rollback PLAN    # the way back, as long as the old rows are kept\n"
      "tidegate discard PLAN     # give up what was not published\n"
      "tidegate finish PLAN      # after the retention: drops what was kept";
  page_heading(page, 2, "With Tidegate");
  page_say(page, PAGE_TEXT, "It asks what must be known first and refuses what is unsafe: use it while it is there.");
  page_code(page, "sh", lines);
}

Page view_runbook(Arena *arena, const RunbookFacts *facts) {
  Page page = {.arena = arena};
  page_heading(&page, 1, "Runbook of %s", facts->target);
  page_say(
      &page, PAGE_TEXT,
      "For a person on call: who answers for it, when it may be touched, and how a backfill is looked at, stopped, "
      "made, published and taken back, with Tidegate or without. Printed by `tidegate runbook`; print it again when "
      "tidegate.yaml or the table changes (`tidegate runbook --check` says so).");
  page.passing = true;
  if (facts->unseen != NULL)
    page_say(&page, PAGE_BEFORE,
             "The database could not be looked at when this was printed, so this rests on tidegate.yaml alone: %s",
             facts->unseen);
  page.passing = false;
  whom_to_call(&page, facts);
  the_table(&page, facts);
  lineage(&page, facts);
  runbook_jobs(&page, facts);
  when_allowed(&page, facts);
  correctness(&page, facts);
  how_much(&page, facts);
  with_tidegate(&page);
  runbook_left(&page, facts);
  runbook_hand(&page, facts);
  runbook_in_place(&page, facts);
  return page;
}

/* ---- the mark of a written runbook ------------------------------------------------------------------------------- */

static const char mark_word[] = "tidegate-runbook target=", digest_word[] = " digest=";

const char *runbook_mark(Arena *arena, const char *target, const char *digest) {
  BUF_SCOPED name = {0};
  for (const char *c = target; *c != '\0'; c++) {
    if (isalnum((unsigned char)*c) || *c == '_' || *c == '.')
      buf_putc(&name, *c);
    else
      buf_printf(&name, "%%%02X", (unsigned char)*c);
  }
  return arena_printf(arena, "%s%s%s%s", mark_word, buf_text(&name), digest_word, digest);
}

bool runbook_mark_find(Arena *arena, const char *document, const char **ret_target, const char **ret_digest) {
  const char *at = strstr(document, mark_word);
  if (at == NULL) return false;
  at += strlen(mark_word);
  size_t n = strcspn(at, " \n");
  if (strncmp(at + n, digest_word, strlen(digest_word)) != 0) return false;
  BUF_SCOPED name = {0};
  for (const char *c = at; c < at + n; c++) {
    static const char digits[] = "0123456789ABCDEF";
    bool coded = *c == '%' && at + n - c > 2;
    const char *high = coded ? strchr(digits, c[1]) : NULL, *low = coded ? strchr(digits, c[2]) : NULL;
    if (high != NULL && low != NULL) {
      buf_putc(&name, (char)((high - digits) * 16 + (low - digits)));
      c += 2;
    } else {
      buf_putc(&name, *c);
    }
  }
  const char *digest = at + n + strlen(digest_word);
  *ret_target = arena_strdup(arena, buf_text(&name));
  *ret_digest = arena_strndup(arena, digest, strcspn(digest, " \n-"));
  return true;
}
