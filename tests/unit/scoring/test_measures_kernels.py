"""Every kernel against ir-measures, on random runs with ties, gaps, negative grades and missing queries."""

import ir_measures
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.records import Column
from harness.scoring import ranking
from harness.scoring import score as scoring
from harness.types import Hits

SIZE = 12
IDS = ("9", "10", "b", "B", "é", "z", "a", "aa", "中", "1e3", "d-1", "d_1")  # bytes order them otherwise
BY_ID = ranking.ranks_of(IDS)
TREC = (  # trec_eval breaks ties by descending id itself
    *("RR", "RR(rel=2)", "AP", "AP(rel=2)", "AP@3", "AP(rel=3)@2", "Rprec", "Rprec(rel=2)"),
    *("P@1", "P@5", "P@20", "P(rel=2)@3", "R@1", "R@5", "R(rel=2)@50"),
    *("Success@1", "Success@3", "Success(rel=2)@5", "nDCG", "nDCG@1", "nDCG@3", "nDCG@10"),
    *("nDCG(gains={1:3,2:1})@4", "nDCG(gains={2:0,3:9})@5", "NumRet", "NumRet(rel=2)"),
)
OTHERS = (
    "RR@1",
    "RR@3",
    "RR(rel=2)@10",
    "Judged",
    "Judged@2",
    "Judged@10",
)  # these break them as Python does

QUERIES = 4
runs = st.lists(
    st.dictionaries(st.integers(0, SIZE - 1), st.integers(-4, 4), max_size=SIZE),
    min_size=QUERIES,
    max_size=QUERIES,
)
qrels = st.lists(
    st.dictionaries(st.integers(0, SIZE + 2), st.integers(-2, 4), max_size=8),
    min_size=QUERIES,
    max_size=QUERIES,
).filter(any)


def hits_of(run):
    width = max(1, *map(len, run))
    passages, scores = np.full((len(run), width), -1, np.int64), np.zeros((len(run), width), np.float32)
    for row, found in enumerate(run):
        passages[row, : len(found)], scores[row, : len(found)] = list(found), list(found.values())
    return ranking.canonical(Hits(passages, scores), size=SIZE, rank_of_id=BY_ID, depth=SIZE)


def judged_of(qrel):
    rows = [(row, passage, grade) for row, one in enumerate(qrel) for passage, grade in one.items()]
    query, passage, grade = (np.array(column) for column in zip(*rows, strict=True))
    return scoring.Judged(query.astype(np.int32), passage.astype(np.int64), grade.astype(np.int32))


def reference(name, run, qrel):
    """A value for each judged query by ir-measures. pytrec_eval crashes or hangs on some negative grades:
    it gets 0 in their place, which is as irrelevant."""
    named = {str(q): {name_of(p): max(g, 0) for p, g in one.items()} for q, one in enumerate(qrel) if one}
    found = {str(q): {name_of(p): float(s) for p, s in one.items()} for q, one in enumerate(run) if one}
    measure = ir_measures.parse_measure(name)
    values = {value.query_id: value.value for value in ir_measures.iter_calc([measure], named, found)}
    return [values[query] for query in named]


def name_of(position):
    return IDS[position] if position < SIZE else f"missing-{position}"


@given(runs, qrels)
def test_kernels_give_the_bits_of_trec_eval_with_its_order_of_ties(run, qrel):
    scores = scoring.score(hits_of(run), judged_of(qrel), [Column(name) for name in TREC], size=SIZE)
    for scored in scores.columns:
        assert scored.values.tolist() == reference(scored.column.measure, run, qrel), scored.column


@given(runs, qrels)
def test_kernels_equal_the_other_providers_on_our_order(run, qrel):
    hits = hits_of(run)
    scores = scoring.score(hits, judged_of(qrel), [Column(name) for name in OTHERS], size=SIZE)
    ordered = [{p: -rank for rank, p in enumerate(row.tolist()) if p >= 0} for row in hits.passages]
    for scored in scores.columns:
        assert scored.values.tolist() == reference(scored.column.measure, ordered, qrel), scored.column
