{{ config(materialized='ephemeral') }}
select flight_date, origin, carrier, count(*) as flights, count(*) - count(dep_delay) as cancelled,
       {% if var('wrong_from') %}case when flight_date between '{{ var('wrong_from') }}' and '{{ var('wrong_to') }}'
            then round(avg(coalesce(dep_delay, 0)), 2) else round(avg(dep_delay), 2) end{% else %}round(avg(dep_delay), 2){% endif %} as avg_dep_delay
from {{ ref('stg_flights') }}
group by 1, 2, 3
