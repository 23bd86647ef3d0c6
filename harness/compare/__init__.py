"""Compares leaderboards: what differs, by how much, and whether the difference is significant.

`data` reads the leaderboards and refuses those that cannot be compared, `fields` puts their values of queries
side by side, `significance` computes the tests,
`regressions` lists what got worse, `text` writes the result for people.
"""

from harness.compare.data import load
from harness.compare.fields import Field
from harness.compare.significance import Compared, Comparison, Settings, compare

__all__ = ["Compared", "Comparison", "Field", "Settings", "compare", "load"]
