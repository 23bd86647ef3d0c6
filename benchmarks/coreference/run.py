"""Measures the words per second of the coreference resolvers over the same documents, in the best round.

    python benchmarks/coreference/run.py CORPUS.jsonl [--pipeline NAME] [--rounds 3]

Each line of CORPUS.jsonl has `doc_id` and `text` (BEIR's layout with documents). A resolver that is not
installed is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from harness_coreference import CoreferenceParams, missing_files
from harness_coreference.augment import coreference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--pipeline", default="en_core_web_sm", help="spaCy's, for xrenner")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    documents = read(given.corpus)
    words = sum(len(text.split()) for passages in documents for text in passages)
    params = [
        CoreferenceParams(language="en"),
        CoreferenceParams(resolver="xrenner", language="en", pipeline=given.pipeline),
    ]
    resolvers = {str(each.resolver): coreference(each).resolver for each in params if not missing_files(each)}
    best: dict[str, float] = {}
    for _ in range(given.rounds):
        for name, resolver in resolvers.items():
            start = time.perf_counter()
            mentions = sum(len(cluster) for passages in documents for cluster in resolver.resolve(passages))
            rate = words / (time.perf_counter() - start)
            best[name] = max(best.get(name, 0), rate)
            print(f"{name}: {rate:,.0f} words a second, {mentions:,} mentions in clusters", flush=True)
    print(f"{len(documents)} documents, {words:,} words; best of {given.rounds}:")
    for name, rate in best.items():
        print(f"| {name} | {rate:,.0f} |")


def read(path: Path) -> list[list[str]]:
    documents: dict[str, list[str]] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            documents.setdefault(row["doc_id"], []).append(row["text"])
    return list(documents.values())


if __name__ == "__main__":
    main()
