-- The connection: its settings, its transactions, what it says about itself.

-- name: pin
-- Whatever changes what SQL means or how a value is written stands fixed from here on, and nothing waits without end.
-- row_security off: a statement that would see part of a table fails instead. synchronous_commit: what is reported as
-- done survives a crash, and so does all that was seen before it. work_mem: a batch is one join of some 100,000 rows on
-- each side, one at a time in one session: in 64 MB it needs no temporary files; maintenance_work_mem the same for the
-- indexes of a replacement. Whoever has set more keeps it. application_name: a production job is never taken for us, nor
-- we for it. transaction_timeout came with 17: how long a transaction takes is bounded by its own limits. Last, so that
-- it is written as it will be later: when the server lost what it had in memory; a crash resets its statistics, and so
-- may an administrator.
SELECT set_config('row_security', 'off', false), set_config('DateStyle', 'ISO, YMD', false),
       set_config('IntervalStyle', 'postgres', false), set_config('extra_float_digits', '1', false),
       set_config('TimeZone', current_setting('TimeZone'), false), set_config('bytea_output', 'hex', false),
       set_config('standard_conforming_strings', 'on', false), set_config('transform_null_equals', 'off', false),
       set_config('quote_all_identifiers', 'off', false), set_config('client_min_messages', 'warning', false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('application_name', CASE WHEN starts_with(current_setting('application_name'), 'tidegate')
                                           THEN current_setting('application_name') ELSE 'tidegate' END, false),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                                             ELSE current_setting('synchronous_commit') END, false),
       set_config('lock_timeout', '1500ms', false), set_config('statement_timeout', '5min', false),
       set_config('idle_in_transaction_session_timeout', '5s', false),
       CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL THEN set_config('transaction_timeout', '0', false) END,
       set_config('max_parallel_workers_per_gather', '0', false),
       set_config('max_parallel_maintenance_workers', '0', false), set_config('jit', 'off', false),
       set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')), 67108864) / 1024 || 'kB', false),
       set_config('maintenance_work_mem',
                  greatest(pg_size_bytes(current_setting('maintenance_work_mem')), 268435456) / 1024 || 'kB', false),
       coalesce(extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())::text, '') AS recovered

-- name: pin_watch
-- From PostgreSQL 14: a statement whose client has gone ends; refused by servers whose system cannot tell.
SELECT set_config('client_connection_check_interval', '2s', false)

-- name: backend
-- The process that answers.
SELECT pg_backend_pid()

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: begin_snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: read_only
-- The rest of the transaction, or of the savepoint, writes nothing.
SET LOCAL transaction_read_only = on

-- name: savepoint
SAVEPOINT tidegate_look

-- name: back
ROLLBACK TO SAVEPOINT tidegate_look

-- name: release
RELEASE SAVEPOINT tidegate_look

-- name: xact
-- The open transaction's id, NULL while it has written nothing; the server's timeline; and whether it wrote to a table
-- that is neither a temporary one nor Tidegate's own in the schema $1 (where somebody's tables may stand as well):
-- whoever writes to a table keeps a lock on it to the end.
SELECT x.id::text, CASE WHEN x.id IS NOT NULL THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
       x.id IS NOT NULL AND EXISTS (
         SELECT FROM pg_catalog.pg_locks l
           JOIN pg_catalog.pg_class c ON c.oid = l.relation
           JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
          WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation'
            AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
            AND l.mode IN ('RowExclusiveLock', 'AccessExclusiveLock') AND c.relkind IN ('r', 'p', 'm', 'f')
            AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
            AND NOT (n.nspname = $1 AND (starts_with(c.relname, 'tidegate_') OR c.relname IN
                     ('meta', 'backfill', 'date', 'batch', 'col', 'finding', 'object', 'event', 'xact', 'exchange',
                      'audit'))))
  FROM pg_current_xact_id_if_assigned() AS x (id)

-- name: xact_status
-- What became of the transaction $1 of the timeline $2: committed, aborted, in progress; NULL: nobody can say any more.
-- A crash may have lost the WAL of the transaction, and its id was given out again: what is committed under it is known
-- to be ours only when the server has not recovered since $3.
SELECT CASE WHEN NOT pg_is_in_recovery() AND left(pg_walfile_name(pg_current_wal_lsn()), 8) = $2::text
             AND (x.status <> 'committed' OR coalesce(extract(epoch FROM b.stats_reset)::text, '') = $3::text)
            THEN x.status END
  FROM pg_xact_status($1::text::xid8) AS x (status), pg_catalog.pg_stat_bgwriter b

-- name: may_read_control
-- May this role ask the server which one it is?
SELECT (has_function_privilege('pg_control_system()', 'execute')
        AND has_function_privilege('pg_control_checkpoint()', 'execute'))::int

-- name: place
-- Which server, database and timeline this is. A server restored from a copy and a standby that was promoted run on
-- another timeline.
SELECT s.system_identifier || '/' || d.oid || '/' ||
       CASE WHEN pg_is_in_recovery() THEN lpad(upper(to_hex(c.timeline_id)), 8, '0')
            ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END
  FROM pg_control_system() s, pg_control_checkpoint() c, pg_catalog.pg_database d
 WHERE d.datname = current_database()

-- name: place_unnamed
-- The same for a role that may not ask for the server.
SELECT '-/' || d.oid || '/' ||
       CASE WHEN pg_is_in_recovery() THEN '-' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END
  FROM pg_catalog.pg_database d
 WHERE d.datname = current_database()

-- name: uuid
-- Which ledger it is.
SELECT uuid FROM {ledger}.meta

-- name: now
-- The database's time, in seconds since 1970.
SELECT floor(extract(epoch FROM clock_timestamp()))::int8

-- name: size
-- The database's bytes.
SELECT pg_database_size(current_database())

-- name: settings
-- What changes what SQL means here.
SELECT format('server=%s encoding=%s collate=%s TimeZone=%s DateStyle=%s search_path=%s schemas=%s',
              current_setting('server_version_num')::int / 10000, pg_encoding_to_char(d.encoding), d.datcollate,
              current_setting('TimeZone'), current_setting('DateStyle'), current_setting('search_path'),
              current_schemas(false))
  FROM pg_catalog.pg_database d
 WHERE d.datname = current_database()

-- name: snapshot
-- What is committed as the open transaction, or this statement, sees it.
SELECT pg_current_snapshot()::text

-- name: since
-- What happened in the whole cluster since the snapshot $1: how many transaction ids were given out; how many of them
-- others committed that the snapshot does not see (looked at only where there are at most 10,000); whether a crash of
-- the server may have emptied a table without any transaction; whether what is read here may change by transactions
-- of elsewhere. Our own commits are those that {ledger}.xact holds: they wrote to our own tables alone. What has a
-- savepoint counts by the transaction around it, whose id is always the lower one.
WITH span AS (
  SELECT $1::pg_snapshot AS seen, pg_snapshot_xmin($1::pg_snapshot)::text::int8 AS first,
         pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS behind)
SELECT behind - first,
       (SELECT count(*)
          FROM generate_series(first, CASE WHEN behind - first > 10000 THEN first - 1 ELSE behind - 1 END) AS g (n)
         CROSS JOIN LATERAL (SELECT n::text::xid8 AS xid) x
         WHERE NOT pg_visible_in_snapshot(x.xid, seen)
           AND coalesce(pg_xact_status(x.xid), 'committed') = 'committed'
           AND NOT EXISTS (SELECT FROM {ledger}.xact o WHERE o.xid = x.xid)),
       EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relpersistence = 'u' AND c.relkind IN ('r', 'm')
                  AND NOT (n.nspname = $2 AND starts_with(c.relname, 'tidegate_'))),
       EXISTS (SELECT FROM pg_catalog.pg_foreign_table)
         OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'dblink')
         OR EXISTS (SELECT FROM pg_catalog.pg_language WHERE lanispl AND NOT lanpltrusted)
  FROM span

-- name: production_since
-- Production's rows of a range, and how many of them were written by transactions not older than $1, the oldest that
-- was running when a snapshot was taken. Frozen rows keep their number; one that has come round again looks young and
-- is counted, which proves too little, never too much. Rows that went show in the count alone.
SELECT count(*), count(*) FILTER (WHERE age(p.xmin) <= age($1::xid8::xid))
  FROM {target} p
 WHERE {in_range}
