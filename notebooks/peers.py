# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From Redis, Counter and pandas to goblin
#
# You know what you want to do, in the words of another library. Here each question is asked twice,
# and every answer is compared. Then all of them are weighed, and goblin does not win everywhere.

# %%
import pydoc
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import goblin
from goblin import Hash, SortedSet, plot, synthetic, union

words = re.findall("[a-z]+", pydoc.plaintext.document(str).lower())
print(f"{len(words):,} words of Python's help on str, {len(set(words)):,} different ones")

# %% [markdown]
# ## Counter
#
# A `SortedSet` of counts is a `Counter` whose order is always there. `from_counts` counts, and the
# rest has nearly the same names:

# %%
counter = Counter(words)
counts = SortedSet.from_counts(words)

assert counts == counter
assert counts["the"] == counter["the"]
assert counts.total() == counter.total()
counter.most_common(3), counts.most_common(3)

# %% [markdown]
# Three things differ. Scores are floats. Among equals `most_common` of a `Counter` keeps the order
# of arrival, while here the member decides, so that the answer depends on the content alone. And
# what is absent is absent: `z[m]` raises `KeyError`, as in a dict, where a `Counter` says 0:

# %%
tied = ["pear", "apple", "fig"]
print("Counter:", Counter(tied).most_common(2))
print("goblin: ", SortedSet.from_counts(tied).most_common(2))
counts.get("nowhere", 0), counter["nowhere"]

# %% [markdown]
# `Counter.update` adds. In goblin, `update` sets, as in a dict, `increment_many` adds, and `merge`
# adds one set to another:

# %%
more = ["the", "goblin", "the"]
counter.update(more)
counts.increment_many(more)
assert counts == counter

counter.subtract(more)
counts.subtract(dict(Counter(more)))
assert counts == counter

sums = union([counts, SortedSet.from_counts(more)])
assert sums == counter + Counter(more)
sums.rank("goblin", descending=True)  # a question that a Counter can only sort for

# %% [markdown]
# ## pandas
#
# `value_counts` gives a Series of counts by value, and a Series makes a set:

# %%
series = pd.Series(words).value_counts()
assert SortedSet(series) == SortedSet.from_counts(words)

rng = np.random.default_rng(1)
players = [f"player{number}" for number in range(1000)]
elo = pd.Series(rng.normal(1500, 250, 1000).round(), index=players, name="elo")
board = SortedSet(elo)
board

# %% [markdown]
# Ranks, quantiles and selections agree. goblin counts ranks from 0 where pandas counts from 1:

# %%
for method in ("min", "max", "average", "dense"):
    assert np.array_equal(board.ranks(players, method=method) + 1, elo.rank(method=method))
share = elo.rank(method="max", pct=True)
assert np.array_equal(board.ranks(players, method="max", pct=True), share)
assert np.array_equal(board.quantile([0.1, 0.5, 0.9]), elo.quantile([0.1, 0.5, 0.9]))
assert len(board.top(100, ties="all")) == len(elo.nlargest(100, keep="all"))
assert board.count(1500, 1600) == elo.between(1500, 1600).sum()
described = board.describe()
pd.DataFrame({"pandas": elo.describe(), "goblin": described}, index=list(described))

# %% [markdown]
# The difference comes with the next update: pandas ranks a column anew each time, `board` keeps its
# order. `to_pandas` and `to_polars` make frames of it, and `annotate` looks the keys of a frame up:

# %%
board.increment("player7", 100)
back = board.to_pandas().set_index("member").score
assert back["player7"] == elo["player7"] + 100

guests = pd.DataFrame({"player": ["player7", "player9", "nobody"]})
goblin.annotate(guests, "player", board)

# %% [markdown]
# ## Redis
#
# `docs/redis.md` has all commands of sorted sets and hashes. Where `redis-server` is installed, the
# cells below ask one that lives as long as this notebook:

# %%
folder = tempfile.TemporaryDirectory()
server = None
if shutil.which("redis-server"):
    import redis

    socket = Path(folder.name, "socket")
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""],
        cwd=folder.name,
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(unix_socket_path=str(socket), decode_responses=True)
    while not socket.exists():
        time.sleep(0.01)
print("redis-server:", client.info()["redis_version"] if server else "not installed")

# %%
z = SortedSet({"ann": 1500, "bob": 1400, "cid": 1500})
calls = {
    "ZADD board XX CH 1450 bob": lambda: z.update({"bob": 1450}, mode="xx").changed,
    "ZADD board GT CH 1400 ann": lambda: z.update({"ann": 1400}, mode="gt").changed,
    "ZINCRBY board 12.5 bob": lambda: z.increment("bob", 12.5),
    "ZSCORE board cid": lambda: z["cid"],
    "ZRANK board cid": lambda: z.rank("cid"),
    "ZREVRANK board cid": lambda: z.rank("cid", descending=True),
    "ZRANGE board 0 1": lambda: z.by_rank[0:2].members.tolist(),
    "ZRANGE board 0 0 REV": lambda: z.top(1).members.tolist(),
    "ZCOUNT board (1450 +inf": lambda: z.count(1450, closed="right"),
    "ZRANGE board 1500 1500 BYSCORE": lambda: z.range_by_score(1500, 1500).members.tolist(),
    "ZREM board cid": lambda: int(z.discard("cid")),
    "ZCARD board": lambda: len(z),
}
if server:
    client.zadd("board", z.to_dict())
for command, call in calls.items():
    answer = call()
    if server:
        assert client.execute_command(*command.split()) == answer, command
    print(f"{command:34}{answer}")

# %% [markdown]
# One habit of Redis is not kept: there a member is bytes, and 10 comes before 9. Here numbers are
# numbers, unless one asks for `bytes`:

# %%
numbers = SortedSet(dict.fromkeys([9, 10], 1.0))
as_bytes = SortedSet(dict.fromkeys([b"9", b"10"], 1.0))
if server:
    client.zadd("numbers", {"9": 1, "10": 1})
    assert client.zrange("numbers", 0, -1) == ["10", "9"]
list(numbers), list(as_bytes)

# %% [markdown]
# ## What it weighs
#
# Four kinds of data, the same in each library, and bytes by each one's own account: `memory()` of
# goblin with the order, `MEMORY USAGE` of Redis with its, and for the others, which have no order,
# the sizes of all Python objects that they hold, and of arrays.

# %%
MEMBERS = 100_000
ids = np.arange(MEMBERS)
scattered = rng.integers(-(2**63), 2**63 - 1, MEMBERS)
names = [f"{name}{number}" for name, number in zip(rng.choice(words, MEMBERS), ids, strict=True)]
edits = synthetic.wikimedia(MEMBERS, seed=1).final_arrays()[1].astype(float)
ratings = rng.normal(1500, 250, MEMBERS).round()
cases = {
    "dense ids, edits": (ids, edits),
    "names, ratings": (np.array(names, dtype=object), ratings),
    "scattered ids, any floats": (scattered, rng.random(MEMBERS)),
    "ten names": (np.array(names[:10], dtype=object), ratings[:10]),
}


def in_goblin(members, scores):
    z = SortedSet(members, scores)
    z.rank(z.top(1)[0][0])
    z.optimize()
    return z.memory().total


def in_dict(members, scores):
    mapping = dict(zip(members.tolist(), scores.tolist(), strict=True))
    things = {id(thing): thing for pair in mapping.items() for thing in pair}
    return sys.getsizeof(mapping) + sum(map(sys.getsizeof, things.values()))


def in_pandas(members, scores):
    return pd.Series(scores, index=members).memory_usage(deep=True)


def in_arrays(members, scores):
    texts = sum(map(sys.getsizeof, members)) if members.dtype == object else 0
    return members.nbytes + texts + scores.nbytes


def in_redis(members, scores):
    if not server:
        return np.nan
    client.delete("weighed")
    pairs = list(zip(members.tolist(), scores.tolist(), strict=True))
    for start in range(0, len(pairs), 10_000):
        client.zadd("weighed", dict(pairs[start : start + 10_000]))
    return client.memory_usage("weighed", samples=0)


libraries = {
    "goblin": in_goblin,
    "Redis": in_redis,
    "dict, Counter": in_dict,
    "pandas": in_pandas,
    "two arrays": in_arrays,
}
weights = pd.DataFrame(
    {
        library: {case: weigh(*data) / len(data[0]) for case, data in cases.items()}
        for library, weigh in libraries.items()
    }
)
weights.round(1)

# %%
_, ax = plt.subplots(figsize=(8.5, 4), layout="constrained")
weights.iloc[::-1, ::-1].plot.barh(ax=ax, color=plot.COLORS[4::-1], width=0.8)
ax.set_xlabel("bytes per member")
ax.spines[["top", "right"]].set_visible(False)
handles, labels = ax.get_legend_handles_labels()
ax.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %% [markdown]
# Where goblin loses is as plain:

# %%
for case, row in weights.iterrows():
    lighter = row.drop("goblin").loc[row < row["goblin"]]
    print(f"{case}: {', '.join(lighter.index) or 'nothing'} lighter than goblin")

print(f"an empty set takes {SortedSet(member='str').memory().total} bytes")

# %% [markdown]
# Plain arrays have neither an order nor a way to find a member, and a Series is two arrays until
# its first look-up; for what they hold, they are hard to beat. A set also has a fixed cost, which
# counts where sets are tiny; Redis keeps a tiny one as one short list. And where a dict fits, and
# nobody asks for ranks, a dict is simpler.
#
# ## A hash
#
# A Redis hash, or a small dict of texts, is a `Hash`:

# %%
record = {f"field{number:02}": f"value {number}" for number in range(32)}
small = Hash(record)
assert small == record
texts = sum(map(sys.getsizeof, [*record, *record.values()]))
print(f"dict:   {sys.getsizeof(record) + texts:6,} bytes")
if server:
    client.hset("record", mapping=record)
    print(f"Redis:  {client.memory_usage('record', samples=0):6,} bytes")
print(f"goblin: {small.memory().total:6,} bytes")

# %%
if server:
    client.close()
    server.terminate()
    server.wait()
folder.cleanup()
