-- Verdicts on other tools' commands, and which role may write what. {ledger} is the ledger's schema, {now} the database's
-- clock. Instants are seconds since 1970, 0 = never.

-- name: there
-- A ledger that was made before there were such verdicts has no table for them. $1: its schema.
SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = 'audit' AND c.relkind = 'r'

-- name: create
CREATE TABLE {ledger}.audit (
  number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at int8 NOT NULL,
  who text,
  place text,
  command text NOT NULL,
  digest text NOT NULL,
  verdict text NOT NULL,
  reasons text NOT NULL,
  target text,
  backfill text,
  because text,
  signed_by text,
  until int8 NOT NULL DEFAULT 0,
  signed_at int8 NOT NULL DEFAULT 0,
  used_at int8 NOT NULL DEFAULT 0
)

-- name: create_index
CREATE INDEX audit_digest ON {ledger}.audit (digest)

-- name: add
-- $1 who, place, command, digest, verdict, reasons, target, backfill, because, $10 until.
INSERT INTO {ledger}.audit (at, who, place, command, digest, verdict, reasons, target, backfill, because, until)
VALUES ({now}, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::int8)
RETURNING number

-- name: list
-- Newest first; $1 NULL: all; at most $2.
SELECT number, at, until, signed_at, used_at, who, place, command, digest, verdict, reasons, target, backfill, because,
  signed_by
FROM {ledger}.audit WHERE $1::text IS NULL OR digest = $1 ORDER BY number DESC LIMIT $2::int8

-- name: sign
UPDATE {ledger}.audit SET signed_by = $2, signed_at = {now}
WHERE number = $1::int8 AND signed_at = 0 AND because IS NOT NULL

-- name: use
UPDATE {ledger}.audit SET used_at = {now} WHERE number = $1::int8 AND used_at = 0

-- name: role
SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = $1

-- name: role_writes
-- A right by which the role $1 could write the table $2, what it inherits from, or what inherits from that: its own, or
-- one of a role that it is a member of, also where it would have to SET ROLE first.
WITH RECURSIVE up (id) AS (
  SELECT $2::oid
  UNION SELECT i.inhparent FROM pg_catalog.pg_inherits i JOIN up ON i.inhrelid = up.id
), down (id) AS (
  SELECT id FROM up
  UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN down ON i.inhparent = down.id
)
SELECT CASE WHEN r.rolsuper THEN r.rolname || ' is a superuser'
    ELSE r.rolname || ' has ' || p.name || ' on ' || c.oid::regclass END
FROM pg_catalog.pg_roles r, down d JOIN pg_catalog.pg_class c ON c.oid = d.id,
  (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) p (name)
WHERE pg_catalog.pg_has_role($1::name, r.oid, 'MEMBER')
  AND (r.rolsuper OR pg_catalog.has_table_privilege(r.oid, c.oid, p.name)
    OR (p.name IN ('INSERT', 'UPDATE') AND pg_catalog.has_any_column_privilege(r.oid, c.oid, p.name)))
ORDER BY r.rolname <> $1, p.name LIMIT 1

-- name: has_role
SELECT coalesce(bool_or(pg_catalog.pg_has_role(oid, 'MEMBER')), false) FROM pg_catalog.pg_roles WHERE rolname = $1
