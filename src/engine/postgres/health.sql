-- What doctor looks at: nothing here changes anything.

-- name: session
-- $1: the ledger's schema. Version, role, standby, only to be read, the process that answers, on this machine, rights:
-- temporary tables, making schemas, seeing other sessions, the schema being there, working in it; the ledger's tables
-- that are there, and of them those that the role may not write.
SELECT current_setting('server_version'), current_user, pg_catalog.pg_is_in_recovery(),
  current_setting('transaction_read_only') = 'on', pg_catalog.pg_backend_pid(),
  coalesce(pg_catalog.inet_client_addr() = pg_catalog.inet_server_addr(), true),
  pg_catalog.has_database_privilege(current_database(), 'TEMPORARY'),
  pg_catalog.has_database_privilege(current_database(), 'CREATE'),
  pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'),
  n.oid IS NOT NULL,
  coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_schema_privilege(n.oid, 'CREATE'), false),
  t.there, t.closed
FROM (VALUES ($1)) s (name) LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = s.name
  CROSS JOIN LATERAL (SELECT count(*) AS there, count(*) FILTER (WHERE NOT (
      pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_table_privilege(c.oid, 'INSERT')
      AND pg_catalog.has_table_privilege(c.oid, 'UPDATE') AND pg_catalog.has_table_privilege(c.oid, 'DELETE'))) AS closed
    FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND c.relname IN
      ('meta', 'backfill', 'date', 'batch', 'col', 'finding', 'object', 'exchange', 'event', 'xact',
        'audit')) t

-- name: table
-- May this role read the table $1, and write it?
SELECT pg_catalog.has_table_privilege($1::oid, 'SELECT'),
  pg_catalog.has_table_privilege($1::oid, 'INSERT') AND pg_catalog.has_table_privilege($1::oid, 'UPDATE')
  AND pg_catalog.has_table_privilege($1::oid, 'DELETE')

-- name: writers
-- Who can change rows of the table $1 without Tidegate: roles that may log in, by any right to write, also in some
-- columns, of their own, by membership or as owner; and how many of all are superusers, who can in any case.
SELECT string_agg(quote_ident(r.rolname), ', ' ORDER BY r.rolname) FILTER (WHERE NOT r.rolsuper),
  count(*) FILTER (WHERE NOT r.rolsuper), count(*) FILTER (WHERE r.rolsuper)
FROM pg_catalog.pg_roles r
WHERE r.rolcanlogin AND (pg_catalog.has_table_privilege(r.oid, $1::oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
  OR pg_catalog.has_any_column_privilege(r.oid, $1::oid, 'INSERT, UPDATE'))
