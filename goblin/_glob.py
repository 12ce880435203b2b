"""Redis' glob patterns as regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import AnyStr


def matcher(pattern: AnyStr) -> Callable[[AnyStr], object]:
    """A function that is true of the texts of a pattern: by character of str, by byte of bytes.

    `*` is any run, `?` any one, `[a-z]` and `[^a-z]` one of a class, `\\` takes the next as it is.
    A class that is not closed ends with the pattern, and `]` closes it also where it comes first.
    """
    if isinstance(pattern, bytes):
        return re.compile(_translate(pattern.decode("latin-1")).encode("latin-1")).fullmatch
    return re.compile(_translate(pattern)).fullmatch


def _translate(pattern: str) -> str:
    """Each run between two stars matches at its first place or nowhere, so that none is retried."""
    runs = [""]
    while pattern:
        if pattern[0] == "*":
            runs.append("")
            pattern = pattern[1:]
        else:
            part, pattern = _one(pattern)
            runs[-1] += part
    if len(runs) == 1:
        return f"(?s:{runs[0]})"
    between = "".join(f"(?>.*?{run})" for run in runs[1:-1] if run)
    return f"(?s:{runs[0]}{between}.*{runs[-1]})"


def _one(pattern: str) -> tuple[str, str]:
    """The expression for one character, and the pattern that follows."""
    if pattern[0] == "?":
        return ".", pattern[1:]
    if pattern[0] == "[":
        return _class(pattern[1:])
    if pattern[0] == "\\" and len(pattern) > 1:
        pattern = pattern[1:]
    return re.escape(pattern[0]), pattern[1:]


def _class(pattern: str) -> tuple[str, str]:
    inverted = pattern.startswith("^")
    pattern = pattern[inverted:]
    ranges = ""
    while pattern and pattern[0] != "]":
        if pattern[0] == "\\" and len(pattern) > 1:
            ends, pattern = pattern[1] * 2, pattern[2:]
        elif pattern[1:2] == "-" and len(pattern) > 2:
            ends, pattern = pattern[0] + pattern[2], pattern[3:]
        else:
            ends, pattern = pattern[0] * 2, pattern[1:]
        ranges += "-".join(re.escape(end) for end in sorted(ends))
    if ranges:
        return f"[{'^' if inverted else ''}{ranges}]", pattern[1:]
    return "." if inverted else "(?!)", pattern[1:]
