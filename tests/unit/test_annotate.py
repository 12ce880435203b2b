"""Scores and ranks beside the rows of a frame."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from model.layouts import ALL_LAYOUTS, Layout

import goblin
from goblin import Hash, SortedSet


def columns_of(frame: Any) -> tuple[list[Any], list[Any]]:
    """Scores and ranks with None for what is absent."""
    if isinstance(frame, pl.DataFrame):
        return frame["score"].to_list(), frame["rank"].to_list()
    assert frame["rank"].dtype == "Int64"
    return (
        [None if np.isnan(score) else score for score in frame["score"]],
        [None if rank is pd.NA else rank for rank in frame["rank"]],
    )


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
def test_every_layout(layout: Layout) -> None:
    z = SortedSet(layout.series(20), np.arange(20.0)[::-1], **layout.options)
    wanted = [layout.nth(i) for i in (3, 50, 0, 3)]
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "m": wanted}, index=[9, 9, 8, 7])
    found = goblin.annotate(frame, "m", z)
    assert list(found.columns) == ["x", "m", "score", "rank"]
    assert found.index.tolist() == [9, 9, 8, 7]
    assert columns_of(found) == ([16.0, None, 19.0, 16.0], [16, None, 19, 16])
    assert found["score"].dtype == z.score_dtype
    assert "score" not in frame
    if layout.member != "uuid":
        polars = goblin.annotate(pl.DataFrame({"m": wanted}), "m", z)
        assert columns_of(polars) == columns_of(found)
        assert str(polars["score"].dtype).lower() == z.score_dtype


FORMS = {
    "str": lambda v: pd.DataFrame({"m": pd.Series(v, dtype="str")}),
    "object": lambda v: pd.DataFrame({"m": pd.Series(v, dtype=object)}),
    "category": lambda v: pd.DataFrame({"m": pd.Categorical(v)}),
    "Arrow": lambda v: pd.DataFrame({"m": pd.Series(v, dtype=pd.ArrowDtype(pa.string()))}),
    "polars": lambda v: pl.DataFrame({"m": v}),
    "polars categories": lambda v: pl.DataFrame({"m": pl.Series(v, dtype=pl.Categorical)}),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_nulls_are_absent(form: Any) -> None:
    z = SortedSet({"a": 1.5, "b": 0.5})
    for wanted in (["a", None, "b", "c"], [None], ["a"], []):
        scores, ranks = columns_of(goblin.annotate(form(wanted), "m", z))
        assert scores == [z.get(one) for one in wanted]
        assert ranks == [z.rank(one, default=None) for one in wanted]


def test_integers_with_nulls() -> None:
    z = SortedSet({2**60 + 1: 1.0})
    wanted = [2**60 + 1, None, 5]
    for frame in (pd.DataFrame({"m": pd.array(wanted, "Int64")}), pl.DataFrame({"m": wanted})):
        assert columns_of(goblin.annotate(frame, "m", z)) == ([1.0, None, None], [0, None, None])


def test_integers_that_nulls_made_floats() -> None:
    z = SortedSet({1: 1.0, 2: 5.0})
    for wanted in ([2, np.nan, 3], [2.0, 1.0], [np.nan]):
        frame = pd.DataFrame({"m": np.array(wanted, float)})
        scores, _ = columns_of(goblin.annotate(frame, "m", z))
        assert scores == [{1: 1.0, 2: 5.0}.get(one) for one in wanted]
    for wrong in (1.5, float("inf"), 2.0**53):  # the last may have been another integer
        with pytest.raises(TypeError, match="array of float64"):
            goblin.annotate(pd.DataFrame({"m": [1.0, wrong, np.nan]}), "m", z)


def test_names_of_columns() -> None:
    z = SortedSet({"a": 1.5})
    for frame in (pd.DataFrame({"score": ["a"]}), pl.DataFrame({"score": ["a"]})):
        found = goblin.annotate(frame, "score", z, score="elo", rank="place")
        assert list(found.columns) == ["score", "elo", "place"]
        assert goblin.annotate(frame, "score", z)["score"].to_list() == [1.5]
        with pytest.raises(KeyError, match="none"):
            goblin.annotate(frame, "none", z)
        with pytest.raises(ValueError, match="can't both be named 'x'"):
            goblin.annotate(frame, "score", z, score="x", rank="x")
    with pytest.raises(ValueError, match="several columns are named 'm'"):
        goblin.annotate(pd.DataFrame([["a", "b"]], columns=["m", "m"]), "m", z)


def test_a_library_that_another_thread_is_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    z, frame = SortedSet({"a": 1.5}), pl.DataFrame({"m": ["a"]})
    monkeypatch.setitem(sys.modules, "pandas", types.ModuleType("pandas"))  # has nothing yet
    assert goblin.annotate(frame, "m", z)["rank"].to_list() == [0]
    monkeypatch.setitem(sys.modules, "polars", types.ModuleType("polars"))
    assert SortedSet(pa.table({"m": ["a"], "s": [1.5]})) == z


def test_what_is_refused() -> None:
    z = SortedSet({"a": 1.5})
    for other in ({"m": ["a"]}, pl.LazyFrame({"m": ["a"]}), pa.table({"m": ["a"]}), None):
        with pytest.raises(TypeError, match="DataFrame of pandas or polars"):
            goblin.annotate(other, "m", z)
    with pytest.raises(TypeError, match="a SortedSet is wanted, not Hash"):
        goblin.annotate(pd.DataFrame({"m": ["a"]}), "m", Hash({"a": "b"}))  # type: ignore[arg-type]
    for frame in (pd.DataFrame({"m": [5]}), pl.DataFrame({"m": [5]})):
        with pytest.raises(TypeError, match="str"):
            goblin.annotate(frame, "m", z)
