"""The two networks of CDE (Morris and Rush 2024), from checkpoints in the format of cde-small-v2.

The first embeds a sample of the corpus. The second reads these vectors as tokens before each text. Both are
ModernBERTs of transformers; the layers around them are ours, so that no code of the hub is run. The steps are
those of the authors' code (github.com/jxmorris12/cde at 1f5975d, of the day of the weights).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import nn

from harness.plugin import Floats, HarnessError
from harness.toolkit.neural import checkpoints, hardware, model_folder
from harness.toolkit.neural.tokens import Tokeniser, Tokens, padded, select

SOFT = 8  # learned vectors between the sample and the text
TEXTS = 8  # that one pass reads: each has the whole sample before it
# Settings of config.json: (name, the default of the authors' code, the only value that is supported)
_FORM: tuple[tuple[str, Any, Any], ...] = (
    ("architecture", "biencoder", "transductive"),
    ("autoregressive_backbone", False, False),
    ("embedding_output_dim", None, None),
    ("limit_layers", None, None),
    ("limit_layers_first_stage", None, None),
    ("pool_ignore_contextual_tokens", True, True),
    ("pooling_strategy", "mean", "mean"),
    ("transductive_sequence_dropout_prob", 0.0, 0.0),
    ("transductive_tie_token_embeddings", False, False),
    ("transductive_tokens_per_document", 1, 1),
)


class Model(nn.Module):
    """Both stages, with the published names of tensors."""

    def __init__(self, config: Any, settings: Mapping[str, Any]) -> None:
        super().__init__()
        size = config.hidden_size
        self.first_stage_model = nn.ModuleDict(
            {"embedder": transformers.ModernBertModel(config), "mlp": _layers(size, nn.GELU(), size)}
        )
        self.second_stage_model = nn.ModuleDict(
            {
                "backbone": transformers.ModernBertModel(config),
                "prompt_projection": _layers(size, nn.ReLU(), size * SOFT),
                "output_projection": _layers(size, nn.ReLU(), size),
            }
        )
        self.size: int = size
        self.sample = int(settings.get("transductive_corpus_size", 1))  # texts of the corpus
        self.without_prompt = bool(settings.get("pool_ignore_instruction_tokens", False))

    def context(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[n, d]: the first stage's vector of each text: mlp(mean of its token states)."""
        stage = self.first_stage_model
        states = stage["embedder"](input_ids=ids, attention_mask=mask).last_hidden_state
        vectors: torch.Tensor = stage["mlp"](_mean(states, mask))
        return vectors

    def vectors(
        self, ids: torch.Tensor, mask: torch.Tensor, context: torch.Tensor, colon: int
    ) -> torch.Tensor:
        """[n, d]: the vector of each text: m + output(m), where m is the mean state of its tokens. They are
        read after the sample's vectors and `SOFT` learned ones; the backbone normalises the embeddings of
        tokens twice. The tokens of a prompt, up to the first colon, do not count."""
        stage = self.second_stage_model
        soft = stage["prompt_projection"](context.new_ones(1, self.size)).view(SOFT, self.size)
        before = torch.cat((context, soft)).expand(len(ids), -1, -1)  # [n, sample + SOFT, d]
        embeddings = torch.cat((before, stage["backbone"].embeddings(ids)), dim=1)
        seen = torch.cat((mask.new_ones(before.shape[:2]), mask), dim=1)
        states = stage["backbone"](inputs_embeds=embeddings, attention_mask=seen).last_hidden_state
        mean = _mean(states[:, before.shape[1] :], self._counted(ids, mask, colon))
        return stage["output_projection"](mean) + mean

    def _counted(self, ids: torch.Tensor, mask: torch.Tensor, colon: int) -> torch.Tensor:
        """[n, L]: 1 for the tokens after the first colon, or for all tokens of a text without a colon."""
        if not self.without_prompt:
            return mask
        places = torch.arange(ids.shape[1], device=ids.device)
        end = ((ids == colon) & mask.bool() & (places > 0)).int().argmax(dim=1, keepdim=True)
        return mask * ((places > end) | (end == 0))


def _layers(size: int, activation: nn.Module, out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, size), activation, nn.Linear(size, out))


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.to(states.dtype)[..., None]
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def load(folder: Path, backbone: Path, dtype: str) -> Model:
    """The model whose weights are in `folder`, with the network that `backbone` configures."""
    settings = model_folder.read(folder / "config.json") or {}
    for name, default, value in _FORM:
        if (given := settings.get(name, default)) != value:
            raise HarnessError(
                f"model: {folder}: its config.json has {name}: {given}, and only {value} is supported; name "
                "a model in the format of jxm/cde-small-v2"
            )
    config = transformers.AutoConfig.from_pretrained(backbone, local_files_only=True)
    if config.model_type != "modernbert":
        raise HarnessError(
            f"model: {folder} is built on {config.model_type}, and only ModernBERT is supported; name "
            "a model in the format of jxm/cde-small-v2 (v1 is built on nomic-bert)"
        )
    with checkpoints.quiet():
        model = Model(config, settings)
    tensors, names = checkpoints.weights(folder), model.state_dict().keys()
    checkpoints.check(folder, names - tensors.keys(), tensors.keys() - names)
    model.load_state_dict(tensors)
    model.to(checkpoints.DTYPES[dtype]).eval().requires_grad_(False)
    return model


class Stage:
    """A `Forward` of one stage: of the second if `context` is given, otherwise of the first."""

    def __init__(
        self, model: Model, tokeniser: Tokeniser, device: str, context: Floats | None = None
    ) -> None:
        self._model, self._padding, self._device = model.to(device), tokeniser.padding, device
        self._colon = tokeniser.backend.encode(": ", add_special_tokens=False).ids[0]
        dtype = next(model.parameters()).dtype
        self._context = None if context is None else torch.from_numpy(context).to(device, dtype)

    def __call__(self, batch: Tokens) -> list[Floats]:
        rows: list[Floats] = []
        for start in range(0, len(batch.bounds) - 1, TEXTS):
            some = select(batch, np.arange(start, min(start + TEXTS, len(batch.bounds) - 1)))
            arrays = padded(some, self._padding)[:2]
            ids, mask = (torch.from_numpy(array).to(self._device) for array in arrays)
            with torch.inference_mode():
                if self._context is None:
                    vectors = self._model.context(ids, mask).float()
                else:
                    vectors = self._model.vectors(ids, mask, self._context, self._colon).float()
                    vectors = nn.functional.normalize(vectors, dim=1)
            rows += list(vectors.cpu().numpy())
        return rows


def stages(model: Model, tokeniser: Tokeniser, device: str, context: Floats) -> Sequence[Stage]:
    """The second stage, once for each GPU, or once with all cores."""
    if device == "cpu":
        return [Stage(model, tokeniser, device, context)]
    return [
        Stage(copy.deepcopy(model), tokeniser, f"cuda:{number}", context) for number in range(hardware.gpus())
    ]
