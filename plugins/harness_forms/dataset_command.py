"""`harness export-dataset`, which `harness datasets export` runs: a dataset as files for other tools."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from harness.toolkit import commands

FORMS = ("beir", "dureader", "t2ranking", "trec", "mteb", "pool")


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("suite", type=Path, metavar="SUITE", help="the suite's file")
    command.add_argument("name", metavar="NAME", help="one of its datasets")
    command.add_argument("--form", choices=FORMS, required=True, help="the form to write")
    commands.out(command, "a folder that is new or empty")
    commands.store(command)


def run(options: argparse.Namespace) -> int:
    """Exports a dataset. Steps that are not in the store yet are executed, as a run would do."""
    from harness.plugin import shown_path
    from harness.toolkit.boards import made_datasets
    from harness_forms import collection_export

    store = made_datasets.opened(options.store)
    made = made_datasets.made(options.suite, options.name, store)
    notes = collection_export.write(*made, store, options.form, options.out)
    name = made.collection.spec.name
    commands.say(f"wrote {name} in the form {options.form} into {shown_path(options.out)}")
    for note in notes:
        commands.say(
            textwrap.fill(
                f"note: {note}", 100, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
            )
        )
    return 0
