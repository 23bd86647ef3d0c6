"""The context-augmenter `doct5query` samples queries for each passage and puts them after its text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import torch

from harness.plugin import Addition, Document, Edit
from harness.toolkit.neural import checkpoints, models, tokens
from harness_doct5query import DocT5QueryParams


class Augmenter:
    """A model that samples queries for passages. The queries of a passage depend on its text and the seed,
    not on other passages or their order: all queries of one passage are sampled at once, by themselves."""

    def __init__(self, params: DocT5QueryParams) -> None:
        folder = models.folder(params.model, params.revision)
        self._params = params
        self._tokeniser = tokens.load(folder)
        model = checkpoints.load(folder, "AutoModelForSeq2SeqLM", spare=(), surplus=())
        self._model = model.to(params.device)

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            yield Addition(edits=tuple(_after(p.text, self.queries(p.text)) for p in document.passages))

    def queries(self, text: str) -> list[str]:
        """The sampled queries in the order in which they were drawn. A query that was drawn several times is
        repeated, which weights its terms (Nogueira and Lin 2019). A text without a token has no queries."""
        params = self._params
        read, _ = tokens.tokenise(self._tokeniser, [text], params.passage_length)
        if len(read.ids) <= self._tokeniser.single.added:
            return []
        ids = torch.from_numpy(read.ids.astype("int64"))[None].to(params.device)
        devices = [torch.device(params.device)] if params.device == "cuda" else []
        with torch.random.fork_rng(devices), torch.inference_mode(), checkpoints.quiet():
            torch.manual_seed(_seed(params.seed, text))
            drawn = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                num_beams=1,
                top_k=params.top_k,
                top_p=1.0,
                temperature=1.0,
                max_new_tokens=params.query_length,
                num_return_sequences=params.queries,
            )
        backend = self._tokeniser.backend
        texts = [backend.decode(row, skip_special_tokens=True).strip() for row in drawn.tolist()]
        return [query for query in texts if query]


def _seed(seed: int, text: str) -> int:
    digest = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little") >> 1  # torch takes 63 bits


def _after(text: str, queries: Sequence[str]) -> tuple[Edit, ...]:
    return (Edit(len(text), len(text), "".join(f" {query}" for query in queries)),) if queries else ()
