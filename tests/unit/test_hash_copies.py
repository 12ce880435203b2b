"""Copies and pickles of a Hash share nothing with it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from model.hash_checks import Kind, in_every_form, of_every_kind

from goblin import Hash

PICKLES = [
    lambda h, protocol=protocol: pickle.loads(pickle.dumps(h, protocol))
    for protocol in (2, pickle.HIGHEST_PROTOCOL)
]
COPIES = [lambda h: h.copy(), copy.copy, copy.deepcopy, *PICKLES]
CHANGES = [
    lambda h, kind: h.clear(),
    lambda h, kind: h.popitem(),
    lambda h, kind: h.pop_many([key for key, _ in kind.pairs(0, 100, 2)]),
    lambda h, kind: h.update(kind.pairs(50, 400)),
    lambda h, kind: h.update([(key, kind.value_of(99)) for key, _ in kind.pairs(3)]),
    lambda h, kind: h.optimize(),
]


@pytest.mark.parametrize("size", [0, 3, 70])
@pytest.mark.parametrize("duplicate", COPIES)
@in_every_form
@of_every_kind
def test_copies_are_independent(
    kind: Kind, form: dict[str, Any], duplicate: Callable[[Any], Any], size: int
) -> None:
    pairs = kind.pairs(size)
    for change in CHANGES if size else CHANGES[2:]:
        h = Hash(pairs, **kind.options, **form)
        twin = duplicate(h)
        assert twin == h
        assert twin.is_compact == h.is_compact
        change(h, kind)
        assert twin == dict(pairs)
        again = twin.copy()
        change(twin, kind)
        assert again == dict(pairs)
        for each in (h, twin, again):
            each._validate()


@pytest.mark.parametrize("duplicate", COPIES)
def test_options_come_along(duplicate: Callable[[Any], Any]) -> None:
    twin = duplicate(Hash(key="bytes", value="int64", max_compact_fields=2))
    twin.update([(b"a", 1), (b"b", 2)])
    assert twin.is_compact
    twin[b"c"] = 3
    assert not twin.is_compact
    with pytest.raises(TypeError):
        twin["a"] = 1


class Record(Hash):
    starts = 0

    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        type(self).starts += 1


@pytest.mark.parametrize("duplicate", COPIES)
def test_subclasses_come_back_as_themselves(duplicate: Callable[[Any], Any]) -> None:
    record = Record({"a": "1"})
    record.title = ["May"]
    starts = Record.starts
    twin = duplicate(record)
    assert type(twin) is Record
    assert Record.starts == starts
    assert twin == record
    assert twin.title == ["May"]


def test_shallow_and_deep_attributes() -> None:
    record = Record({"a": "1"})
    record.title = ["May"]
    assert copy.copy(record).title is record.title
    assert copy.deepcopy(record).title is not record.title


def test_deepcopy_keeps_identity_inside_a_structure() -> None:
    h = Hash({"a": "1"})
    first, second = copy.deepcopy([h, h])
    assert first is second
    assert first is not h


def test_one_hash_becomes_another_of_other_kinds() -> None:
    h = Hash({"a": 1, "b": 2}, value="int64")
    assert Hash(h, value="float64") == {"a": 1.0, "b": 2.0}
    with pytest.raises(TypeError):
        Hash(h)  # which is one of str
