"""Measures what vectors in fewer bytes cost and save: the recall of the 100 nearest vectors by exact search
in fp32, and the time of a query, for forms of `dense` and for sentence-transformers over faiss, in one run.

The vectors are made from real ones: a model encodes the sentences of a collection. Each vector is a random
mixture of two sentences of one text (at least half of the first) and of noise of length `--noise`, scaled to
length 1."""

import argparse
import json
import re
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from harness.plugin import Facts
from harness.toolkit.neural.encoding import vectors
from harness.toolkit.neural.encoding.parts import Shard
from harness_dense import DenseParams, forms, resolve
from harness_dense.retriever import Dense

K, SHARD = 100, 1 << 16
FORMS = [
    {}, {"stored": "fp16"}, {"stored": "int8"}, {"stored": "binary", "rescore_by": "int8"},
    {"stored": "binary", "rescore_by": "int8", "rescore": 10}, {"stored": "binary"},
    {"stored": "binary", "rescore": 0}, {"dimensions": 2}, {"dimensions": 2, "stored": "int8"},
    {"dimensions": 2, "stored": "binary"}, {"dimensions": 4, "stored": "int8"},
]  # fmt: skip


def texts_of(path, most):
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows[: most or None]]


def made(model, data, given):
    """float32[N, d]: the vectors; and those of the queries."""
    sentences, of = [], []
    for number, text in enumerate(texts_of(data / "corpus.jsonl", given.texts)):
        parts = re.split(r"(?<=[.!?]) +", text)
        sentences += parts
        of += [number] * len(parts)
    began = time.perf_counter()
    real = model.encode(sentences, False)
    asked = model.encode(texts_of(data / "queries.jsonl", given.queries), True)
    print(f"{len(real):,} sentences of {max(of) + 1:,} texts: {time.perf_counter() - began:.0f} s to encode")
    random, of = np.random.default_rng(0), np.array(of)
    first = np.searchsorted(of, np.arange(of[-1] + 1))
    count = np.bincount(of)
    if not given.vectors:
        return real, asked
    rows = np.empty((given.vectors, real.shape[1]), np.float32)
    for start in range(0, len(rows), SHARD):
        part = rows[start : start + SHARD]
        one = random.integers(0, len(real), len(part))
        other = first[of[one]] + random.integers(0, 1 << 30, len(part)) % count[of[one]]
        share = random.uniform(0.5, 1, (len(part), 1)).astype(np.float32)
        noise = random.standard_normal(part.shape, np.float32)
        noise *= given.noise / np.linalg.norm(noise, axis=1, keepdims=True)
        part[:] = share * real[one] + (1 - share) * real[other] + noise
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return rows, asked


def ours(params, source, folder):
    """A search over a form, made from the full vectors."""
    folder.mkdir()
    forms.derive(source, folder, params)
    form = forms.read(folder, params)
    return lambda queries: forms.search(forms.shaped(queries, params), form, K)[0]


def theirs(rows):
    """sentence-transformers' search with rescoring over faiss' index of bits."""
    import faiss
    from sentence_transformers.util import quantization

    index = faiss.IndexBinaryFlat(rows.shape[1])
    index.add(quantization.quantize_embeddings(rows, "ubinary"))

    def search(queries):
        found, _ = quantization.semantic_search_faiss(
            queries, corpus_index=index, corpus_precision="ubinary", top_k=K, rescore=True,
            rescore_multiplier=4,
        )  # fmt: skip
        return np.array([[hit["corpus_id"] for hit in hits] for hits in found])

    return search


def recall(found, best):
    return float(np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, best, strict=True)]))


def times(searches, queries, rounds):
    """Milliseconds of one query alone and of one in a batch, by name; the searches take turns."""
    taken = {name: ([], []) for name in searches}
    for number in range(rounds + 1):  # the first round compiles and reads the files
        for name, search in searches.items():
            alone = []
            for query in queries[:20]:
                began = time.perf_counter()
                search(query[None])
                alone.append(time.perf_counter() - began)
            began = time.perf_counter()
            search(queries)
            if number:
                taken[name][0].append(statistics.median(alone) * 1e3)
                taken[name][1].append((time.perf_counter() - began) * 1e3 / len(queries))
    return {name: (min(alone), min(batch)) for name, (alone, batch) in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a folder with corpus.jsonl and queries.jsonl")
    parser.add_argument("--model", default="all-minilm-l6-v2")
    parser.add_argument("--texts", type=int, default=0, help="how many texts are cut into sentences")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", type=int, default=1_000_000, help="0: the sentences alone")
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="store_true", help="also sentence-transformers over faiss")
    given = parser.parse_args()
    given.model = Path(given.model) if Path(given.model).is_dir() else given.model
    facts = Facts("en", "en", "passage")
    full = resolve(DenseParams(model=given.model, stored="fp32", normalise=True), facts)
    rows, queries = made(Dense(full), given.data, given)
    dimension = rows.shape[1]
    print(f"{len(rows):,} vectors of {dimension} numbers, {len(queries)} queries", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "full"
        source.mkdir()
        write = vectors.writer(source, len(rows), dimension)
        for number, start in enumerate(range(0, len(rows), SHARD)):
            part = rows[start : start + SHARD]
            write(Shard(number, start, np.arange(start, start + len(part)), part))
        searches, sizes = {}, {}
        for form in FORMS:
            kept = dimension // form.get("dimensions", 1)
            params = resolve(
                DenseParams(
                    model=given.model, normalise=True, **{"stored": "fp32", **form, "dimensions": kept}
                ),
                facts,
            )
            name = " ".join(f"{key}={value}" for key, value in {**form, "dimensions": kept}.items())
            searches[name] = ours(params, source, Path(folder) / str(len(searches)))
            sizes[name] = forms.facts(Path(folder) / str(len(searches) - 1), params)["bytes_a_text"]
        if given.peer:
            searches["sentence-transformers, faiss, binary"] = theirs(rows)
            sizes["sentence-transformers, faiss, binary"] = dimension / 8
        first, *_ = searches
        best = searches[first](queries)
        spent = times(searches, queries, given.rounds)
        print("| form | bytes a vector | recall@100 | one query, ms | ratio | in a batch, ms | ratio |")
        for name, search in searches.items():
            alone, batch = spent[name]
            print(
                f"| {name} | {sizes[name]:g} | {recall(search(queries), best):.4f} | {alone:.2f} | "
                f"{spent[first][0] / alone:.1f} | {batch:.3f} | {spent[first][1] / batch:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
