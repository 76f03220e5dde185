"""REST, the page and airflowctl: a plain ASGI middleware. Reading costs two comparisons; what may start, clear or change
runs is judged by the program with the whole body, and is answered by 403 or goes on unchanged."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from .gate import closed

DENIED = 403
# Of a 403 Airflow's page shows a notice of its own alone where it clears, marks or deletes, of another status with a name the
# name; of one that HTTP leaves free it shows the reasons.
DENIED_PAGE = 470
# Airflow's own requests of this kind are some hundred bytes; one that names thousands of runs has some hundred KB.
MAX_BODY = 1024 * 1024
# Processes at a time; more requests wait, at most MAX_WAITS timeouts.
MAX_PROCESSES = 8
MAX_WAITS = 3

READS = ("GET", "HEAD", "OPTIONS")
# Of /api/… and /ui/…: whatever may name runs, tasks or the making of them. What a newer Airflow adds is asked about, too.
NAMED = re.compile(r"/(?:api|ui)/.*(?:run|task|backfill|clear|materiali|partition|trigger|mark)", re.IGNORECASE | re.DOTALL)
RUN = r"/api/v\d+/dags/[^/]+/dagRuns/[^/]+"
# … and what of it changes no data: lists by POST, trials, a backfill that is stopped, notes of tasks to one another.
HARMLESS = (
    ("POST", re.compile(r"/api/v\d+/dags/[^/]+/dagRuns/list")),
    ("POST", re.compile(RUN + r"/taskInstances/list")),
    ("POST", re.compile(r"/api/v\d+/dags/~/taskInstances/list")),
    ("POST", re.compile(r"/api/v\d+/backfills/dry_run")),
    ("PUT", re.compile(r"/api/v\d+/backfills/[^/]+/(?:pause|cancel)")),
    ("PATCH", re.compile(RUN + r"/(?:taskInstances|taskGroupInstances)/[^/]+(?:/[^/]+)?/dry_run")),
    ("POST PUT PATCH DELETE", re.compile(RUN + r"/taskInstances/[^/]+(?:/-?\d+)?/(?:xcomEntries|state-store)(?:/.*)?", re.DOTALL)),
    ("PATCH", re.compile(RUN + r"/taskInstances/[^/]+/-?\d+/hitlDetails")),
)


def may_rewrite(method, path):
    """Is the program to be asked? path: decoded, below where Airflow is mounted, without the query."""
    if method in READS or not NAMED.search(path):
        return False
    path = path.rstrip("/")
    return not any(method in methods.split() and known.fullmatch(path) for methods, known in HARMLESS)


def own_path(scope):
    """The path below [api] base_url."""
    path, root = scope.get("path", ""), (scope.get("root_path") or "").rstrip("/")
    return path[len(root):] if root and path.startswith(root + "/") else path


def readable(body):
    """The body as Airflow will read it, in one spelling: of a key that stands there twice the last one counts, and any
    encoding that JSON may have is UTF-8."""
    try:
        return json.dumps(json.loads(body)) if body else ""
    except (ValueError, RecursionError):
        return body.decode("utf-8", errors="replace")


def token_of(scope):
    """Airflow's token, from where Airflow takes it; None: there is none."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
    kind, _, token = headers.get(b"authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get(b"cookie", "")).get("_token")
    except CookieError:
        return None
    return cookie.value if cookie else None


async def take_body(receive, limit):
    """The whole body; None when it is longer. Raises ConnectionError when the client is gone."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        more = message.get("more_body", False)
    return bytes(body)


def replayed(body, receive):
    """A receive that gives the body once, and then whatever comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again():
        return waiting.pop() if waiting else await receive()

    return again


def is_page(scope):
    """Does a browser ask? No other client says where its page comes from."""
    return any(name.lower() == b"sec-fetch-site" for name, _ in scope.get("headers", ()))


async def deny(scope, send, message):
    body = json.dumps({"detail": message}).encode()
    await send({"type": "http.response.start", "status": DENIED_PAGE if is_page(scope) else DENIED,
                "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


class Middleware:
    """gate: a Gate. user_of: a coroutine function from Airflow's token to the name of its user, who is only recorded."""

    def __init__(self, app, gate, user_of=None):
        self.app, self.gate, self.user_of = app, gate, user_of
        self.threads = ThreadPoolExecutor(MAX_PROCESSES, thread_name_prefix="tidegate")

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or not may_rewrite(scope["method"], own_path(scope)):
            return await self.app(scope, receive, send)
        try:
            body = await take_body(receive, MAX_BODY)
        except ConnectionError:
            return None
        verdict = await self.judge(scope, body) if body is not None else closed(
            f"the request is longer than {MAX_BODY // 1024} KiB. Ask for fewer runs at a time")
        if not verdict.allowed:
            return await deny(scope, send, verdict.message)
        return await self.app(scope, replayed(body, receive), send)

    async def judge(self, scope, body):
        question = {"kind": "request", "method": scope["method"], "path": quote(own_path(scope), safe="/~:+@"),
                    "query": scope.get("query_string", b"").decode("latin-1"), "body": readable(body),
                    "user": await self.user(scope)}
        work = asyncio.get_running_loop().run_in_executor(self.threads, self.gate.judge, question)
        try:
            return await asyncio.wait_for(work, self.gate.timeout * MAX_WAITS)
        except asyncio.TimeoutError:
            return closed("too many requests are being judged. Try again")

    async def user(self, scope):
        token = token_of(scope)
        if token is None or self.user_of is None:
            return "-"
        try:
            return str(await self.user_of(token)) or "-"
        except Exception:  # A token that is not valid: Airflow itself will say so.
            return "-"
