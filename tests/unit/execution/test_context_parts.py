"""Context that several workers add in parts is what one worker adds."""

from pathlib import Path

import pytest

from harness.collection import context_additions, corpus
from harness.types import Addition, Document, Passage


class Source:
    def documents(self):
        for i in range(10):
            yield Document(f"d{i}", f"title {i}", tuple(Passage(f"d{i}-{j}", "a text") for j in range(3)))


class Titles:
    def augment(self, documents):
        return [Addition(document.title if int(document.id[1:]) % 3 else "") for document in documents]


def test_shards_of_parts_are_those_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_additions, "DOCUMENTS", 4)
    for name in ("corpus", "whole", "parts"):
        (tmp_path / name).mkdir()
    corpus.write(Source(), tmp_path / "corpus", lambda *told: None)
    read = corpus.Corpus(tmp_path / "corpus")
    facts, words = context_additions.write(Titles(), read, tmp_path / "whole", lambda *told: None)
    assert context_additions.shards(read) == 3
    parts = [
        context_additions.write_shards(Titles(), read, tmp_path / "parts", numbers, lambda *told: None)
        for numbers in (range(2), range(2, 3))
    ]
    assert context_additions.facts(read, [changed for changed, _ in parts], {}) == facts
    assert sum(words for _, words in parts) == words == 60
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert len(names) == 3
    assert all(
        (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in names
    )


def test_each_document_is_progress_of_the_step(tmp_path: Path) -> None:
    """A shard has 2,048 documents, and a language model takes seconds for one."""
    corpus.write(Source(), tmp_path, lambda *told: None)
    told: list[tuple[int, int | None]] = []
    context_additions.write(Titles(), corpus.Corpus(tmp_path), tmp_path, lambda *each: told.append(each))
    assert told == [*((done, 10) for done in range(1, 11)), (10, 10)]
