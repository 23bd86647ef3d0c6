"""The files of an exported model, with the model without which it cannot be loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from harness.plugin import JSON
from harness.toolkit.boards.stored import (
    BACKBONE,
    BESIDE,
    FOLDERS,
    Artifact,
    Corrupt,
    Store,
    Validate,
    backbone_folders,
    method_of,
)

ADAPTER = "adapter_config.json"  # peft's
PEFT = """
```python
from peft import PeftModel
from transformers import AutoModel

network = AutoModel.from_pretrained({})
model = PeftModel.from_pretrained(network, "{}")
```
"""


def listed(store: Store, artifact: Artifact, part: str) -> dict[str, Path]:
    """The files of a made model by their names in an export. The backbone is in `backbone/`, unless it is a
    model of the hub or cannot be found."""
    files = _below(artifact.folder / part)
    named = _backbone(files)
    if named is None or "model" in named:
        return files
    if "step" in named:
        made = trained(store, named["step"])
        inner = {} if made is None else listed(store, made, named["part"])
    else:
        at = _folder(store, artifact)
        inner = {} if at is None else _below(at)
    return {**files, **{f"{BESIDE}/{name}": path for name, path in inner.items()}}


def lacks_backbone(files: Mapping[str, Path]) -> bool:
    named = _backbone(files)
    return named is not None and "model" not in named and not _has_backbone(files)


def content(name: str, files: Mapping[str, Path]) -> bytes:
    """The content of a file in an export. peft's configuration names the exported backbone."""
    data, (folder, _, last) = files[name].read_bytes(), name.rpartition("/")
    if last != ADAPTER or not _has_backbone(files, f"{folder}/" if folder else ""):
        return data
    changed = {**orjson.loads(data), "base_model_name_or_path": BESIDE}
    return orjson.dumps(changed, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)


def described(files: Mapping[str, Path]) -> list[str]:
    """What a model card says of the backbone, as lines; none for a model that has none."""
    named = _backbone(files)
    if named is None:
        return []
    if "model" in named:
        network = f'"{named["model"]}", revision="{named["revision"]}"'
        where = (
            f"the network of `{named['model']}` at revision `{named['revision']}`, which is not copied here"
        )
    elif _has_backbone(files):
        network, where = f'"FOLDER/{BESIDE}"', f"the network in the folder `{BESIDE}`"
    else:
        network = f'"FOLDER/{BESIDE}"'
        where = f"a network that could not be exported; copy its folder to `{BESIDE}`"
    lines = [
        "## Network", "",
        f"This folder has only what was trained. It changes {where}. The SHA-256 of the weights of that"
        f" network is `{named['sha256']}`.", "",
    ]  # fmt: skip
    nested = f"{BESIDE}/{BACKBONE}" in files
    if ADAPTER in files and not nested:
        lines += [
            "passage-harness reads the folder as a model; so does peft:",
            PEFT.format(network, "FOLDER"),
        ]
    else:
        lines += ["passage-harness reads the folder as a model. No other library does.", ""]
    return lines


def trained(store: Store, step: str) -> Artifact | None:
    """The artifact of the training that made a model, or of its chosen checkpoint. None if the artifact is
    missing or damaged."""
    try:
        if not store.has(step):
            return None
        artifact = store.read(step)
        if not isinstance(artifact.record, Validate):
            return artifact
        step = str(artifact.facts["validation"]["model"])
        return store.read(step) if store.has(step) else None
    except Corrupt:
        return None


def base_folder(store: Store, value: JSON) -> Path | None:
    """The folder that a parameter of a step names by the digest of its contents, if it is known on this
    machine: to the store, or from the environment."""
    if not isinstance(value, Mapping) or "sha256" not in value:
        return None
    for path in backbone_folders():
        if path.is_dir() and store.digests.of(path) == value["sha256"]:
            return path
    return store.digests.folder_with(value["sha256"])


def advice(system: str) -> str:
    return (
        f"{system}: the network that its model changes is not known here; name its folder in {FOLDERS} and "
        "export again"
    )


def _folder(store: Store, artifact: Artifact) -> Path | None:
    method = method_of(artifact.record)
    folders = (base_folder(store, value) for value in ({} if method is None else method.params).values())
    return next(filter(None, folders), None)


def _backbone(files: Mapping[str, Path]) -> dict[str, str] | None:
    named: dict[str, str] | None = orjson.loads(files[BACKBONE].read_bytes()) if BACKBONE in files else None
    return named


def _has_backbone(files: Mapping[str, Path], below: str = "") -> bool:
    return any(name.startswith(f"{below}{BESIDE}/") for name in files)


def _below(folder: Path) -> dict[str, Path]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in paths}
