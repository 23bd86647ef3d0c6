"""`harness eval METHOD DATASET`: runs one method without a suite file; the suite is printed and kept."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.cli import arguments as shared
from harness.cli.run import carried_out, execution
from harness.errors import HarnessError

SUITE = "suite.yaml"


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    method = "a retriever or re-ranker of a plugin, or a model: a short name, OWNER/NAME or a folder"
    command.add_argument("methods", nargs="+", metavar="METHOD", help=method)
    dataset = "a BEIR folder, perhaps with a split (data/scifact/test), a plugin, mteb/NAME, or an id of "
    dataset += "ir_datasets"
    command.add_argument("dataset", metavar="DATASET", help=dataset)
    measures = "what to measure, between commas (default: nDCG@10,R@100,RR@10)"
    command.add_argument("--measures", default="", metavar="NAMES", help=measures)
    context = "context of the passages, between commas, or none (default: titles, as BEIR and MTEB score)"
    command.add_argument("--context", default="titles", metavar="NAMES", help=context)
    command.add_argument("--language", metavar="CODE", help="of a folder's passages (default: en)")
    out = "where suite and leaderboard go (default: METHOD-on-DATASET)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)
    execution(command)


def run(options: argparse.Namespace) -> int:
    import yaml

    from harness import api, catalogue
    from harness.problems import shown_path
    from harness.running import preparation
    from harness.store import disk
    from harness.suite import one_line
    from harness.suite.one_line import Asked

    records = catalogue.load()
    context = () if options.context == "none" else tuple(filter(None, options.context.split(",")))
    one_line.check_context(context, records)
    measures = tuple(shared.measures_in([options.measures]))
    request = Asked(tuple(options.methods), options.dataset, measures, context, options.language)
    out: Path = options.out or Path(one_line.folder_of(request))
    suite = one_line.suite_of(request, records, out)
    text = yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=100)
    path = out / SUITE
    if path.is_file() and path.read_text(encoding="utf-8") != text and not options.replace:
        raise HarnessError(
            f"{shown_path(path)}: is another suite; give this one a folder with --out DIR, or say --replace"
        )
    existed = path.is_file()
    with disk.explaining(out):
        out.mkdir(parents=True, exist_ok=True)
        disk.replace_file(path, text.encode())
    try:
        store = api.opened_store(options.store, options.remote, push=not options.no_push)
        prepared = preparation.read(path, records, store, (), shared.changes_of(options))
    except HarnessError:
        if not existed:  # a command with an error leaves no files
            path.unlink()
            if not any(out.iterdir()):
                out.rmdir()
        raise
    print(f"{shown_path(path.absolute())}:\n\n{text}")
    sys.stdout.flush()
    return carried_out(prepared, store, preparation.default_folder(prepared.plan.suite), options)
