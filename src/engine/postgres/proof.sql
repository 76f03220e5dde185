-- What shows before the swap that production will take every row. {target} and {changes} are full table names; {same}
-- is true where a change, alias c, takes the place of production's row, alias p. pg_temp.tidegate_probe holds the new
-- rows whole, with the change that each comes from.

-- name: savepoint
SAVEPOINT tidegate_probe

-- name: rollback
ROLLBACK TO SAVEPOINT tidegate_probe

-- name: release
RELEASE SAVEPOINT tidegate_probe

-- name: read_only
-- No default, check or generated column can write production from here on.
SET TRANSACTION READ ONLY

-- name: probe_create
CREATE TEMP TABLE tidegate_probe (LIKE {target} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED
  INCLUDING INDEXES, tidegate_op "char", tidegate_change tid) ON COMMIT DROP

-- name: probe_columns
-- $1: the target. Columns whose value in a new row, where it is not given, must not be asked for: its default takes a
-- number from a sequence, or calls a function that may write. A row a column: name; quoted; its type; is it in the
-- primary key; the sequence's last number and its step where the default is the next number.
SELECT a.attname, quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
  EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey)),
  CASE WHEN t.typcategory = 'N' AND s.seqrelid IS NOT NULL AND has_sequence_privilege(s.seqrelid, 'SELECT, USAGE')
    THEN coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart - s.seqincrement) END,
  s.seqincrement
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN LATERAL (
  SELECT q.* FROM pg_depend AS e JOIN pg_sequence AS q ON q.seqrelid = CASE WHEN a.attidentity <> '' THEN e.objid ELSE e.refobjid END
  WHERE CASE WHEN a.attidentity <> ''
    THEN e.classid = 'pg_class'::regclass AND e.refclassid = 'pg_class'::regclass AND e.refobjid = a.attrelid
      AND e.refobjsubid = a.attnum AND e.deptype = 'i'
    ELSE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_class'::regclass END
  LIMIT 1) AS s ON true
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  AND (s.seqrelid IS NOT NULL OR pg_get_expr(d.adbin, d.adrelid) ~ '\mnextval\M' OR EXISTS (
    SELECT 1 FROM pg_depend AS e JOIN pg_proc AS f ON f.oid = e.refobjid
    WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refclassid = 'pg_proc'::regclass AND f.provolatile = 'v'))

-- name: probe_nullable
ALTER TABLE pg_temp.tidegate_probe ALTER COLUMN {column} DROP DEFAULT, ALTER COLUMN {column} DROP NOT NULL

-- name: probe_without
ALTER TABLE pg_temp.tidegate_probe DROP COLUMN {column} CASCADE, ADD COLUMN {column} {type}

-- name: probe_indexes
-- Indexes of the probe that forbid nothing.
SELECT 'DROP INDEX ' || i.indexrelid::regclass FROM pg_index AS i
WHERE i.indrelid = 'pg_temp.tidegate_probe'::regclass AND NOT i.indisunique AND NOT i.indisexclusion

-- name: probe_without_constraint
ALTER TABLE pg_temp.tidegate_probe DROP CONSTRAINT IF EXISTS {name}

-- name: probe_without_index
DROP INDEX IF EXISTS pg_temp.{name}

-- name: probe_names
-- $1: the target. What is left bears the name of the target's own, so that the server's words name it.
SELECT DISTINCT ON (x.relname) 'ALTER INDEX ' || i.indexrelid::regclass || ' RENAME TO ' || quote_ident(x.relname)
FROM pg_index AS i JOIN pg_index AS t ON t.indrelid = to_regclass($1)
  AND regexp_replace(pg_get_indexdef(t.indexrelid), '^.*? USING ', '') = regexp_replace(pg_get_indexdef(i.indexrelid), '^.*? USING ', '')
JOIN pg_class AS x ON x.oid = t.indexrelid
WHERE i.indrelid = 'pg_temp.tidegate_probe'::regclass AND t.indisunique = i.indisunique AND t.indisexclusion = i.indisexclusion
ORDER BY x.relname, i.indexrelid

-- name: is_key
-- Is the index i the key's, {key}: whole, of plain columns?
(i.indpred IS NULL AND i.indexprs IS NULL AND ARRAY(
    SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
    ORDER BY a.attname::text COLLATE "C")
  = ARRAY(SELECT k FROM unnest(ARRAY[{key}]::text[]) AS k ORDER BY k COLLATE "C"))

-- name: no_key
false

-- name: probe_updates
INSERT INTO pg_temp.tidegate_probe ({columns}, tidegate_op, tidegate_change) OVERRIDING SYSTEM VALUE
SELECT {values}, c.op, c.ctid FROM {changes} AS c WHERE c.op IN ('U', 'M')

-- name: probe_inserts
INSERT INTO pg_temp.tidegate_probe ({columns}, tidegate_op, tidegate_change) OVERRIDING SYSTEM VALUE
SELECT {values}, c.op, c.ctid FROM {changes} AS c WHERE c.op = 'I'

-- name: next
{last} + {step} * row_number() OVER ()

-- name: tree
-- $1: the target. It and its partitions at every level: full name, partition constraint (NULL: none), is it the target,
-- does it hold rows itself, its own CHECKs that the target does not have, their names, its columns NOT NULL that are
-- not so in the target.
WITH tree AS (SELECT to_regclass($1)::oid AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass($1)))
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), pg_get_partition_constraintdef(c.oid), c.oid = to_regclass($1),
  c.relkind <> 'p',
  ARRAY(SELECT pg_get_expr(k.conbin, k.conrelid) FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'c'
    AND k.coninhcount = 0 ORDER BY k.oid),
  ARRAY(SELECT k.conname FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.coninhcount = 0 ORDER BY k.oid),
  ARRAY(SELECT a.attname FROM pg_attribute AS a JOIN pg_attribute AS t ON t.attrelid = to_regclass($1) AND t.attname = a.attname
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND NOT t.attnotnull ORDER BY a.attnum)
FROM tree JOIN pg_class AS c ON c.oid = tree.relid JOIN pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY c.oid <> to_regclass($1), c.oid

-- name: routing
-- $1: the target. The columns by which it and its partitions choose a partition, quoted; NULL when an expression does.
WITH tree AS (SELECT to_regclass($1)::oid AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass($1)))
SELECT CASE WHEN bool_or(p.partexprs IS NOT NULL) IS NOT TRUE THEN string_agg(DISTINCT quote_ident(a.attname), ', ') END
FROM tree JOIN pg_partitioned_table AS p ON p.partrelid = tree.relid
LEFT JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = ANY (p.partattrs)

-- name: unrouted
-- New rows ({rows}: what chooses a partition) that none of the partitions takes, and one of them.
SELECT count(*), min(r::text) FROM (SELECT {rows} FROM pg_temp.tidegate_probe) AS r WHERE NOT coalesce({any}, false)

-- name: breaks
-- New rows of a relation ({where}) for which {check} is false.
SELECT count(*) FROM pg_temp.tidegate_probe AS n WHERE {where} AND NOT ({check})

-- name: unique
-- $1: the target. What keeps rows apart, in it and in its partitions, and is not a partition's share of it: relation;
-- its name in messages; deferrable; NULL is like NULL; its predicate; the values, numbered, of a row; when two rows
-- meet; its columns; does an expression take part; is it the relation's own; is it the key's; is it an exclusion.
WITH tree AS (SELECT to_regclass($1)::oid AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass($1)))
SELECT quote_ident(n.nspname) || '.' || quote_ident(r.relname), x.relname, coalesce(c.condeferrable, false),
  coalesce(pg_get_expr(i.indpred, i.indrelid), 'true'), v.row, v.match, v.columns, i.indexprs IS NOT NULL,
  i.indrelid = to_regclass($1), {is_key}, coalesce(c.contype = 'x', false), pg_get_partition_constraintdef(i.indrelid)
FROM tree JOIN pg_index AS i ON i.indrelid = tree.relid
JOIN pg_class AS r ON r.oid = i.indrelid JOIN pg_namespace AS n ON n.oid = r.relnamespace
JOIN pg_class AS x ON x.oid = i.indexrelid
LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x')
CROSS JOIN LATERAL (
  SELECT string_agg(format('(%s)%s AS tidegate_%s', pg_get_indexdef(i.indexrelid, k, true),
      CASE WHEN l.oid IS NULL THEN '' ELSE format(' COLLATE %I.%I', ln.nspname, l.collname) END, k), ', ' ORDER BY k) AS row,
    string_agg(format(CASE WHEN to_jsonb(i) ->> 'indnullsnotdistinct' = 'true'
        THEN '(n.tidegate_%1$s OPERATOR(%2$I.%3$s) p.tidegate_%1$s OR n.tidegate_%1$s IS NULL AND p.tidegate_%1$s IS NULL)'
        ELSE 'n.tidegate_%1$s OPERATOR(%2$I.%3$s) p.tidegate_%1$s' END, k, opn.nspname, op.oprname), ' AND ' ORDER BY k) AS match,
    coalesce(array_agg(a.attname ORDER BY k) FILTER (WHERE a.attname IS NOT NULL), ARRAY[]::name[]) AS columns
  FROM generate_series(1, i.indnkeyatts) AS k
  JOIN pg_opclass AS oc ON oc.oid = i.indclass[k - 1]
  LEFT JOIN pg_amop AS m ON m.amopfamily = oc.opcfamily AND m.amopstrategy = 3 AND m.amoplefttype = oc.opcintype
    AND m.amoprighttype = oc.opcintype AND i.indisunique
  JOIN pg_operator AS op ON op.oid = coalesce(c.conexclop[k], m.amopopr)
  JOIN pg_namespace AS opn ON opn.oid = op.oprnamespace
  LEFT JOIN pg_collation AS l ON l.oid = i.indcollation[k - 1]
  LEFT JOIN pg_namespace AS ln ON ln.oid = l.collnamespace
  LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k - 1] AND i.indkey[k - 1] <> 0) AS v
WHERE (i.indisunique OR c.contype = 'x') AND i.indisready
  AND (i.indrelid = to_regclass($1) OR NOT EXISTS (SELECT 1 FROM pg_inherits AS h WHERE h.inhrelid = i.indexrelid))
ORDER BY i.indrelid <> to_regclass($1), i.indexrelid

-- name: meets
-- New rows ({of}) that meet rows of {relation}: rows that stay as they are; rows that give way only later.
SELECT count(*) FILTER (WHERE c.op IS NULL), count(*) FILTER (WHERE c.op IS NOT NULL)
FROM (SELECT {row}, tidegate_op, tidegate_change FROM pg_temp.tidegate_probe WHERE ({predicate}) AND {of}) AS n
JOIN (SELECT {row}, {key} FROM {relation} WHERE {predicate}) AS p ON {match}
LEFT JOIN {changes} AS c ON c.op <> 'I' AND {same}
WHERE c.op IS NULL OR {late}

-- name: late
-- Updates run one row after the other, and each is looked at by itself.
n.tidegate_op <> 'I' AND c.op <> 'D' AND c.ctid <> n.tidegate_change

-- name: never
false

-- name: meet_each_other
-- New rows ({of}) that meet each other.
WITH n AS (SELECT {row}, tidegate_change FROM pg_temp.tidegate_probe WHERE ({predicate}) AND {of})
SELECT count(*) FROM n JOIN n AS p ON {match} WHERE n.tidegate_change < p.tidegate_change

-- name: parents
-- $1: the target. Foreign keys of it and, their own, of its partitions: name; the parent as FROM names it; its name; is it
-- the target itself; deferrable; is the key there; does a parent, alias f, match; columns; those of another row than before
-- (alias c); partition constraint.
WITH tree AS (SELECT to_regclass($1)::oid AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass($1)))
SELECT k.conname, CASE WHEN f.relkind = 'p' THEN '' ELSE 'ONLY ' END || quote_ident(n.nspname) || '.' || quote_ident(f.relname),
  f.oid::regclass::text, k.confrelid = to_regclass($1), k.condeferrable, v.whole, v.match, v.columns,
  CASE WHEN k.conrelid = to_regclass($1) THEN NULL ELSE pg_get_partition_constraintdef(k.conrelid) END
FROM tree JOIN pg_constraint AS k ON k.conrelid = tree.relid AND k.contype = 'f'
JOIN pg_class AS f ON f.oid = k.confrelid JOIN pg_namespace AS n ON n.oid = f.relnamespace
CROSS JOIN LATERAL (
  SELECT string_agg(format('n.%I IS NOT NULL', a.attname), CASE k.confmatchtype WHEN 'f' THEN ' OR ' ELSE ' AND ' END) AS whole,
    string_agg(format('f.%I OPERATOR(%I.%s) n.%I', b.attname, opn.nspname, op.oprname, a.attname), ' AND ') AS match,
    array_agg(a.attname) AS columns
  FROM generate_subscripts(k.conkey, 1) AS i
  JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[i]
  JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[i]
  JOIN pg_operator AS op ON op.oid = k.conpfeqop[i] JOIN pg_namespace AS opn ON opn.oid = op.oprnamespace) AS v
WHERE NOT EXISTS (SELECT 1 FROM pg_constraint AS u WHERE u.oid = k.conparentid
  AND (u.conrelid = k.conrelid OR u.conrelid IN (SELECT relid FROM tree)))
ORDER BY k.conrelid <> to_regclass($1), k.oid

-- name: no_parent
-- New rows ({of}) whose foreign key is there ({whole}) and has no parent.
SELECT count(*) FROM pg_temp.tidegate_probe AS n
WHERE ({whole}) AND {of} AND NOT EXISTS (SELECT 1 FROM {parent} AS f WHERE {match})

-- name: no_parent_self
-- Its parent is a row of the target: one that stays, or a new one that is there in time.
SELECT count(*) FROM pg_temp.tidegate_probe AS n
WHERE ({whole}) AND {of} AND NOT EXISTS (
    SELECT 1 FROM pg_temp.tidegate_probe AS f WHERE {match} AND ({deferrable} OR n.tidegate_op = 'I' OR f.tidegate_op <> 'I'))
  AND NOT EXISTS (
    SELECT 1 FROM (SELECT p.* FROM {parent} AS p WHERE NOT EXISTS (SELECT 1 FROM {changes} AS c WHERE c.op <> 'I' AND {same})) AS f
    WHERE {match})

-- name: any_changed
-- Is a row inserted, or changes one of these columns in any ({columns})?
SELECT (SELECT count(*) FROM (SELECT 1 FROM {changes} AS c WHERE c.op = 'I' OR c.op <> 'D' AND ({columns}) LIMIT 1) AS one)

-- name: changed
-- The new row is inserted, or one of its columns changes ({columns}).
(n.tidegate_op = 'I' OR EXISTS (SELECT 1 FROM {changes} AS c WHERE c.ctid = n.tidegate_change AND ({columns})))

-- name: inserted
tidegate_op = 'I'

-- name: children
-- $1: the target. Foreign keys that point to it or, alone, to one of its partitions: the child as FROM names it; its
-- name; when a child row, alias k, points to a change's old row, alias c (a generated column's value is production's,
-- alias p); is one generated; the columns pointed to; the partition; is the child the target.
WITH tree AS (SELECT to_regclass($1)::oid AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass($1)))
SELECT CASE WHEN r.relkind = 'p' THEN '' ELSE 'ONLY ' END || quote_ident(n.nspname) || '.' || quote_ident(r.relname),
  r.oid::regclass::text, v.match, v.generated, v.columns,
  CASE WHEN k.confrelid = to_regclass($1) THEN NULL ELSE k.confrelid END, k.conrelid = to_regclass($1)
FROM tree JOIN pg_constraint AS k ON k.confrelid = tree.relid AND k.contype = 'f'
JOIN pg_class AS r ON r.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = r.relnamespace
CROSS JOIN LATERAL (
  SELECT string_agg(format('%s OPERATOR(%I.%s) k.%I',
      CASE WHEN b.attgenerated <> '' THEN format('p.%I', b.attname) ELSE format('c.%I', 'old_' || b.attname) END,
      opn.nspname, op.oprname, a.attname), ' AND ') AS match,
    bool_or(b.attgenerated <> '') AS generated, array_agg(b.attname) AS columns
  FROM generate_subscripts(k.conkey, 1) AS i
  JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[i]
  JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[i]
  JOIN pg_operator AS op ON op.oid = k.conpfeqop[i] JOIN pg_namespace AS opn ON opn.oid = op.oprnamespace) AS v
WHERE NOT EXISTS (SELECT 1 FROM pg_constraint AS u WHERE u.oid = k.conparentid
  AND u.confrelid IN (SELECT relid FROM tree))
ORDER BY k.oid

-- name: orphans
-- Child rows whose parent goes ({goes}); {itself}: but not those of the target that go with it.
SELECT count(*) FROM {child} AS k WHERE EXISTS (SELECT 1 FROM {gone} WHERE {goes} AND {match}){itself}

-- name: gone
{changes} AS c

-- name: gone_generated
{changes} AS c JOIN {target} AS p ON {same}

-- name: itself
 AND NOT EXISTS (SELECT 1 FROM {changes} AS c WHERE c.op = 'D' AND {same_child})

-- name: sample
-- $1: how many; $2: the seed. Rows drawn evenly over the dates, among those of a date by a hash of the key ({hash}); the
-- first of every kind of change always.
SELECT s.change FROM (
  SELECT h.change, row_number() OVER (ORDER BY h.date, h.hash, h.change) AS place, count(*) OVER () AS total,
    row_number() OVER (PARTITION BY h.op ORDER BY h.hash, h.change) AS of_kind
  FROM (SELECT c.ctid AS change, c.op, c.date,
      pg_catalog.hashint8extended({hash}, pg_catalog.hashtextextended($2, 0)) AS hash
    FROM {changes} AS c WHERE c.op <> 'D') AS h) AS s
WHERE s.of_kind = 1 OR (s.place * least($1::int8, s.total)) / s.total > ((s.place - 1) * least($1::int8, s.total)) / s.total
ORDER BY s.place

-- name: in_place
-- The rows of production's {range} that are not in the snapshot as they are, in the form of a change set.
(SELECT p.ctid, 'U' AS op, {date} AS date, {columns} FROM {target} AS p
WHERE {range} AND {hash} NOT IN (SELECT {kept} FROM {snapshot} AS s WHERE {kept_range}))

-- name: ask
-- $1: changes. For each its {date} and {key} as texts, and what the oracle says of the row, in which the key's values
-- stand for its parameters: {answers}. The line's end closes a comment that may stand at its end.
SELECT {date}, {key}, {answers} FROM {changes} AS tidegate_n
LEFT JOIN LATERAL (SELECT * FROM ({oracle}
) AS o LIMIT 1) AS tidegate_o ON true
WHERE tidegate_n.ctid = ANY ($1::tid[]) ORDER BY tidegate_n.date, tidegate_n.ctid
