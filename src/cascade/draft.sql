-- How a query that gives all rows of a table becomes one that gives the rows of a range.

-- name: recompute
-- {query}: the whole, {date}: its date column.
SELECT * FROM (
{query}
) AS everything
WHERE {date} >= :from AND {date} < :to
