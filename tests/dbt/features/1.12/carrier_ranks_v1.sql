{{ config(materialized='table') }}
select carrier, sum(flights) as flights from {{ ref('daily_delays') }} group by 1
