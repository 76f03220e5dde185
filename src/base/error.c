#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
  int exit_status;
  const char *word;
  const char *hint;
} codes[] = {
#define ERROR_CODE(name, exit_status, word, hint) {exit_status, word, hint},
#include "base/errors.def"
#undef ERROR_CODE
};

bool(error_set)(Error *err, ErrorCode code, const char *format, ...) {
  va_list args;
  memset(err, 0, sizeof *err);
  err->code = code;
  va_start(args, format);
  vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  return false;
}

bool(error_hint)(Error *err, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(err->hint, sizeof err->hint, format, args);
  va_end(args);
  return false;
}

bool(error_where)(Error *err, const char *file, int line, int column) {
  if (line > 0 && column > 0)
    snprintf(err->where, sizeof err->where, "%s:%d:%d", file, line, column);
  else if (line > 0)
    snprintf(err->where, sizeof err->where, "%s:%d", file, line);
  else
    snprintf(err->where, sizeof err->where, "%s", file);
  return false;
}

bool(error_wrap)(Error *err, const char *format, ...) {
  char old[sizeof err->message];
  va_list args;
  memcpy(old, err->message, sizeof old);
  va_start(args, format);
  vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  size_t used = strlen(err->message);
  strncat(err->message, ": ", sizeof err->message - used - 1);
  used = strlen(err->message);
  strncat(err->message, old, sizeof err->message - used - 1);
  return false;
}

int error_exit_status(ErrorCode code) { return codes[code].exit_status; }

const char *error_word(ErrorCode code) { return codes[code].word; }

const char *error_hint_text(const Error *err) { return err->hint[0] != '\0' ? err->hint : codes[err->code].hint; }

_Noreturn void error_out_of_memory(void) {
  static const char text[] =
      "tidegate: out of memory: stopped at once; production is untouched unless the swap had already committed\n"
      "HINT: free memory, then the same command carries on\n";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  _exit(codes[ERR_MEMORY].exit_status);
}
