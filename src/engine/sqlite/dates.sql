-- Rows by date. :from and :to are the range in the column's own form, :range_from and :range_to as instants.

-- name: indexed
-- Is the column the rowid, or the first of an index over all rows in the order of bytes?
SELECT EXISTS (
    SELECT 1 FROM pragma_index_list(:table, 'main') l, pragma_index_xinfo(l.name, 'main') x
    WHERE NOT l.partial AND x.seqno = 0 AND x.key AND x.name = :column COLLATE NOCASE AND x.coll = 'BINARY')
  OR (SELECT sum(pk > 0) = 1 AND max(pk > 0 AND name = :column COLLATE NOCASE AND type = 'INTEGER' COLLATE NOCASE)
      FROM pragma_table_xinfo(:table, 'main'))
    AND NOT EXISTS (SELECT 1 FROM pragma_index_list(:table, 'main') WHERE origin = 'pk')

-- name: bounds
{column} >= :from AND {column} < :to AND 

-- name: in_range
{bounds} tidegate_date({column}) >= :range_from AND tidegate_date({column}) < :range_to

-- name: count
-- The date column of every row that may be of the range, and whether {where} holds; the driver counts by date.
SELECT {column}, ({where}
) IS TRUE FROM main.{table} WHERE {bounds} TRUE

-- name: count_null
SELECT count(*) FROM main.{table} WHERE {column} IS NULL

-- name: duplicate_keys
-- Keys that several rows have; {where}: the key is whole.
SELECT count(*) FROM (SELECT 1 FROM main.{table} WHERE {in_range} AND {where} GROUP BY {key} HAVING count(*) > 1)

-- name: null_keys
-- Rows of which {where}: some part of the key is missing.
SELECT count(*) FROM main.{table} WHERE {in_range} AND ({where})

-- name: few_rows
-- Counts no further than :limit.
SELECT count(*) FROM (SELECT 1 FROM main.{table} LIMIT :limit)

-- name: count_all
SELECT count(*), count(*) - count({column}) FROM main.{table}

-- name: ends
-- Two subqueries, because SQLite answers min and max from an index only when each stands alone.
SELECT CAST((SELECT min({column}) FROM main.{table}) AS TEXT), CAST((SELECT max({column}) FROM main.{table}) AS TEXT)

-- name: sample_all
SELECT {column} AS v FROM main.{table}

-- name: sample_first
-- Rows as they come, where there is no cheap order.
SELECT {column} AS v FROM main.{table} LIMIT :rows

-- name: sample_ends
-- The first and last rows in an order that is cheap.
SELECT v FROM (SELECT {column} AS v FROM main.{table} {condition} ORDER BY {order} LIMIT :rows)
UNION ALL SELECT v FROM (SELECT {column} AS v FROM main.{table} {condition} ORDER BY {reverse} LIMIT :rows)

-- name: sample_spread
-- And rows at even steps of the rowid between them.
{ends}
UNION ALL SELECT (SELECT {column} FROM main.{table} WHERE {rowid} >= at ORDER BY {rowid} LIMIT 1) FROM (
  WITH RECURSIVE steps (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM steps WHERE i < :rows)
  SELECT low + CAST((high - low) * (i / CAST(:rows AS REAL)) AS INTEGER) AS at
  FROM steps, (SELECT min({rowid}) AS low FROM main.{table}), (SELECT max({rowid}) AS high FROM main.{table}))
