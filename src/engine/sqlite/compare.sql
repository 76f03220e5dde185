-- The comparison of a recompute with production. {target} is production's full name, alias p; {date} its date column;
-- :from and :to are the range in that column's own form.

-- name: recompute
-- The line's end closes a comment that may stand at the end of the recompute.
SELECT {columns} FROM ({recompute}
)

-- name: recompute_checked
-- The same with the row checks behind it. The LIMIT keeps SQLite from merging the recompute into the outer query: every
-- expression is evaluated once a row.
SELECT {columns}{checks} FROM (SELECT * FROM ({recompute}
) LIMIT -1)

-- name: join
-- Each row of the recompute beside production's row of the same key. {present} is NULL when there is none; the LIMIT
-- keeps SQLite from merging the recompute into the join. The recompute sees the name of the WITH: it must be nobody's.
WITH tidegate_recompute({names}) AS ({recompute} LIMIT -1) SELECT {given}, {present}, {stored}
FROM tidegate_recompute AS s LEFT JOIN {target} AS p ON {match}

-- name: production
-- Production's rows of the range, in any order.
SELECT {columns} FROM {target} AS p WHERE p.{date} >= :from AND p.{date} < :to

-- name: overlay_create
-- A temporary view under the target's name, which unqualified names find first.
CREATE TEMP VIEW {name} AS {overlay}

-- name: overlay_drop
DROP VIEW IF EXISTS temp.{name}

-- name: scope
-- The conditions of the scope over one row, whose values are bound.
SELECT {conditions} FROM (SELECT {row})

-- name: aside_forget
-- The recompute of a target without a key, held aside: date (start of the grain) and given columns.
DROP TABLE IF EXISTS temp.tidegate_aside

-- name: aside_create
CREATE TEMP TABLE tidegate_aside (tidegate_at INTEGER{columns})

-- name: aside_add
INSERT INTO temp.tidegate_aside VALUES ({parameters})

-- name: aside_rows
SELECT * FROM temp.tidegate_aside WHERE tidegate_at = :date

-- name: aside_drop
DROP TABLE temp.tidegate_aside
