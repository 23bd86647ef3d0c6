"""Leaderboards, for commands of plugins: reading the file and what it holds, as typed records.

Status: provisional. The records follow the leaderboard's schema, and grow with it.
"""

from harness.leaderboard.board_file import FILE, Leaderboard, read
from harness.leaderboard.history import FOLDER as EARLIER_FOLDER  # where replaced leaderboards are kept,
from harness.leaderboard.history import NAME as EARLIER_NAME  # and how their files are named
from harness.leaderboard.model import ContextCost, Dataset, Measure, Row
from harness.leaderboard.per_query import read as values_of
from harness.leaderboard.published import beside
from harness.leaderboard.same_rules import PARTS as COMPARED_PARTS  # parts of a dataset that must be the same
from harness.leaderboard.selection import check_patterns, fits, selected
from harness.leaderboard.text_tables import Table, harmless, of_tables, render, tuned
from harness.types import PARTS as DATASET_STEPS  # the kinds of steps that read a dataset

__all__ = [
    "COMPARED_PARTS", "DATASET_STEPS", "EARLIER_FOLDER", "EARLIER_NAME", "FILE", "ContextCost", "Dataset",
    "Leaderboard", "Measure", "Row", "Table", "beside", "check_patterns", "fits", "harmless", "of_tables",
    "read", "render", "selected", "tuned", "values_of",
]  # fmt: skip
