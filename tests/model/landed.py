"""What of the specification the product has by now.

Here only until all of it has: then this file goes, and each line that asks it.
"""

from __future__ import annotations

from typing import Any

import goblin


def kind(member: str) -> bool:
    """Whether sets of this kind of members can be made."""
    try:
        goblin.SortedSet(member=member)
    except (TypeError, ValueError):
        return False
    return True


def name(name: str) -> bool:
    """Whether there is such a method of SortedSet or such a name in goblin."""
    return hasattr(goblin.SortedSet, name) or hasattr(goblin, name)


def of_layouts(layouts: list[Any]) -> list[Any]:
    return [layout for layout in layouts if kind(layout.member)]
