"""Columns and sets of text, bytes and UUIDs leave nothing behind, used or refused."""

from __future__ import annotations

import growth
import pytest

LEAK = r"""
import uuid
import numpy as np, pyarrow as pa
from goblin import _core

texts = [str(n) * 5 for n in range(500)] + ["é" * 30]
ids = [uuid.UUID(int=n << 70) for n in range(500)]
inputs = [
    ("str", texts), ("str", np.array(texts)), ("str", np.array(texts, "T")),
    ("str", pa.array(texts)),
    ("str", pa.chunked_array([texts, texts])), ("str", pa.array(texts).dictionary_encode()),
    ("bytes", [t.encode() for t in texts]), ("bytes", [bytearray(8)] * 9), ("uuid", ids),
    ("uuid", [str(u) for u in ids]), ("uuid", pa.array([str(u) for u in ids])),
]
wrong = [[*texts, 1], np.array(["\ud800"]), pa.array(["a", None]), [b"a", "a"], [ids[0], "x"],
         "abc", pa.chunked_array([["a"], [None]]), np.zeros((2, 2)), pa.array([1]), pa.array(["x"])]

joined = "".join(texts).encode()
stops = np.cumsum([0, *(len(t.encode()) for t in texts)])

def work(rounds):
    for _ in range(rounds):
        for kind in ("str", "bytes"):
            list(_core.text_names(joined[:], stops, kind))
        for text, ends in ((b"a\xff", [0, 1, 2]), (b"a", [0, 2])):
            try:
                _core.text_names(text, np.array(ends), "str")
            except ValueError:
                pass
        for kind, values in inputs:
            column = _core.names(values, kind)
            list(column)
            column.to_array()
        for values in wrong:
            for kind in ("str", "bytes", "uuid"):
                try:
                    _core.names(values, kind)
                except (TypeError, ValueError):
                    pass
"""

CALLS = r"""
import sys, uuid, warnings
import numpy as np, pyarrow as pa
import goblin
from goblin import SortedSet
warnings.simplefilter("ignore")
kind = sys.argv[1]
texts = [f"name {n}" + "é" * (n % 3) + "-" * (n % 90) for n in range(900)]
members = {"str": texts, "bytes": [t.encode() for t in texts],
           "uuid": [uuid.UUID(int=n << 64 | n) for n in range(900)]}[kind]
arrays = {"str": lambda: [np.array(texts, "T"), np.array(texts), pa.array(texts), iter(texts)],
          "bytes": lambda: [np.array(members), np.array(members, "O"), pa.array(members)],
          "uuid": lambda: [np.array([np.void(u.bytes) for u in members]), map(str, members)]}[kind]
one, absent = members[7], {"str": "é" * 400, "bytes": b"-" * 400, "uuid": uuid.UUID(int=3)}[kind]
given = [one, absent, 5, None, "no uuid", "\ud800", "é" * 400, np.str_("a"), np.bytes_(b"a"),
         bytearray(b"a"), memoryview(b"a"), str(one), bytearray(b"-" * 400), 2**70]
z = SortedSet(members, 1.0, member=kind)
other = SortedSet(members[::2], 2.0, member=kind, score="float32")

def quietly(call, *args, **options):
    try:
        return call(*args, **options)
    except (TypeError, ValueError, LookupError, OverflowError, RuntimeError, MemoryError) as error:
        return type(error)

def stop(*_):
    raise LookupError

def work(rounds):
    for i in range(rounds):
        for m in given:
            m in z, z.get(m), z.discard(m)
            for call in (z.add, z.__getitem__, z.rank, z.increment, z.around, z.setdefault):
                quietly(call, m, *([1.0] if call in (z.add, z.setdefault) else []))
            quietly(z.range_by_lex, m, within_score=1.0)
            quietly(z.update, [one, m], 1.0)
        for column in arrays():
            z.update(column, float(i % 7))
        z.increment_many(members, 40_000.5)
        quietly(z.increment_many, members * 2, -3e9, progress=stop)
        z.scores(members), z.ranks(members), z.top(9).to_list(), z.page(9), list(z.items())
        z.remove_by_lex(one, None, within_score=40_000.5)
        z.pop_min(5), z.pop_max(), z.to_dict(), z.copy(), z == other
        goblin.union([z, other]), goblin.intersection([z, other]), goblin.difference(other, z)
        z.merge(other, aggregate="max"), z.move(other.copy(), members[:9]), z.scale(0.5)
        z.optimize(), quietly(z.__init__, [(one, "x")], member=kind)
        z.__init__(members, 1.0, member=kind)
        for n in range(9):
            z._fail_at(n)
            quietly(lambda: z.update([absent, one], [0.5, 1e9]))
            z._fail_at(0)

watched = [type(one), one, absent, SortedSet, goblin.Rows, None, *given]
"""


def test_columns_leave_nothing_behind() -> None:
    growth.check(LEAK, (60, 120))


@pytest.mark.parametrize("kind", ["str", "bytes", "uuid"])
def test_sets_of_names_leave_nothing_behind(kind: str) -> None:
    growth.check(CALLS, (40, 80), kind, most=500_000)
