"""Snapshot files, for the tables of operations."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any


def saved(one: Any) -> None:
    """Saves a container and reads it again, copied and mapped."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "snapshot")
        one.save(path)
        type(one).load(path)
        type(one).load(path, mmap=True)
