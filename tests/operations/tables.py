"""Every public operation of a HashTable and of its Records, and tables of every kind for them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
from model.hash import KEYS, VALUES
from model.hash_checks import Kind, assert_memory
from operations.files import saved
from operations.frames import streamed

from goblin import HashTable, Record

SIZES = [0, 5, 300]


class TableKind(NamedTuple):
    key: str
    record: Kind

    def __str__(self) -> str:
        return f"{self.key}-{self.record}"

    @property
    def options(self) -> dict[str, Any]:
        return {"key": self.key, "field": self.record.key, "value": self.record.value}

    def key_of(self, text: str) -> Any:
        return text if self.key == "str" else text.encode()

    def row(self, *numbers: int) -> dict[Any, Any]:
        """A record of fields by number, as range() counts them."""
        return dict(self.record.pairs(*numbers))

    def rows(self, *numbers: int) -> dict[Any, dict[Any, Any]]:
        """Records by number; their shapes differ."""
        return {self.key_of(f"record:{i}"): self.row(i % 3, i % 3 + i % 5) for i in range(*numbers)}


TABLE_KINDS = [
    TableKind(key, Kind(field, value)) for key in KEYS for field in KEYS for value in VALUES
]
Subject = tuple[HashTable, TableKind]
Operation = Callable[[HashTable, TableKind], Any]


def columns(kind: TableKind) -> dict[Any, list[Any]]:
    return {key: [kind.record.value_of(i + 3) for i in range(90)] for key in kind.row(6)}


def arrow(kind: TableKind) -> pa.Table:
    names = [f"record:{i}" if kind.key == "str" else b"record:%d" % i for i in range(90)]
    values = [kind.record.value_of(i) for i in range(89)]
    return pa.table({"key": names, "full": [*values, values[0]], "some": [*values, None]})


TABLE_OPERATIONS: dict[str, Operation] = {
    "set new": lambda t, k: t.__setitem__(k.key_of("new"), k.row(7)),
    "set old": lambda t, k: t.__setitem__(k.key_of("a"), k.row(2, 9)),
    "set large": lambda t, k: t.__setitem__(k.key_of("x" * 33_000), k.row(40)),
    "set empty": lambda t, k: t.__setitem__(k.key_of("a"), {}),
    "__delitem__": lambda t, k: t.__delitem__(k.key_of("a")),
    "pop": lambda t, k: t.pop(k.key_of("a")),
    "popitem": lambda t, k: t.popitem(),
    "setdefault": lambda t, k: t.setdefault(k.key_of("new"), k.row(3)),
    "update": lambda t, k: t.update(k.rows(3, 40)),
    "update many": lambda t, k: t.update(k.rows(800)),
    "update from a table": lambda t, k: t.update(t.copy()),
    "clear": lambda t, k: t.clear(),
    "optimize": lambda t, k: t.optimize(),
    "__init__": lambda t, k: t.__init__(k.rows(40), **k.options),
    "make": lambda t, k: HashTable(t, **k.options),
    "from_arrays": lambda t, k: HashTable.from_arrays(
        [*k.rows(50), *k.rows(40)], columns(k), **k.options
    ),
    "from_arrow": lambda t, k: (
        HashTable.from_arrow(arrow(k), "key"),
        HashTable.from_arrow(arrow(k).select(["key", "full"]), "key"),
    ),
    "to_bytes": lambda t, k: HashTable.from_bytes(t.to_bytes()),
    "save": lambda t, k: (t.save, t.load, saved(t)),
    "__reduce_ex__": lambda t, k: (t.__reduce_ex__(5), t.__reduce__()),
    "copy": lambda t, k: (t.copy(), t.__copy__()),
    "__deepcopy__": lambda t, k: t.__deepcopy__({}),
    "pickle": lambda t, k: pickle.loads(pickle.dumps(t)),
    "__getitem__": lambda t, k: t.__getitem__(k.key_of("a")),
    "get": lambda t, k: t.get(k.key_of("none")),
    "__contains__": lambda t, k: t.__contains__(k.key_of("a")),
    "__iter__": lambda t, k: list(t.__iter__()),
    "keys": lambda t, k: t.keys() & {k.key_of("a")},
    "values": lambda t, k: [record.to_dict() for record in t.values()],
    "items": lambda t, k: list(t.items()),
    "increment": lambda t, k: t.increment(k.key_of("new"), k.record.key_of("new"), 10**15),
    "increment old": lambda t, k: t.increment(k.key_of("a"), k.record.key_of("new")),
    "fields": lambda t, k: t.fields(),
    "column": lambda t, k: t.column(k.record.key_of("field:1")),
    "to_dict": lambda t, k: t.to_dict(),
    "stream": lambda t, k: (
        streamed(t),
        (t.__arrow_c_schema__, t.__arrow_c_stream__),
        (t.to_arrow, t.to_pandas, t.to_polars),
    ),
    "memory": lambda t, k: str(t.memory()),
    "__or__": lambda t, k: (t.__or__(k.rows(9)), t.__ror__({})),
    "__ior__": lambda t, k: t.__ior__(k.rows(9)),
    "__eq__": lambda t, k: t.__eq__(HashTable(t.to_dict(), **k.options)),
    "__ne__": lambda t, k: t.__ne__({}),
    "__repr__": lambda t, k: (t.__repr__(), t._repr_html_(), t.__len__(), t.__sizeof__()),
    "kinds": lambda t, k: (t.key_dtype, t.field_dtype, t.value_dtype),
}
RECORD_OPERATIONS: dict[str, Callable[[Record, TableKind], Any]] = {
    "set new": lambda r, k: r.__setitem__(k.record.key_of("new"), k.record.value_of(10)),
    "set old": lambda r, k: r.__setitem__(k.record.key_of("field:1"), k.record.value_of(3)),
    "set large": lambda r, k: r.__setitem__(k.record.key_of("x" * 33_000), k.record.value_of(2)),
    "__delitem__": lambda r, k: r.__delitem__(k.record.key_of("field:1")),
    "pop": lambda r, k: r.pop(k.record.key_of("field:2")),
    "popitem": lambda r, k: r.popitem(),
    "setdefault": lambda r, k: r.setdefault(k.record.key_of("new"), k.record.value_of(10)),
    "update": lambda r, k: r.update(k.row(2, 30)),
    "clear": lambda r, k: r.clear(),
    "set_many": lambda r, k: r.set_many(list(k.row(40)), list(k.row(40).values()), only="new"),
    "pop_many": lambda r, k: r.pop_many(list(k.row(9))),
    "increment": lambda r, k: r.increment(k.record.key_of("field:1"), 10**15),
    "increment_many": lambda r, k: r.increment_many([k.record.key_of("x")] * 3, [1, 2, 10**15]),
    "copy": lambda r, k: (r.copy(), r.__copy__()),
    "__getitem__": lambda r, k: r.__getitem__(k.record.key_of("field:1")),
    "__contains__": lambda r, k: r.__contains__(k.record.key_of("none")),
    "__bool__": lambda r, k: r.__bool__(),
    "get": lambda r, k: r.get(k.record.key_of("field:2")),
    "get_many": lambda r, k: r.get_many(list(k.row(9))),
    "__iter__": lambda r, k: list(r.__iter__()),
    "keys": lambda r, k: list(r.keys()),
    "values": lambda r, k: list(r.values()),
    "items": lambda r, k: list(r.items()),
    "sample": lambda r, k: r.sample(1),
    "scan": lambda r, k: list(r.scan(k.record.key_of("*1"))),
    "to_dict": lambda r, k: r.to_dict(),
    "deepcopy": lambda r, k: copy.deepcopy(r),
    "pickle": lambda r, k: (pickle.loads(pickle.dumps(r)), r.__reduce__()),
    "__or__": lambda r, k: (r.__or__(k.row(9)), r.__ror__({})),
    "__ior__": lambda r, k: r.__ior__(k.row(9)),
    "__eq__": lambda r, k: r.__eq__(k.row(3)),
    "__ne__": lambda r, k: r.__ne__({}),
    "__repr__": lambda r, k: (r.__repr__(), r._repr_html_(), r.__len__()),
}
OPERATIONS: dict[str, Operation] = {
    **TABLE_OPERATIONS,
    **{
        f"record: {name}": lambda t, k, call=call: call(t[k.key_of("a")], k)
        for name, call in RECORD_OPERATIONS.items()
    },
}


def build(kind: TableKind, size: int) -> Subject:
    table = HashTable(kind.rows(size), **kind.options)
    number = {"str": "7", "bytes": b"7", "int64": 7, "float64": 0.5}[kind.record.value]
    fields = {**kind.row(12), kind.record.key_of("field:1"): number}
    table[kind.key_of("a")] = fields
    return table, kind


def content(subject: Subject) -> Any:
    table, _ = subject
    table._validate()
    assert_memory(table)
    found = table.to_dict()
    assert len(table) == len(found)
    return found
