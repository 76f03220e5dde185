{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['flight_date', 'origin', 'carrier']) }}
-- Reads an ephemeral model, which is no table of its own.
select d.flight_date, d.origin, d.carrier, d.avg_dep_delay
from {{ ref('daily_delays') }} d
join {{ ref('late_days') }} l on l.flight_date = d.flight_date and l.origin = d.origin
where d.avg_dep_delay > 30
{% if is_incremental() %}and d.flight_date >= (select max(flight_date) from {{ this }}){% endif %}
