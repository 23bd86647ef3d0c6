"""Writes the input of AllenNLP's coreference resolver, which runs elsewhere, and reads its clusters.

`python -m harness_coreference.allennlp documents SUITE#DATASET > documents.jsonl`, then AllenNLP, then
`python -m harness_coreference.allennlp clusters documents.jsonl resolved.jsonl > clusters.jsonl`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from harness.plugin import Document, HarnessError
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.suite_datasets import documents_of_dataset

MODEL = "https://storage.googleapis.com/allennlp-public-models/coref-spanbert-large-2021.03.10.tar.gz"


class Asked(msgspec.Struct):
    """A line of AllenNLP's input. AllenNLP reads `document` and ignores `id`."""

    id: str
    document: str


class Resolved(msgspec.Struct):
    """The used part of a line of AllenNLP's output: the words, and clusters of [first, last] word."""

    document: list[str]
    clusters: list[list[list[int]]]


_ASKED = Keys(("id", "document"), {"id": ("str",), "document": ("str",)})
_RESOLVED = Keys(("document", "clusters"), {"document": ("list",), "clusters": ("list",)})


def asked(documents: Iterable[Document]) -> Iterator[Asked]:
    """Yields each document as one text, its passages joined by newlines. Documents without text are left
    out."""
    for document in documents:
        text = "\n".join(passage.text for passage in document.passages)
        if text.strip():
            yield Asked(document.id, text)


def clusters(documents: Path, resolved: Path) -> Iterator[dict[str, object]]:
    """Yields the lines of a file for `coreference-clusters`. Both files must have the same documents in the
    same order; otherwise HarnessError names file and line."""
    inputs: Records[Asked] = Records(documents, (Asked,), _ASKED)
    outputs: Records[Resolved] = Records(resolved, (Resolved,), _RESOLVED)
    for numbered, line in zip_longest(inputs.numbered(), outputs.numbered()):
        if numbered is None:
            refuse(resolved, line[0], f"{documents} ends before this line; resolve that file again")
        if line is None:
            refuse(documents, numbered[0], f"{resolved} ends before this line; resolve this file again")
        number, prediction = line
        places = _places(resolved, number, numbered[1].document, prediction.document)
        spans = [
            [_span(resolved, number, places, span) for span in cluster] for cluster in prediction.clusters
        ]
        yield {"id": numbered[1].id, "text": numbered[1].document, "clusters": spans}


def _places(path: Path, number: int, text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """The start and end of each word in the text, which must consist of the words with white space between
    them."""
    places, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or text[at:start].strip():
            refuse(path, number, f"its word '{word[:40]}' is not the next of the text; resolve it again")
        at = start + len(word)
        places.append((start, at))
    if text[at:].strip():
        refuse(path, number, "its words end before the text; resolve it again")
    return places


def _span(path: Path, number: int, places: Sequence[tuple[int, int]], span: Sequence[int]) -> list[int]:
    if len(span) != 2 or not 0 <= span[0] <= span[1] < len(places):
        refuse(path, number, f"{list(span)} is no [first, last] of {len(places)} words; resolve it again")
    return [places[span[0]][0], places[span[1]][1]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness_coreference.allennlp", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    first = actions.add_parser("documents", help="write a collection as AllenNLP reads it")
    first.add_argument("target", metavar="SUITE#DATASET")
    second = actions.add_parser("clusters", help="write AllenNLP's output as coreference-clusters reads it")
    second.add_argument("documents", type=Path, help="what `documents` wrote")
    second.add_argument("resolved", type=Path, help="what AllenNLP wrote")
    options = parser.parse_args(arguments)
    try:
        lines: Iterable[object] = (
            asked(documents_of_dataset(options.target))
            if options.action == "documents"
            else clusters(options.documents, options.resolved)
        )
        for line in lines:
            sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
