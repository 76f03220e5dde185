#ifndef TIDEGATE_ENGINE_RECORDS_H
#define TIDEGATE_ENGINE_RECORDS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "time/civil.h"

/*
 * The ledger's records as an engine stores them. What they mean, and which change of state is allowed, is the business
 * of src/ledger alone. Texts may be NULL where the ledger has nothing yet; instants are database time, 0 = never.
 */

typedef struct BackfillRecord {
  const char *id, *target, *state;
  const char *way;    /* "shadow" or "snapshot" */
  const char *reason; /* why it is held or superseded */
  const char *digest, *database_id;
  const char *spec_path, *spec_text, *pipeline_path, *pipeline_text;
  const char *plan, *seal,
      *swap;         /* JSON documents: what planning found, the sealed counts, the last swap and rollback */
  const char *owner; /* who planned it */
  Instant created_at, changed_at, swapped_at;
  const char *lease_owner; /* NULL: nobody drives it */
  int64_t lease_epoch;
  Instant lease_heartbeat;
} BackfillRecord;

/* One date of the range and what is known of it. */
typedef struct DateRecord {
  Instant date;                               /* start of its grain */
  int64_t expected;                           /* rows in production at plan time: the weight */
  int64_t suspect;                            /* of them, rows in which the change scope lets something change */
  int64_t batch;                              /* the batch that wrote it; 0: not written yet */
  Fingerprint production, recomputed, stable; /* see DateFacts in engine.h */
  int64_t inserts, updates, deletes, moves_in, moves_out;
} DateRecord;

typedef struct BatchRecord {
  int64_t number;   /* from 1, in the order begun */
  Instant from, to; /* half-open */
  int64_t attempt, dates, rows, changes;
  double seconds;    /* of work, without pauses */
  const char *token; /* change token of the snapshot it read (EngineOps.change_token) */
  const char *log;   /* output of an external command, or NULL */
  Instant done_at;
} BatchRecord;

/* Rows in which a column changed. */
typedef struct ColumnChange {
  const char *column;
  int64_t rows;
} ColumnChange;

/* A thing wrong that was found, with examples as JSON. */
typedef struct FindingRecord {
  int64_t batch; /* 0: not of one batch */
  const char *kind, *subject, *message;
  int64_t count;
  const char *examples; /* JSON array of {date, key, column, old, new}, or NULL */
} FindingRecord;

/* A database object that Tidegate made. */
typedef struct ObjectRecord {
  const char *name, *role; /* "changes", "shadow", "snapshot" */
  const char *identity;    /* what EngineOps.object_identity said when it was made */
  Instant created_at, dropped_at;
} ObjectRecord;

typedef struct EventRecord {
  Instant at;
  const char *who, *what, *detail;
} EventRecord;

/* One verdict of the gate on another tool's command. */
typedef struct AuditRecord {
  int64_t number; /* from 1, in the order written */
  Instant at;
  const char *who, *place;
  const char *command;   /* secrets masked */
  const char *digest;    /* of the command line as it was */
  const char *verdict;   /* "allow", "ask", "deny", "override" */
  const char *reasons;   /* JSON array of {rule, text} */
  const char *target;    /* tables, with blanks between; NULL: not known */
  const char *backfill;  /* over whose plan it was allowed; NULL: none */
  const char *because;   /* why it was to run in spite of the rules; NULL: that was not asked for */
  const char *signed_by; /* the second person */
  Instant until;         /* until when it may run; 0: no end, or it may not */
  Instant signed_at, used_at;
} AuditRecord;

#endif
