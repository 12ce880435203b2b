"""Redis' glob, as the model of `scan` reads it: by character in a str, by byte in bytes.

`*` any run, `?` any one, `[a-z]` and `[^a-z]` one of a class, `\\` takes the next as it is. A class
that is not closed ends with the pattern; a range may be written backwards; `]` closes a class also
where it comes first, and is the end of a range after `-`. Case counts.
"""

from __future__ import annotations

Text = str | bytes


def matches(pattern: Text, text: Text) -> bool:
    """Whether the whole text is of the pattern."""
    return _matches(_letters(pattern), _letters(text))


def _letters(text: Text) -> str:
    return text.decode("latin-1") if isinstance(text, bytes) else text


def _matches(pattern: str, text: str) -> bool:
    at = 0
    while pattern and pattern[0] != "*":
        if at == len(text):
            return False
        fits, pattern = _one(pattern, text[at])
        if not fits:
            return False
        at += 1
    if not pattern:
        return at == len(text)
    rest = pattern.lstrip("*")
    return any(_matches(rest, text[i:]) for i in range(at, len(text) + 1))


def _one(pattern: str, letter: str) -> tuple[bool, str]:
    """Whether one letter fits the head of the pattern, and what comes after the head."""
    if pattern[0] == "?":
        return True, pattern[1:]
    if pattern[0] == "[":
        return _class(pattern[1:], letter)
    if pattern[0] == "\\" and len(pattern) > 1:
        pattern = pattern[1:]
    return letter == pattern[0], pattern[1:]


def _class(pattern: str, letter: str) -> tuple[bool, str]:
    inverted = pattern.startswith("^")
    pattern = pattern[inverted:]
    found = False
    while pattern and pattern[0] != "]":
        if pattern[0] == "\\" and len(pattern) > 1:
            found |= letter == pattern[1]
            pattern = pattern[2:]
        elif pattern[1:2] == "-" and len(pattern) > 2:
            lowest, highest = sorted((pattern[0], pattern[2]))
            found |= lowest <= letter <= highest
            pattern = pattern[3:]
        else:
            found |= letter == pattern[0]
            pattern = pattern[1:]
    return found != inverted, pattern[1:]
