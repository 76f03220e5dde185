-- The jobs of pg_cron, and their runs.

-- name: cron_there
-- Is pg_cron in this database, and in which zone does it read schedules (a setting since pg_cron 1.5, before that GMT)?
SELECT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'pg_cron'),
       coalesce(nullif(current_setting('cron.timezone', true), ''), 'GMT')

-- name: cron_jobs
-- The jobs that this role may see. A name is unique for each role alone, and may be missing.
SELECT jobid,
       CASE WHEN jobname IS NULL THEN 'job ' || jobid
            WHEN count(*) OVER (PARTITION BY jobname) > 1 THEN jobname || ' of ' || username
            ELSE jobname END,
       schedule,
       CASE WHEN database = current_database() THEN '' ELSE 'in ' || database || ': ' END || command,
       active
FROM cron.job ORDER BY jobid

-- name: cron_runs
-- The newest thousand runs of each job, oldest first. $1: seconds since 1970 at which they begin.
SELECT jobid, floor(extract(epoch FROM start_time))::int8, ceil(extract(epoch FROM end_time))::int8, status = 'failed'
FROM (SELECT *, row_number() OVER (PARTITION BY jobid ORDER BY start_time DESC) AS newest
      FROM cron.job_run_details
      WHERE start_time >= to_timestamp($1::float8) AND end_time IS NOT NULL AND status IN ('succeeded', 'failed')) r
WHERE newest <= 1000 ORDER BY jobid, start_time
