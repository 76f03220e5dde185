-- What the catalogue says. Names are compared as SQLite does: the case of ASCII letters does not matter.

-- name: tables
-- Tables and views that are somebody's own: not SQLite's, not a virtual table's inner ones, not Tidegate's.
SELECT name FROM main.sqlite_schema
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'tidegate\_%' ESCAPE '\'
  AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
ORDER BY name COLLATE NOCASE

-- name: table
-- One table or view: spelling, "table" or "view", how SQLite keeps it, WITHOUT ROWID, its SQL.
SELECT s.name, s.type, l.type, l.wr, s.sql
FROM main.sqlite_schema s LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name
WHERE s.type IN ('table', 'view') AND s.name = :name COLLATE NOCASE

-- name: columns
-- hidden: 1 hidden column of a virtual table, 2 and 3 generated.
SELECT name, type, "notnull", dflt_value IS NOT NULL, pk, hidden
FROM pragma_table_xinfo(:name, 'main') WHERE hidden <> 1 ORDER BY cid

-- name: indexes
-- One row an index column, in order; cid −2: an expression.
SELECT l.name, l."unique", l.partial, x.cid, x.name
FROM pragma_index_list(:name, 'main') l, pragma_index_xinfo(l.name, 'main') x
WHERE x.key ORDER BY l.name, x.seqno

-- name: primary_index
-- Does the primary key have an index of its own? Without one it is the rowid.
SELECT count(*) FROM pragma_index_list(:name, 'main') WHERE origin = 'pk'

-- name: foreign_keys
-- One row a column, of the foreign keys of :child, or of those that point to :parent (bind one of them). A parent column
-- that is not named is the one of the parent's primary key.
SELECT s.name, f.id,
  coalesce((SELECT p.name FROM main.sqlite_schema p WHERE p.type = 'table' AND p.name = f."table" COLLATE NOCASE),
    f."table"),
  f.on_delete, f."from",
  coalesce((SELECT p.name FROM pragma_table_xinfo(f."table", 'main') p
      WHERE CASE WHEN f."to" IS NULL THEN p.pk = f.seq + 1 ELSE p.name = f."to" COLLATE NOCASE END), f."to", '')
FROM main.sqlite_schema s, pragma_foreign_key_list(s.name, 'main') f
WHERE s.type = 'table' AND (s.name = :child COLLATE NOCASE OR f."table" = :parent COLLATE NOCASE)
ORDER BY s.name, f.id, f.seq

-- name: triggers
-- The triggers of :table, or all others when :others is 1: name, SQL, the table each is on.
SELECT name, sql, tbl_name FROM main.sqlite_schema
WHERE type = 'trigger' AND (tbl_name = :table COLLATE NOCASE) = (:others = 0) ORDER BY name

-- name: definition
-- Everything of the table, in an order that does not depend on when it was made.
SELECT sql FROM main.sqlite_schema WHERE tbl_name = :name COLLATE NOCASE AND sql IS NOT NULL
ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, name

-- name: views
SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY name

-- name: object
-- What a name stands for; a trigger may have the name of a table, which then comes first.
SELECT type, name, sql FROM main.sqlite_schema WHERE name = :name COLLATE NOCASE ORDER BY type = 'trigger'

-- name: view_rows
-- Prepared, never run: which tables does {view} read?
SELECT * FROM main.{view}

-- name: schema
-- Everything that a copy of the schema without rows is made of; views after tables.
SELECT sql FROM main.sqlite_schema
WHERE type IN ('table', 'view') AND sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY type, name

-- name: drop_table
-- In the copy alone, as the next.
DROP TABLE IF EXISTS {name}

-- name: drop_view
DROP VIEW IF EXISTS {name}

-- name: fire_insert
-- These three are prepared, never run: what do the triggers of {table} touch?
INSERT INTO main.{table} DEFAULT VALUES

-- name: fire_update
UPDATE main.{table} SET {assignments}

-- name: fire_delete
DELETE FROM main.{table}

-- name: row_before
-- What stands before a condition over one row when it is looked at.
SELECT 1 FROM (SELECT * FROM {rows}) WHERE (

-- name: total_before
-- The same for a total over many rows, and what stands after it.
SELECT (

-- name: total_after
) FROM (SELECT * FROM {rows})
