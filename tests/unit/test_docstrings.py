"""Every public method has an example that runs, also those in C, which pytest does not collect."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import goblin
import goblin.dask

PUBLIC = {
    f"{kind.__name__}.{name}": member
    for kind in (
        goblin.SortedSet,
        goblin.Rows,
        goblin.Boards,
        goblin.BoardRows,
        goblin.Hash,
        goblin.HashTable,
        goblin.Record,
        goblin.dask.Sharded,
    )
    for name, member in inspect.getmembers(kind)
    if not name.startswith("_")
    and (inspect.isroutine(member) or isinstance(member, property))
    and member is not getattr(Mapping, name, None)
}


@pytest.mark.parametrize(
    "documented", [*PUBLIC.values(), goblin.build_info], ids=[*PUBLIC, "build_info"]
)
def test_its_example_runs(documented: Any) -> None:
    text = inspect.getdoc(documented)
    assert text
    names = {"goblin": goblin, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, "example", None, None)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
