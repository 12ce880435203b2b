"""Long calls of a Hash and a HashTable answer Ctrl-C, and have changed nothing then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from goblin import Hash, HashTable, _core

ROWS = 600_000


@pytest.fixture(scope="module")
def names() -> Any:
    return _core.names([f"field:{i:08d}" for i in range(ROWS)], "str")


def interrupted(call: Callable[[], object], interrupt_soon: Callable[[float], Any]) -> None:
    interrupt_soon(0.01)
    completed = False
    with pytest.raises(KeyboardInterrupt):
        call()
        completed = True
        time.sleep(5)
    assert not completed, "the call was over before the interrupt: make it longer"


@pytest.mark.parametrize("only", ["any", "new"])
@pytest.mark.parametrize("content", [{}, {"a": "1", "field:00000003": "2"}])
def test_set_many(names: Any, content: Any, only: str, interrupt_soon: Any) -> None:
    h = Hash(content)
    live = h._live_bytes()
    interrupted(lambda: h._set_many(names, names, only), interrupt_soon)
    assert h == content
    assert h._live_bytes() == live
    assert h._set_many(names, names, only) == ROWS - (len(content) == 2)
    old = content.get("field:00000003") if only == "new" else None
    assert h["field:00000003"] == (old or "field:00000003")
    assert len(h) == ROWS + (len(content) == 2)
    h._validate()


def test_column_of_texts(names: Any, interrupt_soon: Any) -> None:
    table = HashTable.from_arrays(
        [str(i) for i in range(ROWS)], {"a": [str(-i) for i in range(ROWS)]}
    )
    interrupted(lambda: table.column("a"), interrupt_soon)
    assert table.column("a")[-1] == str(1 - ROWS)


def test_a_scan_that_finds_nothing(names: Any, interrupt_soon: Any) -> None:
    h = Hash(max_compact_fields=0)
    h._set_many(names, names, "any")
    interrupted(
        lambda: next(h.scan("*".join("field") + "*0*1*2*3*4*5*6*7*8*9*x"), None), interrupt_soon
    )
    assert list(h.scan("*:00012345")) == [("field:00012345",) * 2]
