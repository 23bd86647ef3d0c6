"""The manifest of an artifact: the record of a step, of its results and of its files, to verify them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from harness import steps
from harness.store import disk, recorded
from harness.store.recorded import File, Manifest
from harness.types import JSON

MANIFEST = "manifest.json"
OTHER_VERSION = f"its {MANIFEST} is of another version of passage-harness"
NOT_KEYED = "not_keyed"  # the fact that lists what a step did that its key does not hold
REMOVED = "it was removed while it was read"
Stamp: TypeAlias = tuple[int, int]  # inode and time stamp


class Artifact(NamedTuple):
    """The artifact of a finished step: its folder and the contents of its manifest."""

    id: str
    folder: Path
    keyed: dict[str, JSON]  # what is keyed of the step's record
    facts: dict[str, JSON]  # results that depend on the inputs alone
    cost: dict[str, JSON]  # time, memory and bytes of the first execution
    files: dict[str, File]  # by relative path

    @property
    def record(self) -> steps.AnyKind:
        """The step's record, with what is keyed of it alone. Raises Corrupt for another version's."""
        try:
            return steps.of_keyed(self.keyed)
        except msgspec.ValidationError as error:
            raise Corrupt(self.id, OTHER_VERSION) from error


class Corrupt(Exception):
    """An artifact differs from what was written. It is removed and made again, never used."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step[:24]}: {reason}")
        self.step = step
        self.reason = reason


class Absent(Corrupt):
    """An artifact that the plan expected is not in the store."""

    def __init__(self, step: str) -> None:
        super().__init__(step, "it is not in the store")


def read(step: str, folder: Path) -> Artifact:
    """The artifact of a step, as its manifest in `folder` describes it. Raises Corrupt; other files are not
    read."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except FileNotFoundError as error:
        raise (Corrupt(step, f"its {MANIFEST} is missing") if folder.exists() else Absent(step)) from error
    except OSError as error:
        raise Corrupt(step, f"its {MANIFEST} cannot be read") from error
    try:
        content = recorded.unsealed(data.removesuffix(b"\n"), Manifest)
        if content.step != step:
            raise recorded.Invalid("is another step's")
        recorded.check_facts(step, content)
    except recorded.Invalid as error:
        raise Corrupt(step, f"its {MANIFEST} {error}") from error
    return Artifact(step, folder, content.keyed, content.facts, content.cost, content.files)


def stamp(folder: Path) -> Stamp | None:
    """What differs if an artifact is removed and made again, because its manifest is written once. None if
    the folder has no manifest."""
    try:
        status = (folder / MANIFEST).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def stamps(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """The name, size, time stamp and inode of every file in the folder. Disappearing files are left out."""
    listed = []
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(OSError):
            if path.is_file():
                status = path.stat()
                name = path.relative_to(folder).as_posix()
                listed.append((name, status.st_size, status.st_mtime_ns, status.st_ino))
    return tuple(listed)


def verify(artifact: Artifact) -> None:
    """Check every file of an artifact against its manifest. Raises Corrupt."""
    present = {name for name, *_ in stamps(artifact.folder)} - {MANIFEST}
    if present != artifact.files.keys():
        odd = sorted(present ^ artifact.files.keys())[0]
        raise Corrupt(artifact.id, f"'{odd}' " + ("was added" if odd in present else "is missing"))
    names = list(artifact.files)
    try:
        for name in names:
            if (artifact.folder / name).stat().st_size != artifact.files[name].size:
                raise Corrupt(artifact.id, f"'{name}' was changed")
        sums = disk.sha256_of([artifact.folder / name for name in names])
    except OSError as error:
        raise Corrupt(artifact.id, f"'{Path(str(error.filename)).name}' cannot be read") from error
    for name, checksum in zip(names, sums, strict=True):
        if checksum != artifact.files[name].sha256:
            raise Corrupt(artifact.id, f"'{name}' was changed")
