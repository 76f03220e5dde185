-- What a person types into sqlite3 with Tidegate missing, for the runbook document: with a backfill that Tidegate began.
-- Filled in: {table}, {changes} (the change set), {shadow}, {target} (its name as a text), {id}, {same_old} and {same_new}
-- (production's row p is what the change set's row n says), {key_old} and {key_new} (p and n have the same key),
-- {set_old}, {set_new}, {all}, {all_old}, {given}, {given_new}, {goes} and {came} (which rows of production a D or an I of
-- the change set is).

-- name: list
SELECT id, state, reason, lease_owner, datetime(changed_at, 'unixepoch') AS changed_utc
FROM tidegate_backfill WHERE target = {target} ORDER BY created_at DESC, rowid DESC LIMIT 20;

-- name: progress
SELECT count(*) AS dates, sum(batch > 0) AS done, sum(inserts) AS inserts, sum(updates) AS updates, sum(deletes) AS deletes
FROM tidegate_date WHERE backfill = {id};
SELECT number, attempt, row_count, change_count, datetime(done_at, 'unixepoch') AS done_utc
FROM tidegate_batch WHERE backfill = {id} ORDER BY number DESC LIMIT 10;
SELECT kind, subject, message, found_rows FROM tidegate_finding WHERE backfill = {id};
SELECT name, role, dropped_at FROM tidegate_object WHERE backfill = {id};
SELECT datetime(at, 'unixepoch') AS at_utc, who, what, detail FROM tidegate_event WHERE backfill = {id} ORDER BY number DESC LIMIT 20;

-- name: spec
SELECT spec_text FROM tidegate_backfill WHERE id = {id};

-- name: driver
SELECT lease_owner, lease_epoch, unixepoch('now') - lease_heartbeat AS seconds_ago FROM tidegate_backfill WHERE id = {id};

-- name: take_lease
BEGIN IMMEDIATE;
UPDATE tidegate_backfill SET lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_heartbeat = 0 WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'stopped', NULL);
COMMIT;

-- name: look
SELECT op, count(*) FROM {changes} GROUP BY op;
SELECT * FROM {changes} LIMIT 50;

-- name: drift
SELECT count(*) FROM {changes} AS n WHERE n.op <> 'I' AND NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {same_old});
SELECT count(*) FROM {changes} AS n WHERE n.op = 'I' AND EXISTS (SELECT 1 FROM {table} AS p WHERE {taken});

-- name: lock
BEGIN IMMEDIATE;
SELECT state, lease_owner FROM tidegate_backfill WHERE id = {id};

-- name: publish
DELETE FROM {table} AS p WHERE {goes};
UPDATE {table} AS p SET {set_new} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_old};
INSERT INTO {table} ({given}) SELECT {given_new} FROM {changes} WHERE op = 'I';

-- name: note_rest
UPDATE {changes} AS n SET {set_rest} FROM {table} AS p WHERE n.op = 'I' AND {key_new};

-- name: mark_swapped
UPDATE tidegate_backfill SET state = 'swapped', changed_at = unixepoch('now'), swapped_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'swapped', NULL);

-- name: later
SELECT * FROM {changes} AS n WHERE n.op <> 'D' AND NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {same_new});
SELECT * FROM {changes} AS n WHERE n.op = 'D' AND EXISTS (SELECT 1 FROM {table} AS p WHERE {here_old});

-- name: put_back
DELETE FROM {table} AS p WHERE {came};
UPDATE {table} AS p SET {set_old} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_new};
INSERT INTO {table} ({all}) SELECT {all_old} FROM {changes} WHERE op = 'D';

-- name: mark_rolled_back
UPDATE tidegate_backfill SET state = 'rolled_back', changed_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'rolled back', NULL);

-- name: commit
COMMIT;

-- name: clear_look
SELECT state, datetime(swapped_at, 'unixepoch') AS swapped_utc, lease_owner FROM tidegate_backfill WHERE id = {id};
SELECT name, role FROM tidegate_object WHERE backfill = {id} AND dropped_at = 0;

-- name: clear
BEGIN IMMEDIATE;
DROP TABLE {changes};
DROP TABLE IF EXISTS {shadow};
UPDATE tidegate_object SET dropped_at = unixepoch('now') WHERE backfill = {id} AND role IN ('changes', 'shadow') AND dropped_at = 0;
UPDATE tidegate_backfill SET state = CASE state WHEN 'swapped' THEN 'finished' ELSE 'discarded' END, changed_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'cleared away', NULL);
COMMIT;

-- name: mark_restored
UPDATE tidegate_backfill SET state = 'restored', changed_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'restored', NULL);

-- name: clear_snapshot
BEGIN IMMEDIATE;
DROP TABLE {snapshot};
UPDATE tidegate_object SET dropped_at = unixepoch('now') WHERE backfill = {id} AND role = 'snapshot' AND dropped_at = 0;
UPDATE tidegate_backfill SET state = CASE state WHEN 'checked' THEN 'finished' ELSE 'discarded' END, changed_at = unixepoch('now') WHERE id = {id};
COMMIT;

-- name: begin
BEGIN IMMEDIATE;

-- name: hand_session
.bail on
.changes on
PRAGMA foreign_keys = ON;
PRAGMA busy_timeout = {lock_ms};

-- name: hand_make
CREATE TABLE {shadow} ({shadow_columns});
CREATE TABLE {changes} (op TEXT NOT NULL, {change_columns});
CREATE TABLE {log} (at TEXT, what TEXT);
INSERT INTO {log} VALUES (datetime('now'), 'begun by hand');

-- name: hand_fingerprint
SELECT count(*), hex(sha3(group_concat(line, char(10)), 256)) AS range_fingerprint
FROM (SELECT {line} AS line FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to ORDER BY 1);
SELECT count(*), hex(sha3(group_concat(line, char(10)), 256)) AS outside_fingerprint
FROM (SELECT {line} AS line FROM {table} AS p WHERE (p.{date} >= :from AND p.{date} < :to) IS NOT TRUE ORDER BY 1);

-- name: hand_update_rows
INSERT INTO {changes} (op, {all_old}, {given_new}) SELECT 'U', {p_all}, {s_kept}
FROM {shadow} AS s JOIN {table} AS p ON {key_shadow} WHERE p.{date} >= :from AND p.{date} < :to AND ({differs});

-- name: hand_deleted_rows
INSERT INTO {changes} (op, {all_old}) SELECT 'D', {p_all}
FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to AND NOT EXISTS (SELECT 1 FROM {shadow} AS s WHERE {key_shadow});

-- name: hand_keyless_old
INSERT INTO {changes} (op, {all_old}) SELECT 'D', {p_all} FROM {table} AS p
WHERE p.{date} >= :from AND p.{date} < :to AND p.{date} IN (SELECT {date} FROM {shadow_differences});

-- name: hand_log
INSERT INTO {log} VALUES (datetime('now'), '{what}');

-- name: triggers_off
.dbconfig enable_trigger off

-- name: triggers_on
.dbconfig enable_trigger on
