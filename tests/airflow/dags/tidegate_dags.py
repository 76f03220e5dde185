"""The DAGs of the tests: what they are for stands in tests/airflow/*_test.py. Each reads as Airflow 2 and as Airflow 3."""
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pendulum

try:
    from airflow.sdk import DAG
    from airflow.providers.standard.operators.python import PythonOperator
except ImportError:
    from airflow import DAG
    from airflow.operators.python import PythonOperator

# A task of `gated` goes on while its gate's file is there: a test says how long a run lasts, without a clock.
GATES = Path(os.environ["AIRFLOW_HOME"]) / "gates"
BERLIN = pendulum.timezone("Europe/Berlin")
BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)


def quick():
    pass


def gated(name, **context):
    import time

    end = time.monotonic() + 600
    while (GATES / name).exists() and time.monotonic() < end:
        time.sleep(0.2)
    if (GATES / f"{name}.fails").exists():
        raise RuntimeError("the test wants it to fail")


def once_more(**context):
    """Fails the first time."""
    if context["ti"].try_number < 2:
        raise RuntimeError("the first try")


def dag(name, schedule, call, begin=BEGIN, tags=(), **options):
    with DAG(name, schedule=schedule, start_date=begin, catchup=False, max_active_runs=4, tags=list(tags)) as made:
        PythonOperator(task_id="load", python_callable=call, **options)
    return made


# Its schedule is in Berlin's time, whatever REST says of it.
berlin = dag("berlin", "0 2 * * *", quick, pendulum.datetime(2024, 1, 1, tz=BERLIN))
utc = dag("utc", "30 4 * * 1-5", quick)
# Fires every twenty seconds (croniter: seconds last): a history of real runs within two minutes.
often = dag("often", "* * * * * */20", quick)
flaky = dag("flaky", "* * * * * */30", once_more, retries=1, retry_delay=timedelta(seconds=2))
gate = dag("gated", "0 2 * * *", gated, op_kwargs={"name": "gated"})
retried = dag("retried", "0 2 * * *", gated, op_kwargs={"name": "retried"}, retries=1, retry_delay=timedelta(minutes=5))
by_hand = dag("by_hand", None, quick)
every = dag("every", timedelta(hours=6), quick)
# Behind the gate Airflow itself refuses its runs by hand.
scheduled_only = dag("scheduled_only", "0 2 * * *", quick, tags=["tidegate-scheduled-only"])
