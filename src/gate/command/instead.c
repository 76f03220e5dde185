#include <stdlib.h>
#include <string.h>

#include "gate/command/command_int.h"
#include "gate/command/offer.h"
#include "ledger/opened.h"

/* What to type instead of a command that was denied; and the one command that is the safe way already. */

static const char *quoted(Arena *arena, const char *text) {
  BUF_SCOPED out = {0};
  buf_putc(&out, '\'');
  for (; *text != '\0'; text++) *text == '\'' ? buf_puts(&out, "'\\''") : buf_putc(&out, *text);
  buf_putc(&out, '\'');
  return arena_strdup(arena, buf_text(&out));
}

/* A request that was no command line, as one that asks for the same. NULL: there is none. */
static const char *as_command(Arena *arena, const Trigger *trigger) {
  if (trigger->target == NULL || trigger->from == NULL || trigger->to == NULL) return NULL;
  const char *dag = quoted(arena, trigger->target);
  if (strncmp(trigger->system, "airflow3", 8) == 0)
    return arena_printf(arena, "airflow backfill create --dag-id %s --from-date %s --to-date %s", dag, trigger->from,
                        trigger->to);
  if (strncmp(trigger->system, "airflow2", 8) == 0)
    return arena_printf(arena, "airflow dags backfill -s %s -e %s %s", trigger->from, trigger->to, dag);
  return NULL;
}

static bool set_ask(CommandCase *c, const char *file, OfferAsk *ret) {
  const CommandTarget *target = c->n_targets > 0 ? &c->targets[0] : NULL;
  Spec *spec = arena_alloc(c->arena, sizeof *spec);
  Error ignored; /* the same file was read before, or could not be */
  bool typed = c->ask->text != NULL && c->ask->report == NULL;
  *ret = (OfferAsk){.text = c->ask->text, .n = c->ask->n, .report = &c->report, .file = file};
  if (!typed) {
    ret->text = c->report.n == 1 ? as_command(c->arena, &c->report.items[0]) : NULL;
    ret->n = ret->text == NULL ? 0 : strlen(ret->text);
    TriggerReport *report = arena_alloc(c->arena, sizeof *report);
    *report = ret->text == NULL ? c->report : trigger_classify(c->arena, ret->text, ret->n);
    ret->report = report;
  }
  if (target != NULL) {
    ret->table = target->table;
    ret->shift = target->job == NULL ? 0 : target->job->dates;
    for (size_t i = 1; i < c->n_targets; i++)
      ret->also = arena_printf(c->arena, "%s%s%s", ret->also == NULL ? "" : ret->also, ret->also == NULL ? "" : ", ",
                               c->targets[i].table);
  }
  bool read = c->pipeline_path != NULL && c->pipeline.pipeline_file.file != NULL &&
              spec_load_pipeline(c->arena, c->pipeline_path, ret->table, spec, &ignored);
  ret->pipeline = read ? spec : NULL;
  return ret->report->n > 0;
}

static void add(CommandCase *c, CommandVerdict *verdict, const char *line) {
  const char **all = arena_grow(c->arena, (void *)verdict->offers, verdict->n_offers, sizeof *all);
  all[verdict->n_offers++] = line;
  verdict->offers = all;
}

static bool has_dates(const CommandCase *c) {
  for (size_t i = 0; i < c->report.n; i++)
    if (c->report.items[i].sure && c->report.items[i].from != NULL && c->report.items[i].to != NULL) return true;
  return false;
}

void command_offer(CommandCase *c, CommandVerdict *verdict) {
  OfferAsk ask;
  Offer offer;
  Error ignored;
  if (!has_dates(c) || !set_ask(c, NULL, &ask)) return;
  const BackfillRecord *record = c->n_targets == 1 ? &c->targets[0].record : NULL;
  bool planned = record != NULL && record->id != NULL && record->spec_path != NULL;
  if (planned) ask.file = record->spec_path;
  if (!offer_draft(c->arena, &ask, &offer, &ignored)) return;
  if (planned) {
    if (offer.line != NULL) add(c, verdict, offer.snapshot);
    return;
  }
  bool secret = ask.text == NULL || strcmp(mask_secrets(c->arena, ask.text, ask.n), ask.text) != 0;
  add(c, verdict,
      arena_printf(c->arena, "tidegate gate --draft %s --command %s", offer.path,
                   secret ? "'…'" : quoted(c->arena, ask.text)));
  add(c, verdict, "# fill in what it says " OFFER_BLANK ", then:");
  add(c, verdict, offer.snapshot);
  add(c, verdict, "# or, for a tool that can write another table, with {shadow} named as that table in the file:");
  add(c, verdict, offer.backfill);
}

bool command_draft(Arena *arena, const CommandAsk *ask, const char *file, Offer *ret, Error *err) {
  CommandCase c = {.arena = arena, .ask = ask};
  OfferAsk draft;
  c.report = command_classify(&c);
  if (c.report.verdict != TRIGGER_NO) command_drop_unknown_tables(&c);
  if (command_read_pipeline(&c) && has_dates(&c)) command_not_mapped(&c, "");
  return set_ask(&c, file, &draft)
             ? offer_draft(arena, &draft, ret, err)
             : error_set(err, ERR_USAGE, "the command starts no backfill: there is nothing to draft");
}

/* ---- run by Tidegate itself -------------------------------------------------------------------------------------- */

/* Is the target what the backfill lets its tool write at this moment, and the dates those of its batch? */
static bool is_running(CommandCase *c, const CommandTarget *target, const char *mark) {
  for (size_t i = 0; i < c->n_records; i++) {
    BackfillRecord record = c->records[i];
    Opened opened;
    Plan plan;
    DateRange dates;
    Error ignored;
    if (strcmp(record.state, state_name(STATE_opened)) != 0 || record.lease_owner == NULL ||
        strcmp(opened_mark(c->arena, &record), mark) != 0 || !command_same_table(record.target, target->table))
      continue;
    return opened_read(c->arena, &record, &opened, &ignored) &&
           plan_load(c->arena, c->engine, &record, &plan, &ignored) &&
           date_range_parse(arena_printf(c->arena, "%s..%s", target->from, target->to), GRAIN_DAY,
                            plan.shape.codec.zone, &dates, &ignored) &&
           opened.running.from <= dates.from && dates.to <= opened.running.to;
  }
  return false;
}

bool command_is_ours(CommandCase *c) {
  const char *mark = getenv(OPENED_VARIABLE);
  CommandCase look = *c; /* its reasons are thrown away */
  if (mark == NULL || !has_dates(c)) return false;
  for (size_t i = 0; i < c->report.n; i++)
    if (!c->report.items[i].sure || c->report.items[i].from == NULL || c->report.items[i].to == NULL) return false;
  bool ours = command_read_pipeline(&look);
  if (ours) command_not_mapped(&look, "");
  ours = ours && look.n == 0 && look.n_targets > 0 && command_open_database(&look);
  if (ours) command_check_owed(&look, "");
  for (size_t i = 0; ours && i < look.n_targets; i++) ours = is_running(&look, &look.targets[i], mark);
  engine_close(&look.engine);
  return ours;
}
