#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"

/*
 * Any two texts as a backfill's file and tidegate.yaml; the first line "%%%%" parts them. Whatever is refused must have
 * a message, a hint and ERR_SPEC; whatever is read must keep what the header promises.
 */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

static void check_error(const Error *err) {
  require(err->code == ERR_SPEC, "code");
  require(err->message[0] != '\0', "message");
  require(error_hint_text(err)[0] != '\0', "hint");
  require(strchr(err->snippet, '\x1b') == NULL, "snippet");
}

static void check_spec(const Spec *spec) {
  require(spec->target.text != NULL && spec->range.text != NULL, "target and range");
  require(spec->wrong.text != NULL && spec->correct.text != NULL, "wrong and correct");
  require((spec->recompute.sql.text != NULL) != (spec->recompute.command.n > 0), "one recompute");
  require(spec->n_changes + spec->row_checks.n + spec->total_checks.n > 0 || spec->control.text != NULL, "evidence");
  require(spec->budget.lock > 0 && spec->budget.statement > 0 && spec->budget.swap_lock > 0, "timeouts");
  require(spec->budget.duty > 0 && spec->budget.duty <= 1, "duty");
  Error err;
  spec_error(&err, &spec->range.place, "%s", spec->range.text);
  require(strrchr(err.snippet, '^') != NULL, "caret");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char split[] = "\n%%%%\n";
  ARENA_SCOPED arena = {0};
  Spec spec;
  Error err;
  char *backfill = arena_strndup(&arena, (const char *)data, size);
  char *pipeline = strstr(backfill, split);
  if (pipeline != NULL) {
    pipeline[1] = '\0';
    pipeline += sizeof split - 1;
  }
  if (spec_parse(&arena, "b.yaml", backfill, "tidegate.yaml", pipeline, &spec, &err))
    check_spec(&spec);
  else
    check_error(&err);
  return 0;
}
