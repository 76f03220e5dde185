#include "gate/gate_int.h"

/* The token that only an allow hands out: nobody else knows what is in it, so nobody else can make one (law 8). */
struct GatePass {
  const char *digest; /* of the plan it was given for; NULL: clearing up without one */
  GateAct act;
  Instant at;
};

const GatePass *gate_pass(Arena *arena, const Plan *plan, GateAct act, Instant at) {
  GatePass *pass = arena_alloc(arena, sizeof *pass);
  *pass = (GatePass){plan == NULL ? NULL : plan->digest, act, at};
  return pass;
}
