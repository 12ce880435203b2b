"""A HashTable leaves nothing behind, used or refused."""

from __future__ import annotations

import growth

LEAK = r"""
from goblin import HashTable

def refused(call, *arguments):
    try:
        call(*arguments)
    except (TypeError, ValueError, KeyError):
        pass

def work(rounds):
    for _ in range(rounds):
        table = HashTable({"r": {"a": "1"}, "s": {"a": "2"}})
        view = table["r"]
        view["b"] = "3"
        table.column("a"), dict(view), list(table.items()), table == table.copy(), repr(table)
        view.get_many(["a", "x"]), view.increment("a"), view.pop_many(["b", "b"])
        refused(table.__setitem__, "t", {"a": 5}), refused(table.update, {"r": {}, 5: {}})
        del table["r"]
        refused(view.__getitem__, "a")
        HashTable.from_arrays(["x", "y"] * 50, {"f": ["1"] * 100, "g": ["2"] * 100})

"""


def test_nothing_is_left_behind() -> None:
    growth.check(LEAK, (300, 2000), most=500_000)
