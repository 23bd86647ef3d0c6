"""The `harness` command: what it takes, and which module does it. Kept light, because it starts often."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from harness.errors import HarnessError, StoreError

KINDS = (
    "datasets", "contexts", "retrievers", "rerankers", "combiners", "trainers", "analysers", "analyses",
    "protocols", "measures",
)  # fmt: skip
EXPORTS = ("trec", "ir-metadata", "mteb", "csv", "msmarco", "rocketqa", "tevatron", "dureader")
RUN_FORMS = ("trec", "rocketqa", "msmarco", "tevatron", "dureader")
NEW_KINDS = ("retriever", "reranker", "context", "dataset")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 all well, 1 some rows failed, 2 the input was wrong, 130 interrupted, 143
    terminated."""
    options = parser().parse_args(arguments)
    module, _, name = options.does.partition(":")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        return int(getattr(import_module(f"harness.cli.{module}"), name)(options))
    except StoreError as error:
        print(error, file=sys.stderr)
        return 1
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; finished steps are kept: run it again to go on", file=sys.stderr)
        return 130
    except Terminated:
        print("terminated; finished steps are kept: run it again to go on", file=sys.stderr)
        return 143
    except BrokenPipeError:  # `harness list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class Terminated(BaseException):
    """The system, or a scheduler, wants this process to end: like Ctrl-C, but for its exit code."""


def _terminated(*_: object) -> None:
    raise Terminated


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="harness", description="Evaluate passage retrieval: one suite YAML in, one leaderboard JSON out."
    )
    top.add_argument("--version", action=_Version, help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    run = _command(commands, "run", "run:run", "run a suite and write its leaderboard")
    run.add_argument("suite", type=Path, metavar="SUITE", help="the suite's YAML file")
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="where the leaderboard goes (default: beside the suite)"
    )
    run.add_argument(
        "--dry-run", action="store_true", help="print the plan: every step, and what is there already"
    )
    only = "run only the rows whose system, dataset or DATASET/SYSTEM matches, and keep those that stand in "
    only += "the leaderboard there already (may be repeated)"
    run.add_argument("--only", action="append", default=[], metavar="GLOB", help=only)
    other = "write over the leaderboard of another suite that stands there, and remove its runs"
    run.add_argument("--replace", action="store_true", help=other)
    run.add_argument("--fresh", action="store_true", help="do every step again")
    run.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="steps at once (default 1: undisturbed timings)"
    )
    _store(run)

    check = _command(commands, "check", "run:check", "tell everything that is wrong with a suite")
    check.add_argument("suite", type=Path, metavar="SUITE")
    _store(check)

    listing = _command(commands, "list", "lists:records", "list what the installed plugins offer")
    listing.add_argument("kind", nargs="?", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    listing.add_argument(
        "--params", action="store_true", help="with every parameter, its default and meaning"
    )
    _command(commands, "plugins", "lists:plugins", "list the plugins, and why one did not load")

    protocols = _command(commands, "protocols", "", "look up how a protocol scores")
    actions = protocols.add_subparsers(title="actions", metavar="ACTION", required=True)
    protocol = _command(
        actions, "show", "protocols:show", "print a protocol's columns in words, its depth and its citation"
    )
    protocol.add_argument("name", metavar="NAME", help="one of `harness list protocols`")

    datasets = _command(commands, "datasets", "", "look at a collection")
    actions = datasets.add_subparsers(title="actions", metavar="ACTION", required=True)
    card = _command(
        actions, "show", "datasets:show", "print a collection's identity card: counts, lengths, judgements"
    )
    _dataset(card)
    _store(card)
    _dataset(
        _command(actions, "fetch", "datasets:fetch", "download the files of a collection that are not here")
    )

    show = _command(commands, "show", "show:show", "show a leaderboard")
    show.add_argument("leaderboard", type=Path, metavar="LEADERBOARD", help="its JSON file or folder")
    show.add_argument("--format", choices=("table", "markdown", "csv", "json"), default="table")
    _beside(show)

    _compare(
        _command(commands, "compare", "compare:run", "test the systems of leaderboards against each other")
    )

    verify = _command(commands, "verify", "verify:run", "compute a leaderboard's numbers again from its runs")
    verify.add_argument("leaderboard", type=Path, metavar="LEADERBOARD", help="its JSON file or folder")
    where = "where its datasets are described (default: as the leaderboard says, paths relative to it)"
    verify.add_argument("--suite", type=Path, metavar="SUITE", help=where)
    _store(verify)

    _score(_command(commands, "score", "score:run", "make a leaderboard of runs that were made elsewhere"))

    claim = _command(commands, "import-mteb", "score:claim", "make a leaderboard of MTEB's task results")
    claim.add_argument(
        "results", type=Path, nargs="+", metavar="RESULT", help="MODEL/REVISION/TASK.json files, or folders"
    )
    claim.add_argument("--measures", nargs="+", metavar="MEASURE", help="default: nDCG@10 R@100")
    claim.add_argument("--name", metavar="NAME", help="the leaderboard's (default: its folder's)")
    claim.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the leaderboard goes")

    export = _command(commands, "export", "export:run", "write a leaderboard in the forms of other tools")
    export.add_argument("leaderboard", type=Path, metavar="LEADERBOARD", help="its JSON file or folder")
    export.add_argument("--form", choices=EXPORTS, required=True, help="what to write")
    export.add_argument("--out", type=Path, required=True, metavar="DIR", help="where it goes")
    _store(export)

    merge = _command(commands, "merge", "merge:run", "put rows of several machines into one leaderboard")
    merge.add_argument(
        "leaderboards", type=Path, nargs="+", metavar="LEADERBOARD", help="a JSON file or folder each"
    )
    merge.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the leaderboard goes")
    which = "for the rows of one leaderboard, put its name before it: LEADERBOARD:"
    merge.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="SYSTEM",
        help=f"leave these rows out, a pattern; {which}SYSTEM",
    )
    merge.add_argument(
        "--rename", action="append", default=[], metavar="OLD=NEW", help=f"rename a system; {which}OLD=NEW"
    )

    report = _command(commands, "report", "report:report", "write a leaderboard as one HTML file")
    report.add_argument("leaderboard", type=Path, metavar="LEADERBOARD", help="its JSON file or folder")
    report.add_argument(
        "--out", type=Path, metavar="FILE", help="where it goes (default: report.html in its folder)"
    )
    report.add_argument("--no-text", action="store_true", help="leave out all texts of queries and passages")
    only = "instead draw its plots as SVG into pictures/ beside its README"
    report.add_argument("--pictures", action="store_true", help=only)
    _beside(report)
    _store(report)

    inspect = _command(
        commands, "inspect", "inspect:inspect", "look at one query or passage, or at where systems fail"
    )
    _inspect(inspect)
    _store(inspect)

    cache = _command(commands, "cache", "", "look after the store of artifacts")
    actions = cache.add_subparsers(title="actions", metavar="ACTION", required=True)
    _store(_command(actions, "ls", "cache:ls", "list the artifacts: what, how large, when used"))
    _store(_command(actions, "verify", "cache:verify", "read every artifact and name the damaged ones"))
    collect = _command(actions, "gc", "cache:gc", "remove what has not been used for long, and left-overs")
    collect.add_argument("--unused-for", type=_days, default=30, metavar="DAYS", help="default 30")
    kept = "a suite whose artifacts are kept, however old (may be repeated)"
    collect.add_argument("--keep", type=Path, action="append", default=[], metavar="SUITE", help=kept)
    collect.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    _store(collect)

    schema = _command(commands, "schema", "schema:schema", "print a JSON Schema, for editors and programs")
    schema.add_argument("what", choices=("suite", "leaderboard"))

    new = _command(commands, "new-plugin", "new:new_plugin", "write a working plugin package with a test")
    new.add_argument("name", metavar="NAME", help="the method's name, such as my-retriever")
    kinds = "(default: retriever); docs/hooks.md has an example of every other kind"
    new.add_argument("--kind", choices=NEW_KINDS, default="retriever", help=kinds)
    new.add_argument(
        "--into", type=Path, default=Path(), metavar="DIR", help="where its folder goes (default: here)"
    )

    completion = _command(
        commands, "completion", "completion:completion", "print a shell's completion script"
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    return top


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, does: str, text: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.set_defaults(does=does)
    return command


def _score(command: argparse.ArgumentParser) -> None:
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
    command.add_argument("--depth", type=_count, metavar="N", help="results of a query (default 1000)")
    command.add_argument("--dataset", metavar="NAME", help="the suite's, or what to call the judgements")
    command.add_argument("--split", metavar="NAME", help="what the judgements are of (default test)")
    command.add_argument("--name", metavar="NAME", help="the leaderboard's (default: its folder's)")
    names = "what systems are called by: their files (default), or the tags in them"
    command.add_argument("--names", choices=("file", "tag"), default="file", help=names)
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the leaderboard goes")
    _store(command)


def _dataset(command: argparse.ArgumentParser) -> None:
    of = "a suite, SUITE#DATASET for one of its datasets, or one of `harness list datasets`"
    command.add_argument("target", metavar="SUITE|NAME", help=of)
    text = "parameters of the dataset that is named, as path=data/scifact"
    command.add_argument("given", nargs="*", metavar="PARAMETER=VALUE", help=text)


def _inspect(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "target", type=Path, metavar="LEADERBOARD|SUITE", help="a leaderboard's file or folder, or a suite"
    )
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--query", metavar="ID", help="rankings of a query side by side, with judgements")
    what.add_argument(
        "--differ", nargs=2, metavar=("A", "B"), help="the queries on which two systems differ most"
    )
    what.add_argument("--failures", action="store_true", help="the queries that score 0, slice by slice")
    what.add_argument("--passage", metavar="ID", help="a passage of a suite's collections")
    what.add_argument(
        "--write", type=Path, metavar="DIR", help="write all passages with their context, as JSON lines"
    )
    command.add_argument("--context", action="store_true", help="the passage after each stage of context")
    command.add_argument("--dataset", metavar="NAME", help="only this one")
    command.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="only these")
    command.add_argument(
        "--measure",
        metavar="COLUMN",
        help="what to compare by (default: the leaderboard's first); of a query, only its value",
    )
    command.add_argument("--top", type=_count, default=10, metavar="N", help="how many (default 10)")


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "leaderboards", type=Path, nargs="+", metavar="LEADERBOARD", help="a JSON file or folder each"
    )
    for what in ("dataset", "measure", "system"):
        text = f"only the {what}s that match (may be repeated)"
        command.add_argument(f"--{what}", action="append", default=[], metavar="GLOB", help=text)
    command.add_argument("--baseline", metavar="SYSTEM", help="compare each with this one, not all pairs")
    by_name = "compare each with the system of its name in the first leaderboard"
    command.add_argument("--by-name", action="store_true", help=by_name)
    family = "what is corrected together: a column of one dataset (default), a dataset, a measure, or all"
    command.add_argument(
        "--family", choices=("column", "dataset", "measure", "all"), default="column", help=family
    )
    command.add_argument("--test", choices=("randomisation", "t", "wilcoxon"), default="randomisation")
    correction = "default: max-t with randomisation, else holm"
    command.add_argument("--correction", choices=("max-t", "holm", "none"), help=correction)
    permutations = "default 10,000, or as many as Holm needs"
    command.add_argument("--permutations", type=_count, metavar="N", help=permutations)
    command.add_argument("--alpha", type=_share, default=0.05, metavar="P", help="default 0.05")
    guard = "exit with 3 if a measure fell by more than its tolerance, or significantly without one"
    command.add_argument("--fail-on-regression", nargs="*", metavar="MEASURE=TOLERANCE", help=guard)
    command.add_argument("--format", choices=("table", "markdown", "latex", "json"), default="table")


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got '{text}'")
    return value


def _beside(command: argparse.ArgumentParser) -> None:
    said = "add the published rows of this leaderboard, where it has the same datasets; may be repeated"
    command.add_argument("--beside", type=Path, action="append", default=[], metavar="PUBLISHED", help=said)


def _store(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--store", type=Path, metavar="DIR", help="where artifacts are kept (default: the user's cache)"
    )


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of days from 0, got '{text}'")
    return days


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got '{text}'")
    return int(text)


class _Version(argparse.Action):
    """Reads the version only when asked."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"passage-harness {version('passage-harness')}")
        parser.exit()
