"""What airflow_local_settings.py calls: the guard of the command line, and the policy of DAGs that ask for it."""

from .command import Guard
from .gate import from_airflow

# A DAG with this tag has only the runs that Airflow itself makes, whoever asks (Airflow 3.2 and later). It is the backstop
# behind the gate: it also holds for somebody who goes round it, and it stops runs by hand, but no clears.
TAG = "tidegate-scheduled-only"
RUN_TYPES = frozenset({"scheduled", "asset_triggered"})


def only_scheduled(dag):
    if TAG in (getattr(dag, "tags", None) or ()) and hasattr(dag, "allowed_run_types"):
        dag.allowed_run_types = RUN_TYPES


def queued(dag_id, task_id, argv):
    """Has Airflow 2 itself queued this task, so that `airflow tasks run` is its executor's and not a person's?"""
    if not {"--local", "-l", "--raw", "-r"} & set(argv):
        return False
    try:
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session

        with create_session() as session:
            found = session.query(TaskInstance).filter(
                TaskInstance.dag_id == dag_id, TaskInstance.task_id == task_id, TaskInstance.run_id.in_(argv),
                TaskInstance.state.in_(("queued", "running")), TaskInstance.queued_by_job_id.isnot(None))
            return session.query(found.exists()).scalar()
    except Exception:  # Not known: then it is judged like any other.
        return False


def install(settings):
    """Called at the end of airflow_local_settings.py with its globals(). Keeps a dag_policy that stands there, and keeps
    Airflow from taking over names that it did not take before."""
    from airflow.utils.cli_action_loggers import register_pre_exec_callback

    register_pre_exec_callback(Guard(from_airflow(), queued))
    before = settings.get("dag_policy")
    names = list(settings.get("__all__") or [name for name in settings if not name.startswith("_")])

    def dag_policy(dag):
        if before is not None:
            before(dag)
        only_scheduled(dag)

    settings["dag_policy"] = dag_policy
    settings["__all__"] = names + [name for name in ("dag_policy",) if name not in names]
