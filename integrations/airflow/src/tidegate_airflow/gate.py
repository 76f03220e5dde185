"""Asks the tidegate program. Whatever is not a plain "allow" is a denial: the program missing, late, crashed or unclear."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Optional

TIMEOUT = 5.0
# An answer is a few lines; more is none.
MAX_ANSWER = 1024 * 1024
CLOSED = "Tidegate could not judge this, so it is not let through: "


@dataclass(frozen=True)
class Verdict:
    allowed: bool
    message: str  # for a person, with the reasons; empty when allowed


@dataclass(frozen=True)
class Gate:
    """binary: name or path; folder: where tidegate.yaml lies, None for where the process is; timeout in seconds; fault: why
    nothing can be judged, None when it can."""

    binary: str = "tidegate"
    folder: Optional[str] = None
    timeout: float = TIMEOUT
    fault: Optional[str] = None

    def judge(self, question):
        """The verdict on a question of `tidegate hook run airflow`. Never raises, takes little longer than the timeout."""
        if self.fault is not None:
            return closed(self.fault)
        try:
            status, out, err = self._run(json.dumps(question).encode())
        except FileNotFoundError:
            return closed(f"{self.binary} is not there. Install it, or set binary in [tidegate] of airflow.cfg")
        except subprocess.TimeoutExpired:
            return closed(f"{self.binary} did not answer within {self.timeout:g} s")
        except (OSError, ValueError) as error:
            return closed(f"{self.binary} could not be run: {error}")
        if status != 0:
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            return closed(f"{self.binary} {how} and did not answer" + (f": {err}" if err else ""))
        return read_answer(self.binary, out)

    def _run(self, text):
        """Files, not pipes: a child of the program that holds a pipe open cannot keep this waiting."""
        path = shutil.which(self.binary)
        if path is None:
            raise FileNotFoundError(self.binary)
        if self.folder is not None and not os.path.isdir(self.folder):
            raise OSError(f"the folder {self.folder} in [tidegate] of airflow.cfg is not there")
        with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            question.write(text)
            question.seek(0)
            process = subprocess.Popen([os.path.abspath(path), "hook", "run", "airflow"], stdin=question, stdout=out,
                                       stderr=err, cwd=self.folder, start_new_session=True)
            try:
                status = process.wait(self.timeout)
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            out.seek(0)
            err.seek(0)
            return status, out.read(MAX_ANSWER + 1), err.read(1000).decode(errors="replace").strip()


def closed(why):
    return Verdict(False, CLOSED + why)


def read_answer(binary, out):
    try:
        if len(out) > MAX_ANSWER:
            raise ValueError("too long")
        answer = json.loads(out)
        decision, message = answer["decision"], answer.get("message") or ""
        reasons = answer.get("reasons") or []
        if decision not in ("allow", "ask", "deny") or not isinstance(message, str) or not isinstance(reasons, list):
            raise ValueError("unknown decision")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return closed(f"the answer of {binary} is not understood")
    if decision == "allow":
        return Verdict(True, "")
    lines = [message.strip()] if message.strip() else ["Denied by Tidegate."]
    texts = [reason.get("text") if isinstance(reason, dict) else reason for reason in reasons]
    lines += [f"- {text}" for text in texts if isinstance(text, str) and text not in message]
    if decision == "ask":
        lines.append("A person must decide this, and nobody can be asked from here: have `tidegate gate` judge the command in "
                     "a terminal.")
    return Verdict(False, "\n".join(lines))


def from_airflow():
    """The gate as [tidegate] of airflow.cfg has it, or AIRFLOW__TIDEGATE__…; called inside Airflow alone. Does not raise:
    Airflow leaves out a plugin that does, and the gate with it."""
    from airflow.configuration import conf

    try:
        given = {name: conf.get("tidegate", name, fallback=None) for name in ("binary", "folder", "timeout")}
        timeout = float(given["timeout"] or TIMEOUT)
        if not 0 < timeout <= 60:
            raise ValueError(f"timeout = {timeout:g} is not between 0 and 60 seconds")
        return Gate(given["binary"] or "tidegate", given["folder"] or None, timeout)
    except Exception as error:
        return Gate(fault=f"[tidegate] of airflow.cfg is not understood: {error}")
