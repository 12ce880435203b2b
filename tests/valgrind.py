"""Every operation in some layouts, for a run under valgrind.

`make test-valgrind` runs it with Python's own allocations left to malloc.
"""

from __future__ import annotations

import warnings

from model.hash_checks import ALL_FORMS, ALL_KINDS
from model.layouts import ALL_LAYOUTS
from operations import boards, hashes, sorted_sets, tables

warnings.simplefilter("ignore")
for at, layout in enumerate(ALL_LAYOUTS[::3]):
    members = sorted_sets.Members(layout)
    for step, call in enumerate(sorted_sets.OPERATIONS.values()):
        state = list(sorted_sets.STATES)[(at + step) % len(sorted_sets.STATES)]
        call(z := sorted_sets.STATES[state](members), members)
        z._validate()
    for call in boards.OPERATIONS.values():
        call(*boards.build(members, 90))
for at, kind in enumerate(ALL_KINDS[::3]):
    for call in hashes.OPERATIONS.values():
        call(*hashes.build(kind, ALL_FORMS[at % len(ALL_FORMS)], 300))
for kind in tables.TABLE_KINDS[::7]:
    for call in tables.OPERATIONS.values():
        call(*tables.build(kind, 90))
