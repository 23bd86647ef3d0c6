"""Measures how time, disk and memory grow with the number of passages: a whole suite on generated
collections."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "lexical"))
import corpus as generated

QUERIES, DIMENSION, DOCUMENT = 200, 384, 4  # passages of a document
BYTES = {"int8": 3_000, "fp16": 3_500, "fp32": 4_200}  # of disk for a passage, with all files and the store
SUITE = """
suite: scale
datasets: {{scale: {{files: {{path: {folder}, language: en}}}}}}
systems:
  bm25: {{retriever: {{bm25: {{analyser: whitespace}}}}}}
  titles: {{context: [titles], retriever: {{bm25: {{analyser: whitespace}}}}}}
  documents: {{retriever: {{bm25: {{analyser: whitespace}}}}, unit: document}}
  vectors: {{retriever: {{vectors: {{
    passages: {folder}/vectors.npy, passage_ids: {folder}/ids.txt, stored: {stored},
    queries: {folder}/asked.npy, query_ids: {folder}/asked.txt, query_texts: {folder}/queries.jsonl}}}}}}
  fused: {{of: [bm25, vectors], combine: {{convex: {{weight: 0.5}}}}}}
  hierarchical: {{of: [vectors, documents], combine: {{hierarchical: {{weight: 0.8}}}}}}
{reranked}measures: [nDCG@10, R@100]
depth: 100
"""
RERANKED = "  reranked: {{of: bm25, rerank: {{crossencoder: {{model: {model}}}, depth: 20}}}}\n"

# ru_maxrss would be wrong: a process inherits the peak of the process that started it
MEASURED = """
import json, pathlib, sys, threading, time
from harness.cli import main
NAMES = ("RssAnon", "RssFile", "VmRSS")
peaks, ended = {who: dict.fromkeys(NAMES, 0) for who in ("command", "workers")}, threading.Event()
def note(who, process):
    try:
        lines = pathlib.Path("/proc", str(process), "status").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        name, _, value = line.partition(":")
        if name in NAMES:
            peaks[who][name] = max(peaks[who][name], int(value.split()[0]) // 1024)
def watch():
    while True:
        note("command", "self")
        for children in pathlib.Path("/proc/self/task").glob("*/children"):
            for process in children.read_text().split():
                note("workers", process)
        if ended.wait(0.02):
            return
thread = threading.Thread(target=watch)
thread.start()
began = time.perf_counter()
code = main()
seconds = time.perf_counter() - began
ended.set()
thread.join()
pathlib.Path(peak_file).write_text(json.dumps({**peaks, "seconds": seconds}))
sys.exit(code)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="for the collections and the store")
    parser.add_argument("--reranker", help="a cross-encoder: its row re-ranks the 20 best of bm25")
    parser.add_argument("--stored", default="int8", choices=BYTES, help="how vectors are stored")
    parser.add_argument("--remove", action="store_true", help="remove each collection after its run")
    options = parser.parse_args()
    print("| passages | step | seconds | bytes | peak MB |\n| --- | --- | --- | --- | --- |")
    for count in options.passages:
        folder = (options.folder / str(count)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "qrels" / "test.tsv").exists():
            free, needed = shutil.disk_usage(folder).free, count * BYTES[options.stored]
            if free < needed:
                sys.exit(f"{count:,} passages take {needed / 1e9:.0f} GB; {free / 1e9:.0f} GB are free")
            write(folder, count)
        reranked = RERANKED.format(model=options.reranker) if options.reranker else ""
        text = SUITE.format(folder=folder, stored=options.stored, reranked=reranked)
        (folder / "suite.yaml").write_text(text)
        for line in costs(folder, count):
            print(line, flush=True)
        if options.remove:
            shutil.rmtree(folder)


def write(folder: Path, count: int) -> None:
    """Write a collection with one judged passage for each query, unit vectors of the passages, and for each
    query a vector near that of its judged passage."""
    rng = np.random.default_rng(0)
    judged = np.sort(rng.choice(count, QUERIES, replace=False))
    asked, queries = np.empty((QUERIES, DIMENSION), np.float32), []
    load = generated.generated(folder, count, QUERIES)
    title = ""
    with (
        load.passages.open(encoding="utf-8") as lines,
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus,
        (folder / "ids.txt").open("w", encoding="utf-8") as ids,
    ):
        for i, line in enumerate(lines):
            words = line.split()
            if i % DOCUMENT == 0:
                title = f"{words[0]} {i // DOCUMENT}"
            document = {"doc_id": f"d{i // DOCUMENT}", "paragraph_no": i % DOCUMENT}
            row = {"_id": f"p{i}", "title": title, "text": " ".join(words), **document}
            corpus.write(json.dumps(row) + "\n")
            ids.write(f"p{i}\n")
            if len(queries) < QUERIES and i == judged[len(queries)]:
                queries.append(" ".join(words[10:17]))
    load.passages.unlink()
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float16, (count, DIMENSION))
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
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels)


def costs(folder: Path, count: int) -> Iterator[str]:
    """The lines of the table for one collection: the cost of each step of a run into an empty store, then the
    peak memory of the command's own process and of its workers. The command's own process runs no method."""
    store = folder / "store"
    command = ["harness", "run", str(folder / "suite.yaml"), "--store", str(store)]
    code = f"import sys; sys.argv = {command!r}; peak_file = {str(folder / 'peak')!r}\n{MEASURED}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    total = 0
    for manifest in sorted(store.glob("artifacts/*/manifest.json")):
        content = json.loads(manifest.read_bytes().rstrip().rpartition(b"\n")[0])
        cost, keyed = content["cost"], content["keyed"]
        texts = keyed.get("texts", {})
        augmented, of_documents = bool(texts.get("stages")), texts.get("unit") == "document"
        variant = "+titles" if augmented else " of documents" if of_documents else ""
        name = f"{keyed['kind']} {keyed.get('method', {}).get('name', '')}{variant}".strip()
        total += cost["bytes"]
        yield f"| {count:,} | {name} | {cost['seconds']:.1f} | {cost['bytes']:,} | {cost['peak_mb']:.0f} |"
    measured = json.loads((folder / "peak").read_text())
    for who in ("command", "workers"):
        peaks = measured[who]
        text = f"the {who}: {peaks['RssAnon']} MB of its own, {peaks['RssFile']} MB of mapped files"
        seconds, size = (f"{measured['seconds']:.0f}", f"{total:,}") if who == "command" else ("", "")
        yield f"| {count:,} | ({text}) | {seconds} | {size} | {peaks['VmRSS']} |"


if __name__ == "__main__":
    main()
