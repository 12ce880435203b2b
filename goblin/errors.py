"""What goblin raises and warns beyond Python's own exceptions."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["GoblinError", "PrecisionWarning", "SnapshotError", "TraceError"]


class GoblinError(Exception):
    """Base of goblin's own exceptions."""


class SnapshotError(GoblinError, ValueError):
    """Bytes are no snapshot, one of another container, or a damaged one; the text says what."""


class TraceError(GoblinError, ValueError):
    """A trace file is damaged or of another format; the text names the file and the line."""


class PrecisionWarning(UserWarning):
    """A number could not be kept to its last digit."""


def _warn_precision(text: str) -> None:
    """Warn at the line that called goblin, however deep in it this is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, PrecisionWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")  # anything, where the caller's code went through exec
    return isinstance(name, str) and name.partition(".")[0] == "goblin"
