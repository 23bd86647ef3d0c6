"""The harness in a notebook: load a suite, run it, get the leaderboard as rows for pandas."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import catalogue, runner, suite
from harness.errors import HarnessError
from harness.execution import progress
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.board_file import read as _read
from harness.problems import Problem
from harness.store.artifacts import Store
from harness.suite import Changes, Suite
from harness.user_cache import default_store

__all__ = ["Leaderboard", "Suite", "check", "load", "read_leaderboard", "run"]


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
    path: str | Path | Suite,
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
) -> Leaderboard:
    """Run a suite (its path, or what `load` returned) and return its leaderboard, written beside the
    suite or into `out`. Failed systems are rows with `status: failed`. A folder with the leaderboard of
    another suite is refused unless `replace` is set. `remote` is the address of a store that machines
    share. `set`, `limit` and `sample` change a suite's file as `load` does; a trial goes into `trial/`."""
    if isinstance(only, str):
        raise HarnessError(f"only: expected a list of names, got the text '{only}'; write ['{only}']")
    records = catalogue.load()
    if isinstance(path, Suite):
        loaded = path
        if set or limit is not None or sample is not None:
            raise HarnessError("set, limit, sample: the suite is loaded already; give these to load()")
    else:
        loaded = suite.load(Path(path), records, Changes(tuple(set), limit, sample))
    artifacts = opened_store(store, remote)
    prepared = runner.prepare(loaded, records, artifacts, only)
    reporter = progress.Silent() if quiet else progress.reporter(sys.stderr)
    try:
        target = Path(out) if out is not None else runner.default_folder(loaded)
        return runner.execute(prepared, artifacts, target, reporter, jobs, fresh, replace).leaderboard
    finally:
        reporter.close()


def read_leaderboard(path: str | Path) -> Leaderboard:
    """The leaderboard in a folder, or in its JSON file."""
    return _read(Path(path))


def opened_store(store: str | Path | None, remote: str | None = None, push: bool = True) -> Store:
    """The store, with the remote behind it that was named here or in the variable HARNESS_REMOTE."""
    opened = Store(Path(store) if store is not None else default_store()).open()
    address = remote or os.environ.get("HARNESS_REMOTE")
    if address:
        from harness.store.remote import Remote

        opened.remote = Remote(address, write=push)
    return opened
