"""The command `harness site`: many leaderboards as static pages that need no server and no network."""

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
