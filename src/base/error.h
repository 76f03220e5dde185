#ifndef TIDEGATE_BASE_ERROR_H
#define TIDEGATE_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* Every error code with its exit status and its default hint: errors.def is the only list. */
typedef enum ErrorCode {
#define ERROR_CODE(name, exit_status, word, hint) ERR_##name,
#include "base/errors.def"
#undef ERROR_CODE
  ERR_COUNT_
} ErrorCode;

/*
 * An error as a value. The callee fills it and returns false; the caller passes it up or handles it;
 * only cli and view print it. Untouched on success. Messages are plain English in lower case, say what is
 * wrong and why it matters; the hint says what to do next.
 */
typedef struct Error {
  ErrorCode code;
  char where[320];    /* file:line:column, or empty */
  char message[1536]; /* what is wrong and why it matters */
  char snippet[768];  /* the offending line with a caret under the place, or empty */
  char hint[768];     /* what to do next, or empty: then the code's default hint is shown */
} Error;

/* Fills err and returns false, so that a caller writes `return error_set(err, ERR_USAGE, "…")`. */
bool error_set(Error *err, ErrorCode code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Replaces the hint of an error that is already set; returns false for the same reason. */
bool error_hint(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets file:line:column (line and column from 1; 0 leaves the part out); returns false. */
bool error_where(Error *err, const char *file, int line, int column);

/* Puts "context: " before the message; returns false. */
bool error_wrap(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* What the analyser cannot see across files: these always give false. */
static inline bool error_is_false(bool ignored) {
  (void)ignored;
  return false;
}
#define error_set(...) error_is_false(error_set(__VA_ARGS__))
#define error_hint(...) error_is_false(error_hint(__VA_ARGS__))
#define error_where(...) error_is_false(error_where(__VA_ARGS__))
#define error_wrap(...) error_is_false(error_wrap(__VA_ARGS__))
#endif

/* The process exit status that the code maps to (errors.def). */
int error_exit_status(ErrorCode code);

/* The stable lower-case word of the code, as `--json` prints it ("denied", "drift", …). */
const char *error_word(ErrorCode code);

/* The hint to show: the error's own, else the code's default; never NULL. */
const char *error_hint_text(const Error *err);

/*
 * Memory exhaustion has one answer everywhere: a message on standard error and exit status
 * error_exit_status(ERR_MEMORY). Tidegate is crash-only, so ending at once loses nothing: an open transaction rolls
 * back and the same command carries on (docs/decisions/0003).
 */
_Noreturn void error_out_of_memory(void);

#endif
