"""What sets of names give back: its types one by one, in bulk, and as text."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from model import fixtures
from model.compare import assert_memory, assert_same
from model.layouts import NAME_LAYOUTS, Layout

from goblin import SortedSet

DTYPES = {str: np.dtypes.StringDType(), bytes: np.dtype(object), UUID: np.dtype("V16")}
layout = fixtures.over(NAME_LAYOUTS)


@pytest.fixture(params=[3, 64, 65, 600])
def names(request: pytest.FixtureRequest, layout: Layout) -> list[Any]:
    return layout.series(request.param)


@pytest.fixture
def z(make: Any, names: list[Any]) -> SortedSet:
    """Scores fall where members ascend, so that ranks count from the last name."""
    return make(names, np.arange(len(names))[::-1])


def test_one_by_one(z: SortedSet, names: list[Any], layout: Layout) -> None:
    first, last = names[0], names[-1]
    for pair in (
        z.by_rank[0],
        z.bottom(1)[0],
        next(iter(z.items())),
        z.top(10**6).to_list()[-1],
        z.most_common()[-1],
        z.page(10**6).rows[-1],
        z.around(last, 0)[0],
        z.copy().popitem(),
        z.copy().pop_min(),
        z.copy().pop_min(1)[0],
        z.range_by_score(0, 0)[0],
    ):
        assert pair == (last, 0.0)
        assert [type(part) for part in pair] == [layout.kind, float]
    assert z.pop_max() == (first, len(names) - 1)
    for walk in (list(z), list(z.keys()), list(z.to_dict()), list(reversed(list(reversed(z))))):
        assert walk == names[:0:-1]
        assert {type(member) for member in walk} == {layout.kind}


@pytest.mark.parametrize(
    "read",
    [
        lambda z: z.bottom(10**6),
        lambda z: z.by_rank[:],
        lambda z: z.by_rank[np.arange(len(z))],
        lambda z: z.range_by_score(),
        lambda z: z.page(10**6, descending=False).rows,
        lambda z: z.top(10**6)[::-1],
        lambda z: z.copy().pop_min(10**6),
        lambda z: z.around(next(iter(z)), 10**6),
    ],
)
def test_rows(z: SortedSet, names: list[Any], layout: Layout, read: Callable[[Any], Any]) -> None:
    rows = read(z)
    assert rows.members.dtype == DTYPES[layout.kind]
    assert rows.scores.dtype == layout.score
    assert_same(layout.array(names[::-1]), rows.members)
    assert rows.ranks.tolist() == list(range(len(names)))
    assert rows == z.bottom(len(names)) == list(z.items())
    assert rows.to_list() == list(rows) == list(z.items())
    for i in (0, 1, -1):
        member, score = rows[i]
        assert (member, score) == (names[::-1][i], float(range(len(names))[i]))
        assert (type(member), type(score)) == (layout.kind, float)
    part = rows[1:3]
    assert part.to_list() == list(z.items())[1:3]
    assert part.members.dtype == DTYPES[layout.kind]
    assert rows != rows[1:]


def test_arrays_belong_to_the_caller(z: SortedSet, names: list[Any], layout: Layout) -> None:
    members, scores = z.to_numpy()
    assert members.flags.writeable
    assert members.flags.c_contiguous
    z.clear()
    z.update(layout.series(5000, 6000), 1.0)
    assert layout.values(members) == names[::-1]
    members[0] = members[-1]
    scores[:] = math.nan
    z._validate()


def test_empty(make: Any, layout: Layout) -> None:
    z = make()
    assert z.member_dtype == layout.member
    assert z.layout == str(layout)
    for rows in (z.top(), z.by_rank[:], z.range_by_score(), z.pop_min(3), z.page(3).rows):
        assert len(rows) == 0
        assert rows.members.dtype == DTYPES[layout.kind]
    assert z.to_numpy()[0].dtype == DTYPES[layout.kind]
    assert z.to_dict() == {}
    assert z.digest() == SortedSet(member="int64").digest()


def test_bulk_results_go_back_in(z: SortedSet, make: Any) -> None:
    members, scores = z.to_numpy()
    assert z.scores(members).tolist() == scores.tolist()
    assert z.ranks(members).tolist() == list(range(len(z)))
    assert make(members, scores).digest() == z.digest()
    assert make(z.by_rank[:]).digest() == z.digest()
    assert z.remove(members[::2]) == len(members[::2])
    assert z.update(members, scores).added == len(members[::2])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, SortedSet, SortedSet.copy])
def test_copies(z: SortedSet, layout: Layout, duplicate: Callable[[Any], Any]) -> None:
    twin = duplicate(z)
    kept = list(z.items())
    assert twin.layout == z.layout
    assert list(twin.items()) == kept
    assert twin == z
    twin.increment_many(layout.series(0, 900, 2), 0.5)
    twin.remove(layout.series(0, 900, 3))
    twin.pop_min(10)
    assert list(z.items()) == kept
    twin.clear()
    for each in (z, twin):
        each._validate()
        assert_memory(each)


def test_equality(z: SortedSet, names: list[Any], layout: Layout) -> None:
    content = z.to_dict()
    assert z == content
    assert z == SortedSet(content, **layout.widest)
    assert z != {**content, names[0]: -1.0}
    assert z != dict(list(content.items())[1:])
    assert z != {**dict(list(content.items())[1:]), layout.nth(9999): content[names[-1]]}
    assert z.keys() == set(names)
    assert z.keys() & {names[0], layout.nth(9999)} == {names[0]}


def test_key_errors_name_the_member(z: SortedSet, layout: Layout) -> None:
    absent = layout.nth(9999)
    for call in (lambda: z[absent], lambda: z.rank(absent), lambda: z.pop(absent)):
        with pytest.raises(KeyError) as caught:
            call()
        assert caught.value.args[0] == absent


def test_iterators_notice_changes(z: SortedSet, names: list[Any], layout: Layout) -> None:
    walk = iter(z)
    assert next(walk) == names[-1]
    z.add(names[0], z[names[0]])
    z.optimize()
    assert next(walk) == names[-2]
    z.add(layout.nth(9999), 1.0)
    with pytest.raises(RuntimeError):
        next(walk)


def test_pages_outlive_their_last_row(z: SortedSet, names: list[Any]) -> None:
    rows, cursor = z.page(2, descending=False)
    assert rows.to_list() == list(z.items())[:2]
    z.remove(names[-2:])
    rest, _ = z.page(10**6, after=cursor, descending=False)
    assert rest.to_list() == list(z.items())


def test_structured_arrays(z: SortedSet, layout: Layout) -> None:
    for array in (np.asarray(z), np.asarray(z.by_rank[:])):
        assert array.dtype.names == ("member", "score")
        assert array["score"].tolist() == list(z.values())
        assert layout.values(array["member"]) == list(z)


def test_text_of_odd_names(make: Any, layout: Layout) -> None:
    """Neither a line break nor markup of a name gets out of its cell."""
    odd = ["<b>&amp;</b>", "a\nb", "tab\t", "\x1b[31m", "\0", "", "'\"", "é\u2028"]
    if layout.kind is UUID:
        odd = layout.series(8)
    elif layout.kind is bytes:
        odd = [text.encode() for text in odd] + [b"\xff"]
    z = make(odd, 1.0)
    rows = z.top(len(odd))
    assert len(str(rows).splitlines()) == len(odd) + 2
    html = rows._repr_html_()
    for text in (repr(z), z._repr_html_(), repr(rows), str(rows), html):
        assert not set(text) & set("\x1b\0\t\u2028")
    assert "<b>" not in html
    assert html.count("<tr>") == len(odd) + 1
    assert str(layout) in repr(z)
