#ifndef TIDEGATE_SPEC_SPEC_INT_H
#define TIDEGATE_SPEC_SPEC_INT_H

#include "spec/spec.h"

/* Private to the room: the table of known keys and the readers of their values. */

/* The file being read. file NULL while defaults are applied: their places say so. */
typedef struct SpecReader {
  Arena *arena;
  const char *file, *source;
  unsigned level; /* one of SPEC_IN_… */
  Error *err;
} SpecReader;

typedef struct SpecRow SpecRow;

/* Reads a value into the member of the Spec (or of the list item) that the row names. */
typedef bool SpecRead(SpecReader *reader, const SpecRow *row, const DocNode *value, void *member);

struct SpecRow {
  SpecKey key;
  SpecRead *read;
  size_t offset;
};

/* keys.c */

/* The row of a key inside `parent` ("" at the top), wherever it may stand; NULL if there is none. */
const SpecRow *spec_row(const char *parent, const char *name);

/* Reads every key of a mapping into the object at base. Refuses unknown keys, those of other places, and no value. */
bool spec_read_keys(SpecReader *reader, const char *parent, const DocNode *mapping, void *base);

/* Applies the defaults of the keys inside `parent` ("" for the top) and below to the object at base. */
bool spec_apply_defaults(SpecReader *reader, const char *parent, void *base);

/* values.c: errors at a node; each returns false */

bool spec_refuse(SpecReader *reader, const DocNode *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hints at the row's example. */
bool spec_hint_example(SpecReader *reader, const SpecRow *row);
/* Keeps the message and the hint of reader->err, and adds the node's place and the key's name. */
bool spec_refuse_inner(SpecReader *reader, const SpecRow *row, const DocNode *node);

SpecPlace spec_place(const SpecReader *reader, const DocNode *node);
/* A node's text with its place. */
SpecText spec_text(const SpecReader *reader, const DocNode *node);
/* The same for a mapping's key. */
SpecText spec_key_text(const SpecReader *reader, const DocNode *node);

/* A scalar that is not blank (refused otherwise), and one that holds SQL. */
bool spec_check_text(SpecReader *reader, const SpecRow *row, const DocNode *node);
bool spec_check_sql(SpecReader *reader, const SpecRow *row, const DocNode *node);
/* True for an unquoted true or yes, in any case. */
bool spec_is_yes(const DocNode *node);
bool spec_is_no(const DocNode *node);

SpecRead spec_read_text;     /* SpecText */
SpecRead spec_read_sql;      /* SpecText */
SpecRead spec_read_texts;    /* SpecTexts: a text or a list of different ones */
SpecRead spec_read_sqls;     /* SpecTexts */
SpecRead spec_read_word;     /* const char *: any text */
SpecRead spec_read_bool;     /* bool */
SpecRead spec_read_count;    /* int, from 0 */
SpecRead spec_read_tries;    /* int, from 1 */
SpecRead spec_read_duration; /* double, seconds, from 0 */
SpecRead spec_read_timeout;  /* double, seconds, above 0: databases take 0 as "no timeout" (law 9) */
SpecRead spec_read_size;     /* int64_t, above 0 */
SpecRead spec_read_share;    /* double, above 0, at most 1 */

/* parts.c: values with a form of their own; Spec * where not said otherwise */

SpecRead spec_read_group; /* a mapping of the row's inner keys, into the same object */
SpecRead spec_read_database, spec_read_recompute, spec_read_production, spec_read_idle, spec_read_targets;
SpecRead spec_read_publish, spec_read_shadow, spec_read_unlogged, spec_read_triggers;
SpecRead spec_read_grain, spec_read_date_kind; /* SpecText */
SpecRead spec_read_command;                    /* SpecTexts */
SpecRead spec_read_dialect, spec_read_needs;   /* const char * */

/* A path, relative to the file being read. */
const char *spec_beside(const SpecReader *reader, const char *path);

/* jobs.c */

/* After merging: has every job its tables, and every way of asking whether it runs all that it needs? */
bool spec_check_jobs(const Spec *spec, Error *err);

SpecRead spec_read_jobs, spec_read_freeze;                      /* Spec * */
SpecRead spec_read_timetable;                                   /* bool: data intervals */
SpecRead spec_read_shift;                                       /* int: days */
SpecRead spec_read_override;                                    /* SpecOverride */
SpecRead spec_read_airflow_version;                             /* int */
SpecRead spec_read_day, spec_read_url, spec_read_advisory_lock; /* SpecText */

/* lists.c: Spec * */

SpecRead spec_read_changes, spec_read_tolerance, spec_read_sources, spec_read_downstream;

/* lineage.c */

SpecRead spec_read_paths;     /* SpecTexts: a path or a list of them, resolved; URLs stay as they are */
SpecRead spec_read_overrides; /* Spec * */

/* merge.c */

/* A text that was read; text NULL: there is none. */
typedef struct SpecInput {
  const char *path, *text;
  size_t length;
} SpecInput;

/* Reads and merges. backfill NULL: the pipeline alone, with the entry of `target` (NULL: the top alone). */
bool spec_merge(Arena *arena, const SpecInput *backfill, const SpecInput *pipeline, const char *target, Spec *ret_spec,
                Error *err);
/* The mapping `targets` of a pipeline's text, its values read and checked; NULL when there is none. */
bool spec_targets(Arena *arena, const SpecInput *pipeline, const DocNode **ret_targets, Error *err);

#endif
