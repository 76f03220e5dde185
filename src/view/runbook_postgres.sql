-- What a person types into psql with Tidegate missing; the places of runbook.sql, and {ledger}, {values_new} and
-- {values_old} (set but the key), {set_rest} (what the database gave new rows beside the recompute's columns), {here_old}
-- (production has the row that was deleted), {taken} (and the one that is to be inserted), {lock_ms} and {statement_ms}
-- (of the budget), {of_old_dates} and {of_new_dates} (the rows of a date that has some to delete). Without a key rows are
-- told apart by all that is in them, and as many as are alike are counted.

-- name: list
SELECT id, state, reason, lease_owner, to_timestamp(changed_at) AS changed
FROM {ledger}.backfill WHERE target = {target} ORDER BY number DESC LIMIT 20;

-- name: progress
SELECT count(*) AS dates, count(*) FILTER (WHERE batch > 0) AS done, sum(inserts) AS inserts, sum(updates) AS updates, sum(deletes) AS deletes
FROM {ledger}.date WHERE backfill = {id};
SELECT number, attempt, row_count, change_count, to_timestamp(done_at) AS done
FROM {ledger}.batch WHERE backfill = {id} ORDER BY number DESC LIMIT 10;
SELECT kind, subject, message, found_rows FROM {ledger}.finding WHERE backfill = {id};
SELECT name, role, dropped_at FROM {ledger}.object WHERE backfill = {id};
SELECT to_timestamp(at) AS at, who, what, detail FROM {ledger}.event WHERE backfill = {id} ORDER BY number DESC LIMIT 20;

-- name: spec
SELECT spec_text FROM {ledger}.backfill WHERE id = {id};

-- name: driver
SELECT lease_owner, lease_epoch, extract(epoch FROM now())::bigint - lease_heartbeat AS seconds_ago FROM {ledger}.backfill WHERE id = {id};

-- name: sessions
SELECT pid, usename, client_addr, state, xact_start, left(query, 60) AS query
FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database();

-- name: cancel
SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidegate' AND datname = current_database();

-- name: take_lease
BEGIN;
SET LOCAL lock_timeout = {lock_ms};
UPDATE {ledger}.backfill SET lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_heartbeat = 0 WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'stopped');
COMMIT;

-- name: look
SELECT op, count(*) FROM {changes} GROUP BY op;
SELECT * FROM {changes} LIMIT 50;

-- name: exchanged
SELECT nth, partition, lower, upper, swapped IS NOT NULL AS in_production FROM {ledger}.exchange WHERE backfill = {id} AND lower <> '';

-- name: exchange_back
SELECT format('ALTER TABLE %1$s DETACH PARTITION %2$s; ALTER TABLE %1$s ATTACH PARTITION %3$I.%4$I FOR VALUES FROM (%5$L) TO (%6$L);',
  {target}, partition, {schema}, 'tidegate_' || backfill || '_p' || nth, lower, upper)
FROM {ledger}.exchange WHERE backfill = {id} AND lower <> '' AND swapped IS NOT NULL;

-- name: drift
SELECT count(*) FROM {changes} AS n WHERE n.op <> 'I' AND NOT EXISTS (SELECT FROM {table} AS p WHERE {same_old});
SELECT count(*) FROM {changes} AS n WHERE n.op = 'I' AND EXISTS (SELECT FROM {table} AS p WHERE {taken});

-- name: lock
BEGIN;
SET LOCAL lock_timeout = {lock_ms};
SET LOCAL statement_timeout = {statement_ms};
SET LOCAL idle_in_transaction_session_timeout = '2min';
SET LOCAL row_security = off;
SELECT state, lease_owner FROM {ledger}.backfill WHERE id = {id} FOR UPDATE;
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE;

-- name: publish
DELETE FROM {table} AS p USING {changes} AS n WHERE n.op = 'D' AND {key_old};
UPDATE {table} AS p SET {values_new} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_old};
INSERT INTO {table} ({given}) OVERRIDING SYSTEM VALUE SELECT {given_new} FROM {changes} WHERE op = 'I';

-- name: note_rest
UPDATE {changes} AS n SET {set_rest} FROM {table} AS p WHERE n.op = 'I' AND {key_new};

-- name: publish_keyless
DELETE FROM {table} AS p USING (
  SELECT o.place, o.part FROM (SELECT ctid AS place, tableoid AS part, ROW({all})::text AS row,
      row_number() OVER (PARTITION BY ROW({all})::text) AS nth FROM {table}{of_old_dates}) AS o
  JOIN (SELECT ROW({all_old})::text AS row,
      row_number() OVER (PARTITION BY ROW({all_old})::text) AS nth FROM {changes} WHERE op = 'D') AS n USING (row, nth)) AS d
WHERE p.ctid = d.place AND p.tableoid = d.part;
INSERT INTO {table} ({given}) OVERRIDING SYSTEM VALUE SELECT {given_new} FROM {changes} WHERE op = 'I';

-- name: mark_swapped
UPDATE {ledger}.backfill SET state = 'swapped', changed_at = extract(epoch FROM now()), swapped_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'swapped');

-- name: later
SELECT * FROM {changes} AS n WHERE n.op <> 'D' AND NOT EXISTS (SELECT FROM {table} AS p WHERE {same_new});
SELECT * FROM {changes} AS n WHERE n.op = 'D' AND EXISTS (SELECT FROM {table} AS p WHERE {here_old});

-- name: put_back
DELETE FROM {table} AS p USING {changes} AS n WHERE n.op = 'I' AND {key_new};
UPDATE {table} AS p SET {values_old} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_new};
INSERT INTO {table} ({all}) OVERRIDING SYSTEM VALUE SELECT {all_old} FROM {changes} WHERE op = 'D';

-- name: put_back_keyless
DELETE FROM {table} AS p USING (
  SELECT o.place, o.part FROM (SELECT ctid AS place, tableoid AS part, ROW({given})::text AS row,
      row_number() OVER (PARTITION BY ROW({given})::text) AS nth FROM {table}{of_new_dates}) AS o
  JOIN (SELECT ROW({given_new})::text AS row,
      row_number() OVER (PARTITION BY ROW({given_new})::text) AS nth FROM {changes} WHERE op = 'I') AS n USING (row, nth)) AS d
WHERE p.ctid = d.place AND p.tableoid = d.part;
INSERT INTO {table} ({all}) OVERRIDING SYSTEM VALUE SELECT {all_old} FROM {changes} WHERE op = 'D';

-- name: mark_rolled_back
UPDATE {ledger}.backfill SET state = 'rolled_back', changed_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'rolled back');

-- name: commit
COMMIT;

-- name: clear_look
SELECT state, to_timestamp(swapped_at) AS swapped, lease_owner FROM {ledger}.backfill WHERE id = {id};
SELECT name, role FROM {ledger}.object WHERE backfill = {id} AND dropped_at = 0;

-- name: clear
BEGIN;
SET LOCAL lock_timeout = {lock_ms};
DROP TABLE {changes};
DROP TABLE IF EXISTS {shadow};
UPDATE {ledger}.object SET dropped_at = extract(epoch FROM now()) WHERE backfill = {id} AND role IN ('changes', 'shadow') AND dropped_at = 0;
UPDATE {ledger}.backfill SET state = CASE state WHEN 'swapped' THEN 'finished' ELSE 'discarded' END, changed_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'cleared away');
COMMIT;

-- name: mark_restored
UPDATE {ledger}.backfill SET state = 'restored', changed_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'restored');

-- name: clear_snapshot
BEGIN;
SET LOCAL lock_timeout = {lock_ms};
DROP TABLE {snapshot};
UPDATE {ledger}.object SET dropped_at = extract(epoch FROM now()) WHERE backfill = {id} AND role = 'snapshot' AND dropped_at = 0;
UPDATE {ledger}.backfill SET state = CASE state WHEN 'checked' THEN 'finished' ELSE 'discarded' END, changed_at = extract(epoch FROM now()) WHERE id = {id};
COMMIT;

-- name: begin
BEGIN;
SET LOCAL lock_timeout = {lock_ms};
SET LOCAL statement_timeout = {statement_ms};
SET LOCAL idle_in_transaction_session_timeout = '2min';
SET LOCAL row_security = off;
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE;

-- name: hand_session
\set ON_ERROR_STOP on
SET lock_timeout = {lock_ms};
SET statement_timeout = {statement_ms};

-- name: hand_schema
CREATE SCHEMA IF NOT EXISTS {ledger};

-- name: hand_make
CREATE SCHEMA IF NOT EXISTS {ledger};
CREATE TABLE {shadow} ({shadow_columns});
CREATE TABLE {changes} (op "char" NOT NULL, part oid, tid tid, {change_columns});
CREATE TABLE {log} (at timestamptz, what text);
INSERT INTO {log} VALUES (now(), 'begun by hand');

-- name: hand_fingerprint
SELECT count(*), sum(hashtextextended(ROW({p_all})::text, 0)::numeric) AS range_fingerprint
FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to;
SELECT count(*), sum(hashtextextended(ROW({p_all})::text, 0)::numeric) AS outside_fingerprint
FROM {table} AS p WHERE (p.{date} >= :from AND p.{date} < :to) IS NOT TRUE;

-- name: hand_update_rows
INSERT INTO {changes} (op, part, tid, {all_old}, {given_new}) SELECT 'U', p.tableoid, p.ctid, {p_all}, {s_kept}
FROM {shadow} AS s JOIN {table} AS p ON {key_shadow} WHERE p.{date} >= :from AND p.{date} < :to AND ({differs});

-- name: hand_deleted_rows
INSERT INTO {changes} (op, part, tid, {all_old}) SELECT 'D', p.tableoid, p.ctid, {p_all}
FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to AND NOT EXISTS (SELECT FROM {shadow} AS s WHERE {key_shadow});

-- name: hand_keyless_old
INSERT INTO {changes} (op, part, tid, {all_old}) SELECT 'D', p.tableoid, p.ctid, {p_all} FROM {table} AS p
WHERE p.{date} >= :from AND p.{date} < :to AND p.{date} IN (SELECT {date} FROM {shadow_differences});

-- name: hand_log
INSERT INTO {log} VALUES (now(), '{what}');

-- name: live_sessions
SELECT pid, application_name, usename, state, query_start, left(query, 60) AS query
FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ({which});

-- name: live_lock_one
SELECT pid, granted FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
AND (classid::bigint << 32 | objid::bigint) = {first} AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- name: live_lock_two
SELECT pid, granted FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
AND classid::bigint = {first} AND objid::bigint = {second} AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- name: trigger_off
ALTER TABLE {table} DISABLE TRIGGER {name};

-- name: trigger_on
ALTER TABLE {table} ENABLE TRIGGER {name};
