#include <string.h>

#include "plan/plan_int.h"

/* What a plan rests on, as digests: if one changes, what was planned is no longer what would run. */

static const char *hex_of(Arena *arena, const Buf *text) {
  char hex[33];
  hash_hex(buf_text(text), text->len, hex);
  return arena_strdup(arena, hex);
}

static const char *hex_of_text(Arena *arena, const char *text) {
  char hex[33];
  hash_hex(text, strlen(text), hex);
  return arena_strdup(arena, hex);
}

static const char *spec_part(Arena *arena, const Plan *plan) {
  BUF_SCOPED text = {0};
  Json json = {.out = &text};
  plan_json_resolved(plan, &json);
  buf_putc(&text, '\n');
  if (plan->spec.backfill_file.source != NULL) buf_puts(&text, plan->spec.backfill_file.source);
  return hex_of(arena, &text);
}

static const char *lineage_part(Arena *arena, const BlastRadius *radius) {
  BUF_SCOPED text = {0};
  for (size_t i = 0; i < radius->n; i++) {
    const LineageNode *node = &radius->nodes[i];
    buf_printf(&text, "%s\t%s\t%s\t%s\t%s\n", node->name, node->kind, node->via, needs_name(node->needs),
               node->why == NULL ? "" : node->why);
  }
  return hex_of(arena, &text);
}

bool plan_digest(Arena *arena, Engine *engine, Plan *plan, Error *err) {
  const char *settings;
  if (!engine->ops->settings(engine, arena, &settings, err) ||
      !engine->ops->identity(engine, arena, &plan->database_id, err))
    return false;
  PlanParts *parts = &plan->parts;
  parts->spec = spec_part(arena, plan);
  parts->target = hex_of_text(arena, plan->definition);
  parts->lineage = lineage_part(arena, &plan->radius);
  parts->settings = hex_of_text(arena, settings);
  parts->database = hex_of_text(arena, plan->database_id);
  plan->digest = hex_of_text(arena, arena_printf(arena, "%s %s %s %s %s", parts->spec, parts->target, parts->lineage,
                                                 parts->settings, parts->database));
  return true;
}
