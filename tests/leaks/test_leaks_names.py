"""Columns of text, bytes and UUIDs leave nothing behind, read or refused."""

from __future__ import annotations

import subprocess
import sys

LEAK = r"""
import gc, os, uuid
import numpy as np, pyarrow as pa
from goblin import _core

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

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

work(60)
gc.collect()
before = rss()
work(120)
gc.collect()
grown = rss() - before
assert grown < 400_000, f"the process grew by {grown} bytes"
"""


def test_columns_leave_nothing_behind() -> None:
    done = subprocess.run([sys.executable, "-c", LEAK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
