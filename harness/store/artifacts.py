"""The store: artifacts on disk, each whole or absent, verified when read. All its paths are made here."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import math
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ContractError, HarnessError
from harness.steps import PartOfStep, ids_of_part, kinds
from harness.store import disk, manifest, recorded
from harness.store.file_digests import FileDigests
from harness.store.leases import Leases
from harness.store.manifest import MANIFEST, Artifact, Corrupt, Stamp
from harness.types import JSON, Part

if TYPE_CHECKING:
    from harness.store.remote import Remote

PART = min(kinds(PartOfStep))
LAYOUT = b"passage-harness store, layout 1\n"


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root = root.absolute()  # absolute, because a plugin may change the working folder
        self.artifacts = root / "artifacts"
        self.partial = root / "partial"
        self.removed = root / "removed"
        self.digests = FileDigests(root / "digests")
        self.failures = root / "failures"  # the output of steps that failed
        self.logs = root / "logs"  # the output of steps that succeeded
        self.compiled = root / "compiled"  # numba's cache
        self.responses = root / "responses"  # the answers of services; made when a service is asked
        self.converted = root / "converted"  # models in other formats as safetensors; made when one is read
        self.unpushed = root / "unpushed"  # the names of steps that wait for a push; made when one waits
        self.leases = Leases(root / "leases")
        self.remote: Remote | None = None  # where finished artifacts are shared
        self._verified: dict[str, tuple[tuple[str, int, int, int], ...]] = {}

    def open(self) -> Store:
        """Make the store's folders. Raises HarnessError for a folder that holds other files."""
        mark = self.root / "layout"
        with disk.explaining(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            # list first, then look for the mark: another run that makes the store writes its mark first
            others = [path.name for path in self.root.iterdir() if not _is_mark(path)]
            if not mark.exists():
                if others:
                    advice = "choose an empty or new folder with --store"
                    raise HarnessError(f"{self.root}: is not a store, and holds other files; {advice}")
                disk.replace_file(mark, LAYOUT)
            elif mark.read_bytes() != LAYOUT:
                advice = "choose another with --store"
                raise HarnessError(f"{self.root}: was made by another version of passage-harness; {advice}")
            for folder in (
                self.artifacts,
                self.partial,
                self.removed,
                self.digests.folder,
                self.failures,
                self.logs,
                self.compiled,
            ):
                folder.mkdir(exist_ok=True)
        return self

    # reading

    def has(self, step: str) -> bool:
        return (self.artifacts / step).exists()  # whole or absent; `read` detects later damage

    def read(self, step: str, trust: bool = False) -> Artifact:
        """The artifact of a step. Every byte is verified, once in the life of this object. With `trust`, only
        the manifest is read, for callers that need no files. Raises Corrupt."""
        folder = self.artifacts / step
        artifact = manifest.read(step, folder)
        if not trust:
            seen = manifest.stamps(folder)
            if self._verified.get(step) != seen:
                manifest.verify(artifact)
                self._verified[step] = seen
        return artifact

    def part(self, part: Part, key: str) -> str | None:
        """The id of the step that made a part of a collection, by its key; None if the store lacks it."""
        return next((step for step in ids_of_part(part, key) if self.has(step)), None)

    def is_whole(self, step: str) -> bool:
        """Whether the store has an artifact undamaged. Every byte is read, whatever was verified before."""
        try:
            Store(self.root).read(step)
        except Corrupt:
            return False
        return True

    def stamps(self, steps: Iterable[str]) -> dict[str, Stamp]:
        """A stamp for each of these steps that the store has, by which `removed_since` knows the artifact."""
        stamps = {step: manifest.stamp(self.artifacts / step) for step in steps}
        return {step: stamp for step, stamp in stamps.items() if stamp is not None}

    def removed_since(self, stamps: Mapping[str, Stamp]) -> str | None:
        """An artifact that another run has removed since `stamps` was made, or None. The other run may have
        made it again."""
        changed = (step for step, stamp in stamps.items() if manifest.stamp(self.artifacts / step) != stamp)
        return next(changed, None)

    def discard(self, step: str) -> None:
        """Remove an artifact. A rename takes it out of the store whole; then its files are deleted."""
        disk.remove_tree(self.put_aside(step))

    def put_aside(self, step: str) -> Path:
        """Take an artifact out of the store, if it is there. Returns its path, for the caller to delete."""
        aside = self.removed / f"{step}.{os.getpid()}.{time.monotonic_ns()}"
        self._verified.pop(step, None)
        with disk.explaining(self.root), contextlib.suppress(FileNotFoundError):
            disk.rename(self.artifacts / step, aside)
        return aside

    def is_leased(self, path: Path) -> bool:
        """Whether a running process may still read an artifact, go on with a partial step, or read a model in
        another format. A part of a step is read by who joins the step. Called while leases are `closed`."""
        if path.parent == self.converted:
            return bool(self.leases.live())
        whole = step = path.name
        if step.startswith(f"{PART}-"):
            with contextlib.suppress(Corrupt):
                record = manifest.read(step, self.artifacts / step).record
                whole = record.of if isinstance(record, PartOfStep) else step
        return self.leases.name(whole)

    def touch(self, step: str) -> None:
        """Note that an artifact was used, for `cache gc`."""
        try:
            os.utime(self.artifacts / step)
        except OSError:  # the store may be read-only
            return

    def last_used(self, step: str) -> float:
        """When an artifact was used last, in seconds since 1970; infinity if it is not in the store."""
        try:
            return (self.artifacts / step).stat().st_mtime
        except FileNotFoundError:
            return math.inf

    def steps(self) -> list[str]:
        return sorted(path.name for path in self.artifacts.iterdir())

    # writing

    @contextmanager
    def claim(self, step: str, waiting: Callable[[], None]) -> Iterator[Path | None]:
        """The folder to write a step into, claimed for this process alone, or None if the step is finished by
        then. Files that a killed run left in the folder are still there."""
        partial = self.partial / step
        with disk.explaining(self.root):
            descriptor = self._lock(partial, step, waiting)
        if descriptor is None:
            yield None
            return
        try:
            files = partial / "files"
            with disk.explaining(self.root):
                files.mkdir(exist_ok=True)
                (files / MANIFEST).unlink(missing_ok=True)  # left by a run that was killed in `finish`
            yield files
        finally:
            os.close(descriptor)

    def _lock(self, partial: Path, step: str, waiting: Callable[[], None]) -> int | None:
        announced = False
        while True:
            if self.has(step):
                return None
            partial.mkdir(exist_ok=True)
            try:
                descriptor = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:  # another run has just finished the step
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if disk.is_at(descriptor, partial):
                    if not self.has(step):
                        return descriptor
                    disk.remove_tree(partial)  # made above, just after another run had finished the step
            except BlockingIOError:
                if not announced:
                    waiting()
                    announced = True
                time.sleep(0.1)
            os.close(descriptor)

    def finish(self, step: str, keyed: JSON, facts: JSON, cost: JSON, durable: bool = True) -> None:
        """Make a claimed folder an artifact: its files are hashed, synced and renamed into place. Without
        `durable` they are not synced; if the machine stops, the artifact may then be found damaged. Raises
        ContractError for facts or a cost that no reader would take."""
        partial = self.partial / step
        files = partial / "files"
        if files.is_symlink() or not files.is_dir():
            raise ContractError("it removed the folder that it was given to write into")
        if (files / MANIFEST).exists():
            raise ContractError(f"it wrote a file '{MANIFEST}', a name that the harness keeps for itself")
        with disk.explaining(self.root):
            paths = [path for path in sorted(files.rglob("*")) if path.is_file()]
            sums = disk.sha256_of(paths)
            listed = {
                path.relative_to(files).as_posix(): {"size": path.stat().st_size, "sha256": checksum}
                for path, checksum in zip(paths, sums, strict=True)
            }
            cost = {**cost, "bytes": sum(entry["size"] for entry in listed.values())}
            content = {"step": step, "keyed": keyed, "facts": facts, "cost": cost, "files": listed}
            data = recorded.sealed(content, indented=True)
            try:
                recorded.check_facts(step, recorded.unsealed(data, recorded.Manifest))
            except recorded.Invalid as error:  # a plugin's number that is none, such as NaN
                raise ContractError(f"what it reported cannot be kept: its {MANIFEST} {error}") from None
            disk.write(files / MANIFEST, data + b"\n")
            try:
                if durable:
                    disk.fsync_tree(files)
            except OSError:
                self.clear(files)  # the state of the disk is unknown, so a rerun must not continue from it
                raise
            disk.rename(files, self.artifacts / step)
            if durable:
                disk.fsync_folder(self.artifacts)
            disk.remove_tree(partial)

    @contextmanager
    def adopting(self, step: str) -> Iterator[Path]:
        """An empty folder beside the claimed one, for a copy of a finished artifact with its manifest, which
        becomes the artifact when the body has ended. Whatever fails, the folder is removed. Raises Corrupt if
        the files differ from the manifest."""
        partial = self.partial / step
        copied = partial / "copied"
        self.clear(copied)
        try:
            yield copied
            manifest.verify(manifest.read(step, copied))
            with disk.explaining(self.root):
                disk.fsync_tree(copied)
                disk.rename(copied, self.artifacts / step)
                disk.fsync_folder(self.artifacts)
                disk.remove_tree(partial)
        finally:
            disk.remove_tree(copied)

    def clear(self, files: Path) -> None:
        """Empty a folder within a claimed one."""
        with disk.explaining(self.root):
            disk.remove_tree(files)
            files.mkdir(exist_ok=True)

    def is_begun(self, step: str) -> bool:
        """Whether a killed run has left files of a step, or a run is executing the step."""
        files = self.partial / step / "files"
        return files.is_dir() and any(files.iterdir())

    def discard_parts(self, steps: Container[str]) -> None:
        """Remove the finished parts of these steps that no run has joined."""
        for folder in sorted(self.artifacts.glob(f"{PART}-*")):
            with contextlib.suppress(Corrupt):
                record = manifest.read(folder.name, folder).record
                if isinstance(record, PartOfStep) and record.of in steps:
                    self.discard(folder.name)

    def forget(self, step: str) -> None:
        """Remove the files that a killed run left of a step, unless another run is executing the step."""
        self.remove_leftover(self.partial / step)

    def forget_finished(self) -> None:
        """Remove the empty folders of steps whose run was killed just after it had finished them."""
        for folder in self.partial.iterdir():
            if self.has(folder.name):
                self.forget(folder.name)

    def forget_all(self, kind: str) -> None:
        """Remove the files that killed runs left of all steps of a kind, except steps in execution."""
        for folder in self.partial.glob(f"{kind}-*"):
            self.forget(folder.name)

    def leftovers(self, before: float) -> list[Path]:
        """The paths that `cache gc` may remove: partial steps and outputs that were last changed before the
        time `before`, models in other formats last used before, and artifacts that are partly removed."""
        old: list[Path] = []
        folders = (self.partial, self.failures, self.logs, self.converted)
        for path in itertools.chain.from_iterable(folder.glob("*") for folder in folders):
            with contextlib.suppress(FileNotFoundError):  # a run has finished the step meanwhile
                if path.stat().st_mtime < before:
                    old.append(path)
        return sorted([*old, *self.removed.iterdir()])

    def remove_leftover(self, folder: Path) -> None:
        """Remove a path that `leftovers` returned, unless a run has claimed or removed it meanwhile."""
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if disk.is_at(descriptor, folder):
                disk.remove_tree(folder)
        except BlockingIOError:
            return
        finally:
            os.close(descriptor)


def _is_mark(path: Path) -> bool:
    """Whether the path is the store's mark, finished, being written, or left unfinished by a killed run."""
    return path.name == "layout" or path.name.endswith(".new.layout")
