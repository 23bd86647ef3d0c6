"""Writes docs/protocols.md: `python -m harness_protocols.page RUN > docs/protocols.md`.

RUN is `tests/plugins/data/protocols/toy.json`, the run that the page scores by every protocol.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import catalogue
from harness.catalogue import Catalogue
from harness.records import Protocol
from harness.scoring.protocols import own_measures
from harness_protocols.toy import toy_of, values
from harness_protocols.words import computed, paper_name

HEAD = """\
# Protocols: how papers score

Generated from the records by `python -m harness_protocols.page`. `harness protocols show NAME` prints one
of them; `protocol: NAME` in a [suite](suite.md) scores by it. What all of them share, and what is counted
differently from the official scripts everywhere:

- A mean is over **all judged queries**. One that the run lacks counts 0, and so does one without a positive.
  Queries of the run without a judgement are not scored.
- A run with a passage twice is refused, and so is a malformed line of a judgement file. Nothing is padded.
- Ties are broken by id, descending as bytes, before anything is cut or computed.

Where a paper or its script does otherwise, the protocol says so below, and a test pins the difference.
"""
RUN = """\
## One run, scored by all

Twelve queries with what a run found for each. `4: 2` is a passage of grade 2 at rank 4; "missed" are the
grades of judged passages that it did not find. One query has a short list, one was not answered, one has no
positive, two have none of level 2, and the last is not judged. For the columns of documents, two neighbours
in a ranking, from the first on, are one document.
"""
CALLED = """\
The same word, the same run:
"""
FAMILIES = {"MRR": ("MRR@10", "MRR", "RR"), "Recall@50": ("Recall@50", "R@50")}


def page(found: Catalogue, queries: Mapping[str, Any]) -> str:
    """The page of our own protocols, with the toy run `queries` (as in `toy.toy_of`) scored by all."""
    every = [found.find("protocols", name) for name in found.names("protocols")]
    own = [entry.record for entry in every if entry.plugin.distribution == catalogue.OWN]
    sections = [section for protocol in own for section in _protocol(protocol)]
    return "\n".join([HEAD, *_run(queries), *_scored(found, own, queries), *sections])


def _run(queries: Mapping[str, Any]) -> Iterator[str]:
    yield RUN
    lines = ["| query | passages ranked | found | missed |", "| --- | --- | --- | --- |"]
    for name, query in queries.items():
        ranks = ", ".join(f"{rank}: {grade}" for rank, grade in query["found"].items())
        missed = ", ".join(str(grade) for grade in query["missed"])
        lines.append(f"| {name} | {query['length']} | {ranks} | {missed} |")
    yield "\n".join(lines) + "\n"


def _scored(found: Catalogue, own: list[Protocol], queries: Mapping[str, Any]) -> Iterator[str]:
    toy, measures = toy_of(queries), own_measures(found)
    every = [
        (protocol, column, value)
        for protocol in own
        if protocol.judgements == "given"  # the run has no texts to look for answers in
        for column, value in zip(protocol.columns, values(toy, protocol, measures), strict=True)
    ]
    rows = {
        (paper_name(column).partition(" (")[0], column.label, protocol.name): value
        for protocol, column, value in every
    }
    yield CALLED
    for family, names in FAMILIES.items():
        chosen = {key: value for key, value in rows.items() if key[0] in names}
        yield f"{family} is anything from {min(chosen.values()):.4f} to {max(chosen.values()):.4f}.\n"
        yield _table(f"{family} in the paper", chosen)
    yield "All columns:\n"
    yield _table("in the paper", rows)


def _table(first: str, rows: Mapping[tuple[str, str, str], float]) -> str:
    lines = [f"| protocol | {first} | column | value |", "| --- | --- | --- | --- |"]
    lines += [
        f"| [{name}](#{name}) | {paper} | `{label}` | {value:.4f} |"
        for (paper, label, name), value in rows.items()
    ]
    return "\n".join(lines) + "\n"


def _protocol(protocol: Protocol) -> Iterator[str]:
    yield f"## {protocol.name}\n"
    yield f"{protocol.summary[:1].upper()}{protocol.summary[1:]}. Runs are cut at {protocol.depth}.\n"
    lines = ["| in the paper | column | what is computed |", "| --- | --- | --- |"]
    for column in protocol.columns:
        lines.append(f"| {_cell(paper_name(column))} | `{column.label}` | {_cell(computed(column))} |")
    yield "\n".join(lines) + "\n"
    if protocol.notes:
        yield "\n".join(f"- {note}" for note in protocol.notes) + "\n"
    yield f"{protocol.cite}.\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(page(catalogue.load(), json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
