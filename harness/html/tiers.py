"""The letters of `harness compare` for the report; systems that share a letter cannot be told apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from harness.compare import Settings, compare, load
from harness.html.content import Tested, Tiers
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.cited_files import located

MOST = 1_000_000  # the most per-query values that are compared: this takes minutes, even on a busy machine


class TierLetters(NamedTuple):
    letters: Tiers
    note: str  # what the letters mean, or why there are none


def tiers(board: Leaderboard, path: Path) -> TierLetters:
    """The letters of all pairs within a dataset and measure, as `harness compare` computes them without
    options. More than `MOST` values take too long for a page, and the note says so."""
    kept = [row for row in board.rows if row.status == "ok" and located(board, row, "per_query") is not None]
    values = sum(measure.queries or 0 for row in kept for measure in row.measures.values())
    if values > MOST:
        return TierLetters({}, f"Tiers of {values:,} values are left to `harness compare`.")
    if max(Counter(row.dataset for row in kept).values(), default=0) < 2:
        return TierLetters({}, "")
    loaded = load([path])
    tested = {
        (field.dataset, entry.name): (entry.system, entry.row.origin)
        for field in loaded.fields
        for entry in field.entries
    }
    compared = compare(loaded._replace(averages=()), Settings())  # averages have no tiers
    letters: dict[tuple[str, str], dict[Tested, str]] = {}
    for standing in compared.standings:
        if standing.tier:
            column = letters.setdefault((standing.dataset, standing.measure), {})
            column[tested[standing.dataset, standing.system]] = standing.tier
    note = (
        "Systems that share a letter cannot be told apart: all pairs, randomisation test, corrected within "
        f"each dataset and measure, at {compared.settings.alpha:.0%}."
    )
    return TierLetters(letters, note)
