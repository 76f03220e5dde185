{% snapshot carrier_history %}
{{ config(target_schema='analytics', unique_key='carrier', strategy='check', check_cols=['avg_dep_delay']) }}
select carrier, flights, avg_dep_delay from {{ ref('carrier_totals') }}
{% endsnapshot %}
