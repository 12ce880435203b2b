"""What a type checker must refuse, each line with mypy's code for it; never run."""

from __future__ import annotations

from goblin import Hash, SortedSet


def wrong(z: SortedSet[int]) -> None:
    z["five"] = 1.0  # error: index
    z[5] = "high"  # error: assignment
    z.add(5, 1.0, mode="upsert")  # error: arg-type
    z.top(n="all")  # error: arg-type
    z.rank(5, method="first")  # error: call-overload
    z.count(0, 1, closed="open")  # error: arg-type
    z.no_such_method()  # error: attr-defined


def wrong_hash(h: Hash[str, int]) -> None:
    h["a"] = "one"  # error: assignment
    h[5]  # error: index
    h.set_many(["a"], [1], only="nx")  # error: arg-type
    Hash(key="uuid")  # error: arg-type
