-- Making a materialized view anew.

-- name: facts
-- $1: its name. Is it one, how SQL spells it, and can it be made anew while readers go on? That needs rows in it and a
-- unique index over all of them.
SELECT c.relkind = 'm', c.oid::regclass::text, c.relispopulated AND EXISTS (SELECT FROM pg_index AS x
  WHERE x.indrelid = c.oid AND x.indisunique AND x.indisvalid AND x.indimmediate AND x.indpred IS NULL AND x.indexprs IS NULL)
FROM pg_class AS c WHERE c.oid = to_regclass($1)

-- name: refresh
REFRESH MATERIALIZED VIEW {concurrently}{view}
