"""For commands of plugins: arguments that the core's commands have too, how text is printed, and the
lines of users' text files.

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
from harness.cli.plugin_commands import load as of_plugins
from harness.collection.lines import lines_of

__all__ = [
    "beside", "count", "leaderboard", "leaderboards", "lines_of", "measures_in", "of_plugins", "out",
    "say", "share", "store", "store_of", "width",
]  # fmt: skip
