"""What leaderboards are made of, for commands of plugins that write them in the forms of other tools, or make
one of another tool's results.

Status: provisional. The records follow the leaderboard's schema, and grow with it.
"""

from harness.leaderboard.board_file import SCHEMA
from harness.leaderboard.cited_files import intact, within
from harness.leaderboard.model import (
    Board,
    Column,
    Cost,
    Environment,
    Reported,
    Step,
    SuiteFacts,
    published_row,
)
from harness.leaderboard.readme import FILE as PAGE
from harness.leaderboard.readme import claims_page
from harness.leaderboard.readme import write as write_page
from harness.plan.keys import key as digest_of
from harness.scoring.measures import parse as parsed_measure
from harness.scoring.run_files import tag_of

__all__ = [
    "PAGE", "SCHEMA", "Board", "Column", "Cost", "Environment", "Reported", "Step", "SuiteFacts",
    "claims_page", "digest_of", "intact", "parsed_measure", "published_row", "tag_of", "within", "write_page",
]  # fmt: skip
