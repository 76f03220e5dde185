{{ config(materialized='view') }}
select flight_date, carrier, origin, dest, dep_delay, distance
from {{ source('raw', 'flights') }}
