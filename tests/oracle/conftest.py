"""A Redis server of the tests' own, on a Unix socket in a folder that goes with it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


@pytest.fixture(scope="session")
def server() -> Iterator[redis.Redis]:
    """A client that gives replies as they come over the wire."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not on PATH; .ci/prerequisites installs it")
    with tempfile.TemporaryDirectory(prefix="goblin-") as folder:
        socket = Path(folder, "redis.sock")
        options = ["--port", "0", "--unixsocket", socket, "--dir", folder]
        options += ["--save", "", "--appendonly", "no"]
        process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            with redis.Redis(
                unix_socket_path=str(socket),
                protocol=2,
                retry=Retry(ConstantBackoff(0.05), retries=200),
                retry_on_error=[redis.exceptions.ConnectionError],
            ) as client:
                client.response_callbacks.clear()
                client.execute_command("PING")
                yield client
        finally:
            process.terminate()
            process.wait()
