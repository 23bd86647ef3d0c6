"""The harness in a notebook: load a suite, run it, get the leaderboard as rows for pandas."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import catalogue, runner, suite, user_cache
from harness.errors import HarnessError
from harness.execution import progress
from harness.leaderboard.board_file import Leaderboard
from harness.notebook import board, cell_progress, suite_data
from harness.notebook.board import Board
from harness.notebook.served import Served
from harness.plan.graph import Plan
from harness.problems import Problem
from harness.store.artifacts import Store
from harness.suite import Changes, Suite
from harness.user_cache import default_store

__all__ = ["Board", "Leaderboard", "Suite", "check", "load", "read_leaderboard", "run"]


def load(
    path: str | Path, *, set: Sequence[str] = (), limit: int | None = None, sample: int | None = None
) -> Suite:
    """Read and check a suite; HarnessError lists every problem. `set` are texts like
    `systems.bm25.retriever.bm25.k1=1.2`. `limit` (queries) and `sample` (passages) make it a trial."""
    return suite.load(Path(path), catalogue.load(), Changes(tuple(set), limit, sample))


def check(path: str | Path, *, store: str | Path | None = None) -> list[Problem]:
    """The problems of a suite, each with its place; none if it can be planned. Data need not be here."""
    try:
        runner.read(Path(path), catalogue.load(), opened_store(store))
    except HarnessError as error:
        return list(error.problems)
    return []


def run(
    path: str | Path | Suite | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    store: str | Path | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
    fresh: bool = False,
    replace: bool = False,
    quiet: bool = False,
    remote: str | None = None,
    set: Sequence[str] = (),
    limit: int | None = None,
    sample: int | None = None,
) -> Board:
    """Run a suite (its path, a dict, or what `load` returned) and return its leaderboard, written beside the
    suite or into `out`; that of a dict into a folder of the user's cache. In a dict, functions may be
    methods. Failed systems are rows with `status: failed`. A folder with the leaderboard of another suite is
    refused unless `replace` is set. `remote` is the address of a store that machines share. `set`, `limit`
    and `sample` change a suite as `load` does; a trial goes into `trial/`."""
    if isinstance(only, str):
        raise HarnessError(f"only: expected a list of names, got the text '{only}'; write ['{only}']")
    records = catalogue.load()
    changes = Changes(tuple(set), limit, sample)
    artifacts = opened_store(store, remote)
    with Served() as served:
        objects: tuple[tuple[str, str], ...] = ()
        if isinstance(path, Suite):
            loaded = path
            if changes != Changes():
                raise HarnessError("set, limit, sample: the suite is loaded already; give these to load()")
        elif isinstance(path, Mapping):
            loaded, objects = suite_data.load(path, Path.cwd(), records, served, changes)
        else:
            loaded = suite.load(Path(path), records, changes)
        prepared = runner.prepare(loaded, records, artifacts, only)
        reporter = _reporter(quiet)
        try:
            for name, reason in objects:
                reporter.note(f"{name} runs every time: {reason}")
            target = Path(out) if out is not None else _folder(loaded, isinstance(path, Mapping))
            outcome = runner.execute(prepared, artifacts, target, reporter, jobs, fresh, replace)
        finally:
            reporter.close()
            _forget(prepared.plan, artifacts)
    return board.of(outcome.leaderboard, artifacts.root)


def _reporter(quiet: bool) -> progress.Reporter:
    if quiet:
        return progress.Silent()
    return cell_progress.Cell() if cell_progress.in_notebook() else progress.reporter(sys.stderr)


def _folder(loaded: Suite, of_dict: bool) -> Path:
    """Where the leaderboard goes. That of a dict lies in a folder for what the dict says, so that equal ones
    share it and others do not replace it."""
    return user_cache.boards() / loaded.digest[:16] if of_dict else runner.default_folder(loaded)


def _forget(planned: Plan, artifacts: Store) -> None:
    """Remove what objects made that no key can address: no later run could use it."""
    gone: builtins.set[str] = builtins.set()
    for step in planned.steps.values():  # inputs stand before what reads them
        if "unkeyed" in step.work.get("method", {}) or not gone.isdisjoint(step.inputs):
            gone.add(step.id)
            artifacts.discard(step.id)
            artifacts.forget(step.id)


def read_leaderboard(path: str | Path) -> Board:
    """The leaderboard in a folder, or in its JSON file."""
    return board.read(path)


def opened_store(store: str | Path | None, remote: str | None = None, push: bool = True) -> Store:
    """The store, with the remote behind it that was named here or in the variable HARNESS_REMOTE."""
    opened = Store(Path(store) if store is not None else default_store()).open()
    address = remote or os.environ.get("HARNESS_REMOTE")
    if address:
        from harness.store.remote import Remote

        opened.remote = Remote(address, write=push)
    return opened
