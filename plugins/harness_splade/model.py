"""Encodes texts as sparse rows: by SPLADE's logits of all terms, or by a weight of each token, as uniCOIL
and BGE-M3 have it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors import safe_open

from harness.plugin import HarnessError
from harness.toolkit.neural import bge_m3, checkpoints, model_folder, torch_encoder
from harness.toolkit.neural.tokens import Tokeniser, Tokens
from harness_splade.storage import Row

TOKEN_HEAD, COIL = "tok_proj.weight", "coil_encoder."  # uniCOIL's head, and a possible prefix of its tensors
LOGITS = 512  # tokens whose logits are in memory at a time; a token has one for each term of the vocabulary

Head: TypeAlias = Callable[[torch.Tensor], torch.Tensor]  # states [t, d] -> logits [t, V]


class Network(NamedTuple):
    """A network in two parts, encoder and head, one of each per worker. So the head needs no padding."""

    bodies: Sequence[torch_encoder.States]
    heads: Sequence[Head]
    vocabulary: int  # V
    by_token: bool = False  # the head of uniCOIL and BGE-M3: one weight for each token
    skipped: tuple[int, ...] | None = None  # of BGE-M3: tokens without a weight


def load(
    folder: Path, dtype: str, device: str, tokeniser: Tokeniser, trust_remote_code: bool = False
) -> Network:
    """The network in a folder: SPLADE, uniCOIL or BGE-M3."""
    padding = tokeniser.padding
    if bge_m3.has(folder, "sparse_linear"):
        return _m3(folder, dtype, device, tokeniser)
    if TOKEN_HEAD in tensor_names(folder) or COIL + TOKEN_HEAD in tensor_names(folder):
        return _unicoil(folder, dtype, device, padding)
    model = checkpoints.load(folder, "AutoModelForMaskedLM", dtype, trust_remote_code=trust_remote_code)
    bodies = torch_encoder.encoders(model.base_model, padding, device)
    if device == "cuda":
        copies = [copy.deepcopy(model).to(f"cuda:{number}") for number in range(len(bodies))]
    else:
        copies = [model] * len(bodies)
    return Network(bodies, [_head(each, folder) for each in copies], int(model.config.vocab_size))


def tensor_names(folder: Path) -> set[str]:
    names: set[str] = set()
    for path in checkpoints.files(folder):
        with safe_open(path, "pt") as file:
            names |= set(file.keys())
    return names


def _unicoil(folder: Path, dtype: str, device: str, padding: int) -> Network:
    """The network of a uniCOIL checkpoint, with the tensors' names of uniCOIL's authors: a BERT with one
    weight for each token."""
    tensors = checkpoints.weights(folder)
    prefix = COIL if COIL + TOKEN_HEAD in tensors else ""
    config = transformers.BertConfig.from_pretrained(folder, local_files_only=True)
    with checkpoints.quiet():
        model = transformers.BertModel(config, add_pooling_layer=False)
    model.load_state_dict(checkpoints.take(tensors, f"{prefix}bert.", folder, model.state_dict()))
    head = torch.nn.Linear(config.hidden_size, 1)
    head.load_state_dict(checkpoints.take(tensors, f"{prefix}tok_proj.", folder, ("weight", "bias")))
    model = model.to(checkpoints.DTYPES[dtype]).eval().requires_grad_(False)
    return _by_token(model, head.requires_grad_(False), padding, dtype, device)


def _m3(folder: Path, dtype: str, device: str, tokeniser: Tokeniser) -> Network:
    """An XLM-R with a layer of one output beside it. Special and unknown tokens have no weight."""
    model = checkpoints.load(folder, dtype=dtype)
    head = bge_m3.read(folder, "sparse_linear", model.config.hidden_size)
    if head.out_features != 1:
        raise HarnessError(
            f"model: sparse_linear in {folder} has {head.out_features} outputs, not 1; fetch the model again"
        )
    token = (model_folder.read(folder / "tokenizer_config.json") or {}).get("unk_token", "<unk>")
    unknown = tokeniser.backend.token_to_id(token.get("content") if isinstance(token, dict) else token)
    template = tokeniser.single
    skipped = {*template.before, *template.after, tokeniser.padding, *([] if unknown is None else [unknown])}
    network = _by_token(model, head, tokeniser.padding, dtype, device)
    return network._replace(skipped=tuple(sorted(skipped)))


def _by_token(model: Any, head: torch.nn.Linear, padding: int, dtype: str, device: str) -> Network:
    bodies = torch_encoder.encoders(model, padding, device)
    devices = [f"cuda:{number}" if device == "cuda" else "cpu" for number in range(len(bodies))]
    heads = [copy.deepcopy(head).to(at, checkpoints.DTYPES[dtype]) for at in devices]
    return Network(bodies, heads, int(model.config.vocab_size), by_token=True)


def _head(model: Any, folder: Path) -> Head:
    """The head that follows the encoder of `model`, by the names that families of models give it."""
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
    """A SPLADE encoder from batches of texts to rows. The weight of term j in a text is
    w_j = max_i log(1 + relu(l_ij)) over the text's tokens i, as in SPLADE v2 (Formal et al. 2021, equations 1
    and 6). The first SPLADE has the sum over i instead of the maximum."""

    def __init__(
        self, body: torch_encoder.States, head: Head, pooling: str, activation: str, alone: bool
    ) -> None:
        self._body, self._head, self._alone = body, head, alone
        self._sum, self._twice = pooling == "sum", activation == "log-log"

    def __call__(self, batch: Tokens) -> Sequence[Row]:
        states = self._body(batch)  # [T, d]
        if not self._alone:  # the other workers keep the other cores busy
            torch.set_num_threads(1)  # holds for this thread alone, which belongs to the encoding loop
        with torch.inference_mode():
            return [row for part in parts(batch) for row in self._rows(states, part)]

    def _rows(self, states: torch.Tensor, bounds: Sequence[int]) -> Iterator[Row]:
        """The rows of neighbouring texts, whose tokens begin and end at `bounds`."""
        logits = self._head(states[bounds[0] : bounds[-1]])  # [t, V]
        for begin, end in pairwise(bounds):
            logits_of_text = logits[begin - bounds[0] : end - bounds[0]]
            if self._sum:
                weights = self._saturated(logits_of_text.float()).sum(dim=0)
            else:  # saturation keeps the order, so saturating the maximum of each term is enough
                weights = self._saturated(logits_of_text.amax(dim=0).float())
            terms = weights.nonzero()[:, 0]
            yield Row(terms.to(torch.int32).cpu().numpy(), weights[terms].cpu().numpy())

    def _saturated(self, logits: torch.Tensor) -> torch.Tensor:
        once = logits.relu().log1p()
        return once.log1p() if self._twice else once


class TokenWeights:
    """A uniCOIL encoder from batches of texts to rows (Lin and Ma 2021). A token has the weight relu(w h +
    b). A term of a passage has the largest weight of its tokens, and a term of a query has their sum. As in
    the authors' code, all tokens count except the first, [CLS]. BGE-M3 takes the largest weight in queries
    too, and leaves out the tokens `skipped` (Chen et al. 2024, with its authors' code)."""

    def __init__(
        self, body: torch_encoder.States, head: Head, queries: bool, skipped: tuple[int, ...] | None
    ) -> None:
        self._body, self._head, self._skipped = body, head, skipped
        self._join = np.add if queries and skipped is None else np.maximum

    def __call__(self, batch: Tokens) -> Sequence[Row]:
        states = self._body(batch)  # [T, d]
        with torch.inference_mode():
            weights = self._head(states)[:, 0].relu().float().cpu().numpy()
        if self._skipped is not None:
            weights[np.isin(batch.ids, self._skipped)] = 0
        return [
            self._row(batch.ids[a + 1 : z], weights[a + 1 : z]) for a, z in pairwise(batch.bounds.tolist())
        ]

    def _row(self, ids: NDArray[np.int32], weights: NDArray[np.float32]) -> Row:
        terms, places = np.unique(ids, return_inverse=True)
        joined = np.zeros(len(terms), np.float32)
        self._join.at(joined, places, weights)
        return Row(terms[joined > 0].astype(np.int32), joined[joined > 0])


def encoders(
    network: Network, pooling: str, activation: str, queries: bool = False
) -> Sequence[Encoder | TokenWeights]:
    """One encoder for each worker. A single encoder uses all cores."""
    pairs = zip(network.bodies, network.heads, strict=True)
    if network.by_token:
        return [TokenWeights(*pair, queries, network.skipped) for pair in pairs]
    return [Encoder(*pair, pooling, activation, len(network.bodies) == 1) for pair in pairs]


def parts(batch: Tokens) -> Iterator[list[int]]:
    """The bounds of groups of neighbouring texts. A group has at most LOGITS tokens, or one text."""
    bounds: list[int] = batch.bounds.tolist()
    begin = 0
    for i in range(1, len(bounds)):
        if i + 1 == len(bounds) or bounds[i + 1] - bounds[begin] > LOGITS:
            yield bounds[begin : i + 1]
            begin = i
