"""The two forms of a Hash, and what they say of their memory."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from model.hash_checks import Kind, assert_memory, in_every_form, of_every_kind

from goblin import Hash

TEXT = Kind("str", "str")
# Bytes a field may cost and what a hash costs besides, the object included, at these sizes.
PER_FIELD, BESIDES = 34, 96
SWEEP = [32, 40, 50, 64, 80, 101, 128, 161, 203, 256, 322, 406, 512, 1625]


def fourteen_and_sixteen(count: int) -> dict[str, str]:
    """Fields of 14 bytes, values of 16, none of which is a number or a UUID."""
    return {f"field:{i:08}": f"value-{i:010}" for i in range(count)}


@in_every_form
@of_every_kind
@pytest.mark.parametrize("size", [0, 1, 5, 6, 300, 5000])
def test_the_report_agrees_with_the_allocator(kind: Kind, form: dict[str, Any], size: int) -> None:
    h = Hash(**kind.options, **form)
    for change in (
        lambda: h.update(kind.pairs(size)),
        lambda: h.optimize(),
        lambda: h.update([(key, kind.value_of(77)) for key, _ in kind.pairs(0, size, 2)]),
        lambda: h.pop_many([key for key, _ in kind.pairs(0, size, 3)]),
        lambda: h.optimize(),
        lambda: h.clear(),
    ):
        change()
        assert_memory(h)
        h._validate()


def test_the_report_reads_well() -> None:
    h = Hash(fourteen_and_sixteen(100))
    lines = str(h.memory()).splitlines()
    for part in ("object", "total"):
        assert any(part in line for line in lines)
    assert h.memory().total > 100 * 30


@in_every_form
def test_getsizeof_covers_the_structures(form: dict[str, Any]) -> None:
    h = Hash(fourteen_and_sixteen(1000), **form)
    assert sys.getsizeof(h) >= h._live_bytes() > 1000 * 30


@pytest.mark.parametrize("fields", SWEEP)
def test_what_a_small_hash_costs(fields: int) -> None:
    h = Hash(fourteen_and_sixteen(fields))
    h.optimize()
    assert h.is_compact
    assert h.memory().total <= PER_FIELD * fields + BESIDES
    assert sys.getsizeof(h) <= PER_FIELD * fields + BESIDES


def test_what_the_full_form_costs() -> None:
    sizes = []
    for most in (None, 0):
        h = Hash(fourteen_and_sixteen(512), max_compact_fields=most)
        h.optimize()
        sizes.append(h.memory().total)
    assert sizes[1] <= 1.15 * sizes[0]


def test_numbers_and_uuids_take_less_in_binary() -> None:
    uuid = "0f8fad5b-d9cb-469f-a165-{:012x}".format
    data = {uuid(i): str(2**40 + i) for i in range(300)}
    binary, plain = Hash(data), Hash(data, encoding=False)
    assert binary == plain == data
    assert binary.memory().total < plain.memory().total - 300 * 20


# ---- from one form to the other


def test_it_grows_out_of_the_compact_form_by_size() -> None:
    h = Hash()
    data = fourteen_and_sixteen(3000)
    for key, value in data.items():
        h[key] = value
    assert not h.is_compact
    assert h == data
    small = Hash(fourteen_and_sixteen(1625))
    assert small.is_compact
    with pytest.raises(AttributeError):
        small.is_compact = False


@pytest.mark.parametrize(("length", "compact"), [(32_000, True), (32_768, False), (70_000, False)])
def test_a_long_value_has_no_place_in_a_blob(length: int, compact: bool) -> None:
    for data in ({"a": "1", "long": "v" * length}, {"a": "1", "k" * length: "v"}):
        h = Hash(data)
        assert h.is_compact == compact
        assert h == data
        h._validate()


@pytest.mark.parametrize("length", [0, 1, 63, 64, 127, 128, 254, 255, 256, 32_000, 32_767, 32_768])
@in_every_form
def test_every_length_of_field_and_value(form: dict[str, Any], length: int) -> None:
    lengths = [max(length + off, 0) for off in (-1, 0, 1)]
    pairs = [("k" * one, "v" * other) for one in lengths for other in lengths]
    h = Hash(**form)
    for key, value in pairs:
        h["before"], h[key], h["after"] = "b", value, "a"
        assert h == {**dict(pairs[: pairs.index((key, value)) + 1]), "before": "b", "after": "a"}
        h._validate()
    for key, _ in pairs:
        h.pop(key, None)
        h._validate()
    assert h == {"before": "b", "after": "a"}


@pytest.mark.parametrize("most", [0, 1, 5, 200])
def test_max_compact_fields(most: int) -> None:
    h = Hash(max_compact_fields=most)
    for i in range(most):
        h[str(i)] = "v"
        assert h.is_compact
    h["one more"] = "v"
    assert not h.is_compact
    h.optimize()
    assert not h.is_compact
    assert len(h) == most + 1
    h.clear()
    h["a"] = "1"
    assert h.is_compact == (most > 0)


@pytest.mark.parametrize("most", [None, 5])
def test_optimize_and_clear_lead_back(most: int | None) -> None:
    h = Hash({str(i): "v" * 40 for i in range(3000)}, max_compact_fields=most)
    h.pop_many([str(i) for i in range(3, 3000)])
    assert not h.is_compact
    h.optimize()
    assert h.is_compact
    assert h == {"0": "v" * 40, "1": "v" * 40, "2": "v" * 40}
    assert h.memory().total < 600
    h.update({str(i): "v" * 40 for i in range(3000)})
    assert not h.is_compact
    h.clear()
    assert h.is_compact


@of_every_kind
@in_every_form
def test_optimize_keeps_the_content_and_never_costs_memory(
    kind: Kind, form: dict[str, Any]
) -> None:
    for size in (0, 4, 500, 4000):
        h = Hash(kind.pairs(size), **kind.options, **form)
        h.pop_many([key for key, _ in kind.pairs(0, size, 3)])
        before, total = h.to_dict(), h.memory().total
        h.optimize()
        assert h == before
        assert h.memory().total <= total
        h._validate()


@pytest.mark.parametrize("fail_at", [1, 2, 3])
@in_every_form
def test_a_failed_allocation_changes_nothing(form: dict[str, Any], fail_at: int) -> None:
    data = dict(TEXT.pairs(300))
    for call in (
        lambda h: h.update(TEXT.pairs(250, 4000)),
        lambda h: h.set_many(list(data), ["longer" * 200] * 300),
        lambda h: h.increment_many([f"n{i}" for i in range(4000)]),
        lambda h: h.copy(),
        lambda h: h.optimize(),
    ):
        h = Hash(data, **form)
        running = iter(h.items())
        next(running)
        h._fail_at(fail_at)
        try:
            call(h)
        except MemoryError:
            assert len(list(running)) == 299
            h._fail_at(0)
            assert h == data
        h._fail_at(0)
        h._validate()
        assert_memory(h)
