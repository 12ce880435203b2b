"""The layouts that the tests run over: each kind of members with each width of scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from model.kinds import KINDS, LIMITS, array_of


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
    def kind(self) -> type:
        """The type of one member."""
        return KINDS[self.member]

    @property
    def widest(self) -> dict[str, Any]:
        """The keywords of the layout that holds all that this one does."""
        return {"member": "int64" if self.kind is int else self.member, "score": "float64"}

    @property
    def lowest(self) -> int:
        return LIMITS[self.member][0]

    @property
    def highest(self) -> int:
        return LIMITS[self.member][1]

    @property
    def is_float32(self) -> bool:
        return self.score == "float32"

    def nth(self, i: int) -> Any:
        """The i-th of a series of members that ascends, for i from 0 to 2**31 - 1."""
        if self.kind is int:
            return i
        if self.kind is UUID:
            return UUID(int=i << 64 | 7)
        # Lengths and prefixes differ, as those of names do.
        text = f"{i:010}" + "é" * (i % 3) + "\0long" * (i % 5)
        return text if self.kind is str else text.encode()

    def series(self, *numbers: int) -> list[Any]:
        """`series(5)` and `series(2, 9)` as range() counts, `nth` of each."""
        return [self.nth(i) for i in range(*numbers)]

    def array(self, members: Any) -> np.ndarray:
        """Members as one array, of the dtype that bulk reads have."""
        return array_of(list(members), self.member)

    def values(self, array: np.ndarray) -> list[Any]:
        """The members in such an array."""
        if self.kind is UUID:
            return [UUID(bytes=raw) for raw in array.tolist()]
        return array.tolist()


SCORES = ("float32", "float64")
LAYOUTS = [Layout(member, score) for member in ("int32", "int64") for score in SCORES]
NAME_LAYOUTS = [Layout(member, score) for member in ("str", "bytes", "uuid") for score in SCORES]
ALL_LAYOUTS = LAYOUTS + NAME_LAYOUTS


def configurations() -> Iterator[dict[str, Any]]:
    """Layouts of integers compressed or not, with no debt, some debt and any debt to the order.

    Names meet each of these choices too, but not every pair of them: the order knows no kinds.
    """
    for layout in LAYOUTS:
        for compress in (True, False):
            for merge_exponent in (0.0, 0.5, 1.0):
                yield {**layout.options, "compress": compress, "merge_exponent": merge_exponent}
    for layout in NAME_LAYOUTS:
        for compress, merge_exponent in ((True, 0.0), (False, 0.5), (True, 1.0)):
            yield {**layout.options, "compress": compress, "merge_exponent": merge_exponent}
