"""Significance tests of a leaderboard's systems, for commands of plugins: comparisons, and what each value is
marked with.

Status: provisional. It follows `harness compare`.
"""

from harness.compare import Settings, compare
from harness.compare.data import Filters, of_boards
from harness.compare.marks import Marked, of
from harness.compare.significance import FAMILIES
from harness.leaderboard.text_tables import BETTER, WORSE

__all__ = ["BETTER", "FAMILIES", "WORSE", "Filters", "Marked", "Settings", "compare", "of", "of_boards"]
