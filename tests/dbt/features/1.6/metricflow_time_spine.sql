{{ config(materialized='table') }}
select d::date as date_day from generate_series('2013-01-01'::date, '2013-12-31'::date, '1 day') d
