-- Facts that the catalogue holds. $1 is the table's oid where nothing else is said. What is read does not depend on who
-- asks, but for the privileges in `relation`: two people's plans of one table have one digest.

-- name: tables
-- Tables and views that are somebody's own, as SQL spells them. $1: the schema of the ledger.
SELECT c.oid::regclass::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND n.nspname <> $1
  AND has_schema_privilege(n.oid, 'USAGE')
ORDER BY n.nspname <> current_schema(), n.nspname, c.relname

-- name: find
-- The relation that a person means. $1: its schema as SQL reads it, NULL: the search path's; $2: the same as written;
-- $3, $4: its name likewise; $5: the whole text, for a name that needs quotes and has none; $6: the schema of the
-- ledger. The reading of SQL wins. Its oid, how SQL spells it, and what tells its kind, as in `relation`; {more}: further
-- columns.
SELECT c.oid, c.oid::regclass::text AS name, c.relkind, c.relpersistence = 't' AS temporary,
  n.nspname ~ '^pg_(?!temp)' OR n.nspname IN ('information_schema', $6) AS system{more}
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT CASE
    WHEN c.relname = $3 AND ($1::text IS NULL AND pg_table_is_visible(c.oid) OR n.nspname = $1) THEN 1
    WHEN c.relname = $4 AND ($1::text IS NULL AND pg_table_is_visible(c.oid) OR n.nspname IN ($1, $2)) THEN 2
    WHEN c.relname = $3 AND n.nspname = $2 THEN 3
    WHEN c.relname = $5 AND pg_table_is_visible(c.oid) THEN 4 END AS rank) AS r
WHERE c.relname IN ($3, $4, $5) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND r.rank IS NOT NULL
ORDER BY r.rank
LIMIT 1

-- name: same_name
-- Where else there is a table of the name: $1 as SQL reads it, $2 as written, $3: the schema of the ledger.
SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid::regclass::text)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND lower(c.relname) IN ($1, lower($2)) AND n.nspname !~ '^pg_' AND n.nspname <> $3
  AND has_schema_privilege(n.oid, 'USAGE')

-- name: relation
-- The table as a whole. $2: the schema of the ledger. What begins with has_ says what there may be; the rest of the
-- statements here are asked for that alone: in a fresh session the planner takes longer for each than the server for its
-- rows. has_checks leaves out what domains check. What a database is made with has an oid below 10000.
SELECT c.oid::regclass::text AS name, c.relkind, c.relpersistence = 't' AS temporary,
  n.nspname ~ '^pg_(?!temp)' OR n.nspname IN ('information_schema', $2) AS system,
  row_security_active(c.oid) AS row_security,
  has_schema_privilege(n.oid, 'USAGE') AS may_enter,
  has_table_privilege(c.oid, 'SELECT') AS may_read,
  nullif(concat_ws(', ', CASE WHEN NOT has_table_privilege(c.oid, 'INSERT') THEN 'INSERT' END,
    CASE WHEN NOT has_table_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
    CASE WHEN NOT has_table_privilege(c.oid, 'DELETE') THEN 'DELETE' END), '') AS lacks,
  current_user AS role,
  a.identity IS TRUE OR EXISTS (SELECT FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.refobjsubid > 0 AND d.deptype = 'a'
    AND d.classid = 'pg_class'::regclass) AS autoincrement,
  c.relkind = 'p' OR c.relispartition OR c.relchecks > 0 OR a.generated IS TRUE
  OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid
    AND (i.indisexclusion OR i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)) AS has_checks,
  a.types IS TRUE AS has_types,
  c.relkind IN ('p', 'f') OR c.relhassubclass OR c.relhasrules AS has_obstacles, c.relhasrules AS has_rules,
  c.relkind = 'p' AS has_partitions, c.relkind = 'p' OR c.relhastriggers AS has_triggers,
  c.relkind = 'p' OR EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND c.oid IN (k.conrelid, k.confrelid)) AS has_keys,
  EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS has_policies,
  EXISTS (SELECT FROM pg_publication) AS has_publications
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT bool_or(a.attidentity <> '') AS identity, bool_or(a.attgenerated <> '') AS generated,
    bool_or(a.atttypid >= 10000) AS types
  FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS a
WHERE c.oid = $1

-- name: domains
-- Is there a column of a domain, or of an array of one?
SELECT EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem
  WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND (t.typtype = 'd' OR e.typtype = 'd'))

-- name: obstacles
-- What may stand in the way of correcting rows, where `relation` leaves room for it; NULL: nothing. names_alike: columns
-- that are one when a prefix of four letters takes the last of their 63 bytes.
SELECT (SELECT string_agg(i.inhrelid::regclass::text, ', ' ORDER BY i.inhrelid::regclass::text)
   FROM pg_inherits i WHERE i.inhparent = c.oid AND c.relkind = 'r') AS heirs,
  (SELECT string_agg(t.relid::text, ', ' ORDER BY t.relid::text)
   FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid WHERE p.relkind = 'f' AND c.relkind = 'p') AS far_partitions,
  (SELECT string_agg(w.rulename, ', ' ORDER BY w.rulename)
   FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type IN ('2', '3', '4') AND w.ev_enabled IN ('O', 'A')) AS rules,
  (SELECT string_agg(s.srvname, ', ') FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver
   WHERE f.ftrelid = c.oid) AS server,
  (SELECT min(names) FROM (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) AS names FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    GROUP BY ('old_' || a.attname)::name HAVING count(*) > 1) AS alike) AS names_alike
FROM pg_class c
WHERE c.oid = $1

-- name: publications
-- Publications that send updates or deletes of the table's rows on although the rows cannot be told apart on the other
-- side: PostgreSQL refuses such an UPDATE or DELETE. With the table, or the partition, that has no identity, and whether
-- a row filter reads columns outside of it.
WITH leaf AS (
  SELECT c.oid, c.relreplident FROM pg_partition_tree($1) t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf AND c.relkind = 'r'
  UNION SELECT c.oid, c.relreplident FROM pg_class c WHERE c.oid = $1 AND c.relkind = 'r'),
identity AS (
  SELECT l.oid, l.relreplident = 'f' AS whole,
    (SELECT array_agg(k.attnum) FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) AS k (attnum)
     WHERE i.indrelid = l.oid AND (l.relreplident = 'd' AND i.indisprimary OR l.relreplident = 'i' AND i.indisreplident)) AS columns
  FROM leaf l),
sent AS (
  SELECT i.oid, i.whole, i.columns, p.pubname, p.oid AS publication, a.relid AS member
  FROM identity i CROSS JOIN LATERAL (SELECT i.oid UNION SELECT relid FROM pg_partition_ancestors(i.oid)) AS a (relid)
  JOIN pg_class c ON c.oid = a.relid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_publication_tables t ON t.schemaname = n.nspname AND t.tablename = c.relname
  JOIN pg_publication p ON p.pubname = t.pubname AND (p.pubupdate OR p.pubdelete))
SELECT s.pubname, s.oid::regclass::text, bool_or(f.outside) IS TRUE
FROM sent s
LEFT JOIN LATERAL (SELECT true AS outside FROM pg_publication_rel r
  JOIN pg_depend d ON d.classid = 'pg_publication_rel'::regclass AND d.objid = r.oid AND d.refobjid = s.member AND d.refobjsubid > 0
  JOIN pg_attribute a ON a.attrelid = s.member AND a.attnum = d.refobjsubid
  WHERE r.prpubid = s.publication AND r.prrelid = s.member AND to_jsonb(r) ->> 'prqual' IS NOT NULL
    AND a.attname <> ALL (SELECT b.attname FROM pg_attribute b WHERE b.attrelid = s.oid AND b.attnum = ANY (s.columns))) AS f
  ON true
WHERE NOT s.whole AND (s.columns IS NULL OR f.outside)
GROUP BY s.pubname, s.oid
ORDER BY s.pubname, s.oid::regclass::text
LIMIT 1

-- name: columns
-- In order: name, type, whether NULL is refused (also by a domain, or the domain that it is made of), whether the database
-- makes it, whether it has a default, its place in the primary key. {domain}, {strict}, {defaulted}: the parts below, where
-- there are domains.
{domain}
SELECT a.attname, format_type(a.atttypid, a.atttypmod),
  a.attnotnull{strict},
  a.attgenerated <> '',
  a.attidentity <> '' OR a.atthasdef AND a.attgenerated = ''{defaulted},
  coalesce(array_position(k.conkey, a.attnum), 0)
FROM pg_attribute a LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'p'
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- name: columns_domain
WITH RECURSIVE domain (type, base, strict, defaulted) AS (
  SELECT t.oid, t.typbasetype, t.typnotnull, t.typdefault IS NOT NULL FROM pg_type t
  WHERE t.typtype = 'd' AND t.oid IN (SELECT atttypid FROM pg_attribute WHERE attrelid = $1)
  UNION ALL
  SELECT d.type, t.typbasetype, d.strict OR t.typnotnull, d.defaulted
  FROM domain d JOIN pg_type t ON t.oid = d.base AND t.typtype = 'd')

-- name: columns_strict
 OR EXISTS (SELECT FROM domain d WHERE d.type = a.atttypid AND d.strict)

-- name: columns_defaulted
 OR EXISTS (SELECT FROM domain d WHERE d.type = a.atttypid AND d.defaulted)

-- name: indexes
-- Those that are complete, their columns without what INCLUDE adds: name, unique, partial, expression, columns.
SELECT c.relname, i.indisunique, i.indpred IS NOT NULL, i.indexprs IS NOT NULL,
  ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE k.place <= i.indnkeyatts ORDER BY k.place)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = $1 AND i.indisvalid AND i.indisready AND i.indislive
ORDER BY c.relname

-- name: triggers
-- Those that a person made and that would fire, the partitions' own row triggers among them: name, on insert, update,
-- delete. PostgreSQL 13 and 14 mark the partitions' copies as internal: what is not the server's own tells the constraint.
SELECT t.tgname || CASE WHEN bool_or(t.tgrelid = $1) THEN '' ELSE ' on ' || min(t.tgrelid::regclass::text) END,
  bool_or(t.tgtype & 4 <> 0), bool_or(t.tgtype & 16 <> 0), bool_or(t.tgtype & 8 <> 0)
FROM pg_trigger t LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint
WHERE (t.tgconstraint = 0 OR k.contype = 't') AND t.tgenabled IN ('O', 'A') AND t.tgtype & 28 <> 0
  AND (t.tgrelid = $1 OR t.tgtype & 1 <> 0 AND t.tgrelid IN (SELECT relid FROM pg_partition_tree($1)))
GROUP BY t.tgname
ORDER BY t.tgname

-- name: foreign_keys
-- $2: 'incoming' or 'outgoing'. The partitions' own count too, their copies of the table's do not: child, parent, ON
-- DELETE, columns of the child, columns of the parent.
WITH tree AS (SELECT relid FROM pg_partition_tree($1) UNION SELECT $1::oid)
SELECT k.conrelid::regclass::text, k.confrelid::regclass::text,
  CASE k.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL'
    ELSE 'SET DEFAULT' END,
  ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (attnum, place)
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum ORDER BY u.place),
  ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (attnum, place)
    JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum ORDER BY u.place)
FROM pg_constraint k LEFT JOIN pg_constraint o ON o.oid = k.conparentid
CROSS JOIN LATERAL (SELECT CASE $2 WHEN 'incoming' THEN k.confrelid ELSE k.conrelid END,
  CASE $2 WHEN 'incoming' THEN o.confrelid ELSE o.conrelid END) AS side (relid, copied_from)
WHERE k.contype = 'f' AND side.relid IN (SELECT relid FROM tree)
  AND (side.copied_from IS NULL OR side.copied_from NOT IN (SELECT relid FROM tree))
ORDER BY 1, 2, k.conname

-- name: definition
-- Everything that makes the table what it is, a line a thing, in an order that does not depend on when it was made. Left
-- out are privileges (granting what a swap needs must not undo the plan) and which partitions there are (the daily job
-- adds some while a backfill runs): what a partition alone has is in it. {partitions}, {kind} and
-- {more}: those of the parts below of which the table has any.
WITH RECURSIVE tree (relid) AS (SELECT $1::oid{partitions}),
{kind}
line (part, text) AS (
  SELECT 1, format('%s %s %s owner %s', c.relkind, c.relpersistence, c.oid::regclass, pg_get_userbyid(c.relowner))
    || format(' of %s am %s options %s', c.reloftype::regtype, (SELECT amname FROM pg_am WHERE oid = c.relam), c.reloptions)
    || format(' security %s %s identity %s', c.relrowsecurity, c.relforcerowsecurity, c.relreplident)
    || format(' bound %s key %s', pg_get_expr(c.relpartbound, c.oid), CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END)
  FROM pg_class c WHERE c.oid = $1
  UNION ALL
  SELECT 2, format('parent %s', inhparent::regclass) FROM pg_inherits WHERE inhrelid = $1
  UNION ALL
  SELECT 3, format('column %s %I %s', lpad(a.attnum::text, 5), a.attname, format_type(a.atttypid, a.atttypmod))
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation::text ELSE '' END
    || format(' identity %s generated %s default %s', a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT 5, format('constraint %s %s %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
    || CASE WHEN k.convalidated THEN '' ELSE ' NOT VALID' END
  FROM pg_constraint k WHERE k.conrelid IN (SELECT relid FROM tree) AND k.contype NOT IN ('n', 't')
    AND (k.conrelid = $1 OR k.conparentid = 0 AND k.conislocal)
  UNION ALL
  SELECT 7, format('index %s valid %s', pg_get_indexdef(i.indexrelid), i.indisvalid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = $1 OR i.indrelid IN (SELECT relid FROM tree) AND NOT c.relispartition
{more})
SELECT string_agg(text, E'\n' ORDER BY part, text COLLATE "C") || E'\n' FROM line

-- name: definition_partitions
 UNION SELECT relid FROM pg_partition_tree($1)

-- name: definition_kind
kind AS (
  SELECT t.oid, t.typtype, t.typbasetype, t.typelem FROM pg_type t
  WHERE t.oid IN (SELECT atttypid FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped)
  UNION
  SELECT t.oid, t.typtype, t.typbasetype, t.typelem FROM kind k JOIN pg_type t ON t.oid IN (k.typbasetype, k.typelem)),

-- name: definition_types
  UNION ALL
  SELECT 4, format('type %s %s', t.oid::regtype, CASE t.typtype
      WHEN 'e' THEN (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)
      ELSE format('%s NOT NULL %s default %s', format_type(t.typbasetype, t.typtypmod), t.typnotnull, t.typdefault) END)
    || coalesce((SELECT string_agg(' ' || pg_get_constraintdef(k.oid), '' ORDER BY k.conname) FROM pg_constraint k WHERE k.contypid = t.oid), '')
  FROM kind k JOIN pg_type t ON t.oid = k.oid WHERE t.typtype IN ('d', 'e')

-- name: definition_children
  UNION ALL
  SELECT 6, format('child %s %s %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
  FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid IN (SELECT relid FROM tree) AND (k.confrelid = $1 OR k.conparentid = 0)

-- name: definition_triggers
  UNION ALL
  SELECT 8, format('trigger %s %s %s', t.tgrelid::regclass, t.tgenabled, pg_get_triggerdef(t.oid))
  FROM pg_trigger t LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint
  WHERE (t.tgconstraint = 0 OR k.contype = 't') AND t.tgrelid IN (SELECT relid FROM tree)
    AND (t.tgrelid = $1 OR t.tgparentid = 0 OR t.tgenabled <> (SELECT p.tgenabled FROM pg_trigger p WHERE p.oid = t.tgparentid))

-- name: definition_rules
  UNION ALL
  SELECT 9, format('rule %s %s', ev_enabled, pg_get_ruledef(oid)) FROM pg_rewrite WHERE ev_class = $1

-- name: definition_policies
  UNION ALL
  SELECT 10, format('policy %s %s %s to %s using %s check %s', p.polname, p.polcmd, p.polpermissive,
    (SELECT string_agg(CASE r WHEN 0 THEN 'public' ELSE pg_get_userbyid(r) END, ', ' ORDER BY r) FROM unnest(p.polroles) AS r),
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM pg_policy p WHERE p.polrelid = $1

-- name: definition_publications
  UNION ALL
  SELECT DISTINCT 11, format('publication %s', t.pubname)
  FROM pg_publication_tables t JOIN pg_class c ON c.relname = t.tablename
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = t.schemaname
  WHERE c.oid IN (SELECT relid FROM tree UNION SELECT relid FROM pg_partition_ancestors($1))

-- name: find_marker
-- With its oid and kind, what tells a table from another of its name: made anew it has another oid, and the marker in its
-- comment is ours.
, coalesce(obj_description(c.oid, 'pg_class'), '') AS marker

-- name: dependent_kinds
-- Which of the kinds below there may be at all: asked first, since in a fresh session planning for all of them takes
-- longer than everything else. What is part of others, or has parts, is not looked at more closely. What somebody made has
-- an oid from 16384 on. And the schema of the table itself.
WITH kin AS (SELECT EXISTS (SELECT FROM pg_inherits i WHERE $1 IN (i.inhparent, i.inhrelid)) AS has)
SELECT kin.has OR EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = $1
    AND d.classid = 'pg_rewrite'::regclass) AS readers,
  EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = 0 OR NOT t.tgisinternal) AS triggers,
  EXISTS (SELECT FROM pg_proc p WHERE p.oid >= 16384
    AND p.prolang NOT IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('internal', 'c'))) AS routines,
  EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND (kin.has OR k.confrelid = $1)) AS children,
  EXISTS (SELECT FROM pg_policy) AS policies, EXISTS (SELECT FROM pg_publication) AS publications,
  EXISTS (SELECT FROM pg_foreign_table) AS foreign_tables, n.nspname AS schema
FROM kin CROSS JOIN pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1

-- name: dependents
-- Everything in the catalogue that depends on the table: name, kind, what connects it, what it needs, whether a view reads
-- it by way of other views alone, and the schema of what is a view or table. A view of a partition, or of what the
-- table is a part of, reads the same rows. What is temporary is left out: it goes with its session, and Tidegate makes such
-- views itself, there and in the schema of the ledger, $2. {kinds}: the parts below of which `dependent_kinds` says that
-- there may be any, joined by UNION ALL.
WITH RECURSIVE below AS (
  SELECT $1::oid AS oid UNION SELECT i.inhrelid FROM below b JOIN pg_inherits i ON i.inhparent = b.oid),
above AS (
  SELECT $1::oid AS oid UNION SELECT i.inhparent FROM above b JOIN pg_inherits i ON i.inhrelid = b.oid),
base AS (SELECT oid FROM below UNION SELECT oid FROM above),
reads (reader, source) AS (
  SELECT w.ev_class, b.oid
  FROM base b JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = b.oid
    AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_rewrite w ON w.oid = d.objid AND w.ev_type = '1' AND w.ev_class <> b.oid
  JOIN pg_class c ON c.oid = w.ev_class AND c.relpersistence <> 't'
    AND c.relnamespace <> coalesce(to_regnamespace(quote_ident($2))::oid, 0)
  UNION
  SELECT w.ev_class, r.reader
  FROM reads r JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = r.reader
    AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_rewrite w ON w.oid = d.objid AND w.ev_type = '1' AND w.ev_class <> r.reader
  JOIN pg_class c ON c.oid = w.ev_class AND c.relpersistence <> 't'
    AND c.relnamespace <> coalesce(to_regnamespace(quote_ident($2))::oid, 0)),
source AS (SELECT oid FROM base UNION SELECT reader FROM reads),
-- The columns of a source that an object uses: by its class and oid.
used AS (
  SELECT d.classid, d.objid, d.refobjid AS source, string_agg(DISTINCT a.attname, ', ') AS columns
  FROM source s JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
  LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
  GROUP BY d.classid, d.objid, d.refobjid),
-- The same as words: "orders (amount, day)".
named AS (
  SELECT u.classid, u.objid, u.source, u.source::regclass::text || coalesce(' (' || u.columns || ')', '') AS words FROM used u),
mention AS (
  SELECT '(^|[^[:alnum:]_$])(' || string_agg(regexp_replace(c.relname, '([^[:alnum:]_])', '\\\1', 'g'), '|')
    || ')([^[:alnum:]_$]|$)' AS pattern
  FROM source s JOIN pg_class c ON c.oid = s.oid),
routine AS (
  SELECT p.oid, coalesce('reads ' || n.words, format('names %s (by text)', (regexp_match(p.prosrc, m.pattern, 'i'))[2])) AS via
  FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace
  JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c')
  CROSS JOIN mention m
  LEFT JOIN (SELECT objid, string_agg(words, ', ' ORDER BY words) AS words FROM named WHERE classid = 'pg_proc'::regclass
    GROUP BY objid) AS n ON n.objid = p.oid
  WHERE s.nspname !~ '^pg_' AND s.nspname NOT IN ('information_schema', $2) AND (n.words IS NOT NULL OR p.prosrc ~* m.pattern)),
child (oid, action, refuses, words, through) AS (
  SELECT k.conrelid, k.confdeltype, k.confdeltype IN ('a', 'r'), k.oid, NULL::oid
  FROM pg_constraint k LEFT JOIN pg_constraint o ON o.oid = k.conparentid
  WHERE k.contype = 'f' AND k.confrelid IN (SELECT oid FROM below)
    AND (o.oid IS NULL OR o.confrelid NOT IN (SELECT oid FROM below))
  UNION
  SELECT k.conrelid, k.confdeltype, k.confdeltype IN ('a', 'r'), k.oid, c.oid
  FROM child c JOIN pg_constraint k ON k.contype = 'f' AND k.confrelid = c.oid AND k.conparentid = 0
  WHERE c.action = 'c')
{kinds}
ORDER BY 2, 1, 3

-- name: dependents_readers
SELECT r.reader::regclass::text, CASE c.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END,
  CASE WHEN bool_or(r.source IN (SELECT oid FROM base))
    THEN 'reads ' || string_agg(n.words, ', ' ORDER BY n.words) FILTER (WHERE r.source IN (SELECT oid FROM base))
    ELSE format('reads %s through ', $1::oid::regclass) || string_agg(n.words, ', ' ORDER BY n.words) END,
  CASE c.relkind WHEN 'm' THEN 'refresh' ELSE 'follows' END, NOT bool_or(r.source IN (SELECT oid FROM base)),
  (SELECT nspname FROM pg_namespace WHERE oid = c.relnamespace)
FROM reads r JOIN pg_class c ON c.oid = r.reader
JOIN pg_rewrite w ON w.ev_class = r.reader AND w.ev_type = '1'
LEFT JOIN named n ON n.classid = 'pg_rewrite'::regclass AND n.objid = w.oid AND n.source = r.source
GROUP BY r.reader, c.relkind, c.relnamespace

-- name: dependents_rules
SELECT w.rulename, 'rule',
  CASE WHEN w.ev_class = $1 THEN 'fires' ELSE 'reads or writes ' || string_agg(DISTINCT n.words, ', ') END
  || format(' on %s of %s', CASE w.ev_type WHEN '2' THEN 'UPDATE' WHEN '3' THEN 'INSERT' ELSE 'DELETE' END, w.ev_class::regclass),
  'unknown', false, NULL
FROM pg_rewrite w JOIN named n ON n.classid = 'pg_rewrite'::regclass AND n.objid = w.oid
JOIN pg_class c ON c.oid = w.ev_class AND c.relpersistence <> 't'
WHERE w.ev_type <> '1' AND (w.ev_class = $1 OR n.source <> w.ev_class)
GROUP BY w.oid, w.rulename, w.ev_class, w.ev_type

-- name: dependents_triggers
SELECT t.tgname, 'trigger',
  CASE WHEN t.tgrelid IN (SELECT oid FROM below) THEN format('fires %s()', t.tgfoid::regproc)
    ELSE format('%s() %s,', t.tgfoid::regproc, f.via) END
  || format(' on %s of %s', concat_ws(' or ', CASE WHEN t.tgtype & 4 <> 0 THEN 'INSERT' END,
    CASE WHEN t.tgtype & 16 <> 0 THEN 'UPDATE' END, CASE WHEN t.tgtype & 8 <> 0 THEN 'DELETE' END,
    CASE WHEN t.tgtype & 32 <> 0 THEN 'TRUNCATE' END), t.tgrelid::regclass)
  || CASE t.tgenabled WHEN 'D' THEN ' (disabled)' WHEN 'R' THEN ' (replica only)' ELSE '' END, 'unknown',
  false, NULL
FROM pg_trigger t LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint LEFT JOIN routine f ON f.oid = t.tgfoid
WHERE (t.tgconstraint = 0 OR k.contype = 't') AND (t.tgrelid = $1 OR t.tgparentid = 0)
  AND (t.tgrelid = $1 OR t.tgtype & 1 <> 0 AND t.tgrelid IN (SELECT oid FROM below)
    OR f.oid IS NOT NULL AND t.tgrelid NOT IN (SELECT oid FROM below))

-- name: dependents_routines
SELECT r.oid::regprocedure::text, 'function', r.via, 'unknown', false, NULL FROM routine r

-- name: dependents_children
SELECT c.oid::regclass::text, 'foreign key', format('ON DELETE %s by %s',
    CASE k.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE'
      WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END,
    (SELECT string_agg(a.attname, ', ' ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY AS u (attnum, place)
     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum))
  || CASE k.confupdtype WHEN 'c' THEN ', ON UPDATE CASCADE' WHEN 'n' THEN ', ON UPDATE SET NULL'
    WHEN 'd' THEN ', ON UPDATE SET DEFAULT' ELSE '' END
  || CASE WHEN k.condeferrable THEN ', deferrable' ELSE '' END || coalesce(' through ' || c.through::regclass::text, ''),
  CASE WHEN c.refuses AND k.confupdtype IN ('a', 'r') THEN 'follows' ELSE 'unknown' END, false, NULL
FROM child c JOIN pg_constraint k ON k.oid = c.words

-- name: dependents_policies
SELECT p.polname, 'policy', format('reads %s for the rows of %s', n.words, p.polrelid::regclass), 'follows', false, NULL
FROM pg_policy p JOIN named n ON n.classid = 'pg_policy'::regclass AND n.objid = p.oid AND n.source <> p.polrelid

-- name: dependents_publications
SELECT DISTINCT t.pubname::text, 'publication', 'sends the changes on: cannot see beyond', 'unknown', false, NULL
FROM base b JOIN pg_class c ON c.oid = b.oid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_publication_tables t ON t.schemaname = n.nspname AND t.tablename = c.relname

-- name: dependents_foreign_tables
SELECT c.oid::regclass::text, 'foreign table', format('has its name on the server %s: cannot see beyond', s.srvname), 'unknown', false, m.nspname
FROM pg_foreign_table f JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_foreign_server s ON s.oid = f.ftserver
JOIN pg_namespace m ON m.oid = c.relnamespace
JOIN pg_class t ON t.oid = $1 JOIN pg_namespace n ON n.oid = t.relnamespace
CROSS JOIN LATERAL (SELECT max(option_value) FILTER (WHERE option_name = 'table_name') AS relation,
  max(option_value) FILTER (WHERE option_name = 'schema_name') AS schema FROM pg_options_to_table(f.ftoptions)) AS o
WHERE c.oid <> t.oid AND coalesce(o.relation, c.relname) = t.relname AND coalesce(o.schema, m.nspname) = n.nspname

-- name: view_reads
-- What the views and materialized views read: view, kind, the table or view read, and which of its columns, NULL where a
-- whole row is taken or none is named; the schemas of both. What is temporary is left out, and the schema of the ledger,
-- $1. A rule's tree is long: it is looked at once.
WITH rule AS MATERIALIZED (
  SELECT w.oid, w.ev_class, v.relkind, n.nspname, w.ev_action::text LIKE '%:varattno 0 %' AS whole
  FROM pg_rewrite w JOIN pg_class v ON v.oid = w.ev_class AND v.relpersistence <> 't' AND v.relkind IN ('v', 'm')
  JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', $1)
  WHERE w.ev_type = '1')
SELECT r.ev_class::regclass::text, CASE r.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, d.refobjid::regclass::text,
  CASE WHEN NOT r.whole THEN array_agg(DISTINCT a.attname) FILTER (WHERE a.attname IS NOT NULL) END,
  r.nspname, n.nspname
FROM rule r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
  AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
JOIN pg_class s ON s.oid = d.refobjid AND s.relkind IN ('r', 'p', 'v', 'm', 'f') JOIN pg_namespace n ON n.oid = s.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
GROUP BY r.oid, r.ev_class, r.relkind, r.whole, r.nspname, d.refobjid, n.nspname
ORDER BY 1, 3

-- name: grantee
-- $1: a role, $2: the oid of the target, $3: the schema of the ledger. The role quoted, whether it inherits what its groups
-- may, whether it may do everything; the database; the group that owns the ledger; the owner of the ledger's schema, NULL:
-- there is none; the target's schema, full name and owner; its and its partitions' triggers; the tables that its foreign
-- keys reach; the sequences of its columns.
WITH tree AS (SELECT relid FROM pg_partition_tree($2) UNION SELECT $2::oid),
reached AS (
  SELECT confrelid AS oid FROM pg_constraint WHERE contype = 'f' AND conrelid IN (SELECT relid FROM tree)
  UNION SELECT conrelid FROM pg_constraint WHERE contype = 'f' AND confrelid IN (SELECT relid FROM tree)),
numbers AS (
  SELECT d.objid AS oid FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
    AND d.refobjid = $2 AND d.refobjsubid > 0
  UNION
  SELECT d.refobjid FROM pg_attrdef e JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
    AND d.refclassid = 'pg_class'::regclass WHERE e.adrelid = $2)
SELECT quote_ident(r.rolname), r.rolinherit, r.rolsuper, quote_ident(current_database()), quote_ident($3 || '_ledger'),
  (SELECT quote_ident(pg_get_userbyid(nspowner)) FROM pg_namespace WHERE nspname = $3),
  quote_ident(n.nspname), format('%I.%I', n.nspname, c.relname), quote_ident(pg_get_userbyid(c.relowner)),
  EXISTS (SELECT FROM pg_trigger t LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint
    WHERE (t.tgconstraint = 0 OR k.contype = 't') AND t.tgrelid IN (SELECT relid FROM tree)),
  ARRAY(SELECT format('%I.%I', m.nspname, o.relname) FROM reached x JOIN pg_class o ON o.oid = x.oid
    JOIN pg_namespace m ON m.oid = o.relnamespace
    WHERE x.oid <> $2 AND NOT o.relispartition ORDER BY m.nspname, o.relname),
  ARRAY(SELECT DISTINCT quote_ident(m.nspname) FROM reached x JOIN pg_class o ON o.oid = x.oid
    JOIN pg_namespace m ON m.oid = o.relnamespace WHERE m.oid <> n.oid),
  ARRAY(SELECT format('%I.%I', m.nspname, o.relname) FROM numbers x JOIN pg_class o ON o.oid = x.oid AND o.relkind = 'S'
    JOIN pg_namespace m ON m.oid = o.relnamespace ORDER BY m.nspname, o.relname)
FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolname = $1 AND c.oid = $2

-- name: grant_group
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {group_text}) THEN CREATE ROLE {group} NOLOGIN; END IF;
END $$;

-- name: grant_schema
CREATE SCHEMA IF NOT EXISTS {ledger} AUTHORIZATION {group};

-- name: grant_owner
ALTER SCHEMA {ledger} OWNER TO {group};

-- name: grant_member
GRANT {group} TO {role}{inherit};

-- name: grant_tables
GRANT ALL ON ALL TABLES IN SCHEMA {ledger} TO {group};
GRANT ALL ON ALL SEQUENCES IN SCHEMA {ledger} TO {group};

-- name: grant_default
ALTER DEFAULT PRIVILEGES FOR ROLE {role} IN SCHEMA {ledger} GRANT ALL ON TABLES TO {group};
ALTER DEFAULT PRIVILEGES FOR ROLE {role} IN SCHEMA {ledger} GRANT ALL ON SEQUENCES TO {group};

-- name: grant_database
GRANT CONNECT, TEMPORARY ON DATABASE {database} TO {role};

-- name: grant_tablespace
GRANT CREATE ON TABLESPACE {tablespace} TO {role};

-- name: grant_enter
GRANT USAGE ON SCHEMA {schema} TO {role};

-- name: grant_read
GRANT SELECT ON {table} TO {role};

-- name: grant_read_sequence
GRANT SELECT ON SEQUENCE {table} TO {role};

-- name: grant_write
GRANT INSERT, UPDATE, DELETE ON {table} TO {role};

-- name: grant_number
GRANT USAGE, UPDATE ON SEQUENCE {table} TO {role};

-- name: grant_watch
GRANT pg_read_all_stats TO {role}{inherit};
