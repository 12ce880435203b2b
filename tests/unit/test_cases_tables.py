"""Faults others met, about memory, in tables and boards: churn (B58), mass removal (B59), id ranges
(B64), overwrites that change length (B65)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.compare import assert_memory as assert_set_memory
from model.hash_checks import assert_memory

from goblin import Boards, HashTable

FIELDS = ["name", "elo", "won"]


def row(i: int, length: int = 100) -> dict[str, str]:
    """Three fields; rows of 64 bytes and more are of lengths that free lists don't all have."""
    return {"name": "x" * length, "elo": str(i), "won": str(i % 7)}


def assert_slim(table: HashTable[Any, Any, Any], factor: int) -> None:
    table._validate()
    assert_memory(table)
    assert table._live_bytes() <= factor * HashTable(table)._live_bytes() + 2048


class TestB58Churn:
    @pytest.mark.parametrize("live", [0, 1, 300])
    @pytest.mark.parametrize("length", [3, 100, 5000])
    def test_fresh_records_come_and_go(self, live: int, length: int) -> None:
        table = HashTable({f"live:{i}": row(i) for i in range(live)})
        for i in range(3000):
            table[f"fresh:{i}"] = row(i, length + i % 40)
            del table[f"fresh:{i}"]
        assert len(table) == live
        assert_slim(table, 3)

    def test_a_sliding_window(self) -> None:
        table: HashTable[str, str, str] = HashTable()
        for i in range(5000):
            table[str(i)] = row(i, 50 + i % 90)
            table.pop(str(i - 500), None)
        assert sorted(map(int, table)) == list(range(4500, 5000))
        assert_slim(table, 3)

    def test_shapes_and_names_go_with_the_last_record_that_has_them(self) -> None:
        table = HashTable({"kept": row(1)})
        alone = table.memory().shapes
        for i in range(3000):
            table["fresh"] = {f"field:{i}": "1", "name": "2"}
        del table["fresh"]
        assert table.memory().shapes <= 2 * alone + 512
        assert_slim(table, 3)

    def test_boards(self) -> None:
        boards: Boards[str, int] = Boards(member="int64")
        for i in range(3000):
            boards.increment_many(["a", "b"], [i, i])
            for z in boards.values():
                z.discard(i - 100)
        assert [len(z) for z in boards.values()] == [100, 100]
        for z in boards.values():
            z._validate()
            assert_set_memory(z)
        fresh = Boards.from_arrays(["a", "b"] * 100, np.repeat(np.arange(2900, 3000), 2))
        assert boards.memory().total <= 4 * fresh.memory().total


class TestB59MassRemoval:
    @pytest.mark.parametrize("left", [0, 1, 10])
    @pytest.mark.parametrize("length", [3, 100])
    @pytest.mark.parametrize(
        "way",
        [
            lambda t, gone: [t.pop(key) for key in gone],
            lambda t, gone: [t.__delitem__(key) for key in reversed(gone)],
            lambda t, gone: [t.popitem() for _ in gone],
        ],
        ids=["ascending", "descending", "any"],
    )
    def test_the_memory_comes_back(
        self, way: Callable[[Any, list[str]], Any], length: int, left: int
    ) -> None:
        table = HashTable({str(i): row(i, length) for i in range(3000)})
        peak, walk = table._live_bytes(), iter(table)
        next(walk)
        way(table, [str(i) for i in range(left, 3000)])
        assert len(table) == left
        with pytest.raises(RuntimeError):
            next(walk)
        assert table._live_bytes() < peak / 20
        assert_slim(table, 4)

    def test_shapes_of_all_kinds_are_given_back_when_all_are_gone(self) -> None:
        table = HashTable({str(i): {f"f{i}": "1", "g": "2"} for i in range(2000)})
        assert table.memory().shapes > 100_000
        for i in range(2000):
            del table[str(i)]
        assert table._live_bytes() <= HashTable()._live_bytes()
        table.update({"a": row(1)})
        table.clear()
        assert table._live_bytes() <= HashTable()._live_bytes()

    def test_shapes_are_given_back_while_some_stay(self) -> None:
        table = HashTable({str(i): {f"f{i}": "1", "g": "2"} for i in range(2000)})
        for i in range(1990):
            del table[str(i)]
        assert_slim(table, 4)


class TestB64MemoryDoesNotDependOnTheLargestId:
    def test_boards(self) -> None:
        far = [0, 2**40, 2**62, -(2**63), 2**63 - 1]
        boards = Boards.from_arrays(["a"] * 5 + ["b"] * 5, far + far)
        assert boards.memory().total < 8192
        assert [len(z) for z in boards.values()] == [5, 5]


class TestB65LengthsThatChange:
    def test_overwrites_leave_no_holes(self) -> None:
        table = HashTable({str(i): row(i) for i in range(100)})
        for i in range(5000):
            table[str(i % 100)]["name"] = "v" * (10, 200, 30, 1000, 0)[i % 5]
        assert_slim(table, 3)
        table.optimize()
        assert_slim(table, 1)

    def test_digits_that_grow(self) -> None:
        table = HashTable({str(i): {"n": 9, "other": 1} for i in range(100)}, value="int64")
        for power in range(18):
            for i in range(100):
                table[str(i)].increment("n", 9 * 10**power)
        fresh = HashTable(table.to_dict(), value="int64")
        assert table._live_bytes() <= 3 * fresh._live_bytes()
        assert_memory(table)
        table._validate()
