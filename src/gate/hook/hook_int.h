#ifndef TIDEGATE_GATE_HOOK_HOOK_INT_H
#define TIDEGATE_GATE_HOOK_HOOK_INT_H

#include "base/doc.h"
#include "gate/hook/hook.h"

/* What the files of the protocols share. */

typedef struct HookTexts {
  Arena *arena;
  const char **items;
  size_t n;
} HookTexts;

void hook_add_text(HookTexts *texts, const char *text);
/* Every piece of code in the tool's arguments, whatever language: as a text that bash would run. */
void hook_collect(HookTexts *texts, const DocNode *input, const char *tool);
/* Does a field anywhere inside hold a command? */
bool hook_has_command(const DocNode *node);

/* One document of JSON; a mapping. `what` names the input in the message. Errors: ERR_USAGE. */
bool hook_parse(Arena *arena, const char *what, const char *input, size_t n, const DocNode **ret, Error *err);

bool hook_read_agent(Arena *arena, const HookPlace *place, const char *input, size_t n, HookQuestion *ret, Error *err);
bool hook_read_airflow(Arena *arena, const char *input, size_t n, HookQuestion *ret, Error *err);

/* The place's own words for the verdict. by_pass: a backfill was let through. reasons: a JSON array. */
void hook_say(const HookPlace *place, CommandDecision decision, bool by_pass, const char *message, const char *reasons,
              HookReply *ret);

#endif
