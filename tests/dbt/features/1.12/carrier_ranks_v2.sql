{{ config(materialized='table', alias='carrier ranks') }}
select carrier, sum(flights) as flights, sum(cancelled) as cancelled from {{ ref('daily_delays') }} group by 1
