-- Taking a swap back by its kept rows. {target} and {changes} are full table names; alias n is a row of the change set,
-- p a row of production. {of} chooses among the change set's rows by op or by conflict.

-- name: judge
-- Changes of which production's row is no longer as the swap left it: change (its ctid), date, key, what happened, and
-- what putting the old row over it takes: u update, i insert, r delete and insert, d delete, n nothing.
SELECT j.* FROM (
  SELECT n.change, n.date, {label} AS key,
    CASE WHEN n.op = 'D' THEN CASE WHEN p.tableoid IS NOT NULL THEN 'arrived since' END
      WHEN p.tableoid IS NULL THEN 'vanished since'
      WHEN {moved} THEN 'moved since'
      WHEN {changed} THEN 'changed since' END AS what,
    CASE WHEN n.op = 'I' THEN CASE WHEN p.tableoid IS NULL THEN 'n' ELSE 'd' END
      WHEN p.tableoid IS NULL THEN 'i' WHEN {same} THEN 'u' ELSE 'r' END AS fate
  FROM (SELECT n.*, n.ctid AS change, {keys} FROM {changes} AS n) AS n LEFT JOIN {target} AS p ON {match}) AS j
WHERE j.what IS NOT NULL

-- name: judge_dates
-- Without a key: changes of dates of which production's rows, as a bag, are no longer the new ones.
SELECT n.ctid AS change, n.date, NULL AS key, 'changed since' AS what, NULL AS fate FROM {changes} AS n
WHERE n.date IN (
  SELECT r.at FROM (
    SELECT {at} AS at, {present} AS hash, 1 AS side FROM {target} AS p WHERE {range}
    UNION ALL SELECT n.date, {new}, -1 FROM {changes} AS n WHERE n.op = 'I') AS r
  WHERE r.at IN (SELECT date FROM {changes}) GROUP BY r.at, r.hash HAVING sum(r.side) <> 0)

-- name: dates
SELECT min(date), max(date) FROM {changes}

-- name: show
-- $1: how many. Their number beside each of the first.
WITH j AS MATERIALIZED (
{judge}
) SELECT (SELECT count(*) FROM j), j.what, j.date, j.key
FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM j ORDER BY j.date, j.key LIMIT $1::int8) AS j ON true

-- name: conflicts
CREATE TEMP TABLE tidegate_conflict ON COMMIT DROP AS SELECT j.change, j.fate FROM (
{judge}
) AS j

-- name: clean
NOT EXISTS (SELECT FROM pg_temp.tidegate_conflict AS c WHERE c.change = n.ctid)

-- name: fated
EXISTS (SELECT FROM pg_temp.tidegate_conflict AS c WHERE c.change = n.ctid AND c.fate IN ({fates}))

-- name: any
true

-- name: count
SELECT count(*) FROM {changes} AS n WHERE {of}

-- name: clear_dates
-- Without a key a date gives up all its rows.
DELETE FROM {target} AS p WHERE {range} AND {at} IN (SELECT n.date FROM {changes} AS n WHERE {of})

-- name: columns
-- $1: the change set. The columns that it has.
SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
