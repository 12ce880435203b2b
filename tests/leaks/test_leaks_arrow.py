"""Streams and arrays of Arrow leave nothing behind, read, in part or not at all."""

from __future__ import annotations

import growth

LEAK = r"""
import pyarrow as pa, polars as pl
import goblin
from goblin import _arrow

_arrow.BATCH = 100
texts = [str(n) * 5 for n in range(400)]
z = goblin.SortedSet(texts, 1.0)
h = goblin.Hash(dict.fromkeys(texts, "7"))
t = goblin.HashTable({text: {"a": "1", str(n % 3): "2"} for n, text in enumerate(texts)})

def work(rounds):
    for _ in range(rounds):
        for one in (z, h, t, z.top(50)):
            one.__arrow_c_stream__()  # never consumed
            one.__arrow_c_schema__()
            pa.RecordBatchReader.from_stream(one).read_next_batch()  # in part
            table = pa.table(one)
            column = table[0]
            del table
            pl.from_dataframe(one)
        z.top(50).__arrow_c_array__()
        try:
            pa.RecordBatchReader.from_stream(h).read_all(h.update(a="1"), h.pop("a"))
        except Exception:
            pass
"""


def test_streams_leave_nothing_behind() -> None:
    growth.check(LEAK, (60, 120), most=600_000)
