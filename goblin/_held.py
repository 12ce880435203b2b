"""What objects that a thread can hold have in common: methods in one piece, copies, merging."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
C_co = TypeVar("C_co", covariant=True)


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


def same(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    """one == other, without None in one, as a loop that hears signals and lets others run."""
    return len(one) == len(other) and all(value == other.get(key) for key, value in one.items())


def attributes(one: object) -> Any:
    """What an object of a subclass has besides, in its __dict__ and its slots."""
    return object.__getstate__(one)


def set_attributes(one: object, state: Any) -> None:
    of_dict, of_slots = state if isinstance(state, tuple) else (state, None)
    if of_dict:
        one.__dict__.update(of_dict)
    for name, value in (of_slots or {}).items():
        setattr(one, name, value)


def new_arguments(one: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a subclass says, in pickle's way, that its __new__ has to be given."""
    if hasattr(one, "__getnewargs_ex__"):
        args, kwargs = one.__getnewargs_ex__()
        return args, kwargs
    return one.__getnewargs__() if hasattr(one, "__getnewargs__") else (), {}


def _twin(one: S, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> S:
    args, kwargs = arguments
    other: S = type(one).__new__(type(one), *args, **kwargs)
    other._assign(one)
    return other


def twin(one: S) -> S:
    """A copy with, of a subclass, its attributes."""
    other = _twin(one, new_arguments(one))
    set_attributes(other, attributes(one))
    return other


def deep_twin(one: S, memo: dict[int, Any]) -> S:
    """A copy with copies of the attributes."""
    other = memo[id(one)] = _twin(one, copy.deepcopy(new_arguments(one), memo))
    set_attributes(other, copy.deepcopy(attributes(one), memo))
    return other


class Copied(Protocol[C_co]):
    """What has a copy; that of a Record is a Hash."""

    def copy(self) -> C_co: ...


class Merging:
    """The operators `|` and `|=` of dict."""

    __slots__ = ()

    if TYPE_CHECKING:

        def copy(self) -> Any: ...

    def __or__(self: Copied[C_co], other: Mapping[Any, Any]) -> C_co:
        if not isinstance(other, Mapping):
            return NotImplemented
        merged: Any = self.copy()
        merged.update(other)
        return merged  # type: ignore[no-any-return]

    def __ror__(self: Copied[C_co], other: Mapping[Any, Any]) -> C_co:
        if not isinstance(other, Mapping):
            return NotImplemented
        own: Any = self.copy()
        merged = own.copy()
        merged.update(other)
        merged.update(own)
        return merged  # type: ignore[no-any-return]

    def __ior__(self, other: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Self:
        self.update(other)  # type: ignore[attr-defined]
        return self
