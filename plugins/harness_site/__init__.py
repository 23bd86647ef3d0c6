"""The commands `harness site`, many leaderboards as static pages, and `harness pictures`, plots as SVG."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="site",
        summary="write many leaderboards as static pages",
        arguments="harness_site.command:arguments",
        work="harness_site.command:run",
    )
    yield Command(
        name="pictures",
        summary="draw the plots of a leaderboard as SVG files for its README",
        arguments="harness_site.pictures:arguments",
        work="harness_site.pictures:run",
    )
