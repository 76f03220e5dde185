-- What is asked about a target, and read of it.

-- name: target
-- $1: the table's name. Its full name; is it partitioned? Schema and name as the catalogue has them; has it columns of
-- domains?
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind = 'p', n.nspname, c.relname,
  EXISTS (SELECT FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND t.typtype = 'd')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)

-- name: columns
-- $1: the table's name. A row a column: name; its type; the type without a length where a value too long would be cut;
-- the collation to compare under (bytes, where its own calls different texts equal); the function that hashes it with a
-- seed, where SQL may call it; can it be compared, can it be hashed; GENERATED ALWAYS AS IDENTITY? {base}: t, the column's
-- own type, or b with `down`, the type under all domains.
SELECT a.attname, format_type(a.atttypid, a.atttypmod),
  CASE WHEN {base}.oid IN ('bpchar'::regtype, 'bpchar[]'::regtype, 'varchar'::regtype, 'varchar[]'::regtype, 'bit'::regtype,
      'varbit'::regtype, 'bit[]'::regtype, 'varbit[]'::regtype)
    THEN CASE WHEN {base}.oid = 'bpchar'::regtype THEN 'bpchar' WHEN {base}.oid = 'bpchar[]'::regtype THEN 'bpchar[]'
      WHEN {base}.oid = 'bit'::regtype THEN 'varbit' WHEN {base}.oid = 'bit[]'::regtype THEN 'varbit[]'
      ELSE format_type({base}.oid, NULL) END
    ELSE format_type({base}.oid, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END) END,
  CASE WHEN a.attcollation = 0 THEN NULL WHEN NOT l.collisdeterministic THEN 'pg_catalog."C"'
    ELSE quote_ident(ln.nspname) || '.' || quote_ident(l.collname) END,
  CASE WHEN p.proargtypes[0] = o.opcintype THEN quote_ident(pn.nspname) || '.' || quote_ident(p.proname) END,
  o.oid IS NOT NULL AND {base}.oid NOT IN ('json[]'::regtype, 'xml[]'::regtype, 'point[]'::regtype, 'tsquery'::regtype), p.oid IS NOT NULL,
  a.attidentity = 'a'
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
{down}
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_namespace AS ln ON ln.oid = l.collnamespace
LEFT JOIN LATERAL (
  SELECT o.oid, o.opcfamily, o.opcintype FROM pg_opclass AS o JOIN pg_am AS m ON m.oid = o.opcmethod AND m.amname = 'hash'
  WHERE o.opcdefault AND (o.opcintype = {base}.oid
    OR {base}.typtype = 'e' AND o.opcintype = 'anyenum'::regtype
    OR {base}.typtype = 'r' AND o.opcintype = 'anyrange'::regtype
    OR {base}.typcategory = 'A' AND {base}.typelem <> 0 AND o.opcintype = 'anyarray'::regtype
    OR EXISTS (SELECT 1 FROM pg_cast AS c WHERE c.castsource = {base}.oid AND c.casttarget = o.opcintype
      AND c.castmethod = 'b' AND c.castcontext = 'i'))
  ORDER BY o.opcintype = {base}.oid DESC, o.opcintype = 'text'::regtype DESC LIMIT 1) AS o ON true
LEFT JOIN pg_amproc AS r ON r.amprocfamily = o.opcfamily AND r.amproclefttype = o.opcintype AND r.amprocrighttype = o.opcintype
  AND r.amprocnum = 2
LEFT JOIN pg_proc AS p ON p.oid = r.amproc
LEFT JOIN pg_namespace AS pn ON pn.oid = p.pronamespace
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- name: down
CROSS JOIN LATERAL (WITH RECURSIVE down (oid) AS (
    SELECT t.oid UNION ALL SELECT d.typbasetype FROM down JOIN pg_type AS d ON d.oid = down.oid WHERE d.typtype = 'd')
  SELECT d.* FROM down JOIN pg_type AS d ON d.oid = down.oid WHERE d.typtype <> 'd') AS b

-- name: given
-- The recompute's values as production would hold them. The line's end closes a comment that may stand at the end.
SELECT {columns} FROM (
{recompute}
) AS r

-- name: rows
-- {columns} of the rows of {table} for which {where}.
SELECT {columns} FROM {table} WHERE {where}

-- name: overlay_keyed
-- Production with the changes of dates before {before} applied: untouched rows, and the new side of those that do not go.
SELECT {columns} FROM {target} AS p
WHERE NOT EXISTS (SELECT 1 FROM {changes} AS o WHERE o.op <> 'I' AND o.date < {before} AND {match})
UNION ALL SELECT {new} FROM {changes} AS c WHERE c.op <> 'D' AND c.date < {before}

-- name: overlay_keyless
-- The same without a key: an old row goes as often as it stands in the change set.
SELECT {columns} FROM {target} AS p
WHERE NOT EXISTS (SELECT 1 FROM {changes} AS o WHERE o.op = 'D' AND o.date < {before} AND o.part = p.tableoid AND o.tid = p.ctid)
UNION ALL SELECT {new} FROM {changes} AS c WHERE c.op <> 'D' AND c.date < {before}
