"""The networks that are trained: a tower that turns a text into one vector, and a scorer of pairs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from harness.plugin import HarnessError
from harness.toolkit.neural import checkpoints, encoder_folder, model_folder, title_pairs, tokens
from harness.toolkit.neural.tokens import Tokeniser, Tokens
from harness_training import dropout as fast
from harness_training import folders, heads, packed
from harness_training.params import DualEncoderParams, RocketQAv2Params
from harness_training.processes import ALONE, Group

TOKENISER = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "vocab.json",
    "merges.txt", "sentencepiece.bpe.model", "spiece.model", "added_tokens.json",
)  # fmt: skip
HEADS = (r"(.*\.)?position_ids", r"(.*\.)?pooler\..*", r"classifier\..*")
SURPLUS = (*checkpoints.SURPLUS, r"(.*\.)?classifier\..*")

HEADED: dict[str, Callable[[Any, Tensor], Tensor]] = {  # class name -> logits from states [n, 1, d]
    "BertForSequenceClassification": lambda model, states: model.classifier(
        model.dropout(model.bert.pooler(states))
    ),
    "RobertaForSequenceClassification": lambda model, states: model.classifier(states),
    "XLMRobertaForSequenceClassification": lambda model, states: model.classifier(states),
}


class Titles(NamedTuple):
    """The titles of passages that are read as pairs of title and text."""

    how: str  # pair or untyped-pair
    texts: list[str]
    prompt: str


class Tower(nn.Module):  # type: ignore[misc]
    """An encoder with pooling. It turns texts into vectors, float32[n, d]."""

    keeps_prefix = False  # whether `save` keeps the prefix of the network that the tower starts from

    def __init__(
        self, at: Path, pooling: str, unit: bool, dropout: float, dtype: str, device: str = "cpu"
    ) -> None:
        super().__init__()
        self.at, self.inner = at, folders.network(at, self.keeps_prefix)
        self.pooling = (encoder_folder.read(at).pooling or "cls") if pooling == "auto" else pooling
        self.unit, self.dtype, self.device = unit, dtype, device
        self.tokeniser: Tokeniser = tokens.load(self.inner)
        model, self.keys = _trainable(checkpoints.load(self.inner), dropout)
        self.network = model.to(device)
        self.packed = packed.network(model) if device == "cpu" else None  # None: texts are padded
        self.tokens = 0  # tokens that the network has been trained on
        self.places = model_folder.places(self.inner)
        self.width = int(model.config.hidden_size)

    def forward(self, texts: Sequence[str], length: int, titles: Titles | None = None) -> Tensor:
        if titles is None:
            encoded, _ = tokens.tokenise(self.tokeniser, texts, length)
        else:
            encoded, _ = title_pairs.tokenise(
                self.tokeniser, titles.how, titles.texts, texts, length, titles.prompt
            )
        self.tokens += len(encoded.ids) if torch.is_grad_enabled() else 0
        vectors = self._padded(encoded) if self.packed is None else self._packed(self.packed, encoded)
        return functional.normalize(vectors, dim=1) if self.unit else vectors

    def _packed(self, network: packed.Network, encoded: Tokens) -> Tensor:
        first = self.pooling == "cls"
        states = packed.states(network, encoded, self.keys.of(encoded), self.dtype, first)
        return states if first else packed.pooled(states, encoded.bounds, self.pooling)

    def _padded(self, encoded: Tokens) -> Tensor:
        arrays = tokens.padded(encoded, self.tokeniser.padding)
        ids, mask, types = (torch.from_numpy(array).to(self.device) for array in arrays)
        type_ids = {"token_type_ids": types} if getattr(self.network.config, "type_vocab_size", 0) > 1 else {}
        with autocast(self.dtype, self.device):
            states = self.network(
                input_ids=ids, attention_mask=mask, **type_ids
            ).last_hidden_state  # [n, L, d]
        return pooled(states.float(), mask, self.pooling)

    def save(self, folder: Path, length: int, query_prompt: str, passage_prompt: str) -> None:
        """Write a folder that transformers and sentence-transformers can load."""
        _save(self.network, folder)
        describe(self, folder, length, query_prompt, passage_prompt)


class Scorer(nn.Module):  # type: ignore[misc]
    """A cross-encoder. It turns pairs of texts into logits, float32[n, classes]."""

    def __init__(
        self, at: Path, classes: int, dropout: float, dtype: str, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__()
        self.at, self.inner = at, folders.network(at)
        self.dtype, self.device = dtype, device
        self.tokeniser: Tokeniser = tokens.load(self.inner)
        torch.manual_seed(seed)  # the weights of a new head are drawn at random
        trained = heads.classes_of(self.inner)
        convertible = trained in (1, 2) and classes in (1, 2)
        model = checkpoints.load(
            self.inner, "AutoModelForSequenceClassification", spare=HEADS, surplus=SURPLUS,
            num_labels=trained if convertible else classes,
        )  # fmt: skip
        heads.convert(model, classes)
        model, self.keys = _trainable(model, dropout)
        self.network = model.to(device)
        self.places = model_folder.places(self.inner)
        known = device == "cpu" and type(model).__name__ in HEADED
        self.packed = packed.network(model.base_model) if known else None  # None: texts are padded
        self.tokens = 0  # tokens that the network has been trained on

    def forward(
        self, queries: Sequence[str], passages: Sequence[str], length: int, query_length: int
    ) -> Tensor:
        encoded, _ = tokens.tokenise(self.tokeniser, queries, length, passages, first_length=query_length)
        self.tokens += len(encoded.ids) if torch.is_grad_enabled() else 0
        if self.packed is not None:
            states = packed.states(self.packed, encoded, self.keys.of(encoded), self.dtype, first=True)
            with autocast(self.dtype, self.device):
                logits: Tensor = HEADED[type(self.network).__name__](self.network, states[:, None])
            return logits.float()
        arrays = tokens.padded(encoded, self.tokeniser.padding)
        ids, mask, types = (torch.from_numpy(array).to(self.device) for array in arrays)
        type_ids = {"token_type_ids": types} if getattr(self.network.config, "type_vocab_size", 0) > 1 else {}
        with autocast(self.dtype, self.device):
            logits = self.network(input_ids=ids, attention_mask=mask, **type_ids).logits
        return logits.float()

    def save(self, folder: Path, length: int) -> None:
        _save(self.network, folder)
        _copy_tokeniser(self.inner, folder)
        folders.limit(folder, length)


def towers(
    params: DualEncoderParams | RocketQAv2Params, names: Sequence[str], dropout: float
) -> dict[str, Tower]:
    """A tower for each name. The tower `query` starts from `init_query`, if that is given."""
    made = {}
    for name in names:
        at = params.init_query if name == "query" and params.init_query is not None else params.init
        assert isinstance(at, Path)  # all settings are resolved before a model is loaded
        unit = params.similarity == "cosine"
        made[name] = Tower(at, params.pooling, unit, dropout, params.dtype, params.device)
    return made


def passages(
    texts: Sequence[str], titles: Sequence[str] | None, how: str, prompt: str
) -> tuple[list[str], Titles | None]:
    """What a tower reads of passages: their texts with the prompt, or their texts and their titles."""
    if titles is None or how == "none":
        return [prompt + text for text in texts], None
    if how == "joined":
        return [prompt + text for text in joined(texts, titles)], None
    return list(texts), Titles(how, list(titles), prompt)


def joined(texts: Sequence[str], titles: Sequence[str] | None) -> list[str]:
    """Each text after its title, as the stage `titles` composes them."""
    if titles is None:
        return list(texts)
    return [" ".join(part for part in pair if part) for pair in zip(titles, texts, strict=True)]


def pooled(states: Tensor, mask: Tensor, how: str) -> Tensor:
    """float[n, d]: the vectors of padded texts, from their states, float[n, L, d], and mask, int64[n, L]."""
    if how == "cls":
        return states[:, 0]
    if how == "mean":
        weights = mask[:, :, None].to(states.dtype)
        return (states * weights).sum(dim=1) / weights.sum(dim=1)
    if how == "max":
        return states.masked_fill(mask[:, :, None] == 0, float("-inf")).amax(dim=1)
    if how == "last":
        return states[torch.arange(len(states), device=states.device), mask.sum(dim=1) - 1]
    raise HarnessError(f"pooling: '{how}' is not one of cls, mean, max, last")


def by_length(texts: Sequence[str], size: int, group: Group = ALONE) -> list[list[int]]:
    """The places of the texts of each micro-batch of this process. Texts of similar length are in the same
    micro-batch, so that there is little padding. Every process gets as many short texts as long ones."""
    order = np.argsort([len(text) for text in texts], kind="stable")[group.number :: group.size]
    return [order[start : start + size].tolist() for start in range(0, len(order), size)]


def autocast(dtype: str, device: str) -> Any:
    """A context with matrix products in bf16 if `dtype` is bf16. The weights stay in fp32."""
    return torch.autocast(device, torch.bfloat16, enabled=dtype == "bf16")


def _trainable(model: Any, dropout: float) -> tuple[Any, fast.Keys]:
    """The model with gradients on and `dropout` everywhere, and the keys that the dropouts share."""
    model.requires_grad_(True)
    if getattr(model, "pooler", None) is not None:  # no loss reads it
        model.pooler.requires_grad_(False)
    return model, fast.install(model, dropout)


def describe(tower: Tower, folder: Path, length: int, query_prompt: str, passage_prompt: str) -> None:
    """Write all files of a model's folder except its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    _configure(tower.network, folder)
    _copy_tokeniser(tower.inner, folder)
    folders.describe(folder, tower.pooling, tower.unit, tower.width, length, query_prompt, passage_prompt)


def _configure(network: Any, folder: Path) -> None:
    network.config.architectures = [type(network).__name__]
    network.config.save_pretrained(folder)


def _copy_tokeniser(inner: Path, folder: Path) -> None:
    for name in TOKENISER:
        if (inner / name).is_file():
            shutil.copyfile(inner / name, folder / name)


def _save(network: Any, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _configure(network, folder)
    tied = set(getattr(network, "_tied_weights_keys", None) or ())
    tensors = {
        name: tensor.detach().cpu().contiguous().clone()
        for name, tensor in network.state_dict().items()
        if name not in tied and not name.endswith("position_ids")
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
