#include <stdlib.h>
#include <string.h>

#include "run/run_int.h"

/* Between two looks while the backfill is paused. */
static const double PAUSE_SECONDS = 5;

/* Between two looks for a free processor. */
static const double ROOM_SECONDS = 30;
/* So many in a row, one after the other, must find one before it is believed: one of them may have been lucky. */
enum { ROOM_LOOKS = 3 };

/* Whoever wants all the time, or several batches at a time, takes it from the others knowingly. */
static bool yields(const Run *run) {
  const SpecBudget *budget = &run->plan->spec.budget;
  return run->plan->workers <= 1 && budget->duty < 1 && budget->crowded < budget->duty;
}

static bool looks_for_room(const Run *run) {
  bool sure = run->crowded || run->room >= ROOM_LOOKS;
  return yields(run) && (!sure || clock_seconds() - run->room_at > ROOM_SECONDS);
}

double run_duty(const Run *run) {
  const SpecBudget *budget = &run->plan->spec.budget;
  return run->crowded ? budget->crowded : budget->duty;
}

static PressureLimits limits_of(const Run *run, int64_t last_wal) {
  const SpecBudget *budget = &run->plan->spec.budget;
  return (PressureLimits){.lag = budget->lag,
                          .wal = budget->wal,
                          .sessions = budget->sessions,
                          .canary = budget->canary.text,
                          .canary_time = budget->canary_time,
                          .last_wal = last_wal,
                          .room = looks_for_room(run)};
}

/* One look; an engine that cannot tell is calm. */
static bool look(Run *run, Arena *arena, int64_t last_wal, Pressure *ret, Error *err) {
  const EngineOps *ops = run->engine->ops;
  PressureLimits limits = limits_of(run, last_wal);
  *ret = (Pressure){.state = PRESSURE_FINE};
  if (ops->pressure == NULL) return true;
  if (!ops->pressure(run->engine, arena, &run->plan->shape, &limits, ret, err)) return false;
  run->wal = ret->wal;
  if (limits.room) {
    run->room_at = clock_seconds();
    run->room = ret->crowded == NULL ? run->room + 1 : 0;
    run->crowded = run->room == 0 || (run->crowded && run->room < ROOM_LOOKS);
  }
  return true;
}

/* A pause stands in the ledger with its reason, for those who ask why nothing moves. */
static bool note_pause(Run *run, const char *reason, Error *err) {
  if (run->paused == (reason != NULL)) return true;
  run->paused = reason != NULL;
  return run->engine->ops->ledger_event(run->engine, run->record->id, ledger_owner(),
                                        run->paused ? "paused" : "carried on", reason, err);
}

bool run_calm(Run *run, bool *ret_again, Error *err) {
  ARENA_SCOPED arena = {0};
  Pressure pressure;
  size_t size = run->size;
  if (!look(run, &arena, 0, &pressure, err)) return false;
  bool pause = pressure.state == PRESSURE_PAUSE;
  if (pressure.state == PRESSURE_SLOW_DOWN) run_slow_down(run);
  *ret_again = pause || run->size != size;
  if (!note_pause(run, pause ? pressure.reason : NULL, err)) return false;
  if (pause) run_rest(run, PAUSE_SECONDS, arena_printf(run->arena, "paused: %s", pressure.reason));
  return true;
}

bool run_look_back(Run *run, Error *err) {
  ARENA_SCOPED arena = {0};
  Pressure pressure;
  if (!look(run, &arena, run->wal, &pressure, err)) return false;
  if (pressure.state != PRESSURE_FINE) run_slow_down(run);
  return true;
}
