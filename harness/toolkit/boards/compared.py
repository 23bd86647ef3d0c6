"""Significance tests of a leaderboard's systems, for commands of plugins: what each value is marked with.

Status: provisional. It follows `harness compare`.
"""

from harness.compare.data import Filters
from harness.compare.marks import Marked, of
from harness.compare.significance import FAMILIES, Settings
from harness.leaderboard.text_tables import BETTER, WORSE

__all__ = ["BETTER", "FAMILIES", "WORSE", "Filters", "Marked", "Settings", "of"]
