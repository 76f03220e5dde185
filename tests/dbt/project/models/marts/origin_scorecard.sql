{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['flight_date', 'origin']) }}
-- Two ways lead here from daily_delays.
select d.flight_date, d.origin, round(d.delay_minutes / nullif(d.flights - d.cancelled, 0), 2) as avg_dep_delay,
       w.avg_dep_delay as week_avg_dep_delay
from {{ ref('airport_days') }} d
join {{ ref('rolling_week') }} w on w.flight_date = d.flight_date and w.origin = d.origin
{% if is_incremental() %}where d.flight_date >= (select max(flight_date) from {{ this }}){% endif %}
