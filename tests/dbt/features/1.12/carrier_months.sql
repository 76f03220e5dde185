{{ config(materialized='incremental', incremental_strategy='microbatch', unique_key=['month', 'carrier'],
          event_time='month', batch_size='month', begin='2013-02-01') }}
select date_trunc('month', flight_date)::date as month, carrier, sum(flights) as flights
from {{ ref('daily_delays') }}
group by 1, 2
