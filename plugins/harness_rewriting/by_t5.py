"""Generates texts with a T5 on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch

from harness.toolkit.neural import checkpoints, models, tokens
from harness_rewriting import Written

PROMPT = 512  # tokens of a prompt that are read


class T5:
    """A T5 that writes texts for prompts. It handles each prompt by itself, so that the texts of a prompt do
    not depend on other prompts."""

    def __init__(self, params: Written) -> None:
        assert params.model is not None
        folder = models.folder(params.model, params.revision)
        self._params = params
        self._tokeniser = tokens.load(folder)
        model = checkpoints.load(folder, "AutoModelForSeq2SeqLM", spare=(), surplus=())
        self._model = model.to(params.device)

    def write(self, prompts: Sequence[str]) -> tuple[list[list[str]], int]:
        rows = [self._written(prompt) for prompt in prompts]
        return [texts for texts, _ in rows], sum(cut for _, cut in rows)

    def _written(self, prompt: str) -> tuple[list[str], int]:
        params = self._params
        read, _ = tokens.tokenise(self._tokeniser, [prompt], PROMPT)
        ids = torch.from_numpy(read.ids.astype("int64"))[None].to(params.device)
        sampling = {"do_sample": True, "temperature": params.temperature, "top_k": 0, "top_p": 1.0}
        devices = [torch.device(params.device)] if params.device == "cuda" else []
        with torch.random.fork_rng(devices), torch.inference_mode(), checkpoints.quiet():
            torch.manual_seed(_seed(params.seed, prompt))
            drawn = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=1,
                max_new_tokens=params.max_tokens,
                num_return_sequences=params.answers,
                **(sampling if params.temperature else {"do_sample": False}),
            )
        backend, end = self._tokeniser.backend, self._model.generation_config.eos_token_id
        texts = [backend.decode(row, skip_special_tokens=True).strip() for row in drawn.tolist()]
        return texts, sum(end not in row[1:] for row in drawn.tolist())


def _seed(seed: int, text: str) -> int:
    digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little") >> 1  # torch takes 63 bits
