"""Threads that use the same objects at once: they start together, and none may wait for ever."""

from __future__ import annotations

import faulthandler
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

DEADLINE = 100  # seconds, for what takes a few at most

Work = Callable[[], Any]


def together(works: Iterable[Work], meanwhile: Iterable[Work] = ()) -> None:
    """Runs each work in a thread of its own, and `meanwhile` again and again until all are done.

    What one of them raises, this raises. Where one hangs, the failure tells where all threads are.
    """
    jobs = [(work, False) for work in works] + [(work, True) for work in meanwhile]
    start, done = threading.Barrier(len(jobs)), threading.Event()
    errors: list[BaseException] = []

    def run(work: Work, again: bool) -> None:
        try:
            start.wait(DEADLINE)
            work()
            while again and not done.is_set():
                work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    end = time.monotonic() + DEADLINE
    for thread, (_, again) in zip(threads, jobs, strict=True):
        if again:
            done.set()
        thread.join(max(end - time.monotonic(), 0))
    if any(thread.is_alive() for thread in threads):
        done.set()
        pytest.fail(f"threads hang\n{tracebacks()}")
    if errors:
        raise errors[0]


def tracebacks() -> str:
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        return file.read()


def promptly(work: Work) -> Any:
    """What a call returns or raises, in a thread of its own: it must not wait for ever."""
    results: list[Any] = []
    together([lambda: results.append(work())])
    return results[0]
