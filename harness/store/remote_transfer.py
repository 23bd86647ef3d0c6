"""Fetches the steps of a plan from the store's remote, and pushes finished steps to it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harness.errors import HarnessError, StoreError
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.store.remote import Note, Refused

if TYPE_CHECKING:
    from harness.plan.graph import Step


def fetch_missing(store: Store, steps: Mapping[str, Step], targets: Iterable[str], note: Note) -> list[str]:
    """Fetch the steps that the targets depend on and the local store lacks, as far as the remote has them.
    Returns the ids of the fetched steps."""
    remote = store.remote
    if remote is None or not remote.read:
        return []
    wanted: dict[str, None] = {}
    stack = list(targets)
    while stack:
        step = stack.pop()
        if step not in wanted:
            wanted[step] = None
            stack += steps[step].inputs if step in steps else ()
    missing, fetched = [step for step in wanted if not store.has(step)], list[str]()
    try:
        remote_steps = set(remote.steps()) if missing else set()
        fetched += (step for step in missing if step in remote_steps and remote.fetch(store, step, note))
    except HarnessError as error:
        if isinstance(error, StoreError) or not remote.is_reached:
            raise
        note(f"{error}; what is missing is made here")
        remote.read = False
    if fetched:
        note(f"{remote.address}: {len(fetched)} finished steps were fetched")
    return fetched


def push_all(store: Store, steps: Iterable[str], note: Note) -> list[str]:
    """Push the artifacts of `steps` that the local store has whole, after those that an earlier push to this
    remote has left. Returns the ids of the pushed steps. A user who may only read the remote is told so once;
    so is a push that fails, which does the rest the next time."""
    remote = store.remote
    if remote is None or not (remote.write or remote.is_behind):
        return []
    pushed, left = list[str](), store.unpushed / hashlib.sha256(remote.address.encode()).hexdigest()
    waiting = dict.fromkeys(
        [*(sorted(path.name for path in left.iterdir()) if left.exists() else ()), *steps]
    )
    with contextlib.suppress(OSError):  # a read-only store is pushed by hand
        for step in waiting:
            left.mkdir(parents=True, exist_ok=True)
            (left / step).touch()
    for step in list(waiting) if remote.write else ():  # after a failed push, steps only wait
        try:
            if store.has(step) and remote.push(store, step):
                pushed.append(step)
        except Corrupt as error:
            note(f"{error}; it is not pushed")
        except Refused as error:
            note(f"{remote.address}: takes no artifacts from you ({error}); results are kept here alone")
            remote.write = False
            disk.remove_tree(left)
            break
        except HarnessError as error:
            if isinstance(error, StoreError):
                raise
            note(f"{error}; {len(waiting)} of them are not pushed, the next run with this remote pushes them")
            remote.read, remote.write, remote.is_behind = False, False, True
            break
        del waiting[step]
        (left / step).unlink(missing_ok=True)
    return pushed
