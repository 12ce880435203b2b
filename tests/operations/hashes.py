"""Every public operation of a Hash, and hashes of every kind and form to try it on."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from model.hash_checks import Kind, assert_memory
from operations.files import saved
from operations.frames import streamed

from goblin import Hash

SIZES = [0, 4, 40, 700]
Subject = tuple[Hash, Kind]


def number(kind: Kind) -> Any:
    """A value that can be incremented."""
    return {"str": "7", "bytes": b"7", "int64": 7, "float64": 0.5}[kind.value]


def incremented(h: Hash, kind: Kind) -> None:
    keys = [kind.key_of("number"), kind.key_of("other"), kind.key_of("number")]
    h.increment_many(keys, [10**15, 1, 2])


def keys(kind: Kind, *numbers: int) -> list[Any]:
    return [key for key, _ in kind.pairs(*numbers)]


OPERATIONS: dict[str, Callable[[Hash, Kind], Any]] = {
    "set new": lambda h, k: h.__setitem__(k.key_of("new"), k.value_of(10)),
    "set old": lambda h, k: h.__setitem__(k.key_of("field:1"), k.value_of(3)),
    "set large": lambda h, k: h.__setitem__(k.key_of("x" * 33_000), k.value_of(2)),
    "setdefault": lambda h, k: h.setdefault(k.key_of("new"), k.value_of(10)),
    "del": lambda h, k: h.__delitem__(k.key_of("number")),
    "pop": lambda h, k: h.pop(k.key_of("field:2"), None),
    "popitem": lambda h, k: h.popitem(),
    "update": lambda h, k: h.update(k.pairs(2, 30)),
    "update many": lambda h, k: h.update(k.pairs(3000)),
    "update from a hash": lambda h, k: h.update(Hash(k.pairs(2, 90), **k.options)),
    "set_many new": lambda h, k: h.set_many(*zip(*k.pairs(50), strict=True), only="new"),
    "set_many existing": lambda h, k: h.set_many(
        keys(k, 50), [k.value_of(i + 5) for i in range(50)], only="existing"
    ),
    "pop_many": lambda h, k: h.pop_many(keys(k, 0, 900, 3)),
    "increment": lambda h, k: h.increment(k.key_of("number"), 10**15),
    "increment new": lambda h, k: h.increment(k.key_of("other")),
    "increment_many": incremented,
    "optimize": lambda h, k: h.optimize(),
    "clear": lambda h, k: h.clear(),
    "__init__": lambda h, k: h.__init__(k.pairs(90), **k.options),
    "make": lambda h, k: Hash(h, **k.options),
    "to_bytes": lambda h, k: Hash.from_bytes(h.to_bytes()),
    "save": lambda h, k: (h.save, h.load, saved(h)),
    "__reduce_ex__": lambda h, k: (h.__reduce_ex__(5), h.__reduce__()),
    "copy": lambda h, k: (h.copy(), h.__copy__()),
    "__deepcopy__": lambda h, k: h.__deepcopy__({}),
    "pickle": lambda h, k: pickle.loads(pickle.dumps(h)),
    "__getitem__": lambda h, k: h.__getitem__(k.key_of("number")),
    "__contains__": lambda h, k: h.__contains__(k.key_of("field:1")),
    "get": lambda h, k: h.get(k.key_of("field:1")),
    "get_many": lambda h, k: h.get_many(keys(k, 99)),
    "__iter__": lambda h, k: list(h.__iter__()),
    "keys": lambda h, k: h.keys() & {k.key_of("number"), k.key_of("none")},
    "values": lambda h, k: (list(h.values()), number(k) in h.values()),
    "items": lambda h, k: list(h.items()),
    "sample": lambda h, k: h.sample(1),
    "scan": lambda h, k: list(h.scan(k.key_of("*1"))),
    "to_dict": lambda h, k: h.to_dict(),
    "stream": lambda h, k: (
        streamed(h),
        (h.__arrow_c_schema__, h.__arrow_c_stream__),
        (h.to_arrow, h.to_pandas, h.to_polars),
    ),
    "to_numpy": lambda h, k: h.to_numpy(),
    "memory": lambda h, k: str(h.memory()),
    "__or__": lambda h, k: (h.__or__(dict(k.pairs(90))), h.__ror__({})),
    "__ior__": lambda h, k: h.__ior__(k.pairs(90)),
    "__eq__": lambda h, k: h.__eq__(Hash(h.to_dict(), **k.options)),
    "__ne__": lambda h, k: h.__ne__({}),
    "__repr__": lambda h, k: (h.__repr__(), h._repr_html_(), h.__len__(), h.__sizeof__()),
    "kinds": lambda h, k: (h.key_dtype, h.value_dtype, h.is_compact),
}


def build(kind: Kind, form: dict[str, Any], size: int) -> Subject:
    h = Hash(kind.pairs(size), **kind.options, **form)
    h[kind.key_of("number")] = number(kind)
    return h, kind


def content(subject: Subject) -> Any:
    h, _ = subject
    h._validate()
    assert_memory(h)
    found = h.to_dict()
    assert len(h) == len(found)
    return found
