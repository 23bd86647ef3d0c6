"""`harness cache`: lists the artifacts of the store, verifies them, and removes unused ones."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from pathlib import Path

from harness import api, catalogue, user_cache
from harness.cli import arguments as shared
from harness.errors import HarnessError, StoreError, printable
from harness.running import preparation
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.store.remote import Damaged, Remote
from harness.store.remote_transfer import fetch_missing, push_all

DAY = 86400.0


def arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, work, text in (
        ("ls", ls, "list the artifacts: what, how large, when used"),
        ("verify", verify, "read every artifact and name the damaged ones"),
        ("gc", gc, "remove what has not been used for long, and left-overs"),
        ("push", push, "copy artifacts to the remote"),
        ("pull", pull, "fetch the artifacts of suites from the remote"),
    ):
        action = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        action.set_defaults(work=work)
        shared.store(action)
        if work in (ls, push, pull):
            shared.remote(action)
        if work is gc:
            text = "remove files of this remote, not of the store: pieces of no artifact, and old parts"
            action.add_argument("--remote", metavar="ADDRESS", help=text)
        if work in (push, pull):
            chosen = "a suite whose steps are meant" + (
                " (default: all that the store holds)" if work is push else ""
            )
            action.add_argument(
                "suites", type=Path, nargs="*" if work is push else "+", metavar="SUITE", help=chosen
            )
        if work is gc:
            action.add_argument(
                "--unused-for", type=shared.days, default=30, metavar="DAYS", help="default 30"
            )
            kept = "a suite whose artifacts are kept, however old (may be repeated)"
            action.add_argument("--keep", type=Path, action="append", default=[], metavar="SUITE", help=kept)
            action.add_argument("--dry-run", action="store_true", help="only print what would be removed")


def ls(options: argparse.Namespace) -> int:
    if options.remote:
        return _ls_remote(_remote(options))
    store = _opened(options.store)
    total = 0
    for step in store.steps():
        try:
            artifact = store.read(step, trust=True)
        except Corrupt as error:
            print(f"{step[:24]:24}  damaged: {error.reason}")
            continue
        size = int(artifact.cost["bytes"])
        total += size
        named = artifact.keyed.get("method")
        method = printable(str(named.get("name", ""))) if isinstance(named, dict) else ""
        used = time.strftime("%Y-%m-%d", time.localtime(artifact.folder.stat().st_mtime))
        kind, _, key = step.partition("-")
        print(f"{kind:10}  {key[:12]}  {method:16}  {_size(size):>9}  used {used}")
    print(f"{len(store.steps())} artifacts, {_size(total)} in {store.root}")
    return 0


def _ls_remote(remote: Remote) -> int:
    total, steps = 0, remote.steps()
    for step in steps:
        try:
            listed = remote.listed(step)
        except Damaged as error:
            print(f"{step[:24]:24}  damaged: {error}")
            continue
        if listed is not None:  # it was not removed in the meantime
            total += listed.size
            kind, _, key = step.partition("-")
            print(f"{kind:10}  {key[:12]}  {_size(listed.size):>9}")
    print(f"{len(steps)} artifacts, {_size(total)} in {remote.address}")
    return 0


def push(options: argparse.Namespace) -> int:
    store = _opened(options.store)
    store.remote = remote = _remote(options)
    steps = sorted({step for path in options.suites for step in _steps_of(path, store)}) or store.steps()
    pushed = push_all(store, steps, print)
    print(f"{len(pushed)} artifacts pushed to {remote.address}")
    return 1 if remote.is_behind else 0


def pull(options: argparse.Namespace) -> int:
    store = api.opened_store(options.store)
    store.remote = remote = _remote(options)
    fetched = []
    for path in options.suites:
        planned = preparation.read(path, catalogue.load(), store).plan
        fetched += fetch_missing(store, planned.steps, planned.steps, print)
    none = "" if fetched else "; it has none that is missing here"
    print(f"{len(fetched)} artifacts fetched from {remote.address}{none}")
    return 0


def _remote(options: argparse.Namespace) -> Remote:
    address = options.remote or os.environ.get("HARNESS_REMOTE")
    if not address:
        raise HarnessError("--remote: is missing; give an address such as s3://BUCKET/PREFIX")
    return Remote(address)


def verify(options: argparse.Namespace) -> int:
    store = _opened(options.store)
    damaged = 0
    for step in store.steps():
        try:
            store.read(step)
        except Corrupt as error:
            damaged += 1
            print(f"{step}: {error.reason}; a run that needs it makes it again")
    print(f"{len(store.steps())} artifacts read, {damaged} damaged")
    return 1 if damaged else 0


def gc(options: argparse.Namespace) -> int:
    if options.remote:
        return _gc_remote(options)
    store = _opened(options.store)
    if not options.dry_run and not os.access(store.artifacts, os.W_OK):
        raise StoreError(f"{store.root}: is read-only, so that nothing can be removed; make it writable")
    kept = {step for path in options.keep for step in _steps_of(path, store)}
    limit = time.time() - options.unused_for * DAY
    freed = leased = 0
    for step in store.steps():
        with store.leases.closed():
            if step in kept or store.last_used(step) > limit:
                continue
            folder = store.artifacts / step
            if store.is_leased(folder):
                leased += 1
                continue
            folder = folder if options.dry_run else store.put_aside(step)
        freed += _bytes(folder)
        if not options.dry_run:
            disk.remove_tree(folder)
        print(f"{'would remove' if options.dry_run else 'removed'}  {step[:24]}")
    if leased:
        print(f"{leased} artifacts are kept, because runs that are under way read them")
    for folder in store.leftovers(limit):
        with store.leases.closed():
            if store.is_leased(folder):
                continue
            size = _bytes(folder)
            if not options.dry_run:
                store.remove_leftover(folder)
                if folder.exists():  # a run uses it again
                    continue
        freed += size
        print(f"{'would remove' if options.dry_run else 'removed'}  {folder.relative_to(store.root)}")
    print(f"{_size(freed)} {'would be' if options.dry_run else ''} freed".replace("  ", " "))
    return 0


def _gc_remote(options: argparse.Namespace) -> int:
    from harness.store import remote_cleaning

    if options.unused_for < 1:
        raise HarnessError("--unused-for: of a remote is at least 1, because runs may be pushing to it")
    if options.keep:
        raise HarnessError("--keep: is for a local store; a remote keeps all finished artifacts")
    remote, limit = _remote(options), time.time() - options.unused_for * DAY
    entries = remote_cleaning.unneeded(remote, limit)
    if options.dry_run:
        for entry in entries:
            print(f"would remove  {entry.path}")
        print(f"{_size(sum(entry.size for entry in entries))} would be freed")
        return 0
    freed = remote_cleaning.remove(remote, entries, limit, lambda entry: print(f"removed  {entry.path}"))
    print(f"{_size(freed)} freed")
    return 0


def _opened(root: Path | None) -> Store:
    root = root or user_cache.default_store()
    if not root.exists():
        raise HarnessError(f"{root}: there is no store yet; `harness run` makes it")
    return Store(root).open()


def _steps_of(path: Path, store: Store) -> set[str]:
    return set(preparation.read(path, catalogue.load(), store).plan.steps)


def _bytes(folder: Path) -> int:
    """The size of a file, or of all files in a folder, without those that another process removes."""
    size = 0
    below = [Path(root, name) for root, _, names in os.walk(folder) for name in names]
    for path in (folder, *below):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
