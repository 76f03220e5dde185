#ifndef TIDEGATE_CLI_SESSION_H
#define TIDEGATE_CLI_SESSION_H

#include "base/json.h"
#include "cli/options.h"
#include "plan/backfill.h"
#include "view/paint.h"

/* What one command works with: its command line, its output, and the database, spec, record and plan once opened. */
struct Session {
  const Args *args;
  bool json, quiet;
  Arena arena;
  Buf buffer;  /* what will be written to standard output */
  Paint paint; /* writes into buffer */
  Engine *engine;
  Spec spec;
  BackfillRecord record; /* id NULL: none yet */
  Plan plan;
};

/* Sets it up for one command; session_end closes the database and frees what the session holds. */
void session_start(Session *session, const Args *args);
void session_end(Session *session);

/* The i-th word of the command line, NULL when there are fewer. */
const char *session_word(const Session *session, size_t i);

/* Reads a backfill's file and opens its database (--database wins). Errors: those of spec_load and engine_open. */
bool session_spec(Session *session, const char *path, Error *err);
/* The same from texts already read, as spec_parse takes them. */
bool session_spec_text(Session *session, const char *path, const char *text, const char *pipeline_path,
                       const char *pipeline_text, Error *err);
/*
 * Opens the database of --database, of tidegate.yaml, or that all spec files in the working directory name; and reads
 * tidegate.yaml for the target (NULL: its top).
 */
bool session_pipeline(Session *session, const char *target, Error *err);
/*
 * Opens the database and finds the backfill: by its id, its spec file or its target. The database comes from
 * --database, else from the spec file when the reference is one, else from tidegate.yaml. Errors: ERR_NOT_FOUND.
 */
bool session_record(Session *session, const char *reference, Error *err);
/* The same, and its plan. */
bool session_plan(Session *session, const char *reference, Error *err);
/* What was found so, to act on. */
Backfill session_backfill(Session *session);

/* Opens an object in the output, and ends it with its line. */
Json session_object(Session *session);
void session_object_end(Session *session, Json *json);

/* Writes a file; the old one stays until the new one is whole. Errors: ERR_USAGE, ERR_FULL. */
bool session_write(Session *session, const char *path, const Buf *text, Error *err);

/* Writes the output so far; a reader that went away is no fault. Returns the exit status: 0, or that of the fault. */
int session_flush(Session *session);
/* Prints the error (on standard output with --json, whatever was not flushed yet left out) and returns its status. */
int session_fail(Session *session, const Error *err);

#endif
