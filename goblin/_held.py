"""What objects that a thread can hold have in common: methods in one piece, and copies."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Held(Protocol):
    """A SortedSet or a Hash."""

    def _atomically(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any: ...
    def _assign(self, other: Any, /) -> None: ...


S = TypeVar("S", bound=Held)


def atomic(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Other threads wait until the whole method is done."""

    @functools.wraps(method)
    def held(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self._atomically(method, self, *args, **kwargs)
        return result

    return held


def together(objects: Iterable[Held], function: Callable[[], R]) -> R:
    """Calls a function while this thread holds all, taken in one order by all threads."""
    for one in sorted(objects, key=id, reverse=True):
        function = functools.partial(one._atomically, function)
    return function()


def twin(one: S) -> S:
    """A copy with, of a subclass, its attributes."""
    other = type(one).__new__(type(one))
    other._assign(one)
    _set_attributes(other, object.__getstate__(one))
    return other


def deep_twin(one: S, memo: dict[int, Any]) -> S:
    """A copy with copies of the attributes."""
    other = memo[id(one)] = type(one).__new__(type(one))
    other._assign(one)
    _set_attributes(other, copy.deepcopy(object.__getstate__(one), memo))
    return other


def _set_attributes(one: object, state: Any) -> None:
    """Those of __dict__, and those of __slots__ where there are some."""
    of_dict, of_slots = state if isinstance(state, tuple) else (state, None)
    if of_dict:
        one.__dict__.update(of_dict)
    for name, value in (of_slots or {}).items():
        setattr(one, name, value)
