"""What a method does in a process of its own: the same as here, and dying in the middle of an index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.testing import analyser, combiner, context, dataset, dying, reranker, retriever
from harness.testing.record import run
from harness.testing.subject import Subject, find, require
from harness.testing.texts import MemoryTexts

PROGRAM = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from harness.testing import child
child.main(job)
"""
FINGERPRINTS: dict[str, Callable[[Subject, Path], str]] = {
    "dataset": dataset.fingerprint,
    "context": context.fingerprint,
    "retriever": retriever.fingerprint,
    "reranker": reranker.fingerprint,
    "combiner": combiner.fingerprint,
    "analyser": analyser.fingerprint,
}
INDEXES: dict[str, Callable[..., object]] = {"retriever": retriever.index, "reranker": reranker.index}
CORPORA: dict[str, Callable[[Subject], MemoryTexts]] = {
    "retriever": retriever.corpus_of,
    "reranker": reranker.corpus_of,
}


def gives_the_same_in_another_process(subject: Subject, folder: Path) -> None:
    """Python's hashes of texts differ between the two, so that an order taken from a set shows."""
    here, there = _empty(folder / "here"), _empty(folder / "there")
    other = run(PROGRAM, _job(subject, "fingerprint", there), hash_seed=_other_seed())
    require(FINGERPRINTS[subject.kind](subject, here) == other, "another process gets another result")


def finishes_an_index_that_was_killed(subject: Subject, folder: Path) -> None:
    if not getattr(subject.record, "indexed", True):
        return
    killed, whole = _empty(folder / "killed"), _empty(folder / "whole")
    for after in (0, 1, 2):
        run(PROGRAM, _job(subject, "die", killed, after=after), expect=dying.EXIT)
    found = FINGERPRINTS[subject.kind](subject, killed)
    require(
        found == FINGERPRINTS[subject.kind](subject, whole),
        "an index over what a killed process left gives other results than one in an empty folder",
    )


def main(job: dict[str, Any]) -> None:
    """The other process: do what the job says and print the result."""
    subject = find(job["kind"], job["name"], job["given"], 0)
    folder = Path(job["folder"])
    if job["action"] == "die":
        dying_there = dying.dying(CORPORA[subject.kind](subject), job["after"], kill=True)
        INDEXES[subject.kind](subject, dying_there, folder)
        return
    print(FINGERPRINTS[subject.kind](subject, folder))


def _job(subject: Subject, action: str, folder: Path, **more: Any) -> dict[str, Any]:
    given = dict(subject.given)
    return {
        "action": action,
        "kind": subject.kind,
        "name": subject.record.name,
        "given": given,
        "folder": str(folder),
        **more,
    }


def _other_seed() -> str:
    return "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


CHECKS: dict[str, tuple[Callable[[Subject, Path], None], ...]] = {
    "retriever": (gives_the_same_in_another_process, finishes_an_index_that_was_killed),
    "reranker": (gives_the_same_in_another_process, finishes_an_index_that_was_killed),
    "dataset": (gives_the_same_in_another_process,),
    "context": (gives_the_same_in_another_process,),
    "combiner": (gives_the_same_in_another_process,),
    "analyser": (gives_the_same_in_another_process,),
}
