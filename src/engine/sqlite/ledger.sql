-- The ledger's tables and every statement on them. Instants are seconds since 1970 in database time, 0 = never;
-- fingerprints are texts (base/hash.h); :id is the backfill.

-- name: exists
-- Is there a table tidegate_meta?
SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'tidegate_meta' COLLATE NOCASE

-- name: version
-- The version of the tables.
SELECT CAST(value AS INTEGER) FROM main.tidegate_meta WHERE key = 'version'

-- name: create_meta
-- What the ledger is: version and uuid.
CREATE TABLE main.tidegate_meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID

-- name: fill_meta
-- A random uuid makes the ledger this one and no other.
INSERT INTO main.tidegate_meta (key, value)
VALUES ('version', '1'), ('uuid', lower(hex(randomblob(16)))), ('created_at', CAST(unixepoch('now') AS TEXT))

-- name: create_backfill
-- One row a backfill, and who drives it.
CREATE TABLE main.tidegate_backfill (
  id TEXT NOT NULL PRIMARY KEY,
  target TEXT NOT NULL,
  state TEXT NOT NULL,
  way TEXT NOT NULL,
  reason TEXT,
  digest TEXT,
  database_id TEXT,
  spec_path TEXT,
  spec_text TEXT,
  pipeline_path TEXT,
  pipeline_text TEXT,
  plan TEXT,
  seal TEXT,
  swap TEXT,
  owner TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  swapped_at INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_epoch INTEGER NOT NULL DEFAULT 0,
  lease_heartbeat INTEGER NOT NULL DEFAULT 0
) STRICT

-- name: create_date
-- One row a date of the range; batch 0: not written yet.
CREATE TABLE main.tidegate_date (
  backfill TEXT NOT NULL,
  date INTEGER NOT NULL,
  expected_rows INTEGER NOT NULL,
  suspect_rows INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  production TEXT NOT NULL,
  recomputed TEXT NOT NULL,
  stable TEXT NOT NULL,
  inserts INTEGER NOT NULL,
  updates INTEGER NOT NULL,
  deletes INTEGER NOT NULL,
  moves_in INTEGER NOT NULL,
  moves_out INTEGER NOT NULL,
  PRIMARY KEY (backfill, date)
) STRICT, WITHOUT ROWID

-- name: create_batch
-- One row a batch that was written; [range_from, range_to) is half-open.
CREATE TABLE main.tidegate_batch (
  backfill TEXT NOT NULL,
  number INTEGER NOT NULL,
  range_from INTEGER NOT NULL,
  range_to INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  date_count INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  change_count INTEGER NOT NULL,
  seconds REAL NOT NULL,
  token TEXT,
  log TEXT,
  done_at INTEGER NOT NULL,
  PRIMARY KEY (backfill, number)
) STRICT, WITHOUT ROWID

-- name: create_column
-- In how many rows of a batch a column changes; columns without a change are absent.
CREATE TABLE main.tidegate_column (
  backfill TEXT NOT NULL,
  batch INTEGER NOT NULL,
  column_name TEXT NOT NULL,
  changed_rows INTEGER NOT NULL,
  PRIMARY KEY (backfill, batch, column_name)
) STRICT, WITHOUT ROWID

-- name: create_finding
-- What was found wrong; batch 0: not of one batch.
CREATE TABLE main.tidegate_finding (
  number INTEGER PRIMARY KEY,
  backfill TEXT NOT NULL,
  batch INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT,
  message TEXT,
  found_rows INTEGER NOT NULL,
  examples TEXT
) STRICT

-- name: create_finding_index
CREATE INDEX main.tidegate_finding_backfill ON tidegate_finding (backfill, batch)

-- name: create_object
-- What Tidegate made in the database; nothing else is ever dropped.
CREATE TABLE main.tidegate_object (
  backfill TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  identity TEXT,
  created_at INTEGER NOT NULL,
  dropped_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (backfill, name)
) STRICT, WITHOUT ROWID

-- name: create_event
-- Who did what, and when.
CREATE TABLE main.tidegate_event (
  number INTEGER PRIMARY KEY,
  backfill TEXT NOT NULL,
  at INTEGER NOT NULL,
  who TEXT,
  what TEXT NOT NULL,
  detail TEXT
) STRICT

-- name: create_event_index
CREATE INDEX main.tidegate_event_backfill ON tidegate_event (backfill)

-- name: add
-- A new backfill; :created_at 0 means now.
INSERT INTO main.tidegate_backfill (id, target, state, way, reason, digest, database_id, spec_path, spec_text,
  pipeline_path, pipeline_text, plan, seal, swap, owner, created_at, changed_at)
VALUES (:id, :target, :state, :way, :reason, :digest, :database_id, :spec_path, :spec_text,
  :pipeline_path, :pipeline_text, :plan, :seal, :swap, :owner,
  coalesce(nullif(:created_at, 0), unixepoch('now')), unixepoch('now'))

-- name: add_date
INSERT INTO main.tidegate_date (backfill, date, expected_rows, suspect_rows, batch, production, recomputed, stable,
  inserts, updates, deletes, moves_in, moves_out)
VALUES (:id, :date, :expected, :suspect, :batch, :production, :recomputed, :stable,
  :inserts, :updates, :deletes, :moves_in, :moves_out)

-- name: list
-- Newest first.
SELECT id, target, state, way, reason, digest, database_id, spec_path, spec_text, pipeline_path, pipeline_text,
  plan, seal, swap, owner, created_at, changed_at, swapped_at, lease_owner, lease_epoch, lease_heartbeat
FROM main.tidegate_backfill ORDER BY created_at DESC, rowid DESC

-- name: state
-- The state a backfill is in; no row: there is no such backfill.
SELECT state FROM main.tidegate_backfill WHERE id = :id

-- name: move
-- From one state to another; {doc} sets the document's column or nothing.
UPDATE main.tidegate_backfill SET state = :to, reason = :reason, changed_at = unixepoch('now'),
  swapped_at = CASE WHEN :to = 'swapped' THEN unixepoch('now') ELSE swapped_at END{doc}
WHERE id = :id AND state = :from

-- name: doc
-- Replaces one JSON document.
UPDATE main.tidegate_backfill SET changed_at = unixepoch('now'){doc} WHERE id = :id

-- name: event
-- Without :who it is whoever holds the lease.
INSERT INTO main.tidegate_event (backfill, at, who, what, detail)
SELECT id, unixepoch('now'), coalesce(:who, lease_owner), :what, :detail
FROM main.tidegate_backfill WHERE id = :id

-- name: lease
-- Who drives the backfill, under which epoch, and how many seconds ago it was last heard of.
SELECT lease_owner, lease_epoch, unixepoch('now') - lease_heartbeat FROM main.tidegate_backfill WHERE id = :id

-- name: lease_take
UPDATE main.tidegate_backfill
SET lease_owner = :owner, lease_epoch = lease_epoch + 1, lease_heartbeat = unixepoch('now')
WHERE id = :id RETURNING lease_epoch

-- name: lease_drop
UPDATE main.tidegate_backfill SET lease_owner = NULL, lease_heartbeat = 0
WHERE id = :id AND lease_epoch = :epoch AND lease_owner IS NOT NULL

-- name: guard
-- Beats the heartbeat of the one who holds the lease under this epoch; changes nothing for anyone else.
UPDATE main.tidegate_backfill SET lease_heartbeat = unixepoch('now')
WHERE id = :id AND lease_epoch = :epoch AND lease_owner IS NOT NULL

-- name: dates
SELECT date, expected_rows, suspect_rows, batch, inserts, updates, deletes, moves_in, moves_out,
  production, recomputed, stable
FROM main.tidegate_date WHERE backfill = :id ORDER BY date

-- name: batches
SELECT number, range_from, range_to, attempt, date_count, row_count, change_count, seconds, token, log, done_at
FROM main.tidegate_batch WHERE backfill = :id ORDER BY number

-- name: columns
SELECT column_name, sum(changed_rows) FROM main.tidegate_column WHERE backfill = :id
GROUP BY column_name ORDER BY 2 DESC, 1

-- name: findings
SELECT batch, kind, subject, message, found_rows, examples
FROM main.tidegate_finding WHERE backfill = :id ORDER BY number

-- name: objects
SELECT name, role, identity, created_at, dropped_at
FROM main.tidegate_object WHERE backfill = :id ORDER BY created_at, name

-- name: events
SELECT at, who, what, detail FROM main.tidegate_event WHERE backfill = :id ORDER BY number

-- name: add_finding
INSERT INTO main.tidegate_finding (backfill, batch, kind, subject, message, found_rows, examples)
VALUES (:id, :batch, :kind, :subject, :message, :count, :examples)

-- name: object_add
-- The same name again, after a drop, is a new object.
INSERT INTO main.tidegate_object (backfill, name, role, identity, created_at)
VALUES (:id, :name, :role, :identity, unixepoch('now'))
ON CONFLICT (backfill, name) DO UPDATE
SET role = excluded.role, identity = excluded.identity, created_at = excluded.created_at, dropped_at = 0

-- name: object_dropped
UPDATE main.tidegate_object SET dropped_at = unixepoch('now') WHERE backfill = :id AND name = :name AND dropped_at = 0

-- name: batch_add
INSERT INTO main.tidegate_batch (backfill, number, range_from, range_to, attempt, date_count, row_count, change_count,
  seconds, token, log, done_at)
VALUES (:id, :number, :range_from, :range_to, :attempt, :dates, :rows, :changes,
  :seconds, :token, :log, unixepoch('now'))
ON CONFLICT (backfill, number) DO UPDATE
SET range_from = excluded.range_from, range_to = excluded.range_to, attempt = excluded.attempt,
  date_count = excluded.date_count, row_count = excluded.row_count, change_count = excluded.change_count,
  seconds = excluded.seconds, token = excluded.token, log = excluded.log, done_at = excluded.done_at

-- name: date_done
UPDATE main.tidegate_date SET batch = :batch, production = :production, recomputed = :recomputed, stable = :stable,
  inserts = :inserts, updates = :updates, deletes = :deletes, moves_in = :moves_in, moves_out = :moves_out
WHERE backfill = :id AND date = :date

-- name: column_add
INSERT INTO main.tidegate_column (backfill, batch, column_name, changed_rows) VALUES (:id, :batch, :column, :rows)
ON CONFLICT (backfill, batch, column_name) DO UPDATE SET changed_rows = changed_rows + excluded.changed_rows

-- name: forget_dates
-- The dates of [:range_from, :range_to) are not written; production's fingerprint stays as it was last read.
UPDATE main.tidegate_date SET batch = 0, recomputed = :nothing, stable = :nothing,
  inserts = 0, updates = 0, deletes = 0, moves_in = 0, moves_out = 0
WHERE backfill = :id AND date >= :range_from AND date < :range_to AND batch <> 0

-- name: forget_columns
-- Takes away the column counts of batches of which no date is left.
DELETE FROM main.tidegate_column WHERE backfill = :id
  AND batch NOT IN (SELECT batch FROM main.tidegate_date WHERE backfill = :id)

-- name: forget_findings
-- The same for what was found in them, and for what the last seal found over all.
DELETE FROM main.tidegate_finding WHERE backfill = :id AND (batch = 0 OR batch <> :keep
  AND batch IN (SELECT number FROM main.tidegate_batch WHERE backfill = :id)
  AND batch NOT IN (SELECT batch FROM main.tidegate_date WHERE backfill = :id))

-- name: forget_batches
-- And last for the batches themselves.
DELETE FROM main.tidegate_batch WHERE backfill = :id
  AND number NOT IN (SELECT batch FROM main.tidegate_date WHERE backfill = :id)
