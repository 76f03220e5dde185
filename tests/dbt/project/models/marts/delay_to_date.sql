{{ config(materialized='incremental', incremental_strategy='append') }}
-- From the first day on: every row rests on all days before it.
with days as (
  select flight_date, sum(delay_minutes) as delay_minutes from {{ ref('airport_days') }} group by flight_date
)
select flight_date, sum(delay_minutes) over (order by flight_date) as delay_minutes_to_date
from days
{% if is_incremental() %}where flight_date > (select max(flight_date) from {{ this }}){% endif %}
