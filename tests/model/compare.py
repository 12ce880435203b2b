"""Compares what the model answers with what the product answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from model.sorted_set import Changes, Digest, ModelRows, ModelSortedSet, Page

ERRORS = (KeyError, IndexError, OverflowError, ValueError, TypeError)


def assert_same(expected: Any, actual: Any) -> None:
    """Equal in value, in type and in dtype; NaN equals NaN."""
    match expected:
        case ModelRows():
            for part in ("members", "scores", "ranks"):
                assert_same(getattr(expected, part), getattr(actual, part))
        case Page():
            assert_same(expected.rows, actual.rows)
            assert (actual.cursor is None) == (expected.cursor is None)
        case Changes() | Digest():
            for field in expected._fields:
                assert_same(getattr(expected, field), getattr(actual, field))
        case np.ndarray():
            assert isinstance(actual, np.ndarray)
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, expected)
        case dict():
            assert_same(list(expected.items()), list(actual.items()))
        case list() | tuple():
            assert type(actual) is type(expected)
            assert len(actual) == len(expected)
            for one, other in zip(expected, actual, strict=True):
                assert_same(one, other)
        case float():
            assert isinstance(actual, float)
            assert actual == expected or (math.isnan(actual) and math.isnan(expected))
        case ModelSortedSet():
            assert_content(expected, actual)
        case _:
            assert type(actual) is type(expected)
            assert actual == expected


def assert_content(model: ModelSortedSet, z: Any) -> None:
    """Every member, score and place agrees, whichever way the set is read."""
    z._validate()
    assert len(z) == len(model)
    assert_same(model.to_numpy(), z.to_numpy())
    assert_same(model.digest(), z.digest())
    members, scores = model.to_numpy()
    assert_same(scores, z.scores(members))
    z._validate()


def assert_memory(z: Any) -> None:
    """The report agrees with the allocator's own counter to the byte."""
    report = z.memory()
    parts = report.pages, report.table, report.members, report.pending, report.order
    assert sum(parts) == z._live_bytes()
    assert report.total == report.object + z._live_bytes()


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return call(), None
    except Exception as error:
        return None, error


def assert_same_outcome(expected: Callable[[], Any], actual: Callable[[], Any]) -> None:
    """The same answer, or an error of the same kind."""
    value, error = outcome(expected)
    if error is None:
        assert_same(value, actual())
        return
    kind = next(kind for kind in ERRORS if isinstance(error, kind))
    _, other = outcome(actual)
    assert isinstance(other, kind), f"{error!r} was due, {other!r} came"
