#include "view/verdict.h"

#include "view/words.h"

const char *view_window_text(Arena *arena, const Plan *plan, const Verdict *verdict, Instant now) {
  const Zone *zone = words_zone(plan);
  const char *city = words_city(arena, zone), *text;
  if (!plan->clock.declared)
    text = "not known: nothing is declared about production's own runs";
  else if (!verdict->allow && verdict->wait_until != 0)
    text = arena_printf(arena, "closed until %s %s", words_clock(arena, zone, now, verdict->wait_until), city);
  else if (!verdict->allow)
    text = "not judged open: see the reasons below";
  else if (verdict->window.to == 0)
    text = "open, no end in sight";
  else
    text = arena_printf(arena, "open until %s %s", words_clock(arena, zone, now, verdict->window.to), city);
  if (plan->clock.rule.schedule == NULL)
    return plan->clock.declared ? arena_printf(arena, "%s; production: none scheduled", text) : text;
  const char *next = verdict->next_run == 0 ? "at no known time" : words_clock(arena, zone, now, verdict->next_run);
  return arena_printf(arena, "%s; production %s, guard %s", text, next, words_duration(arena, plan->clock.rule.guard));
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
