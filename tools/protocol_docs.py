"""Writes docs/protocols.md: `python tools/protocol_docs.py RUN > docs/protocols.md`.

RUN is `tests/plugins/data/protocols/toy.json`, the run that the page scores by every protocol.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import catalogue
from harness.catalogue import Catalogue
from harness.records import Protocol
from harness.scoring.protocols import measures_of_plugins
from harness_protocols.words import computed, paper_name
from toy_run import toy_of, values

HEAD = """\
# Protocols: how papers score

A protocol has the measures, cut-offs and relevance levels by which a paper or benchmark scores.
With `protocol: NAME`, a [suite](suite.md) is scored in this way. `harness protocols show NAME`
prints one protocol. (This page is generated from the protocols' records by
`tools/protocol_docs.py`.) These rules hold for all protocols:

- A mean is over **all judged queries**. A judged query counts 0 if the run lacks it or if it has no
  positive. Queries of the run without a judgement are not scored.
- A run that lists a passage twice is refused. A malformed line in a file of judgements is refused.
  Short rankings are not padded.
- Passages with equal scores are ordered by id, descending, compared as bytes. Then the run is cut
  and the measures are computed.

If a paper or its script uses another rule, its section below says so, and a test checks the
difference.
"""
RUN = """\
## One run, scored by all

To show how the protocols differ, this section scores one small run by all of them. The run has
twelve queries. In the column "found", `4: 2` means that a passage of grade 2 is at rank 4. The
column "missed" lists the grades of judged passages that the run lacks. One query has a short
ranking, one has no ranking, one has no positive, two have no positive of level 2, and the last is
not judged. For the document columns, the passages at ranks 1 and 2 form one document, those at
ranks 3 and 4 the next, and so on.
"""
CALLED = """\
Papers use one word for different measures. These are the values that each word has on this run:
"""
FAMILIES = {"MRR": ("MRR@10", "MRR", "RR"), "Recall@50": ("Recall@50", "R@50")}


def page(records: Catalogue, queries: Mapping[str, Any]) -> str:
    """The page of our own protocols. All of them score the toy run `queries`, which is as `toy_run.toy_of`
    takes it."""
    every = [records.find("protocols", name) for name in records.names("protocols")]
    ours = [entry.record for entry in every if entry.plugin.distribution == catalogue.OWN]
    sections = [section for protocol in ours for section in _protocol(protocol)]
    return "\n".join([HEAD, *_run(queries), *_scored(records, ours, queries), *sections])


def _run(queries: Mapping[str, Any]) -> Iterator[str]:
    yield RUN
    lines = ["| query | passages ranked | found | missed |", "| --- | --- | --- | --- |"]
    for name, query in queries.items():
        ranks = ", ".join(f"{rank}: {grade}" for rank, grade in query["found"].items())
        missed = ", ".join(str(grade) for grade in query["missed"])
        lines.append(f"| {name} | {query['length']} | {ranks} | {missed} |")
    yield "\n".join(lines) + "\n"


def _scored(records: Catalogue, ours: list[Protocol], queries: Mapping[str, Any]) -> Iterator[str]:
    toy, measures = toy_of(queries), measures_of_plugins(records)
    every = [
        (protocol, column, value)
        for protocol in ours
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
        yield f"{family} ranges from {min(chosen.values()):.4f} to {max(chosen.values()):.4f}.\n"
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
    summary = protocol.summary[:1].upper() + protocol.summary[1:]
    yield _wrapped(f"{summary}. Runs are cut at {protocol.depth}.") + "\n"
    lines = ["| in the paper | column | what is computed |", "| --- | --- | --- |"]
    for column in protocol.columns:
        lines.append(f"| {_cell(paper_name(column))} | `{column.label}` | {_cell(computed(column))} |")
    yield "\n".join(lines) + "\n"
    if protocol.notes:
        yield "\n".join(_wrapped(f"- {note}", "  ") for note in protocol.notes) + "\n"
    yield _wrapped(f"{protocol.cite}.") + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    """The text in lines of at most 100 characters; `indent` stands before the second and later lines."""
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(page(catalogue.load(), json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
