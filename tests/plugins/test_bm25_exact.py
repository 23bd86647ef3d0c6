"""The embedded engine finds exactly the best: against scoring every text, over many windows and threads."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness import testing
from harness_bm25 import BM25, QL, building
from harness_bm25.building import Stretch
from harness_bm25.inverting import PAIRS
from harness_bm25.retriever import Lexical

WORDS = [f"w{number}" for number in range(30)]


def zipfian(chance, count, longest):
    """Texts in which w0 is in most and w29 in few."""
    odds = 1 / (np.arange(len(WORDS)) + 1) ** 1.2
    odds /= odds.sum()
    return [" ".join(chance.choice(WORDS, chance.integers(0, longest), p=odds)) for _ in range(count)]


def best(search, query, k, size):
    """The k best by scoring every position, those without a word of the query left out."""
    hits = search.search([query], size, np.arange(size)[None, :])
    found = hits.scores[0] > 0
    return hits.passages[0][found][:k].tolist(), hits.scores[0][found][:k].tolist()


def opened(texts, folder, params, window, threads=1):
    """An index of windows of so many texts, as a large corpus has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "WINDOW", window)
        patch.setattr(building, "BATCH", 8)
        corpus = testing.texts(texts, batch=8)
        folder.mkdir(exist_ok=True)
        lexical = Lexical(params, threads)
        lexical.index(corpus, folder)
    return lexical.open(corpus, folder)


PARAMS = st.sampled_from(
    [
        *[
            BM25(form=form, analyser="whitespace")
            for form in ("lucene", "robertson", "atire", "bm25l", "bm25+")
        ],
        *[QL(analyser="whitespace", mu=mu) for mu in (2.0, 1000.0)],
        QL(analyser="whitespace", smoothing="jelinek-mercer"),
    ]
)


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 400),
    longest=st.integers(1, 40),
    window=st.sampled_from([8, 64, 1 << 16]),
    params=PARAMS,
    k=st.sampled_from([1, 3, 10, 100, 1000]),
)
@example(seed=556, count=322, longest=22, window=8, params=BM25(analyser="whitespace"), k=10)
def test_the_best_are_exactly_those_of_scoring_every_text(
    tmp_path_factory, seed, count, longest, window, params, k
):
    chance = np.random.default_rng(seed)
    texts = zipfian(chance, count, longest)
    search = opened(texts, tmp_path_factory.mktemp("index"), params, window)
    queries = [" ".join(chance.choice(WORDS, chance.integers(1, 8))) for _ in range(4)]
    hits = search.search(queries, k)
    for row, query in enumerate(queries):
        passages, scores = best(search, query, k, max(count, 1))
        n = len(passages)
        assert hits.passages[row].tolist() == passages + [-1] * (k - n), query
        assert hits.scores[row, :n].tolist() == scores


def test_results_do_not_depend_on_threads_or_on_the_other_queries(tmp_path):
    chance = np.random.default_rng(5)
    texts = zipfian(chance, 3000, 60)
    queries = [" ".join(chance.choice(WORDS, 5)) for _ in range(60)]
    one = opened(texts, tmp_path / "1", BM25(analyser="whitespace"), 512)
    three = opened(texts, tmp_path / "3", BM25(analyser="whitespace"), 512, threads=3)
    for k in (1, 10, 500):
        together, apart = three.search(queries, k), [one.search([query], k) for query in queries]
        assert together.passages.tolist() == [hits.passages[0].tolist() for hits in apart]
        assert together.scores.tolist() == [hits.scores[0].tolist() for hits in apart]


def test_windows_do_not_change_what_is_found(tmp_path):
    texts = zipfian(np.random.default_rng(6), 3000, 60)
    found = []
    for window in (100, 1000, 1 << 16):
        search = opened(texts, tmp_path / str(window), BM25(analyser="whitespace"), window)
        found.append(search.search(["w0 w3 w29", "w1 w2", "w25 w26 w27 w28"], 50))
    assert found[0].passages.tolist() == found[1].passages.tolist() == found[2].passages.tolist()
    assert found[0].scores.tolist() == found[1].scores.tolist() == found[2].scores.tolist()


def test_a_corpus_sorted_by_topic_is_searched_exactly(tmp_path):
    """The threshold that is guessed from the first window is far too high for the others."""
    texts = ["w1 w2 w3"] * 8 + ["w1 x y z"] * 600
    search = opened(texts, tmp_path, BM25(analyser="whitespace"), 100)
    assert search.search(["w1 w2"], 200).passages[0].tolist() == list(range(200))


def test_a_window_with_too_many_pairs_for_two_bytes_is_halved():
    chance = np.random.default_rng(7)
    texts, terms = 80, 1000
    numbers = np.tile(np.arange(terms, dtype=np.int32), texts)
    ends = np.arange(terms, terms * texts + 1, terms, dtype=np.int64)
    shares = chance.random(texts * terms).astype(np.float32) + 1
    lengths = np.arange(1, texts + 1, dtype=np.float32)
    assert len(np.unique(shares)) > PAIRS
    windows = building._invert(Stretch(numbers, ends, shares, lengths))
    assert len(windows) == 2
    assert np.concatenate([window.lengths for window in windows]).tolist() == lengths.tolist()
    for window, part in zip(windows, (slice(0, 40), slice(40, 80)), strict=True):
        assert window.spilled.block_count.tolist() == [40] * terms
        expected = shares.reshape(texts, terms)[part].T.ravel()
        assert window.pair_tf[window.spilled.pairs].tolist() == expected.tolist()
        assert window.pair_length[window.spilled.pairs].tolist() == np.tile(lengths[part], terms).tolist()


REAL = [
    # collection, language, titles before the text, parameters, {measure: (at least, at most)}
    ("scifact", "en", True, BM25(), {"nDCG@10": (0.6769, 0.6809), "R@100": (0.9233, 0.9273)}),
    (
        "scifact",
        "en",
        True,
        BM25(lengths="lucene"),
        {"nDCG@10": (0.67885, 0.67895), "R@1000": (0.9766, 0.9768)},
    ),
    ("xquad-zh", "zh", False, BM25(), {"nDCG@10": (0.94, 1)}),
    ("dureader2-demo", "zh", False, BM25(), {"R@50": (0.79, 1)}),
    ("dureader2-demo", "zh", True, BM25(), {"R@50": (0.91, 1)}),
]


@pytest.mark.real
@pytest.mark.parametrize(("name", "language", "titles", "params", "expected"), REAL)
def test_the_real_collections_score_as_published(name, language, titles, params, expected, tmp_path):
    import ir_measures

    folder = Path(os.environ.get("HARNESS_REAL_DATA", "")) / name
    if not os.environ.get("HARNESS_REAL_DATA") or not folder.is_dir():
        pytest.skip(f"HARNESS_REAL_DATA names no folder with {name}")
    ids, texts, queries, qrels = beir(folder, titles)
    corpus = testing.texts(texts, language=language, batch=8192)
    lexical = Lexical(params)
    lexical.index(corpus, tmp_path)
    hits = lexical.open(corpus, tmp_path).search(list(queries.values()), 1000)
    run = {
        query: {ids[p]: float(s) for p, s in zip(*row, strict=True) if p >= 0}
        for query, row in zip(queries, zip(hits.passages, hits.scores, strict=True), strict=True)
    }
    measures = [ir_measures.parse_measure(name) for name in expected]
    values = ir_measures.calc_aggregate(measures, qrels, run)
    for measure in measures:
        low, high = expected[str(measure)]
        assert low <= values[measure] <= high, (measure, values[measure])


def beir(folder, titles):
    import orjson

    corpus = [orjson.loads(line) for line in (folder / "corpus.jsonl").read_bytes().splitlines()]
    texts = [f"{row.get('title') or ''} {row['text']}" if titles else row["text"] for row in corpus]
    questions = [orjson.loads(line) for line in (folder / "queries.jsonl").read_bytes().splitlines()]
    asked = {row["_id"]: row["text"] for row in questions}
    qrels = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        qrels.setdefault(query, {})[passage] = int(grade)
    return [row["_id"] for row in corpus], texts, {query: asked[query] for query in qrels}, qrels
