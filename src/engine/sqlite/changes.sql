-- Reading production's fingerprint and the change set. {changes} and {target} are full table names; {date} is the
-- target's date column; :from and :to are the range in that column's own form.

-- name: fingerprint_all
SELECT p.{date}, {given} FROM {target} AS p

-- name: fingerprint_range
-- Rows of one date come together.
SELECT p.{date}, {given} FROM {target} AS p WHERE p.{date} >= :from AND p.{date} < :to ORDER BY p.{date}

-- name: total
-- One number of the range's rows; the line's end closes a comment that may stand at the end of the expression.
SELECT ({expression}
) FROM (SELECT * FROM ({rows}) WHERE {date} >= :from AND {date} < :to)

-- name: counts
SELECT op, count(*) FROM {changes} GROUP BY 1

-- name: rows
SELECT * FROM {changes} ORDER BY date, rowid LIMIT :limit

-- name: rows_of_date
SELECT * FROM {changes} WHERE date = :date ORDER BY date, rowid LIMIT :limit

-- name: duplicates
-- Keys that several changes write; an update that stays on its date meets exactly one production row.
SELECT count(*) FROM (SELECT 1 FROM {changes} WHERE op <> 'U' GROUP BY {key} HAVING count(*) > 1)
