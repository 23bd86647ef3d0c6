"""Reads MIRACL's English part as DAPR's authors do: Wikipedia's paragraphs, and those relevant to questions.

The release's dev split is the paper's test split. A question's positives are the paragraphs that are marked
relevant; those marked as not relevant are left out (DAPR, appendix A, and the released code).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.plugin import Document, Part, Passage
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import there
from harness.toolkit.files.reading import lines, refuse, text_of
from harness_dapr import OriginalParams
from harness_dapr.splits import drawn

if TYPE_CHECKING:
    from harness_dapr.original import Labelled

FILES = 66  # of the corpus
CORPUS, ASKED = Path("miracl-corpus/miracl-corpus-v1.0-en"), Path("miracl/miracl-v1.0-en")
NAMES = {"test": "dev", "dev": "train", "train": "train"}  # the release's name of each split


class _Paragraph(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="docid")  # DOCUMENT#NUMBER
    title: str
    text: str


_KEYS = Keys(("docid", "title", "text"), {"docid": ("str",), "title": ("str",), "text": ("str",)})


class Miracl:
    url = "https://huggingface.co/datasets/miracl/miracl"

    def __init__(self, params: OriginalParams) -> None:
        self._split = params.split
        self._corpus = tuple(there(params.path / CORPUS / f"docs-{number}.jsonl") for number in range(FILES))
        self._files = {
            (kind, name): there(params.path / ASKED / kind / f"{kind}.miracl-v1.0-en-{name}.tsv")
            for kind in ("qrels", "topics")
            for name in dict.fromkeys(("dev", NAMES[params.split]))
        }
        self.notes: tuple[str, ...] = ()

    def files(self, part: Part) -> tuple[Path, ...]:
        return self._corpus if part == "corpus" else tuple(self._files.values())

    def documents(self) -> Iterator[Document]:
        for id, paragraphs in groupby(self._paragraphs(), key=lambda item: item[0]):
            numbered = sorted((number, paragraph) for _, number, paragraph in paragraphs)
            passages = tuple(Passage(f"{id}-{number}", row.text) for number, row in numbered)
            yield Document(id, numbered[0][1].title, passages)

    def labelled(self) -> Iterator[Labelled]:
        from harness_dapr.original import Labelled

        name = NAMES[self._split]
        positives, texts = self._positives(name), dict(self._columns("topics", name, 2))
        dev = drawn(len(positives), len(self._positives("dev"))) if name == "train" else frozenset()
        for place, (query, passages) in enumerate(positives.items()):
            if name == "train" and (place in dev) != (self._split == "dev"):
                continue
            if query not in texts:
                refuse(
                    self._files["topics", name],
                    1,
                    f"query '{query}' of the qrels is missing; copy both files",
                )
            yield Labelled(query, texts[query], tuple(dict.fromkeys(passages)))

    def _paragraphs(self) -> Iterator[tuple[str, int, _Paragraph]]:
        for path in self._corpus:
            records: Records[Any] = Records(path, (_Paragraph,), _KEYS)
            for line, row in records.numbered():
                document, _, number = row.id.rpartition("#")
                if not document or not number.isdigit():
                    refuse(path, line, f"docid '{row.id}' is not DOCUMENT#NUMBER; copy the file again")
                yield document, int(number), row

    def _positives(self, name: str) -> dict[str, list[str]]:
        """The relevant passages of each question, in the order of the file."""
        positives: dict[str, list[str]] = {}
        for query, _, paragraph, label in self._columns("qrels", name, 4):
            if label.strip() != "0":
                positives.setdefault(query, []).append("-".join(paragraph.rsplit("#", 1)))
        return positives

    def _columns(self, kind: str, name: str, count: int) -> Iterator[list[str]]:
        path = self._files[kind, name]
        for number, line in lines(path):
            cells = text_of(path, number, line).split("\t")
            if len(cells) != count:
                refuse(
                    path, number, f"expected {count} columns between tabs, got {len(cells)}; copy it again"
                )
            yield cells
