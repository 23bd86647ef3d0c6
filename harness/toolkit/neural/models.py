"""Finds a model while planning, without loading it: in a folder, on the hub, or in a Python package."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from harness import made_models
from harness.errors import HarnessError
from harness.step_context import CURRENT
from harness.toolkit.neural import model_folder, revisions, weight_files
from harness.toolkit.neural.revisions import AUTO
from harness.types import JSON

if TYPE_CHECKING:
    from harness.toolkit.neural.hub import Answer

PACKAGE = "package:"
COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_SECONDS = 3.0  # the longest time that planning waits for the hub
_READ = ("*.json", "*.txt", "*.model", "*.metadata", "*.jinja")  # beside the weights: they describe a model
HEADS = ("sparse_linear", "colbert_linear")  # of BGE-M3, beside its network; of 2 MB at most
CODE = ("*.py",)
APART = ("_data*", ".data*")  # an ONNX file's name with one of these suffixes names a file of its weights
_DESCRIBES = ("*config*.json", "modules.json")  # the small files that planning reads


def located(model: Path | str, revision: str = AUTO) -> tuple[Path | str, str]:
    """The model as it enters a key: a folder, or the folder of a package, by its path; a hub id with the
    commit of `revision`. A model or commit that cannot be found is returned as given. Cheap; called while
    planning."""
    revision = revisions.of(model, revision)
    if isinstance(model, Path):
        return model, revision
    if model.startswith(PACKAGE):
        return _in_package(model) or model, revision
    if made_models.is_planned(model):
        return model, revision
    if not _HUB_ID.fullmatch(model):
        raise HarnessError(
            f"model: '{model}' is no name; write org/name for one of the hub, package:MODULE/FOLDER for one "
            f"that a Python package brings, or a path that starts with '.', '/' or '~'"
        )
    commit = _cached_commit(model, revision)
    if commit is None and (answer := _asked(model, revision)) is not None:
        commit = answer.commit
    return model, commit or revision


def is_local(model: str) -> bool:
    """Whether `model` names a model of a Python package, or one that the suite makes; false for a model of
    the hub."""
    return model.startswith(PACKAGE) or made_models.is_planned(model)


def recipe(model: Path | str) -> Mapping[str, JSON] | None:
    """The parameters of the trainer that makes a model of the suite; None for another model."""
    return model.recipe if isinstance(model, made_models.Planned) else None


def missing_files(model: Path | str, revision: str = AUTO, instead: Sequence[str] = ()) -> list[str]:
    """What is still missing before the model can be loaded, as messages of one line; empty if nothing is, or
    if a run can download it. `instead` are patterns of files that are read instead of the weights."""
    revision = revisions.of(model, revision)
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
    if snapshot is not None and _is_complete(snapshot, instead):
        return []
    if (answer := _asked(model, revision)) is not None:
        readable = instead or _wanted(answer.files, snapshot)
        return [] if readable else [f"model {_without_weights(model, revision)}"]
    how = f"`hf download {model}{'' if revision == 'main' else f' --revision {revision}'}`"
    return [f"model {model} at revision {revision} (not here: {how} or name a folder)"]


def cached(model: str, revision: str = AUTO) -> Path | None:
    """The folder of a hub model in the local cache; None if it is not there."""
    revision = revisions.of(model, revision)
    commit = _cached_commit(model, revision)
    folder = _repository(model) / "snapshots" / commit if commit else None
    return folder if folder is not None and folder.is_dir() else None


def described(model: Path | str, revision: str = AUTO) -> Path | None:
    """The folder with the configuration of the model, with or without its weights, downloaded from the hub if
    need be; None if it is neither here nor on the hub."""
    revision = revisions.of(model, revision)
    if isinstance(model, Path):
        return model
    if made_models.is_planned(model):
        return None
    here = cached(model, revision)
    if (here is None or not any(here.glob("*.json"))) and reachable(model, revision):
        from harness.toolkit.neural import hub

        return hub.download(model, revision, _DESCRIBES)
    return here


def reachable(model: str, revision: str = AUTO) -> bool:
    """Whether the hub can be reached and has the model. Raises HarnessError if the hub says that it has no
    such model."""
    revision = revisions.of(model, revision)
    return not is_local(model) and _asked(model, revision) is not None


def listed(model: Path | str, revision: str = AUTO) -> tuple[str, ...]:
    """The names of all files of a hub model, whether they are cached or not; empty if the hub cannot be
    asked."""
    revision = revisions.of(model, revision)
    if isinstance(model, Path) or is_local(model):
        return ()
    answer = _asked(model, revision)
    return () if answer is None else answer.files


def folder(
    model: Path | str,
    revision: str = AUTO,
    instead: Sequence[str] = (),
    trust_remote_code: bool = False,
) -> Path:
    """The folder that holds the model, downloaded if need be. Of its weights, only the files that are read
    are fetched; code is fetched only with `trust_remote_code`. `instead` are patterns of files that are read
    instead of the weights. One such as `onnx/model.onnx` also fetches the separate files in which an export
    of more than 2 GB keeps its weights."""
    revision = revisions.of(model, revision)
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

    apart = [name + end for name in instead if name.endswith(".onnx") for end in APART]
    here = hub.download(model, revision, [*_READ, *instead, *apart, *(CODE if trust_remote_code else ())])
    if instead:
        if _is_complete(here, instead):
            return here
        raise HarnessError(
            f"model: {model} at revision {revision} has no {' or '.join(instead)}; name another"
        )
    read = (context := CURRENT.get().converted) and context.read
    if read is not None and not COMMIT.fullmatch(revision):  # planning could not ask for the commit
        read.add(f"{model}: {revision} was at the commit {here.name}")
    names = listed(model, revision) or hub.names(model, revision)
    if names:
        wanted = _wanted(names, here)
        if not wanted:
            raise HarnessError(f"model: {_without_weights(model, revision)}")
        hub.download(model, revision, wanted)
    for at in model_folder.weighted(here):
        if weight_files.chosen(here / at) is None:
            raise HarnessError(f"model: {_without_weights(model, revision, at)}")
    return here


def notes(model: Path | str, revision: str = AUTO, instead: Sequence[str] = ()) -> list[str]:
    """Lines on what a run will read, for the dry run and `check`: pickled weights, files that it will
    download, and whether main of a hub model is at another commit. The hub is asked nothing more if the
    model is here."""
    revision = revisions.of(model, revision)
    if made_models.is_planned(model):
        return []
    if isinstance(model, Path) or is_local(model):
        at = model if isinstance(model, Path) else _in_package(model)
        return _format_notes(str(model), _present(at)) if at is not None and not instead else []
    name, here = f"{model} at {revision}", cached(model, revision)
    main = _cached_commit(model, "main")
    lines: list[str] = []
    if here is not None and _is_complete(here, instead):
        lines += [] if instead else _format_notes(name, _present(here))
    elif (answer := _asked(model, revision)) is not None:
        wanted = [] if instead else _wanted(answer.files, here)
        lines += [f"{name}: a run downloads {weight_files.shown(wanted)}"] if wanted else []
        lines += _format_notes(name, wanted)
        main = answer.commit if revision == "main" else (_asked(model, "main") or answer).commit
    if main is not None and COMMIT.fullmatch(revision) and main != revision:
        lines.append(f"{model}: main has moved: {revision} is read, and main is at {main}")
    return lines


def _present(folder: Path) -> list[str]:
    """The weight files of a folder that are read, by their paths in it."""
    chosen = {at: weight_files.chosen(folder / at) for at in model_folder.weighted(folder)}
    return [(PurePosixPath(at) / name).as_posix() for at, one in chosen.items() if one for name in one.files]


def _format_notes(name: str, files: Sequence[str]) -> list[str]:
    pickled = [file for file in files if PurePosixPath(file).suffix in (".bin", ".pt")]
    if not pickled:
        return []
    return [
        f"{name}: {weight_files.shown(pickled)} is a pickle: it is read by torch's weights-only loader and "
        "kept as safetensors in the store"
    ]


def code(model: str, revision: str) -> Path:
    """The folder with the code of a hub model, downloaded if need be: some models take their code from
    another model."""
    from harness.toolkit.neural import hub

    return hub.download(model, revision, CODE)


def _is_complete(folder: Path, instead: Sequence[str]) -> bool:
    """Whether a folder of the cache has all weights that are read, or one of the files `instead`."""
    if instead:
        return any(file for pattern in instead for file in folder.rglob(pattern))
    try:
        return all(weight_files.chosen(folder / at) is not None for at in model_folder.weighted(folder))
    except HarnessError:
        return False


def _wanted(names: Iterable[str], here: Path | None) -> list[str]:
    """The weight files to download, out of the names of all files of a model whose modules.json, if it has
    one, is in the folder `here`; empty if the network's are not among them."""
    every = set(names)
    wanted: list[str] = []
    for at in model_folder.weighted(here) if here else ("",):
        chosen = weight_files.among(every, at)
        if chosen is None:
            return []
        wanted += [(PurePosixPath(at) / name).as_posix() for name in (*chosen.files, chosen.listing) if name]
    heads = [[f"{head}{end}" for end in (".safetensors", ".pt")] for head in HEADS]
    return wanted + [next(name for name in pair if name in every) for pair in heads if every & {*pair}]


def _without_weights(model: str, revision: str, at: str = "") -> str:
    return (
        f"{model} at revision {revision} has none of {', '.join(weight_files.ORDER)}"
        f"{f' in {at}' if at else ''}; name another revision or model"
    )


def _in_package(model: str) -> Path | None:
    """The folder of the model within its package; None if the package is not installed. The package is not
    imported."""
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
    """The folder in which the hub's library caches a model, found from the same variables and defaults as the
    library does."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"
    home = Path(os.environ.get("HF_HOME") or home).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    return cache / f"models--{model.replace('/', '--')}"


def _cached_commit(model: str, revision: str) -> str | None:
    """The commit that `revision` names in the local cache; None if the cache does not know it."""
    if COMMIT.fullmatch(revision):
        return revision
    try:
        commit = (_repository(model) / "refs" / revision).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return commit if COMMIT.fullmatch(commit) else None


@functools.cache  # the systems of a grid ask for the same model many times
def _asked(model: str, revision: str) -> Answer | None:
    """The hub's answer about a revision; None if the hub cannot be reached."""
    try:
        from harness.toolkit.neural.hub import ask
    except ImportError:
        return None
    return ask(model, revision, _SECONDS)
