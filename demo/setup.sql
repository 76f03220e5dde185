-- The demo's tables, made from the table `raw` of texts that demo/setup.sh loads.
PRAGMA synchronous = off;
BEGIN;

CREATE TABLE flights (
  flight_date TEXT NOT NULL,
  sched_dep TEXT NOT NULL,
  carrier TEXT NOT NULL,
  flight INTEGER NOT NULL,
  tailnum TEXT,
  origin TEXT NOT NULL,
  dest TEXT NOT NULL,
  dep_delay INTEGER, -- NULL: cancelled
  arr_delay INTEGER,
  distance INTEGER NOT NULL
);
INSERT INTO flights
SELECT flight_date, sched_dep, carrier, flight, nullif(tailnum, ''), origin, dest, nullif(dep_delay, ''),
       nullif(arr_delay, ''), distance
FROM raw;
DROP TABLE raw;
CREATE INDEX flights_by_date ON flights (flight_date);

-- Production: right, except that in February cancelled flights were counted as zero minutes late.
CREATE TABLE daily_delays (
  flight_date TEXT NOT NULL,
  origin TEXT NOT NULL,
  carrier TEXT NOT NULL,
  flights INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  avg_dep_delay REAL,
  PRIMARY KEY (flight_date, origin, carrier)
);
INSERT INTO daily_delays
SELECT flight_date, origin, carrier, count(*), count(*) - count(dep_delay),
       CASE WHEN flight_date BETWEEN '2013-02-01' AND '2013-02-28' THEN round(avg(coalesce(dep_delay, 0)), 2)
            ELSE round(avg(dep_delay), 2) END
FROM flights
GROUP BY 1, 2, 3;

-- Downstream: a view, which follows by itself, and a table, which does not.
CREATE VIEW worst_days AS
SELECT flight_date, sum(flights) AS flights, sum(cancelled) AS cancelled,
       round(sum(avg_dep_delay * (flights - cancelled)) / sum(flights - cancelled), 1) AS avg_dep_delay
FROM daily_delays
GROUP BY flight_date
ORDER BY avg_dep_delay DESC;

CREATE TABLE monthly_delays (
  month TEXT PRIMARY KEY,
  flights INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  avg_dep_delay REAL
);
