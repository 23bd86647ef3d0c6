"""Token states by torch, from checkpoints as transformers, DPR and ANCE save them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from harness.toolkit import checkpoints
from harness.toolkit.tokens import Tokens, padded
from harness_dense import DenseParams, folder, pooling

if TYPE_CHECKING:
    from harness.types import Floats

ANCE_HEAD = ("embeddingHead.weight", "embeddingHead.bias", "norm.weight", "norm.bias")


class Padded:
    """Token states of any encoder that transformers knows, on padded batches."""

    def __init__(self, model: Any, padding: int, device: str) -> None:
        self._model, self._padding, self._device = model, padding, device

    def __call__(self, tokens: Tokens) -> Floats:
        """float32[T, d]"""
        ids, mask, types = (
            torch.from_numpy(array).to(self._device) for array in padded(tokens, self._padding)
        )
        given = {"token_type_ids": types} if tokens.types is not None else {}
        with torch.inference_mode():
            states = self._model(input_ids=ids, attention_mask=mask, **given).last_hidden_state
            result: Floats = states[mask.bool()].float().cpu().numpy()
        return result


def networks(params: DenseParams, at: Path, padding: int) -> tuple[list[Padded], list[pooling.Step]]:
    """A network for each GPU, or one that has all cores to itself; and the layers after pooling that an
    original checkpoint brings."""
    model, head = load(params, at)
    if params.device == "cpu":
        return [Padded(model, padding, "cpu")], head
    devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return [Padded(copy.deepcopy(model).to(device), padding, device) for device in devices], head


def load(params: DenseParams, at: Path) -> tuple[Any, list[pooling.Step]]:
    """The network in a folder and, of an original checkpoint, what it puts after pooling."""
    form = folder.original(at)
    if form == "dpr":
        return _dpr(params, at)
    if form == "ance":
        return _ance(params, at)
    found = checkpoints.load(at, dtype=params.dtype, trust_remote_code=params.trust_remote_code)
    return found, []


def _dpr(params: DenseParams, at: Path) -> tuple[Any, list[pooling.Step]]:
    """Karpukhin et al. 2020: the state of the first token, projected if the checkpoint has a projection."""
    side = "question" if any(name.startswith("question_") for name in folder.names_of_tensors(at)) else "ctx"
    kind = {"question": "DPRQuestionEncoder", "ctx": "DPRContextEncoder"}[side]
    encoder = getattr(checkpoints.load(at, kind, params.dtype), f"{side}_encoder")
    if not encoder.projection_dim:
        return encoder.bert_model, []
    projection = encoder.encode_proj
    return encoder.bert_model, [pooling.dense(_array(projection.weight), _array(projection.bias))]


def _ance(params: DenseParams, at: Path) -> tuple[Any, list[pooling.Step]]:
    """Xiong et al. 2021: norm(embeddingHead(the state of the first token))."""
    model = checkpoints.load(at, dtype=params.dtype, surplus=(*checkpoints.SURPLUS, *ANCE_HEAD))
    head = checkpoints.take(checkpoints.weights(at), "", at, ANCE_HEAD)
    weight, bias, scale, shift = (_array(head[name]) for name in ANCE_HEAD)
    return model, [pooling.dense(weight, bias), pooling.layer_norm(scale, shift, 1e-5)]


def _array(tensor: Any) -> Floats:
    result: Floats = tensor.detach().float().numpy()
    return result
