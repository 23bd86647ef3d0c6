"""A masked-language model as an encoder of sparse rows: its logits, saturated, the highest of each term."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch

from harness.errors import HarnessError
from harness.toolkit.neural import checkpoints, torch_encoder
from harness.toolkit.neural.tokens import Tokens
from harness_splade.storage import Row

LOGITS = 512  # tokens whose logits are in memory at a time: each has as many as the vocabulary has terms

Head: TypeAlias = Callable[[torch.Tensor], torch.Tensor]  # states [t, d] -> logits [t, V]


class Network(NamedTuple):
    """A masked-language model in two parts, so that logits need no padding; one of each for each worker."""

    bodies: Sequence[torch_encoder.States]
    heads: Sequence[Head]
    vocabulary: int  # V


def load(folder: Path, dtype: str, device: str, padding: int, trust_remote_code: bool = False) -> Network:
    """`padding` is the id of the padding token."""
    model = checkpoints.load(folder, "AutoModelForMaskedLM", dtype, trust_remote_code=trust_remote_code)
    bodies = torch_encoder.encoders(model.base_model, padding, device)
    if device == "cuda":
        copies = [copy.deepcopy(model).to(f"cuda:{number}") for number in range(len(bodies))]
    else:
        copies = [model] * len(bodies)
    return Network(bodies, [_head(each, folder) for each in copies], int(model.config.vocab_size))


def _head(model: Any, folder: Path) -> Head:
    """What stands after the encoder, by the names that the families give it."""
    if hasattr(model, "vocab_projector"):  # DistilBERT
        return lambda states: model.vocab_projector(
            model.vocab_layer_norm(model.activation(model.vocab_transform(states)))
        )
    if hasattr(model, "decoder") and hasattr(model, "head"):  # ModernBERT
        return lambda states: model.decoder(model.head(states))
    for name in ("cls", "lm_head", "predictions"):  # BERT; RoBERTa and XLM-R; ALBERT
        if hasattr(model, name):
            head: Head = getattr(model, name)
            return head
    raise HarnessError(
        f"model: {folder} is a {type(model).__name__}, whose head is not known; name a BERT, DistilBERT, "
        "RoBERTa, XLM-R, ALBERT or ModernBERT"
    )


class Encoder:
    """One pass over a batch of texts, each of which becomes a `Row`: w_j = max_i log(1 + relu(l_ij)) over
    its tokens i (SPLADE v2: Formal et al. 2021, equations 1 and 6; the sum instead is SPLADE's own)."""

    def __init__(
        self, body: torch_encoder.States, head: Head, pooling: str, activation: str, alone: bool
    ) -> None:
        self._body, self._head, self._alone = body, head, alone
        self._sum, self._twice = pooling == "sum", activation == "log-log"

    def __call__(self, batch: Tokens) -> Sequence[Row]:
        states = self._body(batch)  # [T, d]
        if not self._alone:  # the other workers keep the other cores busy
            torch.set_num_threads(1)  # of this thread, which belongs to the loop
        with torch.inference_mode():
            return [row for part in parts(batch) for row in self._rows(states, part)]

    def _rows(self, states: torch.Tensor, bounds: Sequence[int]) -> Iterator[Row]:
        """The rows of neighbouring texts, which begin and end at `bounds`."""
        logits = self._head(states[bounds[0] : bounds[-1]])  # [t, V]
        for begin, end in pairwise(bounds):
            own = logits[begin - bounds[0] : end - bounds[0]]
            if self._sum:
                weights = self._saturated(own.float()).sum(dim=0)
            else:  # saturation keeps the order, so that one value a term is saturated rather than one a token
                weights = self._saturated(own.amax(dim=0).float())
            found = weights.nonzero()[:, 0]
            yield Row(found.to(torch.int32).cpu().numpy(), weights[found].cpu().numpy())

    def _saturated(self, logits: torch.Tensor) -> torch.Tensor:
        once = logits.relu().log1p()
        return once.log1p() if self._twice else once


def encoders(network: Network, pooling: str, activation: str) -> list[Encoder]:
    """One for each worker; one alone has all cores."""
    pairs = zip(network.bodies, network.heads, strict=True)
    return [Encoder(*pair, pooling, activation, len(network.bodies) == 1) for pair in pairs]


def parts(batch: Tokens) -> Iterator[list[int]]:
    """Neighbouring texts that together have at most LOGITS tokens, or one that has more: their bounds."""
    bounds: list[int] = batch.bounds.tolist()
    begin = 0
    for i in range(1, len(bounds)):
        if i + 1 == len(bounds) or bounds[i + 1] - bounds[begin] > LOGITS:
            yield bounds[begin : i + 1]
            begin = i
