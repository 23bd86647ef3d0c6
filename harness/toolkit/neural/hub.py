"""Asks the model hub for a commit or for files; errors say what to do if it refuses or cannot be reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub import errors as refusals
from huggingface_hub.utils import disable_progress_bars

from harness.errors import HarnessError


class Answer(NamedTuple):
    commit: str  # the commit that the revision stands for
    files: tuple[str, ...]  # the names of all files of the model


def ask(model: str, revision: str, seconds: float) -> Answer | None:
    """The commit and files of a revision of a model; None if the hub cannot be reached in time. Raises
    HarnessError if the hub has no such model or revision."""
    if constants.HF_HUB_OFFLINE:
        return None
    try:
        info = HfApi().model_info(model, revision=revision, timeout=seconds)
        files = sorted(file.rfilename for file in info.siblings or ())
        return None if info.sha is None else Answer(str(info.sha), tuple(files))
    except (refusals.RepositoryNotFoundError, refusals.RevisionNotFoundError) as error:
        raise _refused(model, revision, error) from error
    except Exception:  # its type depends on the HTTP library: no connection, or an unusable answer
        return None


def download(model: str, revision: str, patterns: Sequence[str]) -> Path:
    """The folder in the hub's local cache that holds the files matching `patterns`, downloaded if need be."""
    disable_progress_bars()
    try:
        return Path(snapshot_download(model, revision=revision, allow_patterns=list(patterns)))
    except (refusals.RepositoryNotFoundError, refusals.RevisionNotFoundError) as error:
        raise _refused(model, revision, error) from error
    except refusals.LocalEntryNotFoundError as error:
        raise HarnessError(
            f"model: {model} at revision {revision} is not here and the hub cannot be reached; run "
            f"`hf download {model} --revision {revision}` where it can, or name a folder"
        ) from error
    except refusals.HfHubHTTPError as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise HarnessError(
            f"model: the hub does not give {model} at revision {revision}: {why}; try again, or name a folder"
        ) from error


def _refused(model: str, revision: str, error: Exception) -> HarnessError:
    if isinstance(error, refusals.RevisionNotFoundError):
        return HarnessError(
            f"model: {model} has no revision '{revision}'; name one of its branches, tags or commits"
        )
    if isinstance(error, refusals.GatedRepoError):
        return HarnessError(
            f"model: {model} goes only to those who accept its terms; do so on its page, then `hf auth login`"
        )
    return HarnessError(f"model: the hub has no {model}, or not for you; check the name or `hf auth login`")


def names(model: str, revision: str) -> list[str]:
    """The names of all files of a model; empty if the hub cannot be reached."""
    try:
        return sorted(HfApi().list_repo_files(model, revision=revision))
    except Exception:  # of any HTTP library; the names only improve an error message
        return []
