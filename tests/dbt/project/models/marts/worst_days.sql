{{ config(materialized='view') }}
select flight_date, round(sum(avg_dep_delay * (flights - cancelled)) / nullif(sum(flights - cancelled), 0), 1) as avg_dep_delay
from {{ ref('daily_delays') }}
group by flight_date
