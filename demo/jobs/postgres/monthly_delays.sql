-- On the first of every month, over all months. Tidegate knows from it what monthly_delays is made of.
INSERT INTO monthly_delays
SELECT date_trunc('month', flight_date), sum(flights), sum(cancelled),
       round(sum(avg_dep_delay * (flights - cancelled)) / nullif(sum(flights - cancelled), 0), 2)
FROM daily_delays
GROUP BY 1;
