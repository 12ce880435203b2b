"""What goblin raises and warns beyond Python's own exceptions."""

from __future__ import annotations

__all__ = ["GoblinError", "PrecisionWarning", "SnapshotError", "TraceError"]


class GoblinError(Exception):
    """Base of goblin's own exceptions."""


class SnapshotError(GoblinError, ValueError):
    """Bytes are no snapshot, one of another container, or a damaged one; the text says what."""


class TraceError(GoblinError, ValueError):
    """A trace file is damaged or of another format; the text names the file and the line."""


class PrecisionWarning(UserWarning):
    """A number could not be kept to its last digit."""
