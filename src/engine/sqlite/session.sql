-- The connection: its settings, its transactions, what it says about itself.

-- name: cache
-- 64 MB of page cache at most.
PRAGMA cache_size = -65536

-- name: foreign_keys_on
-- As production's own writers should keep them.
PRAGMA foreign_keys = ON

-- name: foreign_keys_off
PRAGMA foreign_keys = OFF

-- name: touch
-- Reads the whole schema: fails when the file is no database.
SELECT count(*) FROM main.sqlite_schema

-- name: begin
-- A read snapshot, from the first statement that reads.
BEGIN

-- name: begin_write
-- Takes the write lock at once, so that nothing read afterwards can be out of date when it is written.
BEGIN IMMEDIATE

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: look
-- The smallest read: from here on the snapshot stands.
SELECT 1 FROM main.sqlite_schema LIMIT 1

-- name: journal_mode
PRAGMA journal_mode

-- name: encoding
PRAGMA encoding

-- name: data_version
-- Another number after every commit of another connection.
PRAGMA main.data_version

-- name: uuid
-- Which ledger it is.
SELECT value FROM main.tidegate_meta WHERE key = 'uuid'

-- name: now
-- The database's time, in seconds since 1970.
SELECT CAST(strftime('%s', 'now') AS INTEGER)
