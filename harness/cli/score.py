"""`harness score`: scores runs that were made elsewhere, as a leaderboard."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import catalogue, suite, user_cache
from harness.cli import arguments as shared
from harness.cli.kinds import RUN_FORMS
from harness.errors import HarnessError
from harness.exchange import run_import
from harness.exchange.run_import import Foreign, Target
from harness.execution import progress
from harness.leaderboard import text_tables
from harness.problems import shown_path
from harness.store.artifacts import Store

MEASURES = ("nDCG@10", "R@100")
ONLY_ALONE = ("measures", "protocol", "depth", "split", "name")  # options that a suite sets itself


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    command.add_argument(
        "--run", type=Path, nargs="+", action="extend", required=True, metavar="RUN",
        help="runs, plain or .gz, in a form of `--run-form` (may be repeated)",
    )  # fmt: skip
    forms = "the form of the runs, where a file does not show it"
    command.add_argument("--run-form", choices=RUN_FORMS, help=forms)
    on = command.add_mutually_exclusive_group(required=True)
    on.add_argument("--qrels", type=Path, metavar="QRELS", help="judgements: TREC's four columns, or BEIR's")
    on.add_argument("--suite", type=Path, metavar="SUITE", help="score on its dataset, by its measures")
    by = command.add_mutually_exclusive_group()
    by.add_argument("--measures", nargs="+", metavar="MEASURE", help="default: nDCG@10 R@100")
    by.add_argument("--protocol", metavar="NAME", help="one of `harness list protocols`")
    command.add_argument("--depth", type=shared.count, metavar="N", help="results of a query (default 1000)")
    command.add_argument("--dataset", metavar="NAME", help="the suite's, or what to call the judgements")
    command.add_argument("--split", metavar="NAME", help="what the judgements are of (default test)")
    command.add_argument("--name", metavar="NAME", help="the leaderboard's (default: its folder's)")
    names = "what systems are called by: their files (default), or the tags in them"
    command.add_argument("--names", choices=("file", "tag"), default="file", help=names)
    shared.out(command)
    shared.store(command)


def run(options: argparse.Namespace) -> int:
    runs = run_import.read_runs(options.run, options.names, options.run_form)
    target = _on_suite(options) if options.suite else _on_qrels(options, runs)
    board = run_import.write(target, runs, options.out, _command(options))
    shared.say(text_tables.render(board, "table"))
    shared.say(f"leaderboard: {shown_path((options.out / 'leaderboard.json').absolute())}")
    return 0


def _on_qrels(options: argparse.Namespace, runs: Sequence[Foreign]) -> Target:
    return run_import.on_qrels(
        options.qrels,
        runs,
        catalogue.load(),
        measures=shared.measures_in(options.measures or ()) or (() if options.protocol else MEASURES),
        protocol=options.protocol,
        depth=options.depth or run_import.DEPTH,
        name=options.name or options.out.absolute().name,
        dataset=options.dataset,
        split=options.split or "test",
    )


def _on_suite(options: argparse.Namespace) -> Target:
    refused = [name for name in ONLY_ALONE if getattr(options, name)]
    if refused:
        raise HarnessError(f"--{refused[0]}: is what the suite says; leave it out, or score on --qrels")
    records = catalogue.load()
    store = Store(options.store or user_cache.default_store()).open()
    with progress.reporter(sys.stderr) as reporter:
        return run_import.on_suite(
            suite.load(options.suite, records), options.dataset, records, store, reporter
        )


def _command(options: argparse.Namespace) -> str:
    """The command that was called, with file names in place of paths: folders are private."""
    words = ["harness", "score", "--run", *(path.name for path in options.run)]
    for name in ("suite", "qrels", "protocol", "measures", "depth", "dataset", "split", "name"):
        value = getattr(options, name)
        if value:
            values = value if isinstance(value, list) else [value]
            words += [f"--{name}", *(item.name if isinstance(item, Path) else str(item) for item in values)]
    if options.run_form:
        words += ["--run-form", options.run_form]
    if options.names != "file":
        words += ["--names", options.names]
    return shlex.join([*words, "--out", "DIR"])
