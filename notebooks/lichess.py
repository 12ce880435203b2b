# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lichess: a leaderboard over time
#
# A leaderboard is easy to keep for today. This notebook keeps it for each month as well: who led
# when, who climbed, what a rank means among equals, and what share of the players a rating of 1800
# leaves behind.
#
# It makes its own games, of players who do not exist, and runs in seconds. For real ones, put files
# from [database.lichess.org](https://database.lichess.org) (`*.pgn.zst`) into a folder and name it
# in the environment variable `GOBLIN_DATA`, or here:

# %%
import os
import re
import tempfile
from itertools import groupby
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import goblin
from goblin import SortedSet, plot, synthetic
from goblin.io import lichess

DATA = os.environ.get("GOBLIN_DATA")
SPEED = "blitz"  # each speed has ratings of its own
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)


# %%
def month_in(file):
    """The month in the name of a dump; its games may lack dates."""
    found = re.search(r"\d{4}-\d\d", file.name)
    return np.datetime64(found[0] if found else "NaT", "M")


files = sorted(Path(DATA).glob("*.pgn*"), key=month_in) if DATA else []
if not files:
    files = [folder / "generated.pgn.zst"]
    synthetic.lichess(players=2_000, games=60_000, seed=1).write_pgn(files[0])
for file in files:
    print(f"{file.name}: {file.stat().st_size:,} bytes")

# %% [markdown]
# ## One board
#
# `games` reads the tags of rated games, some thousand at a time. A batch has a row for each game,
# and ready-made `players`, `ratings` and `speeds`: one for each rating of somebody with an account.
# `update` sets a rating, whether its player is new or not, so the last one stays:

# %%
board = SortedSet(member="str", score="float32")
for batch in lichess.games(files, progress=False):
    of_speed = batch.speeds == SPEED
    board.update(batch.players[of_speed], batch.ratings[of_speed])
print(f"{len(board):,} players")
board.top(5)

# %% [markdown]
# Ranks count from 0, from the lowest. `descending=True` counts from the top, where people begin
# with 1. Who are the neighbours of number 100?

# %%
player, rating = board.by_rank[-100]
print(f"{player}: {rating:.0f}, number {board.rank(player, descending=True) + 1}")
board.around(player, n=2)

# %% [markdown]
# ## A board for each month
#
# Games come in the order of their start. Whenever a month is over, the board is saved: in a file
# that is written whole or not at all.


# %%
def months_of(batch, file):
    """The month of each of `batch.players`."""
    names = np.stack([batch.white, batch.black], axis=1).ravel()
    ratings = np.stack([batch.white_elo, batch.black_elo], axis=1).ravel()
    has_account = (names != "Anonymous") & ~np.strings.startswith(names, "lichess AI")
    of_games = np.where(np.isnat(batch.utc), month_in(file), batch.utc.astype("M8[M]"))
    months = np.repeat(of_games, 2)[has_account & (ratings >= 0)]
    assert len(months) == len(batch.players)
    return months


def observations(files):
    """Month, players and ratings, in the order of the games; a month may come in several parts."""
    for file in files:
        for batch in lichess.games(file, progress=False):
            months = months_of(batch, file)
            for month in np.unique(months[batch.speeds == SPEED]):
                chosen = (batch.speeds == SPEED) & (months == month)
                yield month, batch.players[chosen], batch.ratings[chosen]


board = SortedSet(member="str", score="float32")
saved = {}
for month, parts in groupby(observations(files), key=lambda observed: observed[0]):
    for _, players, ratings in parts:
        board.update(players, ratings)
    saved[month] = folder / f"{month}.goblin"
    board.save(saved[month])
print(f"{len(saved)} boards, {sum(path.stat().st_size for path in saved.values()):,} bytes")

# %% [markdown]
# A saved board is opened by mapping it, which reads next to nothing until it is asked something. So
# all of them can be open at once:

# %%
boards = {month: SortedSet.load(path, mmap=True) for month, path in saved.items()}
first, last = min(boards), max(boards)
growth = pd.Series({month: len(z) for month, z in boards.items()})
print(f"{growth[first]:,} players in {first}, {growth[last]:,} in {last}")
assert boards[last] == board

# %% [markdown]
# ## Who led?
#
# The players with the most months at the top:

# %%
leaders = pd.Series({month: z.top(1)[0][0] for month, z in boards.items()})
leaders.value_counts().rename("months at the top").head().to_frame()

# %% [markdown]
# ## Who moved?
#
# Two boards, a year apart if there are so many. `ranks` looks all of their common players up in one
# call, in each:

# %%
then, now = boards[list(boards)[-13:][0]], boards[last]
both = goblin.intersection([now, then])
players, _ = both.to_numpy()
moves = pd.DataFrame(
    {
        "then": then.ranks(players, descending=True) + 1,
        "now": now.ranks(players, descending=True) + 1,
        "rating": now.scores(players),
    },
    index=players.astype(object),
)
moves["climbed"] = moves.then - moves.now
print(f"{len(both):,} players are on both boards")
moves.nlargest(5, "climbed")

# %%
moves.nsmallest(5, "climbed")

# %% [markdown]
# Three of either kind, by their numbers on every board since their first game:

# %%
movers = [*moves.nlargest(3, "climbed").index, *moves.nsmallest(3, "climbed").index]
numbers = pd.DataFrame([z.ranks(movers, descending=True) + 1 for z in boards.values()])
numbers = numbers.set_axis(movers, axis="columns").set_axis(list(boards)).replace(0, np.nan)
_, ax = plt.subplots(figsize=(8.5, 3.6), layout="constrained")
for color, name in zip(plot.COLORS, movers, strict=True):
    ax.plot(numbers.index, numbers[name], color=color, label=name, marker=".", markersize=3)
ax.set_ylabel("number on the board")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %% [markdown]
# ## Equals
#
# Ratings are whole numbers, so many players share one. Among equals, the member decides in the end,
# here the name. When that would be unfair, `method` says what a rank means, as in pandas and SciPy:

# %%
values, sharing = board.distinct_scores()
crowded = float(values[sharing.argmax()])
equals = board.range_by_score(crowded, crowded)
print(f"{len(equals)} players have {crowded:.0f}")
equals

# %%
methods = ("ordinal", "min", "max", "average", "dense")
shown = equals.members[:3].tolist()
pd.DataFrame(
    {method: board.ranks(shown, method=method, descending=True) + 1 for method in methods},
    index=shown,
)

# %% [markdown]
# `top` cuts at the number that is asked for, unless the last one's equals should come along. Of
# these, one would still be among so many:

# %%
many = board.count(crowded) - len(equals) + 1
len(board.top(many)), len(board.top(many, ties="all"))

# %% [markdown]
# ## How good is that?

# %%
for rating in (1200, 1500, 1800, 2100, 2400):
    print(f"{rating} is more than {board.percentile_of(rating, kind='strict'):5.1f} % have")
print("quartiles:", board.quantile([0.25, 0.5, 0.75]))

# %%
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
plot.histogram(board, ax=left, bins=40)
plot.ecdf(board, ax=right)
for ax in (left, right):
    ax.set_xlabel(f"{SPEED} rating")
left.set_ylabel("players")
right.set_ylabel("players up to the rating")
plt.show()

# %%
del boards, then, now
scratch.cleanup()
