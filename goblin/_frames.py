"""What has rows, as tables of Arrow, pandas and polars."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from . import _core
from ._arrow import Batch, Field, batch_of, fields_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Table = tuple[tuple[Field, ...], Iterator[Batch]]


def library(name: str, extra: str) -> Any:
    """A library that goblin can do without."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this needs {name}, which is not installed: pip install 'goblin-core[{extra}]'"
        ) from error


class _Stream:
    """A table for polars, which would take a mapping for a dict of columns."""

    def __init__(self, table: Frames) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class Frames:
    """A table in Arrow's PyCapsule interface, which other libraries read without pyarrow."""

    __slots__ = ()
    _has_nulls = False  # of its integers

    def _arrow_table(self) -> Table:
        """The fields, and an iterator that makes the batches as they are asked for."""
        raise NotImplementedError

    def __arrow_c_schema__(self) -> Any:
        return _core.arrow_schema(self._arrow_table()[0])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _core.arrow_stream(*self._arrow_table())

    def to_arrow(self) -> pyarrow.Table:
        """Give a pyarrow Table, as `pyarrow.table(self)`. ImportError without pyarrow. O(n).

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).to_arrow().column_names
        ['member', 'score']
        """
        return library("pyarrow", "arrow").table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Give a DataFrame of pandas, made by pyarrow. ImportError without these. O(n).

        Columns of a HashTable's integers are "Int64", which has NA for what is absent.

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).to_pandas()
           member  score
        0       7    1.0
        1       8    5.0
        """
        pandas, pyarrow = library("pandas", "pandas"), library("pyarrow", "pandas")
        nullable = {pyarrow.int64(): pandas.Int64Dtype()} if self._has_nulls else {}
        frame: Any = pyarrow.table(self).to_pandas(types_mapper=nullable.get)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Give a DataFrame of polars. ImportError without it. O(n).

        >>> import goblin
        >>> goblin.SortedSet({7: 1.0, 8: 5.0}).to_polars().rows()
        [(7, 1.0), (8, 5.0)]
        """
        frame: polars.DataFrame = library("polars", "polars").DataFrame(_Stream(self))
        return frame


class Arrays(Frames):
    """One whose columns are arrays, and all of them one batch."""

    __slots__ = ()

    def _arrow_arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name, of one length."""
        raise NotImplementedError

    def _arrow_table(self) -> Table:
        arrays = self._arrow_arrays()
        return fields_of(arrays), (batch_of(each) for each in (arrays,))

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        arrays = self._arrow_arrays()
        return _core.arrow_array(fields_of(arrays), batch_of(arrays))
