"""The harness in a notebook: loads and runs a suite, and gives its leaderboard as rows for pandas."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from harness import catalogue, suite, user_cache
from harness.errors import HarnessError
from harness.execution import progress, workers
from harness.leaderboard.board_file import Leaderboard
from harness.notebook import board, cell_progress, suite_data
from harness.notebook.board import Board
from harness.notebook.served import Served
from harness.problems import Problem
from harness.running import preparation, suite_run
from harness.store.artifacts import Store
from harness.suite import Changes, Suite
from harness.user_cache import default_store

__all__ = ["Board", "Leaderboard", "Suite", "check", "load", "read_leaderboard", "run"]


def load(
    path: str | Path, *, set: Sequence[str] = (), limit: int | None = None, sample: int | None = None
) -> Suite:
    """The suite of a file, checked. Raises HarnessError with all problems. `set` are changes such as
    `systems.bm25.retriever.bm25.k1=1.2`. `limit` (queries) and `sample` (passages) make the suite a trial."""
    return suite.load(Path(path), catalogue.load(), _changes(set, limit, sample))


def check(path: str | Path, *, store: str | Path | None = None) -> list[Problem]:
    """The problems of a suite, each with its place. Empty if it can be planned. Its data need not be here."""
    try:
        preparation.read(Path(path), catalogue.load(), opened_store(store))
    except HarnessError as error:
        return list(error.problems)
    return []


def run(
    path: str | Path | Suite | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    only: Sequence[str] = (),
    fresh: bool = False,
    replace: bool = False,
    quiet: bool = False,
    remote: str | None = None,
    engine: Literal["local", "ray"] | None = None,
    address: str | None = None,
    ship: bool = False,
    set: Sequence[str] = (),
    limit: int | None = None,
    sample: int | None = None,
) -> Board:
    """Run a suite and return its leaderboard. `path` is the path of a suite, a dict with its contents, or the
    result of `load`. In a dict, methods may be Python functions.

    The leaderboard is written into `out`; by default beside the suite, for a trial into `trial/` there, and
    for a dict into a folder of the user's cache. A folder with the leaderboard of another suite is refused
    unless `replace` is set. Failed systems are rows with `status: failed`. `remote` is the address of a store
    that machines share. `set`, `limit` and `sample` change the suite as in `load`.

    `engine` is `local` or `ray`, by default as the environment variable HARNESS_ENGINE says, else `local`.
    `address` is that of a Ray cluster; `ship` sends the code of the harness and of its plugins to the nodes.
    `jobs` is how many steps run at once: by default one, and on a cluster as many as it has cores."""
    _check_list("only", only, "names")
    if jobs is not None and (type(jobs) is not int or jobs < 1):
        raise HarnessError(f"jobs: expected a whole number from 1, got {jobs!r}")
    records = catalogue.load()
    changes = _changes(set, limit, sample)
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
        if objects and workers.chosen_engine(engine) == "ray":
            raise HarnessError(
                f"{objects[0][0]}: runs in this process ({objects[0][1]}), where no node of a cluster can "
                "call it; say engine='local', or make it a plugin"
            )
        prepared = preparation.prepare(loaded, records, artifacts, only)
        with _reporter(quiet) as reporter:
            for name, reason in objects:
                reporter.note(f"{name} runs every time: {reason}")
            target = Path(out) if out is not None else _folder(loaded, isinstance(path, Mapping))
            with (
                artifacts.leases.held(prepared.plan.steps),
                workers.of_engine(artifacts, engine, address, jobs, ship, fresh) as at_work,
            ):
                outcome = suite_run.execute(
                    prepared, artifacts, target, reporter, jobs or 1, fresh, replace, workers=at_work
                )
    return board.of(outcome.leaderboard, artifacts.root)


def _changes(settings: Sequence[str], limit: int | None, sample: int | None) -> Changes:
    _check_list("set", settings, "changes")
    return Changes(tuple(settings), limit, sample)


def _check_list(name: str, given: Sequence[str], what: str) -> None:
    """Raises HarnessError for a text in the place of a list, which would be read letter by letter."""
    if isinstance(given, str):
        raise HarnessError(f"{name}: expected a list of {what}, got the text '{given}'; write ['{given}']")


def _reporter(quiet: bool) -> progress.Reporter:
    if quiet:
        return progress.Reporter()
    return cell_progress.Cell() if cell_progress.in_notebook() else progress.reporter(sys.stderr)


def _folder(loaded: Suite, of_dict: bool) -> Path:
    """The folder of the leaderboard. A dict's folder is named by the digest of its contents, so that equal
    dicts share a folder and different dicts do not replace each other's leaderboards."""
    return user_cache.boards() / loaded.digest[:16] if of_dict else preparation.default_folder(loaded)


def read_leaderboard(path: str | Path) -> Board:
    """The leaderboard at `path`, which is its folder or its JSON file."""
    return board.read(path)


def opened_store(store: str | Path | None, remote: str | None = None, push: bool = True) -> Store:
    """The store in the folder `store`, by default in the user's cache. Its remote is at the address `remote`,
    or at the address in the environment variable HARNESS_REMOTE, if either is given."""
    opened = Store(Path(store) if store is not None else default_store()).open()
    address = remote or os.environ.get("HARNESS_REMOTE")
    if address:
        from harness.store.remote import Remote

        opened.remote = Remote(address, write=push)
    return opened
