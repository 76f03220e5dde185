#ifndef TIDEGATE_TIME_CRON_FIELD_H
#define TIDEGATE_TIME_CRON_FIELD_H

#include "time/dialect.h"

/*
 * What the dialects of the cron family share: reading fields into sets, and the search over the calendar for the next
 * time that the sets hold. Private to this room.
 */

/* Bit i of a word stands for the year 64 × word + i. */
typedef struct CronYears {
  uint64_t bits[(CIVIL_YEAR_MAX + 64) / 64];
} CronYears;

/* Which days of a month match. The side of the month is the union of its four sets, that of the week of its two. */
typedef struct CronDays {
  uint32_t of_month;          /* bits 1–31 */
  uint32_t from_end;          /* bit i: i days before the last day of the month */
  uint32_t workdays;          /* bits 1–31: Monday to Friday nearest to that day, never in another month */
  uint32_t workdays_from_end; /* bit i: Monday to Friday nearest to i days before the last day */
  uint8_t weekdays;           /* bits 0 (Sunday) to 6 */
  uint8_t nth[6];             /* [1] to [5]: weekdays as bits, of which the n-th of the month; [0]: the last */
  bool clamp_workdays;        /* of `workdays`: a day that the month has not counts as its last day; else as none */
  bool spill_workdays;        /* of `workdays`: a Saturday just after the month gives its last day, as Quartz has it */
  bool both_sides;            /* both sides must match (AND); else one of them (OR) */
} CronDays;

/* Bit i is set when the value i matches. */
typedef struct CronRule {
  uint64_t seconds, minutes;
  uint32_t hours, months;
  CronDays days;
  const CronYears *years; /* NULL: every year */
} CronRule;

enum { CRON_ALL_HOURS = (1 << 24) - 1, CRON_ALL_MONTHS = (1 << 13) - 2, CRON_ALL_WEEKDAYS = 0x7f };
#define CRON_ALL_SIXTY ((UINT64_C(1) << 60) - 1)
#define CRON_ALL_DAYS UINT32_C(0xfffffffe)

/* The search, as DialectRule.next wants it; `rule` is a CronRule. */
bool cron_next(const void *rule, const Civil *from, Civil *ret);

/* False with an error when the rule never fires from the year 1 on. */
bool cron_check_fires(const CronRule *rule, Error *err);

/* One field of a dialect. */
typedef struct CronField {
  const char *name; /* for messages: "day of month" */
  int min, max;
  const char *const *names; /* cron_months, cron_weekdays, or NULL; read in any case */
  int first_name;           /* the value of names[0] */
} CronField;

/* Whole English names, of which the first three letters are what most dialects know. NULL-terminated. */
extern const char *const cron_months[], *const cron_weekdays[];

/* What messages say of a dialect. */
typedef struct CronDialect {
  const char *name;       /* "vixie" */
  const char *order;      /* "minute, hour, day of month, month, day of week" */
  const char *shorthands; /* "@hourly @daily …" */
} CronDialect;

typedef struct CronShorthand {
  const char *name, *expression;
} CronShorthand;

/* One field being read; `text` goes forward over it, and what it holds is collected in `bits` or `years`. */
typedef struct CronReader {
  const CronField *field;
  const CronDialect *dialect;
  const char *text, *end;
  uint64_t bits;
  CronYears *years; /* NULL: values are below 64 and go to `bits` */
  Error *err;
} CronReader;

/* The line without blanks at both ends; in the arena. */
const char *cron_trim(Arena *arena, const char *line);
/* Cuts a line at blanks into at most `max` fields and returns how many there are, also when there are more. */
int cron_split(const char *line, const CronDialect *dialect, Error *err, CronReader *readers, int max);

/* The same for five fields or six with the second first, which is 0 when there are five; false with an error if not. */
bool cron_split_second_first(const char *line, const CronDialect *dialect, Error *err, CronReader readers[6]);
/*
 * The line, or what its "@" word stands for; NULL with an error if it is no shorthand of the `n` in the table. In any
 * case of letters when `any_case`.
 */
const char *cron_expand(const CronDialect *dialect, const CronShorthand *table, size_t n, bool any_case,
                        const char *line, Error *err);

/* Goes over the character if it is next. */
bool cron_take(CronReader *reader, char c);
/* Goes over digits; false if there are none. Numbers above 99,999 are given as something above it. */
bool cron_take_digits(CronReader *reader, int *ret);
/* A number from min to max, or a name by its first three letters. An error if there is neither. */
bool cron_take_value(CronReader *reader, int *ret);
/* The number after "/", 1 or more. */
bool cron_take_step(CronReader *reader, int *ret);
/* Adds the values from first to last by steps, both included. */
void cron_add(CronReader *reader, int first, int last, int step);
/* The word of letters that comes next; 0 bytes long when there is none. */
size_t cron_word(const CronReader *reader);

/* An error about the field. Always false. */
bool cron_refuse(CronReader *reader, const char *why, const char *hint);
/* The error about what stands at `text`: a sign of another dialect, or not understood at all. Always false. */
bool cron_refuse_sign(CronReader *reader);
/* The error about an "@" word that cannot be predicted or is not of the dialect. Always false. */
bool cron_refuse_shorthand(const CronDialect *dialect, const char *expression, Error *err);

#endif
