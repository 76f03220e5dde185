{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['flight_date', 'origin', 'carrier'],
          event_time='flight_date') }}
-- One row a day, airport and airline.
select flight_date, origin, carrier, flights, cancelled, avg_dep_delay
from {{ ref('departures') }}
{% if is_incremental() %}where flight_date >= (select max(flight_date) from {{ this }}){% endif %}
