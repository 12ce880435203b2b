"""scan: Redis' glob over the keys."""

from __future__ import annotations

from typing import Any

import pytest
from model.hash_checks import in_every_form

from goblin import Hash

GLOBS = [
    ("*", ["", "a", "\n", "7"], []),
    ("**", ["", "a"], []),
    ("h*o", ["ho", "hello", "h*o", "h\no"], ["hell", "ohello", "Ho"]),
    ("h?llo", ["hello", "hallo", "h\nllo"], ["hllo", "heello"]),
    ("h[ae]llo", ["hello", "hallo"], ["hillo", "hllo"]),
    ("h[^e]llo", ["hallo", "h^llo"], ["hello", "hllo"]),
    ("h[a-b]llo", ["hallo", "hbllo"], ["hcllo", "h-llo"]),
    ("h[b-a]llo", ["hallo", "hbllo"], ["hcllo"]),
    ("h[!a]llo", ["h!llo", "hallo"], ["hello"]),
    (r"h\*o", ["h*o"], ["hello", r"h\*o"]),
    (r"\[a\]", ["[a]"], ["a"]),
    (r"[\]x]", ["]", "x"], ["\\"]),
    (r"[\-z]", ["-", "z"], ["a"]),
    ("[]]", [], ["]", "]]", ""]),
    ("[^]", ["a", "]"], ["", "ab"]),
    ("[^]a", ["xa", "]a"], ["a"]),
    ("[ab", ["a", "b"], ["[ab", "c"]),
    ("[a-", ["a", "-"], ["b"]),
    ("[a-]", ["a", "_"], ["-", "b"]),
    ("[a-]b", ["a", "b"], ["ab", "-b"]),
    ("[", [], ["[", ""]),
    ("\\", ["\\"], [""]),
    ("a\\", ["a\\"], ["a"]),
    ("*a*b*c*", ["abc", "xaxbxcx", "aabbcc"], ["acb", "ab"]),
    ("*ab", ["ab", "aab", "abab"], ["aba"]),
    ("", [""], ["a"]),
    ("a\0*", ["a\0", "a\0b"], ["a", "ab"]),
    ("12*", ["12", "123", "12-"], ["1", "012"]),
    ("*-9cb-*", ["0f8fad5b-d9cb-469f-a165-70867728950e"[:9] + "9cb-x"], ["9cb"]),
]


@pytest.mark.parametrize(("pattern", "fits", "does_not"), GLOBS, ids=[repr(g[0]) for g in GLOBS])
@in_every_form
def test_glob(form: dict[str, Any], pattern: str, fits: list[str], does_not: list[str]) -> None:
    h = Hash(dict.fromkeys(fits + does_not, "v"), **form)
    assert sorted(h.scan(pattern)) == [(key, "v") for key in sorted(fits)]
    raw = Hash({key.encode(): b"v" for key in h}, key="bytes", value="bytes", **form)
    found = [key.decode() for key, _ in raw.scan(pattern.encode())]
    assert sorted(found) == sorted(fits)


def test_the_number_of_all_keys_does_not_matter() -> None:
    h = Hash({str(i): str(i * i) for i in range(3000)})
    assert sorted(h.scan("29?[13]")) == [(str(i), str(i * i)) for i in range(2901, 3000)
                                         if i % 10 in (1, 3)]  # fmt: skip
    assert sorted(h.scan()) == sorted(h.scan(None)) == sorted(h.scan("*")) == sorted(h.items())
    assert list(h.scan("x*")) == []


def test_by_character_in_str_and_by_byte_in_bytes() -> None:
    words = ["é", "ë", "\U00010000", "e", "ab"]
    h = Hash(dict.fromkeys(words, "v"))
    raw = Hash({word.encode(): b"v" for word in words}, key="bytes", value="bytes")
    assert {key for key, _ in h.scan("?")} == {"é", "ë", "\U00010000", "e"}
    assert {key for key, _ in raw.scan(b"?")} == {b"e"}
    assert {key for key, _ in raw.scan(b"??")} == {"é".encode(), "ë".encode(), b"ab"}
    assert {key for key, _ in h.scan("[è-ê]")} == {"é"}
    assert {key for key, _ in h.scan("[^é]")} == {"ë", "\U00010000", "e"}
    assert {key for key, _ in raw.scan(b"[\x80-\xff]?*")} == {word.encode() for word in words[:3]}


def test_values_of_every_kind() -> None:
    assert list(Hash({"a": 1, "b": 2}, value="int64").scan("b")) == [("b", 2)]
    assert list(Hash({"a": 1, "b": 2}, value="float64").scan("b")) == [("b", 2.0)]


def test_many_stars_take_no_ages() -> None:
    """The pattern that makes a naive match exponential."""
    h = Hash({"a" * 300: "v"}, max_compact_fields=0)
    assert list(h.scan("*a" * 60 + "*")) == list(h.items())
    assert list(h.scan("*a" * 60 + "b")) == []


@pytest.mark.parametrize("match", [b"*", 5, 1.5, ["*"], True])
def test_a_pattern_is_of_the_kind_of_the_keys(match: Any) -> None:
    with pytest.raises(TypeError):
        list(Hash({"a": "1"}).scan(match))


def test_surrogates_are_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        list(Hash({"a": "1"}).scan("\ud800*"))
