"""Labels by answers equal all spans tried one by one; queries are cleaned, and compared with other splits."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from making_input import collection, other

from harness.types import Document, Judgement, Passage, Query
from harness_making import AnswersParams, CleanParams, SimilarParams
from harness_making.answers import LabelByAnswers
from harness_making.cleaning import CleanQueries
from harness_making.similar import DropSimilar, by_characters, by_vectors
from harness_making.spans import Bags, Level, Tokens, labels, tokens


def by_all_spans(passage, answer, tau, strict):
    """Algorithm 1 as it is printed."""
    for start in range(len(passage)):
        for end in range(start + 1, len(passage) + 1):
            span = passage[start:end]
            shared = sum((Counter(span) & Counter(answer)).values())
            f1 = Fraction(2 * shared, len(span) + len(answer))
            if f1 > tau or (f1 == tau and not strict):
                return True
    return False


LETTERS = {"en": ["a", "passport", "lasts", "ten", "years", "is", "sent"], "zh": list("护照有效期是十年申请")}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("cases", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_labels_equal_those_of_all_spans_on_random_cases(language, cases):
    random = np.random.default_rng(7)
    characters = language == "zh"
    joint = "" if characters else " "
    positives = 0
    for _ in range(cases):  # of some lengths, with few and many tokens in common
        alphabet = LETTERS[language][: random.integers(2, len(LETTERS[language]) + 1)]
        passage, answer = (joint.join(random.choice(alphabet, random.integers(1, n))) for n in (14, 7))
        filler = joint.join(["x"] * random.integers(0, 4))
        passage = joint.join([filler, passage, filler])
        tau, strict = random.choice([0.3, 0.5, 0.6, 2 / 3, 0.75, 1.0]), bool(random.integers(2))
        known = Tokens(characters)
        texts, answers = Bags.of([known.numbers(passage)]), Bags.of([known.numbers(answer)])
        [label] = labels(texts, answers, known.size, Level.of(tau, strict))
        exact = Fraction(str(tau))
        expected = by_all_spans(tokens(passage, characters), tokens(answer, characters), exact, strict)
        assert label == expected, (passage, answer, tau, strict)
        positives += expected
    assert cases / 6 < positives < cases * 5 / 6


def best_value(passage, answer):
    """The largest 4 |s n a| - |s| of any span s, which is |a| or more if the F1 of a span is .5 or more."""
    wanted, best = Counter(answer), 0
    for start in range(len(passage)):
        seen, shared = Counter(), 0
        for size, token in enumerate(passage[start:], 1):
            seen[token] += 1
            shared += seen[token] <= wanted[token]
            best = max(best, 4 * shared - size)
    return best


@pytest.mark.parametrize("cases", [200, pytest.param(5_000, marks=pytest.mark.slow)])
def test_labels_equal_those_of_all_spans_on_long_texts_with_few_words(cases):
    """Many spans hold a word more often than the answer does; no label may come from those."""
    random = np.random.default_rng(11)
    near = 0
    for _ in range(cases):
        words = int(random.integers(2, 40))
        passage = random.integers(0, words + random.integers(1, words + 1), random.integers(1, 90))
        answer = random.integers(0, words, random.integers(1, 50))
        best = best_value(passage.tolist(), answer.tolist())
        near += abs(best - len(answer)) < 6
        [label] = labels(Bags.of([passage]), Bags.of([answer]), 2 * words, Level.of(0.5, False))
        assert label == (best >= len(answer)), (passage.tolist(), answer.tolist())
    assert near > cases / 5


def test_several_answers_and_passages_are_tried_together():
    known = Tokens(False)
    passages = Bags.of([known.numbers(text) for text in ("", "it lasts ten years", "nothing of that", "B c")])
    answers = Bags.of([known.numbers(text) for text in ("?!", "ten years", "b C d")])
    assert labels(passages, answers, known.size, Level.of(0.8, False)).tolist() == [False, True, False, True]


def labelled(folder, **params):
    documents = [
        Document("d", "", (Passage("p0", "护照有效期是十年。"), Passage("p1", "照片要新。"))),
        Document("e", "", (Passage("p2", "有效期十年"),)),
    ]
    queries = [
        Query("q0", "多久？", answers=("有效期十年",)),
        Query("q1", "?", answers=("没有",)),
        Query("q2", "?"),
    ]
    judged = [Judgement("q0", "p0", 0), Judgement("q0", "p1", 0), Judgement("q1", "p0", 0)]
    folder.mkdir()
    given = collection(folder, documents, queries, judged, language="zh")
    made = LabelByAnswers(AnswersParams(unit="characters", **params)).make(given)
    return [query.id for query in made.queries], [tuple(row)[:3] for row in made.judgements], given.tally


def test_only_the_passages_that_a_query_names_are_labelled_unless_all_are_asked_for(tmp_path):
    queries, judged, tally = labelled(tmp_path / "judged", tau=0.7)
    assert (queries, judged) == (["q0"], [("q0", "p0", 1)])
    assert {item.why: item.times for item in tally.dropped} == {
        "without a passage that has an answer": 1,
        "without an answer": 1,
    }
    _, judged, _ = labelled(tmp_path / "all", tau=0.7, pairs="all")
    assert judged == [("q0", "p0", 1), ("q0", "p2", 1)]


def test_pairs_and_queries_without_an_answer_may_stay(tmp_path):
    queries, judged, _ = labelled(tmp_path / "in", tau=0.7, negatives="keep", unlabelled="keep")
    assert queries == ["q0", "q1", "q2"]
    assert judged == [("q0", "p0", 1), ("q0", "p1", 0), ("q1", "p0", 0)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("护照有效期多久", None),
        ("护照有效期 多久？", "a duplicate but for blanks, case and marks"),
        ("How long does a passport last", None),
        ("how  long does a passport last ?", "a duplicate but for blanks, case and marks"),
        ("周杰伦 歌曲下载", "a request for a resource"),
        ("怎么下载微信", None),  # it asks how
        ("frozen full movie", "a request for a resource"),
        ("how to download a video", None),
        ("北京天气", "no question"),
        ("cheap hotels london", "no question"),
        ("passport renewal, how long?", None),
        ("do i need a visa for spain", None),
        ("感冒与流感的区别", None),
        ("what is the secret of 42", "the rule secret"),
    ],
)
def test_queries_are_cleaned_by_rules(text, why):
    cleaner = CleanQueries(CleanParams(rules=("secret",)))
    seen: set[str] = set()
    for before in ("护照有效期多久?", "How long does a passport last?"):
        if before.rstrip("?") != text:
            cleaner.reason(before, seen)
    assert cleaner.reason(text, seen) == why


def test_judgements_of_queries_that_are_dropped_go_with_them(tmp_path):
    documents = [Document("d", "", (Passage("p", "x"),))]
    queries = [Query("q0", "why?"), Query("q1", "hotels")]
    given = collection(tmp_path, documents, queries, [Judgement("q0", "p", 1), Judgement("q1", "p", 1)])
    made = CleanQueries(CleanParams()).make(given)
    assert [query.id for query in made.queries] == ["q0"]
    assert list(made.judgements) == [Judgement("q0", "p", 1)]


TRAIN = [Query("t0", "护照有效期多久"), Query("t1", "怎么做鱼"), Query("t2", "护照有效期是多久呢")]
TEST = [Query("x", "护照有效期多久？"), Query("y", "蓝天为什么蓝")]


def similar(folder, **params):
    folder.mkdir()
    documents = [Document("d", "", (Passage("p", "x"),))]
    judged = [Judgement(query.id, "p", 1) for query in TRAIN]
    given = collection(
        folder, documents, TRAIN, judged, others={"raw/test": other(folder / "other", documents, TEST, [])}
    )
    made = DropSimilar(SimilarParams(to=("raw/test",), **params)).make(given)
    lines = (given.folder / "kept" / "similar.jsonl").read_text(encoding="utf-8").splitlines()
    return (
        list(made.queries),
        list(made.judgements),
        [json.loads(line) for line in lines],
        given.tally.facts(),
    )


def test_queries_like_those_of_another_split_are_dropped_and_their_pairs_told(tmp_path):
    queries, judgements, pairs, facts = similar(tmp_path / "in")
    assert [query.id for query in queries] == ["t1"]
    assert [judgement.query for judgement in judgements] == ["t1"]
    assert [(pair["query"], pair["to"], pair["other"]) for pair in pairs] == [
        ("t0", "raw/test", "x"),
        ("t2", "raw/test", "x"),
    ]
    assert facts["facts"] == {
        "similar pairs": 2, "queries of the others that are concerned": 1, "queries of the others": 2
    }  # fmt: skip


def test_similar_queries_may_be_marked_instead(tmp_path):
    queries, judgements, _, _ = similar(tmp_path / "in", action="mark")
    assert [query.slices for query in queries] == [("similar",), ("other",), ("similar",)]
    assert len(judgements) == 3


def test_similarity_is_the_cosine_of_counts_and_of_vectors():
    found = by_characters(["abab"], ["ab", "xy"], 0.5)
    # ^a ab ba ab b$ against ^a ab b$
    assert found.similarity[0] == pytest.approx((1 + 2 + 1) / (7**0.5 * 3**0.5), abs=1e-6)
    vectors = np.array([[1, 0], [1, 1]], np.float32)
    nearest = by_vectors(vectors, np.array([[0, 2], [3, 0]], np.float32), 0.9)
    assert nearest.other.tolist() == [1, 0]
    assert nearest.similarity == pytest.approx([1, 2**-0.5])
    assert (nearest.pairs, nearest.concerned.tolist()) == (1, [False, True])
