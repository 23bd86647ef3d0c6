"""Writes the tables of docs/reproduce.md: `python tools/reproduce.py`. They follow from the suites' plans and
from tools/reproduce.yaml. The text around the tables is kept. `--check` only compares."""

from __future__ import annotations

import fnmatch
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import golden_plans
from harness import catalogue, steps
from harness.catalogue import Catalogue
from harness.plan.graph import Plan, Step
from harness.running import training_steps
from harness.steps.sizes import CorpusSize, Sizes

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reproduce.md"
BASE = 85.0  # millions of parameters in the layers of BERT-base
NEURAL = ("dense", "splade", "colbert")
RATE = 30e12  # operations a second, for the column of hours
QUERY = 12  # tokens of a query, when it is read with a passage
LISTED = 4.0  # TB, GB, ... of text and index for each passage of the corpus, KB


class Cost(NamedTuple):
    """What a suite takes."""

    rows: int
    encoded: float  # texts that become vectors
    pairs: float  # queries with passages that a re-ranker reads
    steps: int  # of trainings
    operations: float
    bytes: float  # of what the store keeps


def cost(planned: Plan, texts: dict[str, Any], known: dict[str, Any]) -> Cost:
    """What a suite takes, with the sizes of its collections."""
    corpora, tokens, queries = {}, {}, {}
    for name, collection in planned.collections.items():
        if collection.parts is None:
            continue
        passages, words, documents, asked = _sizes(name, texts, known)
        corpus = collection.parts.corpus.step
        corpora[corpus] = CorpusSize(passages, passages, documents)
        tokens[corpus] = words * passages, words
        queries[collection.parts.queries.step] = asked
    sizes = Sizes(corpora, queries)
    encoded = pairs = operations = 0.0
    kept = sum(corpus.passages * LISTED * 1e3 for corpus in corpora.values())
    for step in planned.steps.values():
        record = step.record
        if isinstance(record, steps.Index) and record.method.name in NEURAL:
            count = record.texts.count(sizes) or 0
            whole, _ = tokens.get(record.texts.corpus.step, (0, 0))
            limit = dict(record.method.params).get("passage_length")
            read = min(whole, count * limit) if isinstance(limit, int) else whole
            encoded += count
            operations += 2e6 * _parameters(step, known) * read
            stated = step.index_bytes
            kept += 0 if stated is None else count * stated.text + read * stated.token
        elif isinstance(record, steps.Rerank):
            (count,) = record.amount(sizes) or (0.0,)
            _, words = tokens.get(record.texts.corpus.step, (0, 0))
            pairs += count
            operations += 2e6 * _parameters(step, known) * count * (min(words, 500) + QUERY)
    trained = 0
    for spec in planned.suite.models:
        if spec.paper is not None:
            count = training_steps.steps_of(spec, spec.paper.queries, spec.paper.positives)
            trained += count
            params = dict(spec.train.as_written)
            length = params.get("passage_length") or params.get("length") or 128
            batch = spec.train.params.batch * (2 + (spec.negatives.take if spec.negatives else 0))
            operations += 6e6 * BASE * count * batch * length
    return Cost(len(planned.rows), encoded, pairs, trained, operations, kept)


def _sizes(dataset: str, texts: dict[str, Any], known: dict[str, Any]) -> Any:
    for pattern, named in texts.items():
        if fnmatch.fnmatch(dataset, pattern):
            name = dataset if named == "same" else named.replace("*", dataset)
            return known["texts"][name]
    raise ValueError(f"tools/reproduce.yaml does not say how large {dataset} is")


def _parameters(step: Step, known: dict[str, Any]) -> float:
    sizes = known["parameters"]
    return float(next((sizes[name] for name in sizes if name in step.subject), BASE))


def table(entries: list[Any], known: dict[str, Any], found: Catalogue) -> str:
    lines = [
        "| suite | rows | texts encoded | pairs re-ranked | training steps | PFLOP | hours | GB | needs |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --- |",
    ]
    for entry in entries:
        name = entry["suite"]
        of = cost(golden_plans.planned(golden_plans.suites()[name], found), entry["texts"], known)
        cells = [
            f"[{name}](../leaderboards/{name})", f"{of.rows}", _millions(of.encoded), _millions(of.pairs),
            f"{of.steps:,}" if of.steps else "", f"{of.operations / 1e15:,.0f}",
            f"{of.operations / RATE / 3600:,.1f}", f"{of.bytes / 1e9:,.0f}", entry["needs"],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _millions(count: float) -> str:
    return f"{count / 1e6:,.1f} M" if count else ""


def page(text: str) -> str:
    """The page with its tables written anew: each stands below the heading of its paper."""
    known = yaml.safe_load((ROOT / "tools/reproduce.yaml").read_text(encoding="utf-8"))
    found = golden_plans.standing_in(catalogue.load())
    for paper, entries in known["papers"].items():
        made = table(entries, known, found)
        pattern = rf"(### {re.escape(paper)}\n\n(?:[^|#\n][^\n]*\n|\n)*)(?:\|[^\n]*\n)*"
        place = re.search(pattern, text)
        if place is None:
            raise ValueError(f"{PAGE.name} has no heading '### {paper}'")
        text = f"{text[: place.start()]}{place[1]}{made}\n{text[place.end() :]}"
    return text


if __name__ == "__main__":
    new = page(PAGE.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--check"]:
        current = new == PAGE.read_text(encoding="utf-8")
        print("docs/reproduce.md is current" if current else "docs/reproduce.md is to be written again")
        sys.exit(not current)
    PAGE.write_text(new, encoding="utf-8")
    print(f"written: {PAGE}")
