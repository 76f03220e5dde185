-- Verdicts on other tools' commands. Instants are seconds since 1970 in database time, 0 = never.

-- name: there
-- A ledger that was made before there were such verdicts has no table for them.
SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'tidegate_audit' COLLATE NOCASE

-- name: create
CREATE TABLE IF NOT EXISTS main.tidegate_audit (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT,
  place TEXT,
  command TEXT NOT NULL,
  digest TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reasons TEXT NOT NULL,
  target TEXT,
  backfill TEXT,
  because TEXT,
  signed_by TEXT,
  until INTEGER NOT NULL DEFAULT 0,
  signed_at INTEGER NOT NULL DEFAULT 0,
  used_at INTEGER NOT NULL DEFAULT 0
) STRICT

-- name: create_index
CREATE INDEX IF NOT EXISTS main.tidegate_audit_digest ON tidegate_audit (digest)

-- name: add
INSERT INTO main.tidegate_audit (at, who, place, command, digest, verdict, reasons, target, backfill, because, until)
VALUES (unixepoch('now'), :who, :place, :command, :digest, :verdict, :reasons, :target, :backfill, :because, :until)

-- name: list
-- Newest first; :digest NULL: all.
SELECT number, at, until, signed_at, used_at, who, place, command, digest, verdict, reasons, target, backfill, because,
  signed_by
FROM main.tidegate_audit WHERE :digest IS NULL OR digest = :digest ORDER BY number DESC LIMIT :most

-- name: sign
UPDATE main.tidegate_audit SET signed_by = :who, signed_at = unixepoch('now')
WHERE number = :number AND signed_at = 0 AND because IS NOT NULL

-- name: use
UPDATE main.tidegate_audit SET used_at = unixepoch('now') WHERE number = :number AND used_at = 0
