"""No public operation is left out where allocations are made to fail."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from operations import boards, hashes, sorted_sets, tables

import goblin
from goblin import BoardRows, Boards, Hash, HashTable, Record, Rows, SortedSet

Operations = Mapping[str, Callable[..., Any]]

# What is not of one object that could fail to allocate.
OF_CLASSES = {"__class_getitem__", "__init_subclass__", "__subclasshook__", "__new__"}
OF_ALL_OBJECTS = {"__hash__", "__class__", "__abstractmethods__"}
# All that rows have are arrays of numpy: these allocate nothing in the core.
OF_ARRAYS = {
    *(
        "__init__",
        "__len__",
        "__iter__",
        "__eq__",
        "__repr__",
        "__str__",
        "__array__",
        "__getitem__",
    ),
    *("members", "scores", "ranks", "groups", "to_list", "to_numpy"),
    *("__arrow_c_array__", "__arrow_c_schema__", "__arrow_c_stream__"),
    *("to_arrow", "to_pandas", "to_polars"),
}
# The core is not asked: what it was built with.
OF_THE_BUILD = {"build_info"}


def attributes(code: types.CodeType) -> set[str]:
    """The names of all attributes that a function, or one inside it, takes."""
    found = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD")
    }
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return found.union(*map(attributes, inner))


def called(operations: Iterable[Callable[..., Any]]) -> set[str]:
    return set().union(*(attributes(call.__code__) for call in operations))


def public(kind: type) -> set[str]:
    """The methods and properties that a kind of object has of its own."""
    return (
        {
            name
            for name, member in inspect.getmembers(kind)
            if (not name.startswith("_") or name.endswith("__"))
            and (inspect.isroutine(member) or inspect.isdatadescriptor(member))
            and member is not getattr(object, name, None)
        }
        - OF_CLASSES
        - OF_ALL_OBJECTS
    )


@pytest.mark.parametrize(
    ("kind", "operations", "nothing"),
    [
        (SortedSet, sorted_sets.OPERATIONS, set()),
        (Hash, hashes.OPERATIONS, set()),
        (HashTable, tables.TABLE_OPERATIONS, set()),
        (Record, tables.RECORD_OPERATIONS, set()),
        (Boards, boards.OPERATIONS, set()),
        (Rows, sorted_sets.OPERATIONS, OF_ARRAYS),
        (BoardRows, boards.OPERATIONS, OF_ARRAYS),
    ],
)
def test_all_methods(kind: type, operations: Operations, nothing: set[str]) -> None:
    assert public(kind) - nothing <= called(operations.values())


def test_all_functions() -> None:
    functions = {name for name in goblin.__all__ if inspect.isroutine(getattr(goblin, name))}
    assert functions - OF_THE_BUILD <= called(sorted_sets.OPERATIONS.values())


def test_an_operation_that_is_left_out_is_noticed() -> None:
    some = {name: call for name, call in hashes.OPERATIONS.items() if not name.startswith("pop")}
    assert public(Hash) - called(some.values()) == {"pop", "popitem", "pop_many"}
