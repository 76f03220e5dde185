#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "cli/target.h"
#include "view/calendar.h"

static int run(Session *session);

static const CliOption options[] = {{"range", 'r', "A..B", "only these dates, both included (else all that have rows)"},
                                    {NULL, '\0', NULL, NULL}};

static const CliExample examples[] = {
    {"tidegate scan daily_delays --range 2013-01-01..2013-03-31", "three months as a calendar"},
    {"tidegate scan --json daily_delays", "every date with its rows"},
    {NULL, NULL}};

const Command command_scan = {
    .name = "scan",
    .summary = "show which dates are missing, empty, doubled or late: a calendar",
    .arguments = "TARGET",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .about =
        "Counts the rows of every date and marks the dates without rows, and those with far more or far fewer "
        "than the median of the same weekday. It reads the table and writes nothing. Wrong values in the right "
        "number of rows do not show here.",
    .exits = {ERR_DATABASE, ERR_NOT_FOUND, ERR_NONE},
    .examples = examples,
    .run = run};

/* A value of the date column as an instant, by the codec. */
static bool read_date(const DateCodec *codec, const char *text, Instant *ret) {
  return text != NULL && datecodec_from_written(codec, text, ret);
}

/* From the lowest date that there is to the highest. */
static bool whole_range(const Shape *shape, const DateProfile *profile, DateRange *ret, Error *err) {
  Instant last = 0;
  if (!read_date(&shape->codec, profile->lowest, &ret->from) || !read_date(&shape->codec, profile->highest, &last)) {
    error_set(err, ERR_SPEC, "the lowest or the highest value of %s is not a date: %s, %s",
              shape->columns[shape->date].name, profile->lowest == NULL ? "NULL" : profile->lowest,
              profile->highest == NULL ? "NULL" : profile->highest);
    error_hint(err, "give the dates to look at: --range A..B");
    return false;
  }
  ret->to = grain_next(shape->codec.grain, shape->codec.zone, last);
  return true;
}

static int run(Session *session) {
  enum { MOST_DATES = 200000 };
  Shape shape;
  DateProfile profile = {0};
  DateRange range;
  DateRecord *counts = NULL;
  size_t n = 0;
  int64_t nulls = -1;
  Error err;
  const char *target = session_word(session, 0), *asked = args_value(session->args, "range");
  if (!session_pipeline(session, target, &err) || !target_shape(session, target, &shape, &profile, &err))
    return session_fail(session, &err);
  bool ok = asked == NULL ? whole_range(&shape, &profile, &range, &err)
                          : date_range_parse(asked, shape.codec.grain, shape.codec.zone, &range, &err);
  if (ok && date_range_count(&range, shape.codec.grain, shape.codec.zone) > MOST_DATES)
    ok = error_set(&err, ERR_USAGE, "more than %d dates: give a --range", MOST_DATES);
  if (!ok || !session->engine->ops->count_dates(session->engine, &session->arena, &shape, range, NULL, &counts, &n,
                                                &nulls, &err))
    return session_fail(session, &err);
  Calendar calendar = calendar_mark(&session->arena, &shape, range, counts, n);
  calendar.null_dates = nulls;
  if (session->json) {
    Json json = session_object(session);
    view_calendar_json(&json, &calendar);
    session_object_end(session, &json);
  } else {
    view_calendar(&session->paint, &session->arena, &calendar);
  }
  return session_flush(session);
}
