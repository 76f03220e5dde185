#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/trigger/trigger.h"

/* Any text gives one of the three answers, with the answer's own parts, and the same when it is asked again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  char *text = arena_strndup(&arena, "", 0);
  if (size > 0) {
    text = arena_alloc(&arena, size + 1);
    memcpy(text, data, size);
  }
  TriggerReport first = trigger_classify(&arena, text, size), again = trigger_classify(&arena, text, size);
  if (first.verdict != again.verdict || first.n != again.n) abort();
  if ((first.verdict == TRIGGER_NO) != (first.n == 0)) abort();
  if ((first.verdict == TRIGGER_ASK) != (first.why != NULL) && first.verdict == TRIGGER_ASK) abort();
  for (size_t i = 0; i < first.n; i++)
    if (first.items[i].system == NULL || (!first.items[i].sure && first.items[i].why == NULL)) abort();
  return 0;
}
