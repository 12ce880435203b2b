"""What the pictures show is what the sets have, and nothing warns when they are drawn."""

from __future__ import annotations

import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from goblin import Boards, Hash, SortedSet, synthetic

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from goblin.plot import ecdf, histogram, memory_growth, rank_size, top  # noqa: E402

INF = float("inf")
RNG = np.random.default_rng(1)
NASTY = {
    "$x^2$": -3e5,
    "$": 4.0,
    "two\nlines": INF,
    "\x1b[31m": -INF,
    "日本": 9e5,
    "x" * 300: 0.0,
}
SETS = {
    "empty": SortedSet(),
    "one": SortedSet({"only": 42.0}),
    "ties": SortedSet(range(100), 5.0),
    "nasty": SortedSet(NASTY),
    "infinite": SortedSet({1: INF, 2: -INF}),
    "uuids": SortedSet({uuid.UUID(int=i): i / 7 for i in range(12)}),
    "bytes": SortedSet({b"\xff$": 1.5, b"a": 2.0}, score="float32"),
    "negative": SortedSet(range(3000), RNG.normal(0, 100, 3000)),
    "tiny": SortedSet(range(500), RNG.random(500) * 1e-300),
    "huge": SortedSet({1: 1e250, 2: -1e249, 3: 1.0}),
    "wide": SortedSet({1: 1.0, 2: 1e250}),
    "counts": synthetic.wikimedia(20_000, seed=1).final(),
}


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


@pytest.fixture(autouse=True)
def _settings_and_figures_stay() -> Iterator[None]:
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


def scores_of(z: SortedSet) -> np.ndarray:
    return z.to_numpy()[1].astype(np.float64)


def drawn(ax: Axes) -> Axes:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()
    return ax


def ticks(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("draw", [top, histogram, rank_size, ecdf, memory_growth])
@pytest.mark.parametrize("name", SETS)
def test_every_set_can_be_drawn(name: str, draw: Any, log: bool, ax: Axes) -> None:
    options = {} if draw in (top, memory_growth) else {"log": log}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw(SETS[name], ax=ax, **options) is ax
    drawn(ax)


@pytest.mark.parametrize("draw", [top, histogram, rank_size, ecdf, memory_growth])
def test_without_axes_there_is_one_new_figure(draw: Any) -> None:
    ax = draw(SETS["counts"])
    assert pyplot.get_fignums() == [ax.figure.number]
    pyplot.close(drawn(ax).figure)


@pytest.mark.parametrize("draw", [top, histogram, rank_size, ecdf])
@pytest.mark.parametrize("other", [Hash(), Boards(), {}, None, [1.0]])
def test_other_objects_are_refused(draw: Any, other: Any) -> None:
    with pytest.raises(TypeError, match="SortedSet"):
        draw(other)


def test_bars_of_the_top(ax: Axes) -> None:
    z = SETS["counts"]
    top(z, ax=ax, n=7)
    assert [bar.get_width() for bar in ax.patches] == z.top(7).scores.tolist()
    assert ticks(drawn(ax)) == [str(member) for member in z.top(7).members]
    assert ax.texts[0].get_text() == f"{z.top(1)[0][1]:,.0f}"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the highest first
    assert ax.get_xlabel() == "score"


def test_names_of_bars(ax: Axes) -> None:
    z = SETS["nasty"]
    top(z, ax=ax)
    shown = dict(zip([member for member, _ in z.top()], ticks(drawn(ax)), strict=True))
    assert (shown["$x^2$"], shown["two\nlines"]) == ("$x^2$", r"'two\nlines'")
    assert shown["日本"] == "□□"
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert max(map(len, shown.values())) <= 40
    widths = [bar.get_width() for bar in ax.patches]
    assert np.isfinite(widths).all()
    assert widths == sorted(widths, reverse=True)
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, *[False] * 4, True]


def test_labels_replace_members(ax: Axes) -> None:
    top(SortedSet({7: 1.0, 8: 2.0}), ax=ax, labels={7: "Berlin"})
    assert ticks(ax) == ["8", "Berlin"]
    with pytest.raises(ValueError, match="negative"):
        top(SortedSet(), n=-1)


@pytest.mark.parametrize("name", ["counts", "negative", "uuids"])
def test_counts_of_a_histogram(name: str, ax: Axes) -> None:
    histogram(SETS[name], ax=ax, bins=20)
    values, edges, baseline = ax.patches[0].get_data()
    counts, at = np.histogram(scores_of(SETS[name]), 20)
    assert (values.tolist(), edges.tolist(), baseline) == (counts.tolist(), at.tolist(), 0)
    assert ax.get_ylim()[0] == 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "members")


def test_a_logarithmic_histogram_counts_all_positive_scores(ax: Axes) -> None:
    histogram(SETS["counts"], ax=ax, log=True)
    values, edges, _ = ax.patches[0].get_data()
    assert values.sum() == len(SETS["counts"])
    assert edges[:4].tolist() == [1, 2, 3, 4]  # no bin that no count can be in
    widths = np.diff(edges)
    assert (np.diff(widths) >= 0).all()
    assert 20 < len(widths) <= 51
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    histogram(SETS["negative"], ax=(other := Figure().subplots()), log=True)
    assert other.patches[0].get_data().values.sum() == SETS["negative"].count(0, closed="none")


@pytest.mark.parametrize(
    "scores", [[2.0**53 - 1, 2.0**53], [2.0**53, 2.0**53 + 2], [5e-324, 1e-323], [0.1, 0.1 + 2e-17]]
)
def test_a_logarithmic_histogram_of_neighbouring_floats(scores: list[float], ax: Axes) -> None:
    z = SortedSet([1, 2, 3], [scores[0], *scores])
    histogram(z, ax=ax, log=True)
    values, edges, _ = ax.patches[0].get_data()
    assert (edges[0], edges[-1]) == (scores[0], scores[1])
    assert (np.diff(edges) > 0).all()
    assert values.sum() == 3


def test_edges_are_taken_as_they_are(ax: Axes) -> None:
    histogram(SETS["infinite"], ax=ax, bins=[0, 1, 2])
    assert ax.patches[0].get_data().values.tolist() == [0, 0]
    histogram(SortedSet({1: 1.5, 2: INF}), ax=ax, bins=[0, 1, 2])
    assert ax.patches[1].get_data().values.tolist() == [0, 1]


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("bins", [0, -1, 2.5, "auto"])
def test_bins_that_are_none(bins: Any, log: bool, ax: Axes) -> None:
    with pytest.raises(ValueError if bins in (0, -1) else TypeError, match=r"bins|integer"):
        histogram(SETS["counts"], ax=ax, bins=bins, log=log)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("name", ["counts", "negative", "uuids", "nasty"])
def test_ranks_and_sizes(name: str, log: bool, ax: Axes) -> None:
    rank_size(SETS[name], ax=ax, log=log)
    ranks, scores = ax.lines[0].get_data()
    descending = scores_of(SETS[name])[::-1]
    finite = np.flatnonzero(np.isfinite(descending)) + 1
    assert (descending[ranks.astype(int) - 1] == scores).all()
    assert (ranks[0], ranks[-1]) == (finite[0], finite[-1])
    assert len(ranks) == min(len(np.unique(ranks)), 400)
    assert ax.get_xscale() == ("log" if log else "linear")
    assert ax.get_yscale() == ("log" if log and scores[-1] > 0 else "linear")
    if len(finite) <= 400:
        assert ranks.tolist() == finite.tolist()


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("name", ["counts", "negative", "uuids", "nasty", "ties"])
def test_every_share_is_exact(name: str, log: bool, ax: Axes) -> None:
    ecdf(SETS[name], ax=ax, log=log)
    scores, shares = ax.lines[0].get_data()
    every = scores_of(SETS[name])
    np.testing.assert_array_equal(
        shares[1:], np.searchsorted(every, scores[1:], side="right") / len(every)
    )
    assert shares[0] == (every < scores[0]).mean()
    drawn_from = every[np.isfinite(every) & ((every > 0) | (not log))]
    assert (scores[0], scores[-1]) == (drawn_from[0], drawn_from[-1])
    assert len(scores) < 1300
    assert np.diff(shares[1:]).max(initial=0) <= max(
        (np.diff(np.searchsorted(every, np.unique(every), side="right"))).max(initial=0)
        / len(every)
        + 0.01,
        0.01,
    )


def test_memory_of_objects_and_series(ax: Axes) -> None:
    z, h = SortedSet(range(5000), 1.0), Hash({"a": "b"})
    series = np.array([[0, 100], [1_000_000, 2 << 20], [2_000_000, 5 << 20]])
    memory_growth({"set": z, "hash": h, "_Redis $x$": series, "none": []}, ax=ax)
    assert ax.get_ylabel() == "memory (MiB)"
    points = [line.get_xydata() * [1, 1 << 20] for line in ax.lines]
    assert points[0].tolist() == [[5000, z.memory().total]]
    assert points[1].tolist() == [[1, h.memory().total]]
    assert points[2].tolist() == series.tolist()
    assert len({line.get_color() for line in ax.lines}) == 4
    assert (ax.get_xlim()[0], ax.get_ylim()[0]) == (0, 0)
    legend = [text.get_text() for text in drawn(ax).get_legend().get_texts()]
    assert legend[2:] == ["_Redis $x$: 2.62 bytes per member", "none"]
    assert "2,000,000" in [label.get_text() for label in ax.get_xticklabels()]


def test_memory_of_one(ax: Axes) -> None:
    boards = Boards.from_arrays(["de", "fr"], [7, 7])
    memory_growth(boards, ax=ax)
    assert ax.get_legend().get_texts()[0].get_text().endswith(" bytes per member")
    memory_growth([(1, 100), (2, 300)], ax=(other := Figure().subplots()))
    assert other.lines[0].get_xydata().tolist() == [[1, 100], [2, 300]]
    with pytest.raises(ValueError, match="shape"):
        memory_growth([1, 2, 3])
    with pytest.raises(ValueError, match="shape"):
        memory_growth({"a": np.zeros((2, 3))})
    for wrong in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="members and bytes can't be"):
            memory_growth([(1, 2), (1, wrong)])


def test_drawing_changes_nothing_and_is_bounded() -> None:
    z = synthetic.wikimedia(300_000, seed=2).final()
    before = z.digest()
    for draw in (top, histogram, rank_size, ecdf):
        draw(z, ax=(ax := Figure().subplots()))
        assert sum(len(line.get_xdata()) for line in ax.lines) < 1300
    assert z.digest() == before


def test_what_can_not_be_drawn_on_or_be_names() -> None:
    z = SortedSet({"ann": 3.0})
    with pytest.raises(TypeError, match=r"ax must be an Axes .* not Figure"):
        top(z, ax=Figure())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="labels must map members to names, not be a list"):
        top(z, ax=Figure().subplots(), labels=["Ann"])  # type: ignore[arg-type]


def test_without_matplotlib_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib.font_manager'] = None\n"
        "import goblin\n"
        "try: import goblin.plot\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'goblin-core[plot]'" in done.stdout


def test_sets_on_the_same_axes_differ_in_colour(ax: Axes) -> None:
    for name in ("counts", "negative", "uuids"):
        ecdf(SETS[name], ax=ax)
    assert len({line.get_color() for line in drawn(ax).lines}) == 3


@pytest.mark.parametrize("log", [False, True])
def test_a_histogram_needs_no_order(log: bool, ax: Axes) -> None:
    z = SortedSet(range(5000), np.arange(5000) + 1.0)
    histogram(z, ax=ax, log=log)
    assert not z._structure()["order_built"]
