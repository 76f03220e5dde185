-- The steps of a backfill wholly by hand, in words that sqlite3 and psql both know; the places of runbook.sql. {shadow}
-- holds the recomputed rows s; :from and :to are the range, set in the session, the end not included. {null_key}: some part
-- of the key is missing; {s_key}: the key's columns; {differs}: s and production's p differ; {plain}: the given columns, as
-- texts where a type has no equality.

-- name: look
SELECT count(*) AS rows_of_the_range, min({date}), max({date}) FROM {table} WHERE {date} >= :from AND {date} < :to;
SELECT {date}, count(*) FROM {table} WHERE {date} >= :from AND {date} < :to GROUP BY {date} ORDER BY {date} LIMIT 400;
SELECT count(*) AS rows_without_a_date FROM {table} WHERE {date} IS NULL;

-- name: duplicates
SELECT count(*) AS keys_twice FROM (SELECT 1 FROM {table} WHERE {date} >= :from AND {date} < :to GROUP BY {key} HAVING count(*) > 1) AS twice;

-- name: index
CREATE INDEX tidegate_hand_{role}_key ON {index_of} ({key});

-- name: batch
INSERT INTO {shadow} ({given}) SELECT {given} FROM (
{recompute}
) AS r;
SELECT count(*) AS rows_so_far FROM {shadow};

-- name: outside
SELECT count(*) AS outside_of_the_range FROM {shadow} WHERE ({date} >= :from AND {date} < :to) IS NOT TRUE;

-- name: shadow_faults
SELECT count(*) AS keys_twice FROM (SELECT 1 FROM {shadow} GROUP BY {key} HAVING count(*) > 1) AS twice;
SELECT count(*) AS keys_with_a_null FROM {shadow} WHERE {null_key};

-- name: row_check
SELECT count(*) AS rows_that_fail FROM {shadow} WHERE NOT ({check}
);

-- name: total_check
SELECT ({check}
) IS TRUE AS holds FROM {table} WHERE {date} >= :from AND {date} < :to;

-- name: differences
SELECT 'new' AS what, count(*) FROM {shadow} AS s WHERE NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {key_shadow} AND p.{date} >= :from AND p.{date} < :to)
UNION ALL SELECT 'changed', count(*) FROM {shadow} AS s JOIN {table} AS p ON {key_shadow} WHERE p.{date} >= :from AND p.{date} < :to AND ({differs})
UNION ALL SELECT 'gone', count(*) FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to AND NOT EXISTS (SELECT 1 FROM {shadow} AS s WHERE {key_shadow});

-- name: shadow_differences
(SELECT {plain} FROM (SELECT 1 AS side, {plain} FROM {shadow} UNION ALL SELECT -1, {plain} FROM {table} WHERE {date} >= :from AND {date} < :to) AS both_sides GROUP BY {given} HAVING sum(side) <> 0) AS apart

-- name: differences_keyless
SELECT 'different rows' AS what, count(*) FROM {shadow_differences};

-- name: control_end
DELETE FROM {shadow};

-- name: new_rows
INSERT INTO {changes} (op, {given_new}) SELECT 'I', {s_given}
FROM {shadow} AS s WHERE NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {key_shadow} AND p.{date} >= :from AND p.{date} < :to);

-- name: keyless_new
INSERT INTO {changes} (op, {given_new}) SELECT 'I', {s_given} FROM {shadow} AS s
WHERE s.{date} IN (SELECT {date} FROM {shadow_differences});

-- name: scope_column
SELECT {name} AS may_change, count(*) AS outside_of_its_scope FROM {changes} AS n WHERE n.op = 'U' AND {changed}
AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM {table} WHERE ({where}
)) AS p WHERE {key_old});

-- name: scope_rest
SELECT count(*) AS changes_of_other_columns FROM {changes} AS n WHERE n.op = 'U' AND ({changed});

-- name: scope_new
SELECT count(*) AS new_rows_that_may_not_be FROM {changes} AS n WHERE n.op = 'I'
AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM {shadow} WHERE ({where}
)) AS p WHERE {key_new});

-- name: scope_gone
SELECT count(*) AS gone_rows_that_may_not_be FROM {changes} AS n WHERE n.op = 'D'
AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM {table} WHERE ({where}
)) AS p WHERE {key_old});

-- name: again
CREATE TEMP TABLE tidegate_hand_again AS SELECT {given} FROM {shadow} WHERE false;
INSERT INTO tidegate_hand_again ({given}) SELECT {given} FROM (
{recompute}
) AS r;
SELECT count(*) AS rows_that_came FROM (SELECT {plain} FROM tidegate_hand_again EXCEPT SELECT {plain} FROM {shadow}) AS apart;
SELECT count(*) AS rows_that_went FROM (SELECT {plain} FROM {shadow} EXCEPT SELECT {plain} FROM tidegate_hand_again) AS apart;
DROP TABLE tidegate_hand_again;

-- name: empty
DELETE FROM {shadow};
DELETE FROM {changes};

-- name: drop
DROP TABLE {shadow};
DROP TABLE {changes};
DROP TABLE {log};

-- name: snapshot
CREATE TABLE {snapshot} AS SELECT {all} FROM {table} WHERE {date} >= :from AND {date} < :to;
SELECT count(*) AS rows_of_the_snapshot FROM {snapshot};

-- name: restore
DELETE FROM {table} AS p WHERE p.{date} >= :from AND p.{date} < :to AND NOT EXISTS (SELECT 1 FROM {snapshot} AS s WHERE {key_shadow});
UPDATE {table} AS p SET {set_stored} FROM {snapshot} AS s WHERE {key_shadow} AND ({differs_stored});
INSERT INTO {table} ({all}){overriding} SELECT {all} FROM {snapshot} AS s WHERE NOT EXISTS (SELECT 1 FROM {table} AS p WHERE {key_shadow});

-- name: restore_keyless
DELETE FROM {table} WHERE {date} >= :from AND {date} < :to;
INSERT INTO {table} ({all}){overriding} SELECT {all} FROM {snapshot};

-- name: drop_snapshot
DROP TABLE {snapshot};
