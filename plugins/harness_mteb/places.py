"""The three places that a task can be read from: a folder, a zip file, a dataset of the hub."""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from harness.plugin import JSON, HarnessError
from harness.toolkit.files.writing import replace_file

AUTO = "auto"  # the revision of a suite that names none
COMMIT = re.compile(r"[0-9a-f]{40}")
SECONDS = 3.0  # how long planning waits for the hub
WANTED = ["README.md", "*.jsonl", "*.jsonl.gz", "*.parquet", "*.tsv"]


class Folder:
    """A task in a folder. Keys and messages name its files by their paths."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def readme(self) -> str:
        file = self.path / "README.md"
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""

    def names(self) -> list[str]:
        paths = self.path.rglob("*") if self.path.is_dir() else ()
        return sorted(file.relative_to(self.path).as_posix() for file in paths if file.is_file())

    def keyed(self, names: Sequence[str]) -> tuple[dict[str, JSON], tuple[Path, ...]]:
        """The part of a key that identifies these files: parameters, and files that are digested."""
        return {}, tuple(self.path / name for name in names)

    @contextmanager
    def opened(self, names: Sequence[str]) -> Iterator[list[Path]]:
        """The paths of these files, for reading while the context is open."""
        yield [self.path / name for name in names]


class Zip(Folder):
    """A task in a zip file as BEIR distributes it, which contains one folder with the tables."""

    def readme(self) -> str:
        return ""

    def names(self) -> list[str]:
        return sorted(self._members()) if self.path.exists() else []

    def keyed(self, names: Sequence[str]) -> tuple[dict[str, JSON], tuple[Path, ...]]:
        return {"members": list(names)}, (self.path,)

    @contextmanager
    def opened(self, names: Sequence[str]) -> Iterator[list[Path]]:
        members = self._members()
        with tempfile.TemporaryDirectory() as temporary, _unpacking(self.path) as packed:
            files = [Path(temporary, name) for name in names]
            for name, file in zip(names, files, strict=True):
                if name not in members:
                    raise HarnessError(f"{self.path}: there is no {name} in it; download it again")
                file.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(members[name]) as source, file.open("wb") as target:
                    while piece := source.read(1 << 20):
                        target.write(piece)
            try:
                yield files
            except HarnessError as error:
                raise HarnessError(str(error).replace(temporary, str(self.path))) from error

    def _members(self) -> dict[str, str]:
        """The names of the files in the zip file, by their paths below its one folder."""
        with _unpacking(self.path) as packed:
            names = [name for name in packed.namelist() if not name.endswith("/")]
        tops = {PurePosixPath(name).parts[0] for name in names}
        only = len(tops) == 1 and all("/" in name for name in names)
        return {(name.partition("/")[2] if only else name): name for name in names}


@contextmanager
def _unpacking(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as packed:
            yield packed
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file; check the path") from None
    except (zipfile.BadZipFile, EOFError) as error:
        what = str(error).lower() or "it ends early"
        raise HarnessError(f"{path}: this is not a whole zip file: {what}; download it again") from error


class Hub(Folder):
    """A dataset of the hub at one commit. `fetched` downloads it into the cache of the hub's client. Cached
    files are used as they are, also without a network."""

    def __init__(self, name: str, revision: str) -> None:
        revision = pinned(name) if revision == AUTO else revision
        self.name, self.revision = name, revision
        self.commit = (
            revision if COMMIT.fullmatch(revision) else _cached(name, revision) or _commit_of(name, revision)
        )
        super().__init__(_repository(name) / "snapshots" / (self.commit or revision))

    def keyed(self, names: Sequence[str]) -> tuple[dict[str, JSON], tuple[Path, ...]]:
        """The name and commit of the dataset. If it is neither here nor on the hub at that commit, as far as
        is known, the missing folder is returned too, so that the plan shows it."""
        keyed = {"hub": self.name, "commit": self.commit or self.revision}
        return keyed, () if self._can_be_read else (self.path,)

    @functools.cached_property  # of a run that cannot reach the hub: it is asked once for all parts
    def _can_be_read(self) -> bool:
        if self.commit is None or self.path.is_dir():
            return self.commit is not None
        return self.commit != self.revision or _commit_of(self.name, self.commit) is not None

    @contextmanager
    def opened(self, names: Sequence[str]) -> Iterator[list[Path]]:
        yield [self.path / name for name in names]

    def fetched(self) -> None:
        """Download the missing files. The client resumes a partial file and checks its size."""
        try:
            _client().snapshot_download(
                self.name,
                repo_type="dataset",
                revision=self.commit or self.revision,
                cache_dir=_repository(self.name).parent,
                allow_patterns=WANTED,
            )
        except Exception as error:  # the type depends on the client's HTTP library
            if self.names():
                return
            if isinstance(error, HarnessError):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise HarnessError(
                f"path: the hub does not give {self.name} at revision {self.revision}: {reason}; run "
                f"`hf download --repo-type dataset {self.name} --revision {self.revision}` "
                "where it does, or name a folder"
            ) from error


def place(path: Path | str, revision: str) -> Folder:
    if isinstance(path, str):
        return Hub(path, revision)
    return Zip(path) if path.suffix == ".zip" else Folder(path)


@functools.cache
def pinned(name: str) -> str:
    """The commit at which a dataset of the hub is read if the suite names no revision: the one that is known
    here, else main."""
    by_source = json.loads(Path(__file__).with_name("revisions.json").read_bytes())
    commits = [commits[name] for commits in by_source.values() if name in commits]
    return str(commits[0]) if commits else "main"


def _client() -> Any:
    try:
        import huggingface_hub.constants
        import huggingface_hub.errors
        import huggingface_hub.utils
    except ImportError:
        raise HarnessError(
            "path: a dataset of the hub needs the package huggingface-hub: pip install huggingface-hub; or "
            "download the dataset and name its folder"
        ) from None
    huggingface_hub.utils.disable_progress_bars()
    return huggingface_hub


def _repository(name: str) -> Path:
    """The folder of a dataset in the client's cache, by the client's own variables and defaults."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"
    home = Path(os.environ.get("HF_HOME") or home).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    return cache / f"datasets--{name.replace('/', '--')}"


def _cached(name: str, revision: str) -> str | None:
    reference = _repository(name) / "refs" / revision
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else ""
    return commit if COMMIT.fullmatch(commit) else None


def _commit_of(name: str, revision: str) -> str | None:
    """The commit of a revision on the hub, or None if the hub cannot be reached in time. The commit is also
    written where the client itself stores it. So every process of this run, and later runs, read the planned
    commit until `hf download` fetches a newer one."""
    client = _client()
    if client.constants.HF_HUB_OFFLINE:
        return None
    try:
        commit = client.HfApi().dataset_info(name, revision=revision, timeout=SECONDS).sha
    except (client.errors.RepositoryNotFoundError, client.errors.RevisionNotFoundError) as error:
        raise HarnessError(
            f"path: the hub has no dataset {name} at revision {revision}, or not for you; check the name"
        ) from error
    except Exception:  # no connection, or an unusable answer
        return None
    if commit is None or not COMMIT.fullmatch(str(commit)):
        return None
    if COMMIT.fullmatch(revision):
        return revision
    reference = _repository(name) / "refs" / revision
    reference.parent.mkdir(parents=True, exist_ok=True)
    replace_file(reference, str(commit).encode())
    return str(commit)
