-- Making a materialized view anew.

-- name: facts
-- $1: its name. Is it one, how SQL spells it, and can it be made anew while readers go on? That needs rows in it and a
-- unique index over all of them. By what this role would be let, where it is not: before 17 its owners alone were.
SELECT c.relkind = 'm', c.oid::regclass::text, c.relispopulated AND EXISTS (SELECT FROM pg_index AS x
  WHERE x.indrelid = c.oid AND x.indisunique AND x.indisvalid AND x.indimmediate AND x.indpred IS NULL AND x.indexprs IS NULL),
  CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN NULL
    WHEN current_setting('server_version_num')::int < 170000 THEN format('GRANT %I TO %I%s', pg_get_userbyid(c.relowner), current_user,
      CASE WHEN current_setting('server_version_num')::int >= 160000 THEN ' WITH INHERIT TRUE' END)
    WHEN NOT has_table_privilege(c.oid, 'MAINTAIN') THEN format('GRANT MAINTAIN ON %s TO %I', c.oid::regclass, current_user) END
FROM pg_class AS c WHERE c.oid = to_regclass($1)

-- name: refresh
REFRESH MATERIALIZED VIEW {concurrently}{view}
