-- Whether a job runs: by its sessions, its lock, or what a person's query says.

-- name: age_before
-- What stands before and behind a query of one column: seconds since the time that it gives. Without a zone it is read
-- in the session's.
SELECT extract(epoch FROM clock_timestamp() - h.at::timestamptz)::float8 FROM (

-- name: age_after
) AS h (at)

-- name: fresh
-- Inside a transaction the sessions are seen as they were at the first look, unless that is forgotten.
SELECT pg_stat_clear_snapshot()

-- name: has_role
SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = $1

-- name: session
-- One session of this database whose application is $1, whose role is $2, or whose statement is like $3; Tidegate's own
-- left out, those of the application $4, and those that work for another. What this role may not see comes last. "idle"
-- counts for application and role: between two statements the job may be computing.
SELECT a.pid, a.usename, a.application_name, a.state,
       floor(extract(epoch FROM coalesce(a.xact_start, CASE a.state WHEN 'idle' THEN a.state_change END,
                                         a.query_start, a.backend_start)))::int8,
       f.by_name OR f.by_query
  FROM pg_catalog.pg_stat_activity a
 CROSS JOIN LATERAL (
   SELECT coalesce(a.application_name = $1::text OR a.usename = $2::name, false) AS by_name,
          coalesce(a.state <> 'idle' AND a.query ILIKE $3::text, false) AS by_query,
          $3::text IS NOT NULL AND (a.query = '<insufficient privilege>' OR a.state = 'disabled') AS hidden) f
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND NOT starts_with(a.application_name, 'tidegate')
   AND coalesce(a.application_name <> $4::text, true)
   AND coalesce(a.backend_type, '') NOT IN ('parallel worker', 'autovacuum worker', 'walsender')
   AND (f.by_name OR f.by_query OR f.hidden)
 ORDER BY f.by_name OR f.by_query DESC, a.backend_start
 LIMIT 1

-- name: end
-- Ends the sessions whose application is $1, of this role.
SELECT count(pg_catalog.pg_terminate_backend(pid)) FROM pg_catalog.pg_stat_activity
 WHERE datname = current_database() AND application_name = $1 AND usename = current_user AND pid <> pg_backend_pid()

-- name: lock
-- Who holds the advisory lock of the one key $1, or of the two keys $1 and $2 (else NULL), or waits for it; sessions of
-- the application $3 left out.
SELECT l.pid, a.usename, a.application_name, CASE WHEN l.granted THEN 'holds' ELSE 'waits for' END,
       floor(extract(epoch FROM coalesce(a.xact_start, a.query_start)))::int8
  FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
 WHERE l.locktype = 'advisory' AND l.pid IS DISTINCT FROM pg_backend_pid()
   AND coalesce(a.application_name <> $3::text, true)
   AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
   AND CASE WHEN $2::int8 IS NULL THEN l.objsubid = 1 AND ((l.classid::int8 << 32) | l.objid::int8) = $1::int8
            ELSE l.objsubid = 2 AND l.classid::int8 = $1::int8 & 4294967295 AND l.objid::int8 = $2::int8 & 4294967295 END
 ORDER BY l.granted DESC
 LIMIT 1
