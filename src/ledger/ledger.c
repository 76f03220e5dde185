#include "ledger/ledger.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hash.h"
#include "ledger/owner.h"

static const struct {
  const char *name, *meaning;
} states[] = {
#define STATE(name, meaning) {#name, meaning},
#include "ledger/states.def"
};

static const Transition transitions[] = {
#define TRANSITION(from, to, verb, when) {STATE_##from, STATE_##to, #verb, when},
#include "ledger/states.def"
};

enum { N_TRANSITIONS = sizeof transitions / sizeof *transitions, ID_DIGITS = 4, DIGEST_DIGITS = 32, IDS_SHOWN = 10 };

const char *state_name(State state) { return states[state].name; }

const char *state_meaning(State state) { return states[state].meaning; }

bool state_of(const BackfillRecord *record, State *ret, Error *err) {
  for (int i = 0; i < STATE_COUNT_; i++) {
    if (record->state != NULL && strcmp(record->state, states[i].name) == 0) {
      *ret = (State)i;
      return true;
    }
  }
  error_set(err, ERR_STATE, "backfill %s is in the state “%s”, which this Tidegate does not know: a newer one wrote it",
            record->id, record->state == NULL ? "" : record->state);
  return error_hint(err, "use the newer Tidegate: what it recorded must not be guessed at");
}

const Transition *state_transitions(size_t *ret_n) {
  *ret_n = N_TRANSITIONS;
  return transitions;
}

bool state_is_final(State state) {
  for (size_t i = 0; i < N_TRANSITIONS; i++)
    if (transitions[i].from == state) return false;
  return true;
}

static const Transition *find_transition(State from, const char *verb) {
  for (size_t i = 0; i < N_TRANSITIONS; i++)
    if (transitions[i].from == from && strcmp(transitions[i].verb, verb) == 0) return &transitions[i];
  return NULL;
}

/* Verbs that Tidegate does by itself, not a person by a command. */
static bool is_own_verb(const char *verb) {
  static const char *const own[] = {"supersede", "hold", "seal", "drift", "reopen", "check"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp(own[i], verb) == 0) return true;
  return false;
}

/* Fails, naming the state and what can be done from it. */
static bool refuse_verb(const BackfillRecord *record, State state, const char *verb, Error *err) {
  BUF_SCOPED possible = {0};
  for (size_t i = 0; i < N_TRANSITIONS; i++) {
    if (transitions[i].from != state || is_own_verb(transitions[i].verb)) continue;
    buf_printf(&possible, "%s%s", possible.len == 0 ? "" : ", ", transitions[i].verb);
  }
  error_set(err, ERR_STATE, "backfill %s of %s is %s: “%s” is not possible from there", record->id, record->target,
            state_name(state), verb);
  if (possible.len == 0)
    error_hint(err, "nothing more can happen to it; for new work: tidegate plan SPEC");
  else
    error_hint(err, "possible from there: %s", buf_text(&possible));
  return false;
}

bool ledger_allows(const BackfillRecord *record, const char *verb, Error *err) {
  State state;
  if (!state_of(record, &state, err)) return false;
  return find_transition(state, verb) != NULL || refuse_verb(record, state, verb, err);
}

bool ledger_move(Engine *engine, BackfillRecord *record, LedgerMove move, Error *err) {
  State state;
  if (!state_of(record, &state, err)) return false;
  const Transition *transition = find_transition(state, move.verb);
  if (transition == NULL) return refuse_verb(record, state, move.verb, err);
  const char *to = state_name(transition->to);
  if (!engine->ops->ledger_move(engine, record->id, state_name(state), to, move.reason, move.doc, move.json,
                                ledger_owner(), err))
    return false;
  record->state = to;
  return true;
}

/* The records, none when the ledger was never made. */
static bool list_records(Engine *engine, Arena *arena, const BackfillRecord **ret, size_t *ret_n, Error *err) {
  bool exists;
  if (!engine->ops->ledger_exists(engine, &exists, err)) return false;
  *ret = NULL;
  *ret_n = 0;
  if (exists && !engine->ops->ledger_list(engine, arena, ret, ret_n, err)) return false;
  if (*ret == NULL) *ret_n = 0;
  return true;
}

static bool fail_not_found(const char *reference, const BackfillRecord *records, size_t n, Error *err) {
  error_set(err, ERR_NOT_FOUND, "there is no backfill “%s” in the ledger of this database", reference);
  if (n == 0) return error_hint(err, "the ledger is empty here: begin with tidegate plan SPEC");
  BUF_SCOPED ids = {0};
  for (size_t i = 0; i < n && i < IDS_SHOWN; i++)
    buf_printf(&ids, "%s%s (%s, %s)", i == 0 ? "" : ", ", records[i].id, records[i].target, records[i].state);
  return error_hint(err, "the ledger has %s%s", buf_text(&ids), n > IDS_SHOWN ? ", …; see: tidegate status" : "");
}

/* The record by its whole id, or the only one whose id begins so: the index, n when none. */
static bool match_id(const char *reference, bool whole, const BackfillRecord *records, size_t n, size_t *ret_index,
                     Error *err) {
  size_t length = strlen(reference), found = n;
  for (size_t i = 0; i < n && length > 0; i++) {
    if (strncasecmp(records[i].id, reference, length) != 0) continue;
    if (whole && records[i].id[length] != '\0') continue;
    if (found != n) {
      error_set(err, ERR_USAGE, "“%s” is the beginning of several ids: %s (%s) and %s (%s)", reference,
                records[found].id, records[found].target, records[i].id, records[i].target);
      return error_hint(err, "type more of the id");
    }
    found = i;
  }
  *ret_index = found;
  return true;
}

static bool names_spec_or_target(const BackfillRecord *record, const char *reference, const char *resolved) {
  if (strcasecmp(record->target, reference) == 0) return true;
  if (record->spec_path == NULL) return false;
  return strcmp(record->spec_path, reference) == 0 || (resolved != NULL && strcmp(record->spec_path, resolved) == 0);
}

/* By spec file or target: the newest that is not final, else the newest; n when none. */
static size_t match_name(const char *reference, const BackfillRecord *records, size_t n) {
  char resolved[PATH_MAX];
  const char *path = realpath(reference, resolved);
  size_t found = n;
  for (size_t i = 0; i < n; i++) {
    if (!names_spec_or_target(&records[i], reference, path)) continue;
    State state;
    Error unknown;
    if (!state_of(&records[i], &state, &unknown) || !state_is_final(state)) return i;
    if (found == n) found = i;
  }
  return found;
}

bool ledger_find(Engine *engine, Arena *arena, const char *reference, BackfillRecord *ret, Error *err) {
  const BackfillRecord *records = NULL;
  size_t n = 0, index = 0;
  if (!list_records(engine, arena, &records, &n, err)) return false;
  if (!match_id(reference, true, records, n, &index, err)) return false;
  if (index == n) index = match_name(reference, records, n);
  if (index == n && !match_id(reference, false, records, n, &index, err)) return false;
  if (records == NULL || index == n) return fail_not_found(reference, records, n, err);
  *ret = records[index];
  return true;
}

bool ledger_reload(Engine *engine, Arena *arena, BackfillRecord *record, Error *err) {
  const BackfillRecord *records = NULL;
  size_t n = 0, index = 0;
  if (!list_records(engine, arena, &records, &n, err)) return false;
  if (!match_id(record->id, true, records, n, &index, err)) return false;
  if (records == NULL || index == n) return fail_not_found(record->id, records, n, err);
  *record = records[index];
  return true;
}

bool ledger_commit(Engine *engine, Arena *arena, EngineWriter *writer, BackfillRecord *record, LedgerMove move,
                   Error *err) {
  const char *before = record->state;
  if (engine_end(engine, writer, ledger_move(engine, record, move, err), err)) return true;
  Error ignored;
  record->state = before;
  ledger_reload(engine, arena, record, &ignored);
  return false;
}

static bool is_taken(const char *id, const BackfillRecord *records, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcasecmp(records[i].id, id) == 0) return true;
  return false;
}

bool ledger_new_id(Engine *engine, Arena *arena, const char *digest, const char **ret, Error *err) {
  const BackfillRecord *records;
  size_t n;
  if (!list_records(engine, arena, &records, &n, err)) return false;
  char digits[DIGEST_DIGITS + 1];
  snprintf(digits, sizeof digits, "%s", digest);
  for (;;) { /* one digest has 29 beginnings: the same plan recorded oftener goes on with the digest's own digest */
    for (size_t length = ID_DIGITS; length <= strlen(digits); length++) {
      char *id = arena_strndup(arena, digits, length);
      if (is_taken(id, records, n)) continue;
      *ret = id;
      return true;
    }
    char next[DIGEST_DIGITS + 1];
    hash_hex(digits, strlen(digits), next);
    memcpy(digits, next, sizeof digits);
  }
}

bool ledger_lease(Engine *engine, const char *id, double ttl, int64_t *ret_epoch, Error *err) {
  return engine->ops->lease_take(engine, id, ledger_owner(), ttl, owner_is_dead, ret_epoch, err);
}
