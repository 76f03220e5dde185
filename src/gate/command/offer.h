#ifndef TIDEGATE_GATE_COMMAND_OFFER_H
#define TIDEGATE_GATE_COMMAND_OFFER_H

#include "base/error.h"
#include "gate/command/command.h"
#include "spec/spec.h"

/* The safe way instead of a command that was denied: a draft of the spec, and what to type then. */

typedef struct OfferAsk {
  const char *text; /* n bytes, as they were typed; NULL: it was no command line (a REST request) */
  size_t n;
  const TriggerReport *report; /* what it starts */
  const char *table;           /* the first that it writes; NULL: not known */
  const char *also;            /* other tables that it writes, which the draft is not about; NULL: none */
  int shift;                   /* days from the dates that it names to those of the rows */
  const Spec *pipeline; /* tidegate.yaml, for this table or its top; NULL or without pipeline_file: there is none */
  const char *file;     /* the draft's path; NULL: TABLE-FROM-TO.backfill.yaml */
} OfferAsk;

typedef struct Offer {
  const char *path, *yaml;
  const char *line;     /* the command with places for a batch's dates; NULL: a person must write it … */
  const char *why_not;  /* … because of this */
  bool apart;           /* the command writes dates too that do not stand beside those of the draft */
  const char *backfill; /* "tidegate backfill FILE", for a command that can write a shadow */
  const char *snapshot; /* "tidegate snapshot FILE --then '…'"; "…" itself where there is no line */
} Offer;

/* Everything in the arena; nothing is written. ERR_USAGE when the report holds no command that rewrites dates. */
bool offer_draft(Arena *arena, const OfferAsk *ask, Offer *ret, Error *err);

/* The draft for a command line, with what tidegate.yaml says of it; the verdict is another matter. file: as in
 * OfferAsk. */
bool command_draft(Arena *arena, const CommandAsk *ask, const char *file, Offer *ret, Error *err);

/* Writes the draft; ERR_USAGE when there is a file of that name, which stays as it is. */
bool offer_write(const Offer *offer, Error *err);

/*
 * The text with places ({from}, {to_inclusive}, …) where its dates stand, so that filled with the dates of any batch it
 * is read as the same command over exactly those. shift: as in OfferAsk. NULL: it cannot be done; *ret_why says why.
 */
const char *offer_line(Arena *arena, const char *text, size_t n, const TriggerReport *report, int shift,
                       const char **ret_why);

/* What stands for a value that a person must fill in: a spec that holds it is refused, with the place of each. */
#define OFFER_BLANK SPEC_BLANK

#endif
