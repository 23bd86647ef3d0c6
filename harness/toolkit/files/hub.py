"""Downloads the files of a dataset on the model hub into a folder of the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import HarnessError


def snapshot(name: str, to: Path, patterns: Sequence[str], revision: str = "main") -> None:
    """Downloads the files that match `patterns` into the folder `to`, under the hub's paths. The hub's client
    resumes partial files and checks sizes. Raises HarnessError if no file matches or the download fails."""
    try:
        import huggingface_hub
        import huggingface_hub.utils
    except ImportError:
        advice = "pip install huggingface-hub; or download the files and name their folder"
        raise HarnessError(
            f"{to}: fetching from the hub needs the package huggingface-hub: {advice}"
        ) from None
    huggingface_hub.utils.disable_progress_bars()
    try:
        huggingface_hub.snapshot_download(
            name, repo_type="dataset", revision=revision, local_dir=to, allow_patterns=list(patterns)
        )
    except Exception as error:  # the type depends on the client's HTTP library
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        advice = f"run `hf download --repo-type dataset {name} --local-dir {to}` where the hub can be reached"
        raise HarnessError(f"{to}: the hub does not give {name}: {reason}; {advice}") from error
    if not any(any(to.glob(pattern)) for pattern in patterns):
        looked = ", ".join(patterns)
        raise HarnessError(f"{to}: {name} has no files that fit {looked}; download them by hand")


def commits(folder: Path, files: Iterable[Path]) -> list[str]:
    """The commits of the repository from which these files of `folder` were downloaded, as the hub's client
    notes them beside; empty for files that came otherwise."""
    notes = folder / ".cache" / "huggingface" / "download"
    named = set()
    for file in files:
        note = notes / f"{file.relative_to(folder)}.metadata"
        if note.is_file():
            named.add(note.read_text(encoding="utf-8").partition("\n")[0])
    return sorted(named)
