"""Computes token states with torch, from checkpoints in the formats of transformers, DPR and ANCE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.toolkit.neural import checkpoints, encoder_folder, torch_encoder
from harness_dense import DenseParams, pooling
from harness_dense.pooling import Network

if TYPE_CHECKING:
    from harness.plugin import Floats

ANCE_HEAD = ("embeddingHead.weight", "embeddingHead.bias", "norm.weight", "norm.bias")


def networks(params: DenseParams, at: Path, padding: int) -> tuple[list[Network], list[pooling.Step]]:
    """One network for each worker, and the layers after pooling that a checkpoint of DPR or ANCE has."""
    if params.backend == "openvino":
        from harness_dense import openvino_encoder

        model, head = _load(params, at, "fp32")  # the conversion sets the compute type
        return list(openvino_encoder.encoders(model, padding, params.dtype)), head
    model, head = _load(params, at, params.dtype)
    return [_states(states) for states in torch_encoder.encoders(model, padding, params.device)], head


def _states(states: torch_encoder.States) -> Network:
    return lambda tokens: _array(states(tokens))


def _load(params: DenseParams, at: Path, dtype: str) -> tuple[Any, list[pooling.Step]]:
    """The network in the folder `at`, and its layers after pooling if it is a checkpoint of DPR or ANCE."""
    form = encoder_folder.original(at)
    if form == "dpr":
        return _dpr(at, dtype)
    if form == "ance":
        return _ance(at, dtype)
    trusted, code = params.trust_remote_code, params.code_revision
    return checkpoints.load(at, dtype=dtype, trust_remote_code=trusted, code_revision=code), []


def _dpr(at: Path, dtype: str) -> tuple[Any, list[pooling.Step]]:
    """The network and layers of a DPR checkpoint (Karpukhin et al. 2020). The vector of a text is the state
    of the first token, projected if the checkpoint has a projection."""
    side = (
        "question"
        if any(name.startswith("question_") for name in encoder_folder.names_of_tensors(at))
        else "ctx"
    )
    kind = {"question": "DPRQuestionEncoder", "ctx": "DPRContextEncoder"}[side]
    encoder = getattr(checkpoints.load(at, kind, dtype), f"{side}_encoder")
    if not encoder.projection_dim:
        return encoder.bert_model, []
    projection = encoder.encode_proj
    return encoder.bert_model, [pooling.dense(_array(projection.weight), _array(projection.bias))]


def _ance(at: Path, dtype: str) -> tuple[Any, list[pooling.Step]]:
    """The network and layers of an ANCE checkpoint (Xiong et al. 2021). The vector of a text is
    norm(embeddingHead(s)), where s is the state of the first token."""
    model = checkpoints.load(at, dtype=dtype, surplus=(*checkpoints.SURPLUS, *ANCE_HEAD))
    head = checkpoints.take(checkpoints.weights(at), "", at, ANCE_HEAD)
    weight, bias, scale, shift = (_array(head[name]) for name in ANCE_HEAD)
    return model, [pooling.dense(weight, bias), pooling.layer_norm(scale, shift, 1e-5)]


def _array(tensor: Any) -> Floats:
    result: Floats = tensor.detach().float().cpu().numpy()
    return result
