"""A Unix socket between the program and its server that counts what they exchange and disturbs one exchange.

An exchange is what the client sends up to a Query or Sync (or its greeting) and what the server says up to its
ReadyForQuery (https://www.postgresql.org/docs/current/protocol-message-formats.html). A request to cancel is no
exchange."""

import os
import select
import signal
import socket
import struct
import tempfile
import threading
import time
from pathlib import Path

CANCEL = 80877102  # the code of a CancelRequest
LONGEST_IDLE = 8  # seconds in which the server must have ended a transaction whose client is frozen; it is told 5
# What is done to the exchange: before the server has its message, or after it has answered and before the client hears.
CUT, KILL, ORPHAN, STOP, TERMINATE, CRASH = "cut", "kill", "orphan", "stop", "terminate", "crash"
CALL = "call"  # nothing; `meanwhile` is called
HANG_UP = "hang_up"  # the connection is cut after the client has heard, before it says anything more
FAULTS = [(CUT, "before"), (CUT, "after"), (KILL, "before"), (KILL, "after"), (ORPHAN, "before"), (TERMINATE, "before"),
          (TERMINATE, "after"), (CRASH, "before"), (CRASH, "after"), (STOP, "before"), (STOP, "after"), (HANG_UP, "after")]


class Proxy:
    """Listens in a folder of its own. `arm` says which exchange from now on is disturbed."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = Path(tempfile.mkdtemp(prefix="tidegate-proxy.", dir="/tmp"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self.listener.listen(16)
        self.lock, self.busy = threading.Lock(), threading.Lock()
        self.held = []
        self.arm()
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, database):
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def arm(self, at=0, what=None, when="before", meanwhile=None):
        """The exchange number `at` from now is disturbed; 0: none is, they are counted. `meanwhile` is called
        while the client is frozen."""
        for held in self.held:
            held.close()
        self.held, self.links = [], []
        self.hold = False  # the server is not told when a client is gone
        self.after_crash = None  # called when the server is up again, before anybody else gets to it
        self.at, self.what, self.when, self.meanwhile = at, what, when, meanwhile
        self.said, self.fired, self.trouble = [], False, []
        self.idle = False  # was no transaction open when the disturbance came?

    def cut_all(self):
        """Every client is cut off in whatever it is doing."""
        for link in self.links:
            try:
                link.client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already

    def settled(self):
        """Waits until a disturbance that has begun is over."""
        with self.busy:
            pass

    def close(self):
        self.arm()
        self.listener.close()
        (self.folder / ".s.PGSQL.5432").unlink()
        self.folder.rmdir()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        try:
            if self.after_crash is not None:
                self.settled()
            server.connect(f"{self.cluster.folder}/.s.PGSQL.5432")
            link = Link(self, client, server)
            self.links.append(link)
            link.run()
        except OSError:
            if self.hold:
                self.held.append(server)
        finally:
            client.close()
            if server not in self.held:
                server.close()


def exactly(stream, n):
    data = b""
    while len(data) < n:
        more = stream.recv(n - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


class Link:
    """One connection. The client waits for the answer to an exchange before it sends the next."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        self.client_pid = struct.unpack("3i", credentials)[0]
        self.server_pid, self.status = 0, b"I"
        self.answer = b""

    def run(self):
        head = exactly(self.client, 8)
        length, code = struct.unpack("!ii", head)
        greeting = head + exactly(self.client, length - 8)
        if code == CANCEL:
            self.server.sendall(greeting)
            self.server.recv(1)
            return
        self.exchange(greeting, "greeting")
        message, text = b"", ""
        while True:
            ready, _, _ = select.select([self.client, self.server], [], [])
            if self.server in ready and not self.from_server(self.client.sendall):
                return
            if self.client not in ready:
                continue
            head = exactly(self.client, 5)
            body = exactly(self.client, struct.unpack("!i", head[1:])[0] - 4)
            message += head + body
            if head[:1] == b"Q":
                text = body[:-1].decode()
            elif head[:1] == b"P":
                text = body.split(b"\0")[1].decode()
            if head[:1] == b"X":
                self.server.sendall(message)
                return
            if head[:1] in b"QS":
                self.exchange(message, text)
                message, text = b"", ""

    def from_server(self, hand_on):
        """Hands on what the server says now; False when it has hung up."""
        try:
            data = self.server.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            return False
        hand_on(data)
        self.answer += data
        while len(self.answer) >= 5:
            length = 1 + struct.unpack("!i", self.answer[1:5])[0]
            if len(self.answer) < length:
                break
            if self.answer[:1] == b"Z":
                self.status = self.answer[5:6]
                self.complete = True
            elif self.answer[:1] == b"K":
                self.server_pid = struct.unpack("!i", self.answer[5:9])[0]
            self.answer = self.answer[length:]
        return True

    def exchange(self, message, text):
        proxy = self.proxy
        with proxy.lock:
            proxy.said.append(text)
            hit = len(proxy.said) == proxy.at
            if hit:
                proxy.busy.acquire()
        try:
            if not hit:
                self.deliver(message, self.client.sendall)
                return
            proxy.fired, proxy.idle = True, self.status == b"I"
            if proxy.when == "before":
                self.disturb(message)
                self.deliver(message, self.client.sendall)
            else:
                kept = []
                self.deliver(message, kept.append)
                proxy.idle = self.status == b"I"
                if proxy.what == HANG_UP:
                    self.hang_up(b"".join(kept))
                self.disturb(message)
                self.client.sendall(b"".join(kept))
        finally:
            if hit:
                proxy.busy.release()

    def deliver(self, message, hand_on):
        self.complete = False
        self.server.sendall(message)
        while not self.complete:
            ready, _, _ = select.select([self.client, self.server], [], [])
            if self.server in ready and not self.from_server(hand_on):
                raise ConnectionError
            if self.client in ready and not self.client.recv(1, socket.MSG_PEEK):
                raise ConnectionError

    # ---- what is done to an exchange; ConnectionError ends the connection on both sides

    def disturb(self, message):
        getattr(self, self.proxy.what)(message)

    def cut(self, message):
        raise ConnectionError

    def hang_up(self, answer):
        os.kill(self.client_pid, signal.SIGSTOP)
        try:
            self.client.sendall(answer)
            self.client.close()
        finally:
            os.kill(self.client_pid, signal.SIGCONT)
        raise ConnectionError

    def kill(self, message):
        os.kill(self.client_pid, signal.SIGKILL)
        while self.client.recv(65536):
            pass
        raise ConnectionError

    def orphan(self, message):
        """As when the client's machine is gone: the server works on, and nobody tells it."""
        self.server.sendall(message)
        self.proxy.held.append(self.server)
        self.kill(message)

    def terminate(self, message):
        self.proxy.cluster.run(f"SELECT pg_terminate_backend({self.server_pid}, 5000)")

    def crash(self, message):
        self.proxy.cluster.crash()
        self.client.close()
        self.proxy.cluster.restart()
        if self.proxy.after_crash is not None:
            self.proxy.after_crash()
        raise ConnectionError

    def call(self, message):
        self.proxy.meanwhile()

    def stop(self, message):
        os.kill(self.client_pid, signal.SIGSTOP)
        try:
            if self.proxy.meanwhile is not None:
                self.proxy.meanwhile()
            if self.status != b"I":
                self.hung_up()
        except Exception as error:  # noqa: BLE001  told to the test
            self.proxy.trouble.append(f"while the client was frozen: {error}")
        finally:
            os.kill(self.client_pid, signal.SIGCONT)

    def hung_up(self):
        """Waits until the server has ended the connection; its last words go to the client."""
        end = time.monotonic() + LONGEST_IDLE
        while time.monotonic() < end:
            if select.select([self.server], [], [], 0.1)[0] and not self.from_server(self.client.sendall):
                return
        raise AssertionError(f"the server holds the open transaction of a frozen client for more than {LONGEST_IDLE} s")
