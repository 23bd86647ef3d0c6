"""The network that an adapter or a prefix was trained for: its name beside what was trained, and its folder.

`backbone.json` holds no path, so that a training has the same bytes wherever the network and the store lie.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from harness import made_models
from harness.errors import HarnessError
from harness.toolkit.neural import model_folder, models, weight_files

STEP = re.compile(r"train-[0-9a-f]{64}")


class Backbone(NamedTuple):
    """The model whose network is changed."""

    at: Path  # its folder
    model: str | None = None  # its id, if it is a model of the hub
    revision: str | None = None  # its commit on the hub

    @property
    def named(self) -> dict[str, str]:
        """The model as `backbone.json` names it: by its id on the hub, or by the step of a suite that made
        it. The name of any other model is empty: its weights identify it."""
        if self.model is not None:
            return {"model": self.model, "revision": str(self.revision)}
        step, part = self.at.parts[-2:]
        return {"step": step, "part": part} if STEP.fullmatch(step) else {}


def of(model: Path | str, revision: str) -> Backbone:
    """The model that a trainer starts from, downloaded if need be."""
    at = models.folder(model, revision)
    return (
        Backbone(at) if isinstance(model, Path) or models.is_local(model) else Backbone(at, model, revision)
    )


def write(folder: Path, backbone: Backbone) -> None:
    """Write into `folder` which network was changed."""
    content = {**backbone.named, "sha256": digest(model_folder.network(backbone.at))}
    path = folder / made_models.BACKBONE
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def network(folder: Path) -> Path:
    """The folder of the network that `folder` changes. It lies in `folder` itself, as an export has it, among
    the folders that the environment names, among the other artifacts of a store, or on the hub. Raises
    HarnessError if it is not there or has other weights."""
    card = model_folder.read(folder / made_models.BACKBONE)
    if card is None:
        raise HarnessError(
            f"model: {folder} does not say which network it changes; its {made_models.BACKBONE} is missing"
        )
    beside = folder / made_models.BESIDE
    if beside.is_dir():
        return _checked(folder, card, beside)
    for path in made_models.backbone_folders():
        if path.is_dir() and digest(model_folder.network(path)) == card["sha256"]:
            return model_folder.network(path)
    if "step" in card and (made := folder.absolute().parents[1] / card["step"] / card["part"]).is_dir():
        return _checked(folder, card, made)
    if "model" in card:
        return _checked(folder, card, models.folder(card["model"], card["revision"]))
    name = f"the model of the step {card['step'][:18]}" if "step" in card else "a network"
    raise HarnessError(
        f"model: {folder} changes {name}, whose weights have the SHA-256 {card['sha256']} and which is not "
        f"here; copy its folder to {beside}, or name its folder in {made_models.FOLDERS}"
    )


def digest(folder: Path) -> str:
    """The SHA-256 of a network's weights; of several files, the SHA-256 of their digests."""
    chosen = weight_files.chosen(folder)
    paths = [folder / name for name in chosen.files] if chosen else sorted(folder.glob("*.safetensors"))
    digests = [_sha256(path) for path in paths]
    return digests[0].hex() if len(digests) == 1 else hashlib.sha256(b"".join(digests)).hexdigest()


def _checked(folder: Path, card: Any, at: Path) -> Path:
    inner = model_folder.network(at)
    if digest(inner) != card["sha256"]:
        raise HarnessError(f"model: {inner} has other weights than the network that {folder} was trained for")
    return inner


def _sha256(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
