"""Nobody waits for ever behind a thread that makes one long call after the other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crowd import together

from goblin import Hash, HashTable, SortedSet

CALLS = 3000
IDS = np.arange(20_000)
KEYS = [f"f{n}" for n in range(5000)]


def of_set() -> tuple[Callable[[], Any], Callable[[], Any]]:
    z = SortedSet(IDS, 1.0)
    return lambda: z.increment_many(IDS), lambda: z[5]


def of_hash() -> tuple[Callable[[], Any], Callable[[], Any]]:
    h = Hash(dict.fromkeys(KEYS, 1), value="int64")
    return h.optimize, lambda: h["f5"]


def of_table() -> tuple[Callable[[], Any], Callable[[], Any]]:
    table: HashTable[str, str, int] = HashTable({key: {"x": 1} for key in KEYS}, value="int64")
    return table.optimize, lambda: table["f5"]


@pytest.mark.parametrize("make", [of_set, of_hash, of_table])
def test_a_reader_gets_its_turn(make: Callable[[], Any]) -> None:
    long_call, read = make()
    # The writer gives up the GIL only inside its calls: the object is never free meanwhile.
    sys.setswitchinterval(3600)
    calls, begun, done = [0], threading.Event(), threading.Event()

    def write() -> None:
        while not done.is_set() and calls[0] < CALLS:
            long_call()
            calls[0] += 1
            begun.set()

    def read_often() -> None:
        begun.wait()
        for _ in range(5):
            read()
        done.set()

    together([write, read_often])
    assert calls[0] < CALLS
