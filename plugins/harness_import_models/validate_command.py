"""`harness validate`: evaluates the checkpoints of another trainer as they appear."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from harness.toolkit import commands


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="FOLDER", help="where checkpoints are saved")
    suite = "the suite that evaluates a checkpoint: one of its systems has it as its model"
    command.add_argument("--suite", type=Path, required=True, metavar="SUITE", help=suite)
    system = "the system whose model the checkpoints are (default: the only one with a model)"
    command.add_argument("--system", metavar="NAME", help=system)
    commands.out(command, "where the leaderboard with a row a checkpoint goes")
    command.add_argument("--once", action="store_true", help="evaluate what is there, and stop")
    idle = "stop when no checkpoint has appeared for so long"
    command.add_argument("--idle", type=float, metavar="SECONDS", help=idle)
    commands.store(command)


def run(options: argparse.Namespace) -> int:
    """Evaluates the checkpoints, and returns 0, or 1 if a row failed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `harness compare`
    from harness.plugin import shown_path
    from harness_import_models import checkpoint_watch
    from harness_import_models.checkpoint_watch import Watching

    board = checkpoint_watch.validate(
        options.folder, options.suite, options.system, options.out, options.store,
        Watching(options.once, options.idle), lambda line: print(line, flush=True),
    )  # fmt: skip
    print(f"{len(board.rows)} rows: {shown_path(options.out.absolute())}")
    return 0 if board.ok else 1
