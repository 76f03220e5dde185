{{ config(materialized='incremental', incremental_strategy='microbatch', unique_key=['flight_date', 'carrier'],
          event_time='flight_date', batch_size='day', lookback=3, begin='2013-01-01') }}
select flight_date, carrier, sum(flights) as flights, sum(cancelled) as cancelled,
       sum(avg_dep_delay * (flights - cancelled)) as delay_minutes
from {{ ref('daily_delays') }}
group by flight_date, carrier
