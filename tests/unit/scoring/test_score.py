"""Scoring: who is in the denominator, documents, slices, and what a row says beside its numbers."""

import json
import subprocess
import sys

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from harness.collection.judgements import Judged
from harness.errors import ContractError, HarnessError
from harness.records import Column, Measure
from harness.scoring import ranking
from harness.scoring.measures.grades import of_documents
from harness.scoring.ranking import Documents
from harness.scoring.score import score, summarise
from harness.types import Hits

SIZE = 6
DOCUMENTS = Documents(np.array([0, 0, 1, 1, 2, 2], np.int32), np.arange(3, dtype=np.int32))
# query 0 has a graded pair, 1 is not judged, 2 misses its passage, 3 has no positive, 4 is not in the run
JUDGED = Judged(
    np.array([0, 0, 2, 2, 3, 4], np.int32),
    np.array([1, 4, 5, 6, 0, 2], np.int64),
    np.array([1, 2, 1, 1, 0, 1], np.int32),
)
HITS = Hits(
    np.array([[0, 1, 4], [3, 2, 1], [0, 5, -1], [0, 1, 2]], np.int64),
    np.array([[3, 2, 1], [3, 2, 1], [2, 2, -np.inf], [3, 2, 1]], np.float32),
)


def columns(*names, unit="passage"):
    return [Column(name, unit) for name in names]


def values(scores):
    return {scored.column.label: scored.values.tolist() for scored in scores.columns}


def test_every_judged_query_is_scored_and_a_missing_one_has_0():
    scores = score(HITS, JUDGED, columns("RR@10", "R@3", "Success@1"), size=SIZE)
    assert scores.queries.tolist() == [0, 2, 3, 4]
    assert values(scores) == {"RR@10": [0.5, 0.5, 0, 0], "R@3": [1, 0.5, 0, 0], "Success@1": [0, 0, 0, 0]}


def test_the_facts_say_what_the_numbers_hide():
    facts = score(HITS, JUDGED, columns("RR@10", "R(rel=2)@3", "nDCG@3"), size=SIZE).facts
    assert (facts.queries, facts.unanswered, facts.missing, facts.ties) == (4, 1, 1, 1)
    assert facts.without_positive == {"RR@10": 1, "R(rel=2)@3": 3, "nDCG@3": 1}


def test_a_gain_decides_what_is_a_positive():
    facts = score(HITS, JUDGED, columns("nDCG(gains={1:0})", "nDCG(gains={0:1})"), size=SIZE).facts
    assert facts.without_positive == {"nDCG(gains={1:0})": 3, "nDCG(gains={0:1})": 0}


def test_a_document_is_found_at_its_best_passage_and_has_its_highest_grade():
    scores = score(HITS, JUDGED, columns("RR@10", "R@1", unit="document"), size=SIZE, documents=DOCUMENTS)
    # query 0 ranks the documents 0, 2 of which 0 has grade 1; query 2 ties 0 with 2, and 2 is the greater id
    assert values(scores) == {"document RR@10": [1, 1, 0, 0], "document R@1": [0.5, 0.5, 0, 0]}


def test_by_its_first_passage_a_document_is_found_at_that_or_not_at_all():
    scores = score(HITS, JUDGED, columns("RR@10", "R@2", unit="first"), size=SIZE, documents=DOCUMENTS)
    # the first passages are 0, 2 and 4: query 0 ranks the documents 0 and 2, both relevant; query 2 ranks 0
    # alone, where 2 and a document that is not here are relevant; query 3 has no positive
    assert values(scores) == {"FirstP RR@10": [1, 0, 0, 0], "FirstP R@2": [1, 0, 0, 0]}


@pytest.mark.parametrize("seed", range(5))
def test_first_passages_are_ranked_as_a_run_of_first_passages_alone_would_be(seed):
    chance = np.random.default_rng(seed)
    owners = np.sort(chance.integers(0, 8, 30)).astype(np.int32)
    owners = np.unique(owners, return_inverse=True)[1].astype(np.int32)
    documents = Documents(owners, chance.permutation(owners.max() + 1).astype(np.int32))
    found = chance.permutation(30)[None, :20].astype(np.int64)
    values_of = np.sort(chance.integers(0, 9, 20))[::-1].astype(np.float32)[None]
    ranked = ranking.ranked_by(Hits(found, values_of), "first", documents)
    first = [int(np.flatnonzero(owners == owner)[0]) for owner in range(owners.max() + 1)]
    kept = [(p, s) for p, s in zip(found[0].tolist(), values_of[0].tolist(), strict=True) if p in first]
    kept.sort(key=lambda pair: (-pair[1], -documents.rank_of_id[owners[pair[0]]]))
    assert ranked.passages[0, : len(kept)].tolist() == [int(owners[p]) for p, _ in kept]
    assert (ranked.passages[0, len(kept) :] == -1).all()


def test_missing_passages_are_documents_of_their_own():
    judged = of_documents(
        Judged(np.zeros(4, np.int32), np.array([6, 7, 0, 1]), np.array([1, 1, 1, 3], np.int32)),
        DOCUMENTS.document_of,
        3,
    )
    assert (judged.passage.tolist(), judged.grade.tolist()) == ([0, 3, 4], [3, 1, 1])


def test_a_system_of_documents_has_document_columns_alone():
    hits = Hits(np.array([[2, 0]], np.int64), np.array([[2, 1]], np.float32), "document")
    both = [*columns("RR@10"), *columns("RR@10", unit="document")]
    assert values(score(hits, JUDGED, both, size=SIZE, documents=DOCUMENTS)) == {
        "document RR@10": [1, 0, 0, 0]
    }


def test_columns_keep_the_order_of_the_suite():
    mixed = [Column("R@3"), Column("R@3", "document"), Column("RR@3")]
    scores = score(HITS, JUDGED, mixed, size=SIZE, documents=DOCUMENTS)
    assert [scored.column for scored in scores.columns] == mixed


def test_a_protocol_cuts_the_run_first():
    assert values(score(HITS, JUDGED, columns("R@3", "AP"), size=SIZE, depth=1)) == {
        "R@3": [0] * 4,
        "AP": [0] * 4,
    }


def test_nothing_judged_is_refused():
    none = Judged(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int32))
    with pytest.raises(HarnessError, match="judgements: "):
        score(HITS, none, columns("AP"), size=SIZE)


def test_a_pair_judged_twice_is_refused():
    twice = Judged(np.zeros(2, np.int32), np.ones(2, np.int64), np.ones(2, np.int32))
    with pytest.raises(ValueError, match="judged twice"):
        score(HITS, twice, columns("AP"), size=SIZE)


def test_a_run_of_no_hits_scores_0_everywhere():
    nothing = Hits(np.empty((5, 0), np.int64), np.empty((5, 0), np.float32))
    names = ("RR", "AP", "R@5", "P@5", "nDCG@5", "Success@5", "Judged@5", "NumRet", "Rprec")
    scores = score(nothing, JUDGED, columns(*names), size=SIZE)
    assert all(found == [0] * 4 for found in values(scores).values())
    assert scores.facts.unanswered == 4


def test_measures_without_a_kernel_come_from_ir_measures_on_the_same_ranking():
    names = ("ERR@3", "Bpref", "infAP", "IPrec@0.5", "nDCG(judged_only=True)@2", "SetF")
    found = values(score(HITS, JUDGED, columns(*names), size=SIZE))
    qrels = {"0": {"1": 1, "4": 2}, "2": {"5": 1, "6": 1}, "3": {"0": 0}, "4": {"2": 1}}
    run = {"0": {"0": 3, "1": 2, "4": 1}, "2": {"0": 3, "5": 2}, "3": {"0": 3, "1": 2, "2": 1}}
    run = {query: {p: float(s) for p, s in row.items()} for query, row in run.items()}
    for name, ours in found.items():
        family, _, rest = name.partition("(")
        measure = getattr(ir_measures, family.partition("@")[0])
        measure = measure(judged_only=True) @ 2 if rest else measure
        if "@" in family:
            measure = measure @ {"3": 3, "0.5": 0.5}[family.partition("@")[2]]
        theirs = {value.query_id: value.value for value in ir_measures.iter_calc([measure], qrels, run)}
        assert ours == [theirs[query] for query in qrels], name
    assert found["ERR@3"][0] > 0


def test_negative_grades_do_not_crash_what_ir_measures_computes():
    code = (
        "import json; import numpy as np; from harness.records import Column; from harness.types import Hits;"
        "from harness.scoring.score import score; from harness.collection.judgements import Judged;"
        "hits = Hits(np.arange(30).reshape(3, 10), -np.ones((3, 10), 'f4').cumsum(1));"
        "judged = Judged(np.repeat(np.arange(3), 4).astype('i4'),"
        " (np.arange(3)[:, None] * 10 + np.arange(4)).ravel(), np.tile([1, -9, -2, -1], 3).astype('i4'));"
        "names = ['nDCG(judged_only=True)@5', 'Bpref', 'infAP', 'SetP'];"
        "found = score(hits, judged, [Column(name) for name in names], size=30).columns;"
        "print(json.dumps([column.values.tolist() for column in found]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=250, check=True
    )
    assert all(0 < value <= 1 for row in json.loads(done.stdout) for value in row)


def test_a_negative_grade_is_no_judgement_where_trec_eval_takes_it_for_none():
    random = np.random.default_rng(5)
    hits = Hits(np.argsort(random.random((40, 20)), axis=1), -np.ones((40, 20), np.float32).cumsum(axis=1))
    judged = Judged(
        np.repeat(np.arange(40), 9).astype(np.int32), np.tile(np.arange(9), 40).astype(np.int64),
        np.where(np.arange(360) % 9, random.integers(-3, 3, 360), 1).astype(np.int32),
    )  # fmt: skip
    found = values(score(hits, judged, columns("Bpref", "infAP", "nDCG(judged_only=True)@5"), size=20))
    qrels: dict[str, dict[str, int]] = {}
    for query, passage, grade in zip(*(part.tolist() for part in judged[:3]), strict=True):
        qrels.setdefault(str(query), {})[str(passage)] = grade
    run = {
        str(query): {str(passage): 20.0 - rank for rank, passage in enumerate(row)}
        for query, row in enumerate(hits.passages.tolist())
    }
    for column, name, only in (
        ("Bpref", "bpref", False), ("infAP", "infAP", False), ("nDCG(judged_only=True)@5", "ndcg_cut_5", True),
    ):  # fmt: skip
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {name}, judged_docs_only_flag=only).evaluate(run)
        assert found[column] == pytest.approx([theirs[query][name] for query in qrels], abs=1e-12), column
    assert found["Bpref"] != values(score(hits, judged._replace(grade=np.maximum(judged.grade, 0)),
        columns("Bpref"), size=20))["Bpref"]  # fmt: skip


def test_an_exponential_gain_is_that_of_gdeval():
    random = np.random.default_rng(3)
    hits = Hits(np.argsort(random.random((5, 20)), axis=1), -np.ones((5, 20), np.float32).cumsum(axis=1))
    judged = Judged(
        np.repeat(np.arange(5), 8).astype(np.int32),
        np.tile(np.arange(8), 5).astype(np.int64),
        random.integers(-1, 5, 40).astype(np.int32),
    )
    ours = values(score(hits, judged, columns("nDCG(dcg='exp-log2')@10"), size=20))["nDCG(dcg='exp-log2')@10"]
    qrels = [
        ir_measures.Qrel(str(q), str(p), int(g))
        for q, p, g in zip(*map(np.ndarray.tolist, judged[:3]), strict=True)
    ]
    run = [
        ir_measures.ScoredDoc(str(q), str(p), float(-rank))
        for q, row in enumerate(hits.passages.tolist())
        for rank, p in enumerate(row)
    ]
    measure = ir_measures.nDCG(dcg="exp-log2") @ 10
    if not ir_measures.gdeval.is_available():
        pytest.skip("gdeval needs perl")
    theirs = {value.query_id: value.value for value in ir_measures.iter_calc([measure], qrels, run)}
    assert (
        np.abs(np.array(ours) - [theirs[str(q)] for q in range(5)]).max() <= 5.01e-6
    )  # it prints 5 decimals


def test_a_measure_of_a_plugin_may_average_by_sums():
    def half(grades, ideal, rel, cutoff):
        assert (rel, cutoff) == (2, 3)
        return np.array([1.0, 0, 0, 0]), np.array([1.0, 3, 0, 0])

    own = {"Half": Measure(name="Half", summary="", build=lambda: half, ratio=True)}
    scores = score(HITS, JUDGED, columns("Half(rel=2)@3"), size=SIZE, plugin_measures=own)
    assert values(scores) == {"Half(rel=2)@3": [1, 0, 0, 0]}
    assert summarise(scores, seed=1)["Half(rel=2)@3"].mean == 0.25


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((4, 1)), np.array([0, 1, np.nan, 0])])
def test_a_measure_of_a_plugin_that_breaks_its_contract_is_named(wrong):
    own = {"Odd": Measure(name="Odd", summary="", build=lambda: lambda *_: (wrong, np.ones(4)))}
    with pytest.raises(ContractError, match=r"Odd@3 .*numerator"):
        score(HITS, JUDGED, columns("Odd@3"), size=SIZE, plugin_measures=own)


def test_a_measure_of_a_plugin_cannot_change_what_others_read():
    def spoil(grades, ideal, rel, cutoff):
        grades[:] = 3

    own = {"Spoil": Measure(name="Spoil", summary="", build=lambda: spoil)}
    with pytest.raises(ContractError, match="read-only"):
        score(HITS, JUDGED, columns("Spoil@3", "AP"), size=SIZE, plugin_measures=own)


def test_a_slice_is_averaged_over_its_own_queries():
    scores = score(HITS, JUDGED, columns("RR@10", "NumRet"), size=SIZE)
    whole, part = summarise(scores, 1), summarise(scores, 1, np.array([True, False, True, False]))
    assert (whole["RR@10"].mean, whole["RR@10"].queries) == (0.25, 4)
    assert (part["RR@10"].mean, part["RR@10"].queries) == (0.25, 2)
    assert (whole["NumRet"].mean, part["NumRet"].mean) == (8, 6)  # counts add up
    assert summarise(scores, 1, np.zeros(4, np.bool_)) == {}


def test_looking_up_many_grades_is_looking_up_each():
    random = np.random.default_rng(7)
    passages = np.argsort(random.random((400, 1500)), axis=1)[:, :1000]
    hits = Hits(passages, -np.ones(passages.shape, np.float32).cumsum(axis=1))
    pairs = np.unique(random.integers(0, [400, 1600], (5000, 2)), axis=0)
    grade = random.integers(-1, 4, len(pairs)).astype(np.int32)
    judged = Judged(pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int64), grade)
    known = {(q, p): g for q, p, g in zip(*map(np.ndarray.tolist, judged[:3]), strict=True)}
    found = values(score(hits, judged, columns("NumRet(rel=2)"), size=1500))["NumRet(rel=2)"]
    rows = np.unique(judged.query)
    assert found == [sum(known.get((q, p), 0) >= 2 for p in passages[q].tolist()) for q in rows.tolist()]


def test_canonical_hits_are_what_is_scored():
    tied = Hits(np.array([[1, 4]], np.int64), np.array([[1, 1]], np.float32))
    ordered = ranking.canonical(tied, size=SIZE, rank_of_id=np.arange(SIZE, dtype=np.int32), depth=2)
    assert values(score(ordered, JUDGED, columns("RR(rel=2)"), size=SIZE))["RR(rel=2)"][0] == 1
