/*
 * Everything that is read from a person or a column as text: dates, ranges, quantities, instants, idle hours, zone
 * names. What is accepted must be consistent; what is refused must say why. The first byte chooses the zone and grain.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "time/datecodec.h"
#include "time/posix_tz.h"
#include "time/quantity.h"
#include "time/window.h"
#include "time/zone_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth) {
  if (!truth) abort();
}

static void check_error(const Error *err) {
  demand(err->code != ERR_NONE && err->message[0] != '\0' && err->hint[0] != '\0');
}

static void check_dates(const char *text, size_t n, Grain grain, const Zone *zone) {
  for (DateKind kind = DATE_TEXT; kind <= TIMESTAMP_TEXT; kind++) {
    const DateCodec codec = {kind, grain, zone, n > 10 ? text[10] : ' '};
    Instant date;
    if (!datecodec_from_text(&codec, text, n, &date)) continue;
    demand(grain_floor(grain, zone, date) == date);
    demand(grain_next(grain, zone, date) > date);
    DateKind guessed;
    char separator;
    bool known = datecodec_guess_text(text, n, &guessed, &separator);
    demand(kind == DATE_TEXT || text[10] == ' ' || text[10] == 'T' ? known && guessed == kind : true);
    /* The row lies within the bounds of its own date; an offset makes the text sort by something else. */
    bool has_offset =
        kind == TIMESTAMP_TEXT && (memchr(text, '+', n) != NULL || memchr(text + 10, '-', n - 10) != NULL);
    if (has_offset) continue;
    DateBound from = datecodec_bound(&codec, date), to = datecodec_bound(&codec, grain_next(grain, zone, date));
    ARENA_SCOPED arena = {0};
    const char *row = arena_strndup(&arena, text, n);
    demand(strcmp(row, from.text) >= 0 && strcmp(row, to.text) < 0);
  }
}

static void check_numbers(const char *text, size_t n, Grain grain, const Zone *zone) {
  int64_t integer;
  double real;
  if (n < sizeof integer) return;
  memcpy(&integer, text, sizeof integer);
  memcpy(&real, text, sizeof real);
  for (DateKind kind = UNIX_SECONDS; kind <= JULIAN_DAY; kind++) {
    const DateCodec codec = {kind, grain, zone, ' '};
    Instant date;
    if (datecodec_from_int(&codec, integer, &date)) demand(grain_floor(grain, zone, date) == date);
    if (!datecodec_from_real(&codec, real, &date)) continue;
    demand(grain_floor(grain, zone, date) == date);
    DateBound from = datecodec_bound(&codec, date), to = datecodec_bound(&codec, grain_next(grain, zone, date));
    demand(real >= (from.type == BOUND_REAL ? from.real : (double)from.integer));
    demand(real < (to.type == BOUND_REAL ? to.real : (double)to.integer));
  }
}

static void check_range(const char *text, Grain grain, const Zone *zone) {
  DateRange range;
  Error err = {0};
  char label[96];
  if (!date_range_parse(text, grain, zone, &range, &err)) {
    check_error(&err);
    return;
  }
  demand(range.from < range.to);
  demand(grain_floor(grain, zone, range.from) == range.from && grain_floor(grain, zone, range.to) == range.to);
  demand(date_range_count(&range, grain, zone) >= 1);
  date_range_label(&range, grain, zone, label);
  demand(label[0] != '\0');
}

static void check_quantities(const char *text) {
  double real;
  int64_t bytes;
  Instant at, back;
  char label[40];
  Error err = {0};
  if (duration_parse(text, &real, &err)) {
    demand(real >= 0 && isfinite(real));
    duration_label(real, label);
  }
  if (size_parse(text, &bytes, &err)) {
    demand(bytes >= 0);
    size_label(bytes, label);
  }
  if (share_parse(text, &real, &err)) demand(real >= 0 && real <= 1);
  if (instant_parse(text, &at, &err)) {
    instant_rfc3339(at, zone_utc(), label);
    demand(instant_parse(label, &back, &err) && back == at);
  } else {
    check_error(&err);
  }
}

static void check_idle_hours(Arena *arena, const char *text, const Zone *zone) {
  IdleHours idle;
  Window window;
  WindowClosed closed;
  Error err = {0};
  const WindowRules rules = {.idle = &idle};
  if (!idle_hours_parse(arena, text, zone, &idle, &err)) {
    check_error(&err);
    return;
  }
  /* Twelve days are enough for any hours of any weekday, the day that the clock goes over included. */
  demand(window_next(&rules, 1743200000, 1, 12 * 86400, &window));
  demand(window_free(&rules, window.from, window.to, &closed));
}

static void check_freeze(Arena *arena, const char *text, const Zone *zone) {
  Freeze freeze;
  Window window;
  WindowClosed closed;
  Error err = {0};
  if (!freeze_parse(arena, text, &freeze, &err)) {
    check_error(&err);
    return;
  }
  const Freezes freezes = {zone, &freeze, 1};
  const WindowRules rules = {.freezes = &freezes};
  if (!window_next(&rules, 1743200000, 1, 40 * 86400, &window)) return; /* a range that is longer */
  demand(window_free(&rules, window.from, window.to, &closed));
}

static void check_zone_files(Arena *arena, const char *text, size_t n) {
  Zone zone = {.name = "fuzz"};
  PosixTz tz;
  const char *why = NULL;
  if (posix_tz_parse(text, n, &tz)) demand(posix_tz_start(&tz, 2024) > 0);
  if (!tzif_parse(arena, (const unsigned char *)text, n, &zone, &why)) {
    demand(why != NULL);
    return;
  }
  for (Instant at = -4000000000; at < 20000000000; at += 987654321) {
    Civil civil = zone_civil(&zone, at);
    ZoneReadings readings = zone_read(&zone, &civil);
    demand(readings.n >= 1 && grain_next(GRAIN_HOUR, &zone, at) > at && grain_next(GRAIN_DAY, &zone, at) > at);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const zones[] = {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia",
                                      "America/St_Johns"};
  if (size < 1) return 0;
  ARENA_SCOPED arena = {0};
  const Zone *zone;
  Error err = {0};
  if (!zone_open(&arena, zones[data[0] % 5], &zone, &err)) return 0;
  Grain grain = (Grain)(data[0] / 5 % 5);
  const char *text = arena_strndup(&arena, (const char *)data + 1, size - 1);
  check_dates(text, size - 1, grain, zone);
  check_numbers(text, size - 1, grain, zone);
  check_range(text, grain, zone);
  check_quantities(text);
  check_idle_hours(&arena, text, zone);
  check_freeze(&arena, text, zone);
  check_zone_files(&arena, text, size - 1);
  return 0;
}
