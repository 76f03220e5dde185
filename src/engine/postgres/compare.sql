-- The comparison of a recompute with production. In what follows s is the recompute, p production's rows of the dates,
-- {changes} a table of the change set's form, {place} the place of a row's date among the job's dates.

-- name: recomputed
-- The recompute's rows with their place and the row checks beside them.
SELECT q.*{checks}, {place} AS tidegate_place FROM (
{recompute}
) AS q

-- name: production
-- Production's rows of the dates, each with where it lies.
SELECT tableoid AS tidegate_part, ctid AS tidegate_tid, {place} AS tidegate_place, {stored} FROM {target} WHERE {in_range}

-- name: joined
-- The differences between the recompute's rows and production's, in the change set's form. {new_rows}: a statement.
-- {moves}: when an update moves the row. OFFSET 0 keeps the planner from writing the expressions into each fact that is
-- asked of them: they are worked out once a row.
(SELECT CASE WHEN p.tidegate_tid IS NULL THEN 'I' WHEN s.tidegate_here IS NULL THEN 'D'{moves} ELSE 'U' END::"char" AS op,
  {instant} AS date, p.tidegate_part AS part, p.tidegate_tid AS tid, {old}, {new}
FROM (SELECT s.*, true AS tidegate_here FROM ({new_rows}) AS s WHERE s.tidegate_place BETWEEN 1 AND {n}) AS s
FULL JOIN ({production}) AS p ON {match}
WHERE p.tidegate_tid IS NULL OR s.tidegate_here IS NULL{differs} OFFSET 0)

-- name: moves
 WHEN s.tidegate_place IS DISTINCT FROM p.tidegate_place THEN 'M'

-- name: batch
-- In one statement and snapshot: the differences go into {changes}, and what was recomputed and what differs is told date
-- by date. 's' rows tell of the recompute, 'd' rows of the differences.
WITH s AS MATERIALIZED ({recomputed}),
d AS MATERIALIZED (SELECT * FROM {joined} AS r),
added AS (INSERT INTO {changes} SELECT * FROM d)
SELECT 's' AS side, tidegate_place AS place, {recomputed_facts} AS facts FROM s GROUP BY tidegate_place
UNION ALL
{differences}

-- name: differences
-- What the differences in {rows} are, date by date.
SELECT 'd' AS side, {place} AS place, {facts} AS facts FROM (SELECT r.*{conditions} FROM {rows} AS r) AS r GROUP BY 2

-- name: recomputed_only
-- Without differences: the recompute alone.
SELECT 's' AS side, s.tidegate_place AS place, {recomputed_facts} AS facts FROM ({recomputed}) AS s GROUP BY s.tidegate_place

-- name: production_rows
-- Rows a date, and where {hash} is not 0 their fingerprint.
SELECT {place} AS place, count(*), sum({hash}) FROM {target} WHERE {in_range} GROUP BY 1

-- name: changes_of
-- The batch's part of a change set.
(SELECT * FROM {changes} WHERE date >= {first} AND date < {last})

-- name: find_moves
-- A new key that stands in production on another date is a key that moves.
UPDATE {changes} AS n SET op = 'M', part = p.tableoid, tid = p.ctid, ({old}) = ROW({stored})
FROM {target} AS p WHERE n.op = 'I' AND n.date >= {first} AND n.date < {last} AND {match}

-- name: moved_away
-- Where the batch's moved keys were: place, rows, sum of the hashes of the old rows.
SELECT {place} AS place, count(*), sum({hash}) FROM {changes} AS n
WHERE n.op = 'M' AND n.date >= {first} AND n.date < {last} GROUP BY 1

-- name: keyless_old
-- Without a key a date that differs ({places}) gives up all its rows …
INSERT INTO {changes} (op, date, part, tid, {old})
SELECT 'D', {instant}, p.tidegate_part, p.tidegate_tid, {stored} FROM ({production}) AS p WHERE p.tidegate_place IN ({places})

-- name: keyless_new
-- … and takes all the new ones.
INSERT INTO {changes} (op, date, {new})
SELECT 'I', {instant}, {given} FROM ({recomputed}) AS s WHERE s.tidegate_place IN ({places})

-- name: examples
-- A few of the rows for which {where}: date, key, old and new value of the column in question.
SELECT {date}, {key}, {old}, {new} FROM {rows} AS r WHERE {where} LIMIT {limit}

-- name: repeated
-- Keys that several rows of {rows} have: how many rows too many, and where.
SELECT r.*, count(*) OVER () AS tidegate_times FROM (
  SELECT r.*, row_number() OVER (PARTITION BY {key}) AS tidegate_nth FROM {rows} AS r WHERE {where}) AS r
WHERE r.tidegate_nth > 1 LIMIT {limit}

-- name: overlay_create
-- A temporary view under the target's own name, which unqualified names find first.
CREATE TEMP VIEW {name} AS {overlay}

-- name: overlay_drop
DROP VIEW pg_temp.{name}

-- name: all_of_s
SELECT * FROM s

-- name: both
-- The new rows are written already; {recomputed} gives them with their place. One join of the two sides tells of each date
-- what was recomputed, production's rows and hash, and the differences. The last two columns: how many rows each side
-- really has ({written}: `count` or NULL, {there}: `there` or NULL); a key that several rows have is joined more often.
-- {changes}: `both_changes`, or empty where nothing is asked of it.
SELECT coalesce(s.tidegate_place, p.tidegate_place) AS place, {recomputed_facts} AS recomputed, count(p.tidegate_tid),
  sum({hash}) FILTER (WHERE p.tidegate_tid IS NOT NULL), {differences} AS differences,
  {written}, {there}
FROM (SELECT s.*, true AS tidegate_here FROM ({recomputed}) AS s) AS s FULL JOIN ({production}) AS p ON {match}{changes}
GROUP BY 1

-- name: both_changes
-- … as a row of the change set's form.

CROSS JOIN LATERAL (SELECT r.*{conditions} FROM (SELECT CASE WHEN p.tidegate_tid IS NULL THEN 'I'::"char"
  WHEN s.tidegate_here IS NULL THEN 'D'::"char" WHEN false{differs} THEN 'U'::"char" END AS op, {old}, {new}) AS r) AS r

-- name: there
(SELECT count(*) FROM {target} WHERE {in_range})

-- name: count
(SELECT count(*) FROM ({rows}) AS w)
