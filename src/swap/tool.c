#include <signal.h>

#include "base/clock.h"
#include "base/marked.h"
#include "ledger/opened.h"
#include "swap/in_place.h"

/*
 * A tool outlives the tidegate that started it and was killed. It is known by its environment, which everything that it
 * starts inherits, whatever group or session it is put into.
 */

/* Seconds that a killed process gets to be gone, and between two looks. */
static const double GONE_SECONDS = 10, LOOK_SECONDS = 0.02;

const char *in_place_variable(Arena *arena, const BackfillRecord *record) {
  return arena_printf(arena, OPENED_VARIABLE "=%s", opened_mark(arena, record));
}

static size_t each_tool(const BackfillRecord *record, int signal_number, int *ret_pid) {
  ARENA_SCOPED arena = {0};
  return marked_each(in_place_variable(&arena, record), signal_number, ret_pid);
}

size_t in_place_tools(const BackfillRecord *record, int *ret_pid) { return each_tool(record, 0, ret_pid); }

static bool end_processes(const BackfillRecord *record, Error *err) {
  int pid = 0;
  double until = clock_seconds() + GONE_SECONDS;
  while (each_tool(record, SIGKILL, &pid) > 0) {
    if (clock_seconds() > until) {
      error_set(err, ERR_COMMAND, "process %d of the tool cannot be ended, and it may still write production", pid);
      return error_hint(err, "end it, then: tidegate restore %s", record->id);
    }
    clock_sleep(LOOK_SECONDS);
  }
  return true;
}

const char *in_place_application(Arena *arena, const BackfillRecord *record) {
  return arena_printf(arena, "backfill-%s-tool", record->id);
}

/* A statement goes on in the server when its client is killed. */
static bool end_sessions(Engine *engine, const BackfillRecord *record, Error *err) {
  ARENA_SCOPED name = {0};
  SessionQuestion question = {.application = in_place_application(&name, record)};
  double until = clock_seconds() + GONE_SECONDS;
  if (engine->ops->end_sessions == NULL || engine->ops->sessions == NULL) return true;
  for (;;) {
    ARENA_SCOPED arena = {0};
    SessionFacts facts = {0};
    if (!engine->ops->end_sessions(engine, question.application, err) ||
        !engine->ops->sessions(engine, &arena, &question, GONE_SECONDS, &facts, err))
      return false;
    if (facts.found == NULL) return true; /* what cannot be seen of others is not taken for the tool's */
    if (clock_seconds() > until) {
      error_set(err, ERR_LOCKED, "the tool's session in the database does not end, and it may still write: %s",
                facts.found);
      return error_hint(err, "end it as its own role or as a superuser, then: tidegate restore %s", record->id);
    }
    clock_sleep(LOOK_SECONDS);
  }
}

bool in_place_quiet(Engine *engine, const BackfillRecord *record, Error *err) {
  return end_processes(record, err) && end_sessions(engine, record, err);
}
