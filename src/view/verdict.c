#include "view/verdict.h"

#include "view/words.h"

static bool all_declared(const PlanClock *clock) {
  for (size_t i = 0; i < clock->n; i++)
    if (!clock->jobs[i].declared) return false;
  return clock->n > 0;
}

static bool any_scheduled(const PlanClock *clock) {
  for (size_t i = 0; i < clock->n; i++)
    if (clock->rules[i].schedule != NULL) return true;
  return false;
}

const char *view_window_text(Arena *arena, const Plan *plan, const Verdict *verdict, Instant now) {
  const Zone *zone = words_zone(plan);
  const PlanClock *clock = &plan->clock;
  const char *city = words_city(arena, zone), *text;
  if (!all_declared(clock))
    text = clock->n > 1 ? "not known: when a job runs is not declared"
                        : "not known: nothing is declared about production's own runs";
  else if (!verdict->allow && verdict->wait_until != 0)
    text = arena_printf(arena, "closed until %s %s", words_clock(arena, zone, now, verdict->wait_until), city);
  else if (!verdict->allow)
    text = "not judged open: see the reasons below";
  else if (verdict->window.to == 0)
    text = "open, no end in sight";
  else
    text = arena_printf(arena, "open until %s %s", words_clock(arena, zone, now, verdict->window.to), city);
  if (!any_scheduled(clock))
    return all_declared(clock) ? arena_printf(arena, "%s; production: none scheduled", text) : text;
  if (verdict->next_run == 0)
    return arena_printf(arena, "%s; production at no known time, guard %s", text,
                        words_duration(arena, clock->rules[0].guard));
  return arena_printf(arena, "%s; %s %s, guard %s", text, clock->jobs[verdict->next_job].name,
                      words_clock(arena, zone, now, verdict->next_run),
                      words_duration(arena, clock->rules[verdict->next_job].guard));
}

void view_verdict(Paint *paint, Arena *arena, const Plan *plan, const Verdict *verdict, Instant now, const char *then) {
  if (verdict->allow) {
    paint_verdict(paint, STYLE_GOOD, "ALLOW", "production untouched.%s%s", then[0] != '\0' ? " Next: " : "", then);
    return;
  }
  const char *until = "";
  if (verdict->waits && verdict->wait_until != 0) {
    const Zone *zone = words_zone(plan);
    until = arena_printf(arena, " until %s %s", words_clock(arena, zone, now, verdict->wait_until),
                         words_city(arena, zone));
  }
  paint_verdict(paint, STYLE_BAD, "DENY", "production untouched.%s%s%s%s",
                verdict->waits ? " Only time is missing" : "", until, verdict->waits ? "." : "",
                then[0] == '\0' ? "" : arena_printf(arena, " Next: %s", then));
  for (size_t i = 0; i < verdict->n; i++) {
    paint_line(paint, "", "- %s: %s", verdict->reasons[i].rule, verdict->reasons[i].text);
    if (verdict->reasons[i].hint != NULL && verdict->reasons[i].hint[0] != '\0')
      paint_line(paint, "", "  HINT: %s", verdict->reasons[i].hint);
  }
}
