{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['flight_date', 'origin']) }}
select flight_date, origin, sum(flights) as flights, sum(cancelled) as cancelled,
       sum(avg_dep_delay * (flights - cancelled)) as delay_minutes
from {{ ref('daily_delays') }}
{% if is_incremental() %}where flight_date >= (select max(flight_date) from {{ this }}){% endif %}
group by flight_date, origin
