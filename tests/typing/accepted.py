"""What a type checker must infer; read by mypy in test_typing.py, never run."""

from __future__ import annotations

from typing import Any, assert_type

from numpy.typing import NDArray

from goblin import (
    Changes,
    Digest,
    Hash,
    HashMemory,
    HashTable,
    HashTableMemory,
    MemoryReport,
    Page,
    Record,
    Rows,
    SortedSet,
)


def construct() -> None:
    z: SortedSet[int] = SortedSet(member="int64", score="float32")
    SortedSet({1: 2.0}, member="int32", compress=False, merge_exponent=0.5)
    z.update({1: 2.0}, mode="gt")


def one_member(z: SortedSet[int]) -> None:
    assert_type(z[5], float)
    assert_type(z.add(5, 1.0, mode="nx"), bool)
    assert_type(z.increment(5), float)
    assert_type(5 in z, bool)
    for member, score in z.items():
        assert_type(member, int)
        assert_type(score, float)


def bulk(z: SortedSet[int], members: NDArray[Any]) -> None:
    assert_type(z.update(members, 1.0), Changes)
    assert_type(z.remove(members), int)
    z.increment_many(members, 2.0, progress=True)


def ordered(z: SortedSet[int]) -> None:
    assert_type(z.top(3), Rows[int])
    assert_type(z.range_by_score(0, 1, closed="left", limit=5), Rows[int])
    assert_type(z.around(5, n=2), Rows[int])
    assert_type(z.by_rank[0], tuple[int, float])
    assert_type(z.by_rank[0:5], Rows[int])
    assert_type(z.page(10), Page[int])
    assert_type(z.count(0, 1), int)


def reports(z: SortedSet[int]) -> None:
    assert_type(z.memory(), MemoryReport)
    assert_type(z.digest(), Digest)
    assert_type(z.layout, str)
    assert_type(len(z), int)


def hashes(h: Hash[str, str], numbers: Hash[bytes, int]) -> None:
    made: Hash[bytes, float] = Hash(key="bytes", value="float64", max_compact_fields=5)
    assert_type(made.get(b"a"), float | None)
    assert_type(h["name"], str)
    assert_type(h.get("name"), str | None)
    assert_type(h.pop("name", 0), str | int)
    assert_type(h.popitem(), tuple[str, str])
    assert_type(h.increment("elo", 0.5), float)
    assert_type(h.set_many(["a"], ["1"], only="new"), int)
    assert_type(numbers.pop_many([b"a"]), list[int | None])
    assert_type(numbers.sample(2), list[tuple[bytes, int]])
    assert_type(h | {"elo": "1500"}, Hash[str, str])
    assert_type({"elo": "1500"} | h, Hash[str, str])
    assert_type(h.is_compact, bool)
    assert_type(h.memory(), HashMemory)
    for key, value in numbers.items():
        assert_type(key, bytes)
        assert_type(value, int)


def tables(t: HashTable[str, str, int], row: Record[bytes, float]) -> None:
    made: HashTable[str, bytes, float] = HashTable(field="bytes", value="float64")
    assert_type(made["ann"], Record[bytes, float])
    assert_type(t["ann"]["elo"], int)
    assert_type(t.get("ann"), Record[str, int] | None)
    assert_type(t.popitem(), tuple[str, Hash[str, int]])
    assert_type(t.to_dict(), dict[str, dict[str, int]])
    assert_type(t.memory(), HashTableMemory)
    assert_type(row.get(b"a"), float | None)
    assert_type(row.copy(), Hash[bytes, float])
    assert_type(row | {b"elo": 1500.0}, Hash[bytes, float])
    assert_type(t | {"bob": {"elo": 1400}}, HashTable[str, str, int])
    t["bob"] = {"elo": 1400}
    t["cyd"] = [("elo", 1400)]
    for key, record in t.items():
        assert_type(key, str)
        assert_type(record, Record[str, int])
