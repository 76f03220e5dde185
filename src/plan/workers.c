#include "plan/plan_int.h"

/* How many batches can be written at a time. It changes the pace and nothing else, so that what cannot be is no reason
 * to refuse, and the number no part of the digest: a running backfill can be given more or fewer. */

/* Each is a connection, of which a server has some hundred for everybody. */
enum { MOST_WORKERS = 16 };

/* Why batches must be written one after another, as the end of "… one after another: …"; NULL: they need not. */
static const char *one_at_a_time(const Plan *plan, EngineCaps caps) {
  if (!caps.writes_apart) return "this database has one writer at a time";
  if (plan->overlay) return "the recompute reads the target, and each date must see what the dates before it became";
  if (plan->recompute == NULL)
    return "the recompute is a command, and none is known to bear being run several times at once";
  return NULL;
}

bool plan_resolve_workers(Resolver *resolver, Error *err) {
  Plan *plan = resolver->plan;
  int wanted = plan->spec.budget.workers;
  const char *why = one_at_a_time(plan, resolver->engine->ops->caps(resolver->engine));
  plan->workers = why != NULL ? 1 : wanted > MOST_WORKERS ? MOST_WORKERS : wanted;
  if (wanted > 1 && why != NULL)
    plan_warn(resolver->arena, plan, "`budget: workers` is %d, but batches are written one after another: %s", wanted,
              why);
  else if (wanted > MOST_WORKERS)
    plan_warn(resolver->arena, plan, "`budget: workers` is %d, more than the %d that Tidegate takes: %d it is", wanted,
              MOST_WORKERS, MOST_WORKERS);
  return true;
}
