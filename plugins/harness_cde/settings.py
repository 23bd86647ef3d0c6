"""What is known of a model while planning: its commit, its backbone, its device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.plugin import HarnessError
from harness.toolkit.neural import hardware, model_folder, models
from harness_cde import CdeParams

_TOKENIZER = ("tokenizer.json",)  # is read of the backbone, instead of its weights


def resolved(params: CdeParams) -> CdeParams:
    model, revision = models.located(params.model, params.revision)
    backbone = params.backbone or _backbone(models.described(model, revision))
    backbone_revision = params.backbone_revision
    if backbone is not None:
        backbone, backbone_revision = models.located(backbone, backbone_revision)
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return replace(
        params,
        model=model,
        revision=revision,
        backbone=backbone,
        backbone_revision=backbone_revision,
        device=device,
        dtype=dtype,
    )


def missing_files(params: CdeParams) -> Sequence[str]:
    missing = models.missing_files(params.model, params.revision)
    if params.backbone is not None:
        missing += models.missing_files(params.backbone, params.backbone_revision, _TOKENIZER)
    return missing


def backbone_folder(params: CdeParams, model: Path) -> Path:
    """The folder with the configuration and the tokenizer of the network, without its weights."""
    backbone = params.backbone or _backbone(model)
    if backbone is None:
        raise HarnessError(f"model: {model / 'config.json'} names no `embedder`; name it by `backbone`")
    return models.folder(backbone, params.backbone_revision, _TOKENIZER)


def _backbone(folder: Path | None) -> str | None:
    config = (model_folder.read(folder / "config.json") or {}) if folder is not None else {}
    name = config.get("dataset_backbone") or config.get("embedder")
    return str(name) if name else None
