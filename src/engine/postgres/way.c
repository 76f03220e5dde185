#include "engine/postgres/way.h"

#include "engine/postgres/exchange.h"

static const Way ways[] = {
    [WAY_CHANGES] = {.create = changes_create,
                     .compute = changes_compute,
                     .forget = changes_forget,
                     .seal = changes_seal,
                     .counts = changes_counts,
                     .apply = changes_apply,
                     .conflicts = changes_conflicts,
                     .revert = changes_revert},
    [WAY_EXCHANGE] = {.create = exchange_create,
                      .compute = exchange_compute,
                      .forget = exchange_forget,
                      .seal = exchange_seal,
                      .counts = exchange_counts,
                      .apply = exchange_apply,
                      .conflicts = exchange_conflicts,
                      .revert = exchange_revert},
    /* What it writes beside production is filled like a replacement, and taken back like a change set. */
    [WAY_REPLACE] = {.create = replace_create,
                     .compute = replace_compute,
                     .forget = replace_forget,
                     .seal = replace_seal,
                     .counts = exchange_counts,
                     .apply = replace_apply,
                     .conflicts = changes_conflicts,
                     .revert = replace_revert},
};

const Way *pg_way(const Shape *shape) { return &ways[shape->way]; }
