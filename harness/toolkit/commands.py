"""For commands of plugins: arguments that the core's commands have too, and how text is printed.

Status: stable. A name that is taken away is deprecated for two minor versions before.
"""

from harness.cli.arguments import (
    beside,
    count,
    leaderboard,
    leaderboards,
    measures_in,
    out,
    say,
    share,
    store,
    store_of,
    width,
)

__all__ = [
    "beside",
    "count",
    "leaderboard",
    "leaderboards",
    "measures_in",
    "out",
    "say",
    "share",
    "store",
    "store_of",
    "width",
]
