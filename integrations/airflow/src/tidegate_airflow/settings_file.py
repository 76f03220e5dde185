"""The block at the end of airflow_local_settings.py: written, found and taken away again."""

import os
import re
import stat
import tempfile
from pathlib import Path

BEGIN = "# >>> tidegate-airflow >>>"
END = "# <<< tidegate-airflow <<<"
# Without the package the commands that start, clear or run something are refused, and production goes on: an import that
# fails here would stop the scheduler as well.
BLOCK = f'''{BEGIN}
# Written by `tidegate-airflow install`, taken away by `tidegate-airflow remove`.
def _tidegate():
    try:
        from tidegate_airflow.local import install
        return install(globals())
    except ImportError:
        import sys
        from airflow.utils.cli_action_loggers import register_pre_exec_callback

    def refuse(sub_command="", **_):
        of_airflow = sys.argv[1:2] in (["scheduler"], ["celery"]) or {{"--local", "--raw"}} & set(sys.argv)
        if sub_command in ("create_backfill", "dag_backfill", "dag_trigger", "dag_clear", "dag_test", "task_clear", "clear",
                           "task_run", "task_test", "asset_materialize") and not of_airflow:
            sys.exit("tidegate: the Python package tidegate-airflow cannot be imported, so this is not let through. Install "
                     "it, or take the gate away: the block tidegate-airflow in " + __file__)

    register_pre_exec_callback(refuse)
    globals().setdefault("__all__", [name for name in globals() if not name.startswith("_")])


_tidegate()
{END}
'''
FOUND = re.compile(rf"^\n?{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n", re.MULTILINE | re.DOTALL)


class Refused(Exception):
    """What a person is told."""


def text_of(path):
    """None: there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8, so it is left as it is. Add the block by hand:\n\n{BLOCK}") from None


def without_block(path, text):
    bare, times = FOUND.subn("", text)
    if times > 1 or BEGIN in bare or END in bare:
        raise Refused(f"the block tidegate-airflow in {path} is not as it was written, so the file is left as it is. "
                      f"Take away by hand what stands from {BEGIN!r} to {END!r}")
    return bare


def add(path):
    """False: it stands there already."""
    text = text_of(path)
    bare = without_block(path, text) if text is not None else ""
    wanted = joined(bare)
    if text == wanted:
        return False
    try:
        compile(wanted, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        raise Refused(f"{path} is no Python that can be read ({error}), so it is left as it is") from None
    if text is not None and text == bare:
        replace(path.with_name(path.name + ".before-tidegate"), text, like=path)
    replace(path, wanted, like=path)
    return True


def joined(bare):
    """An empty line before the block, and none if there is nothing before it; without_block takes exactly that away."""
    if not bare:
        return BLOCK
    if not bare.endswith("\n"):
        raise Refused("the last line of the file does not end. End it, so that it can be had back byte for byte")
    return bare + "\n" + BLOCK


def remove(path):
    """False: there was nothing to take away. A file that held nothing else goes, too."""
    text = text_of(path)
    bare = without_block(path, text) if text is not None else None
    if text == bare:
        return False
    if bare:
        replace(path, bare, like=path)
    else:
        path.unlink()
    kept = path.with_name(path.name + ".before-tidegate")
    if text_of(kept) == bare:
        kept.unlink()
    return True


def replace(path, text, like):
    """Whole or not at all; mode and owner are those of the file that was there."""
    path, like = Path(os.path.realpath(path)), Path(os.path.realpath(like))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tidegate-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        if like.exists():
            was = like.stat()
            os.chmod(name, stat.S_IMODE(was.st_mode))
            if os.geteuid() == 0:
                os.chown(name, was.st_uid, was.st_gid)
        else:
            os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
