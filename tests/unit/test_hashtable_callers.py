"""What code of the caller may do while a HashTable or a Record reads its input."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from goblin import Hash, HashTable

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda table, pairs: table["ann"].update(pairs),
    "set_many": lambda table, pairs: table["ann"].set_many((key for key, _ in pairs), ["2"]),
    "pop_many": lambda table, pairs: table["ann"].pop_many(key for key, _ in pairs),
    "setdefault": lambda table, pairs: table.setdefault("bob", pairs),
}


def pairs_after(change: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    change()
    yield "won", "2"


@pytest.mark.parametrize("call", CALLS)
def test_other_threads_go_on_meanwhile(call: str) -> None:
    table = HashTable({"ann": {"elo": "1500"}})

    def wait_for_another() -> None:
        thread = threading.Thread(target=lambda: table["ann"].get("elo"), daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()

    CALLS[call](table, pairs_after(wait_for_another))


class Number:
    """A number that runs code when it is read or compared."""

    def __init__(self, change: Callable[[], Any]) -> None:
        self.change = change

    def __index__(self) -> int:
        self.change()
        return 1

    def __float__(self) -> float:
        return float(self.__index__())

    def __eq__(self, other: object) -> bool:
        return other == self.__index__()

    __hash__ = None  # type: ignore[assignment]


NUMBER_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "setdefault": lambda table, n: table["ann"].setdefault("won", n),
    "increment": lambda table, n: table["ann"].increment("won", n),
    "increment_many": lambda table, n: table["ann"].increment_many(["won"], n),
    "increment_many each": lambda table, n: table["ann"].increment_many(["won"], [n]),
    "setdefault of a record": lambda table, n: table.setdefault("bob", {"won": n}),
    "== of a table": lambda table, n: table == {"ann": {"elo": n}},
    "== of a record": lambda table, n: table["ann"] == {"elo": n},
}


@pytest.mark.parametrize("value", ["int64", "float64"])
@pytest.mark.parametrize("call", NUMBER_CALLS)
def test_numbers_are_read_before_the_table_is_held(call: str, value: Any) -> None:
    table = HashTable({"ann": {"elo": 1500}}, value=value)
    reads = []

    def use_in_another_thread() -> None:
        thread = threading.Thread(target=lambda: reads.append(len(table)), daemon=True)
        thread.start()
        thread.join(10)

    NUMBER_CALLS[call](table, Number(use_in_another_thread))
    assert reads
    if "==" not in call:
        assert table["bob" if "record" in call else "ann"]["won"] == 1


@pytest.mark.parametrize("same", [True, False])
def test_comparisons_of_a_hash_hold_nothing(same: bool) -> None:
    h = Hash({"elo": 1500 - 1499 * same}, value="int64")
    reads: list[int] = []

    def use_in_another_thread() -> None:
        thread = threading.Thread(target=lambda: reads.append(len(h)), daemon=True)
        thread.start()
        thread.join(10)

    assert (h == {"elo": Number(use_in_another_thread)}) is same
    assert reads


@pytest.mark.parametrize("call", CALLS)
def test_changes_meanwhile_stay(call: str) -> None:
    table = HashTable({"ann": {"elo": "1500"}})
    CALLS[call](table, pairs_after(lambda: table["ann"].update(new="1")))
    assert table["ann"]["new"] == "1"


def test_a_record_removed_meanwhile_stays_away() -> None:
    table = HashTable({"ann": {"elo": "1500"}})
    with pytest.raises(KeyError):
        table["ann"].update(pairs_after(lambda: table.pop("ann")))
    assert len(table) == 0


@pytest.mark.parametrize("held", ["left", "right"])
def test_comparisons_hold_one_object_only(held: str) -> None:
    table = HashTable({"ann": {"elo": "1500"}})
    fields = Hash({"elo": "1500"})
    left: Any = table if held == "right" else fields
    right: Any = {"ann": fields} if held == "right" else table["ann"]
    holder = fields if held == "right" else table
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        ready.set()
        done.wait(10)

    thread = threading.Thread(target=lambda: holder._atomically(hold), daemon=True)
    thread.start()
    ready.wait(10)
    compared = threading.Thread(target=lambda: left == right, daemon=True)
    compared.start()
    try:
        # It waits for what is held, but others may use the other side.
        used = threading.Thread(target=lambda: len(left), daemon=True)
        compared.join(0.05)
        used.start()
        used.join(5)
        assert not used.is_alive()
    finally:
        done.set()


def test_a_second_init_that_fails_changes_nothing() -> None:
    table = HashTable({"ann": {"elo": "1500"}})
    iterator = iter(table)
    bad: Any = {"bob": {"elo": 7}}
    with pytest.raises(TypeError):
        table.__init__(bad)  # type: ignore[misc]
    assert table.to_dict() == {"ann": {"elo": "1500"}}
    assert list(iterator) == ["ann"]


def test_a_second_init_may_read_the_table_itself() -> None:
    table = HashTable({"ann": {"elo": "1500"}})
    iterator = iter(table)
    table.__init__(table)  # type: ignore[misc]
    assert table.to_dict() == {"ann": {"elo": "1500"}}
    table._validate()
    with pytest.raises(RuntimeError):
        next(iterator)


def test_a_hash_takes_a_record_of_one_moment() -> None:
    table = HashTable({"ann": {str(n): "0" for n in range(50)}})
    done = threading.Event()

    def change() -> None:
        for n in range(100_000):
            if done.is_set():
                return
            table["ann"]["0"] = str(n)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        assert all(len(Hash(table["ann"])) == 50 for _ in range(500))
    finally:
        done.set()
        thread.join()
