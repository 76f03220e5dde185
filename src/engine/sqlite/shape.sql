-- What is asked about a target, and read of it. {target} and {changes} are full table names, quoted; {date} is the date
-- column; :from and :to are the range in that column's own form.

-- name: kind
-- Has the table a rowid, and is it STRICT?
SELECT NOT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = :name

-- name: all
SELECT * FROM {table}

-- name: range
SELECT * FROM {table} WHERE {date} >= :from AND {date} < :to

-- name: overlay
-- Production with the changes of dates before {before} applied: {untouched} rows, and the {new} side of those that do not go.
SELECT {columns} FROM {target} AS p {untouched} UNION ALL SELECT {new} FROM {changes} AS c WHERE c.op <> 'D' AND c.date < {before}

-- name: untouched_by_key
LEFT JOIN {changes} AS o ON o.op <> 'I' AND o.date < {before} AND {match} WHERE o.op IS NULL

-- name: untouched_by_date
-- Without a key a date that changes is replaced whole.
WHERE tidegate_date(p.{date}) NOT IN (SELECT date FROM {changes} WHERE date < {before}) OR p.{date} IS NULL
