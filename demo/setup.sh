#!/bin/sh
# Makes the demo's database from the flights of 2013: demo/setup.sh DB. An older one of that name is replaced.
set -eu

[ $# -eq 1 ] || { echo "usage: demo/setup.sh DB" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
rm -f "$1" "$1-wal" "$1-shm"

# The unpacked rows come through standard input, so that no file is left over.
xz -dc "$here/flights.csv.xz" | sqlite3 -batch -bail -init /dev/null \
  -cmd 'PRAGMA journal_mode = wal' -cmd 'PRAGMA synchronous = off' \
  -cmd '.mode csv' -cmd '.import /dev/stdin raw' "$1" '' >/dev/null
{
  cat "$here/setup.sql" "$here/jobs/sqlite/monthly_delays.sql"
  echo 'COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode;'
} | sqlite3 -batch -bail -init /dev/null "$1" >/dev/null
