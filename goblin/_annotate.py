"""Scores and ranks of a sorted set as columns of a frame."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from . import _arrow, _convert
from ._sortedset import SortedSet

Frame = TypeVar("Frame")


def annotate(
    frame: Frame, key: str, z: SortedSet[Any], *, score: str = "score", rank: str = "rank"
) -> Frame:
    """Add the scores and ranks that a frame's members have in a sorted set, as a new frame.

    `frame` is a DataFrame of pandas or polars of n rows, `key` names its column of members, and
    `score` and `rank` the new ones; columns of these names are replaced. Ranks count from the
    lowest score. What is absent from the set, or null, has a null in both: in pandas `score` is
    then NaN and `rank` NA of "Int64". Whole floats below 2**53, which pandas makes of integers with
    nulls, are looked up as integers. KeyError where there is no such column, ValueError where there
    are several or the new ones would be one, TypeError for another frame or members of another
    kind, OverflowError for those that no such set holds. O(n log size).

    >>> import goblin
    >>> import pandas as pd
    >>> z = goblin.SortedSet({"ann": 1500.0, "bob": 1400.0})
    >>> goblin.annotate(pd.DataFrame({"name": ["ann", "cyd"]}), "name", z)
      name   score  rank
    0  ann  1500.0     1
    1  cyd     NaN  <NA>
    """
    if not isinstance(z, SortedSet):
        raise TypeError(f"a SortedSet is wanted, not {type(z).__name__}")
    if score == rank:
        raise ValueError(f"scores and ranks can't both be named {score!r}")
    for name, add in (("pandas", _pandas), ("polars", _polars)):
        if _arrow.is_of(frame, name, "DataFrame"):
            columns: Any = frame.columns  # type: ignore[attr-defined]
            if key not in columns:
                raise _arrow.no_column(key, columns)
            made: Frame = add(frame, key, z, (score, rank))
            return made
    raise TypeError(f"a DataFrame of pandas or polars is wanted, not {type(frame).__name__}")


def _looked_up(members: Any, z: SortedSet[Any]) -> tuple[Any, Any]:
    """Scores, and ranks, -1 where absent, of one moment."""
    if not len(members):  # of whatever type
        members = ()
    ids: Any = _convert.members(members, z.member_dtype)
    return z._atomically(lambda: (z.scores(ids), z.ranks(ids)))


def _whole(members: Any, z: SortedSet[Any]) -> Any:
    """Floats as the integers that they were before nulls were among them, if they all can be."""
    if members.dtype.kind != "f" or not _convert.is_integer(z.member_dtype):
        return members
    exact = (np.abs(members) < 2**53) & (np.trunc(members) == members)
    return members.astype(np.int64) if exact.all() else members


def _pandas(frame: Any, key: str, z: SortedSet[Any], names: tuple[str, str]) -> Any:
    import pandas

    column = frame[key]
    if column.ndim != 1:
        raise ValueError(f"several columns are named {key!r}")
    present = column.notna().to_numpy()
    scores, ranks = np.full(len(column), np.nan, z.score_dtype), np.full(len(column), -1)
    scores[present], ranks[present] = _looked_up(_whole(column[present].to_numpy(), z), z)
    masked = pandas.array(ranks, dtype="Int64")
    masked[ranks < 0] = pandas.NA
    return frame.assign(**dict(zip(names, (scores, masked), strict=True)))


def _polars(frame: Any, key: str, z: SortedSet[Any], names: tuple[str, str]) -> Any:
    import polars

    column = frame[key]
    found = _looked_up(column.drop_nulls(), z)
    places = np.flatnonzero(column.is_not_null().to_numpy())
    columns = []
    for name, values in zip(names, found, strict=True):
        whole = np.zeros(len(column), values.dtype)
        whole[places] = values
        absent = np.ones(len(column), np.bool_)
        absent[places] = found[1] < 0
        columns.append(polars.Series(name, whole).set(polars.Series(absent), None))
    return frame.with_columns(columns)
