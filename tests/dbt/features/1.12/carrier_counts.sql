{{ config(materialized='incremental') }}
-- Without a key nothing is found again: an ordinary run appends.
select flight_date, carrier, sum(flights) as flights from {{ ref('daily_delays') }}
{% if is_incremental() %}where flight_date >= (select max(flight_date) from {{ this }}){% endif %}
group by 1, 2
