-- Deletes that are left when the moves are settled.

-- name: rows
-- $1: how many. Those that `changes` does not declare: {allowed} holds for none of them. {old} gives the old row under
-- its own names. The first column counts them all.
SELECT count(*) OVER (), {texts} FROM (
  SELECT c.date AS tidegate_date, c.ctid AS tidegate_change, {old} FROM {changes} AS c WHERE c.op = 'D') AS r
WHERE NOT coalesce(({allowed}
), false) ORDER BY tidegate_date, tidegate_change LIMIT $1::int8
