"""Plots of leaderboards as Vega-Lite and SVG, for commands of plugins; pictures of READMEs.

Status: provisional.
"""

from harness.html.plots import (
    analysis,
    filled,
    forest_of,
    heat,
    pair_values,
    pairs,
    pareto,
    pareto_values,
    tuned,
)
from harness.html.vega import svg
from harness.leaderboard.readme import PICTURES, show_pictures

__all__ = [
    "PICTURES", "analysis", "filled", "forest_of", "heat", "pair_values", "pairs", "pareto",
    "pareto_values", "show_pictures", "svg", "tuned",
]  # fmt: skip
