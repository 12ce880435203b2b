"""How fast is a bulk update of name/rating pairs, from each form that names come in?

A million known names (default) or the 21.6 million players of Lichess (--full), drawn at random, a
million pairs a call, into a set without an order and one with it; then names that are all new. A
dict gets the list, in a loop; it never knows more than a million names, to its advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
from bench_names import PLAYERS, M, label, players
from harness import Contender, Report, Times, arguments, race, size
from names import Names, ratings

from goblin import SortedSet

LIMIT = 150

Convert = Callable[[np.ndarray], Any]
Pairs = tuple[Any, np.ndarray]


def texts(names: np.ndarray) -> list[str]:
    return names.astype(str).tolist()


FORMS: dict[str, Convert] = {
    "numpy S": lambda names: names,
    "numpy U": lambda names: names.astype(str),
    "StringDType": lambda names: names.astype(np.dtypes.StringDType()),
    "Arrow string": lambda names: pa.array(names.astype(str), pa.string()),
    "Arrow string_view": lambda names: pa.array(texts(names), pa.string_view()),
    "list of str": texts,
}
DICT = "d[name] = rating"


def main() -> None:
    args = arguments(__doc__, repeat=5)
    report = Report("update_names", "ns per name/rating pair of a bulk update", args)
    known = size(args, 50_000, M, PLAYERS)
    pairs = size(args, 50_000, M, M)
    sets = {kind: known_set(known, kind) for kind in ("bytes", "str")}
    few = min(known, M)
    d = dict.fromkeys(texts(Names(few).take(np.arange(few))), 0.0)
    for case, most in {"no order": pairs, "with order": min(pairs, known // 16)}.items():
        contenders = [*updates(sets, known, most, case), update_of(d, few, most)]
        times = race(contenders, args.repeat)
        add_rows(report, f"known, {case}", known, few, times)
        for form in "numpy S", "Arrow string":
            name = f"{label('names', known)}, {case}, {form}"
            report.figure(name, times.median(form), LIMIT, "ns")
    del sets, d
    add_rows(report, "new", pairs, pairs, race(list(creations(pairs)), args.repeat))
    report.finish()


def add_rows(report: Report, case: str, members: int, few: int, times: Times) -> None:
    for form in times.rounds:
        row = {"case": case, "form": form, "members": few if form == DICT else members}
        report.row(**row, **times.columns(form), times_dict=times.ratio(form, DICT))


def known_set(members: int, kind: Any) -> SortedSet[Any]:
    z: SortedSet[Any] = SortedSet(member=kind)
    for names, scores in players(members):
        z.update(FORMS["numpy S" if kind == "bytes" else "Arrow string"](names), scores)
    return z


def updates(
    sets: dict[str, SortedSet[Any]], known: int, pairs: int, case: str
) -> Iterator[Contender]:
    """Each form, with other names each time, so that none finds them in a cache. Sets are without
    an order until the first ordered read; the pairs are too few to drop it. The last form comes
    again with the ordered read after it, which takes the changes into the order."""
    drawn = draws(known, pairs)
    for form, convert in FORMS.items():
        z = sets["bytes" if form == "numpy S" else "str"]

        def ready(convert: Convert = convert, z: SortedSet[Any] = z) -> Pairs:
            if case == "with order":
                z.by_rank[0]
            names, scores = next(drawn)
            return convert(names), scores

        yield Contender(form, lambda batch, z=z: z.update(*batch), pairs, ready)
    if case == "with order":
        yield Contender(f"{form}, by_rank[0]", then_read(z), pairs, ready)


def then_read(z: SortedSet[Any]) -> Callable[[Pairs], object]:
    def run(batch: Pairs) -> None:
        z.update(*batch)
        z.by_rank[0]

    return run


def draws(known: int, pairs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    names = Names(known)
    for seed in count(1):
        yield names.drawn(pairs, seed), ratings(pairs, seed)


def update_of(d: dict[str, float], known: int, pairs: int) -> Contender:
    drawn = draws(known, pairs)

    def ready() -> Pairs:
        names, scores = next(drawn)
        return texts(names), scores

    return Contender(DICT, lambda batch: set_each(d, *batch), pairs, ready)


def set_each(d: dict[str, float], names: list[str], scores: np.ndarray) -> None:
    for name, score in zip(names, scores.tolist(), strict=True):
        d[name] = score


def creations(pairs: int) -> Iterator[Contender]:
    """All names into an empty set, in one call."""
    names, scores = Names(pairs).take(np.arange(pairs)), ratings(pairs, seed=1)
    for form, convert in FORMS.items():
        kind: Any = "bytes" if form == "numpy S" else "str"
        yield Contender(
            form,
            lambda batch, kind=kind: SortedSet(*batch, member=kind),
            pairs,
            lambda convert=convert: (convert(names), scores),
        )
    yield Contender(DICT, lambda batch: set_each({}, *batch), pairs, lambda: (texts(names), scores))


if __name__ == "__main__":
    main()
