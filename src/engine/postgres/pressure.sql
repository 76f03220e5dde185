-- How much production feels. What a role may not see is NULL or absent, never an error.

-- name: wal
-- Where the write-ahead log ends, as a place and as bytes from its beginning.
SELECT place::text, pg_wal_lsn_diff(place, '0/0')::int8
FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END) w(place)

-- name: replica
-- The replica that is furthest behind, in seconds and in bytes. $1: where the log ends.
SELECT coalesce(nullif(application_name, ''), host(client_addr), 'without a name'),
       extract(epoch FROM replay_lag)::float8, pg_wal_lsn_diff($1::pg_lsn, replay_lsn)::int8
FROM pg_stat_replication WHERE state IN ('streaming', 'catchup')
ORDER BY replay_lag DESC NULLS LAST, 3 DESC NULLS LAST LIMIT 1

-- name: slot
-- The slot that holds back the most of the log, one that is about to lose some first. $1: where the log ends.
SELECT slot_name, active, pg_wal_lsn_diff($1::pg_lsn, restart_lsn)::int8, wal_status = 'unreserved'
FROM pg_replication_slots WHERE restart_lsn IS NOT NULL AND wal_status IS DISTINCT FROM 'lost'
ORDER BY 4 DESC NULLS LAST, 3 DESC LIMIT 1

-- name: archiver
-- Is archiving on and does it fail, since when? May the files that wait be counted?
SELECT current_setting('archive_mode') <> 'off',
       last_failed_time > coalesce(last_archived_time, '-infinity'), last_failed_wal,
       to_char(last_failed_time, 'YYYY-MM-DD HH24:MI'),
       has_function_privilege('pg_catalog.pg_ls_archive_statusdir()', 'EXECUTE')
FROM pg_stat_archiver

-- name: archive_waiting
-- Bytes of the log that wait to be archived.
SELECT count(*) * (SELECT setting::int8 FROM pg_settings WHERE name = 'wal_segment_size')
FROM pg_catalog.pg_ls_archive_statusdir() WHERE name LIKE '%.ready'

-- name: sessions
-- Sessions of others: active, waiting for a lock for more than a second, waiting for the disk.
SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > '1s'),
       count(*) FILTER (WHERE wait_event_type = 'IO')
FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()

-- name: neighbour
-- Is a session of another program at work, or was one within the last second?
SELECT EXISTS (SELECT FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND application_name <> current_setting('application_name')
    AND (state = 'active' OR state_change > clock_timestamp() - interval '1s'))

-- name: computation
-- Some milliseconds of nothing but computing.
SELECT count(*) FROM generate_series(1, 20000)

-- name: vacuum
-- A vacuum of the table or one of its partitions. $1: the table.
SELECT pid, relid::regclass::text, phase, 100 * heap_blks_scanned / nullif(heap_blks_total, 0)
FROM pg_stat_progress_vacuum
WHERE datname = current_database()
  AND relid IN (SELECT to_regclass($1)::oid UNION SELECT relid::oid FROM pg_partition_tree(to_regclass($1)))
ORDER BY pid LIMIT 1

-- name: reader
-- The oldest transaction that reads the table or one of its partitions. $1: the table, $2: seconds that it is old at
-- least.
SELECT a.pid, a.usename, extract(epoch FROM clock_timestamp() - a.xact_start)::float8
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'relation' AND l.mode = 'AccessShareLock' AND l.granted AND a.pid <> pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.relation IN (SELECT to_regclass($1)::oid UNION SELECT relid::oid FROM pg_partition_tree(to_regclass($1)))
  AND a.xact_start < clock_timestamp() - $2::float8 * interval '1 second'
ORDER BY a.xact_start LIMIT 1

-- name: canary_limit
-- The canary is cut off when it is much too slow. $1: milliseconds.
SELECT set_config('statement_timeout', $1, true)
