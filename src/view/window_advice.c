#include <math.h>

#include "swap/swap.h"
#include "view/window.h"
#include "view/words.h"

/* Where no window is long enough: what closes them, found by leaving one thing out after the other. */

typedef struct Search {
  Arena *arena;
  const Plan *plan;
  const Forecast *forecast;
  BusyRule *busy; /* the plan's, to be changed */
} Search;

static WindowRules rules_of(const Search *search) {
  WindowRules rules = plan_window(search->plan);
  rules.busy = search->busy;
  return rules;
}

static bool any(const Search *search, const WindowRules *rules) {
  Window ignored;
  return window_next(rules, search->forecast->from, search->forecast->need, search->forecast->horizon, &ignored);
}

static void scale_guards(Search *search, double share) {
  WindowRules plain = plan_window(search->plan);
  for (size_t i = 0; i < plain.n; i++) search->busy[i].guard = plain.busy[i].guard * share;
}

/* The longest open stretch, in seconds. */
static double longest(const Search *search) {
  WindowRules rules = plan_window(search->plan);
  const Window *windows;
  double most = 0;
  size_t n = window_list(search->arena, &rules, search->forecast->from, 1, search->forecast->horizon, 100000, &windows);
  for (size_t i = 0; i < n; i++) most = fmax(most, (double)(windows[i].to - windows[i].from));
  return most;
}

/* The jobs that close anything, by name. */
static const char *busy_names(const Search *search) {
  const char *text = NULL;
  for (size_t i = 0; i < search->plan->clock.n; i++) {
    const char *name = search->plan->clock.jobs[i].name;
    if (search->plan->clock.rules[i].schedule == NULL) continue;
    text = text == NULL ? name : arena_printf(search->arena, "%s, %s", text, name);
  }
  return text == NULL ? "the jobs" : text;
}

/* A shorter guard that leaves a window: half, a quarter, an eighth; NULL when even none at all does not. */
static const char *guard_advice(Search *search) {
  for (int part = 2; part <= 8; part *= 2) {
    double share = 1.0 / part;
    scale_guards(search, share);
    WindowRules rules = rules_of(search);
    if (any(search, &rules))
      return arena_printf(
          search->arena, "the runs of %s with their guard leave no room: with a guard of %s there is some",
          busy_names(search), words_duration(search->arena, floor(search->plan->clock.rules[0].guard * share)));
  }
  scale_guards(search, 0);
  WindowRules rules = rules_of(search);
  if (!any(search, &rules)) return NULL;
  return arena_printf(search->arena, "the runs of %s with their guard leave no room; without any guard there is some",
                      busy_names(search));
}

const char *view_window_advice(Arena *arena, const Plan *plan, const Forecast *forecast) {
  Search search = {arena, plan, forecast, arena_array(arena, plan->clock.n, sizeof *search.busy)};
  for (size_t i = 0; i < plan->clock.n; i++) search.busy[i] = plan->clock.rules[i];
  double open = longest(&search), wait = swap_longest_wait(&plan->spec.budget);
  if (open > wait + 1)
    return arena_printf(
        arena,
        "the longest is %s: a batch of at most %s fits into it (budget: batch), beside %s in which it may "
        "wait for a lock",
        words_duration(arena, open), words_duration(arena, floor(open - wait)), words_duration(arena, wait));
  WindowRules rules = plan_window(plan);
  if (open > 0)
    return arena_printf(arena, "the longest is %s, and waiting for a lock alone may take %s (budget: lock, lock_tries)",
                        words_duration(arena, open), words_duration(arena, wait));
  rules.freezes = NULL;
  if (any(&search, &rules))
    return "frozen days close all that the jobs and the idle hours leave open: wait until they are over";
  rules = plan_window(plan);
  rules.idle = NULL;
  if (any(&search, &rules))
    return arena_printf(arena, "the idle hours %s are closed by the runs of %s: give the backfill other hours",
                        plan->spec.idle.text, busy_names(&search));
  const char *guard = guard_advice(&search);
  if (guard != NULL) return guard;
  return arena_printf(arena,
                      "%s runs too often for any: pause it for the time of the backfill, and say so by "
                      "another schedule in tidegate.yaml",
                      busy_names(&search));
}
