#ifndef TIDEGATE_GATE_HOOK_HOOK_H
#define TIDEGATE_GATE_HOOK_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "gate/command/command.h"

/*
 * The places where other tools' commands are typed, and how each asks and is answered. A place calls `tidegate hook run
 * PLACE`, gives its question on standard input and acts upon exit status and output. Here bytes become a question, and
 * a verdict becomes bytes; nothing is read or written. What cannot be answered closes the place, in the place's own
 * way.
 */
typedef struct HookPlace {
  const char *name;
  const char *what; /* what it is, in a few words */
  int closed;   /* the exit status by which it is blocked: any other than 0 that another thing may give must not pass */
  bool can_ask; /* a person sees the question and may say yes */
} HookPlace;

/* All places that judge one input, NULL for a name that is none of them. */
const HookPlace *hook_places(size_t *ret_n);
const HookPlace *hook_place(const char *name);

/* What is longer is not read: the place is closed. */
enum { HOOK_MAX_BYTES = 8 * 1024 * 1024 };

/* What a place asks: every text that would be run; n 0 and report NULL: nothing that could be judged, so it passes. */
typedef struct HookQuestion {
  const char *const *texts; /* as bash reads them */
  size_t n;
  const TriggerReport *report; /* what a request starts, already understood; texts[0] then names it for the record */
  const char *directory;       /* where it would be run; NULL: not said */
  const char *who;             /* NULL: not said */
  bool can_ask;
} HookQuestion;

/* Errors: ERR_USAGE for what is not understood. */
bool hook_read(Arena *arena, const HookPlace *place, const char *input, size_t n, HookQuestion *ret, Error *err);

typedef struct HookReply {
  int status;
  Buf out, err;
} HookReply;

/* Reads, judges every text, and answers. The strictest verdict holds. Never fails: an error is a closed reply. */
void hook_answer(Arena *arena, const HookPlace *place, const char *input, size_t n, HookReply *ret);
/* The reply when there can be no other: the input is too long, or who judges crashed or took too long. */
void hook_close(const HookPlace *place, const char *why, HookReply *ret);
void hook_reply_release(HookReply *reply);

/* A word as bash reads it back, quoted only where it must be; and a command's words with blanks between. */
const char *hook_quote(Arena *arena, const char *word);
const char *hook_quote_all(Arena *arena, const char *const *words, size_t n);

#endif
