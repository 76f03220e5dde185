-- How a query that gives all rows of a table becomes one that gives the rows of a range.

-- name: recompute
-- {columns}: those that the table has, or *; {query}: the whole, {date}: its date column.
SELECT {columns} FROM (
{query}
) AS everything
WHERE {date} >= :from AND {date} < :to

-- name: recompute_by_place
-- The same of a query whose columns are called otherwise than the table's: {columns}, in their order.
WITH everything ({columns}) AS (
{query}
)
SELECT * FROM everything
WHERE {date} >= :from AND {date} < :to
