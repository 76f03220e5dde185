#include <stdio.h>
#include <string.h>

#include "cascade/cascade_int.h"

/* What dbt does with a model, and what to type for it. */

bool cascade_is_model(const GraphNode *node) {
  return node->materialization != NULL && node->name.space != NULL && strcmp(node->name.space, "dbt") == 0 &&
         node->kind != NULL && strcmp(node->kind, "model") == 0;
}

bool cascade_is_python(const GraphNode *node) {
  const char *dot = node->file == NULL ? NULL : strrchr(node->file, '.');
  return dot != NULL && strcmp(dot, ".py") == 0;
}

bool cascade_appends(const GraphNode *node) { return node->strategy != NULL && strcmp(node->strategy, "append") == 0; }

const char *cascade_shell_word(Arena *arena, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  BUF_SCOPED out = {0};
  if (*word != '\0' && word[strspn(word, plain)] == '\0') return word;
  buf_putc(&out, '\'');
  for (; *word != '\0'; word++) *word == '\'' ? buf_puts(&out, "'\\''") : buf_putc(&out, *word);
  buf_putc(&out, '\'');
  return arena_strdup(arena, buf_text(&out));
}

/* What `dbt run --select` knows it by: what follows the project in model.PROJECT.NAME, of a version NAME.v2. A name may
 * have dots, a project has none. */
static const char *selector(Arena *arena, const GraphNode *node) {
  const char *at = node->name.id;
  for (int i = 0; i < 2 && at != NULL; i++) {
    at = strchr(at, '.');
    if (at != NULL) at++;
  }
  return cascade_shell_word(arena, at == NULL ? node->shown : at);
}

/* dbt takes whole days and times, no months. */
static const char *event_time(Arena *arena, Grain grain, const Zone *zone, Instant at) {
  Civil civil = zone_civil(zone, at);
  const char *day = arena_printf(arena, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
  return grain == GRAIN_HOUR ? arena_printf(arena, "%sT%02d:00:00", day, civil.hour) : day;
}

/* An ordinary run of an incremental model looks at what is new alone. */
const char *cascade_dbt_again(Arena *arena, const Cascade *cascade, const LineageNode *step, const GraphNode *node) {
  const Zone *zone = cascade->parent->shape.codec.zone;
  const char *name = selector(arena, node);
  if (strcmp(node->materialization, "incremental") != 0) return arena_printf(arena, "dbt run --select %s", name);
  if (step->ranged && node->strategy != NULL && strcmp(node->strategy, "microbatch") == 0)
    return arena_printf(arena, "dbt run --select %s --event-time-start %s --event-time-end %s", name,
                        event_time(arena, step->grain, zone, step->range.from),
                        event_time(arena, step->grain, zone, step->range.to));
  return node->never_whole ? NULL : arena_printf(arena, "dbt run --full-refresh --select %s", name);
}
