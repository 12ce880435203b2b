"""The four layouts of integer members that the tests run over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np


class Layout(NamedTuple):
    member: str
    score: str

    def __str__(self) -> str:
        return f"{self.member}-{self.score}"

    @property
    def options(self) -> dict[str, Any]:
        """The keywords that make a set of this layout."""
        return {"member": self.member, "score": self.score}

    @property
    def lowest(self) -> int:
        return int(np.iinfo(self.member).min)

    @property
    def highest(self) -> int:
        return int(np.iinfo(self.member).max)

    @property
    def is_float32(self) -> bool:
        return self.score == "float32"


LAYOUTS = [
    Layout(member, score) for member in ("int32", "int64") for score in ("float32", "float64")
]


def configurations() -> Iterator[dict[str, Any]]:
    """Every layout, compressed or not, with no debt, some debt and any debt to the order."""
    for layout in LAYOUTS:
        for compress in (True, False):
            for merge_exponent in (0.0, 0.5, 1.0):
                yield {**layout.options, "compress": compress, "merge_exponent": merge_exponent}
