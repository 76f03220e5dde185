-- Deletes that are left when the moves are settled.

-- name: rows
-- Those that `changes` does not declare: {allowed} holds for none of them. {old} gives the old row under its own names.
SELECT {columns} FROM (SELECT {old} FROM {changes} WHERE op = 'D') WHERE NOT coalesce(({allowed}
), FALSE)
