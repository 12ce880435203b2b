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


IMPORTS = r"""
import uuid
import pandas as pd, polars as pl, pyarrow as pa
import goblin
from goblin import HashTable, SortedSet

texts = [f"name {n}" * 5 for n in range(400)]
frame = pl.DataFrame({"member": texts, "score": [1.5] * 400})
ids = SortedSet([uuid.UUID(int=n << 64) for n in range(400)], 1.0).to_polars()
encoded = pa.table({"member": pa.chunked_array([texts, texts]).dictionary_encode(),
                    "score": [1.0] * 800})
numbers = pd.DataFrame({"member": range(400), "score": 1.0})
wrong = [frame.with_columns(score=None), frame.with_columns(member=pl.lit(1.5)), frame[:, :1],
         pl.DataFrame({"member": pl.Series([frame], dtype=pl.Object), "score": [1.0]}),
         pl.DataFrame({"member": [b"\xff"], "score": [1.0]}),
         pa.table({"member": ["a", None], "score": [1.0, 2.0]})]
z = SortedSet(frame)
watched = [texts, frame, encoded, z, None]

def work(rounds):
    for _ in range(rounds):
        for one in (frame, encoded, numbers):
            SortedSet(one), SortedSet.from_counts(one, column="member")
        SortedSet(ids, member="uuid"), HashTable.from_arrow(frame, "member")
        z.update(frame), z.scores(frame["member"]), goblin.annotate(frame, "member", z)
        for one in wrong:
            for read in (SortedSet, z.update, lambda one: HashTable.from_arrow(one, "member"),
                         lambda one: SortedSet(one, member="uuid")):
                try:
                    read(one)
                except (TypeError, ValueError):
                    pass
"""


def test_frames_that_are_read_leave_nothing_behind() -> None:
    growth.check(IMPORTS, (60, 120), most=600_000)
