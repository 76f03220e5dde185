#ifndef TIDEGATE_CASCADE_CASCADE_H
#define TIDEGATE_CASCADE_CASCADE_H

#include "plan/plan.h"

/* What was made from rows that a backfill corrected is made right too: which things, in which order, by what. */

typedef enum CascadeAct {
  CASCADE_NOTHING,  /* it follows by itself, or reads only what did not change */
  CASCADE_BACKFILL, /* a backfill of its own, drafted from its SQL, or handed to its own tool over a snapshot */
  CASCADE_REFRESH,  /* a materialized view of this database */
  CASCADE_HAND      /* nothing that Tidegate can do: `why` and `command` say what is to be done */
} CascadeAct;

/* A query that gives all rows of a table. */
typedef struct CascadeQuery {
  const char *sql;     /* NULL: there is none */
  bool by_place;       /* its columns are the table's in their order, whatever their names; else by name */
  const char *columns; /* by_place: the columns that they are, as SQL has such lists; NULL: all that can be given */
} CascadeQuery;

typedef struct CascadeStep {
  const LineageNode *node;
  CascadeAct act;
  const char *table;           /* as the engine spells it, where the database has it; else NULL */
  CascadeQuery query;          /* of a backfill: none where `line` is given */
  const char *line;            /* of a backfill: what its own tool writes it in place by, as tidegate.yaml has it */
  const char *why;             /* of what is left to hands: why; NULL otherwise */
  const char *command;         /* what to type for it; NULL: not known */
  const BackfillRecord *child; /* its newest backfill that follows this one and goes on or is done; NULL: none */
  const char *done;            /* what made it right, in words; NULL: it is not yet */
  const char *waits;           /* the name of what must be right before; NULL: nothing */
} CascadeStep;

typedef struct Cascade {
  CascadeStep *steps; /* parents before children, as in the blast radius */
  size_t n;
  const Plan *parent;
  const BackfillRecord *record;
  Instant since; /* when the target last changed by this backfill: what was done before counts for nothing */
} Cascade;

/* The word that JSON has for it: "nothing", "backfill", "refresh", "hand". */
const char *cascade_act_name(CascadeAct act);

/* The steps of everything downstream of a backfill that was published, and what the ledger says of them. Reads only.
 * Errors: ERR_DATABASE. */
bool cascade_make(Arena *arena, Engine *engine, const Plan *parent, const BackfillRecord *record, Cascade *ret,
                  Error *err);

/* After a step was done: what it is that the others wait for now. */
void cascade_settle(Cascade *cascade);

/* Is it wrong still? Whoever follows by itself is so while what it reads is. */
bool cascade_is_open(const CascadeStep *step);
/* Is it for somebody to be told of, who decides for themselves? Then the rest does not count it as left over. */
bool cascade_is_told(const CascadeStep *step);
/* The steps that are wrong still, without those that somebody is to be told of. */
size_t cascade_left(const Cascade *cascade);

/* What tidegate.yaml says of a child: the file of the backfill, else the nearest. Errors: those of spec_load_pipeline.
 */
bool cascade_child_spec(Arena *arena, const BackfillRecord *record, const char *table, Spec *ret, Error *err);

/* The event in the parent's record by which a step without a backfill is known as done. */
extern const char cascade_event[];
/* Its detail: "NAME: how". */
const char *cascade_detail(Arena *arena, const CascadeStep *step, const char *how);

/* What a draft is made of, beside the step. */
typedef struct CascadeChild {
  const Shape *shape; /* its columns and its date column with the kind of dates */
  const Spec *spec;   /* what tidegate.yaml says of it */
  bool keyed;         /* by the table itself */
  const char *begin;  /* the first date that its job makes, as the manifest says it; NULL: not said */
  const char *columns,
      *surplus;           /* those of its SQL that the table has, as SQL, and the others; NULL: all are its own */
  const DbtCheck *checks; /* the tests that dbt has of it */
  size_t n_checks;
} CascadeChild;

/* Sets columns and surplus. A query that the database does not understand sets neither: planning will say why. */
void cascade_columns(Arena *arena, Engine *engine, const CascadeStep *step, CascadeChild *child);

/* The child's own dates: those of the step, from the first that its job makes or that it has, up to the last that is
 * over, and where everything after a wrong date is wrong up to the last that it has. Errors: ERR_DATABASE; ERR_SPEC
 * when it is not known which dates are wrong, or none of them is there. */
bool cascade_range(Arena *arena, Engine *engine, const CascadeStep *step, const CascadeChild *child, DateRange *ret,
                   Error *err);

/* Dates of the child beside the range that are right today, so that its recompute can be held against them: behind the
 * range, where dates that it should have held would differ too; else before it. from == to: it has none.
 * Errors: ERR_DATABASE. */
bool cascade_control(Arena *arena, Engine *engine, const CascadeChild *child, DateRange range, DateRange *ret,
                     Error *err);

/* Has it a key that the plan will find: a primary key, or a unique index whose columns are never NULL? */
bool cascade_keyed(const TableFacts *table);

/* The child's spec as text. control from == to: none. A child that is handed to its tool has its control dates in the
 * range, where nothing may change, if it has a key. Its first line says whose draft it is and holds a sum of the rest.
 */
const char *cascade_draft(Arena *arena, const Cascade *cascade, const CascadeStep *step, const CascadeChild *child,
                          DateRange range, DateRange control);
/* Did a person change this draft? */
bool cascade_draft_edited(const char *text);

/* The query of a statement that fills a table: of CREATE TABLE … AS, of INSERT … SELECT, or the SELECT itself. .sql
 * NULL: there is none. */
CascadeQuery cascade_query(Arena *arena, const char *statement);

/* The text on one line, for comments. */
const char *cascade_plain(Arena *arena, const char *text);

/* A file name for a step's draft: the letters, digits, dots, dashes and underscores of its name. */
const char *cascade_file_name(Arena *arena, const CascadeStep *step);

#endif
