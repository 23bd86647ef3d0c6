"""Writes answers with a causal language model on this machine. What prompts share is read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, cast

import orjson
import torch
import transformers

from harness.plugin import CURRENT, HarnessError
from harness.toolkit.neural import checkpoints, hardware, models
from harness.toolkit.services import Responses
from harness_situate import Situate, is_packed
from harness_situate.augmenter import Answer
from harness_situate.shared_prefix import Shared, attention

ROWS = 64  # prompts that are answered together
PART = 8  # the most of them that are read together
SCORES = 2**25  # the most attention scores of a layer, if that is possible with a single prompt
NAME = "harness_shared_prefix"


class Local:
    """A causal language model. The answers to a document's prompts are written together on one core, so they
    depend on the document alone, not on other documents, the number of cores or a killed run."""

    def __init__(self, params: Situate) -> None:
        assert params.model is not None
        folder = models.folder(params.model, params.revision)
        self._params, self._model = params, _loaded(folder, params)
        self._tokeniser = _tokeniser(folder)
        self._marks = [each.content for each in self._tokeniser.added_tokens_decoder.values() if each.special]
        ends = self._model.generation_config.eos_token_id
        ends = {*(ends if isinstance(ends, list) else [ends]), self._tokeniser.eos_token_id}
        self._ends = torch.tensor(sorted(end for end in ends if end is not None), device=params.device)
        self._positions = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._workers = hardware.threads() if params.device == "cpu" else 1
        self.together, self._lock = 16 * self._workers, Lock()  # of the tokenizer, which threads cannot share
        context = CURRENT.get()
        self._step, self._kept = context.step, context.responses and Responses(context.responses)

    def length(self, text: str) -> int:
        return len(self._tokeniser(text, add_special_tokens=False)["input_ids"])

    def write(self, groups: Sequence[Sequence[str]]) -> list[list[Answer]]:
        before = torch.get_num_threads()
        with ThreadPoolExecutor(self._workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            answers = list(pool.map(self._answered, groups))
        torch.set_num_threads(before)  # new threads also begin with this number
        return answers

    def _answered(self, prompts: Sequence[str]) -> list[Answer]:
        """The answers to prompts that begin alike, from the store if a killed run of this step had them."""
        key = hashlib.sha256(orjson.dumps([self._step, list(prompts)])).hexdigest()
        kept = self._kept and self._kept.get(key)
        if not kept:
            kept = orjson.dumps(self._written(prompts) if prompts else [])
            if self._kept:
                self._kept.settle(0, None, {key: kept})
        return [Answer(*item) for item in orjson.loads(kept)]

    def _written(self, prompts: Sequence[str]) -> list[tuple[str, bool]]:
        with self._lock:
            ids = [self._tokens(prompt) for prompt in prompts]
        start = _common(ids)
        order = sorted(range(len(ids)), key=lambda i: (len(ids[i]), i))
        answers: dict[int, tuple[str, bool]] = {}
        with torch.inference_mode():
            shared = Shared()
            self._forward([ids[0][:start]], [0], shared)
            for at in range(0, len(order), ROWS):
                rows = order[at : at + ROWS]
                generators = [_generator(self._params.seed, prompts[row]) for row in rows]
                texts = self._generated([ids[row][start:] for row in rows], start, shared, generators)
                answers.update(zip(rows, texts, strict=True))
        return [answers[i] for i in range(len(prompts))]

    def _generated(
        self, ends: list[list[int]], start: int, shared: Shared, generators: list[torch.Generator]
    ) -> list[tuple[str, bool]]:
        """The answers to prompts that share their first `start` tokens, which `shared` has read, and go on
        with `ends`, shortest first."""
        most, width, heads = self._params.max_tokens, len(ends[-1]), self._model.config.num_attention_heads
        device = self._params.device
        shared.begin(torch.tensor([width - len(end) for end in ends], device=device), width + most)
        first: list[torch.Tensor] = []
        for part in _parts([len(end) for end in ends], start, heads):
            size = len(ends[part.stop - 1])
            shared.place(part, width - size, width)
            padded = [[0] * (size - len(end)) + end for end in ends[part]]
            first.append(self._forward(padded, [start + len(end) - size for end in ends[part]], shared))
        logits = torch.cat(first)
        alive = torch.arange(len(ends), device=device)  # the rows of the cache, by prompt
        tokens: list[list[int]] = [[] for _ in ends]
        done: set[int] = set()
        for step in range(most):
            chosen = self._chosen(logits, [generators[i] for i in alive.tolist()])
            over = torch.isin(chosen, self._ends)
            for i, token, stop in zip(alive.tolist(), chosen.tolist(), over.tolist(), strict=True):
                if i not in done and not stop:
                    tokens[i].append(token)
                if stop:
                    done.add(i)
            if len(done) == len(ends) or step + 1 == most:
                break
            if 4 * sum(i not in done for i in alive.tolist()) <= 3 * len(alive):
                keep = torch.tensor([row for row, i in enumerate(alive.tolist()) if i not in done])
                alive, chosen = alive[keep], chosen[keep]
                shared.select(keep)
            shared.place(slice(0, len(alive)), width + step, width + step + 1)
            places = [start + len(ends[i]) + step for i in alive.tolist()]
            logits = self._forward(chosen[:, None].tolist(), places, shared)
        decode = self._tokeniser.decode
        return [
            (decode(row, skip_special_tokens=True).strip(), i not in done) for i, row in enumerate(tokens)
        ]

    def _forward(self, ids: list[list[int]], first: list[int], shared: Shared) -> torch.Tensor:
        """float[n, vocabulary]: the logits after each row of tokens, whose first tokens have these
        positions. Padding before a text has positions below 0, which become 0."""
        device = self._params.device
        places = torch.tensor(first, device=device)[:, None] + torch.arange(len(ids[0]), device=device)
        output = self._model(
            input_ids=torch.tensor(ids, device=device),
            position_ids=places.clamp(min=0),
            past_key_values=shared,
            use_cache=True,
            logits_to_keep=1,
            shared=shared,
        )
        return cast("torch.Tensor", output.logits[:, -1].float())

    def _chosen(self, logits: torch.Tensor, generators: list[torch.Generator]) -> torch.Tensor:
        if not self._params.temperature:
            return logits.argmax(-1)
        shares = (logits / self._params.temperature).softmax(-1).cpu()
        drawn = [
            torch.multinomial(row, 1, generator=generator)
            for row, generator in zip(shares, generators, strict=True)
        ]
        return torch.cat(drawn).to(logits.device)

    def _tokens(self, prompt: str) -> list[int]:
        for mark in self._marks:  # in a passage it is text, and must not end the prompt
            prompt = prompt.replace(mark, f"{mark[:1]} {mark[1:]}")
        text = prompt
        if self._tokeniser.chat_template:
            text = self._tokeniser.apply_chat_template(
                [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
            )
        special = not self._tokeniser.chat_template
        ids: list[int] = self._tokeniser(text, add_special_tokens=special)["input_ids"]
        if self._positions and len(ids) + self._params.max_tokens > self._positions:
            raise HarnessError(
                f"document_length: a prompt has {len(ids)} tokens, and with the answer the model reads "
                f"{self._positions}; lower 'document_length' ({self._params.document_length})"
            )
        return ids


def _common(ids: Sequence[Sequence[int]]) -> int:
    """How many tokens all prompts begin with alike; each prompt has at least one more."""
    most, same = min(map(len, ids)) - 1, 0
    while same < most and len({row[same] for row in ids}) == 1:
        same += 1
    return same


def _parts(lengths: Sequence[int], start: int, heads: int) -> Iterator[slice]:
    """The prompts that are read together: of ascending, nearly the same length, so that little is padding."""
    first = 0
    for last, length in enumerate(lengths):
        size = last + 1 - first
        if size > PART or (size > 1 and size * heads * length * (start + length) > SCORES):
            yield slice(first, last)
            first = last
    yield slice(first, len(lengths))


def _generator(seed: int, text: str) -> torch.Generator:
    digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


def _gguf(folder: Path) -> dict[str, Any]:
    """The option that names the GGUF file of a folder; empty for a folder with other weights."""
    return {"gguf_file": next(folder.glob("*.gguf")).name} if is_packed(folder) else {}


def _tokeniser(folder: Path) -> Any:
    with checkpoints.quiet():
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, **_gguf(folder))


def _loaded(folder: Path, params: Situate) -> Any:
    transformers.AttentionInterface.register(NAME, attention)
    options = {"attn_implementation": NAME, **_gguf(folder)}
    if "gguf_file" in options:
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
        with checkpoints.quiet():
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=checkpoints.DTYPES[params.dtype], local_files_only=True, **options
            )
        return model.eval().requires_grad_(False).to(params.device)
    model = checkpoints.load(folder, "AutoModelForCausalLM", params.dtype, spare=(), surplus=(), **options)
    if not getattr(model, "_supports_attention_backend", False):
        raise HarnessError(f"model: {type(model).__name__} does not let others compute its attention")
    return model.to(params.device)
