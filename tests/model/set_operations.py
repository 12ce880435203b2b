"""The specification of what is made from several sets: union and its kin, and Boards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from model.kinds import array_of, listed
from model.kinds import kind_of as kind_of_members
from model.sorted_set import ModelSortedSet, combination, not_negative, zero_for_nan


def inputs(sets: Iterable[Any], weights: Any) -> tuple[list[ModelSortedSet], list[float]]:
    """The sets, all of one kind of members, and the weight of each."""
    sets = list(sets)
    if not sets:
        raise ValueError("no set was given")
    first = sets[0]
    if not isinstance(first, ModelSortedSet):
        raise TypeError("sets are wanted")
    for other in sets:
        first._same_kind(other)
    return sets, [1.0] * len(sets) if weights is None else first._numbers(list(weights), len(sets))


def like(first: ModelSortedSet, content: dict[Any, float]) -> ModelSortedSet:
    """A set with the options of the first one."""
    result = ModelSortedSet(
        member=first.member_dtype, score=first.score_dtype, compress=first.compress,
        merge_exponent=first.merge_exponent,
    )  # fmt: skip
    result.update(content)
    return result


def combined(sets: Iterable[Any], weights: Any, aggregate: str, in_all: bool) -> ModelSortedSet:
    """Weighted scores combined in float64 in the order of the sets, and narrowed once."""
    combine = combination(aggregate)
    sets, weights = inputs(sets, weights)
    result: dict[Any, float] = {}
    for z, weight in zip(sets, weights, strict=True):
        for member, score in z.items():
            weighted = weight if aggregate == "count" else zero_for_nan(weight * score)
            result[member] = combine(result[member], weighted) if member in result else weighted
    if in_all:
        result = {m: s for m, s in result.items() if all(m in z for z in sets)}
    return like(sets[0], result)


def union(sets: Iterable[Any], *, weights: Any = None, aggregate: str = "sum") -> ModelSortedSet:
    return combined(sets, weights, aggregate, False)


def intersection(
    sets: Iterable[Any], *, weights: Any = None, aggregate: str = "sum"
) -> ModelSortedSet:
    return combined(sets, weights, aggregate, True)


def difference(first: ModelSortedSet, *others: ModelSortedSet) -> ModelSortedSet:
    inputs([first, *others], None)
    kept = {m: s for m, s in first.items() if not any(m in other for other in others)}
    return like(first, kept)


def intersection_card(sets: Iterable[Any], limit: int = 0) -> int:
    limit = not_negative(limit, "limit")
    sets, _ = inputs(sets, None)
    size = sum(all(member in z for z in sets) for member in sets[0])
    return min(size, limit) if limit else size


class ModelBoardRows:
    """Rows of several boards, one board after the other."""

    def __init__(self, tops: dict[Any, Any], kind: str) -> None:
        self.groups = [group for group, rows in tops.items() for _ in range(len(rows))]
        self.members = array_of([member for rows in tops.values() for member, _ in rows], kind)
        self.scores = [score for rows in tops.values() for _, score in rows]
        self.ranks = [rank for rows in tops.values() for rank in rows.ranks.tolist()]

    def __len__(self) -> int:
        return len(self.groups)


class ModelBoards(Mapping[Any, ModelSortedSet]):
    """A set of increments for each group; groups in ascending order."""

    def __init__(self, boards: dict[Any, ModelSortedSet], kind: str) -> None:
        self._boards = boards
        self._kind = kind

    @classmethod
    def from_arrays(cls, groups: Any, members: Any, by: Any) -> ModelBoards:
        kind = kind_of_members(members)
        whole = ModelSortedSet(member=kind)
        members = whole._members(members)
        steps = whole._numbers(by, len(members))
        groups = list(listed(groups, kind_of_members(groups)))
        if len(groups) != len(members):
            raise ValueError("groups and members differ in length")
        boards = {group: ModelSortedSet(member=kind) for group in sorted(set(groups))}
        for group, member, step in zip(groups, members, steps, strict=True):
            boards[group].increment(member, step)
        return cls(boards, kind)

    def __getitem__(self, group: Any) -> ModelSortedSet:
        return self._boards[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._boards)

    def __len__(self) -> int:
        return len(self._boards)

    def top(self, n: int = 10) -> ModelBoardRows:
        return ModelBoardRows({g: z.top(n) for g, z in self._boards.items()}, self._kind)
