"""Every public operation of Boards, and boards of every layout to try it on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from model.compare import assert_memory
from operations.sorted_sets import Members

from goblin import Boards, SortedSet

GROUPS = np.repeat(["a", "b", "z"], 300)
SIZES = [0, 30, 400]
Subject = tuple[Boards, Members]


def rows(m: Members) -> np.ndarray:
    return m.many(np.concatenate([np.arange(300), np.arange(300) * 7919, np.arange(300) * 2]))


OPERATIONS: dict[str, Callable[[Boards, Members], Any]] = {
    "increment": lambda b, m: b.increment("a", m.one(70_000), 0.25),
    "increment new": lambda b, m: b.increment("aa", m.one(5), 2.0),
    "increment_many": lambda b, m: b.increment_many(GROUPS, rows(m), 0.5),
    "increment_many old": lambda b, m: b.increment_many(["a"] * 300, m.many(range(300)), 40_000.0),
    "from_arrays": lambda b, m: Boards.from_arrays(GROUPS, rows(m), **m.layout.options),
    "__init__": lambda b, m: Boards(**m.layout.options).__init__(member=m.layout.member),
    "__getitem__": lambda b, m: b.__getitem__("a").rank(m.one(1), default=None),
    "__contains__": lambda b, m: b.__contains__("none"),
    "get": lambda b, m: b.get("none"),
    "__iter__": lambda b, m: list(b.__iter__()),
    "keys": lambda b, m: list(b.keys()),
    "values": lambda b, m: [len(z) for z in b.values()],
    "items": lambda b, m: list(b.items()),
    "top": lambda b, m: b.top(20).to_list(),
    "top rows": lambda b, m: (b.top(9).__array__(), b.top(3).__getitem__(0), b.top().__repr__()),
    "memory": lambda b, m: str(b.memory()),
    "__eq__": lambda b, m: b.__eq__({}),
    "__ne__": lambda b, m: b.__ne__({"a": b["a"].copy()}),
    "__repr__": lambda b, m: (b.__repr__(), b._repr_html_(), b.__len__()),
}


def build(members: Members, size: int) -> Subject:
    boards = Boards(**members.layout.options)
    boards.increment_many(["c", "b", "a"], members.many([1, 2, 3]))
    boards.increment_many(["a", "b"] * size, members.many(range(2 * size)))
    return boards, members


def objects(subject: Subject) -> Iterable[SortedSet]:
    return subject[0].values()


def content(subject: Subject) -> Any:
    boards, _ = subject
    found = []
    for group, z in boards.items():
        z._validate()
        assert_memory(z)
        found.append((group, list(z.to_dict().items()), z.digest()))
    return found
