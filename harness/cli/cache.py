"""`harness cache`: what the store holds, whether it is whole, and what may go."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from harness import api, catalogue, runner
from harness.cli import arguments as shared
from harness.errors import HarnessError
from harness.store.artifacts import Corrupt, Store

DAY = 86400.0


def arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, work, text in (
        ("ls", ls, "list the artifacts: what, how large, when used"),
        ("verify", verify, "read every artifact and name the damaged ones"),
        ("gc", gc, "remove what has not been used for long, and left-overs"),
    ):
        action = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        action.set_defaults(work=work)
        shared.store(action)
        if work is gc:
            action.add_argument(
                "--unused-for", type=shared.days, default=30, metavar="DAYS", help="default 30"
            )
            kept = "a suite whose artifacts are kept, however old (may be repeated)"
            action.add_argument("--keep", type=Path, action="append", default=[], metavar="SUITE", help=kept)
            action.add_argument("--dry-run", action="store_true", help="only print what would be removed")


def ls(options: argparse.Namespace) -> int:
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
        method = artifact.described.get("method", {}).get("name", "")
        used = time.strftime("%Y-%m-%d", time.localtime(artifact.folder.stat().st_mtime))
        kind, _, key = step.partition("-")
        print(f"{kind:10}  {key[:12]}  {method:16}  {_size(size):>9}  used {used}")
    print(f"{len(store.steps())} artifacts, {_size(total)} in {store.root}")
    return 0


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
    store = _opened(options.store)
    kept = {step for path in options.keep for step in _steps_of(path, store)}
    limit = time.time() - options.unused_for * DAY
    freed = 0
    for step in store.steps():
        folder = store.artifacts / step
        if step in kept or folder.stat().st_mtime > limit:
            continue
        freed += _bytes(folder)
        print(f"{'would remove' if options.dry_run else 'removed'}  {step[:24]}")
        if not options.dry_run:
            store.discard(step)
    for folder in store.leftovers(limit):
        freed += _bytes(folder)
        print(f"{'would remove' if options.dry_run else 'removed'}  {folder.relative_to(store.root)}")
        if not options.dry_run:
            store.remove_leftover(folder)
    print(f"{_size(freed)} {'would be' if options.dry_run else ''} freed".replace("  ", " "))
    return 0


def _opened(root: Path | None) -> Store:
    root = root or api.default_store()
    if not root.exists():
        raise HarnessError(f"{root}: there is no store yet; `harness run` makes it")
    return Store(root).open()


def _steps_of(path: Path, store: Store) -> set[str]:
    return set(runner.read(path, catalogue.load(), store).plan.steps)


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
