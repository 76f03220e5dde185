-- Snapshots of a range.

-- name: copy
INSERT INTO {snapshot} ({columns}) SELECT {columns} FROM {target} WHERE {range}

-- name: equals
-- Has the copy the fingerprint of the range?
SELECT count(*) = 1 FROM (
  SELECT count(*), sum({hash}) FROM {target} AS p WHERE {range}
  UNION SELECT count(*), sum({hash}) FROM {snapshot} AS p) AS each

-- name: rows
SELECT {columns} FROM {table} WHERE {range}

-- name: counts
SELECT count(*) FILTER (WHERE op = 'I'), count(*) FILTER (WHERE op = 'U'), count(*) FILTER (WHERE op = 'D'),
  count(*) FILTER (WHERE op = 'M') FROM {changes}

-- name: split_delete
-- Rows whose identity came anew ({anew}) cannot be updated to the old one: they go …
INSERT INTO {changes} (op, date, part, tid, {old}) SELECT 'D', n.date, n.part, n.tid, {values} FROM {changes} AS n
WHERE n.op IN ('U', 'M') AND ({anew})

-- name: split_insert
-- … and the old ones come.
UPDATE {changes} AS n SET op = 'I' WHERE n.op IN ('U', 'M') AND ({anew})
