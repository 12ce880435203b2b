# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Property-based testing of a C core
#
# A container in C has thousands of states that nobody thinks of, and a wrong answer in one of them
# is silent. goblin's main defence is old and simple: a second implementation, slow and obvious,
# beside the fast one, and a machine that thinks of operations. This notebook shows how that works,
# on a bug which we put into the C core ourselves.
#
# It needs a clone of the repository, a C compiler, and `pip install 'goblin-core[notebooks]'`.

# %%
import difflib
import importlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import goblin

ROOT = Path.cwd().parent
COMPILER = shutil.which("cc")
if not (ROOT / "csrc").is_dir() or not (ROOT / "tests" / "model").is_dir():
    raise SystemExit("The C sources are not here: open this notebook in a clone of the repository.")
if COMPILER is None:
    raise SystemExit("There is no C compiler cc here: install gcc or clang, then start again.")

# %% [markdown]
# ## The model
#
# `tests/model/sorted_set.py` says what a sorted set is: a dict for the scores, and a list that is
# sorted anew whenever somebody asks for an order. Nothing in it is clever, and it is slow:

# %%
sys.path.insert(0, str(ROOT / "tests"))
from model.sorted_set import ModelSortedSet

model = ModelSortedSet({7: 3.0, 2: 1.0, 9: 3.0})
fast = goblin.SortedSet({7: 3.0, 2: 1.0, 9: 3.0})
model.top(2).to_list(), fast.top(2).to_list(), model.rank(9), fast.rank(9)


# %%
def lines(pattern):
    return sum(len(path.read_text().splitlines()) for path in ROOT.glob(pattern))


core = lines("csrc/core/*.[ch]") + lines("csrc/simd/*.[ch]")
print(f"the model of a sorted set: {lines('tests/model/sorted_set.py'):6,} lines of Python")
print(f"the C core:                {core:6,} lines of C")

# %% [markdown]
# ## The machine
#
# [Hypothesis](https://hypothesis.readthedocs.io) makes up programs: any operations, in any order,
# with any arguments, and likes awkward ones. After each operation both sides must agree: on the
# result or the kind of error, and on every member, score and place. `float32` scores have an edge
# to fall off: an increment beyond their range is an `OverflowError`, and a bulk call that raises
# **must have changed nothing**.

# %%
MEMBERS = st.integers(0, 3)
LARGEST = float(np.finfo(np.float32).max)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.just(LARGEST)


def outcome(call):
    """What a call gives, or the kind of error that it raises."""
    try:
        return call()
    except (KeyError, OverflowError) as error:
        return type(error)


def machine_for(sorted_set):
    """A machine that holds one implementation against the model."""

    @seed(1)  # the same programs for everyone who runs this
    class Machine(RuleBasedStateMachine):
        runs = 0

        def __init__(self):
            super().__init__()
            Machine.runs += 1
            self.model = ModelSortedSet(member="int32", score="float32")
            self.real = sorted_set(member="int32", score="float32")

        def both(self, call):
            expected, actual = outcome(lambda: call(self.model)), outcome(lambda: call(self.real))
            assert actual == expected, f"{actual} where {expected} was due"
            expected, actual = self.model.to_dict(), self.real.to_dict()
            assert list(actual.items()) == list(expected.items()), f"{actual}, not {expected}"

        @rule(member=MEMBERS, score=NUMBERS)
        def add(self, member, score):
            self.both(lambda z: z.add(member, score))

        @rule(member=MEMBERS, by=NUMBERS)
        def increment(self, member, by):
            self.both(lambda z: z.increment(member, by))

        @rule(pairs=st.lists(st.tuples(MEMBERS, NUMBERS), min_size=1, max_size=8))
        def increment_many(self, pairs):
            members, by = zip(*pairs, strict=True)
            self.both(lambda z: z.increment_many(list(members), np.array(by)))

        @rule(member=MEMBERS)
        def discard(self, member):
            self.both(lambda z: z.discard(member))

        @rule(member=MEMBERS)
        def rank(self, member):
            self.both(lambda z: z.rank(member))

        @rule()
        def pop_max(self):
            self.both(lambda z: z.pop_max())

    return Machine


LIMITS = settings(database=None, deadline=None, max_examples=200, stateful_step_count=20)


def first_failure(sorted_set, *phases):
    """The program on which an implementation fails, how it fails, and after how many runs."""
    machine = machine_for(sorted_set)
    try:
        run_state_machine_as_test(machine, settings=settings(LIMITS, phases=phases))
    except AssertionError as error:
        return "\n".join(error.__notes__), str(error), machine.runs
    return None, "no difference", machine.runs


# Increments that are too small to change a large score are wanted here.
warnings.simplefilter("ignore", goblin.PrecisionWarning)
program, difference, runs = first_failure(goblin.SortedSet, Phase.generate)
assert program is None, program
print(f"{runs} programs of up to {LIMITS.stateful_step_count} operations: {difference}")

# %% [markdown]
# ## A bug
#
# How does a bulk call that fails half-way get back to where it was? `gob_increment` takes its own
# additions back by subtracting them, which needs no memory. Now somebody tidies up. The core also
# keeps a journal of old scores, but only "where arithmetic cannot bring them back", and surely
# adding and subtracting the same brings them back? So the journal seems to be waste, and one line
# changes:

# %%
FILE = "csrc/core/gob_increment.c"
RIGHT = "bool logged = gob_is_lossy(*old, by, *sum, ix->score_bytes);"
WRONG = "bool logged = false;"

folder = tempfile.TemporaryDirectory()
seeded = Path(folder.name)
shutil.copytree(ROOT / "csrc", seeded / "csrc")
source = (seeded / FILE).read_text()
assert source.count(RIGHT) == 1, "the core has changed: seed another bug"
(seeded / FILE).write_text(source.replace(RIGHT, WRONG))

diff = difflib.unified_diff(
    source.splitlines(), (seeded / FILE).read_text().splitlines(), FILE, FILE, n=2, lineterm=""
)
print("\n".join(diff))

# %% [markdown]
# Here is the whole extension with that line, as a package beside the real one. It compiles without
# a warning, and looks right where one tries it by hand:

# %%
PACKAGE = seeded / "seeded_goblin"
shutil.copytree(
    ROOT / "goblin", PACKAGE, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
)
INCLUDES = [
    *(f"-I{seeded / 'csrc' / part}" for part in ("core", "simd", "py")),
    f"-I{sysconfig.get_path('include')}",
    "-isystem",
    np.get_include(),
]
OPTIONS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared"]
if sys.platform == "darwin":
    OPTIONS += ["-undefined", "dynamic_lookup"]
compiled = subprocess.run(
    [
        *(COMPILER, *OPTIONS, "-DNDEBUG", '-DGOBLIN_VERSION="seeded"', *INCLUDES),
        *sorted((seeded / "csrc").rglob("*.c")),
        *("-o", PACKAGE / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"),
    ],
    check=True,
    text=True,
    capture_output=True,
)
print("The compiler says:", compiled.stderr or "nothing")
sys.path.insert(0, folder.name)
seeded_goblin = importlib.import_module("seeded_goblin")

z = seeded_goblin.SortedSet({7: 5.0}, member="int32", score="float32")
try:
    z.increment_many([7, 7, 8, 8], [1.0, 2.0, LARGEST, LARGEST])
except OverflowError:
    print(f"{z.to_dict()} as before, in version {seeded_goblin.build_info()['version']!r}")

# %% [markdown]
# ## Found
#
# The machine is the one from above. It knows that calls can overflow, not what the core does then:

# %%
program, difference, runs = first_failure(seeded_goblin.SortedSet, Phase.generate)
assert program is not None, "the seeded bug was not found"
print(f"Run {runs}: {difference}\n")
print(program)

# %% [markdown]
# ## Shrunk
#
# That is a proof, but not yet an explanation. Hypothesis goes on: it leaves out operations,
# shortens lists and makes numbers simpler, as long as the program still fails. What is left says
# what the bug is:

# %%
shrunk, difference, runs_in_all = first_failure(
    seeded_goblin.SortedSet, Phase.generate, Phase.shrink
)
print(f"After {runs_in_all - runs} more runs: {difference}\n")
print(shrunk)

# %% [markdown]
# Read as a story: a member has 1. A bulk call adds the largest `float32` to it, and then once more,
# which overflows. So the call raises, and must take the first addition back:

# %%
one, largest = np.float32(1), np.float32(LARGEST)
print(f"1 + largest           = {one + largest}")
print(f"1 + largest - largest = {one + largest - largest}")

# %% [markdown]
# `a + b - b` is not always `a`. That is what `gob_is_lossy` asks, and only where subtracting does
# not bring the old score back, the journal keeps it. On the real core the same story ends well:

# %%
z = goblin.SortedSet({0: 1.0}, member="int32", score="float32")
try:
    z.increment_many([0, 0], LARGEST)
except OverflowError as error:
    print(f"OverflowError: {error}")
assert z.to_dict() == {0: 1.0}
z.to_dict()

# %% [markdown]
# ## The real machine
#
# The one above fits a screen. Those in `tests/property` know every public operation, every layout,
# allocations that fail on demand, snapshots, and members that sit where structures change:

# %%
from model.layouts import configurations

machines = sorted((ROOT / "tests" / "property").glob("test_*_machine.py"))
for path in machines:
    print(f"{path.name}: {path.read_text().count('@rule(')} kinds of steps")
print(f"a sorted set runs in {len(list(configurations()))} configurations")

# %% [markdown]
# A model finds what differs from the model, no more. Where both have the same wrong idea, it is
# silent; so `tests/oracle` holds goblin against a Redis server. What has no answer to compare, such
# as a read past the end of an array, is for the address sanitizer, valgrind and libFuzzer, and
# leaving nothing behind when memory runs out is for a sweep that fails each allocation of each
# operation. [CONTRIBUTING](../CONTRIBUTING.md) lists the commands.

# %%
folder.cleanup()
