-- The backfill's tables beside production.

-- name: create_copy
-- A table like production's: shadow or snapshot.
CREATE TABLE {table} ({columns})

-- name: index_date
CREATE INDEX main.{index} ON {table} ({date})

-- name: drop
DROP TABLE main.{table}
