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
