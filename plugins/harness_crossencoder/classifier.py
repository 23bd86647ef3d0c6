"""Cross-encoders by torch: a pair goes through the encoder, and the first token's state through the head."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.plugin import HarnessError
from harness.toolkit.neural import checkpoints, torch_encoder, torch_packed
from harness.toolkit.neural.encoding.parts import Forward
from harness.toolkit.neural.tokens import Tokens, padded
from harness_crossencoder import CrossEncoderParams
from harness_crossencoder.wide import widen

# A checkpoint may lack only computed buffers, so it must have its head; it may also have a pre-training head.
SPARE = (r"(.*\.)?position_ids",)
SURPLUS = (r"(.*\.)?position_ids", r"(.*\.)?pooler\.dense\.(weight|bias)", r"(cls|lm_head)\..*")


def forwards(params: CrossEncoderParams, folder: Path, padding: int) -> Sequence[Forward]:
    """One `Forward` for each worker. There is a worker for each GPU. On a CPU there is one for each core with
    BERT's family, and otherwise one that uses all cores."""
    model = checkpoints.load(
        folder,
        "AutoModelForSequenceClassification",
        params.dtype,
        trust_remote_code=params.trust_remote_code,
        spare=SPARE,
        surplus=SURPLUS,
    )
    classes = int(model.config.num_labels)
    if classes not in (1, 2):
        raise HarnessError(
            f"model: {folder} has {classes} classes; a cross-encoder has one logit, or two classes of which "
            "the second is the relevant one"
        )
    for layer in _last(model, classes):
        widen(layer)
    if params.device == "cuda":
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        return [Whole(copy.deepcopy(model).to(at), padding, at) for at in devices]
    if torch_packed.layout(model.base_model) is None or not _known_head(model):
        return [Whole(model, padding, params.device)]
    return [Packed(model, states) for states in torch_encoder.encoders(model.base_model, padding)]


class Whole:
    """A `Forward` that runs the model's own code on padded batches."""

    def __init__(self, model: Any, padding: int, device: str) -> None:
        self._model, self._padding, self._device = model, padding, device
        self._typed = getattr(model.config, "type_vocab_size", 0) > 1  # DistilBERT has no token types

    def __call__(self, batch: Tokens) -> list[float]:
        arrays = padded(batch, self._padding)
        ids, mask, types = (torch.from_numpy(array).to(self._device) for array in arrays)
        type_ids = {"token_type_ids": types} if self._typed else {}
        with torch.inference_mode():
            return relevance(self._model(input_ids=ids, attention_mask=mask, **type_ids).logits)


class Packed:
    """A `Forward` without padding, on one core: `torch_packed` runs the encoder, then its own head."""

    def __init__(self, model: Any, states: torch_encoder.States) -> None:
        self._model, self._states = model, states

    def __call__(self, batch: Tokens) -> list[float]:
        torch.set_num_threads(1)  # for this thread, which belongs to the loop; others use the other cores
        first = self._states(batch)[torch.from_numpy(batch.bounds[:-1])]  # [n, d]
        with torch.inference_mode():
            return relevance(_head(self._model, first))


def relevance(logits: torch.Tensor) -> list[float]:
    """The logit of relevance from [n, 1], or the difference of logits from [n, 2] (irrelevant, relevant). The
    difference is log p / (1 - p) of their softmax: it orders pairs as the probability of the second class
    does, and stays precise near 0 and 1."""
    scores: list[float] = (logits[:, -1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]).tolist()
    return scores


def _known_head(model: Any) -> bool:
    """Whether `_head` supports the head of this model."""
    names = {"DistilBertForSequenceClassification", "RobertaForSequenceClassification"}
    names |= {"XLMRobertaForSequenceClassification", "CamembertForSequenceClassification"}
    return type(model).__name__ in names | {"BertForSequenceClassification"}


def _head(model: Any, first: torch.Tensor) -> torch.Tensor:
    """[n, classes]: the logits from the states of the first tokens [n, d], computed as each family does."""
    scores: torch.Tensor
    if hasattr(model, "pre_classifier"):  # DistilBERT
        scores = model.classifier(model.pre_classifier(first).relu())
    elif hasattr(model.classifier, "out_proj"):  # RoBERTa: its head takes the first token itself
        scores = model.classifier(first[:, None])
    else:  # BERT (Devlin et al. 2019, section 4.1, with the pooler of its code)
        scores = model.classifier(model.base_model.pooler(first[:, None]))
    return scores


def _last(model: Any, classes: int) -> list[torch.nn.Linear]:
    """The layer that computes the logits, in a list; empty if the model's code does it otherwise."""
    linear = (module for module in model.modules() if isinstance(module, torch.nn.Linear))
    return [layer for layer in linear if layer.out_features == classes][-1:]
