{{ config(materialized='incremental', incremental_strategy='merge', unique_key=['flight_date', 'origin']) }}
-- A day and the six before it.
with days as (
  select flight_date, origin, flights, cancelled, delay_minutes
  from {{ ref('airport_days') }}
  {% if is_incremental() %}where flight_date >= (select max(flight_date) - 6 from {{ this }}){% endif %}
)
select flight_date, origin, sum(flights) over week as flights,
       round(sum(delay_minutes) over week / nullif(sum(flights - cancelled) over week, 0), 2) as avg_dep_delay
from days
window week as (partition by origin order by flight_date rows between 6 preceding and current row)
