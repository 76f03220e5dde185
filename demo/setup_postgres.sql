-- The demo's other tables, made from `flights`, which demo/setup_postgres.sh loads.
BEGIN;

CREATE INDEX flights_by_date ON flights (flight_date);

-- Production: right, except that in February cancelled flights were counted as zero minutes late.
CREATE TABLE daily_delays (
  flight_date date NOT NULL,
  origin text NOT NULL,
  carrier text NOT NULL,
  flights int NOT NULL,
  cancelled int NOT NULL,
  avg_dep_delay numeric(7, 2),
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
       round(sum(avg_dep_delay * (flights - cancelled)) / nullif(sum(flights - cancelled), 0), 1) AS avg_dep_delay
FROM daily_delays
GROUP BY flight_date
ORDER BY avg_dep_delay DESC;

CREATE TABLE monthly_delays (
  month date PRIMARY KEY,
  flights int NOT NULL,
  cancelled int NOT NULL,
  avg_dep_delay numeric(7, 2)
);
\ir jobs/postgres/monthly_delays.sql

COMMIT;
ANALYZE;
