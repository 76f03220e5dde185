#ifndef TIDEGATE_TIME_QUARTZ_FIELD_H
#define TIDEGATE_TIME_QUARTZ_FIELD_H

#include "time/cron_field.h"

/* What Quartz and the schedules of AWS share: seven fields, one of the two day fields "?". Private to this room. */
enum {
  QUARTZ_SECOND,
  QUARTZ_MINUTE,
  QUARTZ_HOUR,
  QUARTZ_DAY,
  QUARTZ_MONTH,
  QUARTZ_WEEKDAY,
  QUARTZ_YEAR,
  QUARTZ_FIELDS
};

typedef struct QuartzForm {
  bool wraps;    /* a range may end before it begins: FRI-MON, 22-2 */
  int last_year; /* the greatest that may be written */
  bool offsets;  /* L-3, L-3W and a step without a value before it, "/5" */
} QuartzForm;

/* Reads the seven fields, which cron_split has cut. False with an error, also when they never fire. */
bool quartz_read(Arena *arena, const QuartzForm *form, CronReader readers[QUARTZ_FIELDS], DialectRule *ret, Error *err);

#endif
