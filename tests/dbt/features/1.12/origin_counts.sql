{{ config(materialized='incremental', unique_key=['flight_date', 'origin'], full_refresh=false) }}
-- Whatever dbt is told, it never makes this anew.
select flight_date, origin, sum(flights) as flights from {{ ref('daily_delays') }}
{% if is_incremental() %}where flight_date >= (select max(flight_date) from {{ this }}){% endif %}
group by 1, 2
