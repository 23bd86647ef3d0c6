"""`harness export`: writes a leaderboard in the forms of other tools."""

from __future__ import annotations

import argparse

from harness.toolkit import commands

EXPORTS = (  # those of `harness_forms.export`, which is imported only when the command runs
    "trec", "ir-metadata", "mteb", "model", "results", "tevatron-training",
    "sentence-transformers-training", "msmarco", "rocketqa", "tevatron", "dureader",
)  # fmt: skip


def arguments(command: argparse.ArgumentParser) -> None:
    commands.leaderboard(command)
    form = f"what to write: {', '.join(EXPORTS)}, or what a plugin's command writes, as csv"
    command.add_argument("--form", metavar="FORM", required=True, help=form)
    commands.out(command, "where it goes")
    commands.store(command)


def run(options: argparse.Namespace) -> int:
    if options.form not in EXPORTS:
        words = [str(options.leaderboard), f"--out={options.out}"]
        return commands.of_plugins().run_form("forms", options.form, EXPORTS, words)
    from harness.plugin import shown_path
    from harness.toolkit import boards
    from harness_forms import export

    board = boards.read(options.leaderboard)
    store = commands.store_of(board.folder, options.store)
    written = export.export(board, options.form, options.out, store)
    for note in written.notes:
        commands.say(f"note: {note}")
    commands.say(f"{len(written.paths)} files: {shown_path(options.out.absolute())}")
    return 0
