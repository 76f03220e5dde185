-- Snapshots of a range.

-- name: copy
INSERT INTO {snapshot} ({columns}) SELECT {columns} FROM {target} WHERE {date} >= :from AND {date} < :to
