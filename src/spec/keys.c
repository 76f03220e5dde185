#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "spec/spec_int.h"

/*
 * The one list of everything that a person may write. Reading, "unknown key", its nearest name, the defaults and
 * docs/reference/spec.md come from here. A key's inner keys follow it.
 */

enum {
  BACKFILL = SPEC_IN_BACKFILL,
  TOP = SPEC_IN_PIPELINE,
  TARGET = SPEC_IN_TARGET,
  PIPELINE = SPEC_IN_PIPELINE | SPEC_IN_TARGET,
  ANY = SPEC_IN_BACKFILL | SPEC_IN_PIPELINE | SPEC_IN_TARGET
};

#define AT(member) offsetof(Spec, member)
#define JOB(member) offsetof(SpecJob, member)
#define ITEM(member) offsetof(SpecDownstream, member)
#define OVERRIDE(member) offsetof(SpecNodeDates, member)

static const SpecRow rows[] = {
    {{"target", BACKFILL, NULL, "daily_delays", "the production table whose dates are wrong; required"},
     spec_read_text,
     AT(target)},
    {{"range", BACKFILL, NULL, "2013-02-01..2013-02-28", "the dates to recompute, both ends included; required"},
     spec_read_text,
     AT(range)},
    {{"wrong", BACKFILL, NULL, "cancelled flights were counted as zero delay", "what is wrong, in words; required"},
     spec_read_text,
     AT(wrong)},
    {{"correct", BACKFILL, NULL, "the average covers departed flights only",
      "what the values should be, in words; required"},
     spec_read_text,
     AT(correct)},
    {{"follows", BACKFILL, NULL, "7f3a",
      "the backfill whose target this one was made from; tidegate cascade writes it into its drafts"},
     spec_read_text,
     AT(follows)},
    {{"changes", BACKFILL, NULL, "{avg_dep_delay: cancelled > 0}",
      "evidence: the columns that may change, and where (SQL on the old row); a column, a list of columns or a map of "
      "column to condition (yes: anywhere); also \"*\" (any column), new rows, vanished rows. Nothing else may differ"},
     spec_read_changes,
     0},
    {{"control", BACKFILL, NULL, "2013-01-25..2013-01-31",
      "evidence: dates that are right today and must be reproduced"},
     spec_read_text,
     AT(control)},
    {{"checks", ANY, NULL, "{rows: [flights >= cancelled]}",
      "evidence: what must hold of the new rows; in tidegate.yaml: of every backfill that gives no such list itself"},
     spec_read_group,
     0},
    {{"checks.rows", ANY, NULL, "[flights >= cancelled]", "SQL conditions that must hold for every row"},
     spec_read_sqls,
     AT(row_checks)},
    {{"checks.totals", ANY, NULL, "[count(*) > 0]", "SQL conditions on aggregates over the range, with :from and :to"},
     spec_read_sqls,
     AT(total_checks)},
    {{"oracle", BACKFILL, NULL, "|\n  SELECT avg(dep_delay) AS avg_dep_delay FROM flights WHERE origin = :origin",
      "evidence: SQL that gets the right values of one row a second way, asked for a sample; the key's columns are its "
      "parameters"},
     spec_read_sql,
     AT(oracle)},
    {{"recompute", BACKFILL, NULL,
      "|\n  SELECT flight_date, count(*) AS flights FROM flights WHERE flight_date >= :from AND flight_date < :to "
      "GROUP "
      "BY 1",
      "the SQL that gives the right rows for [:from, :to), or a map with sql or command; required"},
     spec_read_recompute,
     0},
    {{"recompute.sql", BACKFILL, NULL, "|\n  SELECT * FROM daily WHERE day >= :from AND day < :to",
      "the same as the SQL alone"},
     spec_read_sql,
     AT(recompute.sql)},
    {{"recompute.command", BACKFILL, NULL, "[dbt, run, --select, daily_delays]",
      "an external program and its arguments, run once a batch; one text when shell is yes"},
     spec_read_command,
     AT(recompute.command)},
    {{"recompute.shell", BACKFILL, "no", "yes", "the command is a line for /bin/sh"},
     spec_read_bool,
     AT(recompute.shell)},
    {{"recompute.timeout", BACKFILL, "10m", "10m", "how long the command may take for a batch"},
     spec_read_timeout,
     AT(recompute.timeout)},
    {{"shadow", BACKFILL, "thin", "full", "thin: store the rows that differ; full: store every recomputed row"},
     spec_read_shadow,
     AT(full_shadow)},
    {{"publish", ANY, "auto", "changes",
      "how the swap publishes: changes (row by row, the rows that differ), exchange (whole partitions, PostgreSQL), "
      "replace (every row of the range, PostgreSQL), auto (exchange where it is possible and most rows change, replace "
      "where nearly every row of a plain table does)"},
     spec_read_publish,
     AT(publish)},
    {{"allow", BACKFILL, NULL, "{null_keys: yes}", "what is denied unless it is declared here"}, spec_read_group, 0},
    {{"allow.emptied_dates", BACKFILL, NULL, "[2013-02-14]", "dates or ranges whose rows may all go"},
     spec_read_texts,
     AT(allow_emptied)},
    {{"allow.null_dates", BACKFILL, "no", "yes", "production may have rows without a date: they stay as they are"},
     spec_read_bool,
     AT(allow_null_dates)},
    {{"allow.null_keys", BACKFILL, "no", "yes", "a key column may be NULL"}, spec_read_bool, AT(allow_null_keys)},
    {{"tolerance", BACKFILL, NULL, "{avg_dep_delay: 0.01}", "by column, how far apart two values may be and be equal"},
     spec_read_tolerance,
     0},

    {{"database", ANY, NULL, "flights.db",
      "a SQLite file, relative to the file in which this stands, or a URL such as postgresql://host/name; never with a "
      "password, which libpq finds in ~/.pgpass, PGPASSWORD or a service file"},
     spec_read_database,
     0},
    {{"postgres", PIPELINE, NULL, "{tablespace: scratch}", "where the backfills' own tables go in PostgreSQL"},
     spec_read_group,
     0},
    {{"postgres.schema", TOP, "tidegate", "tidegate", "the schema of the ledger and of every backfill's tables"},
     spec_read_text,
     AT(postgres.schema)},
    {{"postgres.tablespace", PIPELINE, NULL, "scratch",
      "the tablespace of a backfill's tables; else the database's own"},
     spec_read_text,
     AT(postgres.tablespace)},
    {{"postgres.shadow", PIPELINE, "logged", "unlogged",
      "unlogged: the full shadow writes no WAL; after a crash of the server it is empty and filled again"},
     spec_read_unlogged,
     AT(postgres.unlogged)},
    {{"date_column", ANY, NULL, "flight_date", "the column that says to which date a row belongs; inferred"},
     spec_read_text,
     AT(date_column)},
    {{"date_kind", ANY, NULL, "unix_seconds",
      "how that column holds dates: date, basic_date, month, timestamp, yyyymmdd, yyyymm, unix_seconds, unix_millis, "
      "julian_day; "
      "inferred"},
     spec_read_date_kind,
     AT(date_kind)},
    {{"grain", ANY, NULL, "day", "what one date is: hour, day, week, month, year; inferred"},
     spec_read_grain,
     AT(grain)},
    {{"zone", ANY, NULL, "America/New_York", "the time zone in which midnight of a date falls; inferred"},
     spec_read_text,
     AT(zone)},
    {{"key", ANY, NULL, "[flight_date, origin, carrier]", "the columns that identify a row; inferred"},
     spec_read_texts,
     AT(key)},
    {{"preserve", ANY, NULL, "[created_at]", "columns that are never written, although the recompute may give them"},
     spec_read_texts,
     AT(preserve)},
    {{"sources", ANY, NULL, "{flights: flight_date}", "by table that the recompute reads, its date column; inferred"},
     spec_read_sources,
     0},
    {{"downstream", ANY, NULL, "[{name: delays dashboard, kind: dashboard, needs: refresh}]",
      "what depends on the target and is in no catalogue: names, or maps of name, kind, needs, reads"},
     spec_read_downstream,
     0},
    {{"downstream.name", ANY, NULL, "delays dashboard", "its name; required"}, spec_read_text, ITEM(name)},
    {{"downstream.kind", ANY, "table", "dashboard", "table, view, dashboard, job, export, or a word of your own"},
     spec_read_word,
     ITEM(kind)},
    {{"downstream.needs", ANY, "unknown", "refresh",
      "what a swap means for it: nothing, follows, refresh, cascade, rebuild, person (somebody decides), unknown"},
     spec_read_needs,
     ITEM(needs)},
    {{"downstream.reads", ANY, NULL, "[monthly_delays]",
      "what it reads, when it is not the target: tables, or others of this list"},
     spec_read_texts,
     ITEM(reads)},
#include "spec/lineage_keys.def"
    {{"in_place", TARGET, NULL, "\"dbt run --select carrier_days --event-time-start {from} --event-time-end {to}\"",
      "the line for /bin/sh by which its own tool writes the dates of a batch in place; tidegate cascade runs it over "
      "a "
      "snapshot instead of the table's SQL"},
     spec_read_text,
     AT(in_place)},
    {{"production", ANY, NULL, "{schedule: \"0 2 * * *\", zone: America/New_York, p95: 20m}",
      "the job that writes the target; none when nothing is scheduled"},
     spec_read_production,
     0},
#define GROUP(name, example, description) {{"production." name, ANY, NULL, example, description}, spec_read_group, 0},
#define KEY(name, fallback, example, description, read, member) \
  {{"production." name, ANY, fallback, example, description}, read, AT(production.member)},
#include "spec/job_keys.def"
#undef KEY
#undef GROUP
    {{"production.lookback", ANY, "0", "3", "the job rewrites its last N dates at every run"},
     spec_read_count,
     AT(production.lookback)},
    {{"production.lookback_fixed", ANY, "no", "yes", "the job itself is right by now"},
     spec_read_bool,
     AT(production.lookback_fixed)},
    {{"jobs", PIPELINE, NULL, "{nightly_load: {writes: [daily_delays], schedule: \"0 2 * * *\", p95: 20m}}",
      "by name, the jobs that write or read tables: those that write the target, read it or feed it close the window; "
      "in "
      "a target's entry, what differs for it"},
     spec_read_jobs,
     0},
    {{"jobs.writes", PIPELINE, NULL, "[daily_delays]", "the tables that it writes"}, spec_read_texts, JOB(writes)},
    {{"jobs.reads", PIPELINE, NULL, "[flights]", "the tables that it reads"}, spec_read_texts, JOB(reads)},
#define GROUP(name, example, description) {{"jobs." name, PIPELINE, NULL, example, description}, spec_read_group, 0},
#define KEY(name, fallback, example, description, read, member) \
  {{"jobs." name, PIPELINE, fallback, example, description}, read, JOB(member)},
#include "spec/job_keys.def"
#undef KEY
#undef GROUP
#include "spec/gate_keys.def"
    {{"freeze", PIPELINE, NULL, "[2026-12-24..2026-12-26, month end, {file: holidays.txt}]",
      "days on which no backfill works: dates, ranges, days of every year (24 December, 12-24..12-26), month end, "
      "month "
      "end 2 (the last two days), files of one date or range a line; in production.zone, else that of the job that "
      "writes the target"},
     spec_read_freeze,
     0},
    {{"idle", ANY, NULL, "22:00-06:00", "the hours in which a backfill may work; or a map of hours and zone"},
     spec_read_idle,
     0},
    {{"idle.hours", ANY, NULL, "22:00-06:00", "the hours; past midnight when the end is before the start"},
     spec_read_text,
     AT(idle)},
    {{"idle.zone", ANY, NULL, "Europe/Berlin",
      "their time zone; unless given production.zone, else that of the job that writes the target"},
     spec_read_text,
     AT(idle_zone)},
    {{"budget", ANY, NULL, "{batch: 60s, lag: 10s}", "what the backfill may use"}, spec_read_group, 0},
    {{"budget.batch", ANY, "60s", "60s", "how long one batch should take"}, spec_read_timeout, AT(budget.batch)},
    {{"budget.statement", ANY, "5m", "5m", "how long one statement may take"}, spec_read_timeout, AT(budget.statement)},
    {{"budget.lock", ANY, "1.5s", "1.5s", "how long one try for a lock waits"}, spec_read_timeout, AT(budget.lock)},
    {{"budget.lock_tries", ANY, "20", "20", "how often a lock is tried"}, spec_read_tries, AT(budget.lock_tries)},
    {{"budget.swap_lock", ANY, "10s", "10s", "how long the swap may hold its lock"},
     spec_read_timeout,
     AT(budget.swap_lock)},
    {{"budget.lag", ANY, "10s", "10s", "how far replicas may fall behind before the backfill waits"},
     spec_read_timeout,
     AT(budget.lag)},
    {{"budget.wal", ANY, "1 GB", "1 GB",
      "how much write-ahead log may be written during a batch, and wait to be archived"},
     spec_read_size,
     AT(budget.wal)},
    {{"budget.sessions", ANY, NULL, "40",
      "how many other sessions may be active before the backfill waits; any number"},
     spec_read_tries,
     AT(budget.sessions)},
    {{"budget.canary", ANY, NULL, "|\n  SELECT count(*) FROM orders WHERE customer_id = 42",
      "SQL that stands for production's own queries: the backfill waits while it is slow"},
     spec_read_sql,
     AT(budget.canary)},
    {{"budget.canary_time", ANY, "100ms", "100ms", "how long the canary may take"},
     spec_read_timeout,
     AT(budget.canary_time)},
    {{"budget.duty", ANY, "50 %", "50 %", "the share of the time in which the backfill works"},
     spec_read_share,
     AT(budget.duty)},
    {{"budget.crowded", ANY, "1 %", "10 %",
      "the same while others are at work and the server has no processor free (PostgreSQL; not asked when duty is 100 "
      "%)"},
     spec_read_share,
     AT(budget.crowded)},
    {{"budget.workers", ANY, "1", "2",
      "how many batches are written at a time, each on a connection of its own (PostgreSQL); each rests by the duty"},
     spec_read_tries,
     AT(budget.workers)},
    {{"retention", ANY, "7d", "7d", "how long the old rows are kept after the swap at least"},
     spec_read_duration,
     AT(retention)},
    {{"sample", ANY, NULL, "{share: 0.1 %, confidence: 95 %}", "what the oracle's sample must be able to find"},
     spec_read_group,
     0},
    {{"sample.share", ANY, "0.1 %", "0.1 %", "the share of wrong rows that must not go unnoticed"},
     spec_read_share,
     AT(sample_share)},
    {{"sample.confidence", ANY, "95 %", "95 %", "how certain that is"}, spec_read_share, AT(sample_confidence)},
    {{"triggers", ANY, "deny", "skip",
      "the target's own triggers at the swap: deny (refuse when there are any), fire, skip"},
     spec_read_triggers,
     AT(triggers)},
    {{"owner", ANY, NULL, "data-platform", "who answers for the target"}, spec_read_text, AT(owner)},
    {{"contacts", ANY, NULL, "[\"#data-alerts\", ops@example.org]", "whom to tell"}, spec_read_texts, AT(contacts)},
    {{"correctness", ANY, NULL, "the nightly totals of the airline's own report agree to the flight",
      "how it is judged that the target is right, in words for the runbook"},
     spec_read_text,
     AT(correctness)},
    {{"rollback", ANY, NULL, "tidegate rollback; after the retention from the backup of the night before",
      "how a wrong publication is taken back, in words for the runbook"},
     spec_read_text,
     AT(rollback_path)},
    {{"notes", ANY, NULL, "the vendor resends files on Mondays", "free text for the runbook"},
     spec_read_text,
     AT(runbook_note)},
    {{"targets", TOP, NULL, "{daily_delays: {owner: data-platform}}",
      "by target, the keys of this file that differ for it"},
     spec_read_targets,
     0},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

const SpecKey *spec_key(size_t i) { return i < N_ROWS ? &rows[i].key : NULL; }

/* The name without `parent` and its dot; NULL if the row does not stand directly inside parent. */
static const char *name_inside(const SpecRow *row, const char *parent) {
  size_t n = strlen(parent);
  const char *name = row->key.name;
  if (n > 0) {
    if (strncmp(name, parent, n) != 0 || name[n] != '.') return NULL;
    name += n + 1;
  }
  return strchr(name, '.') == NULL ? name : NULL;
}

const SpecRow *spec_row(const char *parent, const char *name) {
  for (size_t i = 0; i < N_ROWS; i++) {
    const char *known = name_inside(&rows[i], parent);
    if (known != NULL && strcmp(known, name) == 0) return &rows[i];
  }
  return NULL;
}

/* The first key inside another key that has this name: `schedule` written at the top. */
static const SpecRow *inner_row(const char *name) {
  for (size_t i = 0; i < N_ROWS; i++) {
    const char *dot = strrchr(rows[i].key.name, '.');
    if (dot != NULL && strcmp(dot + 1, name) == 0) return &rows[i];
  }
  return NULL;
}

/* The key's own place, for errors about the key itself. */
static DocNode key_node(const DocNode *node) {
  return (DocNode){.kind = DOC_SCALAR, .text = node->key, .line = node->key_line, .column = node->key_column};
}

static bool refuse_unknown(SpecReader *reader, const char *parent, const DocNode *node) {
  const char *names[N_ROWS], *separator = "";
  size_t n = 0;
  BUF_SCOPED list = {0};
  for (size_t i = 0; i < N_ROWS; i++) {
    const char *name = name_inside(&rows[i], parent);
    if (name == NULL || (rows[i].key.where & reader->level) == 0) continue;
    buf_printf(&list, "%s%s", separator, name);
    separator = ", ";
    names[n++] = name;
  }
  DocNode key = key_node(node);
  spec_refuse(reader, &key, "unknown key “%.100s”%s%s%s", node->key, *parent == '\0' ? "" : " inside “", parent,
              *parent == '\0' ? "" : "”");
  const SpecRow *inner = *parent == '\0' ? inner_row(node->key) : NULL;
  if (inner != NULL) return spec_hint_example(reader, inner);
  const char *nearest = spec_nearest(node->key, names, n);
  if (nearest == NULL) return error_hint(reader->err, "known here: %s", buf_text(&list));
  return error_hint(reader->err, "did you mean “%s”? Known here: %s", nearest, buf_text(&list));
}

static bool refuse_elsewhere(SpecReader *reader, const SpecRow *row, const DocNode *node) {
  DocNode key = key_node(node);
  if (row->key.where == BACKFILL) {
    spec_refuse(reader, &key, "“%s” belongs to one backfill, not to the pipeline", row->key.name);
    return error_hint(reader->err, "move it into the backfill's own file");
  }
  if (row->key.where == PIPELINE) {
    spec_refuse(reader, &key, "“%s” belongs to the pipeline, not to one backfill", row->key.name);
    return error_hint(reader->err, "move it to the top of tidegate.yaml, or to the target's entry there");
  }
  if (row->key.where == TARGET) {
    spec_refuse(reader, &key, "“%s” belongs to one table of the pipeline", row->key.name);
    return error_hint(reader->err, "move it into that table's entry under “targets” in tidegate.yaml");
  }
  spec_refuse(reader, &key, "“%s” can stand at the top of tidegate.yaml only", row->key.name);
  return error_hint(reader->err, "move it to the top of tidegate.yaml");
}

bool spec_read_keys(SpecReader *reader, const char *parent, const DocNode *mapping, void *base) {
  for (size_t i = 0; i < mapping->n; i++) {
    const DocNode *node = &mapping->children[i];
    const SpecRow *row = spec_row(parent, node->key);
    if (row == NULL) return refuse_unknown(reader, parent, node);
    if ((row->key.where & reader->level) == 0) return refuse_elsewhere(reader, row, node);
    if (node->kind == DOC_NULL) {
      spec_refuse(reader, node, "“%s” has no value", row->key.name);
      spec_hint_example(reader, row);
      size_t used = strlen(reader->err->hint);
      snprintf(reader->err->hint + used, sizeof reader->err->hint - used, " (or take the line out)");
      return false;
    }
    if (!row->read(reader, row, node, (char *)base + row->offset)) return false;
  }
  return true;
}

bool spec_apply_defaults(SpecReader *reader, const char *parent, void *base) {
  for (size_t i = 0; i < N_ROWS; i++) {
    const SpecRow *row = &rows[i];
    if (row->key.fallback == NULL || name_inside(row, parent) == NULL) continue;
    DocNode value = {.kind = DOC_SCALAR, .key = row->key.name, .text = row->key.fallback};
    if (!row->read(reader, row, &value, (char *)base + row->offset)) return false;
  }
  return true;
}
