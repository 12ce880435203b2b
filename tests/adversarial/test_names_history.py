"""Long random lives of sets of names against a dict, through all sizes and all forms of scores.

Names of every length come and go, so that free records are used again, stores are compacted, and
the small form, which has neither order nor table, is entered and left all the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from model.layouts import NAME_LAYOUTS, Layout

from goblin import SortedSet

LENGTHS = [0, 1, 2, 7, 8, 9, 63, 64, 65, 254, 255, 256, 300, 5000]
SIZES = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 66, 300]
STEPS = 400


class Life:
    """A set, the dict that it should equal, and a source of random names and scores."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout, self.random = layout, random.Random(seed)
        options = {"merge_exponent": seed % 3 / 2, "compress": seed % 2 == 0}
        self.z = SortedSet(**layout.options, **options)
        self.model: dict[Any, float] = {}

    def name(self) -> Any:
        number = self.random.randrange(600)
        if self.layout.member == "uuid":
            return self.layout.nth(number)
        filler = "\0é"[number % 2] * LENGTHS[number % len(LENGTHS)]
        text = f"{number}{filler}" if number else ""
        return text if self.layout.kind is str else text.encode()

    def names(self) -> list[Any]:
        return [self.name() for _ in range(self.random.choice([1, 2, 5, 70, 200]))]

    def score(self) -> float:
        choices = [3.0, -7.0, 32_767.0, 32_768.0, -32_768.0, 2.0**31, 2.0**32 - 2, 0.5, -1e30]
        common = self.random.random() < 0.9
        score = float(self.random.randrange(50)) if common else self.random.choice(choices)
        return float(np.float32(score)) if self.layout.is_float32 else score

    def set(self) -> None:
        name, score = self.name(), self.score()
        self.z[name] = self.model[name] = score

    def update(self) -> None:
        names = self.names()
        scores = [self.score() for _ in names]
        self.z.update(names, scores)
        self.model.update(zip(names, scores, strict=True))

    def increment(self) -> None:
        names = self.names()
        self.z.increment_many(names, 2.0)
        for name in names:
            grown = self.model.get(name, 0.0) + 2.0
            self.model[name] = float(np.float32(grown)) if self.layout.is_float32 else grown

    def undone(self) -> None:
        """A bulk call that is given up when it is done."""
        names = [*self.names(), *self.random.sample(list(self.model), min(9, len(self.model)))]
        steps = np.array([self.score() for _ in names])

        def stop(*_: Any) -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError):
            self.z.increment_many(names, steps, progress=stop)

    def remove(self) -> None:
        names = self.names()
        self.z.remove(names)
        for name in names:
            self.model.pop(name, None)

    def discard(self) -> None:
        for name in self.names()[:5]:
            assert self.z.discard(name) == (self.model.pop(name, None) is not None)

    def resize(self) -> None:
        size = self.random.choice(SIZES)
        while len(self.z) > size:
            name, score = self.z.popitem()
            assert self.model.pop(name) == score
        while len(self.z) < size:
            self.set()

    def clear(self) -> None:
        self.z.clear()
        self.model.clear()

    def restart(self) -> None:
        self.z.__init__(self.model, **self.layout.options)

    def read(self) -> None:
        expected = sorted(self.model.items(), key=lambda pair: (pair[1], pair[0]))
        assert list(self.z.items()) == expected
        for rank in {0, len(expected) // 2, len(expected) - 1} if expected else ():
            name, score = expected[rank]
            assert (self.z.rank(name), self.z[name]) == (rank, score)
            same = [other for other, its in expected if its == score]
            assert self.z.range_by_lex(name, within_score=score).to_list() == [
                (other, score) for other in same[same.index(name) :]
            ]

    def steps(self) -> Iterator[Callable[[], Any]]:
        actions: list[Callable[[], Any]] = [
            *[self.set, self.update, self.increment, self.undone, self.remove, self.discard] * 4,
            *[self.resize, self.read, self.z.optimize, lambda: self.z.scale(1.0)] * 2,
            *[self.clear, self.restart],
        ]
        return iter(self.random.choices(actions, k=STEPS))


@pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("layout", NAME_LAYOUTS, ids=str)
def test_a_long_life(layout: Layout, seed: int) -> None:
    life = Life(layout, seed)
    for step in life.steps():
        step()
        life.z._validate()
        assert len(life.z) == len(life.model)
    life.read()
    assert life.z == life.model
    assert life.z.copy() == life.model
