"""Arguments of a Hash whose conversion runs code that changes it (B21) or the argument (B55)."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

from goblin import Hash

ALLOWED = (KeyError, RuntimeError, ValueError, TypeError, OverflowError)
CHANGES: dict[str, Callable[[Hash], Any]] = {
    "clear": lambda h: h.clear(),
    "grow": lambda h: h.update((f"g{i}", 1) for i in range(5000)),
    "shrink": lambda h: h.pop_many([f"f{i}" for i in range(1, 64)]),
    "other values": lambda h: h.update((f"f{i}", 2**60) for i in range(64)),
    "optimize": lambda h: h.optimize(),
    "other kinds": lambda h: h.__init__({b"f5": b"x"}, key="bytes", value="bytes"),
}


class Number:
    """A number whose conversion changes the hash first."""

    def __init__(self, change: Callable[[], Any], value: int = 5) -> None:
        self.change, self.value = change, value

    def __index__(self) -> int:
        self.change()
        return self.value

    def __float__(self) -> float:
        return float(self.__index__())


CALLS: dict[str, Callable[[Hash, Number], Any]] = {
    "set item": lambda h, n: h.__setitem__("f5", n),
    "set new item": lambda h, n: h.__setitem__("new", n),
    "setdefault": lambda h, n: h.setdefault("f5", n),
    "increment": lambda h, n: h.increment("f5", n),
    "update": lambda h, n: h.update({"f5": n, "f6": n}),
    "update generator": lambda h, n: h.update((f"f{n.__index__()}", n) for _ in range(9)),
    "set_many": lambda h, n: h.set_many(["f5", "new"], [n, n], only="existing"),
    "set_many generator": lambda h, n: h.set_many((f"f{n.__index__()}" for _ in "ab"), [n, n]),
    "increment_many": lambda h, n: h.increment_many(["f5", "f5"], [n, n]),
    "get_many": lambda h, n: h.get_many((f"f{n.__index__()}" for _ in "ab"), missing=n),
    "pop_many": lambda h, n: h.pop_many(f"f{n.__index__()}" for _ in "ab"),
    "sample": lambda h, n: h.sample(n),
    "equality": lambda h, n: h == {"f5": n, **{f"f{i}": i for i in range(64) if i != 5}},
}


@pytest.mark.parametrize("value", ["int64", "float64"])
@pytest.mark.parametrize("most", [None, 0])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_conversion_that_changes_the_hash(
    call: Callable[[Any, Any], Any], change: Callable[[Any], Any], most: int | None, value: Any
) -> None:
    h = Hash({f"f{i}": i for i in range(64)}, value=value, max_compact_fields=most)
    with contextlib.suppress(ALLOWED):
        call(h, Number(lambda: change(h)))
    h._validate()
    assert h.get_many(list(h)) is not None
    assert {key: h[key] for key in h} == h.to_dict()


def test_the_change_comes_before_the_call() -> None:
    h = Hash({"a": 1, "b": 2}, value="int64")
    h["c"] = Number(h.clear, 3)
    assert h == {"c": 3}
    h.increment("d", Number(h.clear, 4))
    assert h == {"d": 4}


def test_comparison_that_changes_the_hash() -> None:
    class Evil:
        def __eq__(self, other: object) -> bool:
            h.clear()
            return True

        __hash__ = None  # type: ignore[assignment]

    for look in (lambda h: Evil() in h.values(), lambda h: ("f1", Evil()) in h.items()):
        h = Hash({f"f{i}": "v" for i in range(64)})
        with contextlib.suppress(RuntimeError):
            look(h)
        h._validate()
        assert len(h) == 0


def test_finalisers_that_run_while_pairs_are_made() -> None:
    """Making tuples may start a collection, whose finalisers may do anything."""

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            h.clear()

    thresholds = gc.get_threshold()
    try:
        gc.set_threshold(1)
        for most in (None, 0):
            for _ in range(200):
                h = Hash({f"f{i}": "v" * i for i in range(9)}, max_compact_fields=most)
                Cycle()
                with contextlib.suppress(RuntimeError, KeyError):
                    list(h.items())
                Cycle()
                with contextlib.suppress(RuntimeError, KeyError):
                    h.popitem()
                h._validate()
    finally:
        gc.set_threshold(*thresholds)


@pytest.mark.parametrize("call", [Hash.set_many, Hash.increment_many], ids=["set", "increment"])
def test_lists_that_empty_themselves(call: Callable[..., Any]) -> None:
    h = Hash({"f1": 1}, value="int64")
    keys, values = [f"f{i}" for i in range(100)], [1] * 100

    def empty() -> None:
        keys.clear()
        values.clear()

    values[3] = Number(empty)
    references = sys.getrefcount(empty)
    with contextlib.suppress(ALLOWED):
        call(h, keys, values)
    h._validate()
    assert sys.getrefcount(empty) <= references


def test_a_hash_dropped_while_a_call_converts() -> None:
    holder = [Hash({"f1": 1}, value="int64")]
    assert holder[0].increment("f1", Number(holder.clear)) == 6
    assert holder == []
