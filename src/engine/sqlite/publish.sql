-- Applying a change set to production. {target} and {changes} are full table names; alias n is a row of the change set,
-- p a row of production. {of} chooses among the change set's rows.

-- name: deletes
-- The rows of the change set that go.
n.op = 'D'

-- name: delete_by_rowid
-- So that a key with NULLs is found too. The CROSS JOIN keeps production on the inside.
DELETE FROM {target} WHERE {rowid} IN (
  SELECT {present} FROM {changes} AS n CROSS JOIN {target} AS p ON {match} WHERE {of})

-- name: delete_by_key
-- WITHOUT ROWID.
DELETE FROM {target} WHERE ({key}) IN (SELECT {changed_key} FROM {changes} AS n WHERE {of})

-- name: delete_dates
-- Without a key a date that changes gives up all its rows.
DELETE FROM {target} WHERE tidegate_date({date}) IN (SELECT DISTINCT date FROM {changes})

-- name: update_all
UPDATE {target} AS p SET {set} FROM {changes} AS n WHERE n.op IN ('U', 'M') AND {match}

-- name: updates
-- For row by row: the new values of the columns that change, then the key.
SELECT {values} FROM {changes} WHERE op IN ('U', 'M')

-- name: update_one
UPDATE {target} SET {set} WHERE {match}

-- name: insert
INSERT INTO {table} ({given}) SELECT {new} FROM {changes} WHERE op = 'I'

-- name: keep_rest
-- What others wrote to columns that are preserved since a batch was computed: no drift, but the kept rows must have it.
UPDATE {changes} AS n SET {rest} FROM {target} AS p WHERE n.op <> 'I' AND {match} AND ({differ})

-- name: note_rest
-- What the database gave new rows beside the recompute's columns, so that a rollback sees a later write to it.
UPDATE {changes} AS n SET ({old}) = (SELECT {rest} FROM {target} AS p WHERE {match}) WHERE n.op = 'I'

-- name: orphans
-- Child rows whose parent the change set takes away.
SELECT count(*) FROM {changes} AS n JOIN main.{child} AS k ON {match} WHERE n.op = '{op}'
