-- The ledger's tables and every statement on them. {ledger} is its schema, {now} the database's clock as `now` below.
-- Instants are seconds since 1970 in database time, 0 = never; fingerprints are texts (base/hash.h); $1 is the backfill
-- where nothing else is said. Every name has its schema, so that nobody's search_path or temporary table comes between.

-- name: now
-- An expression, not a statement: the time at this moment, also late in a transaction.
pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()))::int8

-- name: exists
-- Has the schema $1 a table meta? Asks the catalogue, so that no right on the schema is needed.
SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = 'meta' AND c.relkind = 'r'

-- name: version
-- The version of the tables.
SELECT version FROM {ledger}.meta

-- name: lock
-- Nobody else makes the ledger of schema $1 until this transaction has ended.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('tidegate ledger ' || $1, 0))

-- name: schema_exists
SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1

-- name: create_schema
CREATE SCHEMA {ledger}

-- name: create_meta
-- What the ledger is: version and uuid; one row.
CREATE TABLE {ledger}.meta (
  version int8 NOT NULL,
  uuid uuid NOT NULL,
  created_at int8 NOT NULL
)

-- name: fill_meta
-- A random uuid makes the ledger this one and no other.
INSERT INTO {ledger}.meta (version, uuid, created_at) VALUES (1, pg_catalog.gen_random_uuid(), {now})

-- name: create_backfill
-- One row a backfill, and who drives it. Room is left in the pages: every transaction beats the heartbeat.
CREATE TABLE {ledger}.backfill (
  id text NOT NULL PRIMARY KEY,
  number int8 GENERATED ALWAYS AS IDENTITY,
  target text NOT NULL,
  state text NOT NULL,
  way text NOT NULL,
  reason text,
  digest text,
  database_id text,
  spec_path text,
  spec_text text,
  pipeline_path text,
  pipeline_text text,
  plan text,
  seal text,
  swap text,
  owner text,
  created_at int8 NOT NULL,
  changed_at int8 NOT NULL,
  swapped_at int8 NOT NULL DEFAULT 0,
  lease_owner text,
  lease_epoch int8 NOT NULL DEFAULT 0,
  lease_heartbeat int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 50)

-- name: create_date
-- One row a date of the range; batch 0: not written yet.
CREATE TABLE {ledger}.date (
  backfill text NOT NULL,
  date int8 NOT NULL,
  expected_rows int8 NOT NULL,
  suspect_rows int8 NOT NULL,
  batch int8 NOT NULL,
  production text NOT NULL,
  recomputed text NOT NULL,
  stable text NOT NULL,
  inserts int8 NOT NULL,
  updates int8 NOT NULL,
  deletes int8 NOT NULL,
  moves_in int8 NOT NULL,
  moves_out int8 NOT NULL,
  PRIMARY KEY (backfill, date)
)

-- name: create_batch
-- One row a batch that was written; [range_from, range_to) is half-open.
CREATE TABLE {ledger}.batch (
  backfill text NOT NULL,
  number int8 NOT NULL,
  range_from int8 NOT NULL,
  range_to int8 NOT NULL,
  attempt int8 NOT NULL,
  date_count int8 NOT NULL,
  row_count int8 NOT NULL,
  change_count int8 NOT NULL,
  seconds float8 NOT NULL,
  token text,
  log text,
  done_at int8 NOT NULL,
  PRIMARY KEY (backfill, number)
)

-- name: create_col
-- In how many rows of a batch a column changes; columns without a change are absent.
CREATE TABLE {ledger}.col (
  backfill text NOT NULL,
  batch int8 NOT NULL,
  column_name text NOT NULL,
  changed_rows int8 NOT NULL,
  PRIMARY KEY (backfill, batch, column_name)
)

-- name: create_finding
-- What was found wrong; batch 0: not of one batch.
CREATE TABLE {ledger}.finding (
  number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backfill text NOT NULL,
  batch int8 NOT NULL,
  kind text NOT NULL,
  subject text,
  message text,
  found_rows int8 NOT NULL,
  examples text
)

-- name: create_finding_index
CREATE INDEX finding_backfill ON {ledger}.finding (backfill, batch)

-- name: create_object
-- What Tidegate made in the database; nothing else is ever dropped.
CREATE TABLE {ledger}.object (
  backfill text NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  identity text,
  created_at int8 NOT NULL,
  dropped_at int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (backfill, name)
)

-- name: create_exchange
-- The partitions that a backfill exchanges. swapped: the transaction that put the replacement into production.
CREATE TABLE {ledger}.exchange (
  backfill text NOT NULL,
  nth int8 NOT NULL,
  partition text NOT NULL,
  lower text NOT NULL,
  upper text NOT NULL,
  range_from int8 NOT NULL,
  range_to int8 NOT NULL,
  sealed boolean NOT NULL DEFAULT false,
  swapped xid8,
  PRIMARY KEY (backfill, nth)
)

-- name: create_event
-- Who did what, and when.
CREATE TABLE {ledger}.event (
  number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backfill text NOT NULL,
  at int8 NOT NULL,
  who text,
  what text NOT NULL,
  detail text
)

-- name: create_event_index
CREATE INDEX event_backfill ON {ledger}.event (backfill)

-- name: create_xact
-- The transactions that are Tidegate's own: what they committed is no drift.
CREATE TABLE {ledger}.xact (
  xid xid8 NOT NULL PRIMARY KEY,
  at timestamptz NOT NULL
)

-- name: own_xact_wanted
-- Has the open transaction written, and has the schema $1 a ledger whose xact this role may write?
SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL
  AND n.nspname = $1 AND c.relname = 'xact' AND c.relkind = 'r'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'INSERT')

-- name: own_xact
-- Noted twice is as good as once.
INSERT INTO {ledger}.xact (xid, at) VALUES (pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp())
ON CONFLICT DO NOTHING

-- name: prune_xact
-- A change token that is older than this proves nothing any more; then the fingerprints decide. What another one is
-- pruning is left to it.
DELETE FROM {ledger}.xact WHERE xid IN
  (SELECT xid FROM {ledger}.xact WHERE at < pg_catalog.clock_timestamp() - interval '30 days' FOR UPDATE SKIP LOCKED)

-- name: add
-- A new backfill: $1 … $15 as `list` gives them, $16 when it was made, 0 for now. Changes nothing when there is one of
-- this id.
INSERT INTO {ledger}.backfill (id, target, state, way, reason, digest, database_id, spec_path, spec_text,
  pipeline_path, pipeline_text, plan, seal, swap, owner, created_at, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
  coalesce(nullif($16::int8, 0), {now}), {now})
ON CONFLICT (id) DO NOTHING

-- name: add_dates
-- All dates at once: $2 … $13 are arrays, an element a date.
INSERT INTO {ledger}.date (backfill, date, expected_rows, suspect_rows, batch, production, recomputed, stable,
  inserts, updates, deletes, moves_in, moves_out)
SELECT $1, d.* FROM ROWS FROM (pg_catalog.unnest($2::int8[]), pg_catalog.unnest($3::int8[]),
  pg_catalog.unnest($4::int8[]), pg_catalog.unnest($5::int8[]), pg_catalog.unnest($6::text[]),
  pg_catalog.unnest($7::text[]), pg_catalog.unnest($8::text[]), pg_catalog.unnest($9::int8[]),
  pg_catalog.unnest($10::int8[]), pg_catalog.unnest($11::int8[]), pg_catalog.unnest($12::int8[]),
  pg_catalog.unnest($13::int8[])) d

-- name: list
-- Newest first.
SELECT id, target, state, way, reason, digest, database_id, spec_path, spec_text, pipeline_path, pipeline_text,
  plan, seal, swap, owner, created_at, changed_at, swapped_at, lease_owner, lease_epoch, lease_heartbeat
FROM {ledger}.backfill ORDER BY created_at DESC, number DESC

-- name: state
-- The state a backfill is in; no row: there is no such backfill.
SELECT state FROM {ledger}.backfill WHERE id = $1

-- name: move
-- From state $2 to $3 for the reason $4; {doc} sets the document's column to $5 or nothing.
UPDATE {ledger}.backfill SET state = $3, reason = $4, changed_at = {now},
  swapped_at = CASE WHEN $3 = 'swapped' THEN {now} ELSE swapped_at END{doc}
WHERE id = $1 AND state = $2

-- name: doc
-- Replaces one JSON document, {doc}, by $2.
UPDATE {ledger}.backfill SET changed_at = {now}, {doc} = $2 WHERE id = $1

-- name: event
-- What ($3) was done, with its detail ($4), by $2; NULL: whoever holds the lease.
INSERT INTO {ledger}.event (backfill, at, who, what, detail)
SELECT id, {now}, coalesce($2, lease_owner), $3, $4 FROM {ledger}.backfill WHERE id = $1

-- name: lease
-- Who drives the backfill, under which epoch, and how many seconds ago it was last heard of.
SELECT lease_owner, lease_epoch, {now} - lease_heartbeat FROM {ledger}.backfill WHERE id = $1

-- name: lease_lock
-- The same, and nobody takes it, drops it or writes under it until this transaction has ended. FOR UPDATE also waits for
-- batches, which hold the row FOR KEY SHARE, and makes the update that follows one that they cannot look past.
SELECT lease_owner, lease_epoch, {now} - lease_heartbeat FROM {ledger}.backfill WHERE id = $1 FOR UPDATE

-- name: lease_share
-- The same, and nobody takes it or drops it until this transaction has ended; others may write under it as well, and
-- beat its heartbeat. A snapshot in which the lease was another's is refused by the server (40001).
SELECT lease_owner, lease_epoch, {now} - lease_heartbeat FROM {ledger}.backfill WHERE id = $1 FOR KEY SHARE

-- name: lease_take
UPDATE {ledger}.backfill SET lease_owner = $2, lease_epoch = lease_epoch + 1, lease_heartbeat = {now} WHERE id = $1

-- name: lease_drop
UPDATE {ledger}.backfill SET lease_owner = NULL, lease_heartbeat = 0
WHERE id = $1 AND lease_epoch = $2::int8 AND lease_owner IS NOT NULL

-- name: guard
-- Beats the heartbeat of the one who holds the lease under the epoch $2; changes nothing for anyone else.
UPDATE {ledger}.backfill SET lease_heartbeat = {now}
WHERE id = $1 AND lease_epoch = $2::int8 AND lease_owner IS NOT NULL

-- name: dates
SELECT date, expected_rows, suspect_rows, batch, inserts, updates, deletes, moves_in, moves_out,
  production, recomputed, stable
FROM {ledger}.date WHERE backfill = $1 ORDER BY date

-- name: batches
SELECT number, range_from, range_to, attempt, date_count, row_count, change_count, seconds, token, log, done_at
FROM {ledger}.batch WHERE backfill = $1 ORDER BY number

-- name: columns
SELECT column_name, pg_catalog.sum(changed_rows)::int8 FROM {ledger}.col WHERE backfill = $1
GROUP BY column_name ORDER BY 2 DESC, column_name COLLATE "C"

-- name: findings
SELECT batch, kind, subject, message, found_rows, examples
FROM {ledger}.finding WHERE backfill = $1 ORDER BY number

-- name: objects
SELECT name, role, identity, created_at, dropped_at
FROM {ledger}.object WHERE backfill = $1 ORDER BY created_at, name COLLATE "C"

-- name: events
SELECT at, who, what, detail FROM {ledger}.event WHERE backfill = $1 ORDER BY number

-- name: add_findings
-- All at once, numbered in their order: $2 … $7 are arrays.
INSERT INTO {ledger}.finding (backfill, batch, kind, subject, message, found_rows, examples)
SELECT $1, f.batch, f.kind, f.subject, f.message, f.found_rows, f.examples
FROM ROWS FROM (pg_catalog.unnest($2::int8[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]),
  pg_catalog.unnest($5::text[]), pg_catalog.unnest($6::int8[]), pg_catalog.unnest($7::text[]))
  WITH ORDINALITY f (batch, kind, subject, message, found_rows, examples, place)
ORDER BY f.place

-- name: object_add
-- Name, role and identity. The same name again, after a drop, is a new object.
INSERT INTO {ledger}.object AS o (backfill, name, role, identity, created_at)
VALUES ($1, $2, $3, $4, {now})
ON CONFLICT (backfill, name) DO UPDATE
SET role = excluded.role, identity = excluded.identity, created_at = excluded.created_at, dropped_at = 0

-- name: object_dropped
UPDATE {ledger}.object SET dropped_at = {now} WHERE backfill = $1 AND name = $2 AND dropped_at = 0

-- name: batch_add
-- $2 number, [$3, $4) range, $5 attempt, $6 dates, $7 rows, $8 changes, $9 seconds, $10 token, $11 log.
INSERT INTO {ledger}.batch (backfill, number, range_from, range_to, attempt, date_count, row_count, change_count,
  seconds, token, log, done_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, {now})
ON CONFLICT (backfill, number) DO UPDATE
SET range_from = excluded.range_from, range_to = excluded.range_to, attempt = excluded.attempt,
  date_count = excluded.date_count, row_count = excluded.row_count, change_count = excluded.change_count,
  seconds = excluded.seconds, token = excluded.token, log = excluded.log, done_at = excluded.done_at

-- name: dates_done
-- The dates $3 were written by batch $2, with the facts $4 … $11: arrays, an element a date.
UPDATE {ledger}.date d SET batch = $2::int8, production = f.production, recomputed = f.recomputed, stable = f.stable,
  inserts = f.inserts, updates = f.updates, deletes = f.deletes, moves_in = f.moves_in, moves_out = f.moves_out
FROM ROWS FROM (pg_catalog.unnest($3::int8[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]),
  pg_catalog.unnest($6::text[]), pg_catalog.unnest($7::int8[]), pg_catalog.unnest($8::int8[]),
  pg_catalog.unnest($9::int8[]), pg_catalog.unnest($10::int8[]), pg_catalog.unnest($11::int8[]))
  f (date, production, recomputed, stable, inserts, updates, deletes, moves_in, moves_out)
WHERE d.backfill = $1 AND d.date = f.date

-- name: columns_add
-- The columns $3 of batch $2 change in $4 rows: arrays.
INSERT INTO {ledger}.col AS c (backfill, batch, column_name, changed_rows)
SELECT $1, $2::int8, n.column_name, n.changed_rows
FROM ROWS FROM (pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::int8[])) n (column_name, changed_rows)
ON CONFLICT (backfill, batch, column_name) DO UPDATE SET changed_rows = c.changed_rows + excluded.changed_rows

-- name: forget_dates
-- The dates of [$2, $3) are not written; production's fingerprint stays as it was last read. $4: the empty fingerprint.
UPDATE {ledger}.date SET batch = 0, recomputed = $4, stable = $4,
  inserts = 0, updates = 0, deletes = 0, moves_in = 0, moves_out = 0
WHERE backfill = $1 AND date >= $2::int8 AND date < $3::int8 AND batch <> 0

-- name: forget_columns
-- Takes away the column counts of batches of which no date is left.
DELETE FROM {ledger}.col WHERE backfill = $1
  AND batch NOT IN (SELECT batch FROM {ledger}.date WHERE backfill = $1)

-- name: forget_findings
-- The same for what was found in them, batch $2 left out, and for what the last seal found over all.
DELETE FROM {ledger}.finding WHERE backfill = $1 AND (batch = 0 OR batch <> $2::int8
  AND batch IN (SELECT number FROM {ledger}.batch WHERE backfill = $1)
  AND batch NOT IN (SELECT batch FROM {ledger}.date WHERE backfill = $1))

-- name: forget_batches
-- And last for the batches themselves.
DELETE FROM {ledger}.batch WHERE backfill = $1
  AND number NOT IN (SELECT batch FROM {ledger}.date WHERE backfill = $1)
