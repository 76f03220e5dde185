-- What a person types into psql with Tidegate missing; the places of runbook.sql, and {ledger}, {values_new} and
-- {values_old} (set but the key), {set_rest} (what the
-- database gave new rows beside the recompute's columns), {here_old} (production has the
-- row that was deleted), {taken} (and the one that is to be inserted).

-- name: look
SELECT op, count(*) FROM {changes} GROUP BY op;
SELECT * FROM {changes} LIMIT 50;

-- name: exchanged
SELECT nth, partition, lower, upper, swapped IS NOT NULL AS in_production FROM {ledger}.exchange WHERE backfill = {id};

-- name: exchange_back
SELECT format('ALTER TABLE %1$s DETACH PARTITION %2$s; ALTER TABLE %1$s ATTACH PARTITION %3$I.%4$I FOR VALUES FROM (%5$L) TO (%6$L);',
  '{table}', partition, {schema}, 'tidegate_' || backfill || '_p' || nth, lower, upper)
FROM {ledger}.exchange WHERE backfill = {id} AND swapped IS NOT NULL;

-- name: drift
SELECT count(*) FROM {changes} AS n WHERE n.op <> 'I' AND NOT EXISTS (SELECT FROM {table} AS p WHERE {same_old});
SELECT count(*) FROM {changes} AS n WHERE n.op = 'I' AND EXISTS (SELECT FROM {table} AS p WHERE {taken});

-- name: lock
BEGIN;
SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '5min';
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
DELETE FROM {table} AS p USING {changes} AS n WHERE n.op = 'D' AND p.tableoid = n.part AND p.ctid = n.tid AND {same_old};
INSERT INTO {table} ({given}) OVERRIDING SYSTEM VALUE SELECT {given_new} FROM {changes} WHERE op = 'I';

-- name: mark_swapped
UPDATE {ledger}.backfill SET state = 'swapped', changed_at = extract(epoch FROM now()), swapped_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'swapped');
COMMIT;

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
      row_number() OVER (PARTITION BY ROW({given})::text) AS nth FROM {table}) AS o
  JOIN (SELECT ROW({given_new})::text AS row,
      row_number() OVER (PARTITION BY ROW({given_new})::text) AS nth FROM {changes} WHERE op = 'I') AS n USING (row, nth)) AS d
WHERE p.ctid = d.place AND p.tableoid = d.part;
INSERT INTO {table} ({all}) OVERRIDING SYSTEM VALUE SELECT {all_old} FROM {changes} WHERE op = 'D';

-- name: mark_rolled_back
UPDATE {ledger}.backfill SET state = 'rolled_back', changed_at = extract(epoch FROM now()) WHERE id = {id};
INSERT INTO {ledger}.event (backfill, at, who, what) VALUES ({id}, extract(epoch FROM now()), 'by hand', 'rolled back');
COMMIT;

-- name: clear
BEGIN;
SET LOCAL lock_timeout = '2s';
DROP TABLE {changes};
UPDATE {ledger}.object SET dropped_at = extract(epoch FROM now()) WHERE backfill = {id} AND role = 'changes';
UPDATE {ledger}.backfill SET state = CASE state WHEN 'swapped' THEN 'finished' ELSE 'discarded' END, changed_at = extract(epoch FROM now()) WHERE id = {id};
COMMIT;
