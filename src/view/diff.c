#include "view/diff.h"

#include <inttypes.h>
#include <string.h>

#include "view/words.h"

static bool same(const char *a, const char *b) {
  if (a == NULL || b == NULL) return a == b;
  return strcmp(a, b) == 0;
}

/* Is the column to be shown for this row: written by the backfill, and different? */
static bool changes(const DiffFacts *diff, const ChangeRow *row, size_t column) {
  const ShapeColumn *c = &diff->plan->shape.columns[column];
  if (c->generated || !c->given) return false;
  if (row->op == 'I' || row->op == 'D') return !c->key && column != diff->plan->shape.date;
  return !same(row->old_values[column], row->new_values[column]);
}

static const char *op_word(char op) {
  return op == 'I' ? "insert" : op == 'D' ? "delete" : op == 'M' ? "move" : "update";
}

static void put_rows(Paint *paint, Arena *arena, const DiffFacts *diff) {
  static const char *const heads[] = {"change", "date", "key", "column", "old", "", "new"};
  size_t columns = diff->plan->shape.n, n = 0;
  const char **cells = arena_array(arena, diff->n_rows * (columns + 1) * 7, sizeof *cells);
  for (size_t r = 0; r < diff->n_rows; r++) {
    const ChangeRow *row = &diff->rows[r];
    bool first = true;
    for (size_t c = 0; c <= columns; c++) {
      /* A row without a column to show still gets its line. */
      if (c < columns ? !changes(diff, row, c) : !first) continue;
      const char **line = &cells[n++ * 7];
      line[0] = first ? op_word(row->op) : "";
      line[1] = first ? row->date : "";
      line[2] = first ? row->key : "";
      first = false;
      if (c == columns) continue;
      const char *old = row->old_values == NULL ? NULL : row->old_values[c];
      const char *new = row->new_values == NULL ? NULL : row->new_values[c];
      line[3] = diff->plan->shape.columns[c].name;
      line[4] = row->op == 'I' ? "" : old == NULL ? "NULL" : old;
      line[5] = "→";
      line[6] = row->op == 'D' ? "" : new == NULL ? "NULL" : new;
    }
  }
  if (n == 0) return;
  buf_putc(paint->out, '\n');
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 7, .rows = n, .right = 1U << 4});
  int64_t total = words_change_total(&diff->counts);
  if (diff->n_dates != 1 && (int64_t)diff->n_rows < total)
    paint_text(paint, arena_printf(arena, "… %" PRId64 " of %s shown; more: --limit N, one date: --date D",
                                   (int64_t)diff->n_rows, words_count(arena, total, "change", "changes")));
  else
    return;
  buf_putc(paint->out, '\n');
}

static bool date_changes(const DateRecord *date) {
  return date->inserts + date->updates + date->deletes + date->moves_in + date->moves_out > 0;
}

static void put_dates(Paint *paint, Arena *arena, const DiffFacts *diff) {
  static const char *const heads[] = {"date", "rows", "inserts", "updates", "deletes", "moved in", "moved out"};
  size_t n = 0;
  const char **cells = arena_array(arena, diff->n_dates * 7, sizeof *cells);
  for (size_t i = 0; i < diff->n_dates; i++) {
    const DateRecord *date = &diff->dates[i];
    if (!date_changes(date)) continue;
    int64_t counts[] = {date->production.rows, date->inserts,  date->updates,
                        date->deletes,         date->moves_in, date->moves_out};
    char *label = arena_alloc(arena, 32);
    grain_label(diff->plan->shape.codec.grain, diff->plan->shape.codec.zone, date->date, label);
    cells[n * 7] = label;
    for (size_t c = 0; c < 6; c++)
      cells[n * 7 + c + 1] = counts[c] == 0 ? "-" : arena_printf(arena, "%" PRId64, counts[c]);
    n++;
  }
  if (n == 0) return;
  buf_putc(paint->out, '\n');
  paint_table(paint, &(Table){.heads = heads, .cells = cells, .columns = 7, .rows = n, .right = 0x7E});
}

static void put_head(Paint *paint, Arena *arena, const DiffFacts *diff) {
  const char *columns = "";
  for (size_t i = 0; i < diff->n_columns; i++)
    columns = arena_printf(arena, "%s%s%s in %s", columns, i == 0 ? "" : ", ", diff->columns[i].column,
                           words_count(arena, diff->columns[i].rows, "row", "rows"));
  int64_t n = 0;
  for (size_t i = 0; i < diff->n_dates; i++) n += date_changes(&diff->dates[i]);
  paint_line(paint, "changes", "%s", words_changes(arena, &diff->counts));
  /* Columns are counted over the whole range only. */
  if (diff->n_columns > 0) paint_line(paint, "columns", "%s", columns);
  paint_line(paint, "dates", "%" PRId64 " of %s change", n,
             words_count(arena, (int64_t)diff->n_dates, "date", "dates"));
}

void view_diff(Paint *paint, Arena *arena, const DiffFacts *diff) {
  paint_styled(paint, STYLE_BOLD, diff->plan->shape.table);
  paint_text(paint, arena_printf(arena, "  %s  %s", diff->id, diff->state));
  buf_putc(paint->out, '\n');
  put_head(paint, arena, diff);
  put_dates(paint, arena, diff);
  put_rows(paint, arena, diff);
}

void view_diff_summary(Paint *paint, Arena *arena, const DiffFacts *diff) {
  put_head(paint, arena, diff);
  for (size_t r = 0; r < diff->n_rows && r < 3; r++) {
    const ChangeRow *row = &diff->rows[r];
    for (size_t c = 0; c < diff->plan->shape.n; c++) {
      if (!changes(diff, row, c) || row->op == 'I' || row->op == 'D') continue;
      const char *old = row->old_values[c], *new = row->new_values[c];
      paint_line(paint, r == 0 ? "example" : "", "%s  %s  %s %s → %s", row->date, row->key,
                 diff->plan->shape.columns[c].name, old == NULL ? "NULL" : old, new == NULL ? "NULL" : new);
      break;
    }
  }
}

static void json_values(Json *json, const char *key, const DiffFacts *diff, const ChangeRow *row, bool old) {
  const char *const *values = old ? row->old_values : row->new_values;
  if (values == NULL || row->op == (old ? 'I' : 'D')) {
    json_null(json, key);
    return;
  }
  json_object(json, key);
  for (size_t c = 0; c < diff->plan->shape.n; c++)
    if (diff->plan->shape.columns[c].given) json_text(json, diff->plan->shape.columns[c].name, values[c]);
  json_object_end(json);
}

static void json_dates(Json *json, const DiffFacts *diff) {
  json_array(json, "dates");
  for (size_t i = 0; i < diff->n_dates; i++) {
    const DateRecord *date = &diff->dates[i];
    char label[32];
    grain_label(diff->plan->shape.codec.grain, diff->plan->shape.codec.zone, date->date, label);
    json_object(json, NULL);
    json_text(json, "date", label);
    json_int(json, "rows", date->production.rows);
    json_int(json, "inserts", date->inserts);
    json_int(json, "updates", date->updates);
    json_int(json, "deletes", date->deletes);
    json_int(json, "moved_in", date->moves_in);
    json_int(json, "moved_out", date->moves_out);
    json_object_end(json);
  }
  json_array_end(json);
}

void view_diff_json(Json *json, const DiffFacts *diff) {
  json_text(json, "id", diff->id);
  json_text(json, "target", diff->plan->shape.table);
  json_text(json, "state", diff->state);
  json_object(json, "changes");
  json_int(json, "total", words_change_total(&diff->counts));
  json_int(json, "inserts", diff->counts.inserts);
  json_int(json, "updates", diff->counts.updates);
  json_int(json, "deletes", diff->counts.deletes);
  json_int(json, "moves", diff->counts.moves);
  json_object_end(json);
  json_object(json, "columns");
  for (size_t i = 0; i < diff->n_columns; i++) json_int(json, diff->columns[i].column, diff->columns[i].rows);
  json_object_end(json);
  json_dates(json, diff);
  json_array(json, "examples");
  for (size_t i = 0; i < diff->n_rows; i++) {
    json_object(json, NULL);
    json_text(json, "change", op_word(diff->rows[i].op));
    json_text(json, "date", diff->rows[i].date);
    json_text(json, "key", diff->rows[i].key);
    json_values(json, "old", diff, &diff->rows[i], true);
    json_values(json, "new", diff, &diff->rows[i], false);
    json_object_end(json);
  }
  json_array_end(json);
}
