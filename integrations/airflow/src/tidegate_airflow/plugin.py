"""What Airflow finds by the entry point airflow.plugins."""

from airflow.plugins_manager import AirflowPlugin

from .gate import from_airflow
from .requests import Middleware


async def user_of(token):
    """Verified as Airflow verifies it. Raises when it is not valid."""
    from airflow.api_fastapi.app import get_auth_manager

    return (await get_auth_manager().get_user_from_token(token)).get_name()


class TidegatePlugin(AirflowPlugin):
    name = "tidegate"
    fastapi_root_middlewares = [{"name": "tidegate", "middleware": Middleware,
                                 "kwargs": {"gate": from_airflow(), "user_of": user_of}}]
