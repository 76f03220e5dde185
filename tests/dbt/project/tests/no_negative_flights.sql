select * from {{ ref('airport_days') }} where flights < 0
