-- Reading production's fingerprint and the change set. {changes} is the change set's full name.

-- name: fingerprint_whole
-- Of every row of {target}, alias p.
SELECT count(*), sum({hash})::text FROM {target} AS p

-- name: fingerprint_dates
-- The same per {place} among the dates, of the rows for which {where}.
SELECT {place}, count(*), sum({hash})::text FROM {target} AS p WHERE {where} GROUP BY 1 ORDER BY 1

-- name: production
{target} AS r

-- name: overlay
({rows}) AS r

-- name: total
-- An expression over the range's rows; the line's end closes a comment that may stand at its end.
SELECT ({expression}
) IS TRUE FROM (SELECT r.* FROM {rows} WHERE {where}) AS tidegate_rows

-- name: counts
SELECT op, count(*) FROM {changes} GROUP BY 1

-- name: rows
-- $1: how many, in the order of dates, then as written. {values}: texts of the old columns, then of the new ones.
SELECT c.op, c.date, {values} FROM {changes} AS c ORDER BY c.date, c.ctid LIMIT $1::int8

-- name: rows_of_date
-- The same of the date $2.
SELECT c.op, c.date, {values} FROM {changes} AS c WHERE c.date = $2::int8 ORDER BY c.ctid LIMIT $1::int8

-- name: duplicates
-- Keys that several changes write; an update that stays on its date meets exactly one production row.
SELECT count(*) FROM (SELECT 1 FROM {changes} AS c WHERE c.op <> 'U' GROUP BY {key} HAVING count(*) > 1) AS twice
