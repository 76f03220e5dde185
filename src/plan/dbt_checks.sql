-- A test of dbt's as the condition of a check.

-- name: relationship
-- dbt's test of this name. {column}: must stand in {field} of {table}.
{column} IS NULL OR {column} IN (SELECT {field} FROM {table} WHERE {field} IS NOT NULL)
