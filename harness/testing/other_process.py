"""Cases that need another process: its results must be equal, and an index build killed in it is finished."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.testing import (
    analyser,
    combiner,
    context,
    dataset,
    interruption,
    maker,
    reranker,
    retriever,
    rewriter,
)
from harness.testing.record import run
from harness.testing.subject import Subject, find, index_if_indexed, require
from harness.testing.texts import MemoryTexts

PROGRAM = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from harness.testing import other_process
other_process.main(job)
"""
FINGERPRINTS: dict[str, Callable[[Subject, Path], str]] = {
    "dataset": dataset.fingerprint,
    "context": context.fingerprint,
    "retriever": retriever.fingerprint,
    "rewriter": rewriter.fingerprint,
    "reranker": reranker.fingerprint,
    "combiner": combiner.fingerprint,
    "analyser": analyser.fingerprint,
    "maker": maker.fingerprint,
}
INDEXES: dict[str, Callable[..., object]] = {"retriever": retriever.index, "reranker": index_if_indexed}
CORPORA: dict[str, Callable[[Subject], MemoryTexts]] = {
    "retriever": retriever.corpus_of,
    "reranker": reranker.corpus_of,
}


def gives_the_same_in_another_process(subject: Subject, folder: Path) -> None:
    """The results must be equal in another process. It hashes strings differently, so an order that depends
    on a set differs."""
    this_folder, other_folder = _empty(folder / "this"), _empty(folder / "other")
    other_seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    other = run(PROGRAM, _job(subject, "fingerprint", other_folder), hash_seed=other_seed)
    this = FINGERPRINTS[subject.kind](subject, this_folder)
    require(this == other, "another process gets another result")


def finishes_an_index_that_was_killed(subject: Subject, folder: Path) -> None:
    if not getattr(subject.record, "indexed", True):
        return
    killed, whole = _empty(folder / "killed"), _empty(folder / "whole")
    for after in (0, 1, 2):
        run(PROGRAM, _job(subject, "die", killed, after=after), expect=interruption.EXIT)
    resumed, expected = (FINGERPRINTS[subject.kind](subject, folder) for folder in (killed, whole))
    require(
        resumed == expected,
        "indexing over what a killed process left gives other results than indexing in an empty folder",
    )


def main(job: dict[str, Any]) -> None:
    """The entry point of the other process: does the job and prints its result."""
    subject = find(job["kind"], job["name"], job["given"], 0)
    folder = Path(job["folder"])
    if job["action"] == "die":
        corpus = interruption.interrupted(CORPORA[subject.kind](subject), job["after"], kill=True)
        INDEXES[subject.kind](subject, corpus, folder)
        return
    print(FINGERPRINTS[subject.kind](subject, folder))


def _job(subject: Subject, action: str, folder: Path, **more: Any) -> dict[str, Any]:
    parameters = dict(subject.given)
    return {
        "action": action,
        "kind": subject.kind,
        "name": subject.record.name,
        "given": parameters,
        "folder": str(folder),
        **more,
    }


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


CHECKS: dict[str, tuple[Callable[[Subject, Path], None], ...]] = {
    "retriever": (gives_the_same_in_another_process, finishes_an_index_that_was_killed),
    "rewriter": (gives_the_same_in_another_process,),
    "reranker": (gives_the_same_in_another_process, finishes_an_index_that_was_killed),
    "dataset": (gives_the_same_in_another_process,),
    "context": (gives_the_same_in_another_process,),
    "combiner": (gives_the_same_in_another_process,),
    "analyser": (gives_the_same_in_another_process,),
    "maker": (gives_the_same_in_another_process,),
}
