#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "cascade/cascade_int.h"
#include "cascade/cascade_sql.h"
#include "engine/sql_text.h"

/* A child's spec, written as a person would write it. */

static const char mark[] = "# Drafted by tidegate cascade ";

static void put_text(Buf *out, const char *key, const char *text) {
  Json json = {.out = out, .comma = false};
  buf_printf(out, "%s: ", key);
  json_text(&json, NULL, text); /* a text of JSON is one of YAML */
  buf_putc(out, '\n');
}

/* A person writes weeks by their first and their last day. */
static void put_range(Buf *out, const char *key, const DateCodec *codec, DateRange range) {
  Grain grain = codec->grain == GRAIN_WEEK ? GRAIN_DAY : codec->grain;
  char from[32], last[32];
  grain_label(grain, codec->zone, range.from, from);
  grain_label(grain, codec->zone, grain_floor(grain, codec->zone, range.to - 1), last);
  buf_printf(out, "%s: %s..%s\n", key, from, last);
}

/* A block of lines, each indented. */
static void put_block(Buf *out, const char *key, const char *text) {
  buf_printf(out, "%s: |\n", key);
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    size_t shown = n > 0 && text[n - 1] == '\r' ? n - 1 : n;
    if (shown > 0) buf_puts(out, "  ");
    buf_append(out, text, shown);
    buf_putc(out, '\n');
    text += n + (text[n] == '\n');
  }
}

static bool is_column(const Shape *shape, const char *name, size_t n) {
  for (size_t i = 0; i < shape->n; i++)
    if (strlen(shape->columns[i].name) == n && strncasecmp(shape->columns[i].name, name, n) == 0) return true;
  return false;
}

/* The unique key of the model, when it is columns and nobody has said otherwise: "[flight_date, origin]". */
static const char *key_of(Arena *arena, const CascadeStep *step, const CascadeChild *child, const GraphNode *node) {
  const char *list = "";
  if (child->spec->key.n > 0 || node->unique_key == NULL) return NULL;
  for (const char *at = node->unique_key; *at != '\0';) {
    at += strspn(at, ", ");
    size_t n = strcspn(at, ",");
    while (n > 0 && at[n - 1] == ' ') n--;
    if (n == 0) break;
    if (!is_column(child->shape, at, n)) return NULL;
    BUF_SCOPED name = {0};
    Json json = {.out = &name, .comma = false};
    json_text(&json, NULL, arena_strndup(arena, at, n));
    list = arena_printf(arena, "%s%s%s", list, *list == '\0' ? "" : ", ", buf_text(&name));
    at += strcspn(at, ",");
  }
  return *list == '\0' ? NULL : arena_printf(arena, "[%s]", list);
}

/* The names of the columns that an INSERT without names fills. */
static const char *all_columns(Arena *arena, const Shape *shape) {
  BUF_SCOPED out = {0};
  for (size_t i = 0; i < shape->n; i++)
    if (!shape->columns[i].generated)
      buf_printf(&out, "%s%s", out.len == 0 ? "" : ", ", sql_ident(arena, shape->columns[i].name));
  return arena_strdup(arena, buf_text(&out));
}

static const char *recompute_of(Arena *arena, const CascadeStep *step, const CascadeChild *child) {
  const CascadeQuery *query = &step->query;
  const char *date = sql_ident(arena, child->shape->columns[child->shape->date].name);
  if (!query->by_place)
    return sql_fill(arena, sql_draft_recompute, "columns", child->columns == NULL ? "*" : child->columns, "query",
                    query->sql, "date", date, NULL);
  const char *columns = query->columns != NULL ? query->columns : all_columns(arena, child->shape);
  return sql_fill(arena, sql_draft_recompute_by_place, "query", query->sql, "date", date, "columns", columns, NULL);
}

/* A date as SQL compares the column with it, in both dialects. */
static const char *bound_of(Arena *arena, const Shape *shape, Instant at) {
  const char *type = shape->columns[shape->date].type;
  DateBound bound = datecodec_bound(&shape->codec, at);
  if (bound.type == BOUND_INT) return arena_printf(arena, "%" PRId64, bound.integer);
  if (bound.type == BOUND_REAL) return arena_printf(arena, "%.17g", bound.real);
  bool zoned = type != NULL && (strstr(type, "with time zone") != NULL || strncmp(type, "timestamptz", 11) == 0);
  const char *zone = !zoned ? "" : strlen(bound.text) > 10 ? "+00" : " 00:00+00";
  return sql_literal(arena, arena_printf(arena, "%s%s", bound.text, zone));
}

/* Its control dates cannot be made beside production: they are in the range, written by the tool too, and nothing of
 * them may change. */
static void put_scope(Buf *out, Arena *arena, const CascadeChild *child, DateRange range, DateRange control) {
  static const char *const kinds[] = {"  \"*\"", "  new rows", "  vanished rows"};
  const Shape *shape = child->shape;
  const char *date = sql_ident(arena, shape->columns[shape->date].name);
  bool behind = control.from >= range.to;
  const char *wrong = arena_printf(arena, "%s %s %s", date,
                                   behind ? "<" : ">=", bound_of(arena, shape, behind ? range.to : range.from));
  put_range(out, "# Control: its tool writes these dates as well, and they must come out as they are", &shape->codec,
            control);
  buf_puts(out, "changes:\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) put_text(out, kinds[i], wrong);
}

static void put_tool(Buf *out, const CascadeStep *step) {
  buf_puts(out,
           "# Its own tool writes it in place, over a snapshot; what does not pass is put back.\n"
           "recompute:\n"
           "  shell: yes\n  ");
  put_text(out, "command", step->line);
}

static bool has_key(const CascadeChild *child, const char *key) {
  return child->keyed || key != NULL || child->spec->key.n > 0;
}

/* What a child of its own tool is held against. */
static void put_evidence(Buf *out, Arena *arena, const CascadeChild *child, const char *key, DateRange range,
                         DateRange control) {
  if (control.from < control.to && has_key(child, key)) {
    put_scope(out, arena, child, range, control);
    return;
  }
  buf_printf(out, "# No control dates: %s. A range that is too short is not seen.\n",
             has_key(child, key) ? "there are none beside its range" : "without a key no row can be held against them");
  buf_puts(out, "changes: [\"*\", new rows, vanished rows]\n");
}

/* The dates that its tool writes: the wrong ones, and those of control beside them. */
static DateRange written_range(const CascadeStep *step, const CascadeChild *child, const char *key, DateRange range,
                               DateRange control) {
  if (step->line == NULL || control.from >= control.to || !has_key(child, key)) return range;
  return (DateRange){control.from < range.from ? control.from : range.from,
                     control.to > range.to ? control.to : range.to};
}

static void put_reasons(Buf *out, Arena *arena, const Cascade *cascade, const CascadeStep *step) {
  const Plan *parent = cascade->parent;
  const char *target = parent->shape.table;
  put_text(out, "wrong",
           arena_printf(arena, "made from rows of %s that backfill %s corrected: %s", target, cascade->record->id,
                        parent->spec.wrong.text));
  put_text(out, "correct", arena_printf(arena, "follows the correction of %s: %s", target, parent->spec.correct.text));
}

/* Where the target's own spec names the database, nothing else may. */
static void put_database(Buf *out, const Cascade *cascade) {
  const Spec *spec = &cascade->parent->spec;
  const char *place = spec->database.place.file;
  if (place == NULL || spec->backfill_file.file == NULL || strcmp(place, spec->backfill_file.file) != 0) return;
  put_text(out, "database", spec->database_path);
}

/* The sum of a draft without its first line. */
static void sum_of(const char *body, char text[33]) { hash_hex(body, strlen(body), text); }

const char *cascade_draft(Arena *arena, const Cascade *cascade, const CascadeStep *step, const CascadeChild *child,
                          DateRange range, DateRange control) {
  const GraphNode *node = graph_at(cascade->parent->radius.graph, step->node->id);
  const DateCodec *codec = &child->shape->codec;
  const char *key = key_of(arena, step, child, node), *date = child->shape->columns[child->shape->date].name;
  BUF_SCOPED out = {0};
  char sum[33];
  if (node->file != NULL) buf_printf(&out, "# Its SQL: %s\n", cascade_plain(arena, node->file));
  if (step->node->why != NULL) buf_printf(&out, "# %s\n", cascade_plain(arena, step->node->why));
  if (step->node->assumed)
    buf_puts(&out, "# Nobody said how its dates come from those that it reads: they are taken to be the same.\n");
  if (child->surplus != NULL)
    buf_printf(&out, "# Its SQL gives what the table has no column for: %s\n", cascade_plain(arena, child->surplus));
  put_text(&out, "follows", cascade->record->id);
  put_text(&out, "target", step->table);
  put_database(&out, cascade);
  put_range(&out, "range", codec, written_range(step, child, key, range, control));
  if (step->line == NULL && control.from < control.to) put_range(&out, "control", codec, control);
  put_reasons(&out, arena, cascade, step);
  if (child->spec->date_column.text == NULL) put_text(&out, "date_column", date);
  if (child->spec->grain.text == NULL && codec->grain != GRAIN_DAY)
    buf_printf(&out, "grain: %s\n", grain_name(codec->grain));
  if (key != NULL) buf_printf(&out, "key: %s\n", key);
  cascade_put_checks(&out, arena, child);
  if (step->line != NULL) {
    put_evidence(&out, arena, child, key, range, control);
    put_tool(&out, step);
  } else {
    put_block(&out, "recompute", recompute_of(arena, step, child));
  }
  sum_of(buf_text(&out), sum);
  return arena_printf(arena, "%s%s (%s). Change what is not right: a changed draft is kept.\n%s", mark,
                      cascade->record->id, sum, buf_text(&out));
}

bool cascade_draft_edited(const char *text) {
  char sum[33];
  const char *body = strchr(text, '\n');
  if (strncmp(text, mark, sizeof mark - 1) != 0 || body == NULL) return true;
  sum_of(body + 1, sum);
  const char *told = strchr(text, '(');
  return told == NULL || told > body || strncmp(told + 1, sum, 32) != 0;
}

const char *cascade_plain(Arena *arena, const char *text) {
  char *plain = arena_strdup(arena, text);
  for (char *c = plain; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
  return plain;
}

const char *cascade_file_name(Arena *arena, const CascadeStep *step) {
  char sum[33], *name = arena_strdup(arena, step->node->name);
  bool changed = *name == '.';
  if (changed) *name = '_';
  for (char *c = name; *c != '\0'; c++) {
    if (isalnum((unsigned char)*c) || strchr("._-", *c) != NULL) continue;
    *c = '_';
    changed = true;
  }
  if (!changed) return arena_printf(arena, "%s.yaml", name);
  /* Names that are different give different files. */
  hash_hex(step->node->name, strlen(step->node->name), sum);
  return arena_printf(arena, "%s-%.8s.yaml", name, sum);
}
