"""The head of a re-ranker: one logit, or two classes of which the second is the relevant one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from harness.toolkit.neural import model_folder

HEAD = "ForSequenceClassification"


def classes_of(folder: Path) -> int | None:
    """The number of classes of a folder's head; None if the network in it has no head yet."""
    config = model_folder.read(folder / "config.json") or {}
    if not any(str(name).endswith(HEAD) for name in config.get("architectures") or ()):
        return None
    return len(config["id2label"]) if "id2label" in config else int(config.get("num_labels", 2))


def convert(model: Any, classes: int) -> None:
    """Give a model with one logit two classes, or a model with two classes one logit, so that its scores stay
    the same: the score of two classes is the logit of the relevant one minus that of the other."""
    before = int(model.config.num_labels)
    if before == classes:
        return
    linear = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    layer = [layer for layer in linear if layer.out_features == before][-1]
    for name in ("weight", "bias"):
        values = getattr(layer, name)
        if values is not None:
            setattr(layer, name, nn.Parameter(_converted(values.detach(), classes)))
    layer.out_features = model.num_labels = model.config.num_labels = classes


def _converted(values: Tensor, classes: int) -> Tensor:
    return values[1:] - values[:1] if classes == 1 else torch.cat([-values / 2, values / 2])
