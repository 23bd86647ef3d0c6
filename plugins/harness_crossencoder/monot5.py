"""monoT5: a sequence-to-sequence model that answers true or false (Nogueira et al. 2020)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.plugin import HarnessError
from harness.toolkit.neural import checkpoints
from harness.toolkit.neural.encoding.parts import Forward
from harness.toolkit.neural.tokens import Template, Tokeniser, Tokens, padded
from harness_crossencoder import CrossEncoderParams
from harness_crossencoder.wide import widen

ANSWERS = ("▁false", "▁true")  # T5's words for an irrelevant and for a relevant text


def prompted(tokeniser: Tokeniser, folder: Path) -> Tokeniser:
    """The tokeniser that turns a pair into `Query: q Document: d Relevant:` and the end token (Nogueira et
    al. 2020, section 3). The prompt is never cut. T5's tokenizer splits at white space first, so the tokens
    of the parts are those of the whole."""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokeniser.backend.encode(text, add_special_tokens=False).ids)

    end = tokeniser.single.after
    if not end:
        raise HarnessError(f"model: the tokenizer in {folder} ends no text with </s>; is it T5's?")
    template = Template(ids("Query:"), ids("Document:"), (*ids("Relevant:"), *end))
    return tokeniser._replace(pair=template)


def forwards(params: CrossEncoderParams, folder: Path, tokeniser: Tokeniser) -> Sequence[Forward]:
    """One `Forward` for each GPU; without a GPU, one that uses all cores."""
    model = checkpoints.load(
        folder,
        "AutoModelForSeq2SeqLM",
        params.dtype,
        trust_remote_code=params.trust_remote_code,
        spare=(),
        surplus=(),
    )
    answers = [tokeniser.backend.token_to_id(word) for word in ANSWERS]
    if None in answers:
        raise HarnessError(f"model: the tokenizer in {folder} has no {' or '.join(ANSWERS)}; is it a monoT5?")
    model.lm_head = _answering(model.lm_head.weight, answers)
    if params.device == "cuda":
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        return [MonoT5(copy.deepcopy(model).to(at), tokeniser.padding, at) for at in devices]
    return [MonoT5(model, tokeniser.padding, params.device)]


class MonoT5:
    """A `Forward` that gives log p(true) / p(false) of the answer's first word, by a softmax over the two."""

    def __init__(self, model: Any, padding: int, device: str) -> None:
        self._model, self._padding, self._device = model, padding, device

    def __call__(self, batch: Tokens) -> list[float]:
        ids, mask, _ = (torch.from_numpy(array).to(self._device) for array in padded(batch, self._padding))
        start = torch.full((len(ids), 1), self._model.config.decoder_start_token_id, device=self._device)
        with torch.inference_mode():
            logits = self._model(
                input_ids=ids, attention_mask=mask, decoder_input_ids=start, use_cache=False
            ).logits[:, 0]  # [n, 2]
        scores: list[float] = (logits[:, 1] - logits[:, 0]).tolist()
        return scores


def _answering(weight: torch.Tensor, answers: Sequence[int]) -> torch.nn.Linear:
    """The output layer, cut down to the rows of the two answer tokens, `true` and `false`."""
    head = torch.nn.Linear(weight.shape[1], len(answers), bias=False)
    head.weight = torch.nn.Parameter(weight[answers].clone(), requires_grad=False)
    return widen(head)
