-- Taking a swap back by its kept rows. {target} and {changes} are full table names; alias n is a row of the change set,
-- p a row of production. {of} chooses among the change set's rows by op, {where} by conflict.

-- name: columns
-- The columns of the table :name.
SELECT name FROM pragma_table_info(:name)

-- name: conflicts_forget
DROP TABLE IF EXISTS temp.tidegate_conflict

-- name: conflicts_create
-- change = rowid in the change set.
CREATE TEMP TABLE tidegate_conflict (change INTEGER PRIMARY KEY)

-- name: conflict_add
INSERT OR IGNORE INTO temp.tidegate_conflict SELECT ?1

-- name: judge
-- Every row of the change set beside production's row as it is now; {present} is NULL when there is none.
SELECT n.rowid, n.op, n.date, {present}, {key}, {now}, {then}{rest}
FROM {changes} AS n LEFT JOIN {target} AS p ON {match} WHERE {of}

-- name: judge_dates
-- Changes of dates of which production's rows, as a bag, are no longer the new ones.
SELECT n.rowid, n.op, n.date FROM {changes} AS n WHERE n.date IN (
  SELECT at FROM (
    SELECT 1 AS side, tidegate_date(p.{date}) AS at, {now} FROM {target} AS p
    WHERE tidegate_date(p.{date}) IN (SELECT date FROM {changes})
    UNION ALL SELECT -1, n.date, {then} FROM {changes} AS n WHERE n.op = 'I')
  GROUP BY at, {given} HAVING sum(side) <> 0)

-- name: inserted
n.op = 'I'

-- name: deleted
n.op = 'D'

-- name: updated
n.op IN ('U', 'M')

-- name: kept
-- Those that have an old row.
n.op IN ('U', 'M', 'D')

-- name: clean
n.rowid NOT IN (SELECT change FROM temp.tidegate_conflict)

-- name: in_conflict
n.rowid IN (SELECT change FROM temp.tidegate_conflict)

-- name: any
-- In conflict or not.
true

-- name: both
{of} AND {where}

-- name: count
SELECT count(*) FROM {changes} AS n WHERE {of} AND {where}

-- name: update
UPDATE {target} AS p SET {set} FROM {changes} AS n WHERE {of} AND {match} AND {where}

-- name: absent
-- Production has no row of its key.
NOT EXISTS (SELECT 1 FROM {target} AS p WHERE {match})

-- name: insert
INSERT INTO {target} ({columns}) SELECT {old} FROM {changes} AS n WHERE {of} AND {where}

-- name: clear_dates
-- Without a key a date gives up all its rows.
DELETE FROM {target} WHERE tidegate_date({date}) IN (SELECT n.date FROM {changes} AS n WHERE {where})
