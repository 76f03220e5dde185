{{ config(enabled=false, materialized='incremental', incremental_strategy='insert_overwrite', partition_by={'field': 'flight_date'}) }}
select flight_date, avg_dep_delay from {{ ref('daily_delays') }}
