"""Every allocation of every public operation is made to fail once, in every layout and state.

The n-th allocation fails for n = 1, 2, 3, ... until the operation succeeds. Each failure must be a
MemoryError that left everything as it was, and the operation must then succeed as if nothing had
happened. The number of failures is in the summary of the run.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from model.hash_checks import ALL_FORMS, ALL_KINDS, Kind
from model.layouts import ALL_LAYOUTS, Layout
from nomemory import sweep
from operations import boards, hashes, sorted_sets, tables

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")

Report = Callable[[str, object], None]
# What a set, of how many, has by the end of a failed bulk call: its table may have grown, and an
# order may have been made. The removal of as much would not shrink the table either.
SET_ROOM = 4
TABLE_ROOM = 2  # the lists of its shapes and of the names in them


def drawn(operation: str, axes: Sequence[Sequence[Any]], count: int) -> Iterator[tuple[Any, ...]]:
    """Some combinations, other ones for each operation, in which no value comes rarely."""
    rng = random.Random(operation)

    def column(axis: Sequence[Any]) -> Iterator[Any]:
        while True:
            yield from rng.sample(axis, len(axis))

    return itertools.islice(zip(*map(column, axes), strict=False), count)


def combined(
    operations: Iterable[str],
    axes: Sequence[Sequence[Any]],
    count: int,
    long: Sequence[str] = (),
) -> pytest.MarkDecorator:
    """So many combinations for each operation, and all of them in `make test-slow`.

    Operations that are too long for so many meet two.
    """
    cases = [
        pytest.param(operation, [case], id=f"{operation}-{'-'.join(map(str, case))}")
        for operation in operations
        for case in drawn(operation, axes, 2 if operation in long else count)
    ]
    every = list(itertools.product(*axes))
    cases += [
        pytest.param(operation, every, id=f"{operation}-all", marks=pytest.mark.slow)
        for operation in operations
    ]
    return pytest.mark.parametrize(("operation", "cases"), cases)


def sweep_sets(operation: str, built: Iterable[tuple[str, Layout, dict[str, Any]]]) -> int:
    """How many allocations failed in an operation on sets of a state, a layout and options."""
    call = sorted_sets.OPERATIONS[operation]
    return sum(
        sweep(
            functools.partial(sorted_sets.build, state, sorted_sets.Members(layout), **options),
            lambda subject: call(*subject),
            lambda subject: subject[:1],
            sorted_sets.content,
            room=SET_ROOM,
        )
        for state, layout, options in built
    )


@combined(
    sorted_sets.OPERATIONS, [list(sorted_sets.STATES), ALL_LAYOUTS, [True, False, True]], count=5
)
def test_sorted_sets(
    operation: str, cases: list[tuple[str, Layout, bool]], record_property: Report
) -> None:
    built = ((state, layout, {"compress": compress}) for state, layout, compress in cases)
    record_property("failed_allocations", sweep_sets(operation, built))


WRITES = ["add new", "increment old", "update dense", "remove many"]


@combined(WRITES, [ALL_LAYOUTS, [0.0, 0.5], ["small", "ordered", "indebted"]], count=9)
def test_writes_that_keep_the_order_up_to_date(
    operation: str, cases: list[tuple[Layout, float, str]], record_property: Report
) -> None:
    built = ((state, layout, {"merge_exponent": exponent}) for layout, exponent, state in cases)
    record_property("failed_allocations", sweep_sets(operation, built))


@combined(hashes.OPERATIONS, [ALL_KINDS, hashes.SIZES, ALL_FORMS], count=8)
def test_hashes(
    operation: str, cases: list[tuple[Kind, int, dict[str, Any]]], record_property: Report
) -> None:
    call, failures = hashes.OPERATIONS[operation], 0
    for kind, size, form in cases:
        failures += sweep(
            functools.partial(hashes.build, kind, form, size),
            lambda subject: call(*subject),
            lambda subject: subject[:1],
            hashes.content,
            any_end=operation == "popitem",
        )
    record_property("failed_allocations", failures)


@combined(tables.OPERATIONS, [tables.TABLE_KINDS, tables.SIZES], count=8, long=["update many"])
def test_tables(
    operation: str, cases: list[tuple[tables.TableKind, int]], record_property: Report
) -> None:
    call, failures = tables.OPERATIONS[operation], 0
    for kind, size in cases:
        failures += sweep(
            functools.partial(tables.build, kind, size),
            lambda subject: call(*subject),
            lambda subject: subject[:1],
            tables.content,
            room=TABLE_ROOM,
            any_end=operation.endswith("popitem"),
        )
    record_property("failed_allocations", failures)


@combined(boards.OPERATIONS, [ALL_LAYOUTS, boards.SIZES], count=5)
def test_boards(operation: str, cases: list[tuple[Layout, int]], record_property: Report) -> None:
    call, failures = boards.OPERATIONS[operation], 0
    for layout, size in cases:
        members = sorted_sets.Members(layout)
        failures += sweep(
            functools.partial(boards.build, members, size),
            lambda subject: call(*subject),
            boards.objects,
            boards.content,
            room=SET_ROOM,
        )
    record_property("failed_allocations", failures)
