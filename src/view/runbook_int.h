#ifndef TIDEGATE_VIEW_RUNBOOK_INT_H
#define TIDEGATE_VIEW_RUNBOOK_INT_H

#include "view/runbook.h"

/* The chapters of the runbook, and the SQL in them. Private to view/runbook*.c. */

/* A word of the templates in the .sql files and what stands for it. */
typedef struct Filling {
  const char *word, *text;
} Filling;

/* Writes statements for the client of the target's engine. */
typedef struct Hand {
  Page *page;
  const RunbookFacts *facts;
  bool postgres;
  Filling *fillings;
  size_t n;
} Hand;

/* The tables that a chapter works with, as SQL names them. */
typedef struct HandNames {
  const char *changes, *shadow, *snapshot, *log, *id;
} HandNames;

Hand hand_of(Page *page, const RunbookFacts *facts, const HandNames *names);
/* What a word stands for from now on. */
void hand_set(Hand *hand, const char *word, const char *text);
/* A template with its words filled in. */
const char *hand_fill(const Hand *hand, const char *text);
/* runbook_fold.c: breaks long lines where SQL does not mind: not in a quoted text, and not where a comment or a command
 * of the client could be meant. */
void hand_fold(Buf *out, Arena *arena, const char *text);
/* A block of statements: templates one after the other, NULL where there is none for the engine. */
typedef struct HandSql {
  const char *sqlite, *postgres;
} HandSql;
void hand_sql(Hand *hand, const HandSql *templates, size_t n);
#define HAND_SQL(hand, ...) \
  hand_sql((hand), (const HandSql[]){__VA_ARGS__}, sizeof((const HandSql[]){__VA_ARGS__}) / sizeof(HandSql))

/* What keeps the target's triggers from firing where tidegate.yaml says skip, and turns them on again. */
void hand_triggers(Hand *hand, bool off);

/* Which of the shape's columns. */
typedef enum Pick {
  PICK_KEY,    /* without a key: those that are given */
  PICK_GIVEN,  /* the recompute gives them */
  PICK_VALUES, /* given, but not the key */
  PICK_STORED, /* all but those that the database makes itself */
  PICK_REST    /* stored, not given */
} Pick;
bool hand_picked(const Shape *shape, const ShapeColumn *column, Pick pick);
bool hand_any(const Shape *shape, Pick pick);
/* Every picked column by a pattern in which @ is its quoted name and ? its name under the prefix. */
const char *hand_columns(Arena *arena, const Shape *shape, Pick pick, const char *pattern, const char *prefix,
                         const char *separator);
const char *hand_quoted(Arena *arena, const char *prefix, const char *name, char quote);
/* The lines by which a session knows the range [from, to) as :from and :to; from == to: places to fill in. */
const char *hand_range(const Hand *hand, DateRange range);

/* runbook_lineage.c: what is made from the target, what each needs, and for HTML a picture of it */
void runbook_downstream(Page *page, const RunbookFacts *facts);
/* runbook_jobs.c */
void runbook_jobs(Page *page, const RunbookFacts *facts);
/* runbook_windows.c: the next ones as text, or why they cannot be told */
const char *runbook_windows(Arena *arena, const RunbookFacts *facts);
/* runbook_left.c: with what Tidegate left in the database */
void runbook_left(Page *page, const RunbookFacts *facts);
/* runbook_hand.c: without it */
void runbook_hand(Page *page, const RunbookFacts *facts);
void runbook_in_place(Page *page, const RunbookFacts *facts);

#endif
