-- Whether a job runs, by what a person's query says.

-- name: age_before
-- What stands before and behind a query of one column `at`: seconds since that time, NULL where there is none; and
-- whether it is a time. A number is seconds since 1970; a text is what SQLite's own functions read, in UTC.
WITH h (at) AS (

-- name: age_after
) SELECT (julianday('now') - CASE WHEN typeof(at) IN ('integer', 'real') THEN julianday(at, 'unixepoch')
                                 ELSE julianday(at) END) * 86400.0,
         at IS NULL OR CASE WHEN typeof(at) IN ('integer', 'real') THEN julianday(at, 'unixepoch')
                            ELSE julianday(at) END IS NOT NULL
    FROM h
