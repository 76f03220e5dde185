{{ config(materialized='table') }}
select carrier, sum(flights) as flights,
       round(sum(avg_dep_delay * (flights - cancelled)) / nullif(sum(flights - cancelled), 0), 2) as avg_dep_delay
from {{ ref('daily_delays') }}
group by carrier
