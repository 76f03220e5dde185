-- Publishing a range by replacing all of its rows: the new ones are written beside production, the old ones copied, and at
-- the swap the range is deleted and the new rows inserted. {target} is production, {replacement} holds the new rows,
-- {kept} the old ones.

-- name: why_not
-- $1: the target, $2: the columns of its key, sorted, as an array, $3: are its triggers left out? Why rows that are
-- deleted and inserted anew are not the same to others as rows that are updated; NULL: they are.
SELECT CASE
  WHEN c.relkind <> 'r' THEN 'it is not an ordinary table'
  WHEN EXISTS (SELECT FROM pg_inherits AS i WHERE c.oid IN (i.inhparent, i.inhrelid)) THEN 'it inherits, or is inherited from'
  WHEN EXISTS (SELECT FROM pg_constraint AS k WHERE k.contype = 'f' AND c.oid IN (k.conrelid, k.confrelid))
    THEN 'foreign keys lead from it or to it'
  WHEN EXISTS (SELECT FROM pg_trigger AS g WHERE NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgrelid = c.oid)
    AND NOT $3::bool THEN 'it has triggers, which would fire for every row'
  WHEN EXISTS (SELECT FROM pg_rewrite AS w WHERE w.ev_class = c.oid) THEN 'it has rules'
  WHEN EXISTS (SELECT FROM pg_publication WHERE puballtables) OR EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = c.oid){published}
    THEN 'it is published, and subscribers would get every row of the range'
  WHEN c.relreplident <> 'd' THEN 'it has a replica identity of its own, so somebody may follow every row'
  WHEN c.relrowsecurity THEN 'it has row security'
  WHEN EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attidentity <> '' AND NOT a.attisdropped)
    OR EXISTS (SELECT FROM pg_depend AS d JOIN pg_class AS q ON q.oid = d.objid AND q.relkind = 'S'
      WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
    OR EXISTS (SELECT FROM pg_attrdef AS e JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
      AND d.refclassid = 'pg_class'::regclass JOIN pg_class AS q ON q.oid = d.refobjid AND q.relkind = 'S'
      WHERE e.adrelid = c.oid) THEN 'a sequence numbers its rows'
  WHEN EXISTS (SELECT FROM pg_index AS x WHERE x.indrelid = c.oid AND (x.indisexclusion OR x.indisunique
    AND (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL OR $2::text[] IS DISTINCT FROM ARRAY(
      SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum = ANY (
        (x.indkey::int2[])[0:x.indnkeyatts - 1]) ORDER BY a.attname::text COLLATE "C"))))
    THEN 'its rows must be unique by more than its key'
END
FROM pg_class AS c WHERE c.oid = $1::regclass

-- name: published_schema
-- From version 15 on a whole schema may be published.
 OR EXISTS (SELECT FROM pg_publication_namespace AS s WHERE s.pnnspid = c.relnamespace)

-- name: create
CREATE TABLE {replacement} (LIKE {target} INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE{compression})
  WITH (autovacuum_enabled = off){tablespace}

-- name: moved
-- How many of the new rows have a key that stands on another date.
SELECT count(*) FROM {replacement} AS s JOIN {target} AS p ON {match}
WHERE {new_date} IS DISTINCT FROM {old_date} AND {new_instant} IS DISTINCT FROM {old_instant}

-- name: kept
SELECT count(*) FROM {kept}

-- name: forget
DELETE FROM {kept} WHERE {in_range}

-- name: keep
INSERT INTO {kept} ({stored}) SELECT {stored} FROM {target} WHERE {in_range}

-- name: delete
DELETE FROM {target} WHERE {in_range}

-- name: insert
INSERT INTO {target} ({given}) SELECT {given} FROM {replacement} WHERE {in_range}

-- name: changes
-- The change set as a table, for as long as it is put back.
CREATE TEMP TABLE tidegate_back ON COMMIT DROP AS SELECT op, date, part, tid, {columns} FROM {changes}

-- name: analyze
ANALYZE pg_temp.tidegate_back
