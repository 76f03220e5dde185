-- A batch's way into the change set, and the shadow. {changes} is the change set's full name; {first} and {last} are a
-- half-open range of dates as instants.

-- name: stored_before
-- $1 the backfill, $2 and $3 the range: was one of the dates written before?
SELECT count(*) FROM {ledger}.date WHERE backfill = $1 AND date >= $2::int8 AND date < $3::int8 AND batch > 0

-- name: moves_back
-- Keys that moved into the dates from another date of the backfill's range ({elsewhere}) go back to being a delete there.
INSERT INTO {changes} (op, date, part, tid, {old}) SELECT 'D', {old_instant}, part, tid, {old} FROM {changes}
WHERE op = 'M' AND date >= {first} AND date < {last} AND {elsewhere}

-- name: forget
DELETE FROM {changes} WHERE date >= {first} AND date < {last}

-- name: settle_moves
-- A key that vanished from one date and moved into another is one move.
DELETE FROM {changes} AS d USING {changes} AS m WHERE m.op = 'M' AND d.op = 'D' AND {match}

-- name: analyze
ANALYZE {changes}

-- name: shadow_clear
DELETE FROM {shadow} WHERE {in_range}

-- name: shadow_fill
INSERT INTO {shadow} ({columns}) SELECT {columns} FROM (
{recompute}
) AS r

-- name: wrote_production
-- $1: the table. Rows of it that this transaction has written.
SELECT coalesce(sum(pg_stat_get_xact_tuples_inserted(t.oid) + pg_stat_get_xact_tuples_updated(t.oid)
  + pg_stat_get_xact_tuples_deleted(t.oid)), 0)
FROM (SELECT to_regclass($1)::oid AS oid UNION SELECT relid::oid FROM pg_partition_tree(to_regclass($1))) AS t
