"""What of the specification the product has by now.

Here only until all of it has: then this file goes, and each line that asks it.
"""

from __future__ import annotations

import goblin


def name(name: str) -> bool:
    """Whether there is such a name in goblin."""
    return hasattr(goblin, name)
