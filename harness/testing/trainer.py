"""What a trainer promises: a folder for each model, and the same bytes when repeated, also after a kill."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import numpy as np

from harness.testing.subject import Subject, able, build, require, resolved
from harness.types import Examples, Ints, Pool, Training

TEXTS = [
    f"{adjective} {noun} {verb}"
    for noun in ("river", "stone", "garden")
    for adjective in ("old", "cold", "quiet")
    for verb in ("waits", "turns")
]
QUERIES = ["old river", "cold stone", "quiet garden", "old garden", "cold river", "no passage answers it"]
POSITIVES = [[0, 1], [8], [16, 17], [12], [2], []]


class Killed(BaseException):
    """An exception that ends a training in the middle. No `except Exception` of a trainer can catch it."""


def examples() -> Examples:
    """Six queries: two with two positives, one without positives, one without negatives. Scores differ."""
    negatives = [[p for p in range(len(TEXTS)) if p not in positives] for positives in POSITIVES]
    negatives[3] = []

    def texts_at(positions: Ints) -> list[str]:
        return [TEXTS[position] for position in positions.tolist()]

    return Examples(list(QUERIES), _pool(POSITIVES), _pool(negatives), 3, "sample", texts_at)


def _pool(lists: list[list[int]]) -> Pool:
    flat = np.array([position for item in lists for position in item], np.int64)
    bounds = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Pool(bounds, flat, np.sin(flat + 1).astype(np.float32))


def trained(subject: Subject, folder: Path, training: Training) -> dict[str, str]:
    """The digests of all files that one segment of training leaves."""
    folder.mkdir(exist_ok=True)
    with able(f"train segment {training.segment + 1} of {training.segments}"):
        build(subject).train(examples(), folder, training)
    for part in subject.record.parts(resolved(subject)):
        written = (folder / part).is_dir() and any((folder / part).iterdir())
        require(written, f"it leaves no model in '{part}', which its record names as a part")
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def names_its_parts(subject: Subject, _: Path) -> None:
    parts = subject.record.parts(resolved(subject))
    require(isinstance(parts, tuple) and parts, f"`parts` of its record gives {parts!r}, no tuple of names")
    require(len(set(parts)) == len(parts), "two of its parts have one name")


def leaves_a_model_for_each_part(subject: Subject, folder: Path) -> None:
    trained(subject, folder / "out", Training(0))


def ends_in_the_same_bytes_again(subject: Subject, folder: Path) -> None:
    first, again = (trained(subject, folder / name, Training(7)) for name in ("first", "again"))
    require(first == again, f"two trainings with one seed differ in {_differing(first, again)}")


def ends_in_the_same_bytes_after_a_kill(subject: Subject, folder: Path) -> None:
    """Training that is killed at its second report, then repeated, must end in the same bytes."""
    whole = trained(subject, folder / "whole", Training(7))
    calls = 0

    def kill(done: int, total: int, note: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Killed

    killed = folder / "killed"
    killed.mkdir()
    with contextlib.suppress(Killed):
        build(subject).train(examples(), killed, Training(7, progress=kill))
    resumed = trained(subject, killed, Training(7))
    require(whole == resumed, f"after a kill it ends differently in {_differing(whole, resumed)}")


def goes_on_from_segment_to_segment(subject: Subject, folder: Path) -> None:
    """The models of the last segment must equal those of a training in one piece."""
    whole = trained(subject, folder / "whole", Training(7))
    first = trained(subject, folder / "first", Training(7, 0, 2))
    require(first, "its first segment leaves nothing")
    second = trained(subject, folder / "second", Training(7, 1, 2, folder / "first"))
    parts = subject.record.parts(resolved(subject))
    models = [
        {name: digest for name, digest in files.items() if name.partition("/")[0] in parts}
        for files in (whole, second)
    ]
    require(models[0] == models[1], f"in two segments it ends differently in {_differing(*models)}")


def _differing(first: dict[str, str], second: dict[str, str]) -> str:
    names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    return ", ".join(names[:3])
