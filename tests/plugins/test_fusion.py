"""The combiners `convex` and `rrf` against slow transcriptions of their equations, case by case."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.types import Hits, Structure
from harness_fusion import ConvexParams, ReciprocalParams, rows
from harness_fusion.methods import Convex, ReciprocalRank

FIRST = [0, 2, 4, 7, 8]  # four documents of 2, 2, 3 and 1 passages; passage 3 is no candidate
STRUCTURE = Structure(
    np.array([0, 0, 1, 1, 2, 2, 2, 3], np.int32),
    np.array(FIRST, np.int64),
    np.array([True, True, True, False, True, True, True, True]),
)


def hits(*queries, unit="passage"):
    """One {position: score} a query as Hits, sorted best first and filled."""
    width = max((len(query) for query in queries), default=0)
    positions = np.full((len(queries), width), -1, np.int64)
    scores = np.zeros((len(queries), width), np.float32)
    for row, query in enumerate(queries):
        for column, (position, score) in enumerate(sorted(query.items(), key=lambda item: -item[1])):
            positions[row, column], scores[row, column] = position, score
    return Hits(positions, scores, unit)


def found(result, row=0):
    """The filled part of a row as a list of (position, score)."""
    pairs = zip(result.passages[row].tolist(), result.scores[row].tolist(), strict=True)
    return [(position, score) for position, score in pairs if position >= 0]


def convex(*inputs, depth=10, **given):
    return Convex(ConvexParams(**given)).combine(inputs, depth, STRUCTURE)


def rrf(*inputs, depth=10, **given):
    return ReciprocalRank(ReciprocalParams(**given)).combine(inputs, depth, STRUCTURE)


# The slow transcriptions: one query, plain dicts, the equations as they are printed.


def normalised_as_in_the_paper(scores):
    """Equation 1; where it divides zero by zero, zero."""
    least, greatest = min(scores.values()), max(scores.values())
    return {c: (s - least) / (greatest - least) if greatest > least else 0.0 for c, s in scores.items()}


def normalised_as_in_the_code(scores):
    if not scores:
        return {}
    least, greatest = min(scores.values()), max(scores.values())
    return {c: (s - least) / max(greatest - least, 1e-4) for c, s in scores.items()}


def passages_of(document):
    return [p for p in range(FIRST[document], FIRST[document + 1]) if STRUCTURE.candidate[p]]


def candidates_of(inputs, units, policy):
    if set(units) == {"document"}:
        chosen = [inputs[0]] if policy == "first" else inputs
        return {c for scores in chosen for c in scores}
    lead = units.index("passage")
    wanted = set(inputs[lead])
    if policy == "union":
        for scores, unit in zip(inputs, units, strict=True):
            wanted |= set(scores) if unit == "passage" else {p for d in scores for p in passages_of(d)}
    return wanted


def on_candidates(scores, unit, units, wanted):
    """The scores of an input over what is ranked: a document's score becomes its passages'."""
    if unit == "document" and "passage" in units:
        documents = {c: int(STRUCTURE.document_of[c]) for c in wanted}
        return {c: scores[d] for c, d in documents.items() if d in scores}
    return scores


def slow_convex(inputs, units, weights, policy, form):
    wanted = candidates_of(inputs, units, policy)
    total = dict.fromkeys(wanted, 0.0)
    for scores, unit, weight in zip(inputs, units, weights, strict=True):
        if form == "paper":
            side = normalised_as_in_the_paper(scores) if scores else {}
            side = on_candidates(side, unit, units, wanted)
        else:
            side = normalised_as_in_the_code(on_candidates(scores, unit, units, wanted))
        for c in wanted:
            total[c] += weight * side.get(c, 0.0)
    return total


def slow_rrf(inputs, units, k, policy):
    wanted = candidates_of(inputs, units, policy)
    total = dict.fromkeys(wanted, 0.0)
    for scores, unit in zip(inputs, units, strict=True):
        ranked = sorted(scores, key=lambda c: -scores[c])
        ranks = on_candidates({c: i + 1 for i, c in enumerate(ranked)}, unit, units, wanted)
        for c in wanted & set(ranks):
            total[c] += 1 / (k + ranks[c])
    return total


def ranked(total, depth):
    """By the score as it is stored (float32), then by position."""
    pairs = [(c, float(np.float32(s))) for c, s in total.items()]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:depth]


def assert_same(result, row, expected):
    assert [s for _, s in found(result, row)] == pytest.approx([s for _, s in expected], abs=1e-6)
    got, wanted = dict(found(result, row)), dict(expected)
    sure = {c for c, s in wanted.items() if s > min(wanted.values(), default=0) + 1e-6}
    assert sure <= set(got)
    assert all(math.isclose(got[c], wanted[c], abs_tol=1e-6) for c in set(got) & set(wanted))


PASSAGES = [0, 1, 2, 4, 5, 6, 7]


@st.composite
def queries_of_systems(draw):
    """1 to 3 queries for 2 or 3 systems, each passages or documents, with ties and empty rows."""
    units = draw(st.lists(st.sampled_from(["passage", "document"]), min_size=2, max_size=3))
    count = draw(st.integers(1, 3))
    scores = st.sampled_from([-3.0, 0.0, 0.25, 1.0, 1 + 2**-14, 7.5])
    systems = [
        [
            draw(st.dictionaries(st.sampled_from(PASSAGES if unit == "passage" else range(4)), scores))
            for _ in range(count)
        ]
        for unit in units
    ]
    return units, systems


@given(
    queries_of_systems(),
    st.sampled_from(["first", "union"]),
    st.sampled_from(["code", "paper"]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([1, 3, 10]),
)
def test_convex_equals_the_slow_transcription(systems, policy, form, weight, depth):
    units, scores = systems
    weights = (weight, 1 - weight) if len(units) == 2 else (0.5, 0.3, 0.2)
    inputs = [hits(*rows, unit=unit) for rows, unit in zip(scores, units, strict=True)]
    given = {"weight": weight} if len(units) == 2 else {"weights": weights}
    result = convex(*inputs, depth=depth, candidates=policy, form=form, **given)
    assert result.unit == ("passage" if "passage" in units else "document")
    for row in range(len(scores[0])):
        expected = slow_convex([system[row] for system in scores], units, weights, policy, form)
        assert_same(result, row, ranked(expected, depth))


@given(queries_of_systems(), st.sampled_from(["first", "union"]), st.sampled_from([0.0, 60.0]))
def test_rrf_equals_the_slow_transcription(systems, policy, k):
    units, scores = systems
    distinct = [  # a rank is only defined by the order of the list that was given
        [{c: -float(i) for i, c in enumerate(sorted(row, key=lambda c: -row[c]))} for row in system]
        for system in scores
    ]
    inputs = [hits(*rows, unit=unit) for rows, unit in zip(distinct, units, strict=True)]
    result = rrf(*inputs, candidates=policy, k=k)
    for row in range(len(scores[0])):
        assert_same(result, row, ranked(slow_rrf([system[row] for system in distinct], units, k, policy), 10))


# The cases by hand. Documents 0 and 1 are found, passages 0, 2 and 4 (of documents 0, 1 and 2).

NEURAL = hits({0: 1.0, 2: 3.0, 4: 2.0})
DOCUMENTS = hits({0: 8.0, 1: 4.0, 3: 0.0}, unit="document")


def test_the_weight_is_that_of_the_first_input():
    assert found(convex(NEURAL, DOCUMENTS, weight=1.0)) == [(2, 1.0), (4, 0.5), (0, 0.0)]
    assert found(convex(DOCUMENTS, NEURAL, weight=0.0)) == [(2, 1.0), (4, 0.5), (0, 0.0)]


def test_the_code_normalises_document_scores_over_what_it_spread():
    """Document 3 has no passage in the list, so the least score is document 1's 4, not 0."""
    assert found(convex(NEURAL, DOCUMENTS, weight=0.0)) == [(0, 1.0), (2, 0.0), (4, 0.0)]


def test_the_paper_normalises_document_scores_over_their_own_list():
    assert found(convex(NEURAL, DOCUMENTS, weight=0.0, form="paper")) == [(0, 1.0), (2, 0.5), (4, 0.0)]


def test_a_missing_side_counts_zero():
    first, second = hits({0: 2.0, 2: 1.0, 4: 0.0}), hits({4: 5.0, 5: 1.0})
    assert found(convex(first, second)) == [(0, 0.5), (4, 0.5), (2, 0.25)]


def test_only_union_ranks_what_the_first_input_lacks():
    first, second = hits({0: 2.0, 1: 0.0}), hits({5: 9.0, 6: 0.0})
    assert {p for p, _ in found(convex(first, second))} == {0, 1}
    assert {p for p, _ in found(convex(first, second, candidates="union"))} == {0, 1, 5, 6}


def test_union_spreads_a_document_over_all_its_candidate_passages():
    result = convex(hits({7: 1.0}), hits({1: 2.0, 2: 6.0}, unit="document"), candidates="union")
    assert sorted(p for p, _ in found(result)) == [2, 4, 5, 6, 7]  # passage 3 is no candidate
    assert dict(found(result))[5] == pytest.approx(0.5)


def test_constant_scores_count_as_missing_under_either_form():
    """Equation 1 divides zero by zero there; the code's floor of 1e-4 gives 0."""
    flat = hits({0: 5.0, 2: 5.0})
    for form in ("code", "paper"):
        assert found(convex(flat, hits({2: 1.0, 0: 0.0}), form=form)) == [(2, 0.5), (0, 0.0)]


def test_nearly_constant_scores_are_stretched_by_the_paper_and_not_by_the_code():
    near = hits({0: 0.00005, 2: 0.0})
    other = hits({7: 1.0})
    assert found(convex(near, other, weight=1.0))[0] == (0, pytest.approx(0.5))
    assert found(convex(near, other, weight=1.0, form="paper"))[0] == (0, pytest.approx(1.0))


def test_a_single_candidate_scores_zero_and_stays():
    for form in ("code", "paper"):
        assert found(convex(hits({4: 9.0}), hits({4: 3.0}), form=form)) == [(4, 0.0)]


def test_ties_are_in_order_of_position():
    result = convex(hits({6: 1.0, 2: 1.0, 0: 1.0}), hits({5: 0.0}))
    assert [p for p, _ in found(result)] == [0, 2, 6]


def test_negative_scores_order_like_any_other():
    assert [p for p, _ in found(convex(hits({0: -5.0, 1: -1.0, 2: -3.0}), hits({0: 0.0})))] == [1, 2, 0]


def test_short_rows_and_empty_rows_are_filled():
    result = convex(hits({0: 1.0, 1: 0.0}, {}, {5: 2.0}), hits({1: 1.0}, {}, {}), depth=3)
    assert result.passages.tolist() == [[0, 1, -1], [-1, -1, -1], [5, -1, -1]]
    assert result.scores[1].tolist() == [-math.inf] * 3


def test_no_queries_and_no_hits_at_all_are_no_error():
    assert convex(hits(), hits(), depth=4).passages.shape == (0, 4)
    assert rrf(hits({}), hits({}, unit="document"), depth=4).passages.tolist() == [[-1] * 4]


def test_documents_alone_stay_documents():
    first, second = hits({0: 1.0, 3: 0.0}, unit="document"), hits({2: 1.0}, unit="document")
    assert convex(first, second).unit == "document"
    assert [d for d, _ in found(rrf(first, second))] == [0, 2, 3]


def test_three_inputs_take_three_weights():
    sides = [hits({0: 1.0, 1: 0.0}), hits({1: 1.0, 0: 0.0}), hits({1: 2.0, 0: 1.0})]
    assert dict(found(convex(*sides, weights=(0.5, 0.3, 0.2)))) == {0: 0.5, 1: 0.5}


def test_three_inputs_without_three_weights_are_refused():
    with pytest.raises(HarnessError, match=r"convex\.weights: 0 weights for 3"):
        convex(NEURAL, NEURAL, DOCUMENTS)


def test_rrf_gives_the_passages_of_a_document_its_rank():
    result = rrf(hits({0: 2.0, 4: 1.0}), hits({2: 9.0}, unit="document"))
    expected = {0: 1 / 61, 4: 1 / 62 + 1 / 61, 5: 1 / 61, 6: 1 / 61}
    assert dict(found(result)) == pytest.approx(expected)


def test_the_result_does_not_depend_on_how_queries_are_cut_into_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    first = hits(*({int(p): float(rng.integers(3)) for p in rng.choice(8, 3, False)} for _ in range(9)))
    second = hits(
        *({int(d): rng.random() for d in rng.choice(4, 2, False)} for _ in range(9)), unit="document"
    )
    for policy in ("first", "union"):
        whole = convex(first, second, candidates=policy)
        for size in (1, 7, 20):
            monkeypatch.setattr(rows, "BLOCK", size)
            cut = convex(first, second, candidates=policy)
            assert cut.passages.tobytes() == whole.passages.tobytes()
            assert cut.scores.tobytes() == whole.scores.tobytes()
        monkeypatch.undo()
