"""Indexes that several workers make in parts are, byte for byte, those that one worker makes."""

from pathlib import Path

import numpy as np
import pytest

from harness.contracts import Divisible
from harness.testing.texts import MemoryTexts
from harness.types import IndexPart

WORDS = "amber basalt cedar delta ember fjord grove heath islet jetty knoll lagoon marsh notch oxbow".split()


def texts(count: int) -> MemoryTexts:
    draw = np.random.default_rng(0)
    every = tuple(" ".join(draw.choice(WORDS, 5)) + f" number{i % 97}" for i in range(count))
    titles = tuple(f"title{i % 13}" for i in range(count))
    return MemoryTexts(every, titles, np.arange(count), "en", "passage", 1 << 20)


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
    for start in range(0, len(corpus), method.block):
        ranges.append(IndexPart(start, min(start + method.block, len(corpus)), folder / f"part-{start}"))
        ranges[-1].folder.mkdir()
        make().index_part(corpus, ranges[-1].folder, start, ranges[-1].stop)
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
@pytest.mark.parametrize("name", ["dense", "splade", "colbert"])
def test_encoded_passages(tmp_path: Path, name: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import tiny_heads
    import tiny_models

    from harness import catalogue
    from harness.types import Facts

    make = {
        "dense": tiny_models.sentence_transformer, "splade": tiny_heads.splade, "colbert": tiny_heads.colbert,
    }[name]  # fmt: skip
    record = catalogue.load().find("retrievers", name).record
    given = record.params(model=make(tmp_path / "model"), dtype="fp32")
    params = record.resolve(given, Facts("en", "en", "passage"))
    check(lambda: record.build(params), texts(2 * record.build(params).block + 10), tmp_path)
