#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "gate/hook/hook.h"

/*
 * Arbitrary bytes as what a place sends; the first byte says which. Nothing is judged here (that is the shell's
 * target): what is read as a question, and what a closed place is told.
 */

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

static void closes(Arena *arena, const HookPlace *place, const char *why) {
  HookReply reply = {0};
  const DocNode *root;
  Error err;
  hook_close(place, why, &reply);
  require(reply.status == place->closed && reply.status != 0, "closed by its status");
  if (reply.out.len > 0)
    require(doc_parse(arena, "out", buf_text(&reply.out), reply.out.len, &root, &err) && root->kind == DOC_MAPPING,
            "what it prints is JSON");
  hook_reply_release(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ARENA_SCOPED arena = {0};
  HookQuestion question = {0};
  Error err;
  size_t n;
  const HookPlace *places = hook_places(&n);
  if (size == 0) return 0;
  const HookPlace *place = &places[data[0] % n];
  const char *input = arena_strndup(&arena, (const char *)data + 1, size - 1);
  if (!hook_read(&arena, place, input, size - 1, &question, &err)) {
    require(err.code == ERR_USAGE && err.message[0] != '\0', "an error has a message");
    closes(&arena, place, err.message);
    return 0;
  }
  require(place->can_ask || !question.can_ask, "who cannot be asked is not asked");
  for (size_t i = 0; i < question.n; i++) require(question.texts[i] != NULL, "every text is there");
  require(question.report == NULL || question.n == 1, "a request has its text");
  return 0;
}
