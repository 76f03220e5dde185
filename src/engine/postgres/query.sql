-- What a query that a person wrote reads and calls.

-- name: before
-- Around a query: inside a subquery nothing can write.
SELECT * FROM (

-- name: after
) AS tidegate_query

-- name: look
-- The query as a view of this session, for what the catalogue then says that it depends on; always rolled back.
-- {query}: ends with a line's end.
CREATE TEMP VIEW tidegate_look AS SELECT count(*) AS rows FROM (
{query}) AS tidegate_query

-- name: uses
-- The rules of views and the functions that are used, as far as the catalogue knows: built-in ones and bodies written
-- as text it does not. {seed}: where it begins.
WITH RECURSIVE uses (classid, objid) AS (
  {seed}
  UNION
  SELECT n.classid, n.objid
    FROM uses u JOIN pg_catalog.pg_depend d ON d.classid = u.classid AND d.objid = u.objid
    CROSS JOIN LATERAL (
      SELECT 'pg_catalog.pg_rewrite'::regclass::oid, r.oid
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1'
       WHERE d.refclassid = 'pg_catalog.pg_class'::regclass AND c.oid = d.refobjid AND c.relkind = 'v'
      UNION ALL SELECT d.refclassid, d.refobjid WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass
      UNION ALL SELECT 'pg_catalog.pg_proc'::regclass::oid, o.oprcode::oid FROM pg_catalog.pg_operator o
       WHERE d.refclassid = 'pg_catalog.pg_operator'::regclass AND o.oid = d.refobjid) n (classid, objid))

-- name: seed_look
-- The view tidegate_look.
SELECT 'pg_catalog.pg_rewrite'::regclass::oid, r.oid FROM pg_catalog.pg_rewrite r
   WHERE r.ev_class = 'pg_temp.tidegate_look'::regclass

-- name: seed_names
-- The views among the names $1, as SQL spells them, and every function of a name of $2, of whatever schema.
(SELECT 'pg_catalog.pg_rewrite'::regclass::oid, r.oid
     FROM unnest($1::text[]) AS n (name) JOIN pg_catalog.pg_class c ON c.oid = to_regclass(n.name) AND c.relkind = 'v'
     JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1'
   UNION ALL
   SELECT 'pg_catalog.pg_proc'::regclass::oid, p.oid FROM pg_catalog.pg_proc p WHERE p.proname = ANY ($2::text[]))

-- name: relations
-- Name, columns that are read, the text when it is a view, and past which overlay under its name it is read: through a
-- view or function that is bound to it, or beside another table of the name. A whole row stands in a rule as column 0 of
-- an unknown table: then every column of the tables of that rule counts as read. Last, the same in each row: is any
-- function used that `functions` may have to tell of? {named}: further rows.
{uses}, found (oid, attnum, whole, past) AS (
  SELECT d.refobjid, d.refobjsubid, r.ev_action::text LIKE '%:varattno 0 %',
         CASE WHEN u.classid = 'pg_catalog.pg_proc'::regclass THEN 'through the function ' || u.objid::regproc
              WHEN r.ev_class IS DISTINCT FROM to_regclass('pg_temp.tidegate_look')::oid THEN 'through the view ' || r.ev_class::regclass END
    FROM uses u
    JOIN pg_catalog.pg_depend d ON d.classid = u.classid AND d.objid = u.objid
         AND d.refclassid = 'pg_catalog.pg_class'::regclass
    LEFT JOIN pg_catalog.pg_rewrite r ON r.oid = u.objid AND u.classid = 'pg_catalog.pg_rewrite'::regclass
  {named})
SELECT c.oid::regclass::text,
       ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND (bool_or(f.whole) OR a.attnum = ANY (array_agg(f.attnum)))
              ORDER BY a.attnum),
       CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_get_viewdef(c.oid) END,
       coalesce(min(f.past), (SELECT 'beside another table of its name, ' || min(o.oid::regclass::text)
                                FROM found f2 JOIN pg_catalog.pg_class o ON o.oid = f2.oid
                               WHERE o.relname = c.relname AND o.oid <> c.oid)),
       EXISTS (SELECT FROM uses u WHERE u.classid = 'pg_catalog.pg_proc'::regclass)
  FROM found f
  JOIN pg_catalog.pg_class c ON c.oid = f.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace AND s.nspname NOT IN ('pg_catalog', 'information_schema')
 WHERE c.oid IS DISTINCT FROM to_regclass('pg_temp.tidegate_look')::oid
 GROUP BY c.oid, c.relkind, c.relname
 ORDER BY 1

-- name: named_tables
-- The tables and views among the names $1: of which columns is not known, so of all.
UNION ALL SELECT to_regclass(n.name)::oid, 0, true, NULL FROM unnest($1::text[]) AS n (name)

-- name: functions
-- Functions that are called and not built in: name, volatile?, body hidden (in a language that can read tables, not
-- parsed by the catalogue, and not declared to read none)?
{uses}
SELECT p.oid::regproc::text, p.provolatile = 'v',
       p.provolatile <> 'i' AND l.lanname NOT IN ('c', 'internal') AND to_jsonb(p) ->> 'prosqlbody' IS NULL
  FROM uses u
  JOIN pg_catalog.pg_proc p ON p.oid = u.objid AND u.classid = 'pg_catalog.pg_proc'::regclass
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
 WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
 ORDER BY 1

-- name: volatile
-- Which of the names $1 are volatile functions that are built in or in the search path.
SELECT DISTINCT p.proname::text FROM pg_catalog.pg_proc p
 WHERE p.proname = ANY ($1::text[]) AND p.provolatile = 'v'
   AND (p.pronamespace = 'pg_catalog'::regnamespace OR pg_catalog.pg_function_is_visible(p.oid))
 ORDER BY 1

-- name: table_name
-- The table $1 as SQL spells it.
SELECT c.oid::regclass::text FROM pg_catalog.pg_class c WHERE c.oid = to_regclass($1::text)

-- name: row_before
-- Around a condition over one row when it is looked at. {rows}: a table or a query in parentheses.
SELECT 1 FROM (SELECT * FROM {rows} AS tidegate_source) AS tidegate_rows WHERE (

-- name: row_after
)

-- name: total_before
-- The same for a total over many rows.
SELECT (

-- name: total_after
) IS TRUE FROM (SELECT * FROM {rows} AS tidegate_source) AS tidegate_rows

-- name: total_alone
-- Over no rows at all.
) IS TRUE
