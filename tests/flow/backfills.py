"""The backfills that several tests begin with: what stands in the database, and the spec."""

NUMBERS = """
CREATE TABLE numbers(day TEXT NOT NULL, n INTEGER NOT NULL);
WITH RECURSIVE d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 39)
INSERT INTO numbers SELECT date('2024-01-01', '+' || i || ' days'), i FROM d;
CREATE TABLE doubles(day TEXT PRIMARY KEY, n INTEGER);
INSERT INTO doubles SELECT day, n FROM numbers;
"""
DOUBLES = """
target: doubles
range: 2024-01-10..2024-01-25
wrong: nothing was doubled
correct: n is twice the number
changes: n
recompute: SELECT day, 2 * n AS n FROM numbers WHERE day >= :from AND day < :to
"""
SALES = """
target: sales
range: 2024-01-10..2024-01-12
wrong: the rate was left out
correct: net is cents times rate
changes: net
checks: {rows: [net > 0]}
recompute: SELECT day, id, cents * rate AS net FROM orders WHERE day >= :from AND day < :to
"""
# Of the models in tests/dbt/project.
DELAYS = """
target: analytics.daily_delays
range: 2013-02-03..2013-02-24
wrong: cancelled flights were counted as zero delay
correct: the average covers departed flights only
changes: {avg_dep_delay: cancelled > 0}
control: 2013-01-25..2013-01-31
key: [flight_date, origin, carrier]
recompute: |
  SELECT flight_date, origin, carrier, count(*) AS flights, count(*) - count(dep_delay) AS cancelled, round(avg(dep_delay), 2) AS avg_dep_delay
  FROM flights WHERE flight_date >= :from AND flight_date < :to GROUP BY 1, 2, 3
"""
# What the project's manifest does not say of them.
OVERRIDES = """
    analytics.rolling_week: {window: 6}
    analytics.monthly_delays: {grain: month}
    analytics.delay_to_date: {cumulative: yes}
"""
