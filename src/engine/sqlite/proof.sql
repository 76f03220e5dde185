-- What shows before the swap that production will take every row. {changes} is the change set's full name.

-- name: definition
-- The target's own CREATE TABLE.
SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = :name

-- name: probe_forget
DROP TABLE IF EXISTS temp.tidegate_probe

-- name: probe_create
-- {body}: the target's own, from its opening parenthesis.
CREATE TEMP TABLE tidegate_probe {body}

-- name: probe_updates
INSERT INTO temp.tidegate_probe ({columns}) SELECT {values} FROM {changes} WHERE op IN ('U', 'M')

-- name: no_parent
-- New rows whose foreign key is whole ({whole}) and has no parent.
SELECT count(*) FROM {changes} AS n
WHERE n.op <> 'D'{whole} AND NOT EXISTS (SELECT 1 FROM main.{parent} AS f WHERE {match})

-- name: sample_in_place
-- The same of the rows of production's {range} that are not in the snapshot as they are.
SELECT {given} FROM (
  SELECT {given}, row_number() OVER (ORDER BY {given}) AS tidegate_place
  FROM (SELECT {given} FROM ({range}) EXCEPT SELECT {given} FROM ({kept})))
ORDER BY (tidegate_place * 2654435761) % 4294967296 LIMIT :limit

-- name: sample
-- Drawn by a multiplicative hash of the change's place (Knuth, TAOCP 6.4): the same change set gives the same sample.
SELECT {given} FROM {changes} AS n WHERE op <> 'D' ORDER BY (n.rowid * 2654435761) % 4294967296 LIMIT :limit
