#include <inttypes.h>
#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"

static const char exchanging[] = "exchanging the partitions", later_writes[] = "looking for later writes";

/* The request for the lock that keeps readers out waits no longer than this: whoever comes behind it waits as long. */
static const char *const EXCLUSIVE_WAIT_MS = "10";

/* ---- changing places
 * ------------------------------------------------------------------------------------------------------------ */

FullName exchange_split(Arena *arena, const char *full) {
  bool quoted = false;
  const char *c = full;
  for (; *c != '\0' && (quoted || *c != '.'); c++) quoted ^= *c == '"';
  return (FullName){arena_strndup(arena, full, (size_t)(c - full)), *c == '.' ? c + 1 : c};
}

static const char *in(Arena *arena, const char *schema, const char *bare) {
  return arena_printf(arena, "%s.%s", schema, bare);
}

static bool run(PgEngine *engine, const char *sql, Error *err) {
  return pg_run(engine, sql, NULL, 0, NULL, exchanging, err);
}

bool exchange_bound_check(PgEngine *engine, Arena *arena, const ExchangePart *part, Error *err) {
  PG_SCOPED rows = NULL;
  const char *values[] = {part->partition, part->replacement};
  if (!pg_query(engine, sql_exchange_bound_check, values, 2, &rows, exchanging, err)) return false;
  if (pg_bool(rows, 0, 1)) return true;
  const char *definition = arena_printf(arena, "CHECK (%s)", pg_peek(rows, 0, 0));
  return run(engine,
             sql_fill(arena, sql_exchange_add_constraint, "table", part->replacement, "name", "tidegate_bound",
                      "definition", definition, NULL),
             err);
}

static bool rename_indexes(PgEngine *engine, Arena *arena, const PGresult *from, const char *schema, const PGresult *to,
                           Error *err) {
  for (int i = 0; i < PQntuples(from); i++) {
    const char *index = in(arena, schema, sql_ident(arena, pg_peek(from, i, 0)));
    const char *name = sql_ident(arena, pg_peek(to, i, 0));
    if (!run(engine, sql_fill(arena, sql_exchange_rename_index, "index", index, "name", name, NULL), err)) return false;
  }
  return true;
}

static bool move(PgEngine *engine, Arena *arena, const char *table, const char *schema, Error *err) {
  return run(engine, sql_fill(arena, sql_exchange_set_schema, "table", table, "schema", schema, NULL), err);
}

static bool rename_table(PgEngine *engine, Arena *arena, const char *table, const char *name, Error *err) {
  return run(engine, sql_fill(arena, sql_exchange_rename, "table", table, "name", name, NULL), err);
}

/* Two tables take each other's names, their indexes too. */
static bool exchange_names(PgEngine *engine, Arena *arena, const ExchangePart *part, Error *err) {
  FullName place = exchange_split(arena, part->partition), beside = exchange_split(arena, part->replacement);
  PG_SCOPED old_indexes = NULL;
  PG_SCOPED new_indexes = NULL;
  if (!pg_query(engine, sql_exchange_indexes, &part->partition, 1, &old_indexes, exchanging, err) ||
      !pg_query(engine, sql_exchange_indexes, &part->replacement, 1, &new_indexes, exchanging, err))
    return false;
  if (PQntuples(old_indexes) != PQntuples(new_indexes))
    return error_set(err, ERR_HELD, "%s has other indexes than when its replacement was sealed", part->partition);
  return move(engine, arena, part->partition, beside.schema, err) &&
         move(engine, arena, part->replacement, place.schema, err) &&
         rename_indexes(engine, arena, new_indexes, place.schema, old_indexes, err) &&
         rename_indexes(engine, arena, old_indexes, beside.schema, new_indexes, err) &&
         rename_table(engine, arena, in(arena, place.schema, beside.bare), place.bare, err) &&
         rename_table(engine, arena, in(arena, beside.schema, place.bare), beside.bare, err);
}

static bool set_comment(PgEngine *engine, Arena *arena, const char *table, const char *literal, Error *err) {
  return run(engine, sql_fill(arena, sql_exchange_comment, "table", table, "text", literal, NULL), err);
}

/* The mark stays with what is ours; the place keeps its comment. */
static bool exchange_marks(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                           const char *comment, Error *err) {
  PgEngine *engine = writer->engine;
  const char *identity;
  if (!set_comment(engine, arena, part->partition, comment == NULL ? "NULL" : sql_literal(arena, comment), err) ||
      !set_comment(engine, arena, part->replacement, writer_mark(arena, writer, sql, part->replacement), err) ||
      !pg_object_identity(&engine->base, arena, part->replacement, &identity, err))
    return false;
  const char *values[] = {writer->id, part->replacement, identity};
  return pg_run(engine, sql_fill(arena, sql_exchange_identity, "ledger", pg_schema(engine, arena), NULL), values, 3,
                NULL, exchanging, err);
}

static bool exchange_part(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                          Error *err) {
  PgEngine *engine = writer->engine;
  PG_SCOPED comment = NULL;
  const char *lower = sql_literal(arena, part->lower), *upper = sql_literal(arena, part->upper);
  return pg_query(engine, sql_exchange_comment_of, &part->partition, 1, &comment, exchanging, err) &&
         run(engine, sql_fill(arena, sql_exchange_detach, "parent", sql->table, "partition", part->partition, NULL),
             err) &&
         exchange_names(engine, arena, part, err) &&
         run(engine,
             sql_fill(arena, sql_exchange_attach, "parent", sql->table, "partition", part->partition, "lower", lower,
                      "upper", upper, NULL),
             err) &&
         run(engine,
             sql_fill(arena, sql_exchange_drop_constraint, "table", part->partition, "name", "tidegate_bound", NULL),
             err) &&
         exchange_marks(writer, arena, sql, part, pg_peek(comment, 0, 0), err);
}

/*
 * An exchange is seen at once by every transaction, also by one that still reads by an older snapshot and had not asked
 * for the table before: it would find partitions in which rows that were written after its snapshot are missing.
 * `wrote`: such rows are as young as this very transaction.
 */
static bool no_older_snapshots(EngineWriter *writer, Arena *arena, const ShapeSql *sql, bool wrote, Error *err) {
  PG_SCOPED rows = NULL;
  PgEngine *engine = writer->engine;
  const char *values[] = {writer->id, wrote ? "true" : "false"};
  if (!run(engine, sql_jobs_fresh, err) ||
      !pg_query(engine, sql_fill(arena, sql_exchange_older_snapshots, "ledger", pg_schema(engine, arena), NULL), values,
                2, &rows, exchanging, err))
    return false;
  if (PQntuples(rows) == 0) return true;
  error_set(err, ERR_LOCKED,
            "%s: a transaction that is older than the new rows is open and would see the range without them: pid %s, "
            "user %s, %s, for %s s: %s",
            sql->shape->table, pg_peek(rows, 0, 0), pg_peek(rows, 0, 1), pg_peek(rows, 0, 2), pg_peek(rows, 0, 3),
            pg_peek(rows, 0, 4));
  return error_hint(err,
                    pg_bool(rows, 0, 5)
                        ? "production is untouched. Wait for it to end, or end it: SELECT pg_terminate_backend(pid)"
                        : "production is untouched. What that session does cannot be seen by this role: GRANT "
                          "pg_read_all_stats would show it");
}

/* All places at once, under the lock that keeps readers out, taken last and held for some milliseconds. `wrote` as in
 * no_older_snapshots. */
static bool exchange_all(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *parts, size_t n,
                         bool forth, bool wrote, Error *err) {
  PgEngine *engine = writer->engine;
  const char *marked[] = {writer->id, forth ? "true" : "false"};
  Error why;
  bool named = false; /* where the fence let it pass */
  if (writer->insist && !pg_fence_who(engine, sql->shape->table, &named, &why, err)) return false;
  if (!pg_run(engine, sql_exchange_at_once, &EXCLUSIVE_WAIT_MS, 1, NULL, exchanging, err)) return false;
  if (!run(engine, sql_fill(arena, sql_exchange_exclusive, "parent", sql->table, NULL), err)) {
    if (err->code != ERR_LOCKED) return false;
    error_hint(err, "production is untouched. Somebody is reading %s: try again in a moment", sql->shape->table);
    if (named) *err = why;
    return false;
  }
  for (size_t i = 0; i < n; i++)
    if (!exchange_part(writer, arena, sql, &parts[i], err)) return false;
  return exchange_views(engine, arena, sql, writer->id, parts, n, forth, err) &&
         ((!forth && !wrote) || no_older_snapshots(writer, arena, sql, wrote, err)) &&
         pg_run(engine, sql_fill(arena, sql_exchange_swapped, "ledger", pg_schema(engine, arena), NULL), marked, 2,
                NULL, exchanging, err);
}

/* ---- forth
 * -----------------------------------------------------------------------------------------------------------------------
 */

/* Rows of the partition outside the range may have been written since they were copied. */
static bool outside_is_same(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                            DateRange range, bool *ret, Error *err) {
  int64_t differ = 0;
  DateRange within = exchange_within(part, range);
  *ret = true;
  if (within.from == part->range.from && within.to == part->range.to) return true;
  const char *text =
      sql_fill(arena, sql_exchange_outside_differ, "hash", shape_hash(arena, sql, sql->stored, sql->n_stored, "", ""),
               "partition", part->partition, "replacement", part->replacement, "in_range",
               shape_in_range(arena, sql, "", within), NULL);
  if (!pg_number(engine, text, NULL, 0, &differ, exchanging, err)) return false;
  *ret = differ == 0;
  return true;
}

/* *wrote becomes true when anything was to be copied. */
static bool follow_outside(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                           DateRange range, bool *wrote, Error *err) {
  bool same;
  if (!outside_is_same(engine, arena, sql, part, range, &same, err)) return false;
  if (same) return true;
  *wrote = true;
  const char *in_range = shape_in_range(arena, sql, "", exchange_within(part, range));
  const char *stored = pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", "");
  return run(engine,
             sql_fill(arena, sql_exchange_outside_clear, "replacement", part->replacement, "in_range", in_range, NULL),
             err) &&
         run(engine,
             sql_fill(arena, sql_exchange_outside_copy, "replacement", part->replacement, "partition", part->partition,
                      "stored", stored, "in_range", in_range, NULL),
             err);
}

bool exchange_apply(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, ChangeCounts expected,
                    bool skip_triggers, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart *parts;
  size_t n;
  DateRange range;
  ChangeCounts counts;
  bool wrote = false;
  if (!exchange_parts(engine, arena, writer->id, &parts, &n, err) ||
      !exchange_range(engine, sql->shape, writer->id, &range, err) ||
      !exchange_counts(engine, writer->id, &counts, err))
    return false;
  if (counts.inserts != expected.inserts || counts.updates != expected.updates || counts.deletes != expected.deletes)
    return error_set(err, ERR_DRIFT, "the replacements are not those that were sealed");
  for (size_t i = 0; i < n; i++) {
    if (parts[i].swapped != NULL)
      return error_set(err, ERR_STATE,
                       "%s is in production already: its exchange was not taken back by tidegate rollback",
                       parts[i].partition);
    if (!parts[i].sealed) return error_set(err, ERR_DRIFT, "%s is not what was sealed", parts[i].replacement);
    if (!follow_outside(engine, arena, sql, &parts[i], range, &wrote, err) ||
        !exchange_bound_check(engine, arena, &parts[i], err) || !exchange_vacuum_again(engine, arena, &parts[i], err))
      return false;
  }
  return exchange_all(writer, arena, sql, parts, n, true, wrote, err);
}

/* ---- what was written since
 * -------------------------------------------------------------------------------------------------------- */

typedef struct Later {
  PgEngine *engine;
  Arena *arena;
  const ShapeSql *sql;
  const char *id;
  ExchangePart *parts;
  size_t n;
  DateRange range;
  int64_t changed, vanished; /* rows of the range */
} Later;

/* Rows of a place in production, within the range, that the swap did not bring. */
static const char *foreign_rows(Later *later, const ExchangePart *part) {
  DateRange within = exchange_within(part, later->range);
  return sql_fill(later->arena, sql_exchange_foreign_rows, "columns",
                  pg_shape_list(later->arena, later->sql->shape, later->sql->stored, later->sql->n_stored, "r.", ""),
                  "table", part->partition, "in_range", shape_in_range(later->arena, later->sql, "r.", within),
                  "ledger", pg_schema(later->engine, later->arena), "swapped", sql_literal(later->arena, part->swapped),
                  NULL);
}

static const char *match_kept(Later *later) { return pg_shape_key_match(later->arena, later->sql, "k.", "", "r.", ""); }

static bool count_changed(Later *later, const ExchangePart *part, Error *err) {
  int64_t changed = 0;
  const char *text = sql_fill(later->arena, sql_exchange_changed_count, "rows", foreign_rows(later, part), "kept",
                              part->replacement, "match", match_kept(later), NULL);
  if (!pg_number(later->engine, text, NULL, 0, &changed, later_writes, err)) return false;
  later->changed += changed;
  return true;
}

static bool count_own(Later *later, const ExchangePart *part, int64_t *ret, Error *err) {
  DateRange within = exchange_within(part, later->range);
  const char *text =
      sql_fill(later->arena, sql_exchange_own_rows, "table", part->partition, "in_range",
               shape_in_range(later->arena, later->sql, "r.", within), "ledger", pg_schema(later->engine, later->arena),
               "swapped", sql_literal(later->arena, part->swapped), NULL);
  return pg_number(later->engine, text, NULL, 0, ret, later_writes, err);
}

/* Rows of ours that are gone without another under their key: deleted since, or one that was new and has been changed.
 */
static bool look_at_later(Later *later, Error *err) {
  const DateRecord *dates;
  size_t n_dates;
  int64_t ours = 0, published = 0;
  if (!exchange_parts(later->engine, later->arena, later->id, &later->parts, &later->n, err) ||
      !exchange_range(later->engine, later->sql->shape, later->id, &later->range, err) ||
      !pg_ledger_dates(&later->engine->base, later->arena, later->id, &dates, &n_dates, err))
    return false;
  for (size_t i = 0; i < n_dates; i++) published += dates[i].recomputed.rows;
  for (size_t i = 0; i < later->n; i++) {
    int64_t own;
    if (later->parts[i].swapped == NULL) return true;
    if (!count_changed(later, &later->parts[i], err) || !count_own(later, &later->parts[i], &own, err)) return false;
    ours += own;
  }
  later->vanished = published - ours - later->changed;
  if (later->vanished < 0) later->vanished = 0;
  return true;
}

static bool changed_examples(Later *later, const ExchangePart *part, size_t most, Conflicts *found, Error *err) {
  BUF_SCOPED key = {0};
  PG_SCOPED rows = NULL;
  const ShapeSql *sql = later->sql;
  Arena *arena = later->arena;
  for (size_t i = 0; i < sql->n_key; i++)
    buf_printf(&key, "%scoalesce(r.%s::text, 'NULL')", i == 0 ? "" : " || ', ' || ", sql->columns[sql->key[i]].name);
  const char *text = sql_fill(arena, sql_exchange_changed_since, "date", arena_printf(arena, "r.%s::text", sql->date),
                              "key", buf_text(&key), "rows", foreign_rows(later, part), "kept", part->replacement,
                              "match", match_kept(later), "limit", arena_printf(arena, "%zu", most - found->n), NULL);
  if (!pg_query(later->engine, text, NULL, 0, &rows, later_writes, err)) return false;
  for (int i = 0; i < PQntuples(rows); i++) {
    found->rows = arena_grow(arena, (void *)found->rows, found->n, sizeof(Conflict));
    ((Conflict *)found->rows)[found->n++] =
        (Conflict){"changed since", pg_text(arena, rows, i, 0), pg_text(arena, rows, i, 1)};
  }
  return true;
}

bool exchange_conflicts(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *id, size_t max_examples,
                        Conflicts *ret, Error *err) {
  Later later = {.engine = engine, .arena = arena, .sql = sql, .id = id};
  Conflicts found = {0};
  if (!look_at_later(&later, err)) return false;
  found.count = later.changed + later.vanished;
  for (size_t i = 0; i < later.n && later.changed > 0 && found.n < max_examples; i++)
    if (!changed_examples(&later, &later.parts[i], max_examples, &found, err)) return false;
  if (later.vanished > 0 && found.n < max_examples) {
    char label[96];
    date_range_label(&later.range, sql->shape->codec.grain, sql->shape->codec.zone, label);
    found.rows = arena_grow(arena, (void *)found.rows, found.n, sizeof(Conflict));
    ((Conflict *)found.rows)[found.n++] =
        (Conflict){"vanished since", arena_strdup(arena, label),
                   arena_printf(arena, "%" PRId64 " rows, whose keys are not known", later.vanished)};
  }
  *ret = found;
  return true;
}

/* ---- back
 * ------------------------------------------------------------------------------------------------------------------------
 */

static bool may_go_back(const Later *later, LaterRows choice, Error *err) {
  if (choice == LATER_REFUSE && later->changed + later->vanished > 0) {
    error_set(err, ERR_CONFLICT, "%" PRId64 " rows were written after the swap: nothing was rolled back",
              later->changed + later->vanished);
    return error_hint(
        err, "give --keep-later to leave those rows as they are, or --overwrite-later to put the old rows over them");
  }
  if (choice == LATER_KEEP && later->vanished > 0) {
    error_set(err, ERR_CONFLICT,
              "%" PRId64
              " rows were deleted after the swap, and after an exchange it is not known which: they cannot be "
              "kept away",
              later->vanished);
    return error_hint(err, "--overwrite-later puts all old rows back");
  }
  return true;
}

/* What was written since goes on to stand among the kept rows: new keys always, changed rows when they are to stay. */
static bool carry_over(Later *later, const ExchangePart *part, LaterRows choice, bool *wrote, Error *err) {
  const ShapeSql *sql = later->sql;
  Arena *arena = later->arena;
  const char *rows = foreign_rows(later, part), *match = match_kept(later);
  const char *gone =
      sql_fill(arena, sql_exchange_carry_delete, "kept", part->replacement, "rows", rows, "match", match, NULL);
  const char *come = sql_fill(arena, sql_exchange_carry_over, "kept", part->replacement, "rows", rows, "match", match,
                              "stored", pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", ""), "values",
                              pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "r.", ""), NULL);
  return (choice != LATER_KEEP || run(later->engine, gone, err)) && run(later->engine, come, err) &&
         follow_outside(later->engine, arena, sql, part, later->range, wrote, err);
}

/* What leaves production holds what others wrote there: it is none of what was recomputed any more. */
static bool forget_written(EngineWriter *writer, Later *later, Error *err) {
  return exchange_forget(writer, later->arena, later->sql, later->range, err) &&
         pg_ledger_forget(writer->engine, writer->id, later->range, err);
}

bool exchange_revert(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const bool *columns, LaterRows choice,
                     bool skip_triggers, int64_t *ret_left, Error *err) {
  Later later = {.engine = writer->engine, .arena = arena, .sql = sql, .id = writer->id};
  int64_t written = 0;
  bool wrote = false;
  if (!look_at_later(&later, err) || !may_go_back(&later, choice, err) ||
      !exchange_level(writer->engine, arena, sql, later.parts, later.n, &later.sql, err))
    return false;
  for (size_t i = 0; i < later.n; i++) {
    int64_t rows;
    const char *all = arena_printf(arena, "(%s)", foreign_rows(&later, &later.parts[i]));
    if (!pg_number(writer->engine, sql_fill(arena, sql_exchange_count, "rows", all, NULL), NULL, 0, &rows, later_writes,
                   err) ||
        !carry_over(&later, &later.parts[i], choice, &wrote, err) ||
        !exchange_bound_check(writer->engine, arena, &later.parts[i], err))
      return false;
    written += rows;
  }
  bool touched = written > 0 || later.vanished > 0;
  wrote |= written > 0;
  if (!exchange_all(writer, arena, sql, later.parts, later.n, false, wrote, err) ||
      (touched && !forget_written(writer, &later, err)))
    return false;
  *ret_left = choice == LATER_KEEP ? later.changed : 0;
  return true;
}
