"""The command `harness annotate`: people judge a pool in a page on this machine.

The package has the page, who judges which pair, the log of judgements and the results.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="annotate",
        summary="have people judge a pool in a page on this machine",
        arguments="harness_annotate.command:arguments",
        work="harness_annotate.command:annotate",
        marker="judging.sqlite",
        verify="harness_annotate.command:verify",
    )
