#include "cascade/cascade_int.h"

/* dbt's own tests of a child, in its draft. Whatever a check cannot say is left to dbt, and that is said. */

static void put_item(Buf *out, const char *sql, const char *from) {
  Json json = {.out = out, .comma = false};
  buf_puts(out, "    - ");
  json_text(&json, NULL, sql);
  buf_printf(out, " # %s\n", from);
}

/* A list of the draft's own takes the place of tidegate.yaml's, so that one's are put into it. */
static void put_list(Buf *out, Arena *arena, const CascadeChild *child, bool totals, bool *comma) {
  const SpecTexts *own = totals ? &child->spec->total_checks : &child->spec->row_checks;
  size_t n = 0;
  for (size_t i = 0; i < child->n_checks; i++) n += child->checks[i].sql != NULL && child->checks[i].total == totals;
  if (n == 0) return;
  if (!*comma) buf_puts(out, "checks:\n");
  *comma = true;
  buf_printf(out, "  %s:\n", totals ? "totals" : "rows");
  for (size_t i = 0; i < own->n; i++) put_item(out, own->items[i].text, "tidegate.yaml");
  for (size_t i = 0; i < child->n_checks; i++) {
    const DbtCheck *check = &child->checks[i];
    if (check->sql == NULL || check->total != totals) continue;
    put_item(
        out, check->sql,
        arena_printf(arena, "dbt's test %s%s", cascade_plain(arena, check->name), totals ? ", within the range" : ""));
  }
}

void cascade_put_checks(Buf *out, Arena *arena, const CascadeChild *child) {
  bool comma = false;
  put_list(out, arena, child, false, &comma);
  put_list(out, arena, child, true, &comma);
  for (size_t i = 0; i < child->n_checks; i++) {
    const DbtCheck *check = &child->checks[i];
    if (check->sql != NULL) continue;
    buf_printf(out, "# Not held against dbt's test %s, which %s: dbt test --select %s\n",
               cascade_plain(arena, check->name), cascade_plain(arena, check->why),
               cascade_plain(arena, cascade_shell_word(arena, check->name)));
  }
}
