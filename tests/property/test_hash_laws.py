"""Laws of a Hash that need no model."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from hash_strategies import LOOKALIKES, PATTERNS, RAW, keys, values
from hypothesis import given
from hypothesis import strategies as st
from model.hash_checks import ALL_FORMS, ALL_KINDS, Kind
from model.redis_glob import matches

from goblin import Hash

TEXT = Kind("str", "str")
BYTES = Kind("bytes", "bytes")
FORMS = st.sampled_from(ALL_FORMS)


@st.composite
def kinds_and_pairs(draw: Any) -> tuple[Kind, list[tuple[Any, Any]]]:
    kind = draw(st.sampled_from(ALL_KINDS))
    return kind, draw(st.lists(st.tuples(keys(kind), values(kind)), max_size=40))


@given(kinds_and_pairs(), FORMS, FORMS)
def test_no_form_changes_an_answer(drawn: Any, one: Any, other: Any) -> None:
    kind, pairs = drawn
    a, b = (Hash(pairs, **kind.options, **form) for form in (one, other))
    assert a == b == dict(pairs)
    a.optimize()
    assert a == b
    assert Hash(a, **kind.options) == pickle.loads(pickle.dumps(b)) == a


@given(kinds_and_pairs(), FORMS, st.sampled_from(["any", "new", "existing"]))
def test_many_sets_are_sets_one_after_another(drawn: Any, form: Any, only: str) -> None:
    kind, pairs = drawn
    many, single = (Hash(pairs[:9], **kind.options, **form) for _ in range(2))
    before = len(single)
    for key, value in pairs:
        if only == "any" or (key in single) == (only == "existing"):
            single[key] = value
    new = many.set_many([key for key, _ in pairs], [value for _, value in pairs], only=only)
    assert many == single
    assert new == len(single) - before


@given(kinds_and_pairs(), FORMS)
def test_pops_undo_sets(drawn: Any, form: Any) -> None:
    kind, pairs = drawn
    h = Hash(kind.pairs(12), **kind.options, **form)
    before = h.to_dict()
    news = {key: value for key, value in pairs if key not in before}
    assert h.set_many(list(news), list(news.values())) == len(news)
    assert h.pop_many(list(news)) == list(news.values())
    assert h == before
    h._validate()


@given(
    st.sampled_from([kind for kind in ALL_KINDS if kind.key == "str"]),
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-1000, 1000)), max_size=60),
    FORMS,
)
def test_increments_add_up(kind: Kind, steps: list[tuple[str, int]], form: Any) -> None:
    many, single = (Hash(**kind.options, **form) for _ in range(2))
    ids, by = [key for key, _ in steps], [step for _, step in steps]
    many.increment_many(ids, np.array(by, dtype=np.int16))
    last = {key: single.increment(key, step) for key, step in steps}
    assert many == single
    sums = {key: sum(step for k, step in steps if k == key) for key in ids}
    assert last == sums
    assert {key: float(value) for key, value in many.items()} == sums


@given(st.lists(keys(TEXT), max_size=60), st.sampled_from(PATTERNS), FORMS)
def test_scans_choose_among_the_items(texts: list[str], pattern: str, form: Any) -> None:
    h = Hash(dict.fromkeys(texts, "v"), **form)
    assert sorted(h.scan()) == sorted(h.scan("*")) == sorted(h.items())
    assert {key for key, _ in h.scan(pattern)} == {key for key in texts if matches(pattern, key)}


@given(st.dictionaries(keys(TEXT), values(TEXT), max_size=40), FORMS)
def test_texts_are_their_bytes(data: dict[str, str], form: Any) -> None:
    raw = {key.encode(): value.encode() for key, value in data.items()}
    texts, octets = Hash(data, **form), Hash(raw, **BYTES.options, **form)
    assert {key.encode(): value.encode() for key, value in texts.items()} == octets
    assert not data or texts != octets


@given(st.lists(st.sampled_from(LOOKALIKES), max_size=80), FORMS)
def test_what_looks_alike_stays_apart(texts: list[str], form: Any) -> None:
    """007 is not 7, and neither is the byte 7."""
    both = [text.encode() for text in texts] + RAW
    h = Hash(zip(both, both, strict=True), **BYTES.options, **form)
    assert len(h) == len(set(both))
    assert all(key == value == h[key] for key, value in h.items())
