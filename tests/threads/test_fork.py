"""A process forks while threads are inside calls (B56): children finish, the parent goes on."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import goblin
from goblin import Boards, Hash, HashTable, SortedSet

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # forks of processes with threads
    pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning"),
]

KEYS = [f"f{n}" for n in range(3000)]
IDS = np.random.default_rng(1).integers(0, 100_000, 300_000)
NAMES = goblin._core.names(np.char.add("member ", (IDS[:60_000] % 3000).astype("U")), "str")

Call = Callable[[Any], Any]


def board_of(boards: Any) -> Any:
    return boards[0].increment(1) + boards.increment(0, 1) + len(boards.top(1))


def open_board(boards: Any) -> Any:
    boards.increment(-1, 1)
    boards.increment_many([-2], [1])
    return boards.memory()


def busy_sets() -> Iterator[tuple[str, Any, Call, list[Call]]]:
    """What to make busy: the object, the call it is inside of, and what a child does with it."""
    ints, names = SortedSet(range(1000), 1.0, member="int64"), SortedSet(KEYS, 1.0, member="str")
    of_set: list[Call] = [len, SortedSet.digest, lambda z: z.remove_by_rank(0, 1), SortedSet.copy]
    yield "set", ints, lambda z: z.increment_many(IDS), of_set
    yield "names", names, lambda z: z.increment_many(NAMES), of_set
    large = SortedSet(IDS, np.arange(len(IDS)))
    yield "order", large, lambda z: (z.by_rank[5], z.scale(-1)), of_set
    yield "copy", large.copy(), lambda z: z.copy(), of_set
    yield "held", large.copy(), lambda z: z.distinct_scores(), of_set
    fields = Hash(dict.fromkeys(KEYS, "v"))
    of_hash: list[Call] = [len, Hash.to_dict, Hash.popitem, lambda h: h.increment("n"), Hash.copy]
    yield "hash", fields, lambda h: h.set_many(KEYS, KEYS), of_hash
    records = {key: {"x": "1", "y": key} for key in KEYS}
    of_table: list[Call] = [
        len,
        HashTable.to_dict,
        lambda t: t["f1"].increment("x"),
        HashTable.copy,
    ]
    yield "table", HashTable(records), lambda t: t.update(records), of_table
    boards = Boards.from_arrays(IDS % 9, IDS)
    yield "boards", boards, lambda b: b.increment_many(IDS % 9, IDS), [board_of, open_board, len]


BUSY = {name: busy for name, *busy in busy_sets()}


@contextlib.contextmanager
def busy_with(target: Any, call: Call) -> Iterator[None]:
    stop, begun = threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            call(target)
            begun.set()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        assert begun.wait(60)
        yield
    finally:
        stop.set()
        worker.join(60)
    assert not worker.is_alive()


def use(target: Any, calls: list[Call]) -> None:
    """In the child: what was busy works or refuses at once, and all else works."""
    for call in calls:
        with contextlib.suppress(RuntimeError):
            call(target)
    z, h = SortedSet({"é": 1.0}), Hash({"a": "1"})
    assert z.increment("é") == 2.0
    assert h.increment("a") == 2
    counts = SortedSet.from_counts(IDS)  # a long call of the child's own
    assert counts.total() == len(IDS)
    assert counts.rank(int(IDS[0])) >= 0


def wait_for(child: int) -> int:
    """Its exit code; a child that hangs is ended, and -SIGKILL."""
    for _ in range(6000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("name", BUSY)
def test_children_finish(name: str, effort: int) -> None:
    target, call, calls = BUSY[name]
    with busy_with(target, call):
        for _ in range(6 * effort):
            child = os.fork()
            if child == 0:
                try:
                    use(target, calls)
                    os._exit(0)
                finally:
                    os._exit(1)
            assert wait_for(child) == 0
    use(target, calls)  # the parent goes on


@pytest.mark.parametrize("name", ["names", "table", "boards"])
def test_children_of_multiprocessing_finish(name: str) -> None:
    target, call, calls = BUSY[name]
    context = multiprocessing.get_context("fork")
    with busy_with(target, call):
        for _ in range(3):
            child = context.Process(target=use, args=(target, calls))
            child.start()
            child.join(60)
            assert child.exitcode == 0
            child.close()


def test_a_child_knows_nobody_who_waits() -> None:
    """Threads that wait for an object stay with the parent: a child does not let them go first."""
    z = SortedSet(IDS, 1.0)
    z.top(1)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            z.count(0, 1)

    readers = [threading.Thread(target=read, daemon=True) for _ in range(4)]
    with busy_with(z, lambda z: z.increment_many(IDS)):
        for reader in readers:
            reader.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    with contextlib.suppress(RuntimeError):
                        for _ in range(20_000):
                            z.get(5)
                    os._exit(0)
                finally:
                    os._exit(1)
            assert wait_for(child) == 0
        stop.set()
        for reader in readers:
            reader.join(60)


def test_a_signal_handler_forks_while_two_threads_check_what_is_loaded() -> None:
    saved = SortedSet(np.arange(3_000_000), np.arange(3_000_000) % 997)
    saved.rank(0)
    data, digest = saved.to_bytes(), saved.digest()
    parent, children = os.getpid(), []

    def fork(*_: object) -> None:
        children.append(os.fork())

    before = signal.signal(signal.SIGALRM, fork)
    try:
        for part in range(1, 8):
            signal.setitimer(signal.ITIMER_REAL, part * 0.005)
            loaded = SortedSet.from_bytes(data)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            if os.getpid() != parent:
                os._exit(loaded.digest() != digest)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert children
    assert [wait_for(child) for child in children] == [0] * len(children)
