#!/bin/sh
# Makes the demo's tables from the flights of 2013 in an empty PostgreSQL database: demo/setup_postgres.sh URL
set -eu

[ $# -eq 1 ] || { echo "usage: demo/setup_postgres.sh URL" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
xz -dc "$here/flights.csv.xz" | PGOPTIONS='-c client_min_messages=warning' psql -X -q -v ON_ERROR_STOP=1 -d "$1" \
  -c "CREATE TABLE flights (
    flight_date date NOT NULL,
    sched_dep time NOT NULL,
    carrier text NOT NULL,
    flight int NOT NULL,
    tailnum text,
    origin text NOT NULL,
    dest text NOT NULL,
    dep_delay int, -- NULL: cancelled
    arr_delay int,
    distance int NOT NULL)" \
  -c "\\copy flights FROM pstdin CSV HEADER" -f "$here/setup_postgres.sql" -o /dev/null
