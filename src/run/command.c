#include "base/process.h"
#include "run/run_int.h"

enum { SHADOW = PLAN_VARIABLES, BATCH, APPLICATION, N_VARIABLES };

static void fill_variables(Run *run, const Job *job, int64_t batch, ProcessVariable variables[N_VARIABLES]) {
  plan_variables(run->arena, run->plan, (DateRange){job->dates[0], job->dates[job->n]}, variables);
  variables[SHADOW] = (ProcessVariable){
      "{shadow}", "TIDEGATE_SHADOW", run->engine->ops->object_name(run->engine, run->arena, run->record->id, "shadow")};
  variables[BATCH] = (ProcessVariable){"{batch}", "TIDEGATE_BATCH", arena_printf(run->arena, "%lld", (long long)batch)};
  /* Its sessions in PostgreSQL are not taken for a job's. */
  variables[APPLICATION] = (ProcessVariable){"{application}", "PGAPPNAME", "tidegate-command"};
}

static bool go_on(void *context) {
  Run *run = context;
  run_tell(run, run->progress.doing, false);
  if (run_beat(run) && run_goes_on(run)) return true;
  if (run->met != NULL)
    run_tell(run,
             arena_printf(run->arena, "%s: the command is being ended, which takes at most %d s", run->met,
                          PROCESS_END_SECONDS),
             true);
  return false;
}

static bool whole_fingerprint(Run *run, Fingerprint *ret, Error *err) {
  ARENA_SCOPED arena = {0};
  const DateFacts *facts;
  size_t n;
  if (!run->engine->ops->fingerprint(run->engine, &arena, &run->plan->shape, (DateRange){0, 0}, &facts, &n, err))
    return false;
  *ret = facts[0].production;
  return true;
}

bool run_command(Run *run, const Job *job, int64_t batch, const char **ret_log, Error *err) {
  const SpecRecompute *recompute = &run->plan->spec.recompute;
  ProcessVariable variables[N_VARIABLES];
  BUF_SCOPED log = {0};
  Fingerprint before, after;
  fill_variables(run, job, batch, variables);
  size_t n = 0;
  char **argv = arena_array(run->arena, recompute->command.n + 3, sizeof *argv);
  if (recompute->shell) {
    argv[n++] = "/bin/sh";
    argv[n++] = "-c";
  }
  for (size_t i = 0; i < recompute->command.n; i++)
    argv[n++] = plan_fill(run->arena, recompute->command.items[i].text, variables, N_VARIABLES);
  if (!whole_fingerprint(run, &before, err)) return false;
  ProcessRules rules = {variables, N_VARIABLES, recompute->timeout, "`recompute: timeout`", go_on, run};
  bool ok = process_run(argv, &rules, &log, err);
  *ret_log = arena_strdup(run->arena, buf_text(&log));
  if (!ok) return false;
  if (!whole_fingerprint(run, &after, err)) return false;
  if (fingerprint_equal(&before, &after)) return true;
  error_set(err, ERR_COMMAND,
            "%s changed while the command ran: it wrote production instead of %s, or another writer did",
            run->plan->shape.table, variables[SHADOW].value);
  return error_hint(
      err, "look at what the command writes; if production must be written in place, use: tidegate snapshot SPEC");
}
