"""Names of parameters, the same in every process."""

from __future__ import annotations

import re


def label(value: object) -> str:
    """The start of its repr, without the address."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))[:40]
