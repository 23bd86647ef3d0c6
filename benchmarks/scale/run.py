"""Measures how time, disk and memory grow with the number of passages: a whole suite on generated
collections."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "lexical"))
import corpus as generated

QUERIES, DIMENSION, DOCUMENT = 200, 384, 4  # passages of a document
SUITE = """
suite: scale
datasets: {{scale: {{files: {{path: {folder}, language: en}}}}}}
systems:
  bm25: {{retriever: {{bm25: {{analyser: whitespace}}}}}}
  titles: {{context: [titles], retriever: {{bm25: {{analyser: whitespace}}}}}}
  vectors: {{retriever: {{vectors: {{
    passages: {folder}/vectors.npy, passage_ids: {folder}/ids.txt,
    queries: {folder}/asked.npy, query_ids: {folder}/asked.txt, query_texts: {folder}/queries.jsonl}}}}}}
  fused: {{of: [bm25, vectors], combine: {{convex: {{weight: 0.5}}}}}}
measures: [nDCG@10, R@100]
depth: 100
"""


# ru_maxrss would be wrong: a process inherits the peak of the process that started it
MEASURED = """
import json, pathlib, sys, threading
from harness.cli import main
peaks, ended = {"RssAnon": 0, "RssFile": 0, "VmRSS": 0}, threading.Event()
def watch():
    while True:
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peaks:
                peaks[name] = max(peaks[name], int(value.split()[0]) // 1024)
        if ended.wait(0.01):
            return
thread = threading.Thread(target=watch)
thread.start()
code = main()
ended.set()
thread.join()
pathlib.Path(peak_file).write_text(json.dumps(peaks))
sys.exit(code)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="for the collections and the store")
    options = parser.parse_args()
    print("| passages | step | seconds | bytes | peak MB |\n| --- | --- | --- | --- | --- |")
    for count in options.passages:
        folder = options.folder / str(count)
        if not (folder / "suite.yaml").exists():
            write(folder, count)
        for line in costs(folder, count):
            print(line, flush=True)


def write(folder: Path, count: int) -> None:
    """Write a collection with one judged passage for each query, unit vectors of the passages, and for each
    query a vector near that of its judged passage."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    judged = np.sort(rng.choice(count, QUERIES, replace=False))
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (count, DIMENSION))
    asked, queries = np.empty((QUERIES, DIMENSION), np.float32), []
    load = generated.generated(folder, count, QUERIES)
    with (
        load.passages.open(encoding="utf-8") as lines,
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus,
        (folder / "ids.txt").open("w", encoding="utf-8") as ids,
    ):
        for i, line in enumerate(lines):
            words = line.split()
            title = f"{words[0]} {i // DOCUMENT}"
            corpus.write(json.dumps({"_id": f"p{i}", "title": title, "text": " ".join(words)}) + "\n")
            ids.write(f"p{i}\n")
            if len(queries) < QUERIES and i == judged[len(queries)]:
                queries.append(" ".join(words[10:17]))
    for start in range(0, count, 1 << 16):
        block = rng.standard_normal((min(1 << 16, count - start), DIMENSION), np.float32)
        vectors[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    for number, place in enumerate(judged.tolist()):
        asked[number] = vectors[place] + 0.1 * rng.standard_normal(DIMENSION)
    vectors.flush()
    np.save(folder / "asked.npy", asked)
    (folder / "asked.txt").write_text("".join(f"q{i}\n" for i in range(QUERIES)))
    lines_of = [json.dumps({"_id": f"q{i}", "text": text}) + "\n" for i, text in enumerate(queries)]
    (folder / "queries.jsonl").write_text("".join(lines_of))
    qrels = "".join(f"q{i}\tp{place}\t1\n" for i, place in enumerate(judged.tolist()))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels)
    (folder / "suite.yaml").write_text(SUITE.format(folder=folder.absolute()))


def costs(folder: Path, count: int) -> Iterator[str]:
    """The lines of the table for one collection: the cost of each step of a run into an empty store, and the
    peak memory of the command's own process, which runs no method."""
    store = folder / "store"
    command = ["harness", "run", str(folder / "suite.yaml"), "--store", str(store)]
    code = f"import sys; sys.argv = {command!r}; peak_file = {str(folder / 'peak')!r}\n{MEASURED}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    for manifest in sorted(store.glob("artifacts/*/manifest.json")):
        content = json.loads(manifest.read_bytes().rstrip().rpartition(b"\n")[0])
        cost, described = content["cost"], content["described"]
        name = f"{described['kind']} {described.get('method', {}).get('name', '')}".strip()
        yield f"| {count:,} | {name} | {cost['seconds']:.1f} | {cost['bytes']:,} | {cost['peak_mb']:.0f} |"
    peaks = json.loads((folder / "peak").read_text())
    held, mapped = peaks["RssAnon"], peaks["RssFile"]
    of_these = f"{held} of its own, {mapped} of mapped files"
    yield f"| {count:,} | (the command itself: {of_these}) |  |  | {peaks['VmRSS']} |"


if __name__ == "__main__":
    main()
