-- The backfill's tables beside production.

-- name: changes
-- A table of the change set's form. It is never vacuumed while it grows: nothing in it dies.
CREATE {kind} TABLE {table} (op "char" NOT NULL, date int8 NOT NULL, part oid, tid tid{columns}){storage}

-- name: copy
-- A table like production's: full shadow or snapshot.
CREATE {kind} TABLE {table} ({columns}){storage}

-- name: index_date
CREATE INDEX ON {table} ({date})

-- name: mark
-- By this the object is known as ours, beside its name and identity.
COMMENT ON {kind} {table} IS {text}

-- name: drop
DROP {kind} {table}

-- name: is_view
-- $1: the name.
SELECT count(*) FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'v'

-- name: limits
-- $1 milliseconds to wait for a lock, $2 that a statement may take, $3 that the session may idle in the transaction.
SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true)

-- name: fence
-- Readers go on; nobody else writes rows of it until the end.
LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE

-- name: blockers
-- $1: the table's name, or NULL for the backfill's own row. Who holds or waits for what stands in the way.
WITH held AS (
  SELECT l.pid, l.virtualtransaction FROM pg_locks AS l
  WHERE l.locktype = 'relation' AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.relation = to_regclass($1) OR l.relation IN (SELECT relid FROM pg_partition_tree(to_regclass($1))))
    AND l.mode IN ('RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
      'ExclusiveLock', 'AccessExclusiveLock'))
SELECT a.pid::text, coalesce(a.usename, 'background'), coalesce(nullif(a.application_name, ''), a.backend_type, 'a session'),
  coalesce(a.state, ''), extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, a.backend_start))::int8,
  left(regexp_replace(coalesce(a.query, ''), '\s+', ' ', 'g'), 120), a.backend_type = 'autovacuum worker',
  a.query LIKE '%(to prevent wraparound)%'
FROM pg_stat_activity AS a WHERE a.pid <> pg_backend_pid() AND a.pid IN (SELECT pid FROM held)
UNION ALL
SELECT 'none', p.owner, 'a prepared transaction', 'prepared', extract(epoch FROM clock_timestamp() - p.prepared)::int8,
  format('it ends by COMMIT PREPARED %L or ROLLBACK PREPARED %L', p.gid, p.gid), false, false
FROM pg_prepared_xacts AS p
WHERE p.database = current_database() AND EXISTS (SELECT FROM pg_locks AS x JOIN held USING (virtualtransaction)
  WHERE x.locktype = 'transactionid' AND x.transactionid = p.transaction AND x.pid IS NULL AND held.pid IS NULL)
ORDER BY 5 DESC LIMIT 5

-- name: open
-- $1: the table's name. Of the sessions with a transaction open that has looked at it the one that is most in the way.
-- The last columns: this role may not see what the session does, not even what kind it is; it may still write the table:
-- it has written something, runs a block or a procedure, stands between two statements, waits to write or cannot be
-- seen; it waits for a lock.
WITH tables AS (SELECT to_regclass($1)::oid AS oid UNION SELECT relid FROM pg_partition_tree(to_regclass($1))),
held AS (
  SELECT l.pid, bool_or(NOT l.granted) AS asks FROM pg_locks AS l JOIN tables AS t ON t.oid = l.relation
  WHERE l.locktype = 'relation' AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  GROUP BY l.pid HAVING bool_or(l.granted))
SELECT * FROM (
  SELECT a.pid, coalesce(a.usename, 'background'),
    coalesce(nullif(a.application_name, ''), a.backend_type, 'a session'), coalesce(a.state, 'unknown'),
    coalesce(extract(epoch FROM clock_timestamp() - a.xact_start)::int8, 0) AS seconds,
    left(regexp_replace(coalesce(a.query, ''), '\s+', ' ', 'g'), 120), a.state IS NULL,
    a.state IS NULL OR a.backend_xid IS NOT NULL OR h.asks
      OR (a.state LIKE 'idle in transaction%' OR a.state = 'active'
          AND (a.query_start > a.xact_start OR a.query ~* '^\s*(do|call)\M'))
        AND has_table_privilege(a.usesysid, to_regclass($1), 'INSERT, UPDATE, DELETE') AS may_write,
    coalesce(a.wait_event_type = 'Lock', false) AS waits
  FROM pg_stat_activity AS a JOIN held AS h ON h.pid = a.pid
  WHERE coalesce(a.backend_type, 'client backend') = 'client backend') AS o
ORDER BY may_write AND waits DESC, may_write DESC, seconds DESC LIMIT 1

-- name: patience
-- $1 milliseconds to wait for a lock, and never so long that the server looks for deadlocks and ends whoever waits for
-- us. Is there a replica that reads along? Does a COMMIT wait for one, which may be gone?
SELECT set_config('lock_timeout', least($1::int, setting::int / 2)::text, true),
  EXISTS (SELECT FROM pg_stat_replication),
  current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')
FROM pg_settings WHERE name = 'deadlock_timeout'

-- name: shut_out
-- Nobody has it open any more, and whoever comes reads what is committed then.
LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE
