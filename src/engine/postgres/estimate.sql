-- What the planner expects of a recompute. Nothing of it is run.

-- name: explain
-- {query}: ends with a line's end.
EXPLAIN (FORMAT JSON, VERBOSE) {query}

-- name: relation
-- The table, or the partitioned table that a partition is of, as SQL spells it, and how many rows the relation holds as
-- the planner reckons: by the rows a page of the last ANALYZE and by its size now; NULL: it was never analysed. $1, $2:
-- schema and name of the relation.
SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text,
       CASE WHEN c.reltuples >= 0 AND c.relpages > 0
            THEN c.reltuples::float8 / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::int8) END
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
 WHERE s.nspname = $1 AND c.relname = $2
