{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='flight_date') }}
-- Reads nothing that the correction of the delays changes.
select flight_date, sum(flights) as flights, sum(cancelled) as cancelled
from {{ ref('daily_delays') }}
{% if is_incremental() %}where flight_date >= (select max(flight_date) from {{ this }}){% endif %}
group by flight_date
