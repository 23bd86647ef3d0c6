"""The command `harness new-plugin`: a working package of a method, with a test."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="new-plugin",
        summary="write a working plugin package with a test",
        arguments="harness_new_plugin.command:arguments",
        work="harness_new_plugin.command:run",
    )
