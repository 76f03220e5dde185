{{ config(materialized='ephemeral') }}
select flight_date, origin, avg_dep_delay from {{ ref('rolling_week') }} where avg_dep_delay > 20
