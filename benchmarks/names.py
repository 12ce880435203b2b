"""Names with the lengths of Lichess players, and their ratings."""

from __future__ import annotations

import numpy as np

# Players by length of their name, 0 to 20 bytes: all 1,501 of 2,996 games between strong players,
# the only real ones at hand.
LENGTHS = [0, 0, 0, 1, 22, 51, 113, 140, 191, 179, 161, 140, 122, 90, 85, 69, 38, 33, 27, 17, 22]
LONGEST = len(LENGTHS) - 1

_ALPHABET = np.frombuffer(
    b"abcdefghijklmnopqrstuvwxyz0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8
)
_STEP = 2_654_435_761  # a prime, so that its multiples visit each of fewer rows once
_MIX = np.uint64(0x9E3779B97F4A7C15)
_IN_A_KEY = 10  # characters of 6 bits in 64


class Names:
    """`count` distinct names, each made from its number alone: nobody has to keep them all."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._stops = np.rint(np.cumsum(LENGTHS) / sum(LENGTHS) * count).astype(np.int64)

    def take(self, numbers: np.ndarray) -> np.ndarray:
        """The names of these numbers in 0..count - 1, as an array of S20."""
        places = numbers * _STEP % self.count
        lengths = np.searchsorted(self._stops, places, side="right")
        # Each length has its own names: the first characters are the number within them, permuted.
        key = (places - self._stops[lengths - 1]).astype(np.uint64) * _MIX
        text = np.empty((len(places), LONGEST), np.uint8)
        for at in range(LONGEST):
            if at == _IN_A_KEY:
                key = (key >> np.uint64(32)) * _MIX
            code = key >> np.uint64(6 * (at % _IN_A_KEY)) & np.uint64(63)
            text[:, at] = np.where(at < lengths, _ALPHABET[code], 0)
        return text.view(f"S{LONGEST}")[:, 0]

    def drawn(self, size: int, seed: int) -> np.ndarray:
        """So many names at random, with repeats."""
        return self.take(np.random.default_rng(seed).integers(0, self.count, size))


def ratings(size: int, seed: int) -> np.ndarray:
    """Whole numbers in 400..3300, most of them in the middle."""
    drawn = np.random.default_rng(seed).normal(1500, 350, size)
    return drawn.clip(400, 3300).astype(np.int32)
