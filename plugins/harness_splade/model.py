"""A masked-language model as an encoder of sparse rows: its logits, saturated, the highest of each term."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch

from harness.errors import HarnessError
from harness.toolkit import checkpoints, tokens
from harness.toolkit.tokens import Tokens
from harness_splade.storage import Row

LOGITS = 512  # tokens whose logits are in memory at a time: each has as many as the vocabulary has terms

Head: TypeAlias = Callable[[torch.Tensor], torch.Tensor]  # states [t, d] -> logits [t, V]


class Network(NamedTuple):
    """A masked-language model in two parts, so that logits need not be padded."""

    body: Any  # ids and mask [n, L] -> states [n, L, d]
    head: Head
    vocabulary: int  # V
    device: str


def load(folder: Path, dtype: str, device: str, trust_remote_code: bool = False) -> Network:
    model = checkpoints.load(folder, "AutoModelForMaskedLM", dtype, trust_remote_code=trust_remote_code)
    model = model.to(device)
    return Network(model.base_model, _head(model, folder), int(model.config.vocab_size), device)


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

    def __init__(self, network: Network, pooling: str, activation: str, padding: int) -> None:
        self._network, self._padding = network, padding
        self._sum, self._twice = pooling == "sum", activation == "log-log"

    @torch.inference_mode()
    def __call__(self, batch: Tokens) -> Sequence[Row]:
        states = self._states(batch)  # [T, d]
        return [row for part in parts(batch) for row in self._rows(states, part)]

    def _states(self, batch: Tokens) -> torch.Tensor:
        ids, mask, _ = (
            torch.from_numpy(array).to(self._network.device) for array in tokens.padded(batch, self._padding)
        )
        states = self._network.body(input_ids=ids, attention_mask=mask)[0]
        return states[mask.bool()]

    def _rows(self, states: torch.Tensor, bounds: Sequence[int]) -> Iterator[Row]:
        """The rows of neighbouring texts, which begin and end at `bounds`."""
        logits = self._network.head(states[bounds[0] : bounds[-1]])  # [t, V]
        for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
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


def parts(batch: Tokens) -> Iterator[list[int]]:
    """Neighbouring texts that together have at most LOGITS tokens, or one that has more: their bounds."""
    bounds: list[int] = batch.bounds.tolist()
    begin = 0
    for i in range(1, len(bounds)):
        if i + 1 == len(bounds) or bounds[i + 1] - bounds[begin] > LOGITS:
            yield bounds[begin : i + 1]
            begin = i
