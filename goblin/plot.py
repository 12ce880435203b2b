"""Pictures of sorted sets and of what objects take, with matplotlib: the extra `plot`.

Each function draws on the Axes it is given, or on those of a new figure of pyplot, and returns
them; titles, sizes and saving are matplotlib's. A large set is asked for some hundred points or
bins, never for all of its members.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._display import text_cell
from ._sortedset import SortedSet

try:
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        LogLocator,
        MaxNLocator,
        NullFormatter,
    )
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'goblin-core[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["ecdf", "histogram", "memory_growth", "rank_size", "top"]

M = TypeVar("M")
Floats = NDArray[np.float64]
Points = tuple[Floats, Floats]

# Okabe and Ito's, which the colour-blind tell apart; without those that vanish on white or black.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_POINTS = 400
_LONGEST = 40


class Measured(Protocol):
    """What has a number of members and bytes: SortedSet, Boards, Hash, HashTable."""

    def __len__(self) -> int: ...
    def memory(self) -> Any: ...


def top(
    z: SortedSet[M], *, ax: Axes | None = None, n: int = 10, labels: Mapping[M, Any] | None = None
) -> Axes:
    """Draw the n highest members as bars, the highest first.

    `labels` gives members other names, where it has them. A bar of an infinite score is hatched.
    ValueError for a negative n, TypeError for what is no SortedSet, no Axes or no mapping.
    O(log size + n).

    >>> import goblin
    >>> from matplotlib.figure import Figure
    >>> z = goblin.SortedSet({"ann": 3.0, "bob": 5.0})
    >>> ax = goblin.plot.top(z, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()], len(ax.patches)
    (['bob', 'ann'], 2)
    """
    rows = _sorted_set(z).top(n)
    if labels is not None and not isinstance(labels, Mapping):
        raise TypeError(f"labels must map members to names, not be a {type(labels).__name__}")
    ax = _axes(ax)
    if not len(rows):
        return _without_data(ax, "no members")
    names = labels or {}
    scores = rows.scores.astype(np.float64)
    bars = ax.barh(range(len(rows)), _within(scores), color=COLORS[0])
    for bar, score in zip(bars, scores.tolist(), strict=True):
        bar.set_hatch("" if math.isfinite(score) else "//")
    ax.bar_label(bars, [_plain(score) for score in scores.tolist()], padding=3)
    _name_bars(ax, [names.get(member, member) for member, _ in rows])
    _numbered(ax.xaxis, "score")
    ax.margins(x=0.2)
    if (scores < 0).any():
        ax.axvline(0, color="gray", linewidth=0.8)
    return ax


def histogram(
    z: SortedSet[Any], *, ax: Axes | None = None, bins: Any = 50, log: bool = False
) -> Axes:
    """Draw how many members have scores of each range.

    `bins` is a number of equal bins from the lowest to the highest, or an array of edges. With
    `log` both axes are logarithmic, and so are the bins; scores below or at zero are left out, as
    infinite ones always are. ValueError for bins that numpy refuses, TypeError for what is no
    SortedSet. O(n).

    >>> import goblin
    >>> from matplotlib.figure import Figure
    >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
    >>> ax = goblin.plot.histogram(z, ax=Figure().subplots(), bins=2)
    >>> ax.patches[0].get_data().values
    array([1, 2])
    """
    z = _sorted_set(z)
    counted = z._atomically(_counts, z, bins, log)
    ax = _axes(ax)
    if counted is None:
        return _without_data(ax, f"no {'positive' if log else 'finite'} scores")
    counts, edges = counted
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    ax.stairs(counts, edges, baseline=0.5 if log else 0, fill=True, color=COLORS[0])
    ax.set_ylim(bottom=0.5 if log else 0)
    _numbered(ax.xaxis, "score", log)
    _numbered(ax.yaxis, "members", log)
    return ax


def rank_size(z: SortedSet[Any], *, ax: Axes | None = None, log: bool = True) -> Axes:
    """Draw scores by rank, the highest first, at up to 400 ranks; a power law is a straight line.

    With `log` the ranks, which count from 1 here, are on a logarithmic axis, and so are the scores
    unless some are zero or less. Infinite scores are left out. TypeError for what is no SortedSet.
    O(log n) a point, after the order has been built.

    >>> import goblin
    >>> from matplotlib.figure import Figure
    >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
    >>> ax = goblin.plot.rank_size(z, ax=Figure().subplots())
    >>> ax.lines[0].get_xydata().tolist()
    [[1.0, 5.0], [2.0, 3.0], [3.0, 1.0]]
    """
    z = _sorted_set(z)
    ranks, scores = z._atomically(_sizes, z, log)
    ax = _axes(ax)
    if not len(ranks):
        return _without_data(ax, "no finite scores")
    log_scores = bool(log and scores[-1] > 0)
    ax.set_xscale("log" if log else "linear")
    ax.set_yscale("log" if log_scores else "linear")
    _line(ax, ranks, scores, marker=_dots(ranks))
    _numbered(ax.xaxis, "rank", log)
    _numbered(ax.yaxis, "score", log_scores)
    return ax


def ecdf(z: SortedSet[Any], *, ax: Axes | None = None, log: bool = False) -> Axes:
    """Draw which share of the members has at most each score.

    Every share drawn is exact; of more than some hundred distinct scores, as many are drawn. With
    `log` the scores are on a logarithmic axis, which leaves out those below or at zero, though they
    count. TypeError for what is no SortedSet. O(log n) a point, after the order has been built.

    >>> import goblin
    >>> from matplotlib.figure import Figure
    >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0, 6: 3.0})
    >>> ax = goblin.plot.ecdf(z, ax=Figure().subplots())
    >>> ax.lines[0].get_xydata().tolist()
    [[1.0, 0.0], [1.0, 0.25], [3.0, 0.75], [5.0, 1.0]]
    """
    z = _sorted_set(z)
    scores, shares = z._atomically(_shares, z, log)
    ax = _axes(ax)
    if not len(scores):
        return _without_data(ax, f"no {'positive' if log else 'finite'} scores")
    if log:
        ax.set_xscale("log")
    _line(ax, scores, shares, drawstyle="steps-post")
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:.0%}"))
    ax.set_ylabel("members up to the score")
    _numbered(ax.xaxis, "score", log)
    return ax


def memory_growth(
    obj: Measured | ArrayLike | Mapping[str, Measured | ArrayLike], *, ax: Axes | None = None
) -> Axes:
    """Draw bytes against members: of one object or recorded series, or of several by their names.

    An object that has `memory()` is one point, as it is now. A series, of shape (n, 2), has rows of
    (members, bytes), such as `(len(z), z.memory().total)`. Both axes begin at zero; the legend has
    the bytes per member at the end. ValueError for a series of another shape, or with
    numbers that are negative, infinite or NaN. O(points), and `memory()` of each object.

    >>> import goblin
    >>> from matplotlib.figure import Figure
    >>> z = goblin.SortedSet(range(1000), 1.0)
    >>> ax = goblin.plot.memory_growth({"now": z, "before": [(10, 400), (500, 2048)]},
    ...                                ax=Figure().subplots())
    >>> ax.get_ylabel(), ax.lines[1].get_xydata().tolist()
    ('memory (KiB)', [[10.0, 0.390625], [500.0, 2.0]])
    """
    several = isinstance(obj, Mapping) and not hasattr(obj, "memory")
    given: Mapping[str, Any] = obj if several else {"": obj}  # type: ignore[assignment]
    series = {name: _series(one) for name, one in given.items()}
    ax = _axes(ax)
    if not any(len(members) for members, _ in series.values()):
        return _without_data(ax, "no points")
    most = max(sizes.max(initial=0) for _, sizes in series.values())
    power = _power(most)
    lines = [
        _line(ax, members, sizes / 1024**power, marker=_dots(members))
        for members, sizes in series.values()
    ]
    ax.set_xlim(left=0)
    ax.set_ylim(0, most / 1024**power * (1.1 + 0.08 * len(series)) or 1)  # room for the legend
    ax.grid(axis="y", alpha=0.3)
    _numbered(ax.xaxis, "members")
    _numbered(ax.yaxis, f"memory ({_UNITS[power]})")
    names = [_mean(name, *points) for name, points in series.items()]
    for text in ax.legend(lines, names, loc="upper left").get_texts():
        text.set_parse_math(False)
        text.set_text(_drawable(text.get_text(), text.get_fontproperties()))
    return ax


# ---- what is drawn


def _sorted_set(z: Any) -> SortedSet[Any]:
    if not isinstance(z, SortedSet):
        raise TypeError(f"a SortedSet can be drawn, not {type(z).__name__}; SortedSet() makes one")
    return z


def _within(scores: Floats) -> Floats:
    """Infinite scores as a bit more than the largest finite one."""
    longest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0) or 1.0
    return np.clip(scores, -1.1 * longest, 1.1 * longest)


def _counts(z: SortedSet[Any], bins: Any, log: bool) -> tuple[NDArray[np.int64], Floats] | None:
    """Counts by bins, and their edges; None where there is nothing to count."""
    if np.ndim(bins) > 0:
        return z.histogram(bins) if len(z) else None
    ends = _ends(z, 0.0 if log else -math.inf)
    if ends is None:
        return None
    lo, hi = ends
    if log and operator.index(bins) < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return z.histogram(_log_edges(lo, hi, bins) if log and lo < hi else bins, ends)


def _ends(z: SortedSet[Any], above: float) -> tuple[float, float] | None:
    """The lowest and the highest finite score above a bound; mostly found without an order."""
    if not len(z):
        return None
    lo, hi = (z._peek(1, highest)[0][1] for highest in (False, True))
    if above < lo and hi < math.inf:
        return lo, hi
    ranks = _finite(z, above)
    return (z.by_rank[ranks[0]][1], z.by_rank[ranks[-1]][1]) if ranks else None


def _log_edges(lo: float, hi: float, bins: int) -> Floats:
    """Edges with a constant ratio, but whole ones, bins never narrower than the one before, where
    the ends are whole, as those of counts are, and one can be added to them."""
    if not (lo.is_integer() and hi.is_integer() and hi < 2**53):
        edges = np.geomspace(lo, hi, bins + 1).clip(lo, hi)
        edges[[0, -1]] = lo, hi
        return np.unique(edges)  # fewer, where there are not so many floats
    growth = math.expm1(math.log(hi / lo) / bins)
    whole = [lo]
    while whole[-1] <= hi:
        whole.append(whole[-1] + max(round(whole[-1] * growth), 1))
    return np.array(whole)


def _finite(z: SortedSet[Any], above: float = -math.inf) -> range:
    """The ranks of the finite scores above a bound."""
    return z._between(above, math.inf, "none")


def _chosen(ranks: range, log: bool) -> NDArray[np.int64]:
    """Places in a range, all of a short one; with `log` crowded at its beginning."""
    last = max(len(ranks) - 1, 0)
    if len(ranks) <= _POINTS:
        return np.arange(len(ranks))
    spaced = np.geomspace(1, last + 1, _POINTS) - 1 if log else np.linspace(0, last, _POINTS)
    return np.unique(np.rint(spaced).astype(np.int64))


def _sizes(z: SortedSet[Any], log: bool) -> Points:
    """Ranks, from 1 for the highest of all, and their scores."""
    ranks = _finite(z)[::-1]
    places = _chosen(ranks, log)
    scores = z.by_rank[ranks.start - places].scores if len(places) else np.empty(0)
    return (len(z) - ranks.start + places).astype(np.float64), scores.astype(np.float64)


def _shares(z: SortedSet[Any], log: bool) -> Points:
    """Scores, ascending, and the shares of members up to them, from the share before the first."""
    ranks = _finite(z, 0.0 if log else -math.inf)
    if not ranks:
        return np.empty(0), np.empty(0)
    rare = len(ranks) - 1 - _chosen(ranks, True)  # high scores lie far apart
    places = np.concatenate([_chosen(ranks, False), _chosen(ranks, True), rare])
    scores = np.unique(z.by_rank[ranks.start + places].scores.astype(np.float64))
    shares = [z.count(hi=score) / len(z) for score in scores.tolist()]
    return np.append(scores[0], scores), np.array([ranks.start / len(z), *shares])


def _series(one: Any) -> Points:
    if hasattr(one, "memory"):
        one = [(len(one), one.memory().total)]
    points = np.asarray(one, np.float64)
    if points.size == 0:
        points = points.reshape(0, 2)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a series has rows of (members, bytes), not shape {points.shape}")
    if not (np.isfinite(points) & (points >= 0)).all():
        raise ValueError("numbers of members and bytes can't be negative, infinite or NaN")
    return points[:, 0], points[:, 1]


def _power(most: float) -> int:
    """Of 1024, for the unit in which the largest number of bytes is at least 1."""
    return min(int(math.log(max(most, 1.0), 1024)), len(_UNITS) - 1)


def _mean(name: str, members: Floats, sizes: Floats) -> str:
    """A name in the legend, and the bytes per member in the end."""
    if not len(members) or members[-1] <= 0:
        return name
    each = f"{sizes[-1] / members[-1]:,.2f} bytes per member"
    return f"{name}: {each}" if name else each


# ---- how it is drawn


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    if not hasattr(ax, "barh"):
        raise TypeError(
            f"ax must be an Axes of matplotlib, as figure.subplots() gives, not {type(ax).__name__}"
        )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _without_data(ax: Axes, why: str) -> Axes:
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes)
    ax.set_xticks([])
    ax.set_yticks([])
    return ax


def _line(ax: Axes, x: Floats, y: Floats, **options: Any) -> Any:
    """A line in the next colour."""
    color = COLORS[len(ax.lines) % len(COLORS)]
    return ax.plot(x, y, color=color, markersize=4, **options)[0]


def _dots(x: Floats) -> str:
    """Points are marked where they are few."""
    return "o" if len(x) <= 30 else ""


def _plain(value: float) -> str:
    """A number in full where it is whole, else to eight digits."""
    is_whole = value == round(value) if abs(value) < 1e15 else False
    text = f"{value:,.0f}" if is_whole else f"{value:,.8g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _numbered(axis: Axis, label: str, log: bool = False) -> None:
    """An axis with few enough ticks for numbers in full; members are whole."""
    axis.set_label_text(label)
    if log:
        lo, hi = axis.get_data_interval()
        subs = (1.0, 2.0, 5.0) if hi < 100 * lo else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=6))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(5, integer=label in ("members", "rank")))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))


def _name_bars(ax: Axes, names: list[Any]) -> None:
    font = ax.get_yticklabels()[0].get_fontproperties()
    ax.yaxis.set_major_locator(FixedLocator(range(len(names))))
    texts = [_drawable(text_cell(name, _LONGEST).text, font) for name in names]
    ax.set_yticklabels(texts, parse_math=False)
    ax.set_ylim(max(len(names), 5) - 0.5, -0.5)  # the first on top; a few bars stay bars
    ax.tick_params(axis="y", length=0)


def _drawable(text: str, font: FontProperties) -> str:
    """A text with a box for each character that its fonts lack, for which matplotlib would warn."""
    fonts = [get_font(findfont(FontProperties(family=[one]))) for one in font.get_family()]

    def is_drawn(character: str) -> bool:
        return any(font.get_char_index(ord(character)) for font in fonts)

    box = "\N{WHITE SQUARE}" if is_drawn("\N{WHITE SQUARE}") else "?"
    return "".join(c if is_drawn(c) else box for c in text)
