{{ config(materialized='materialized_view') }}
select origin, sum(flights) as flights, sum(delay_minutes) as delay_minutes
from {{ ref('airport_days') }}
group by origin
