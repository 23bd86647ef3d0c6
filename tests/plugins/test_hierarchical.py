"""The combiner `hierarchical` against a slow transcription, and cases by hand."""

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.types import Hits, Structure
from harness_hierarchical import HierarchicalParams, methods
from harness_hierarchical.methods import Hierarchical

FIRST = [0, 2, 4, 7, 8]  # four documents of 2, 2, 3 and 1 passages; passage 3 is no candidate
STRUCTURE = Structure(
    np.array([0, 0, 1, 1, 2, 2, 2, 3], np.int32),
    np.array(FIRST, np.int64),
    np.array([True, True, True, False, True, True, True, True]),
)
NOTHING = Hits(np.full((1, 0), -1, np.int64), np.zeros((1, 0), np.float32))


def documents(*queries):
    """One {document: score} a query, sorted best first and filled."""
    width = max((len(query) for query in queries), default=0)
    found, scores = np.full((len(queries), width), -1, np.int64), np.zeros((len(queries), width), np.float32)
    for row, query in enumerate(queries):
        for column, (document, score) in enumerate(sorted(query.items(), key=lambda item: -item[1])):
            found[row, column], scores[row, column] = document, score
    return Hits(found, scores, "document")


def scorer(*queries, excluded=()):
    """A retriever that scores passage p of a query as its list says; it remembers what it was asked."""
    asked = []

    def rescore(number, positions, first=0):
        assert number == 0
        asked.append(positions.tolist())
        passages, scores = np.full_like(positions, -1), np.full(positions.shape, -np.inf, np.float32)
        for row, wanted in enumerate(positions.tolist()):
            kept = [p for p in wanted if p >= 0 and p not in excluded]
            for column, p in enumerate(sorted(kept, key=lambda p: -queries[first + row][p])):
                passages[row, column], scores[row, column] = p, queries[first + row][p]
        return Hits(passages, scores)

    rescore.asked = asked
    return rescore


def combined(found, rescore, depth=10, **given):
    blank = Hits(
        np.full((len(found.passages), 0), -1, np.int64), np.zeros((len(found.passages), 0), np.float32)
    )
    return Hierarchical(HierarchicalParams(**given)).combine([blank, found], depth, STRUCTURE, rescore)


def pairs(hits, row=0):
    return [
        (p, s) for p, s in zip(hits.passages[row].tolist(), hits.scores[row].tolist(), strict=True) if p >= 0
    ]


def slow(found, scores, weight, count, depth):
    """One query, plain dicts: documents, the passages in them, both sides normalised, fused."""
    best = dict(sorted(found.items(), key=lambda item: -item[1])[:count])
    inside = [p for d in best for p in range(FIRST[d], FIRST[d + 1]) if STRUCTURE.candidate[p]]
    own = normal({p: scores[p] for p in inside})
    side = normal({p: best[int(STRUCTURE.document_of[p])] for p in inside})
    total = {p: weight * own[p] + (1 - weight) * side[p] for p in inside}
    return sorted(total.items(), key=lambda item: (-np.float32(item[1]), item[0]))[:depth]


def normal(scores):
    if not scores:
        return {}
    least, greatest = min(scores.values()), max(scores.values())
    return {p: (s - least) / max(greatest - least, 1e-4) for p, s in scores.items()}


SCORES = [1.0, 5.0, 3.0, 9.0, 2.0, 4.0, 0.0, 8.0]


def test_the_passages_of_the_best_documents_are_scored_and_no_others():
    rescore = scorer(SCORES)
    result = combined(documents({0: 2.0, 1: 4.0, 3: 1.0}), rescore, documents=2)
    assert [sorted(row) for row in rescore.asked[0]] == [[0, 1, 2]]  # passage 3 is no candidate
    assert {p for p, _ in pairs(result)} == {0, 1, 2}


def test_both_sides_are_normalised_and_weighed():
    result = combined(documents({0: 2.0, 1: 4.0}), scorer(SCORES), weight=0.75)
    # passages 0, 1, 2 have 1, 5, 3, so 0, 1, 0.5; their documents 2, 2, 4, so 0, 0, 1
    assert pairs(result) == [(1, 0.75), (2, 0.625), (0, 0.0)]


def test_a_smaller_depth_gives_the_first_of_the_same_ranking():
    whole = combined(documents({0: 2.0, 1: 4.0}), scorer(SCORES), weight=0.75)
    assert (
        pairs(combined(documents({0: 2.0, 1: 4.0}), scorer(SCORES), depth=2, weight=0.75)) == pairs(whole)[:2]
    )


def test_documents_of_equal_scores_add_nothing():
    result = combined(documents({0: 3.0, 1: 3.0}), scorer(SCORES), weight=0.5)
    assert pairs(result) == [(1, 0.5), (2, 0.25), (0, 0.0)]


def test_a_single_passage_scores_zero_and_stays():
    assert pairs(combined(documents({3: 3.0}), scorer(SCORES))) == [(7, 0.0)]


def test_ties_are_in_order_of_position():
    assert [p for p, _ in pairs(combined(documents({2: 3.0}), scorer([1.0] * 8)))] == [4, 5, 6]


def test_what_the_query_excludes_stays_out():
    result = combined(documents({0: 2.0, 1: 4.0}), scorer(SCORES, excluded={1}), weight=0.5)
    assert pairs(result) == [(2, 1.0), (0, 0.0)]


def test_nothing_found_gives_nothing():
    assert pairs(combined(documents({}), scorer(SCORES))) == []
    result = combined(documents({0: 1.0}, {}), scorer(SCORES, SCORES))
    assert pairs(result, 1) == []
    assert combined(documents(), scorer()).passages.shape[0] == 0


def test_a_ranking_of_passages_is_no_first_stage():
    with pytest.raises(HarnessError, match=r"hierarchical: the second input ranks passages; name a system"):
        combined(NOTHING, scorer(SCORES))


@pytest.mark.parametrize("cells", [1, 40, 1 << 20])
def test_it_equals_the_slow_transcription_in_one_block_and_in_many(cells, monkeypatch):
    monkeypatch.setattr(methods, "CELLS", cells)
    chance = np.random.default_rng(3)
    grades = [0.0, 1.0, 1 + 2**-14, 2.5, -4.0]
    found = [
        {
            int(d): float(chance.choice(grades)) + int(d) / 64
            for d in chance.permutation(4)[: chance.integers(5)]
        }
        for _ in range(60)
    ]
    scores = [[float(chance.choice(grades)) for _ in range(8)] for _ in range(60)]
    for weight, count, depth in ((0.8, 100, 10), (0.3, 2, 3), (1.0, 1, 10), (0.0, 3, 4)):
        result = combined(documents(*found), scorer(*scores), depth, weight=weight, documents=count)
        for row in range(60):
            wanted = slow(found[row], scores[row], weight, count, depth)
            got = pairs(result, row)
            assert [s for _, s in got] == pytest.approx([s for _, s in wanted], abs=1e-6)
            assert dict(got) == pytest.approx(dict(wanted), abs=1e-6)


def test_no_block_of_queries_is_larger_than_allowed_unless_it_is_one_query(monkeypatch):
    monkeypatch.setattr(methods, "CELLS", 40)
    widths = np.array([3, 10, 0, 50, 1, 20, 20, 20])
    ranges = list(methods.blocks(widths))
    assert [(rows.start, rows.stop) for rows in ranges] == [(0, 3), (3, 4), (4, 6), (6, 8)]
    assert list(methods.blocks(widths[:0])) == []


def test_only_the_best_passages_are_fused():
    """What is cut enters neither the ranking nor the least score that min-max takes."""
    structure = Structure(np.array([0, 0, 0], np.int32), np.array([0, 3]), np.ones(3, np.bool_))
    ranked = [
        Hits(np.array([[0]]), np.array([[1.0]], np.float32)),
        Hits(np.array([[0]]), np.array([[5.0]], np.float32), "document"),
    ]

    def rescore(number, positions, first=0):
        return Hits(np.array([[2, 0, 1]]), np.array([[9.0, 5.0, 1.0]], np.float32))

    whole = methods.Hierarchical(HierarchicalParams(1.0, 1)).combine(ranked, 3, structure, rescore)
    cut = methods.Hierarchical(HierarchicalParams(1.0, 1, 2)).combine(ranked, 3, structure, rescore)
    assert (whole.passages.tolist(), whole.scores.tolist()) == ([[2, 0, 1]], [[1.0, 0.5, 0.0]])
    assert cut.passages[0, :2].tolist() == [2, 0]
    assert cut.scores[0, :2].tolist() == [1.0, 0.0]
    assert (cut.passages[0, 2:] == -1).all()
