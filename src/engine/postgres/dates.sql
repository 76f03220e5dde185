-- Production's rows by date, and what a date column looks like.

-- name: by_value
-- Rows per value of the date column {column}, as text, and how many satisfy {where}; {in_range}: the range's bounds.
SELECT {column}::text, count(*), count(*) FILTER (WHERE ({where}
)) FROM {table} AS tidegate_rows WHERE {in_range} GROUP BY {column}

-- name: by_place
-- The same per place among the range's dates.
SELECT {place}, count(*), count(*) FILTER (WHERE ({where}
)) FROM {table} AS tidegate_rows WHERE {in_range} GROUP BY 1

-- name: count_null
SELECT count(*) FROM {table} WHERE {column} IS NULL

-- name: enforced
-- Does a unique index over no other columns than $2 (names) forbid duplicates among all rows of the table $1?
SELECT EXISTS (
  SELECT 1 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
   WHERE i.indrelid = to_regclass($1::text) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
     AND i.indexprs IS NULL AND NOT (c.relkind = 'r' AND c.relhassubclass)
     AND NOT EXISTS (SELECT 1 FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
                       JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                      WHERE k.place <= i.indnkeyatts AND a.attname <> ALL ($2::text[])))

-- name: duplicate_keys
-- Keys that several rows have; {where}: the key is whole.
SELECT count(*) FROM (
  SELECT 1 FROM {table} WHERE {in_range} AND {where} GROUP BY {key} HAVING count(*) > 1) AS twice

-- name: null_keys
-- Rows of which {where}: some part of the key is missing.
SELECT count(*) FROM {table} WHERE {in_range} AND ({where})

-- name: column
-- The column $2 of the table $1: its name as SQL spells it, the table's; type as declared; its kind: date, timestamp,
-- timestamptz, text, integer, or fraction (a number that may have one), NULL for all others; the
-- table's size in pages of 8 kB, all partitions together, −1 when its pages cannot be read one by one; is the column the first of an index over all rows?
SELECT quote_ident(a.attname), c.oid::regclass::text, format_type(a.atttypid, a.atttypmod),
       CASE b.base::text
         WHEN 'date' THEN 'date' WHEN 'timestamp without time zone' THEN 'timestamp'
         WHEN 'timestamp with time zone' THEN 'timestamptz'
         WHEN 'text' THEN 'text' WHEN 'character varying' THEN 'text' WHEN 'character' THEN 'text'
         WHEN 'integer' THEN 'integer' WHEN 'bigint' THEN 'integer'
         WHEN 'numeric' THEN 'fraction' WHEN 'real' THEN 'fraction' WHEN 'double precision' THEN 'fraction' END,
       CASE WHEN c.relkind = 'p'
            THEN (SELECT CASE WHEN bool_or(l.relkind = 'f') THEN -1 ELSE sum(pg_relation_size(l.oid)) END
                    FROM pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class l ON l.oid = t.relid)
            WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) ELSE -1 END / 8192,
       EXISTS (SELECT 1 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
                 JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'
                WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND i.indkey[0] = a.attnum
                  AND NOT (c.relkind = 'r' AND c.relhassubclass))
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = $2::text
 CROSS JOIN LATERAL (
   WITH RECURSIVE down (oid, typtype, base) AS (
     SELECT t.oid, t.typtype, t.typbasetype FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid
     UNION ALL
     SELECT t.oid, t.typtype, t.typbasetype FROM down JOIN pg_catalog.pg_type t ON t.oid = down.base
      WHERE down.typtype = 'd')
   SELECT d.oid::regtype AS base FROM down d WHERE d.typtype <> 'd') AS b
 WHERE c.oid = to_regclass($1::text)

-- name: count_all
SELECT count(*), count(*) - count({column}) FROM {table}

-- name: value_day
-- A value as the date codec reads it; a time stamp with a zone as UTC.
{column}::text

-- name: value_zoned
({column} AT TIME ZONE 'UTC')::text

-- name: value_text
left({column}::text, 100)

-- name: finite
-- Values that stand for no date and sort before or after all of them are left out.
{column} > '-infinity' AND {column} < 'infinity'

-- name: present
{column} IS NOT NULL

-- name: ends
-- The lowest and the highest; each a subquery of its own, answered by an index. The alias keeps the value's text from
-- being taken for what is sorted by.
SELECT (SELECT {value} AS v FROM {table} WHERE {present} ORDER BY {column} LIMIT 1),
       (SELECT {value} AS v FROM {table} WHERE {present} ORDER BY {column} DESC LIMIT 1)

-- name: sample_all
-- {limit} distinct values.
SELECT v FROM (SELECT DISTINCT {column} AS d, {value} AS v FROM {table} WHERE {present}) AS s ORDER BY d LIMIT {limit}

-- name: sample_first
-- The first rows that come.
SELECT DISTINCT v FROM (SELECT {value} AS v FROM {table} WHERE {present} LIMIT {limit}) AS s

-- name: sample_spread
-- Rows of {percent} per cent of the pages.
SELECT DISTINCT v FROM (
  SELECT {value} AS v FROM {table} TABLESAMPLE SYSTEM ({percent}) REPEATABLE (1) WHERE {present} LIMIT {rows}) AS s
LIMIT {limit}
