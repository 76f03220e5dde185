-- Applying a change set to production. {target} and {changes} are full table names; alias n is a row of the change set,
-- p a row of production. {of} chooses among the change set's rows, {found} joins production's row to one of them.

-- name: delete
DELETE FROM {target} AS p USING {changes} AS n WHERE {of} AND {found}

-- name: update
UPDATE {target} AS p SET {set} FROM {changes} AS n WHERE {of} AND {found}

-- name: insert
INSERT INTO {target} ({columns}){overriding} SELECT {values} FROM {changes} AS n WHERE {of}

-- name: deleted
n.op = 'D'

-- name: updated
n.op IN ('U', 'M')

-- name: inserted
n.op = 'I'

-- name: by_tid
-- Where the row lay when it was compared, and still the same row. IS TRUE keeps the planner to the place.
p.ctid = n.tid AND ({same}) IS TRUE

-- name: by_place
-- The same in a partitioned table, where each partition has such a place.
p.ctid = n.tid AND p.tableoid = n.part AND {same}

-- name: delete_alike
-- Without a key and with rows that lie elsewhere now: as many rows of each content as the change set has of it.
DELETE FROM {target} AS p USING (
  SELECT o.tidegate_tid, o.tidegate_part FROM (
    SELECT p.ctid AS tidegate_tid, p.tableoid AS tidegate_part, {present} AS hash,
      row_number() OVER (PARTITION BY {present}) AS nth FROM {target} AS p WHERE {range}) AS o
  JOIN (SELECT {old} AS hash, row_number() OVER (PARTITION BY {old}) AS nth FROM {changes} AS n WHERE {of}) AS n
    USING (hash, nth)) AS o
WHERE p.ctid = o.tidegate_tid AND p.tableoid = o.tidegate_part

-- name: try
SAVEPOINT tidegate_try

-- name: take_back
ROLLBACK TO SAVEPOINT tidegate_try

-- name: tried
RELEASE SAVEPOINT tidegate_try

-- name: loops_alone
-- A row is fetched by its place in less than a microsecond; the planner would read the whole table instead.
SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)

-- name: no_loops
-- Many of the range's rows: reading them all is cheaper than looking each up.
SELECT set_config('enable_nestloop', 'off', true)

-- name: joins_back
SELECT set_config(name, reset_val, true) FROM pg_settings
WHERE name IN ('enable_hashjoin', 'enable_mergejoin', 'enable_nestloop')

-- name: bounds
-- Between which dates production's rows lie.
SELECT min(n.{date})::text, max(n.{date})::text FROM {changes} AS n WHERE {of}

-- name: range_rows
-- How many rows the planner expects there.
EXPLAIN SELECT FROM {target} AS p WHERE {range}

-- name: refers_to_itself
-- $1: the table. Has it a foreign key to itself that is checked at the end of each statement?
SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = $1::regclass AND confrelid = $1::regclass
  AND NOT condeferrable

-- name: fixed
-- $1: the table. Columns that no update may write.
SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attidentity = 'a' AND NOT attisdropped

-- name: checks_later
SET CONSTRAINTS ALL DEFERRED

-- name: checks_now
SET CONSTRAINTS ALL IMMEDIATE

-- name: keep_rest
-- $1: the backfill. What others wrote to columns that are preserved, since the oldest of the batches was computed: no
-- drift, but the kept rows must have it.
UPDATE {changes} AS n SET {rest} FROM {target} AS p WHERE n.op <> 'I' AND {found}
  AND age(p.xmin) <= (
    SELECT CASE WHEN bool_and(b.token IS NOT NULL)
      THEN max(age(pg_snapshot_xmin(split_part(b.token, ' ', 2)::pg_snapshot)::xid)) ELSE 2147483647 END
    FROM {ledger}.batch AS b WHERE b.backfill = $1)

-- name: note_rest
-- What the database gave new rows beside the recompute's columns, so that a rollback sees a later write to it.
UPDATE {changes} AS n SET {rest} FROM {target} AS p WHERE n.op = 'I' AND {found}

-- name: sequences
-- $1: the table. A row a sequence that numbers one of its columns: column, full name, does it count up?
SELECT DISTINCT a.attname, format('%I.%I', m.nspname, c.relname), q.seqincrement > 0
FROM pg_attribute AS a
JOIN LATERAL (
  SELECT d.objid AS oid FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
  UNION SELECT d.refobjid FROM pg_attrdef AS e JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass
    AND d.objid = e.oid AND d.refclassid = 'pg_class'::regclass WHERE e.adrelid = a.attrelid AND e.adnum = a.attnum
) AS u ON true
JOIN pg_sequence AS q ON q.seqrelid = u.oid
JOIN pg_class AS c ON c.oid = q.seqrelid
JOIN pg_namespace AS m ON m.oid = c.relnamespace
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
  AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype)

-- name: sequence_on
-- $1: the sequence. Moves it to {furthest} of the new ids, never back.
SELECT setval($1::regclass, r.reached) FROM {sequence} AS s,
  (SELECT {furthest}(n.{id})::int8 AS reached FROM {changes} AS n WHERE n.op <> 'D') AS r
WHERE r.reached {beyond} s.last_value OR r.reached = s.last_value AND NOT s.is_called

-- name: children
-- $1: the table. Foreign keys to it, or to a partition of it, that pass a delete or another value on: child; does a
-- delete pass, does an update; its columns; the columns referred to; is it the table itself?
SELECT format('%I.%I', m.nspname, c.relname), k.confdeltype IN ('c', 'n', 'd'), k.confupdtype IN ('c', 'n', 'd'),
  (SELECT array_agg(a.attname::text ORDER BY u.nth) FROM unnest(k.conkey) WITH ORDINALITY AS u (num, nth)
    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.num),
  (SELECT array_agg(a.attname::text ORDER BY u.nth) FROM unnest(k.confkey) WITH ORDINALITY AS u (num, nth)
    JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.num),
  k.conrelid = $1::regclass
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS m ON m.oid = c.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0
  AND (k.confrelid = $1::regclass OR k.confrelid IN (SELECT relid FROM pg_partition_tree($1::regclass)))
  AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
ORDER BY 1, k.conname

-- name: touched
-- Rows of {child}, alias k, that refer to rows which go or whose referred value changes.
SELECT count(*) FROM {child} AS k
WHERE EXISTS (SELECT FROM {target} AS p JOIN {changes} AS n ON {found} WHERE {of} AND {refers}){and}

-- name: itself_stays
-- A child in the same table that goes as well is not touched.
 AND NOT EXISTS (SELECT FROM {changes} AS n WHERE {of} AND {found})

-- name: triggers
-- $1: the table. The triggers of it and of its partitions that somebody made and that fire: the statements that turn
-- each off, and back to what it was. Clones in partitions are internal before version 15.
WITH RECURSIVE tables AS (
  SELECT $1::regclass::oid AS oid
  UNION SELECT i.inhrelid FROM tables AS t JOIN pg_inherits AS i ON i.inhparent = t.oid),
made AS (
  SELECT g.oid, g.tgrelid, g.tgname, g.tgenabled FROM pg_trigger AS g JOIN tables AS t ON t.oid = g.tgrelid
  WHERE NOT g.tgisinternal
  UNION SELECT g.oid, g.tgrelid, g.tgname, g.tgenabled FROM made AS m JOIN pg_trigger AS g ON g.tgparentid = m.oid)
SELECT format('ALTER TABLE ONLY %I.%I DISABLE TRIGGER %I', s.nspname, c.relname, m.tgname),
  format('ALTER TABLE ONLY %I.%I ENABLE %sTRIGGER %I', s.nspname, c.relname,
    CASE m.tgenabled WHEN 'A' THEN 'ALWAYS ' ELSE '' END, m.tgname)
FROM made AS m JOIN pg_class AS c ON c.oid = m.tgrelid JOIN pg_namespace AS s ON s.oid = c.relnamespace
WHERE m.tgenabled IN ('O', 'A') ORDER BY m.tgrelid, m.tgname
