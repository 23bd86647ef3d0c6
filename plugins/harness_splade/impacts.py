"""The retriever `impacts` puts given term weights in the order of a corpus and searches them exactly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from harness.plugin import JSON, HarnessError, Texts
from harness.toolkit.neural.encoding.loop import MARKS
from harness.toolkit.neural.encoding.parts import Shard
from harness_splade import ImpactsParams, impact_files, storage
from harness_splade.searching import Search

SHARD = 8192  # texts written at once
VOCABULARY, SPILL = "terms.json", "spill"


class Impacts:
    def __init__(self, params: ImpactsParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        positions = np.concatenate([
            np.empty(0, np.int64), *(batch.positions for batch in texts.batches(SHARD))
        ])  # fmt: skip
        ordinal_of = {id: i for i, id in enumerate(texts.ids(positions))}
        (folder / SPILL).mkdir(exist_ok=True)
        spilled = impact_files.spill(self._params.passages, ordinal_of, folder / SPILL)
        missing = len(positions) - len(spilled.ordinals)
        if missing and self._params.missing == "refuse":
            known = set(spilled.ordinals.tolist())
            id = next(id for id, ordinal in ordinal_of.items() if ordinal not in known)
            what = f"has no vector for the {texts.unit} '{id}'"
            raise HarnessError(f"{self._params.passages}: {what}; weigh all, or say missing: skip")
        self._write(spilled, positions, folder)
        shutil.rmtree(folder / SPILL)
        vocabulary = spilled.vocabulary
        (folder / VOCABULARY).write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
        postings = storage.finish(folder, len(vocabulary), self._params.quantise)
        facts = {"terms": len(vocabulary), "postings": postings, "texts_without_a_vector": missing}
        return {**facts, "vectors_of_no_text": spilled.unused}

    def _write(self, spilled: impact_files.Spilled, positions: np.ndarray, folder: Path) -> None:
        shutil.rmtree(folder / storage.SHARDS, ignore_errors=True)
        write = storage.writer(folder, self._params.quantise)
        (folder / storage.SHARDS / MARKS).mkdir()
        order, starts = np.argsort(spilled.ordinals), np.concatenate([[0], spilled.ends])
        for number, first in enumerate(range(0, len(order), SHARD)):
            chosen = order[first : first + SHARD]
            parts = [slice(starts[i], starts[i + 1]) for i in chosen.tolist()]
            rows = [storage.Row(spilled.terms[part], spilled.weights[part]) for part in parts]
            write(Shard(number, first, positions[spilled.ordinals[chosen]], rows))

    def open(self, texts: Texts, folder: Path) -> Search:
        vocabulary = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        queries = impact_files.Queries(self._params.queries, vocabulary)
        return Search(storage.read(folder), queries, texts.unit)
