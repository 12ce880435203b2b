"""Arrays of keys that another thread changes while a bulk call works on them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from goblin import Hash

N = 8_000
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "any": lambda h, keys: h.set_many(keys, range(N)),
    "new": lambda h, keys: h.set_many(keys, range(N), only="new"),
    "existing": lambda h, keys: h.set_many(keys, range(N), only="existing"),
    "increment": lambda h, keys: h.increment_many(keys),
}


@pytest.mark.parametrize("call", CALLS)
def test_keys_that_change_meanwhile_leave_a_sound_hash(call: str) -> None:
    texts = [np.array([b"%c%07d" % (c, n) for n in range(N)], "S8") for c in b"ab"]
    keys = texts[0].copy()
    done = threading.Event()

    def scribble() -> None:
        while not done.is_set():
            for text in texts:
                keys[:] = text

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for _ in range(10):
            h: Hash[bytes, int] = Hash(
                {b"b%07d" % n: n for n in range(99)}, key="bytes", value="int64"
            )
            CALLS[call](h, keys)
            h._validate()
            assert {key[:1] for key in h} <= {b"a", b"b"}
    finally:
        done.set()
        thread.join()
