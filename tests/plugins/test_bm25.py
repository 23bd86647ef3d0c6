"""The embedded engine: every formula against a plain reading of it, and what a user may do wrong."""

import math
from collections import Counter

import numpy as np
import pytest

from harness import testing
from harness.errors import HarnessError
from harness.testing.texts import MemoryTexts, sentences
from harness.types import Facts
from harness_bm25 import BM25, QL, building, harness_retrievers, resolve, storage
from harness_bm25.retriever import Lexical
from harness_bm25.weights import FLOOR, lucene_length

TEXTS = [
    "red red fish swims",
    "blue fish",
    "the fish of the river and the red bridge over the long river",
    "",
    "bridge",
    "one fish two fish red fish blue fish",
    "one fish two fish red fish blue fish",
]
QUERY = "red red fish bridge whale"


def opened(texts, folder, params=None, threads=1, **how):
    corpus = testing.texts(texts, **how)
    folder.mkdir(exist_ok=True)
    lexical = Lexical(params or BM25(analyser="whitespace"), threads)
    lexical.index(corpus, folder)
    return lexical.open(corpus, folder)


def plain(texts, query, params):
    """Scores by position, read off the papers, one passage at a time."""
    counts = [Counter(text.split()) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    filled = sum(length > 0 for length in lengths)
    average, total = sum(lengths) / filled, sum(lengths)
    if params.lengths == "lucene":
        lengths = lucene_length(np.array(lengths, np.float32)).tolist()
    scores = {}
    for position, count in enumerate(counts):
        for term in query.split():
            if tf := count[term]:
                found, occurs = sum(term in other for other in counts), sum(other[term] for other in counts)
                if isinstance(params, QL):
                    gain = likelihood(tf, lengths[position], (occurs + 1) / (total + 1), params)
                else:
                    gain = bm25(tf, lengths[position] / average, found, filled, params)
                scores[position] = scores.get(position, 0) + gain
    return scores


def likelihood(tf, length, share, params):
    if params.smoothing == "dirichlet":
        gain = math.log(1 + tf / (params.mu * share)) + math.log(params.mu / (length + params.mu))
        return max(gain, 1e-30)
    return math.log(1 + (1 - params.lam) * tf / length / (params.lam * share))


def bm25(tf, length, df, n, params):
    k1, b = params.k1, params.b
    norm = 1 - b + b * length
    match params.form:
        case "lucene":
            return math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * norm)
        case "robertson":
            return max(math.log((n - df + 0.5) / (df + 0.5)), FLOOR) * tf / (tf + k1 * norm)
        case "atire":
            return max(math.log(n / df), FLOOR) * (k1 + 1) * tf / (tf + k1 * norm)
        case "bm25l":
            c, delta = tf / norm, 0.5 if params.delta is None else params.delta
            return math.log((n + 1) / (df + 0.5)) * (k1 + 1) * (c + delta) / (k1 + c + delta)
        case "bm25+":
            delta = 1 if params.delta is None else params.delta
            return math.log((n + 1) / df) * ((k1 + 1) * tf / (tf + k1 * norm) + delta)


def rows(hits):
    return [
        {int(p): float(s) for p, s in zip(passages, scores, strict=True) if p >= 0}
        for passages, scores in zip(hits.passages, hits.scores, strict=True)
    ]


FORMS = [
    *[BM25(form=form, analyser="whitespace") for form in ("lucene", "robertson", "atire", "bm25l", "bm25+")],
    BM25(form="lucene", k1=0, analyser="whitespace"),
    BM25(form="lucene", b=1, k1=2, lengths="lucene", analyser="whitespace"),
    BM25(form="bm25l", delta=0.2, b=1, analyser="whitespace"),
    BM25(form="bm25+", delta=0, analyser="whitespace"),
    QL(analyser="whitespace"),
    QL(mu=3, analyser="whitespace"),
    QL(smoothing="jelinek-mercer", analyser="whitespace"),
    QL(smoothing="jelinek-mercer", lam=0.7, lengths="lucene", analyser="whitespace"),
]


@pytest.mark.parametrize("params", FORMS, ids=str)
def test_a_form_scores_as_its_formula_says(params, tmp_path):
    chance = np.random.default_rng(2)
    texts = TEXTS + [" ".join(chance.choice(QUERY.split() + ["x"] * 9, n)) for n in range(60)]
    (row,) = rows(opened(texts, tmp_path, params).search([QUERY], 100))
    assert row == pytest.approx(plain(texts, QUERY, params), rel=2e-5, abs=1e-7)


def test_lucenes_length_in_a_byte_is_exact_to_39_and_has_four_bits_after():
    given = np.array([0, 1, 23, 24, 39, 40, 41, 42, 55, 56, 60, 63, 1000], np.float32)
    assert lucene_length(given).tolist() == [0, 1, 23, 24, 39, 40, 40, 42, 54, 56, 60, 60, 984]


def test_equal_scores_are_in_the_order_of_positions(tmp_path):
    hits = opened(["same words"] * 50, tmp_path, threads=2).search(["words"], 7)
    assert hits.passages.tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    assert len(set(hits.scores[0].tolist())) == 1


def test_a_word_twice_in_a_query_counts_twice(tmp_path):
    search = opened(TEXTS, tmp_path)
    once, twice = rows(search.search(["bridge", "bridge bridge"], 10))
    assert twice == pytest.approx({position: 2 * score for position, score in once.items()})


@pytest.mark.parametrize("query", ["", "whale", "   "])
def test_a_query_without_a_known_word_finds_nothing(query, tmp_path):
    hits = opened(TEXTS, tmp_path).search([query, "fish"], 3)
    assert hits.passages[0].tolist() == [-1, -1, -1]
    assert hits.passages[1].tolist() == [5, 6, 1]


def test_no_queries_have_hits_of_their_shape(tmp_path):
    hits = opened(TEXTS, tmp_path).search([], 5)
    assert hits.passages.shape == hits.scores.shape == (0, 5)


@pytest.mark.parametrize(
    "texts", [[], [""], ["", "the of and"]], ids=["no text", "an empty text", "stopwords"]
)
def test_a_corpus_without_words_is_indexed_and_finds_nothing(texts, tmp_path):
    hits = opened(texts, tmp_path, BM25()).search(["the fish", ""], 2)
    assert hits.passages.tolist() == [[-1, -1], [-1, -1]]


def test_a_passage_of_a_megabyte_is_found_and_held_back_for_its_length(tmp_path):
    hits = opened([f"needle {'hay ' * 260_000}", "needle in hay"], tmp_path, BM25()).search(["needle"], 2)
    assert hits.passages.tolist() == [[1, 0]]


def test_only_candidates_are_found_and_by_their_positions_in_the_corpus(tmp_path):
    search = opened(["fish", "fish", "fish", "bird"], tmp_path, candidates=[False, True, True, False])
    assert rows(search.search(["fish bird"], 5))[0].keys() == {1, 2}


def test_within_scores_the_named_positions_as_the_whole_search_does(tmp_path):
    search = opened(TEXTS, tmp_path)
    whole = rows(search.search([QUERY, "blue"], 10))
    hits = search.search([QUERY, "blue"], 4, np.array([[4, 2, 4, -1, 3], [-1, -1, 6, 0, 99]]))
    assert hits.passages.tolist() == [[2, 4, 3, -1], [6, 0, -1, -1]]
    assert rows(hits)[0] == {2: whole[0][2], 4: whole[0][4], 3: 0.0}
    assert rows(hits)[1] == {6: whole[1][6], 0: 0.0}


def test_a_title_counts_by_its_weight_as_if_it_were_repeated(tmp_path):
    texts, titles = ["fish swims", "a long text of fish", "bird"], ["bird", "", "fish bird"]
    repeated = [f"{title} {title} {text}" for title, text in zip(titles, texts, strict=True)]
    weighted = BM25(analyser="whitespace", title_weight=2)
    search = opened(texts, tmp_path / "a", weighted, titles=titles)
    plainly = opened(repeated, tmp_path / "b")
    assert rows(search.search(["fish bird"], 5)) == rows(plainly.search(["fish bird"], 5))
    half = opened(texts, tmp_path / "c", BM25(analyser="whitespace", title_weight=0.5), titles=titles)
    assert half.explain("bird", 0)[0].tf == 0.5


def test_without_a_weight_titles_are_not_read(tmp_path):
    search = opened(["fish"], tmp_path, titles=["bird"])
    assert rows(search.search(["bird"], 1)) == [{}]


def test_an_explanation_adds_up_to_the_score(tmp_path):
    search = opened(TEXTS, tmp_path)
    (row,) = rows(search.search([QUERY], 10))
    for position, score in row.items():
        parts = search.explain(QUERY, position)
        assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-6)
    first = {part.term: part for part in search.explain(QUERY, 0)}
    assert (first["red"].query_tf, first["red"].tf, first["red"].df) == (2, 2, 4)
    assert "bridge" not in first
    assert search.explain(QUERY, 3) == search.explain(QUERY, 77) == []


def test_a_grid_over_the_formula_shares_one_index():
    index_time = {
        record.name: set(record.params.__dataclass_fields__) - set(record.search_only)
        for record in harness_retrievers()
    }
    assert index_time == {"bm25": {"analyser", "title_weight"}, "ql": {"analyser", "title_weight"}}


def test_an_index_serves_every_formula(tmp_path):
    opened(TEXTS, tmp_path)
    corpus = testing.texts(TEXTS)
    for params in FORMS:
        (row,) = rows(Lexical(params).open(corpus, tmp_path).search([QUERY], 10))
        assert row == pytest.approx(plain(TEXTS, QUERY, params), rel=2e-5, abs=1e-7)


def test_the_analyser_comes_from_the_passages_language():
    facts = Facts(language="zh", query_language="en", unit="passage")
    assert resolve(BM25(), facts).analyser == "cjk"
    assert resolve(QL(analyser="simple"), facts).analyser == "simple"
    with pytest.raises(HarnessError, match="does not say its language"):
        resolve(BM25(), facts._replace(language=None))


def test_a_killed_build_leaves_nothing_that_opens_and_the_next_one_succeeds(tmp_path):
    class Dies(MemoryTexts):
        def batches(self, size=8192, start=0, stop=None):
            yield from super().batches(size, start, 20)
            raise KeyboardInterrupt

    texts = sentences(40)
    whole = testing.texts(texts)
    lexical = Lexical(BM25())
    lexical.index(whole, tmp_path)  # an older index is in the way too
    with pytest.raises(KeyboardInterrupt):
        lexical.index(Dies(**whole.__dict__), tmp_path)
    with pytest.raises(HarnessError, match="there is no finished index here"):
        lexical.open(whole, tmp_path)
    lexical.index(whole, tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json"] + [".npy"] * len(
        storage.Index._fields
    )
    assert rows(lexical.open(whole, tmp_path).search(["railway"], 5))[0]


def test_an_index_is_the_same_bytes_for_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "WINDOW", 64)
    monkeypatch.setattr(building, "BATCH", 16)
    texts = sentences(500)
    for threads in (1, 3):
        opened(texts, tmp_path / str(threads), BM25(), threads)
    for path in sorted((tmp_path / "1").iterdir()):
        assert path.read_bytes() == (tmp_path / "3" / path.name).read_bytes(), path.name


def test_files_that_do_not_fit_one_another_are_refused(tmp_path):
    def shifted(path):
        array = np.load(path)
        array[-1] += 1
        np.save(path, array)

    opened(TEXTS, tmp_path)
    shifted(tmp_path / "block_start.npy")
    with pytest.raises(HarnessError, match="do not fit"):
        storage.read(tmp_path)


def test_texts_tie_that_differ_only_in_terms_whose_weight_is_below_0(tmp_path):
    """As in Lucene, where such a term adds 0."""
    texts = ["a b c d e f g the", "a b c d e f the of", "fish a b c d e f g", "fish a b c d e f the"]
    searcher = opened([*texts, "the of " * 40], tmp_path / "index", QL(mu=4, analyser="whitespace"))
    hits = searcher.search(["fish the of", "the of"], 5)
    assert hits.passages.tolist() == [[2, 3, 4, 0, 1], [4, 0, 1, 3, -1]]
    assert hits.scores[0, 0] == hits.scores[0, 1] > 0.1
    assert 0 < hits.scores[1, 1] == hits.scores[1, 3] < 1e-20
