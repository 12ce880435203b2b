"""Arguments whose conversion runs code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Index:
    """An int whose conversion changes the set first."""

    def __init__(self, change: Callable[[], Any], value: int = 5) -> None:
        self.change, self.value = change, value

    def __index__(self) -> int:
        self.change()
        return self.value


class Real:
    """A float whose conversion changes the set first."""

    def __init__(self, change: Callable[[], Any], value: float = 1.0) -> None:
        self.change, self.value = change, value

    def __float__(self) -> float:
        self.change()
        return self.value
