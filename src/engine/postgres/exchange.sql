-- Publishing whole partitions: each partition of the range is written anew beside production, with everything that it
-- has, and takes the old one's place in one transaction. {partition} and {replacement} are full names; {parent} is the
-- target.

-- name: why_not
-- $1: the target, $2: its date column. Why its partitions cannot be exchanged without losing something; NULL: they can.
SELECT CASE
  WHEN c.relkind <> 'p' THEN 'it is not partitioned'
  WHEN p.partstrat <> 'r' OR p.partnatts <> 1 OR a.attname IS NULL THEN 'it is not partitioned by ranges of ' || $2 || ' alone'
  WHEN p.partdefid <> 0 THEN 'it has a DEFAULT partition, which an ATTACH would lock and read'
  WHEN EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.contype = 'f' AND (k.conrelid = c.oid OR k.confrelid = c.oid
    OR k.confrelid IN (SELECT relid FROM pg_partition_tree(c.oid)))) THEN 'foreign keys lead from it or to it'
  WHEN EXISTS (SELECT 1 FROM pg_trigger AS g WHERE NOT g.tgisinternal AND g.tgenabled <> 'D'
    AND g.tgrelid IN (SELECT relid FROM pg_partition_tree(c.oid))) AND NOT $3::bool THEN 'it has triggers, which an exchange does not fire'
  WHEN EXISTS (SELECT 1 FROM pg_publication WHERE puballtables) OR EXISTS (SELECT 1 FROM pg_publication_rel AS r
    WHERE r.prrelid IN (SELECT relid FROM pg_partition_tree(c.oid))){published}
    THEN 'it is published, and subscribers would not see the new rows'
  WHEN EXISTS (SELECT 1 FROM pg_attribute AS i WHERE i.attrelid = c.oid AND i.attidentity <> '' AND NOT i.attisdropped)
    THEN 'it has an identity column'
  WHEN c.relrowsecurity THEN 'it has row security'
  WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'this role does not own it, and only its owner exchanges partitions'
  WHEN CASE WHEN current_setting('server_version_num')::int >= 160000 THEN NOT pg_has_role(c.relowner, 'SET') END
    THEN 'this role is a member of its owner WITH SET FALSE, so it makes no tables that belong to the owner'
END
FROM pg_class AS c LEFT JOIN pg_partitioned_table AS p ON p.partrelid = c.oid
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0] AND a.attname = $2
WHERE c.oid = $1::regclass

-- name: partitions
-- $1: the target, $2: the schema of the ledger. Its partitions: full name; schema; bare name; lower and upper bound as
-- texts; why it cannot be exchanged or NULL; rows (an estimate); storage parameters; tablespace; comment; owner.
SELECT format('%I.%I', n.nspname, c.relname), n.nspname, c.relname, b.bounds[1], b.bounds[2], CASE
    WHEN c.relkind <> 'r' THEN 'is not an ordinary table'
    WHEN b.bounds IS NULL THEN 'has an open end'
    WHEN c.relowner <> t.relowner THEN 'has another owner'
    WHEN c.relacl <> acldefault('r', c.relowner) OR EXISTS (SELECT 1 FROM pg_attribute AS x WHERE x.attrelid = c.oid AND x.attacl IS NOT NULL)
      THEN 'has grants of its own'
    WHEN c.relrowsecurity THEN 'has row security of its own'
    WHEN c.relreplident <> 'd' THEN 'has a replica identity of its own'
    WHEN c.relpersistence <> 'p' THEN 'is unlogged'
    WHEN EXISTS (SELECT 1 FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgparentid = 0)
      THEN 'has triggers of its own'
    WHEN EXISTS (SELECT 1 FROM pg_index AS x WHERE x.indrelid = c.oid AND NOT EXISTS
      (SELECT 1 FROM pg_inherits AS h WHERE h.inhrelid = x.indexrelid)) THEN 'has indexes that the table does not have'
    WHEN EXISTS (SELECT 1 FROM pg_index AS x WHERE x.indrelid = c.oid AND (NOT x.indisvalid OR x.indisclustered OR x.indisreplident))
      THEN 'has an index that is not valid, clusters it or identifies its rows'
    WHEN EXISTS (SELECT 1 FROM pg_statistic_ext AS x WHERE x.stxrelid = c.oid) THEN 'has extended statistics of its own'
    WHEN EXISTS (SELECT 1 FROM pg_attribute AS x WHERE x.attrelid = c.oid AND x.attnum > 0 AND NOT x.attisdropped
      AND (x.attstattarget >= 0 OR x.attoptions IS NOT NULL)) THEN 'has statistics settings of its own'
    WHEN EXISTS (SELECT 1 FROM pg_rewrite AS x WHERE x.ev_class = c.oid) THEN 'has rules'
    WHEN EXISTS (SELECT 1 FROM pg_depend AS x JOIN pg_rewrite AS w ON w.oid = x.objid JOIN pg_class AS v ON v.oid = w.ev_class
      WHERE x.refclassid = 'pg_class'::regclass AND x.refobjid = c.oid AND x.classid = 'pg_rewrite'::regclass
      AND v.relnamespace <> coalesce(to_regnamespace(quote_ident($2))::oid, 0)) THEN 'is read by a view directly'
    WHEN NOT has_schema_privilege(n.oid, 'CREATE')
      THEN format('is in a schema in which this role may not make tables: GRANT CREATE ON SCHEMA %I TO %I', n.nspname, current_user)
    WHEN to_regnamespace(quote_ident($2)) IS NOT NULL AND NOT has_schema_privilege(c.relowner, $2, 'CREATE, USAGE')
      THEN format('has an owner who may not make tables in the schema of the ledger: GRANT USAGE, CREATE ON SCHEMA %I TO %I',
        $2, pg_get_userbyid(c.relowner))
  END, greatest(c.reltuples, 0)::int8, array_to_string(c.reloptions, ', '), quote_ident(s.spcname),
  obj_description(c.oid, 'pg_class'), quote_ident(pg_get_userbyid(c.relowner))
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS t ON t.oid = i.inhparent
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
LEFT JOIN LATERAL (SELECT ARRAY[btrim(m[1], ''''), btrim(m[2], '''')] FROM regexp_match(pg_get_expr(c.relpartbound, c.oid),
  '^FOR VALUES FROM \((''[^'']+''|[0-9]+)\) TO \((''[^'']+''|[0-9]+)\)$') AS m WHERE m IS NOT NULL) AS b (bounds) ON true
WHERE i.inhparent = $1::regclass ORDER BY b.bounds[1], c.relname

-- name: published_schema
-- From version 15 on a whole schema may be published.
 OR EXISTS (SELECT 1 FROM pg_publication_namespace AS s WHERE s.pnnspid = c.relnamespace)

-- name: bound_instants
-- The instant at which a bound's date starts.
SELECT {instant}

-- name: bound_again
-- Is the bound the start of that date?
SELECT {bound} = {again}

-- name: range
-- $1 the backfill: its first and last date.
SELECT min(date), max(date) FROM {ledger}.date WHERE backfill = $1

-- name: create
-- Autovacuum leaves it alone while it grows: nothing in it dies, and each look at it would be a commit of somebody else.
CREATE TABLE {replacement} (LIKE {partition} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED
  INCLUDING STORAGE INCLUDING COMMENTS{compression}){with}{tablespace}

-- name: vacuum_own
-- $1: the partition. Has it a word of its own on autovacuum?
SELECT count(*) FROM pg_class AS c CROSS JOIN LATERAL pg_options_to_table(c.reloptions) AS o
WHERE c.oid = $1::regclass AND o.option_name = 'autovacuum_enabled'

-- name: vacuum_again
ALTER TABLE {replacement} RESET (autovacuum_enabled)

-- name: granted
-- $1: the replacement. Who may do something with it beside its owner: default privileges gave that, and what it replaces
-- has no grants of its own.
SELECT DISTINCT CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END
FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS x WHERE c.oid = $1::regclass AND x.grantee <> c.relowner

-- name: revoke
REVOKE ALL ON TABLE {replacement} FROM {who}

-- name: owner
-- The replacement belongs to whom the partition belongs.
ALTER TABLE {replacement} OWNER TO {owner}

-- name: add
-- $1 the backfill, $2 nth, $3 the partition's full name, $4 and $5 its bounds as texts, $6 and $7 as instants.
INSERT INTO {ledger}.exchange (backfill, nth, partition, lower, upper, range_from, range_to)
VALUES ($1, $2::int8, $3, $4, $5, $6::int8, $7::int8)

-- name: list
-- $1 the backfill.
SELECT nth, partition, lower, upper, range_from, range_to, sealed, swapped FROM {ledger}.exchange
WHERE backfill = $1 ORDER BY nth

-- name: fill
-- What the recompute gives, rows of other dates too: those are findings, and taken out again by `astray`.
INSERT INTO {replacement} ({given}) SELECT {given} FROM (
{recompute}) AS s{dated}

-- name: dated
-- Rows without a date are declared to be fine.
 WHERE s.{date} IS NOT NULL

-- name: astray
DELETE FROM {replacement} WHERE xmin = pg_current_xact_id()::xid AND NOT coalesce({in_range}, false)

-- name: clear
DELETE FROM {replacement} WHERE {in_range}

-- name: pages
-- $1: the table. Its pages.
SELECT pg_relation_size($1::regclass) / current_setting('block_size')::int8

-- name: written
-- What this transaction has written of {replacement} from {page} on.
SELECT {given} FROM {replacement} WHERE xmin = (SELECT pg_current_xact_id()::xid) AND ctid >= '({page},0)'::tid

-- name: indexes
-- $1: the partition. Its indexes, in an order that does not depend on when they were made: name; the constraint it
-- carries or NULL; the constraint's definition; is it unique; what stands behind the table's name in its definition.
SELECT i.relname, k.conname, pg_get_constraintdef(k.oid), x.indisunique,
  substr(pg_get_indexdef(i.oid), strpos(pg_get_indexdef(i.oid), ' USING ')), obj_description(i.oid, 'pg_class')
FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
LEFT JOIN pg_constraint AS k ON k.conindid = i.oid AND k.conrelid = x.indrelid AND k.contype IN ('p', 'u', 'x')
WHERE x.indrelid = $1::regclass ORDER BY i.relname

-- name: outside_clear
DELETE FROM {replacement} WHERE NOT ({in_range})

-- name: outside_copy
-- The partition's rows that are not of the range.
INSERT INTO {replacement} ({stored}) SELECT {stored} FROM {partition} WHERE NOT ({in_range})

-- name: outside_differ
-- How often the two sides' rows outside the range are not the same.
SELECT count(*) FROM (
  SELECT h FROM (SELECT 1 AS side, {hash} AS h FROM {partition} WHERE NOT ({in_range})
    UNION ALL SELECT -1, {hash} FROM {replacement} WHERE NOT ({in_range})) AS sides
  GROUP BY h HAVING sum(side) <> 0) AS differ

-- name: add_constraint
ALTER TABLE {table} ADD CONSTRAINT {name} {definition}

-- name: add_index
CREATE {unique}INDEX {name} ON {table}{using}

-- name: bound_check
-- $1: the partition: what its bound demands. Has the replacement ($2) the CHECK that says so?
SELECT pg_get_partition_constraintdef($1::regclass), EXISTS (SELECT FROM pg_constraint AS k
  WHERE k.conrelid = $2::regclass AND k.conname = 'tidegate_bound' AND k.convalidated)

-- name: drop_constraint
ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}

-- name: analyze
ANALYZE {table}

-- name: sealed
-- $1 the backfill.
UPDATE {ledger}.exchange SET sealed = true WHERE backfill = $1

-- name: sealed_part
-- $1 the backfill, $2 nth: the same of one place, if all its dates are written.
UPDATE {ledger}.exchange AS x SET sealed = true WHERE x.backfill = $1 AND x.nth = $2::int8 AND NOT EXISTS (
  SELECT FROM {ledger}.date AS d
  WHERE d.backfill = $1 AND d.date >= x.range_from AND d.date < x.range_to AND d.batch = 0)

-- name: unsealed
-- $1 the backfill, $2 and $3 a range of dates.
UPDATE {ledger}.exchange SET sealed = false WHERE backfill = $1 AND range_from < $3::int8 AND range_to > $2::int8

-- name: swapped
-- $1 the backfill, $2 whether the replacements are production from this transaction on.
UPDATE {ledger}.exchange SET swapped = CASE WHEN $2::bool THEN pg_current_xact_id() END WHERE backfill = $1

-- name: later_columns
-- $1 a partition in production, $2 the kept one. The columns that the first has and the second lacks: name; how each is
-- added with what the rows there got when it came, which is not its default of today; that default; NOT NULL or not; why
-- it cannot be added so, or NULL.
SELECT a.attname, format('%I %s%s%s', a.attname, y.spelled,
    CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END,
    CASE WHEN a.atthasmissing THEN format(' DEFAULT %L::%s', (a.attmissingval::text::text[])[1], y.spelled) ELSE '' END),
  coalesce('SET DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), 'DROP DEFAULT'),
  CASE WHEN a.attnotnull THEN 'SET' ELSE 'DROP' END || ' NOT NULL',
  CASE WHEN a.attgenerated <> '' THEN 'is computed' WHEN a.attidentity <> '' THEN 'numbers the rows'
    WHEN a.atthasmissing AND t.typcategory = 'A' THEN 'holds lists' END
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
CROSS JOIN LATERAL (SELECT format_type(a.atttypid, a.atttypmod) AS spelled) AS y
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND NOT EXISTS (
  SELECT FROM pg_attribute AS k WHERE k.attrelid = $2::regclass AND k.attname = a.attname AND NOT k.attisdropped)
ORDER BY a.attnum

-- name: add_column
ALTER TABLE {kept} ADD COLUMN {column}

-- name: settle_column
ALTER TABLE {kept} ALTER COLUMN {name} {default}, ALTER COLUMN {name} {null}

-- name: at_once
-- No reader is to wait behind a request for the lock: $1 milliseconds at most.
SELECT set_config('lock_timeout', $1, true)

-- name: exclusive
LOCK TABLE {parent} IN ACCESS EXCLUSIVE MODE

-- name: older_snapshots
-- $1 the backfill, $2 whether this transaction itself has written rows that come into production. Sessions whose
-- transaction may go on to read the table by a snapshot in which those rows are not there yet: pid, user, state, since,
-- query; may this role see what the session does? The rows were written at latest by who wrote {ledger}.exchange last.
-- One statement that is a transaction of its own has asked for its tables already.
SELECT a.pid, coalesce(a.usename, 'background'), coalesce(a.state, 'unknown'),
  coalesce(extract(epoch FROM clock_timestamp() - a.xact_start)::int8, 0),
  left(regexp_replace(coalesce(a.query, ''), '\s+', ' ', 'g'), 120), a.state IS NOT NULL
FROM pg_stat_activity AS a,
  (SELECT CASE WHEN $2::bool THEN 0 ELSE min(age(x.xmin)) END FROM {ledger}.exchange AS x WHERE x.backfill = $1) AS written (age)
WHERE a.pid <> pg_backend_pid() AND a.backend_type = 'client backend' AND a.datname = current_database()
  AND (a.state IS NULL AND EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.locktype = 'virtualxid')
    OR age(a.backend_xmin) >= written.age
      AND (a.state LIKE 'idle in transaction%' OR a.state = 'active' AND a.query_start > a.xact_start))
ORDER BY 4 DESC LIMIT 1

-- name: detach
ALTER TABLE {parent} DETACH PARTITION {partition}

-- name: attach
ALTER TABLE {parent} ATTACH PARTITION {partition} FOR VALUES FROM ({lower}) TO ({upper})

-- name: set_schema
ALTER TABLE {table} SET SCHEMA {schema}

-- name: rename
ALTER TABLE {table} RENAME TO {name}

-- name: rename_index
ALTER INDEX {index} RENAME TO {name}

-- name: comment
COMMENT ON TABLE {table} IS {text}

-- name: comment_index
COMMENT ON INDEX {index} IS {text}

-- name: identity
-- $1 the backfill, $2 the object's name, $3 its identity now.
UPDATE {ledger}.object SET identity = $3 WHERE backfill = $1 AND name = $2 AND dropped_at = 0

-- name: changes
-- The change set by its two sides: {old_side} as production was, {new_side} as it is to be.
SELECT CASE WHEN p.tidegate_tid IS NULL THEN 'I' WHEN s.tidegate_tid IS NULL THEN 'D' ELSE 'U' END::"char" AS op,
  coalesce(p.tidegate_at, s.tidegate_at) AS date, p.tidegate_part AS part, p.tidegate_tid AS tid, {old}, {new},
  coalesce(s.tidegate_tid, p.tidegate_tid) AS ctid
FROM ({new_side}) AS s FULL JOIN ({old_side}) AS p ON {match}
WHERE p.tidegate_tid IS NULL OR s.tidegate_tid IS NULL{differs}

-- name: view
CREATE OR REPLACE VIEW {view} AS {rows}

-- name: side
SELECT tableoid AS tidegate_part, ctid AS tidegate_tid, {instant} AS tidegate_at, {stored} FROM {table} WHERE {in_range}

-- name: counts
-- $1 the backfill: what the batches have told.
SELECT coalesce(sum(inserts), 0), coalesce(sum(updates), 0), coalesce(sum(deletes), 0) FROM {ledger}.date WHERE backfill = $1

-- name: comment_of
-- $1: the table.
SELECT obj_description($1::regclass, 'pg_class')

-- name: foreign_rows
-- Rows of {table} that are not ours from before the swap ({swapped}).
SELECT {columns} FROM {table} AS r WHERE {in_range}
  AND r.xmin <> ALL (ARRAY(SELECT x.xid::xid FROM {ledger}.xact AS x WHERE x.xid < {swapped}::xid8))

-- name: own_rows
-- Those that are.
SELECT count(*) FROM {table} AS r WHERE {in_range}
  AND r.xmin = ANY (ARRAY(SELECT x.xid::xid FROM {ledger}.xact AS x WHERE x.xid < {swapped}::xid8))

-- name: count
SELECT count(*) FROM {rows} AS r

-- name: changed_since
-- Rows written since the swap whose key the kept rows have too.
SELECT {date}, {key} FROM ({rows}) AS r WHERE EXISTS (SELECT 1 FROM {kept} AS k WHERE {match}) LIMIT {limit}

-- name: changed_count
SELECT count(*) FROM ({rows}) AS r WHERE EXISTS (SELECT 1 FROM {kept} AS k WHERE {match})

-- name: carry_delete
-- The kept rows give way to what was written since …
DELETE FROM {kept} AS k USING ({rows}) AS r WHERE {match}

-- name: carry_over
-- … which goes on to stand beside them.
INSERT INTO {kept} ({stored}) SELECT {values} FROM ({rows}) AS r
WHERE NOT EXISTS (SELECT 1 FROM {kept} AS k WHERE {match})
