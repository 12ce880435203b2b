"""Every allocation of every operation of a Hash is made to fail once, of its own and of Python's.

Each failure must be a MemoryError that left the content as it was, and the operation must then
succeed as if nothing had happened.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from model.hash_checks import ALL_FORMS, ALL_KINDS, Kind, assert_memory

from goblin import Hash

SIZES = [0, 4, 40, 700]


def numbers(kind: Kind) -> list[Any]:
    """Values that can be incremented."""
    return [7, 8] if kind.value == "int64" else [0.5, 8.0]


def texts(kind: Kind) -> list[Any]:
    return ["7", "12345"] if kind.value == "str" else [b"7", b"12345"]


def incremented(h: Hash, kind: Kind) -> None:
    keys = [kind.key_of("number"), kind.key_of("other"), kind.key_of("number")]
    h.increment_many(keys, [10**15, 1, 2])


OPERATIONS: dict[str, Callable[[Hash, Kind], Any]] = {
    "set new": lambda h, k: h.__setitem__(k.key_of("new"), k.value_of(10)),
    "set old": lambda h, k: h.__setitem__(k.key_of("field:1"), k.value_of(3)),
    "set large": lambda h, k: h.__setitem__(k.key_of("x" * 33_000), k.value_of(2)),
    "setdefault": lambda h, k: h.setdefault(k.key_of("new"), k.value_of(10)),
    "del": lambda h, k: h.pop(k.key_of("field:2"), None),
    "popitem": lambda h, k: h.popitem() if h else None,
    "update": lambda h, k: h.update(k.pairs(2, 30)),
    "update many": lambda h, k: h.update(k.pairs(3000)),
    "set_many new": lambda h, k: h.set_many(*zip(*k.pairs(50), strict=True), only="new"),
    "set_many existing": lambda h, k: h.set_many(
        [key for key, _ in k.pairs(50)], [k.value_of(i + 5) for i in range(50)], only="existing"
    ),
    "pop_many": lambda h, k: h.pop_many([key for key, _ in k.pairs(0, 900, 3)]),
    "increment": lambda h, k: h.increment(k.key_of("number"), 10**15),
    "increment new": lambda h, k: h.increment(k.key_of("other")),
    "increment_many": incremented,
    "optimize": lambda h, k: h.optimize(),
    "clear": lambda h, k: h.clear(),
    "copy": lambda h, k: h.copy(),
    "get_many": lambda h, k: h.get_many([key for key, _ in k.pairs(99)]),
    "items": lambda h, k: list(h.items()),
    "to_dict": lambda h, k: h.to_dict(),
}


def build(kind: Kind, form: dict[str, Any], size: int) -> Hash:
    h = Hash(kind.pairs(size), **kind.options, **form)
    h[kind.key_of("number")] = (texts if kind.value in ("str", "bytes") else numbers)(kind)[0]
    return h


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("kind", ALL_KINDS[::3], ids=str)
def test_every_failed_allocation_changes_nothing(
    kind: Kind, operation: Callable[[Hash, Kind], Any]
) -> None:
    failures = sum(sweep(kind, form, size, operation) for form in ALL_FORMS for size in SIZES)
    print(f"{failures} allocations failed, none changed anything")


def sweep(
    kind: Kind, form: dict[str, Any], size: int, operation: Callable[[Hash, Kind], Any]
) -> int:
    """The number of failures until the operation went through."""
    expected = build(kind, form, size)
    before = expected.to_dict()
    operation(expected, kind)
    n, failed = 0, True
    while failed:
        n += 1
        h = build(kind, form, size)
        h._fail_at(n)
        try:
            operation(h, kind)
            failed = False
        except MemoryError:
            h._fail_at(0)
            check(h, before)
            operation(h, kind)
        h._fail_at(0)
        if operation is not OPERATIONS["popitem"]:  # which takes any one
            check(h, expected.to_dict())
    return n - 1


def check(h: Hash, content: dict[Any, Any]) -> None:
    h._validate()
    assert_memory(h)
    assert h.to_dict() == content


SCRIPT = """
import _testcapi, goblin
CALLS = [
    lambda h: h["a"], lambda h: h.get("a"), lambda h: h.pop("a"), lambda h: h.popitem(),
    lambda h: h.setdefault("new", "v" * 30), lambda h: h.increment("n", 5000),
    lambda h: h.increment("n", 0.25), lambda h: h.get_many(["a", "n"]),
    lambda h: h.pop_many(["a", "n"]), lambda h: h.set_many(["a", "b"], ["1", "2"]),
    lambda h: h.set_many(["a", "b"], ["1", "2"], only="new"),
    lambda h: h.increment_many(["n", "n"], [1, 0.5]), lambda h: list(h.items()),
    lambda h: h.update({"a": "1", "b": "2"}), lambda h: h.copy(), lambda h: h.to_dict(),
]
BEFORE = {"a": "value of some length", "n": "1"}
for call in CALLS:
    failed = 0
    for n in range(400):
        h = goblin.Hash(BEFORE)
        _testcapi.set_nomemory(n, n + 1)
        try:
            call(h)
            _testcapi.remove_mem_hooks()
        except MemoryError:
            _testcapi.remove_mem_hooks()
            failed += 1
            assert h.to_dict() == BEFORE, (call.__code__.co_firstlineno, n, h.to_dict())
        h._validate()
    assert failed, call.__code__.co_firstlineno
"""


def test_python_out_of_memory() -> None:
    pytest.importorskip("_testcapi")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
