"""What counts as a mapping, as pairs, and as neither: a Series, a row of sqlite3, a frame, text."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from goblin import Hash, HashTable, SortedSet

TITLES = {"ann": "GM", "bob": "IM"}
FRAME = {"a": ["xy", "zu"], "b": ["vw", "st"]}
FRAMES = [pd.DataFrame(FRAME), pl.DataFrame(FRAME), pl.LazyFrame(FRAME), pa.table(FRAME)]
TEXTS = ["ab", b"ab", bytearray(b"ab"), np.str_("ab"), np.bytes_(b"ab")]


class Keyed:
    """The least that dict takes as a mapping."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def keys(self) -> list[str]:
        return list(self._content)

    def __getitem__(self, key: str) -> Any:
        return self._content[key]


def sqlite_row() -> Any:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    row = connection.execute("select 'GM' as ann, 'IM' as bob").fetchone()
    connection.close()
    return row


@pytest.mark.parametrize("data", [pd.Series(TITLES), sqlite_row(), Keyed(TITLES)])
def test_what_has_keys_is_a_mapping(data: Any) -> None:
    assert Hash(data) == TITLES
    h = Hash()
    h.update(data)
    h |= data
    assert h == TITLES
    table = HashTable({"a": data, "b": {"ann": "-"}})
    table["b"].update(data)
    assert table == {"a": TITLES, "b": TITLES}


def test_a_series_maps_its_index_to_scores() -> None:
    assert SortedSet(pd.Series({"ann": 1.5, "bob": 2.0})) == {"ann": 1.5, "bob": 2.0}
    assert SortedSet(Keyed({"ann": 1.5})) == {"ann": 1.5}
    z = SortedSet(pd.Series({7: 1, 8: 2}))
    assert (z.member_dtype, z.to_dict()) == ("int64", {7: 1.0, 8: 2.0})
    assert not z.update(pd.Series({7: 3, 8: 2})).added
    assert z[7] == 3.0
    assert SortedSet(pd.Series([5, 5, 6]).value_counts()) == {5: 2.0, 6: 1.0}
    assert Hash(pd.Series({"a": 1, "b": 2}), value="int64") == {"a": 1, "b": 2}


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__)
def test_frames_are_no_mappings_of_columns(frame: Any) -> None:
    h, z, table = Hash({"k": "v"}), SortedSet({"k": 1.0}), HashTable({"k": {"f": "v"}})
    way = r"collect\(\) it first" if hasattr(frame, "collect") else r"zip\("
    lazy = f"not a frame.* {way}"
    for take in (SortedSet, z.update):
        with pytest.raises(TypeError, match=rf"type str|{lazy}"):
            take(frame)
    for take in (HashTable, table.update):
        with pytest.raises(TypeError, match=rf"no column 'key'; from_arrow|{lazy}"):
            take(frame)
    with pytest.raises(TypeError, match=lazy):
        table["k"].update(frame)
    with pytest.raises(TypeError, match=r"record 'x': .*not a frame"):
        table["x"] = frame
    assert (h, z, table) == ({"k": "v"}, {"k": 1.0}, {"k": {"f": "v"}})


@pytest.mark.parametrize("frame", [pd.DataFrame(FRAME), pl.DataFrame(FRAME)])
def test_frames_of_two_columns_are_pairs(frame: Any) -> None:
    assert Hash(frame) == {"xy": "vw", "zu": "st"}


def test_columns_of_frames_make_pairs() -> None:
    for frame in (pd.DataFrame(FRAME), pl.DataFrame(FRAME)):
        assert Hash(zip(frame["a"], frame["b"], strict=True)) == {"xy": "vw", "zu": "st"}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_texts_are_no_pairs(text: Any, kind: Any) -> None:
    h = Hash({}, key=kind, value=kind)
    z: SortedSet[Any] = SortedSet(member="int64")
    table = HashTable(key=kind, field=kind, value=kind)
    good = ("k", "v") if kind == "str" else (b"k", b"v")
    for take in (h.update, z.update, SortedSet, table.update):
        with pytest.raises(TypeError, match=r"item 0 is no pair, but (numpy\.)?(str|byte)"):
            take([text])
    with pytest.raises(TypeError, match="item 1 is no pair"):
        h.update([good, text])
    with pytest.raises(TypeError, match=r"record .*k'.*item 0 is no pair"):
        table.update({good[0]: [text]})
    assert (len(h), len(z), len(table)) == (0, 0, 0)


def test_rows_of_text_arrays_are_pairs() -> None:
    assert Hash(np.array([["a", "x"], ["b", "y"]])) == {"a": "x", "b": "y"}
    assert Hash(np.array([["a", "x"]], dtype=object)) == {"a": "x"}
