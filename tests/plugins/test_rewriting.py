"""Rewriters: RM3 and Bo1 beside slow transcriptions, vectors, spelling, and what models write."""

import dataclasses
import math
import re
from collections import Counter

import numpy as np
import pytest
import tiny_crossencoders
from stand_in_service import standing_in

from harness import testing
from harness.testing.rewriter import Searching
from harness.testing.texts import sentences, texts
from harness_bm25 import BM25
from harness_bm25.retriever import Lexical
from harness_rewriting import (
    Bo1Params,
    GenerateParams,
    HydeParams,
    RM3Params,
    RocchioParams,
    SpellingParams,
    Written,
)
from harness_rewriting.feedback import RM3, Bo1
from harness_rewriting.spelling import Spelling
from harness_rewriting.vectors import Rocchio

pytestmark = pytest.mark.extras

QUERIES = ["the castle of the island", "painter painter river", "nothing here", ""]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """An index of 300 sentences: its texts and its searcher."""
    corpus, folder = texts(sentences(300)), tmp_path_factory.mktemp("index")
    method = Lexical(BM25(analyser="whitespace", lengths="lucene"))
    method.index(corpus, folder)
    return corpus, method.open(corpus, folder)


def rewritten(method, corpus, searcher, queries=QUERIES, depth=20):
    return method.open(corpus, None, searcher).rewrite(queries, searcher.search(queries, depth))


def slow_rm3(query, hits, corpus, params):
    """Abdul-Jaleel et al. 2004 word by word, with Anserini's cuts."""
    df = Counter(word for text in corpus for word in set(text.split()))
    relevance = Counter()
    words = set()
    vectors = []
    for text, score in hits:
        counts = Counter(
            word for word in text.split()
            if 2 <= len(word) <= 20 and re.fullmatch("[a-z0-9]+", word) and df[word] / len(corpus) <= params.common
        )  # fmt: skip
        kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: params.terms]
        vectors.append((dict(kept), score))
        words |= {word for word, _ in kept}
    for word in words:
        for vector, score in vectors:
            if vector:
                relevance[word] += vector.get(word, 0) / sum(vector.values()) * score
    best = sorted(relevance.items(), key=lambda item: (-item[1], item[0]))[: params.terms]
    total, asked = sum(weight for _, weight in best), Counter(query.split())
    mixed = Counter()
    for word, count in asked.items():
        mixed[word] += (params.original if best else 1) * count / sum(asked.values())
    for word, weight in best:
        mixed[word] += (1 - params.original) * weight / total
    return {word: weight for word, weight in mixed.items() if weight > 0}


def slow_bo1(query, hits, corpus, params):
    times = Counter(word for text in corpus for word in text.split())
    inside = Counter(word for text, _ in hits for word in text.split())
    within = Counter(word for text, _ in hits for word in set(text.split()))
    asked = Counter(query.split())
    weights = {word: count / max(asked.values()) for word, count in asked.items()}

    def w(count, p):
        return count * math.log2((1 + p) / p) + math.log2(1 + p)

    if inside:
        top = max(inside.values())
        bound = w(top, top / len(corpus))
        added = {
            word: w(count, times[word] / len(corpus)) / bound for word, count in inside.items()
            if word in asked or within[word] >= params.in_documents
        }  # fmt: skip
        for word, value in sorted(added.items(), key=lambda item: (-item[1], item[0]))[: params.terms]:
            weights[word] = weights.get(word, 0) + value
    return weights


def first_hits(corpus, searcher, query, count):
    hits = searcher.search([query], 40)
    pairs = [
        (p, s) for p, s in zip(hits.passages[0].tolist(), hits.scores[0].tolist(), strict=True) if p >= 0
    ]
    pairs.sort(key=lambda pair: (-pair[1], pair[0]))
    return [(corpus.every[position], score) for position, score in pairs[:count]]


@pytest.mark.parametrize("params", [
    RM3Params(words="latin"), RM3Params(documents=3, terms=5, original=0.2, common=0.5, words="latin"),
    RM3Params(documents=20, terms=50, original=0.0, common=1.0, words="latin"),
])  # fmt: skip
def test_rm3_is_its_equation(engine, params):
    corpus, searcher = engine
    found = rewritten(RM3(params), corpus, searcher, depth=40).terms
    for query, terms in zip(QUERIES, found, strict=True):
        hits = first_hits(corpus, searcher, query, params.documents)
        assert terms == pytest.approx(slow_rm3(query, hits, corpus.every, params), rel=1e-6), query


@pytest.mark.parametrize("params", [Bo1Params(), Bo1Params(documents=10, terms=40, in_documents=1)])
def test_bo1_is_its_equation(engine, params):
    corpus, searcher = engine
    found = rewritten(Bo1(params), corpus, searcher, depth=40).terms
    for query, terms in zip(QUERIES, found, strict=True):
        hits = first_hits(corpus, searcher, query, params.documents)
        assert terms == pytest.approx(slow_bo1(query, hits, corpus.every, params), rel=1e-6), query


def test_equal_hits_are_read_in_the_order_of_the_corpus(tmp_path):
    corpus = texts(["castle one", "castle two", "castle three"])
    method = Lexical(BM25(analyser="whitespace"))
    method.index(corpus, tmp_path)
    searcher = method.open(corpus, tmp_path)
    hits = searcher.search(["castle"], 3)
    upside_down = hits._replace(passages=hits.passages[:, ::-1].copy(), scores=hits.scores[:, ::-1].copy())
    writer = RM3(RM3Params(documents=1, common=1.0, words="all")).open(corpus, None, searcher)
    assert "one" in writer.rewrite(["castle"], upside_down).terms[0]


def test_rocchio_moves_a_vector_towards_its_first_hits():
    corpus = texts(sentences(20))
    searcher = Searching(corpus)
    query = ["the castle of the island"]
    hits = searcher.search(query, 5)
    moved = rewritten(
        Rocchio(RocchioParams(documents=2, alpha=0.4, beta=0.6)), corpus, searcher, query
    ).vectors
    expected = 0.4 * searcher.encode(query)[0] + 0.6 * searcher.vectors(hits.passages[0][:2]).mean(axis=0)
    np.testing.assert_allclose(moved[0], expected, rtol=1e-5)


def corrected(folder, queries, every, **params):
    method = Spelling(SpellingParams(**params))
    corpus = texts(every)
    method.index(corpus, folder)
    return method.open(corpus, folder, None).rewrite(queries, None).texts


def test_a_word_becomes_the_nearest_and_then_the_most_frequent(tmp_path):
    every = ["the castle castles castle of stone", "castles castles castles hamlet", "river rival"]
    queries = ["Caslte of stone", "cstles?", "rivr", "xylophones", "the teh of", "HAMLET"]
    assert corrected(tmp_path, queries, every) == [
        "castle of stone",
        "castles?",
        "river",
        "xylophones",
        "the teh of",
        "HAMLET",
    ]


def test_words_without_spaces_between_them_are_left_alone(tmp_path):
    assert corrected(tmp_path, ["北京中国人民", "прывет"], ["北京是中国", "привет мир"]) == [
        "北京中国人民",
        "привет",
    ]


def written_by(service, **params):
    settings = {"url": service.url, "model": "m", "timeout": 250.0}
    return {"service": settings, "prompt": "Q: {query}", **params}


def test_what_a_service_writes_goes_behind_the_query(monkeypatch, tmp_path):
    pytest.importorskip("httpx")
    from harness.toolkit.services import Service
    from harness_rewriting.generated import Generate

    with standing_in(answer=lambda messages: messages[0]["content"].replace("Q:", "answer to")) as service:
        params = GenerateParams(service=Service(url=service.url, model="m"), prompt="Q: {query}", repeat=2)
        writer = Generate(params).open(texts([]), None, None)
        assert writer.rewrite(["one", "two"], None).texts == [
            "one one answer to one",
            "two two answer to two",
        ]
        assert writer.report() == {"texts": 2, "texts_cut": 0}
        sampled = dataclasses.replace(params, answers=3, temperature=1.0, repeat=1)
        Generate(sampled).open(texts([]), None, None).rewrite(["one"], None)
        assert sorted(body["seed"] for body in service.asked[-3:]) == [0, 1, 2]


@pytest.mark.parametrize("query", [True, False])
def test_hyde_is_its_equation(query):
    pytest.importorskip("httpx")
    from harness.toolkit.services import Service
    from harness_rewriting.generated import Hyde

    passages = {
        "the castle": ["a castle of stone", "stone castles", "the river"], "painter": ["old painter", "", "x y"],
    }  # fmt: skip
    answers = {asked: iter(texts) for asked, texts in passages.items()}
    corpus = texts(sentences(20))
    searcher = Searching(corpus)
    with standing_in(answer=lambda messages: next(answers[messages[0]["content"]])) as service:
        params = HydeParams(
            service=Service(url=service.url, model="m"),
            prompt="{query}",
            answers=3,
            temperature=1.0,
            query=query,
        )
        found = Hyde(params).open(corpus, None, searcher).rewrite(list(passages), None).vectors
    assert found.dtype == np.float32
    for row, (asked, written) in enumerate(passages.items()):
        summed = [0.0] * found.shape[1]
        every = [*([asked] if query else []), *written]
        for text in every:
            for place, value in enumerate(searcher.encode_passages([text])[0].tolist()):
                summed[place] += value
        assert found[row].tolist() == pytest.approx([value / len(every) for value in summed], rel=1e-5)


@pytest.mark.parametrize(
    "given", [{}, {"service": None, "model": "a/b", "prompt": "none"}, {"model": "a/b", "answers": 2}]
)
def test_what_cannot_write_is_refused(given):
    with pytest.raises(ValueError):
        Written(**given)


@pytest.mark.parametrize("kind", ["generate", "hyde"])
def test_a_generating_rewriter_keeps_the_contract(kind, tmp_path):
    pytest.importorskip("httpx")
    with standing_in() as service:
        for i, case in enumerate(testing.cases("rewriter", kind, written_by(service))):
            (folder := tmp_path / str(i)).mkdir()
            case(folder)


def test_a_t5_on_this_machine_writes_the_same_each_time(tmp_path):
    pytest.importorskip("transformers")
    from harness_rewriting.by_t5 import T5

    model = tiny_crossencoders.t5(tmp_path / "t5")
    greedy = T5(Written(model=model, max_tokens=6, device="cpu"))
    prompts = ["the old castle", "a river"]
    assert greedy.write(prompts) == greedy.write(prompts)
    assert [len(texts) for texts in greedy.write(prompts)[0]] == [1, 1]
    sampling = T5(Written(model=model, max_tokens=6, device="cpu", answers=4, temperature=1.0))
    together, alone = sampling.write(prompts)[0], [sampling.write([prompt])[0][0] for prompt in prompts]
    assert together == alone
    assert len(set(together[0])) > 1
