"""One ranking: checked, sorted by one rule, cut; documents by their best passage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ContractError
from harness.scoring import ranking
from harness.types import Hits

IDS = ("a", "10", "9", "é", "B", "aa", "中")
BY_ID = ranking.ranks_of(IDS)


def hits(passages, scores):
    return Hits(np.array(passages, np.int64), np.array(scores, np.float32))


def ranked(passages, scores, depth=10, **options):
    return ranking.canonical(hits(passages, scores), size=len(IDS), rank_of_id=BY_ID, depth=depth, **options)


def test_ids_are_ranked_as_bytes():
    assert sorted(IDS, key=str.encode) == [IDS[i] for i in np.argsort(BY_ID)]


def test_the_best_comes_first_and_ties_go_to_the_greater_id():
    found = ranked([[0, 1, 2, 3, 4]], [[1.0, 2.0, 2.0, 1.0, -3.0]])
    assert found.passages.tolist() == [[2, 1, 3, 0, 4]]
    assert found.scores.tolist() == [[2.0, 2.0, 1.0, 1.0, -3.0]]


def test_negative_zero_ties_with_zero():
    assert ranked([[1, 2]], [[0.0, -0.0]]).passages.tolist() == [[2, 1]]


def test_fills_go_to_the_end_whatever_their_score():
    found = ranked([[-1, 3, -1, 0]], [[np.nan, 1.0, 99.0, 2.0]])
    assert found.passages.tolist() == [[0, 3, -1, -1]]
    assert found.scores.tolist() == [[2.0, 1.0, -np.inf, -np.inf]]


def test_a_ranking_is_cut_after_it_is_sorted():
    assert ranked([[0, 1, 2]], [[1.0, 2.0, 3.0]], depth=2).passages.tolist() == [[2, 1]]


def test_excluded_positions_leave_only_the_queries_that_exclude_them():
    exclude = [np.array([1]), np.array([], np.int64), np.array([0, 6])]
    found = ranked([[1, 0, 2]] * 3, [[3.0, 2.0, 1.0]] * 3, exclude=exclude)
    assert found.passages.tolist() == [[0, 2, -1], [1, 0, 2], [1, 2, -1]]


def test_the_hits_that_were_given_stay_as_they_are():
    given_hits = hits([[0, 1, 2]], [[1.0, 2.0, 3.0]])
    ranking.canonical(given_hits, size=7, rank_of_id=BY_ID, depth=2, exclude=[np.array([1])])
    assert given_hits.passages.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_queries_or_no_hits_are_a_ranking_too(shape):
    empty = Hits(np.empty(shape, np.int64), np.empty(shape, np.float32))
    assert ranking.canonical(empty, size=7, rank_of_id=BY_ID, depth=3).passages.shape[0] == shape[0]


def test_an_empty_corpus_has_short_rows_only():
    none = np.empty(0, np.int32)
    found = ranking.canonical(hits([[-1, -1]], [[0, 0]]), size=0, rank_of_id=none, depth=3)
    assert found.passages.tolist() == [[-1, -1]]


@pytest.mark.parametrize(("passages", "scores", "place", "value"), [
    ([[0, 1], [7, 2]], [[2, 1], [2, 1]], "query 1, column 0: ", "7"),
    ([[0, -2]], [[2, 1]], "query 0, column 1: ", "-2"),
    ([[0, 1]], [[2, np.nan]], "query 0, column 1: ", "nan"),
    ([[0, 1]], [[np.inf, 2]], "query 0, column 0: ", "inf"),
    ([[0, 1, 2], [3, 4, 3]], [[3, 2, 1]] * 2, "query 1, columns 0 and 2: ", "3"),
])  # fmt: skip
def test_a_broken_hit_is_named_with_query_column_and_value(passages, scores, place, value):
    with pytest.raises(ContractError, match=f"^{place}.* {value} "):
        ranked(passages, scores)


@pytest.mark.parametrize(("passages", "scores", "fault"), [
    (np.zeros((1, 2), np.uint64), np.zeros((1, 2), np.float32), r"passages .* uint64\[1, 2\]"),
    (np.zeros((1, 2), np.bool_), np.zeros((1, 2), np.float32), r"passages .* bool\[1, 2\]"),
    (np.zeros((1, 2), np.int64), np.zeros((1, 2)), r"scores .* float64\[1, 2\]"),
    (np.zeros(2, np.int64), np.zeros(2, np.float32), r"passages .* int64\[2\]"),
    ([[1]], np.zeros((1, 1), np.float32), "passages .* <class 'list'>"),
    (np.zeros((1, 2), np.int64), np.zeros((1, 3), np.float32), r"\[1, 2\] and \[1, 3\]"),
])  # fmt: skip
def test_a_wrong_form_is_refused(passages, scores, fault):
    with pytest.raises(ContractError, match=fault):
        ranking.canonical(Hits(passages, scores), size=7, rank_of_id=BY_ID, depth=3)


def test_positions_of_narrower_integers_become_int64():
    hits = ranking.canonical(
        Hits(np.array([[1, 2, -1]], np.int32), np.array([[1, 2, 3]], np.float32)),
        size=7, rank_of_id=BY_ID, depth=3,
    )  # fmt: skip
    assert (hits.passages.tolist(), hits.passages.dtype) == ([[2, 1, -1]], np.int64)


def test_a_wrong_number_of_queries_or_hits_is_refused():
    with pytest.raises(ContractError, match=r"1 queries .*; 2 "):
        ranked([[0, 1]], [[2, 1]], queries=2)
    with pytest.raises(ContractError, match=r"2 hits .* 1 "):
        ranked([[0, 1]], [[2, 1]], most_columns=1)


rows = st.lists(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-2, 2)), max_size=7, unique_by=lambda pair: pair[0]),
    min_size=1,
    max_size=5,
)


def padded(found):
    width = max(1, *map(len, found)) if len(found) > 1 else max(1, len(found[0]))
    passages = [[p for p, _ in row] + [-1] * (width - len(row)) for row in found]
    return hits(passages, [[s / 4 for _, s in row] + [0.0] * (width - len(row)) for row in found])


@given(rows)
def test_a_ranking_is_that_of_sorted(found):
    result = ranking.canonical(padded(found), size=len(IDS), rank_of_id=BY_ID, depth=5)
    for row, passages in zip(found, result.passages.tolist(), strict=True):
        order = sorted(row, key=lambda pair: (pair[1], IDS[pair[0]].encode()), reverse=True)
        assert [p for p in passages if p >= 0] == [p for p, _ in order][:5]


@given(rows)
def test_a_document_has_its_best_passage_and_ties_go_to_the_greater_id(found):
    document_of = np.array([0, 0, 1, 1, 1, 2, 2], np.int32)
    names = ("x", "z", "y")
    flat = ranking.canonical(padded(found), size=len(IDS), rank_of_id=BY_ID, depth=7)
    result = ranking.to_documents(flat, ranking.Documents(document_of, ranking.ranks_of(names)))
    assert result.unit == "document"
    for row, passages, scores in zip(found, result.passages, result.scores, strict=True):
        best = {}
        for passage, score in row:
            document = int(document_of[passage])
            best[document] = max(best.get(document, -9.0), score / 4)
        order = sorted(best, key=lambda document: (best[document], names[document]), reverse=True)
        assert passages[passages >= 0].tolist() == order
        assert scores[passages >= 0].tolist() == [best[document] for document in order]


def test_documents_are_not_made_of_documents():
    with pytest.raises(ValueError, match="already"):
        ranking.to_documents(hits([[0]], [[1]])._replace(unit="document"), ranking.Documents(BY_ID, BY_ID))


def test_a_large_ranking_in_several_blocks_is_that_of_one_row_at_a_time():
    random = np.random.default_rng(0)
    passages = np.argsort(random.random((300, 2000)), axis=1)
    scores = random.integers(0, 50, (300, 2000)).astype(np.float32)
    by_id = random.permutation(2000).astype(np.int32)
    assert passages.size > 2 * ranking.CELLS
    whole = ranking.canonical(Hits(passages, scores), size=2000, rank_of_id=by_id, depth=100)
    for row in range(300):
        order = np.lexsort((-by_id[passages[row]], -scores[row]))[:100]
        assert whole.passages[row].tolist() == passages[row, order].tolist()
