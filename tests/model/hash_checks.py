"""The kinds and forms of hashes that tests run over, and how a Hash is compared with its model."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest
from model.compare import assert_same
from model.hash import KEYS, VALUES, ModelHash, ModelHashTable


class Kind(NamedTuple):
    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}-{self.value}"

    @property
    def options(self) -> dict[str, Any]:
        """The keywords that make a hash of this kind."""
        return {"key": self.key, "value": self.value}

    def key_of(self, text: str) -> Any:
        return text if self.key == "str" else text.encode()

    def value_of(self, i: int) -> Any:
        """The i-th of a series of values; among texts are some that are stored in binary."""
        if self.value == "int64":
            return i * 7919 - 100
        if self.value == "float64":
            return i / 8.0 - 3.0
        text = (f"value {i}", str(i), str(UUID(int=i)), "é" * (i % 9), f"{i:03}")[i % 5]
        return text if self.value == "str" else text.encode()

    def pairs(self, *numbers: int) -> list[tuple[Any, Any]]:
        """`pairs(5)` and `pairs(2, 9)` as range() counts, one new key each."""
        return [(self.key_of(f"field:{i}"), self.value_of(i)) for i in range(*numbers)]


ALL_KINDS = [Kind(key, value) for key in KEYS for value in VALUES]
# How a hash stores what it holds; no answer depends on it.
ALL_FORMS = [
    {"encoding": encoding, "max_compact_fields": most}
    for encoding in (True, False)
    for most in (None, 0, 5)
]
in_every_form = pytest.mark.parametrize(
    "form", ALL_FORMS, ids=lambda form: "-".join(map(str, form.values()))
)
of_every_kind = pytest.mark.parametrize("kind", ALL_KINDS, ids=str)


def assert_content(model: ModelHash, h: Any) -> None:
    """Every field agrees, whichever way the hash is read."""
    h._validate()
    assert len(h) == len(model)
    expected = sorted(model.items())
    assert_same(expected, sorted(h.items()))
    assert_same(expected, sorted(zip(h.keys(), h.values(), strict=True)))
    keys = [key for key, _ in expected]
    assert_same(model.get_many(keys), h.get_many(keys))
    assert sorted(h) == keys


def assert_records(model: ModelHashTable, t: Any) -> None:
    t._validate()
    assert len(t) == len(model)
    assert sorted(t) == sorted(model)
    for key, record in model.items():
        assert_same(sorted(record.items()), sorted(t[key].items()))


def assert_memory(h: Any) -> None:
    """The report agrees with the allocator's own counter to the byte."""
    report = h.memory()
    assert report.total == report.object + h._live_bytes()
    assert sys.getsizeof(h) >= h._live_bytes()


def objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
