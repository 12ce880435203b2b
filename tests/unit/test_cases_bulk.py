"""Faults others met, about bulk input: flags (B07), repeats (B26), strides (B28), byte order (B29),
ids that do not fit (B30), pickling through float (B41's ids)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model.layouts import Layout

from goblin import SortedSet


class TestB07FlagsAndRepeats:
    @pytest.mark.parametrize("others", [0, 400, 6000])
    @pytest.mark.parametrize("bulk", [False, True])
    def test_answers(self, make: Any, others: int, bulk: bool) -> None:
        z = make(range(100, 100 + others), 50.0)

        def add(pairs: list[tuple[int, float]], mode: str = "set") -> tuple[int, int]:
            if bulk:
                ids, scores = zip(*pairs, strict=True)
                changes = z.update(np.array(ids), np.array(scores), mode=mode)
            else:
                changes = z.update(pairs, mode=mode)
            return changes.added, changes.changed

        assert add([(1, 1)]) == (1, 0)
        assert add([(1, 1)], "gt") == (0, 0)
        assert add([(1, 2)], "gt") == (0, 1)
        assert add([(1, 3)], "lt") == (0, 0)
        assert add([(1, 3)], "nx") == (0, 0)
        assert add([(2, -3)], "gt") == (1, 0)
        assert add([(3, 5)], "xx") == (0, 0)
        assert add([(4, 1), (4, 2)]) == (1, 1)
        assert z[4] == 2.0
        assert add([(4, 1), (4, 2)]) == (0, 2)
        assert add([(4, 5), (4, 3), (4, 5)], "gt") == (0, 1)
        assert z[4] == 5.0
        assert z.remove([4, 4]) == 1
        assert len(z) == others + 2
        z._validate()

    @pytest.mark.parametrize("mode", ["nx xx", "gt_lt", "nx_gt", "XX", "ch"])
    def test_incompatible_flags(self, make: Any, mode: str) -> None:
        z = make({1: 1.0})
        for write in (lambda: z.add(1, 3, mode=mode), lambda: z.update([1], 3, mode=mode)):
            with pytest.raises(ValueError):
                write()
        assert z == {1: 1.0}


class TestB26TheSameIdSeveralTimes:
    IDS, STEPS = np.array([7, 7, 8, 7]), np.array([1.0, 2.0, 4.0, 8.0])

    @pytest.mark.parametrize("others", [0, 6000])
    def test_all_additions_count(self, make: Any, others: int) -> None:
        z = make(range(-others, 0), 1.0)
        assert z.increment_many(self.IDS, self.STEPS) is None
        assert (z[7], z[8]) == (11.0, 4.0)
        after = z.increment_many(self.IDS, self.STEPS, return_scores=True)
        assert after.tolist() == [12.0, 14.0, 8.0, 22.0]
        assert after.dtype == z.score_dtype

    def test_scalar_step(self, make: Any) -> None:
        z = make()
        assert z.increment_many(self.IDS, 1.0, return_scores=True).tolist() == [1, 2, 1, 3]
        assert z == {7: 3.0, 8: 1.0}

    @pytest.mark.parametrize("near", [[], [8, 9], list(range(4096))])
    def test_a_hundred_thousand_times(self, make: Any, near: list[int]) -> None:
        z = make(near, 0.0)
        z.increment_many(np.full(10**5, 7))
        assert z[7] == 10**5
        z._validate()

    def test_update_keeps_the_last(self, make: Any) -> None:
        z = make()
        changes = z.update([5, 5, 5], [1.0, 3.0, 2.0])
        assert z == {5: 2.0}
        assert (changes.added, changes.changed, changes.total) == (1, 2, 1)

    def test_against_add_at(self, make: Any) -> None:
        rng = np.random.default_rng(6)
        ids, steps = rng.zipf(1.3, 60_000) % 9000, rng.integers(-8, 9, 60_000) / 2
        expected = np.zeros(9000)
        np.add.at(expected, ids, steps)
        z = make()
        z.increment_many(ids, steps)
        present = np.unique(ids)
        np.testing.assert_array_equal(z.scores(present), expected[present])
        assert len(z) == len(present)
        z._validate()


def packed_record() -> tuple[np.ndarray, np.ndarray]:
    table = np.zeros(5, dtype=[("p", "i1"), ("id", "<i4"), ("w", "<f8")])
    table["id"], table["w"] = [1, 2, 3, 2, 1], [0.5, 1, 2, 4, 8]
    return table["id"], table["w"]


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.setflags(write=False)
    return array


def odd_single(array: np.ndarray) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(array[:1], shape=(1,), strides=(3,))


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "reversed": lambda a: a[::-1],
    "every second, reversed": lambda a: a[::-2],
    "read-only": read_only,
    "column": lambda a: np.stack([a, a + 1], axis=1)[:, 1],
    "Fortran row": lambda a: np.asfortranarray(np.stack([a, a + 1]))[1],
    "stride 0": lambda a: np.broadcast_to(a[3], (9,)),
    "empty": lambda a: a[3:3],
    "odd stride of one": odd_single,
    "swapped": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "swapped and strided": lambda a: np.repeat(a, 3).astype(a.dtype.newbyteorder(">"))[::-3],
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype),
}


class TestB28AndB29ViewsOfEveryKind:
    def test_unaligned_records(self, make: Any) -> None:
        z = make()
        z.increment_many(*packed_record())
        assert z == {1: 8.5, 2: 5.0, 3: 2.0}

    @pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
    @pytest.mark.parametrize("ids_dtype", ["i2", "i4", "i8", "u4"])
    @pytest.mark.parametrize("steps_dtype", ["f4", "f8", "i4"])
    def test_as_contiguous_ones(
        self, make: Any, view: Callable, ids_dtype: str, steps_dtype: str
    ) -> None:
        ids = view((np.arange(300) * 7 % 50).astype(ids_dtype))
        steps = view((np.arange(300) % 9).astype(steps_dtype))
        plain_ids = np.array(ids.tolist(), dtype=np.int64)
        plain_steps = np.array(steps.tolist(), dtype=np.float64)
        kept = ids.tobytes(), steps.tobytes()
        z, plain = make(), make()
        z.increment_many(ids, steps)
        plain.increment_many(plain_ids, plain_steps)
        assert z.digest() == plain.digest()
        z.update(ids, steps)
        plain.update(plain_ids, plain_steps)
        assert z.digest() == plain.digest()
        np.testing.assert_array_equal(z.scores(ids), plain.scores(plain_ids))
        np.testing.assert_array_equal(z.ranks(ids), plain.ranks(plain_ids))
        assert z.remove(ids) == plain.remove(plain_ids)
        assert (ids.tobytes(), steps.tobytes()) == kept
        z._validate()

    @pytest.mark.parametrize(
        ("ids", "scores"),
        [(">i4", ">f8"), (">i8", ">f4"), ("<i4", ">f8"), (">u2", "<f8"), (">i8", ">i8")],
    )
    def test_swapped_bytes(self, make: Any, ids: str, scores: str) -> None:
        z = make(np.array([1, 2], dtype=ids), np.array([3, 4], dtype=scores))
        assert z == {1: 3.0, 2: 4.0}
        assert z.scores(np.array([1, 2], dtype=ids)).tolist() == [3.0, 4.0]

    def test_foreign_views(self, make: Any) -> None:
        class Interface:
            def __init__(self, array: np.ndarray) -> None:
                self.array = array
                self.__array_interface__ = array.__array_interface__

        ids = np.array([1, 2], dtype=">i4")
        for foreign in (Interface(ids), memoryview(ids)):
            z = make()
            try:
                z.update(foreign, [1.5, 2.5])
            except (TypeError, NotImplementedError):
                assert len(z) == 0
            else:
                assert z == {1: 1.5, 2: 2.5}

    @pytest.mark.parametrize("shape", [(2, 2), (1, 4), (4, 1), (2, 0), (0, 2)])
    def test_two_dimensions_are_refused(self, make: Any, shape: tuple[int, int]) -> None:
        z = make()
        for call in (
            lambda: z.increment_many(np.ones(shape, dtype=np.int64)),
            lambda: z.increment_many(np.ones(4, dtype=np.int64), np.ones(shape)),
            lambda: z.update(np.ones(shape, dtype=np.int64), 1.0),
            lambda: z.scores(np.ones(shape, dtype=np.int64)),
        ):
            with pytest.raises(ValueError):
                call()
        assert len(z) == 0


class TestB30IdsThatDoNotFit:
    @pytest.mark.parametrize(
        "ids",
        [
            np.array([1, 2**63 + 5], dtype="u8"),
            np.array([1, 2**63], dtype="u8"),
            np.array([1, 2**64 - 1], dtype=">u8"),
            [1, 2**63],
            [1, 2**64],
            [1, -(2**63) - 1],
            np.array([1, 2**64], dtype=object),
        ],
        ids=repr,
    )
    def test_beyond_int64(self, make: Any, ids: Any) -> None:
        self.refuses(make(), ids, OverflowError)

    @pytest.mark.parametrize(
        "ids",
        [
            np.array([1, 2**31], dtype="i8"),
            np.array([1, 2**31], dtype="u4"),
            np.array([1, 2**32 - 1], dtype="u4"),
            np.array([1, -(2**31) - 1], dtype="i8"),
            np.array([1, 2**32 + 1], dtype=">i8"),
            [1, 2**31],
        ],
        ids=repr,
    )
    def test_beyond_int32(self, ids: Any) -> None:
        self.refuses(SortedSet(member="int32"), ids, OverflowError)

    @pytest.mark.parametrize(
        "ids",
        [
            np.array([1.0, 2.0]),
            np.array([1.5]),
            np.array([np.nan]),
            np.array([], dtype=float),
            np.array([2.0**63]),
            np.array([True, False]),
            np.array(["1"]),
            np.array([b"1"]),
            [1.0],
            [1, 2.0],
            [True],
            ["1"],
        ],
        ids=repr,
    )
    def test_what_is_no_integer(self, make: Any, ids: Any) -> None:
        self.refuses(make(), ids, TypeError)

    @staticmethod
    def refuses(z: SortedSet, ids: Any, error: type[Exception]) -> None:
        for call in (
            lambda: z.update(ids, 1.0),
            lambda: z.increment_many(ids),
            lambda: z.subtract(ids, 1.0),
            lambda: SortedSet(ids, 1.0, member=z.member_dtype),
            lambda: SortedSet.from_counts([ids], member=z.member_dtype),
        ):
            with pytest.raises(error):
                call()
        assert len(z) == 0
        z._validate()

    def test_empty_lists_are_fine(self, make: Any) -> None:
        z = make([], [])
        z.increment_many([])
        z.increment_many(np.array([], dtype=np.int64), [])
        assert z.update([], []).total == 0
        assert z.scores([]).shape == z.ranks([]).shape == (0,)

    def test_large_ids_stay_exact(self) -> None:
        """B41: 2**53 + 1 must not become its even neighbour on the way through a float."""
        ids = [2**53 + 1, 2**31, 2**32, 2**63 - 1, -(2**63)]
        for given in (ids, np.array(ids)):
            z = SortedSet(given, 1.0, member="int64")
            assert set(z) == set(ids)
            assert z.to_numpy()[0].tolist() == sorted(ids)


class TestB53TheObjectAsItsOwnArgument:
    @pytest.mark.parametrize("size", [2, 70, 6000])
    def test_own_arguments(self, make: Any, layout: Layout, size: int) -> None:
        z = make(range(size), np.arange(size) % 11 + 1)
        before = z.to_dict()
        assert z.update(z).changed == 0
        z.update(*z.to_numpy())
        z.update(z.items())
        assert z == before
        assert z == z
        z.merge(z)
        assert z == {m: 2 * s for m, s in before.items()}
        z.merge(z, weight=-1)
        assert set(z.values()) == {0.0}
        z.increment_many(z, 1.0)
        assert z == dict.fromkeys(range(size), 1.0)
        z.subtract(z)
        assert set(z.values()) == {0.0}
        assert z.remove(z) == size
        assert len(z) == 0
        z._validate()
