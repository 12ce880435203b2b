"""How objects show themselves: in one line, as a table of text, and as one of HTML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

SHOWN = 10
"""Rows of a table, of however many there are."""

_IN_LINE = 3
_LONGEST = 80


class Cell(NamedTuple):
    """What stands in a table; numbers stand to the right."""

    text: str
    is_number: bool = False


def clipped(value: object) -> str:
    """What `repr` gives, of a long one its ends."""
    return _ends(repr(value))


def _ends(text: str, longest: int = _LONGEST) -> str:
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 3]}...{text[-tail:]}"


def text_cell(value: object, longest: int = _LONGEST) -> Cell:
    """A member, key or value: as it is, unless it would break the table."""
    plain = str(value)
    text = plain if plain.isprintable() and not isinstance(value, bytes) else repr(value)
    return Cell(_ends(text, longest), isinstance(value, int | float))


def number_cell(value: Any) -> Cell:
    """A score, rank or number of bytes, with separators of thousands."""
    return Cell("-" if math.isnan(value) else f"{value:,}", True)


def line(title: str, count: int, entries: Iterable[object]) -> str:
    """The number of entries and the first few of them."""
    first = [clipped(entry) for entry in itertools.islice(entries, _IN_LINE)]
    if count > len(first):
        first.append("...")
    return f"{title}({count:,}{': ' if first else ''}{', '.join(first)})"


def text_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Cell]], more: int) -> str:
    """Rows in columns, and a last one that says how many more there are."""
    table = [tuple(head), *(tuple(cell.text for cell in row) for row in rows)]
    if more:
        table.append(tuple(f"{more:,} more" if name == "member" else "..." for name in head))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join((title, *lines))


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Cell]], footer: str = ""
) -> str:
    """Rows in a table that takes its colours from the page it is in.

    A name in it is neither markup nor, between dollars, a formula.
    """
    from html import escape

    def row(tag: str, cells: Sequence[Cell]) -> str:
        columns = (
            f'<{tag} style="text-align: {"right" if cell.is_number else "left"}">'
            f"{escape(cell.text)}</{tag}>"
            for cell in cells
        )
        return f"<tr>{''.join(columns)}</tr>"

    body = list(rows)
    aligned = body[0] if body else [Cell("")] * len(head)
    top = [Cell(title, cell.is_number) for title, cell in zip(head, aligned, strict=True)]
    last = f'<tr><td colspan="{len(head)}" style="text-align: left">{escape(footer)}</td></tr>'
    return (
        '<table class="tex2jax_ignore mathjax_ignore">'
        f'<caption style="text-align: left; white-space: nowrap">{escape(caption)}</caption>'
        f"<thead>{row('th', top) if head else ''}</thead>"
        f"<tbody>{''.join(row('td', cells) for cells in body)}</tbody>"
        f"{f'<tfoot>{last}</tfoot>' if footer else ''}</table>"
    )


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown_of(count: int, noun: str, which: str = "") -> str:
    """How many rows of a table there are, and which of them it has."""
    everything = counted(count, noun)
    return everything if count <= SHOWN else f"{which} {SHOWN} of {everything}".lstrip()
