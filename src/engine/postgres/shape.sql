-- What is asked about a target, and read of it.

-- name: columns
-- $1: the table's name. No row: there is none. A row a column: name; its type; the type without a length where a value too long would be cut;
-- the collation to compare under (bytes, where its own calls different texts equal); the function that hashes it with a
-- seed, where SQL may call it; can it be compared, can it be hashed; GENERATED ALWAYS AS IDENTITY; has it a domain
-- for a type? In each row the same: the table's full name; is it partitioned; its schema and name as the catalogue has
-- them. {base}: t, the column's own type, or b with `down`, the type under all domains. 405 is the hash method's oid.
SELECT a.attname, format_type(a.atttypid, a.atttypmod),
  CASE WHEN {base}.oid IN ('bpchar'::regtype, 'bpchar[]'::regtype, 'varchar'::regtype, 'varchar[]'::regtype, 'bit'::regtype,
      'varbit'::regtype, 'bit[]'::regtype, 'varbit[]'::regtype)
    THEN CASE WHEN {base}.oid = 'bpchar'::regtype THEN 'bpchar' WHEN {base}.oid = 'bpchar[]'::regtype THEN 'bpchar[]'
      WHEN {base}.oid = 'bit'::regtype THEN 'varbit' WHEN {base}.oid = 'bit[]'::regtype THEN 'varbit[]'
      ELSE format_type({base}.oid, NULL) END
    ELSE format_type({base}.oid, CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END) END,
  CASE WHEN a.attcollation = 0 THEN NULL WHEN NOT l.collisdeterministic THEN 'pg_catalog."C"'
    ELSE l.collnamespace::regnamespace || '.' || quote_ident(l.collname) END,
  CASE WHEN p.proargtypes[0] = o.opcintype THEN p.pronamespace::regnamespace || '.' || quote_ident(p.proname) END,
  o.oid IS NOT NULL AND {base}.oid NOT IN ('json[]'::regtype, 'xml[]'::regtype, 'point[]'::regtype, 'tsquery'::regtype), p.oid IS NOT NULL,
  a.attidentity = 'a', t.typtype = 'd',
  quote_ident(tn.nspname) || '.' || quote_ident(tc.relname), tc.relkind = 'p', tn.nspname, tc.relname
FROM pg_class AS tc
JOIN pg_namespace AS tn ON tn.oid = tc.relnamespace
JOIN pg_attribute AS a ON a.attrelid = tc.oid
JOIN pg_type AS t ON t.oid = a.atttypid
{down}
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN LATERAL (
  SELECT o.oid, o.opcfamily, o.opcintype FROM pg_opclass AS o
  WHERE o.opcmethod = 405 AND o.opcdefault AND (o.opcintype = {base}.oid
    OR {base}.typtype = 'e' AND o.opcintype = 'anyenum'::regtype
    OR {base}.typtype = 'r' AND o.opcintype = 'anyrange'::regtype
    OR {base}.typcategory = 'A' AND {base}.typelem <> 0 AND o.opcintype = 'anyarray'::regtype
    OR EXISTS (SELECT 1 FROM pg_cast AS c WHERE c.castsource = {base}.oid AND c.casttarget = o.opcintype
      AND c.castmethod = 'b' AND c.castcontext = 'i'))
  ORDER BY o.opcintype = {base}.oid DESC, o.opcintype = 'text'::regtype DESC LIMIT 1) AS o ON true
LEFT JOIN pg_amproc AS r ON r.amprocfamily = o.opcfamily AND r.amproclefttype = o.opcintype AND r.amprocrighttype = o.opcintype
  AND r.amprocnum = 2
LEFT JOIN pg_proc AS p ON p.oid = r.amproc
WHERE tc.oid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

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
