"""Arrow streams, for the tables of operations."""

from __future__ import annotations

from typing import Any


def streamed(one: Any) -> None:
    """Has a table made, batch by batch, without a library that would need memory, too."""
    one.__arrow_c_schema__()
    stream = one.__arrow_c_stream__()
    assert stream
    for batch in one._arrow_table()[1]:
        assert batch
