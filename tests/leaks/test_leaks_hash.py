"""Ordinary use of a Hash leaves nothing behind (B61)."""

from __future__ import annotations

import growth

SCRIPT = """
import copy, pickle
import numpy as np
from goblin import Hash

class Record(Hash):
    pass

class Number:
    def __index__(self): return 5

number = Number()
texts = {f"field:{i}": f"value {i}é" for i in range(300)}
h = Hash(texts)
full = Hash(texts, max_compact_fields=0, encoding=False)
ints = Hash({key: i for i, key in enumerate(texts)}, value="int64")
raw = Hash({b"a": b"1"}, key="bytes", value="bytes")
keys, column = list(texts), np.array(list(texts))
bad = ["none", 5, None, "\\ud800", b"a", bytearray(b"a"), "é" * 300]
watched = [Hash, Record, type(iter(h)), Number, number, column, None, True]

def quietly(call, *args, **options):
    try:
        return call(*args, **options)
    except Exception as error:
        return type(error)

def work(rounds):
    for i in range(rounds):
        for each in (h, full):
            each[f"new {i}"] = "x" * (i % 400); each.pop(f"new {i}")
            each.setdefault("field:1", "x"); each.increment("n"); each.increment("n", 0.5)
            each.pop("n"); list(each); list(each.items()); list(each.values()); next(iter(each))
            each.get_many(keys); each.get_many(column, missing=number); each.sample(3)
            list(each.scan("*1")); each.memory(); each.optimize(); each == texts; each == h
            each.set_many(keys, keys, only="new"); each.pop_many(keys[:5]); each.update(texts)
            [(x in each, quietly(each.__getitem__, x), quietly(each.__setitem__, x, x),
              quietly(each.pop, x), quietly(each.increment, x)) for x in bad]
            quietly(each.increment_many, ["n", "field:1"]); quietly(each.get_many, bad)
            quietly(each.set_many, keys, [*keys[1:], 5]); quietly(each.set_many, keys, keys[1:])
            copy.deepcopy(each); pickle.loads(pickle.dumps(each)); each.to_numpy()
            each._fail_at(1 + i % 3); quietly(each.update, {"a" * i: "b", "c": "d" * i})
            each._fail_at(0); each.pop_many(["a" * i, "c", "none", "é" * 300])
        ints.increment_many(keys, number); ints.increment_many(column, np.arange(300))
        quietly(ints.increment_many, keys, 2**63 - 1); ints.get_many(keys); ints.to_dict()
        raw[bytearray(b"a")] = memoryview(b"12"); raw.increment(b"a"); raw.popitem()
        quietly(Hash, {"a": 1}); quietly(Hash, key="x"); Hash()
        record = Record({"a": "1"}); record.me = record; record.it = iter(record)

"""


def test_nothing_is_left_behind() -> None:
    growth.check(SCRIPT, (20, 60))
