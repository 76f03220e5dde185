#include <inttypes.h>
#include <string.h>

#include "engine/postgres/exchange.h"
#include "engine/postgres/postgres_sql.h"

/* ---- a batch
 * ------------------------------------------------------------------------------------------------------------------ */

/* The job's dates within a part. */
static Job job_within(Arena *arena, const Job *job, DateRange range) {
  Job part = *job;
  Instant *dates = arena_array(arena, job->n + 1, sizeof *dates);
  size_t n = 0;
  for (size_t i = 0; i <= job->n; i++)
    if (job->dates[i] >= range.from && job->dates[i] <= range.to) dates[n++] = job->dates[i];
  part.dates = dates;
  part.n = n - 1;
  return part;
}

static bool fill(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, const char *replacement,
                 int64_t *ret_rows, Error *err) {
  const char *dated = job->shape->null_dates ? sql_fill(arena, sql_exchange_dated, "date", sql->date, NULL) : "";
  const char *text = sql_fill(arena, sql_exchange_fill, "replacement", replacement, "given",
                              pg_shape_list(arena, sql->shape, sql->given, sql->n_given, "", ""), "recompute",
                              shape_recompute(engine, arena, sql, job), "dated", dated, NULL);
  return pg_run(engine, text, NULL, 0, ret_rows, "recomputing", err);
}

static bool clear(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *replacement, DateRange range,
                  Error *err) {
  const char *text = sql_fill(arena, sql_exchange_clear, "replacement", replacement, "in_range",
                              shape_in_range(arena, sql, "", range), NULL);
  return pg_run(engine, text, NULL, 0, NULL, "taking an earlier attempt away", err);
}

/* Rows of dates that were not asked for are findings by now; they do not stay. */
static bool clear_astray(PgEngine *engine, Arena *arena, const ShapeSql *sql, const char *replacement, DateRange range,
                         Error *err) {
  const char *text = sql_fill(arena, sql_exchange_astray, "replacement", replacement, "in_range",
                              shape_in_range(arena, sql, "", range), NULL);
  return pg_run(engine, text, NULL, 0, NULL, "recomputing", err);
}

static void add_finding(Arena *arena, BatchFacts *all, const Finding *finding) {
  Finding *findings = (Finding *)all->findings;
  for (size_t i = 0; i < all->n_findings; i++)
    if (findings[i].kind == finding->kind && findings[i].index == finding->index) {
      findings[i].count += finding->count;
      return;
    }
  findings = arena_grow(arena, findings, all->n_findings, sizeof *findings);
  findings[all->n_findings++] = *finding;
  all->findings = findings;
}

static void add_facts(Arena *arena, const Job *job, BatchFacts *all, const BatchFacts *part) {
  DateFacts *dates = (DateFacts *)all->dates;
  int64_t *columns = (int64_t *)all->column_changes;
  for (size_t i = 0; i < part->n; i++) dates[all->n++] = part->dates[i];
  for (size_t i = 0; i < part->n_findings; i++) add_finding(arena, all, &part->findings[i]);
  for (size_t i = 0; i < job->shape->n; i++) columns[i] += part->column_changes[i];
  all->rows += part->rows;
  all->changes += part->changes;
  all->token = all->token == NULL ? part->token : all->token;
}

/* Rows go to the end of a table in which nothing has died. Others who write to it too may leave room before the end, as
 * a rule within so many pages. */
enum { PAGES_BEFORE_END = 4096 };

/* A batch's rows in a replacement, which had so many pages before. `there` as in compare_written. */
typedef struct Filled {
  const char *replacement;
  int64_t pages, rows, there;
} Filled;

/* Compares what this transaction has written behind a page. */
static bool compare_part(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, const Filled *filled,
                         int64_t from, int64_t *rows, BatchFacts *ret, Error *err) {
  const char *given = pg_shape_list(arena, sql->shape, sql->given, sql->n_given, "", "");
  const char *written = sql_fill(arena, sql_exchange_written, "given", given, "replacement", filled->replacement,
                                 "page", arena_printf(arena, "%" PRId64, from), NULL);
  return compare_written(engine, arena, sql, job, written, rows, filled->there, ret, err);
}

/* Reads no more of a long table than it must. */
static bool compare_end(PgEngine *engine, Arena *arena, const ShapeSql *sql, const Job *job, const Filled *filled,
                        BatchFacts *ret, Error *err) {
  int64_t found = -1, rows = filled->rows, end = filled->pages - PAGES_BEFORE_END;
  if (end > 0) {
    if (!compare_part(engine, arena, sql, job, filled, end, &found, ret, err)) return false;
    if (found == rows) return true;
  }
  return compare_part(engine, arena, sql, job, filled, 0, &rows, ret, err);
}

static bool compute_part(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const Job *job, int64_t there,
                         const ExchangePart *part, BatchFacts *all, Error *err) {
  PgEngine *engine = writer->engine;
  DateRange range = exchange_within(part, (DateRange){job->dates[0], job->dates[job->n]});
  Job within = job_within(arena, job, range);
  BatchFacts facts;
  Filled filled = {.replacement = part->replacement, .there = there};
  if (!pg_number(engine, sql_exchange_pages, &part->replacement, 1, &filled.pages, "recomputing", err) ||
      !fill(engine, arena, sql, &within, part->replacement, &filled.rows, err) ||
      !compare_end(engine, arena, sql, &within, &filled, &facts, err))
    return false;
  add_facts(arena, job, all, &facts);
  for (size_t i = 0; i < facts.n_findings; i++)
    if (facts.findings[i].kind == FINDING_OUT_OF_DATES || facts.findings[i].kind == FINDING_NULL_DATE)
      return clear_astray(engine, arena, sql, part->replacement, range, err);
  return true;
}

bool exchange_compute_beside(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const Job *job, int64_t there,
                             BatchFacts *ret, Error *err) {
  ExchangePart *parts;
  size_t n;
  BatchFacts all = {.dates = arena_array(arena, job->n, sizeof(DateFacts)),
                    .column_changes = arena_array(arena, job->shape->n, sizeof(int64_t))};
  if (!exchange_parts(writer->engine, arena, writer->id, &parts, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (parts[i].range.from < job->dates[job->n] && parts[i].range.to > job->dates[0] &&
        !compute_part(writer, arena, sql, job, there, &parts[i], &all, err))
      return false;
  if (all.n != job->n)
    return error_set(err, ERR_SUPERSEDED, "%s has other partitions than when the plan was made", job->shape->table);
  *ret = all;
  return true;
}

bool exchange_compute(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const Job *job, BatchFacts *ret,
                      Error *err) {
  return exchange_compute_beside(writer, arena, sql, job, -1, ret, err);
}

bool exchange_forget(EngineWriter *writer, Arena *arena, const ShapeSql *sql, DateRange range, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart *parts;
  size_t n;
  const char *values[] = {writer->id, arena_printf(arena, "%" PRId64, range.from),
                          arena_printf(arena, "%" PRId64, range.to)};
  if (!exchange_parts(engine, arena, writer->id, &parts, &n, err)) return false;
  for (size_t i = 0; i < n; i++)
    if (parts[i].range.from < range.to && parts[i].range.to > range.from &&
        !clear(engine, arena, sql, parts[i].replacement, exchange_within(&parts[i], range), err))
      return false;
  return pg_run(engine, sql_fill(arena, sql_exchange_unsealed, "ledger", pg_schema(engine, arena), NULL), values, 3,
                NULL, "taking an earlier attempt away", err);
}

/* ---- the seal
 * --------------------------------------------------------------------------------------------------------------------
 */

static const char sealing[] = "sealing the replacements";

const char *exchange_index_name(Arena *arena, const EngineWriter *writer, const ExchangePart *part, int i) {
  return sql_ident(arena, arena_printf(arena, "tidegate_%s_p%" PRId64 "_i%d", writer->id, part->nth, i + 1));
}

/* Every index and constraint that the partition has, under names of our own. */
static bool add_indexes(EngineWriter *writer, Arena *arena, const ExchangePart *part, Error *err) {
  static const char doing[] = "giving a replacement its indexes";
  PgEngine *engine = writer->engine;
  PG_SCOPED wanted = NULL;
  PG_SCOPED there = NULL;
  if (!pg_query(engine, sql_exchange_indexes, &part->partition, 1, &wanted, doing, err) ||
      !pg_query(engine, sql_exchange_indexes, &part->replacement, 1, &there, doing, err))
    return false;
  if (PQntuples(there) == PQntuples(wanted)) return true; /* from an earlier seal */
  for (int i = 0; i < PQntuples(wanted); i++) {
    const char *name = exchange_index_name(arena, writer, part, i);
    const char *text = pg_peek(wanted, i, 1) != NULL
                           ? sql_fill(arena, sql_exchange_add_constraint, "table", part->replacement, "name", name,
                                      "definition", pg_peek(wanted, i, 2), NULL)
                           : sql_fill(arena, sql_exchange_add_index, "unique", pg_bool(wanted, i, 3) ? "UNIQUE " : "",
                                      "name", name, "table", part->replacement, "using", pg_peek(wanted, i, 4), NULL);
    if (!pg_run(engine, text, NULL, 0, NULL, doing, err)) return false;
    if (pg_peek(wanted, i, 5) == NULL) continue;
    text = sql_fill(arena, sql_exchange_comment_index, "index",
                    arena_printf(arena, "%s.%s", exchange_split(arena, part->replacement).schema, name), "text",
                    sql_literal(arena, pg_peek(wanted, i, 5)), NULL);
    if (!pg_run(engine, text, NULL, 0, NULL, doing, err)) return false;
  }
  return true;
}

static bool copy_outside(PgEngine *engine, Arena *arena, const ShapeSql *sql, const ExchangePart *part, DateRange range,
                         Error *err) {
  static const char doing[] = "copying the partition's other rows";
  DateRange within = exchange_within(part, range);
  const char *in_range = shape_in_range(arena, sql, "", within);
  if (within.from == part->range.from && within.to == part->range.to) return true;
  return pg_run(
             engine,
             sql_fill(arena, sql_exchange_outside_clear, "replacement", part->replacement, "in_range", in_range, NULL),
             NULL, 0, NULL, doing, err) &&
         pg_run(
             engine,
             sql_fill(arena, sql_exchange_outside_copy, "replacement", part->replacement, "partition", part->partition,
                      "stored", pg_shape_list(arena, sql->shape, sql->stored, sql->n_stored, "", ""), "in_range",
                      in_range, NULL),
             NULL, 0, NULL, doing, err);
}

static bool make_whole(EngineWriter *writer, Arena *arena, const ShapeSql *sql, const ExchangePart *part,
                       DateRange range, Error *err) {
  PgEngine *engine = writer->engine;
  return copy_outside(engine, arena, sql, part, range, err) && add_indexes(writer, arena, part, err) &&
         exchange_bound_check(engine, arena, part, err) &&
         pg_run(engine, sql_fill(arena, sql_exchange_analyze, "table", part->replacement, NULL), NULL, 0, NULL,
                "counting a replacement", err);
}

bool pg_seal_parts(Engine *base, Arena *arena, const Shape *shape, const char *id, const DateRange **ret, size_t *ret_n,
                   Error *err) {
  ExchangePart *parts;
  size_t n = 0;
  if (shape->way == WAY_EXCHANGE && !exchange_parts(pg_engine(base), arena, id, &parts, &n, err)) return false;
  DateRange *ranges = arena_array(arena, n, sizeof *ranges);
  for (size_t i = 0; i < n; i++) ranges[i] = parts[i].range;
  *ret = ranges;
  *ret_n = n;
  return true;
}

static bool seal_part(EngineWriter *writer, Arena *arena, const ShapeSql *sql, DateRange wanted, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart *parts;
  size_t n, i = 0;
  DateRange range;
  if (!exchange_range(engine, sql->shape, writer->id, &range, err) ||
      !exchange_parts(engine, arena, writer->id, &parts, &n, err))
    return false;
  while (i < n && parts[i].range.from != wanted.from) i++;
  if (i == n || parts[i].sealed) return true;
  const char *values[] = {writer->id, arena_printf(arena, "%" PRId64, parts[i].nth)};
  return make_whole(writer, arena, sql, &parts[i], range, err) &&
         pg_run(engine, sql_fill(arena, sql_exchange_sealed_part, "ledger", pg_schema(engine, arena), NULL), values, 2,
                NULL, sealing, err);
}

bool pg_seal_part(EngineWriter *writer, const Shape *shape, DateRange part, const Interrupt *interrupt, Error *err) {
  ARENA_SCOPED arena = {0};
  ShapeSql sql;
  writer->engine->interrupt = interrupt;
  bool ok = pg_shape_sql(writer->engine, &arena, shape, &sql, err) && seal_part(writer, &arena, &sql, part, err);
  writer->engine->interrupt = NULL;
  return ok;
}

bool exchange_seal(EngineWriter *writer, Arena *arena, const ShapeSql *sql, Error *err) {
  PgEngine *engine = writer->engine;
  ExchangePart *parts;
  size_t n;
  DateRange range;
  const char *id = writer->id;
  if (!exchange_range(engine, sql->shape, id, &range, err) || !exchange_parts(engine, arena, id, &parts, &n, err))
    return false;
  for (size_t i = 0; i < n; i++)
    if (!parts[i].sealed && !make_whole(writer, arena, sql, &parts[i], range, err)) return false;
  return pg_run(engine, sql_fill(arena, sql_exchange_sealed, "ledger", pg_schema(engine, arena), NULL), &id, 1, NULL,
                sealing, err);
}
