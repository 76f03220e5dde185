-- On the first of every month, over all months. Tidegate knows from it what monthly_delays is made of.
INSERT INTO monthly_delays
SELECT substr(flight_date, 1, 7), sum(flights), sum(cancelled),
       round(sum(avg_dep_delay * (flights - cancelled)) / sum(flights - cancelled), 2)
FROM daily_delays
GROUP BY 1;
