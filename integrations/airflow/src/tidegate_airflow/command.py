"""Airflow's own command line (3 and 2): a callback that Airflow calls before each command, and that ends it when denied.
Only by sys.exit, because Airflow swallows every other exception."""

import os
import sys

# Names of Airflow's functions that only read, or have nothing to do with runs. What is not named here is judged.
HARMLESS = frozenset("""
    api_server asset_details asset_list check cleanup_pods connections_add connections_delete connections_import
    dag_dependencies_show dag_details dag_list_dag_runs dag_list_dags dag_list_import_errors dag_list_jobs
    dag_next_execution dag_pause dag_processor dag_report dag_reserialize dag_show dag_state dag_unpause downgrade
    drop_archived cleanup_tables export_archived flower generate_pod_yaml internal_api kerberos migratedb pool_delete
    pool_import pool_set rotate_fernet_key scheduler shell stop_worker task_failed_deps task_list task_render task_state
    task_states_for_dag_run team_create team_delete team_list team_sync triggerer variables_delete variables_import
    variables_set webserver worker""".split())


class Guard:
    """One a process; what it has let through may fork: Airflow 2 runs tasks so, and calls the callback again there."""

    def __init__(self, gate, queued=None):
        """queued: does Airflow itself run this task now (DAG, task, run or date)? None: not known."""
        self.gate, self.queued, self.passed = gate, queued, None

    def __call__(self, sub_command="", user="-", dag_id=None, task_id=None, **_):
        why = self.refusal(sub_command, user, dag_id, task_id)
        if why is not None:
            sys.exit(why)
        if self.passed is None:
            self.passed = list(sys.argv)

    def refusal(self, sub_command, user, dag_id, task_id):
        """The message, None when it may go on. Never raises."""
        if sub_command in HARMLESS:
            return None
        if self.passed == sys.argv and sub_command in ("task_run", "task_test"):
            return None
        if sub_command == "task_run" and self.queued is not None and self.queued(dag_id, task_id, sys.argv):
            return None
        verdict = self.gate.judge({"kind": "cli", "argv": command_line(), "user": str(user or "-")})
        return None if verdict.allowed else "tidegate: " + verdict.message


def command_line():
    """What was typed. python -m airflow is airflow, too; another program is what it is."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    program = "airflow" if name in ("airflow", "__main__.py", "-m") else name
    return [program, *sys.argv[1:]]
