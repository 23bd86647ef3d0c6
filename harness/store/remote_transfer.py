"""Fetches the steps of a plan from the store's remote, and pushes finished steps to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

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
    missing = [step for step in wanted if not store.has(step)]
    remote_steps = set(remote.steps()) if missing else set()
    fetched = [step for step in missing if step in remote_steps and remote.fetch(store, step, note)]
    if fetched:
        note(f"{remote.address}: {len(fetched)} finished steps were fetched")
    return fetched


def push_all(store: Store, steps: Iterable[str], note: Note) -> list[str]:
    """Push the artifacts of `steps` that the local store has whole. Returns the ids of the pushed steps. A
    user who may only read the remote is told so once."""
    remote = store.remote
    if remote is None or not remote.write:
        return []
    pushed = []
    for step in steps:
        try:
            if store.has(step) and remote.push(store, step):
                pushed.append(step)
        except Corrupt as error:
            note(f"{error}; it is not pushed")
        except Refused as error:
            note(f"{remote.address}: takes no artifacts from you ({error}); results are kept here alone")
            remote.write = False
            break
    return pushed
