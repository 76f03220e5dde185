#ifndef TIDEGATE_VIEW_IMPACT_H
#define TIDEGATE_VIEW_IMPACT_H

#include "base/error.h"
#include "base/json.h"
#include "lineage/lineage.h"
#include "view/paint.h"

/*
 * What is downstream of a target, or upstream of it, as a tree, as JSON, as the text of a graph and as a picture. All
 * of them are made from ImpactFacts. Names are anybody's: each rendering escapes them.
 */

/* NULL: not known, or nothing to say. */
typedef struct ImpactNode {
  const char *name, *kind;
  Needs needs;
  const char *range; /* the dates that it needs, as a person reads them; NULL too where nothing is to be done */
  const char *first, *last, *grain; /* the same as grain_label has them, both included */
  bool assumed;                     /* nobody said how its dates come from those that it reads */
  const char *why;                  /* why it needs that */
  const char *reader;               /* who knows of it */
  const char *place;                /* file:line */
  const char *age;                  /* of what the reader read: "2 hours old" */
  const char *owner;
  unsigned level; /* the longest way from the target, which is 0 */
  unsigned depth; /* the shortest */
} ImpactNode;

/* far reads near or, upstream, near reads far: towards the target and away from it. */
typedef struct ImpactArrow {
  size_t near, far;
  const char *columns; /* that are read, comma between */
  const char *via;     /* how, when it is more than reading */
} ImpactArrow;

typedef struct ImpactSource {
  const char *reader, *path, *covers, *age;
  const char *failed; /* why it is not read, or not wholly */
} ImpactSource;

typedef struct ImpactFacts {
  bool upstream;
  bool known;              /* one source at least names the target, and it is one node */
  const char *finding;     /* why not */
  const char *range;       /* that was asked about */
  const char *columns;     /* that were asked about */
  const ImpactNode *nodes; /* the target first; each behind those of lower levels, within one by name */
  size_t n;
  size_t left_out;           /* of those that need nothing */
  const ImpactArrow *arrows; /* by near, then far; one a pair */
  size_t n_arrows;
  const char *const *cycles; /* "a → b → a" */
  size_t n_cycles;
  const ImpactSource *sources;
  size_t n_sources;
  const char *const *blind; /* what was not read, to stand after "not read: " */
  size_t n_blind;
  const char *const *joins; /* names that were taken for one, or could not be */
  size_t n_joins;
} ImpactFacts;

/* What was asked. */
typedef struct ImpactAsk {
  const char *target;
  bool upstream, leave_out; /* leave_out: what needs nothing is counted and not shown */
  bool ranged;              /* range and grain are given */
  DateRange range;
  Grain grain;
  const Zone *zone;    /* of dates; NULL: UTC */
  Instant now;         /* to tell ages; 0: they are not told */
  const char *columns; /* as they are shown; NULL: none were given */
} ImpactAsk;

/* From a graph that was walked. It points into the radius, which must be of a graph. */
void impact_facts(Arena *arena, const BlastRadius *radius, const ImpactAsk *ask, ImpactFacts *ret);

/* Whether everything is shown, or what is wide or deep is collapsed into counts. */
typedef enum ImpactSize { IMPACT_READABLE, IMPACT_ALL } ImpactSize;

/* The title, the tree, and what was read. */
void view_impact(Paint *paint, Arena *arena, const ImpactFacts *facts, ImpactSize size);
/* The tree alone. */
void view_impact_tree(Paint *paint, Arena *arena, const ImpactFacts *facts, ImpactSize size);
/* Members of an open object. Never collapsed. */
void view_impact_json(Json *json, const ImpactFacts *facts);

/* "3 follow, 5 cascade, 1 unknown". */
const char *view_impact_counts(Arena *arena, const ImpactFacts *facts);

/* The text of a graph. */
void view_impact_mermaid(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size);
void view_impact_dot(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size);

/*
 * A picture: one layer a level, what each needs by colour and word. It holds no script, loads nothing and is legible in
 * light and dark. Boxes can be reached by the keyboard and lead to their line in the list, and the lines back. Errors:
 * as layout_fill.
 */
bool view_impact_svg(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size, Error *err);
/* The same for a page that has view_impact_table too: without the list. */
bool view_impact_picture(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size, Error *err);
/* The list as a table of HTML: every node. `linked`: to the boxes of the picture of that size, which is there too. */
void view_impact_table(Buf *out, Arena *arena, const ImpactFacts *facts, bool linked, ImpactSize size);
/* One file with the picture, where it can be drawn, the table and what was read. */
void view_impact_html(Buf *out, Arena *arena, const ImpactFacts *facts, ImpactSize size);

#endif
