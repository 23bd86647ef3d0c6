"""Indexes that several workers make in parts are, byte for byte, those that one worker makes."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from harness.contracts import Divisible
from harness.testing.texts import MemoryTexts
from harness.types import IndexPart

WORDS = "amber basalt cedar delta ember fjord grove heath islet jetty knoll lagoon marsh notch oxbow".split()


def texts(count: int, size: int = 1) -> MemoryTexts:
    draw = np.random.default_rng(0)
    every = tuple(" ".join(draw.choice(WORDS, 5)) + f" number{i % 97}" for i in range(count))
    titles = tuple(f"title{i % 13}" for i in range(count))
    numbers = np.arange(count) // size
    return MemoryTexts(every, titles, np.arange(count), "en", "passage", 1 << 20, numbers)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def check(make, corpus: MemoryTexts, folder: Path) -> None:
    """Both ways give the same files and the same facts; each part is made by a process of its own."""
    whole, joined = folder / "whole", folder / "joined"
    whole.mkdir(parents=True)
    joined.mkdir()
    facts = make().index(corpus, whole)
    method = make()
    assert isinstance(method, Divisible)
    ranges = []
    whole_documents = getattr(method, "whole_documents", False)
    starts = range(0, len(corpus), method.block)
    for start, stop in pairwise(corpus.borders(method.block) if whole_documents else [*starts, len(corpus)]):
        ranges.append(IndexPart(int(start), int(stop), folder / f"part-{start}"))
        ranges[-1].folder.mkdir()
        make().index_part(corpus, ranges[-1].folder, *ranges[-1][:2])
    assert len(ranges) > 1
    assert method.join(corpus, ranges, joined) == facts
    assert contents(joined) == contents(whole)


@pytest.mark.parametrize("title_weight", [0.0, 0.5])
def test_bm25(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title_weight: float) -> None:
    from harness_bm25 import BM25, building, retriever

    monkeypatch.setattr(building, "BATCH", 64)
    monkeypatch.setattr(building, "WINDOW", 128)
    monkeypatch.setattr(retriever.Lexical, "block", 128)
    params = BM25(analyser="english", title_weight=title_weight)
    check(lambda: retriever.Lexical(params), texts(700), tmp_path)


@pytest.mark.extras
@pytest.mark.parametrize("name", ["dense", "late", "splade", "colbert"])
def test_encoded_passages(tmp_path: Path, name: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import tiny_heads
    import tiny_models

    from harness import catalogue
    from harness.types import Facts

    make = {"splade": tiny_heads.splade, "colbert": tiny_heads.colbert}
    late = {"stored": "int8"} if name == "late" else {}
    record = catalogue.load().find("retrievers", "dense" if late else name).record
    folder = make.get(name, tiny_models.sentence_transformer)(tmp_path / "model")
    given = record.params(model=folder, dtype="fp32", **late)
    if late:
        from harness_dense import Late

        given = dataclasses.replace(given, late=Late())
    params = record.resolve(given, Facts("en", "en", "passage"))
    corpus = texts(2 * record.build(params).block + 10, 7 if late else 1)
    check(lambda: record.build(params), corpus, tmp_path)
