-- What a person types into sqlite3 with Tidegate missing, for the runbook document. Filled in: {table}, {changes} (the
-- change set), {id}, {same_old} and {same_new} (production's row p is what the change set's row n says), {key_old} and
-- {key_new} (p and n have the same key), {set_old}, {set_new}, {all}, {all_old}, {given}, {given_new}.

-- name: look
SELECT op, count(*) FROM {changes} GROUP BY op;
SELECT * FROM {changes} LIMIT 50;

-- name: drift
SELECT count(*) FROM {changes} AS n WHERE n.op <> 'I' AND NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {same_old});
SELECT count(*) FROM {changes} AS n WHERE n.op = 'I' AND EXISTS (SELECT 1 FROM {table} AS p WHERE {key_new});

-- name: lock
BEGIN IMMEDIATE;
SELECT state, lease_owner FROM tidegate_backfill WHERE id = {id};

-- name: publish
DELETE FROM {table} AS p WHERE EXISTS (SELECT 1 FROM {changes} AS n WHERE n.op = 'D' AND {key_old});
UPDATE {table} AS p SET {set_new} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_old};
INSERT INTO {table} ({given}) SELECT {given_new} FROM {changes} WHERE op = 'I';

-- name: mark_swapped
UPDATE tidegate_backfill SET state = 'swapped', changed_at = unixepoch('now'), swapped_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'swapped', NULL);
COMMIT;

-- name: later
SELECT * FROM {changes} AS n WHERE n.op <> 'D' AND NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {same_new});
SELECT * FROM {changes} AS n WHERE n.op = 'D' AND EXISTS (SELECT 1 FROM {table} AS p WHERE {key_old});

-- name: put_back
DELETE FROM {table} AS p WHERE EXISTS (SELECT 1 FROM {changes} AS n WHERE n.op = 'I' AND {key_new});
UPDATE {table} AS p SET {set_old} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {key_new};
INSERT INTO {table} ({all}) SELECT {all_old} FROM {changes} WHERE op = 'D';

-- name: mark_rolled_back
UPDATE tidegate_backfill SET state = 'rolled_back', changed_at = unixepoch('now') WHERE id = {id};
INSERT INTO tidegate_event (backfill, at, who, what, detail) VALUES ({id}, unixepoch('now'), 'by hand', 'rolled back', NULL);
COMMIT;

-- name: clear
BEGIN IMMEDIATE;
DROP TABLE {changes};
UPDATE tidegate_object SET dropped_at = unixepoch('now') WHERE backfill = {id} AND role = 'changes';
UPDATE tidegate_backfill SET state = CASE state WHEN 'swapped' THEN 'finished' ELSE 'discarded' END, changed_at = unixepoch('now') WHERE id = {id};
COMMIT;
