"""Re-rankers that are language models: a pair is scored by the probability of one answer, usually yes,
against another."""

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

ANSWERS = ("no", "yes")
# the format in Qwen3-Reranker's model card (Zhang et al. 2025, section 2)
SYSTEM = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".'
)
BEFORE = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n"
AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def written(instruction: str, query: str, text: str) -> str:
    """A pair of query and passage as one text."""
    return f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {text}"


def prompted(tokeniser: Tokeniser) -> Tokeniser:
    """The tokeniser with the prompt around each pair. It is never cut; long passages are."""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokeniser.backend.encode(text, add_special_tokens=False).ids)

    return tokeniser._replace(single=Template(ids(BEFORE), (), ids(AFTER)))


def forwards(
    params: CrossEncoderParams, folder: Path, tokeniser: Tokeniser, words: Sequence[str] = ANSWERS
) -> Sequence[Forward]:
    """One `Forward` for each GPU; without a GPU, one that uses all cores. `words` are the answers of a model
    for a passage that is not relevant, and for one that is."""
    model = checkpoints.load(
        folder,
        "AutoModelForCausalLM",
        params.dtype,
        trust_remote_code=params.trust_remote_code,
        spare=(r"lm_head\.weight",),  # if the file lacks it, it is the same as the embeddings
        surplus=(),
    )
    answers = [tokeniser.backend.token_to_id(word) for word in words]
    if None in answers:
        raise HarnessError(f"model: the tokenizer in {folder} has no '{words[0]}' or '{words[1]}'")
    weight = model.get_output_embeddings().weight
    head = torch.nn.Linear(weight.shape[1], len(answers), bias=False)
    head.weight = torch.nn.Parameter(weight[answers].clone(), requires_grad=False)
    body, head = model.base_model, widen(head)
    if params.device == "cuda":
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        pairs = [(copy.deepcopy(body).to(at), copy.deepcopy(head).to(at), at) for at in devices]
    else:
        pairs = [(body, head, params.device)]
    return [Answering(inner, last, tokeniser.padding, at) for inner, last, at in pairs]


class Answering:
    """A `Forward` that gives log p(yes) / p(no) after the last token of a pair, by a softmax of the two."""

    def __init__(self, body: Any, head: Any, padding: int, device: str) -> None:
        self._body, self._head, self._padding, self._device = body, head, padding, device

    def __call__(self, batch: Tokens) -> list[float]:
        ids, mask, _ = (torch.from_numpy(array).to(self._device) for array in padded(batch, self._padding))
        with torch.inference_mode():
            states = self._body(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
            last = states[torch.arange(len(ids), device=ids.device), mask.sum(dim=1) - 1]  # [n, d]
            logits = self._head(last)
        scores: list[float] = (logits[:, 1] - logits[:, 0]).tolist()
        return scores
