"""What ties a set of str to one of their UTF-8 bytes, and one of UUIDs to one of their bytes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from model.layouts import Layout
from strategies import FINITE, members

from goblin import SortedSet

ENCODE = {"str": lambda text: text.encode(), "uuid": lambda uuid: uuid.bytes}


@given(kind=st.sampled_from(sorted(ENCODE)), data=st.data())
def test_order_digest_and_ranks_are_those_of_the_bytes(kind: str, data: Any) -> None:
    drawn = st.lists(st.tuples(members(Layout(kind, "float64")), FINITE), max_size=80)
    pairs, encode = data.draw(drawn), ENCODE[kind]
    z = SortedSet(pairs, member=kind)
    raw = SortedSet([(encode(member), score) for member, score in pairs], member="bytes")
    assert [encode(member) for member in z] == list(raw)
    assert raw.digest() == z.digest()
    probes = [member for member, _ in pairs]
    ranks = raw.ranks([encode(member) for member in probes])
    assert z.ranks(probes).tolist() == ranks.tolist()


@given(data=st.data())
def test_str_and_bytes_never_meet(data: Any) -> None:
    texts = data.draw(st.lists(members(Layout("str", "float64")), min_size=1))
    z, raw = SortedSet(texts, 1.0, member="str"), SortedSet(member="bytes")
    raw.update([text.encode() for text in texts], 1.0)
    assert z != raw
    assert not any(text.encode() in z or text in raw for text in texts)
    assert z.keys().isdisjoint(raw)
