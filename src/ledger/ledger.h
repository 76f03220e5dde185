#ifndef TIDEGATE_LEDGER_LEDGER_H
#define TIDEGATE_LEDGER_LEDGER_H

#include "engine/engine.h"

/* The state machine as one table (states.def), and the only place where state changes. */

typedef enum State {
#define STATE(name, meaning) STATE_##name,
#include "ledger/states.def"
  STATE_COUNT_
} State;

typedef struct Transition {
  State from, to;
  const char *verb, *when;
} Transition;

const char *state_name(State state);
const char *state_meaning(State state);
/* The state of a record; an unknown word is a newer ledger's: ERR_STATE. */
bool state_of(const BackfillRecord *record, State *ret, Error *err);
const Transition *state_transitions(size_t *ret_n);
/* True when nothing more can happen to it. */
bool state_is_final(State state);

/* "user@host/place:pid:start" of this process: who drives, and who did it in the events. */
const char *ledger_owner(void);

/*
 * Finds a backfill by its id (a unique beginning of it is enough), or by the path of its spec file or by its target:
 * then the newest that is not final, else the newest. Errors: ERR_NOT_FOUND (with the ids that there are), ERR_USAGE
 * when a beginning fits several.
 */
bool ledger_find(Engine *engine, Arena *arena, const char *reference, BackfillRecord *ret, Error *err);

/* Reads the record again. */
bool ledger_reload(Engine *engine, Arena *arena, BackfillRecord *record, Error *err);

/* A new id: the shortest beginning of digest, at least four digits, that no backfill has. */
bool ledger_new_id(Engine *engine, Arena *arena, const char *digest, const char **ret, Error *err);

/* A transition, and what is written down with it; NULL: nothing. */
typedef struct LedgerMove {
  const char *verb, *reason;
  const char *doc, *json; /* doc: "plan", "seal" or "swap" */
} LedgerMove;

/*
 * Moves a backfill along the transition, inside the open transaction if there is one. Errors: ERR_STATE when the state
 * has no such transition or is no longer what the record says; on success record->state is the new one.
 */
bool ledger_move(Engine *engine, BackfillRecord *record, LedgerMove move, Error *err);

/*
 * Moves a backfill as the last thing of the writer's transaction, and ends that. Where it is not committed, the record
 * is read again, since only the ledger knows what the state is now; if it cannot be asked, the state is taken for what
 * it was.
 */
bool ledger_commit(Engine *engine, Arena *arena, EngineWriter *writer, BackfillRecord *record, LedgerMove move,
                   Error *err);

/* Fails with ERR_STATE, naming the state and what can be done from it, unless the state is one for which the verb
 * exists. */
bool ledger_allows(const BackfillRecord *record, const char *verb, Error *err);

/* Takes the lease: a holder on this host whose process is gone is dead at once, any other after `ttl` seconds without a
 * heartbeat. */
bool ledger_lease(Engine *engine, const char *id, double ttl, int64_t *ret_epoch, Error *err);

#endif
