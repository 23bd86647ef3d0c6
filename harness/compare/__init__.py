"""Leaderboards compared: what differs, by how much, and whether the queries can tell.

`data` reads the leaderboards and refuses those that cannot be compared, `tests` computes, `regressions` says
what got worse, `text` writes it all for people.
"""

from harness.compare.data import Field, load
from harness.compare.significance import Compared, Comparison, Settings, compare

__all__ = ["Compared", "Comparison", "Field", "Settings", "compare", "load"]
