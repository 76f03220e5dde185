-- The connection: its settings, its transactions, what it says about itself.

-- name: pin
-- Whatever changes what SQL means or how a value is written stands fixed from here on, and nothing waits without end.
-- row_security off: a statement that would see part of a table fails instead.
SELECT set_config('row_security', 'off', false), set_config('DateStyle', 'ISO, YMD', false),
       set_config('IntervalStyle', 'postgres', false), set_config('extra_float_digits', '1', false),
       set_config('TimeZone', current_setting('TimeZone'), false), set_config('bytea_output', 'hex', false),
       set_config('standard_conforming_strings', 'on', false), set_config('transform_null_equals', 'off', false),
       set_config('quote_all_identifiers', 'off', false), set_config('client_min_messages', 'warning', false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('lock_timeout', '1500ms', false), set_config('statement_timeout', '5min', false),
       set_config('idle_in_transaction_session_timeout', '5s', false),
       set_config('max_parallel_workers_per_gather', '0', false), set_config('jit', 'off', false)

-- name: pin_watch
-- From PostgreSQL 14: a statement whose client has gone ends; refused by servers whose system cannot tell.
SELECT set_config('client_connection_check_interval', '2s', false)

-- name: backend
-- The process that answers.
SELECT pg_backend_pid()

-- name: backend_held
-- The same, kept from everybody else by a transaction: a pooler cannot hand it on.
BEGIN; SELECT pg_backend_pid()

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: begin_snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: xact
-- The open transaction's id, NULL while it has written nothing, and the server's timeline.
SELECT x.id::text, CASE WHEN x.id IS NOT NULL THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
  FROM pg_current_xact_id_if_assigned() AS x (id)

-- name: xact_status
-- What became of the transaction $1 of the timeline $2: committed, aborted, in progress; NULL: nobody can say any more.
SELECT CASE WHEN NOT pg_is_in_recovery() AND left(pg_walfile_name(pg_current_wal_lsn()), 8) = $2::text
            THEN pg_xact_status($1::text::xid8) END
