"""The peers that need more than an import: a bare C loop, redis-server, dict + SortedList."""

from __future__ import annotations

import ctypes
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from harness import rss
from sortedcontainers import SortedList

PIPELINE = 256


def compile_bare_loop() -> Callable[[np.ndarray, np.ndarray], None]:
    """`a[id] += 1` for each of some int64 ids on a dense float32 array, compiled with cc -O3."""
    source = Path(__file__).with_name("bare_loop.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "bare_loop.so"
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, source], check=True)
        function = ctypes.CDLL(str(library)).bare_loop
    function.restype = None
    function.argtypes = [
        np.ctypeslib.ndpointer(np.float32, flags="C"),
        np.ctypeslib.ndpointer(np.int64, flags="C"),
        ctypes.c_size_t,
    ]
    return lambda counts, ids: function(counts, ids, len(ids))


class DictAndSortedList:
    """A sorted set in pure Python: scores by member, and (score, member) in order."""

    def __init__(self, items: Iterable[tuple[int, float]] = ()) -> None:
        self.scores = dict(items)
        self.order = SortedList((score, member) for member, score in self.scores.items())

    def increment(self, member: int) -> None:
        score = self.scores.get(member)
        if score is None:
            score = 0.0
        else:
            self.order.remove((score, member))
        self.scores[member] = score + 1.0
        self.order.add((score + 1.0, member))

    def rank(self, member: int) -> int:
        place: int = self.order.bisect_left((self.scores[member], member))
        return place


class Redis:
    """A connection without a client library, so that the server is what is timed."""

    def __init__(self, path: str, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._socket = socket.socket(socket.AF_UNIX)
        self._connect(path)

    def _connect(self, path: str) -> None:
        for _ in range(500):
            try:
                return self._socket.connect(path)
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.01)
        raise TimeoutError("redis-server did not start")

    def send(self, pipelines: Iterable[tuple[bytes, int]], lines: int) -> None:
        """Send pipelines in turn; every command is answered by so many lines before the next."""
        for payload, commands in pipelines:
            self._socket.sendall(payload)
            left = lines * commands
            while left > 0:
                reply = self._socket.recv(1 << 16)
                if reply.startswith(b"-"):
                    raise RuntimeError(reply.decode())
                left -= reply.count(b"\n")

    def integer(self, command: bytes) -> int:
        """The integer that one command is answered by."""
        self._socket.sendall(command)
        reply = self._socket.recv(1 << 16)
        return int(reply.removeprefix(b":"))

    def clear(self) -> None:
        self.send([(b"FLUSHALL\r\n", 1)], 1)


@contextmanager
def redis_server() -> Iterator[Redis | None]:
    """A server of its own, in memory only, on a Unix socket; None where it is not installed."""
    if shutil.which("redis-server") is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        options = f"--port 0 --unixsocket {path} --save '' --appendonly no --loglevel warning"
        command = ["redis-server", *shlex.split(options)]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        try:
            yield Redis(path, process)
        finally:
            process.terminate()
            process.wait()


def pipelines(commands: Iterable[bytes]) -> list[tuple[bytes, int]]:
    """Commands joined by 256, and how many each has."""
    left = iter(commands)
    parts = iter(lambda: list(islice(left, PIPELINE)), [])
    return [(b"".join(part), len(part)) for part in parts]


def redis_growth(commands: Iterable[bytes]) -> int | None:
    """Resident bytes that a server gains by commands of one reply line each."""
    payload = pipelines(commands)
    with redis_server() as server:
        if server is None:
            return None
        server.clear()
        before = rss(server.pid)
        server.send(payload, 1)
        return rss(server.pid) - before
