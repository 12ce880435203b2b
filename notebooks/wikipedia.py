# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Wikipedia: eighty million pages in a quarter of a gigabyte
#
# Which page of Wikipedia has been edited most? Where does a page with 100 edits stand? How many
# pages were touched once and never again? One `SortedSet` answers all of that: it counts edits by
# page, and keeps the pages in the order of their counts.
#
# The notebook makes its own data, which has the shape of English Wikipedia's edits, and runs in
# half a minute. For real ones, put files of the [MediaWiki History
# dumps](https://dumps.wikimedia.org/other/mediawiki_history/) (`*.tsv.bz2`) into a folder and name
# it in the environment variable `GOBLIN_DATA`, or here:

# %%
import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goblin import SortedSet, plot, synthetic
from goblin.io import mediawiki

DATA = os.environ.get("GOBLIN_DATA")
MANY = 2_000_000  # pages of the generated wiki that is counted edit by edit
ALL = 80_798_328  # pages of English Wikipedia in August 2026
GIB = 2**30

# %% [markdown]
# ## A dump

# %%
scratch = tempfile.TemporaryDirectory()
files = sorted(Path(DATA).glob("*.tsv*")) if DATA else []
if not files:
    files = [Path(scratch.name, "generated.tsv.bz2")]
    synthetic.wikimedia(2_000, seed=1).write_history(files[0])
for file in files:
    print(f"{file.name}: {file.stat().st_size:,} bytes")

# %% [markdown]
# `history` reads dumps as batches of columns, and `from_counts` counts one column of them. Rows
# that are no edits are left out; the reader says how many, and why:

# %%
history = mediawiki.history(files, progress=False)
pages = SortedSet.from_counts(history)
print(f"{pages.total():,.0f} edits of {len(pages):,} pages; left out: {history.skipped}")
pages.top(5)

# %% [markdown]
# Ranks count from 0, from the lowest, so those of the top count down. What comes back is a mapping
# from page ids to counts that knows its order, and that takes more edits at any time:

# %%
page, edits = pages.top(1)[0]
pages.increment(page)
pages.increment_many(np.array([page, page]))
print(f"page {page}: {edits:,.0f} edits, then {pages[page]:,.0f}; rank {pages.rank(page):,}")

# %% [markdown]
# ## Many pages
#
# Two thousand pages fit anywhere. The generator also gives all edits of a larger wiki without a
# file, in the order in which they were made, as arrays of about a million page ids. Where
# `GOBLIN_DATA` names dumps, they are read once more instead. While the edits are counted, we write
# down how many bytes the set takes:

# %%
if DATA:
    trace = (batch.page_id for batch in mediawiki.history(files, progress=False))
else:
    trace = synthetic.wikimedia(MANY, seed=1)
counts = SortedSet(member="int32", score="float32")
growth = []
for ids in trace:
    counts.increment_many(ids)
    growth.append((len(counts), counts.memory().total))
print(f"{counts.total():,.0f} edits of {len(counts):,} pages")
print(counts.memory())

# %% [markdown]
# Page ids lie close together and most counts are small. So the set keeps stretches of 16,384 ids,
# with one byte for each count that fits it, and the exceptions beside them. The *order* takes
# nothing yet: it is made when somebody first asks for it.

# %%
without_order = counts.memory().per_member
first, _ = counts.top(1)[0]
counts.rank(first)
counts.optimize()
with_order = counts.memory().per_member
print(f"{without_order:.2f} bytes a page without the order, {with_order:.2f} with it")

# %% [markdown]
# ## Who has how many?

# %%
top = counts.top(len(counts) // 100)
median, ninety, ninety_nine = counts.quantile([0.5, 0.9, 0.99])
print(f"pages with one edit:               {counts.count(1, 1) / len(counts):.1%}")
print(f"pages with 100 edits or more:      {counts.count(lo=100) / len(counts):.1%}")
print(f"edits on the top 1 % of the pages: {top.scores.sum() / counts.total():.1%}")
print(f"half of the pages have {median:.0f} or fewer, 90 % {ninety:.0f}, 99 % {ninety_nine:.0f}")
print(f"100 edits are more than {counts.percentile_of(100, kind='strict'):.1f} % of the pages have")
counts.top(5)

# %% [markdown]
# Most pages have few edits, and a few have very many. Ranks against counts on two logarithmic
# scales show it at a glance:

# %%
ax = plot.rank_size(counts)
ax.set_ylabel("edits")
plt.show()

# %% [markdown]
# ## What others take
#
# The same counts in what one would reach for otherwise, by their own account of their bytes, with
# objects that are shared counted once:

# %%
ids, edits_of = counts.to_numpy()


def bytes_of_dict(mapping):
    objects = {id(thing): thing for pair in mapping.items() for thing in pair}
    return sys.getsizeof(mapping) + sum(map(sys.getsizeof, objects.values()))


as_dict = dict(zip(ids.tolist(), edits_of.astype(int).tolist(), strict=True))
as_series = pd.Series(edits_of, index=ids)
as_array = np.zeros(ids.max() + 1, dtype=np.float32)
as_array[ids] = edits_of
peers = {
    "dict or Counter": bytes_of_dict(as_dict),
    "pandas Series": as_series.memory_usage(deep=True),
    "numpy array indexed by page id": as_array.nbytes,
    "goblin, with the order": counts.memory().total,
    "goblin, without the order": without_order * len(counts),
}
for name, taken in peers.items():
    print(f"{name:32}{taken / len(counts):7.2f} bytes a page")
del as_dict, as_series, as_array

# %% [markdown]
# The others have no order at all, and the Series makes a hash table of its index, which is not
# counted here, at the first look-up. The plain array is the honest rival: while ids are dense, the
# highest is known, and nobody asks for a rank, it is simple, small and fast.
#
# Dense ids are what goblin likes best. Of ids that are scattered over all 64 bits, with scores that
# have no pattern, there is not much to pack, and two plain arrays are smaller:

# %%
rng = np.random.default_rng(1)
scattered = rng.integers(-(2**63), 2**63 - 1, 200_000)
scores = rng.random(200_000)
worst = SortedSet(scattered, scores)
unordered = worst.memory().per_member
worst.rank(scattered[0])
worst.optimize()
arrays = (scattered.nbytes + scores.nbytes) / len(worst)
print(f"two arrays                 {arrays:6.1f} bytes a member")
print(f"goblin, without the order  {unordered:6.1f}")
print(f"goblin, with the order     {worst.memory().per_member:6.1f}")

# %% [markdown]
# ## Eighty million
#
# Now the real size. Here is the state after the last edit, stretch by stretch, from the generator,
# which knows it without replaying:

# %%
wikipedia = synthetic.wikimedia(ALL, seed=1).final()
first, most = wikipedia.top(1)[0]
wikipedia.rank(first)
wikipedia.optimize()
print(f"{wikipedia.total():,.0f} edits of {len(wikipedia):,} pages, {most:,.0f} of page {first}")
print(wikipedia.memory())

# %%
taken = wikipedia.memory().total / GIB
assert wikipedia.memory().order > 0
assert taken < 0.25
print(f"{taken:.3f} GiB for {len(wikipedia):,} pages and their order")

# %% [markdown]
# That is the container's own account, which its tests hold to the byte. A whole Python process that
# replays all the edits, numpy and interpreter included, was measured for `docs/benchmarks.md`; the
# reports of servers that did the same replay, one command and one reply at a time, measure their
# whole processes as well:

# %%
replays = pd.DataFrame(
    [
        ("goblin in its process", 0.215, "54 s", "docs/benchmarks.md; arrays, no server"),
        ("Goblin Core, C++, smallest", 1.626, "9 h 32 min", "its reports of 2026"),
        ("Goblin Core, C++, fastest", 2.102, "7 h 8 min", "its reports of 2026"),
        ("Valkey 9.1", 5.209, "about 8 h 19 min", "the same reports"),
        ("Redis 8.8", 5.465, "about 8 h 26 min", "the same reports"),
    ],
    columns=["who", "GiB resident", "time", "says who"],
)
replays.set_index("who").rename_axis(None)

# %% [markdown]
# Times are no contest: the servers answered 1.48 billion commands one by one, a few more than the
# generator has edits, and a server can be asked over a network. The bytes are what packing is for,
# and they grow evenly. What was written down above, while edits were counted, and the same set now:

# %%
plot.memory_growth({"without the order": growth, "with the order": counts})
plt.show()

# %%
for z in (counts, wikipedia):
    print(f"{len(z):10,} pages: {z.memory().per_member:.2f} bytes each, with the order")

# %% [markdown]
# All questions can be asked at this size, too:

# %%
_, thousandth = wikipedia.by_rank[-1000]
higher = wikipedia.rank(1_000_000, method="max", descending=True)
print(f"the thousandth page from the top has {thousandth:,.0f} edits")
print(f"page 1,000,000 has {wikipedia[1_000_000]:,.0f}; {higher:,} others have as many or more")
wikipedia.around(1_000_000, n=2)

# %%
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
plot.histogram(wikipedia, ax=left, log=True)
plot.ecdf(wikipedia, ax=right, log=True)
for ax in (left, right):
    ax.set_xlabel("edits of a page")
plt.show()

# %% [markdown]
# `wikipedia.save(path)` keeps it in a file, which `SortedSet.load(path, mmap=True)` opens at once.
# The next notebooks are about [ratings over time](lichess.ipynb) and [coming from Redis, Counter
# and pandas](peers.ipynb).

# %%
scratch.cleanup()
