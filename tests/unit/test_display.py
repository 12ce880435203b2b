"""One line in a terminal, a small table in a notebook."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from goblin import Boards, Hash, HashTable, SortedSet

NASTY = ["<script>alert(1)</script>", "a & b", "$x^2$", "two\nlines", "\x1b[31m", "‮rtl", "", "é"]


class Table(HTMLParser):
    """What a browser would see of a table: text by row, and no element that is not one of it."""

    ELEMENTS = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.caption = ""
        self.rows: list[list[str]] = []
        self.footer = ""
        self.styles: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ELEMENTS
        self._open.append(tag)
        self.styles += [value or "" for name, value in attrs if name == "style"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1] == "caption":
            self.caption += data
        elif "tfoot" in self._open:
            self.footer += data
        else:
            self.rows[-1][-1] += data

    @property
    def head(self) -> list[str]:
        return self.rows[0]

    @property
    def body(self) -> list[list[str]]:
        return self.rows[1 : len(self.rows) - bool(self.footer)]


def shown(one: Any) -> Table:
    return Table(one._repr_html_())


def many(n: int) -> dict[str, Any]:
    """One of everything, with n things in it."""
    table = HashTable({f"key:{i}": {"a": i, "b": i} for i in range(n)}, value="int64")
    table["wide"] = {f"field:{i}": i for i in range(n)}
    boards = Boards.from_arrays(range(n), range(n), member="int64")
    return {
        "SortedSet": SortedSet(range(n), np.arange(n) * 1.0),
        "Rows": SortedSet(range(n), np.arange(n) * 1.0).top(n),
        "Boards": boards,
        "BoardRows": boards.top(),
        "Hash": Hash({f"key:{i}": i for i in range(n)}, value="int64"),
        "HashTable": table,
        "Record": table["wide"],
        "MemoryReport": boards.memory(),
        "HashMemory": Hash().memory(),
        "HashTableMemory": table.memory(),
    }


@pytest.mark.parametrize("n", [0, 1, 10, 11, 5000])
@pytest.mark.parametrize("kind", many(0))
def test_everything_is_one_line_and_a_small_table(kind: str, n: int) -> None:
    one = many(n)[kind]
    assert len(repr(one).splitlines()) == 1
    assert len(repr(one)) < 400
    page = shown(one)
    assert page.caption.startswith(kind)
    assert len(page.body) <= 10
    assert {len(row) for row in page.body} <= {len(page.head)}
    assert not [style for style in page.styles if "color" in style or "background" in style]


def test_a_sorted_set_shows_its_highest() -> None:
    page = shown(SortedSet({7: 1234567.0, 8: -0.5, 9: np.inf}, member="int32"))
    assert page.caption == "SortedSet: 3 members"
    assert page.head == ["rank", "member", "score"]
    assert page.body == [["2", "9", "inf"], ["1", "7", "1,234,567.0"], ["0", "8", "-0.5"]]
    assert re.fullmatch(r"int32-float64, [\d.]+ bytes per member", page.footer)
    large = shown(SortedSet(range(12_000), np.arange(12_000)))
    assert large.caption == "SortedSet: the highest 10 of 12,000 members"
    assert large.body[0] == ["11,999", "11999", "11,999.0"]
    assert shown(SortedSet()).footer == "str-float64"


def test_rows() -> None:
    rows = SortedSet(range(1, 15), 1000.0).bottom(14)
    assert repr(rows) == "Rows(14: (1, 1000.0), (2, 1000.0), (3, 1000.0), ...)"
    assert repr(rows[:2]) == "Rows(2: (1, 1000.0), (2, 1000.0))"
    assert repr(rows[:0]) == "Rows(0)"
    assert str(rows[:1]).splitlines()[1:] == ["rank  member    score", "   0       1  1,000.0"]
    assert str(rows).splitlines()[-1].split() == ["...", "4", "more", "..."]
    assert shown(rows).caption == "Rows: the first 10 of 14 rows"
    assert shown(rows).body[9] == ["9", "10", "1,000.0"]


def test_boards_show_the_highest_of_each() -> None:
    day = datetime.date(2026, 8, 31)
    boards = Boards.from_arrays([day, day], ["ann", "bob"], [1, 2])
    page = shown(boards)
    assert (page.caption, page.body) == (
        "Boards: 1 board, 2 members",
        [["2026-08-31", "2", "bob", "2.0"]],
    )
    assert re.fullmatch(r"str-float64, [\d.]+ bytes per member", page.footer)
    boards[day].clear()
    assert shown(boards).body == [["2026-08-31", "0", "", ""]]
    assert shown(boards.top(1)).head == ["group", "rank", "member", "score"]


def test_hashes_and_tables() -> None:
    page = shown(Hash({"name": "Ann"}))
    assert (page.head, page.body) == (["key", "value"], [["name", "Ann"]])
    assert re.fullmatch(r"str-str, compact, [\d.]+ bytes per field", page.footer)
    assert "full" in shown(Hash({"a": "b"}, max_compact_fields=0)).footer
    table = HashTable({"ann": {"elo": 1500}, "bob": {"won": 3}}, value="int64")
    page = shown(table)
    assert sorted(page.body) == sorted(
        [name, *({"elo": "1500", "won": "3"}[f] if f == field else "" for f in page.head[1:])]
        for name, field in (("ann", "elo"), ("bob", "won"))
    )
    assert re.fullmatch(r"str, str-int64, [\d.]+ bytes per record", page.footer)
    record = table["ann"]
    page = shown(record)
    assert (page.caption, page.body) == ("Record 'ann': 1 field", [["elo", "1500"]])
    del table["ann"]
    assert (shown(record).caption, shown(record).body) == ("Record 'ann': gone", [])
    table["wide"] = {f"f{i}": i for i in range(30)}
    assert repr(table["wide"]).endswith(", ...})")
    assert repr(table["wide"]).count(":") == 10
    assert len(shown(table).head) == 11
    assert "21 more fields" in shown(table).footer


def test_memory_reports() -> None:
    report = SortedSet(range(5000), 1.0).memory()
    page = shown(report)
    assert page.head == ["part", "bytes", "share"]
    assert page.body[-1] == ["total", f"{report.total:,}", "100.0%"]
    assert page.footer == f"{report.per_member:,.2f} bytes per member"
    assert shown(SortedSet().memory()).footer == ""


@pytest.mark.parametrize("name", [*NASTY, "x" * 100_000, b"\xff<b>", uuid.UUID(int=7), 2**62])
def test_names_stay_in_their_cells(name: Any) -> None:
    """Neither markup, nor a formula, nor a line break, nor what turns text around."""
    ones = [SortedSet({name: 1.0}), SortedSet({name: 1.0}).top()]
    if isinstance(name, str):
        table = HashTable({name: {name: name}})
        ones += [Hash({name: name}), table, table[name]]
        ones += [Boards.from_arrays([name], [name]), Boards.from_arrays([name], [name]).top()]
    for one in ones:
        page = shown(one)
        texts = [repr(one), one._repr_html_(), *page.rows[1], page.caption]
        assert all(text.isprintable() for text in texts)
        assert max(map(len, texts[2:])) < 120
        assert len(repr(one)) < 400
        assert 'class="tex2jax_ignore mathjax_ignore"' in one._repr_html_()
    if isinstance(name, str) and name.isprintable() and len(name) < 80:
        assert shown(ones[0]).body[0][1] == name


@pytest.mark.parametrize("look", [repr, lambda z: z._repr_html_()])
def test_looking_builds_no_order(make: Any, layout: Any, look: Callable[[Any], str]) -> None:
    z = make(layout.series(5000), np.arange(5000) % 1000)
    before = z.memory()
    for _ in range(9):
        look(z)
    assert z.memory() == before
    assert not z._structure()["order_built"]
    for _ in range(9):
        z.top(1)
    assert z._structure()["order_built"]
    with_order = look(z)
    assert re.sub("[0-9.]+ bytes", "", with_order) == re.sub(
        "[0-9.]+ bytes", "", look(make(layout.series(5000), np.arange(5000) % 1000))
    )


class Named(SortedSet):
    """A subclass."""


def test_subclasses_have_their_name() -> None:
    assert repr(Named()).startswith("Named(")
    assert shown(Named({1: 1.0})).caption == "Named: 1 member"
