"""Models as PyLate saves them: a sentence-transformers folder with linear layers for the tokens of a text."""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.plugin import HarnessError
from harness.toolkit.neural import encoder_folder, model_folder

if TYPE_CHECKING:
    import torch

SETTINGS = "config_sentence_transformers.json"
# PyLate's names and the types of their values -> ours; `None` stands for PyLate's default, which is ours
NAMES: dict[str, tuple[str, type]] = {
    "query_length": ("query_maxlen", int),
    "document_length": ("doc_maxlen", int),
    "query_prefix": ("query_token_id", str),
    "document_prefix": ("doc_token_id", str),
    "attend_to_expansion_tokens": ("attend_to_mask_tokens", bool),
    "do_query_expansion": ("expand", bool),
}


def has(folder: Path) -> bool:
    """Whether PyLate has saved this folder."""
    settings = model_folder.read(folder / SETTINGS) or {}
    return (folder / "modules.json").is_file() and not settings.keys().isdisjoint(NAMES)


def read(folder: Path) -> dict[str, Any]:
    """The settings of a folder, as fields of `FolderSettings`."""
    given = model_folder.read(folder / SETTINGS)
    words = given.get("skiplist_words")
    if not isinstance(words, list | None) or not all(isinstance(word, str) for word in words or ()):
        raise HarnessError(
            f"model: {folder / SETTINGS}: 'skiplist_words' are no list of words; fetch the model again"
        )
    fields: dict[str, Any] = {
        "doc_maxlen": 180,
        "query_token_id": "[Q] ",
        "doc_token_id": "[D] ",
        "skipped": tuple(words or string.punctuation),
        "dim": _layers(folder)[-1].settings.get("out_features"),
        "pylate": True,
    }
    for name, (field, kind) in NAMES.items():
        if (value := given.get(name)) is not None:
            if type(value) is not kind:
                raise HarnessError(
                    f"model: {folder / SETTINGS}: '{name}' is {value!r}; fetch the model again"
                )
            fields[field] = value
    return fields


def linear(folder: Path) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The layers as one: float32[dimension, d], and its bias if there is one. With `use_residual`, a layer
    adds its input, which another matrix brings to the size of its output."""
    import torch

    from harness.toolkit.neural import checkpoints

    weight, bias = None, None
    for layer in _layers(folder):
        tensors = {name: tensor.double() for name, tensor in checkpoints.weights(layer.path).items()}
        one = tensors.pop("linear.weight", torch.empty(0, 0))
        before = one.shape[1] if weight is None else len(weight)
        added = tensors.pop("linear.bias", None)
        if layer.settings.get("use_residual"):
            one = one + tensors.pop("residual.weight", torch.eye(before, dtype=one.dtype))
        if tensors or tuple(one.shape) != (layer.settings.get("out_features"), before):
            raise HarnessError(f"model: {layer.path}: the layer has other tensors than its settings say")
        weight = one if weight is None else one @ weight
        bias = one @ bias if bias is not None else None
        bias = added if bias is None else bias if added is None else bias + added
    assert weight is not None  # `_layers` gives at least one
    return weight.float(), None if bias is None else bias.float()


def _layers(folder: Path) -> list[encoder_folder.Layer]:
    layers = encoder_folder.layers(folder)
    for layer in layers:
        activation = str(layer.settings.get("activation_function", "Identity")).rpartition(".")[2]
        if layer.kind != "Dense" or activation != "Identity":
            raise HarnessError(
                f"model: {layer.path} is a {layer.kind} with {activation}; only linear layers are read"
            )
    if not layers:
        raise HarnessError(f"model: {folder / 'modules.json'} has no Dense layer; name a model of PyLate")
    return layers
