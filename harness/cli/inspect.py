"""`harness inspect`: a query across systems, queries where systems differ or fail, a passage's context."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from harness import catalogue
from harness.cli import arguments as shared
from harness.collection.corpus import Corpus
from harness.errors import HarnessError
from harness.execution import progress
from harness.inspect import lists, material, passage, query, query_groups, rankings, terminal
from harness.inspect.material import Material
from harness.leaderboard import board_file
from harness.leaderboard.board_file import Leaderboard
from harness.problems import shown_path
from harness.running import preparation
from harness.store import disk
from harness.store.artifacts import Store

OF_SUITES = (".yaml", ".yml")


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=inspect)
    target = "a leaderboard's file or folder, or a suite"
    command.add_argument("target", type=Path, metavar="LEADERBOARD|SUITE", help=target)
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--query", metavar="ID", help="rankings of a query side by side, with judgements")
    differ = "the queries on which two systems differ most"
    what.add_argument("--differ", nargs=2, metavar=("A", "B"), help=differ)
    what.add_argument("--failures", action="store_true", help="the queries that score 0, group by group")
    what.add_argument("--passage", metavar="ID", help="a passage of a suite's collections")
    write = "write all passages with their context, as JSON lines"
    what.add_argument("--write", type=Path, metavar="DIR", help=write)
    command.add_argument("--context", action="store_true", help="the passage after each stage of context")
    command.add_argument("--dataset", metavar="NAME", help="only this one")
    command.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="only these")
    measure = "what to compare by (default: the leaderboard's first); of a query, only its value"
    command.add_argument("--measure", metavar="COLUMN", help=measure)
    command.add_argument("--top", type=shared.count, default=10, metavar="N", help="how many (default 10)")
    shared.store(command)


def inspect(options: argparse.Namespace) -> int:
    target: Path = options.target
    store = shared.store_of(target if target.is_dir() else target.parent, options.store)
    console = Console(highlight=False, soft_wrap=False)
    of_suite = options.target.suffix in OF_SUITES
    if of_suite != bool(options.passage or options.write):
        what = "--query, --differ and --failures read a leaderboard; --passage and --write read a suite"
        raise HarnessError(f"{shown_path(options.target)}: {what}; name the other file")
    if of_suite:
        return _context(options, store, console)
    board = board_file.read(options.target)
    if options.query is not None:
        _query(options, board, store, console)
    elif options.differ:
        _differ(options, board, store, console)
    else:
        _failures(options, board, store, console)
    return 0


def _query(options: argparse.Namespace, board: Leaderboard, store: Store, console: Console) -> None:
    shown = 0
    measure = None if options.measure is None else lists.label_of(board, [], options.measure)
    chosen = list(query.chosen_rows(board, options.dataset, options.systems))
    for dataset, rows in chosen:
        views = query.opened(board, dataset, rows, store, [options.query])
        is_query = views.material is not None and options.query in views.material.number
        if is_query or views.knows(options.query):
            terminal.show_query(console, views.query(options.query, options.top, measure), views)
            shown += 1
    if not shown:
        where = ", ".join(dataset.name for dataset, _ in chosen)
        raise HarnessError(
            f"--query '{options.query}': no such query in {where}; look into per-query/ for ids"
        )


def _differ(options: argparse.Namespace, board: Leaderboard, store: Store, console: Console) -> None:
    for dataset, rows in query.chosen_rows(board, options.dataset, options.differ):
        if len(rows) < len(options.differ):
            continue  # one of the two systems failed on this dataset
        label = lists.label_of(board, rows, options.measure)
        first, second = rows
        values = lists.values_of_both(board, first, second, label)
        at_hand = material.opened(board, dataset, store)
        compared, texts = [], {}
        if isinstance(at_hand, Material):
            ranks = rankings.Rankings(board, first, at_hand, store, list(values))
            grouped = query_groups.of(at_hand, values, ranks, dataset.query_language or dataset.language)
            compared = query_groups.compared(grouped, values, first.provenance.seed)
            texts = at_hand.query_texts()
        console.rule(terminal.safe(dataset.name), align="left")
        names = (first.system, second.system)
        for part in terminal.differences(lists.differing(values), names, label, options.top, texts, compared):
            console.print(part)
        _without(at_hand, console)


def _failures(options: argparse.Namespace, board: Leaderboard, store: Store, console: Console) -> None:
    for dataset, rows in query.chosen_rows(board, options.dataset, options.systems):
        at_hand = material.opened(board, dataset, store)
        language = dataset.query_language or dataset.language
        console.rule(terminal.safe(dataset.name), align="left")
        for row in rows:
            label = lists.label_of(board, [row], options.measure)
            if label not in row.measures:
                continue
            grouped, texts = {}, {}
            if isinstance(at_hand, Material):
                ranks = rankings.Rankings(board, row, at_hand, store, at_hand.queries.ids)
                grouped = query_groups.of(at_hand, at_hand.queries.ids, ranks, language)
                texts = at_hand.query_texts()
            failing = lists.failing(board, row, label, grouped)
            for part in terminal.groups(failing, row.system, label, options.top, texts):
                console.print(part)
            console.print()
        _without(at_hand, console)


def _without(at_hand: Material | str, console: Console) -> None:
    if isinstance(at_hand, str):
        text = f"not at hand: {terminal.safe(at_hand)}, so texts and groups of queries are not known"
        console.print(text, style="yellow")


def _context(options: argparse.Namespace, store: Store, console: Console) -> int:
    """Prints passages before and after context, as the systems of a suite would read them."""
    records = catalogue.load()
    planned = preparation.read(options.target, records, store).plan
    if options.dataset and options.dataset not in planned.collections:
        names = ", ".join(planned.collections)
        raise HarnessError(f"--dataset '{options.dataset}': the suite has no such dataset; it has {names}")
    chosen = {name: item for name, item in planned.collections.items() if options.dataset in (None, name)}
    shown = False
    with progress.reporter(sys.stderr) as reporter:
        for name, collection in chosen.items():
            if collection.parts is None:
                raise HarnessError(f"{name}: {collection.error or collection.needs[0]}; mend it first")
            staged = bool(options.context or options.write)
            chains = passage.chains(planned, collection) if staged else []
            wanted = [collection.parts.corpus.step, *(step for chain in chains for step in chain.steps)]
            passage.make(planned, store, list(dict.fromkeys(wanted)), reporter)
            corpus = Corpus(store.read(collection.parts.corpus.step).folder)
            if options.passage is not None:
                shown |= _passage(options, store, console, name, corpus, chains)
            if options.write:
                _write(options.write / name, store, corpus, chains)
    if options.passage is not None and not shown:
        raise HarnessError(
            f"--passage '{options.passage}': there is none in {', '.join(chosen)}; check the id"
        )
    return 0


def _passage(
    options: argparse.Namespace,
    store: Store,
    console: Console,
    name: str,
    corpus: Corpus,
    chains: list[passage.Chain],
) -> bool:
    at = passage.position(corpus, options.passage)
    if at is None:
        return False
    document = corpus.document_of[at : at + 1]
    title = corpus.titles(document)[0]
    heading = f"{name} · passage {options.passage} · document {corpus.document_ids(document)[0]}"
    console.rule(terminal.safe(heading + (f" · {title}" if title else "")), align="left")
    for chain in chains or [passage.Chain((), ())]:
        terminal.show_stages(console, passage.stages(store, corpus, chain, at))
    return True


def _write(folder: Path, store: Store, corpus: Corpus, chains: list[passage.Chain]) -> None:
    if not chains:
        raise HarnessError(f"--write: no system of the suite has a context for {folder.name}; give one some")
    for chain, name in zip(chains, passage.file_names(chains), strict=True):
        with disk.explaining(folder):
            count = passage.write(store, corpus, chain, folder / name)
        print(f"{shown_path(folder / name)}: {count:,} passages")
