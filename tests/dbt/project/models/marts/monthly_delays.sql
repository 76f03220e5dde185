{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['month', 'carrier']) }}
select date_trunc('month', d.flight_date)::date as month, d.carrier, c.name as carrier_name, sum(d.flights) as flights,
       round(sum(d.avg_dep_delay * (d.flights - d.cancelled)) / nullif(sum(d.flights - d.cancelled), 0), 2) as avg_dep_delay
from {{ ref('daily_delays') }} d
join {{ ref('carriers') }} c on c.carrier = d.carrier
{% if is_incremental() %}where d.flight_date >= (select max(month) from {{ this }}){% endif %}
group by 1, 2, 3
