-- A batch's differences on their way into the change set, and the shadow. {changes} and {table} are full names of
-- tables with a change set's columns: op, date (start of the grain), "old_c" for every stored column, "new_c" for every
-- given one. :first and :last are a half-open range of dates.

-- name: create
CREATE TABLE {table} (op TEXT, date INTEGER{old}{new})

-- name: stage_forget
DROP TABLE IF EXISTS temp.tidegate_stage

-- name: add
INSERT INTO {table} VALUES ({parameters})

-- name: store
INSERT INTO {changes} SELECT * FROM {stage}

-- name: stored_before
-- A row when an earlier attempt wrote one of the dates.
SELECT 1 FROM main.tidegate_date WHERE backfill = :id AND date >= :first AND date < :last AND batch > 0 LIMIT 1

-- name: moves_back
-- Keys that moved into the dates from a date outside them go back to being a delete there.
INSERT INTO {changes} (op, date, {old}) SELECT 'D', tidegate_date({old_date}), {old} FROM {changes}
WHERE op = 'M' AND date >= :first AND date < :last
  AND NOT (tidegate_date({old_date}) >= :first AND tidegate_date({old_date}) < :last)

-- name: forget
DELETE FROM {changes} WHERE date >= :first AND date < :last

-- name: settle_moves
-- A key that vanished from one date and moved into another is one move.
DELETE FROM {changes} WHERE rowid IN (
  SELECT d.rowid FROM {changes} AS m JOIN {changes} AS d ON {match} WHERE m.op = 'M' AND d.op = 'D')

-- name: shadow_clear
DELETE FROM {shadow} WHERE {date} >= :from AND {date} < :to

-- name: shadow_fill
INSERT INTO {shadow} ({columns}) SELECT {columns} FROM ({recompute}
)
