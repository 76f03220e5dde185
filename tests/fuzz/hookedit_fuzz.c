#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "gate/hook/configs.h"

/*
 * Arbitrary bytes as a place's configuration. What is taken must hold the entry once, be the same when it is added
 * again, and hold none when it is removed; all lines of the file, the entry's aside, must still be there in their
 * order.
 */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

/* Are the bytes of `part`, commas, blanks and line ends aside, in `whole` in the same order? */
static int is_inside(const char *part, const char *whole) {
  for (; *part != '\0'; part++) {
    if (strchr(", \t\r\n", *part) != NULL) continue;
    whole = strchr(whole, *part);
    if (whole == NULL) return 0;
    whole++;
  }
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  const char *binary, *command, *after, *again, *back;
  Error err;
  size_t n;
  const HookFile *files = hook_files(&n);
  if (size == 0) return 0;
  const HookConfig *config = &files[data[0] % n].config;
  const char *text = arena_strndup(&arena, (const char *)data + 1, size - 1);
  if (!hook_edit_find(&arena, config, "f", text, &binary, &command, &err)) return 0;
  if (binary != NULL) return 0; /* what stood there with an entry is changed at will */
  if (!hook_edit_add(&arena, config, "f", text, "/x/tidegate", &after, &err)) {
    require(err.message[0] != '\0' && err.hint[0] != '\0', "a refusal says why and what to do");
    return 0;
  }
  require(is_inside(text, after), "nothing is lost");
  require(hook_edit_find(&arena, config, "f", after, &binary, &command, &err), "what was written is read");
  require(binary != NULL && strcmp(binary, "/x/tidegate") == 0, "the entry is there");
  require(hook_edit_add(&arena, config, "f", after, "/x/tidegate", &again, &err) && strcmp(again, after) == 0, "once");
  require(hook_edit_remove(&arena, config, "f", after, &back, &err), "it can be taken out");
  require(hook_edit_find(&arena, config, "f", back, &binary, &command, &err) && binary == NULL, "it is gone");
  if (config->format != HOOK_JSON) require(strcmp(back, text) == 0, "no trace is left");
  return 0;
}
