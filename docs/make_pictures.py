"""Draws the pictures of plots.md into docs/images, or into the folder given."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import goblin.plot
from goblin import SortedSet, synthetic

IMAGES = Path(__file__).parent / "images"
PAGES = 200_000
# The same bytes each time: names of the parts of a picture are random otherwise.
SETTINGS = {"svg.hashsalt": "goblin", "savefig.facecolor": "white"}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(exist_ok=True)
    edits = synthetic.wikimedia(PAGES, seed=1).final()
    players = SortedSet({f"player {i}": 2900.0 - 13 * i % 97 - 11 * i for i in range(40)})
    save(folder, "top", goblin.plot.top(players, ax=picture(), n=8))
    save(folder, "histogram", goblin.plot.histogram(edits, ax=picture(), log=True))
    save(folder, "rank_size", goblin.plot.rank_size(edits, ax=picture()))
    save(folder, "ecdf", goblin.plot.ecdf(edits, ax=picture(), log=True))
    save(folder, "memory_growth", goblin.plot.memory_growth(growth(), ax=picture()))


def picture() -> Axes:
    return Figure(figsize=(6.4, 3.6), layout="constrained").subplots()


def save(folder: Path, name: str, ax: Axes) -> None:
    with matplotlib.rc_context(SETTINGS):
        ax.figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def growth() -> dict[str, list[tuple[int, int]]]:
    """Bytes while pages come into being, beside a dict of int and float."""
    z, d = SortedSet(member="int64"), {}
    recorded: dict[str, list[tuple[int, int]]] = {"SortedSet": [], "dict": []}
    objects = sys.getsizeof(2**29) + sys.getsizeof(1.0)
    for ids in np.array_split(np.arange(PAGES), 40):
        z.increment_many(ids)
        d.update(dict.fromkeys(ids.tolist(), 1.0))
        z.rank(0)  # with the order
        recorded["SortedSet"].append((len(z), z.memory().total))
        recorded["dict"].append((len(d), sys.getsizeof(d) + len(d) * objects))
    return recorded


if __name__ == "__main__":
    main()
