/*
 * Schedules from any text: what parses must fire, ever later, within the union of all readings, and close the window
 * around its fires. The first byte chooses the zone and the dialect, the next four the instant.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "time/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth) {
  if (!truth) abort();
}

static void check_error(const Error *err) {
  demand(err->code == ERR_SPEC && err->message[0] != '\0' && err->hint[0] != '\0');
}

/* The fires under each pair of policies ascend, and each is one of the union's. */
static void check_fires(const Schedule *schedule, Instant start) {
  for (int policy = 0; policy < 16; policy++) {
    Instant after = start, fire, any;
    for (int i = 0; i < 8; i++, after = fire) {
      if (!schedule_next(schedule, after, (GapPolicy)(policy / 4), (OverlapPolicy)(policy % 4), &fire)) break;
      demand(fire > after && fire >= INSTANT_MIN && fire <= INSTANT_MAX);
      demand(schedule_next_any(schedule, fire - 1, &any) && any == fire);
      demand(schedule_next_any(schedule, after, &any) && any > after && any <= fire);
    }
  }
}

static void check_windows(const Schedule *schedule, Instant start) {
  const BusyRule rule = {schedule, 600, 300, 30};
  const WindowRules rules = {.busy = &rule, .n = 1};
  WindowClosed closed;
  Instant fire;
  Window window;
  if (schedule_next_any(schedule, start, &fire)) {
    demand(!window_free(&rules, fire, fire + 1, &closed) && closed.by == CLOSED_BY_RUN && closed.at <= fire);
    demand(!window_free(&rules, fire - 300, fire - 300, &closed));
  }
  if (window_next(&rules, start, 60, 86400, &window)) {
    demand(window.from >= start && window.to - window.from >= 60 && window.to <= start + 86400);
    demand(window_free(&rules, window.from, window.to, &closed));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const zones[] = {"UTC",          "Europe/Berlin",    "America/New_York", "Australia/Lord_Howe",
                                      "Pacific/Apia", "America/Nuuk",     "Antarctica/Troll", "America/St_Johns",
                                      "Asia/Hebron",  "America/Sao_Paulo"};
  if (size < 5) return 0;
  ARENA_SCOPED arena = {0};
  const Zone *zone;
  const Schedule *schedule;
  Error err = {0};
  uint32_t number;
  memcpy(&number, data + 1, 4);
  /* Mostly our time, every eighth case anywhere in the years accepted. */
  Instant start = number % 8 == 0 ? INSTANT_MIN + (Instant)number * 74 : (Instant)number;
  if (!zone_open(&arena, zones[data[0] % 10], &zone, &err)) return 0;
  const char *const *dialects = schedule_dialects();
  size_t n_dialects = 0;
  while (dialects[n_dialects] != NULL) n_dialects++;
  const char *expression = arena_strndup(&arena, (const char *)data + 5, size - 5);
  if (!schedule_parse(&arena, dialects[data[0] / 10 % n_dialects], expression, zone, &schedule, &err)) {
    check_error(&err);
    return 0;
  }
  demand(strcmp(schedule_expression(schedule), expression) == 0);
  check_fires(schedule, start);
  check_windows(schedule, start);
  return 0;
}
