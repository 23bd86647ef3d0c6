"""Protocols against slow transcriptions of what the official scripts count, and where they part on purpose."""

import numpy as np
import pytest
from protocol_runs import PROTOCOLS, SEEDS, by_protocol, kinds_of_case, random_case, scored

from harness.errors import ContractError
from harness.records import Column
from harness.scoring import ranking
from harness.types import Hits

RETRIEVAL, RERANKING = "t2ranking-retrieval", "t2ranking-reranking"


def close(value):
    return pytest.approx(value, abs=1e-12)


def positives(qrels, level):
    return {query: [p for p, grade in judged.items() if grade >= level] for query, judged in qrels.items()}


def dureader_script(reference, run, *, since_2023=False):
    """The reference lists the positives of each query, perhaps none. Lists are cut at 50 and filled with 0, which is
    no passage: the ids are texts."""
    reciprocal, first, fifty = 0.0, set(), set()
    for query, found in run.items():
        if query not in reference:
            continue
        ranks = [rank for rank, passage in enumerate(found[:50], 1) if passage in reference[query]]
        if ranks and ranks[0] <= 10:
            reciprocal += 1 / ranks[0]
        if ranks:
            fifty.add(query)
        if ranks and ranks[0] == 1:
            first.add(query)
    return {
        "RR@10": reciprocal / len(run if since_2023 else reference),
        "Success@1": len(first) / len(reference),
        "Success@50": len(fifty) / len(reference),
    }


def t2ranking_script(reference, run):
    """The reference lists positives alone, so a query without one is not in it. Lists are filled with the passage 0 up
    to 1000, every position counts, and MRR is divided by the queries of the run."""
    reciprocal, fifty, thousand, wanted = 0.0, 0, 0, 0
    for query, found in run.items():
        if query not in reference:
            continue
        filled = [*found, *[0] * (1000 - len(found))]
        wanted += len(reference[query])
        for rank, passage in enumerate(filled[:10], 1):
            if passage in reference[query]:
                reciprocal += 1 / rank
                break
        fifty += sum(passage in reference[query] for passage in filled[:50])
        thousand += sum(passage in reference[query] for passage in filled)
    return {"MRR@10": reciprocal / len(run), "recall@50": fifty / wanted, "recall@1000": thousand / wanted}


def t2ranking_case(seed, **how):
    """Passage 0 is not judged, so that filling with it does not matter; at least one answered query has a positive."""
    run, qrels = random_case(seed, **how)
    qrels = {q: {p: grade for p, grade in judged.items() if p != 0} for q, judged in qrels.items()}
    qrels = {query: judged for query, judged in qrels.items() if judged}
    reference = {query: found for query, found in positives(qrels, 2).items() if found}
    if how.get("complete"):
        run = {query: found for query, found in run.items() if query in qrels}
    if not set(run) & set(reference):
        return t2ranking_case(seed + 1000, **how)
    return run, qrels, reference


def test_the_random_cases_hold_all_that_scripts_treat_differently():
    seen = kinds_of_case([random_case(seed) for seed in SEEDS])
    assert min(seen.values()) > 20, seen


def test_dureader_equals_the_script_that_made_the_published_scores():
    for seed in SEEDS:
        run, qrels = random_case(seed, longest=40, grades=(0, 1))
        assert by_protocol("dureader-retrieval", run, qrels) == close(
            dureader_script(positives(qrels, 1), run)
        )


def test_a_reference_query_of_dureader_without_a_positive_counts_only_if_something_judges_it():
    run, qrels = {0: [5], 1: [6]}, {0: {5: 1}, 1: {7: 0}}
    script = dureader_script({0: [5], 1: []}, run)
    assert by_protocol("dureader-retrieval", run, qrels) == close(script)
    assert script["RR@10"] == 0.5
    assert by_protocol("dureader-retrieval", run, {0: {5: 1}})["RR@10"] == 1


@pytest.mark.parametrize(("positive", "value"), [(49, 1), (50, 0)])
def test_dureaders_run_is_cut_at_50(positive, value):
    run, qrels = {0: list(range(60))}, {0: {positive: 1}}
    assert PROTOCOLS["dureader-retrieval"].depth == 50
    assert by_protocol("dureader-retrieval", run, qrels)["Success@50"] == value
    assert dureader_script(positives(qrels, 1), run)["Success@50"] == value


def test_a_passage_that_dureaders_script_only_warns_of_is_refused():
    assert dureader_script({0: [5]}, {0: [6, 6, 5]})["RR@10"] == 1 / 3
    hits = Hits(np.array([[6, 6, 5]]), np.array([[3, 2, 1]], np.float32))
    with pytest.raises(ContractError, match="the position 6 is returned twice"):
        ranking.canonical(hits, size=40, rank_of_id=np.arange(40, dtype=np.int32), depth=50)


def test_dureaders_later_script_divides_mrr_by_the_queries_of_the_run():
    differed = 0
    for seed in SEEDS:
        run, qrels = random_case(seed, grades=(0, 1))
        ours, script = (
            by_protocol("dureader-retrieval", run, qrels)["RR@10"],
            dureader_script(positives(qrels, 1), run, since_2023=True)["RR@10"],
        )
        assert ours * len(qrels) == close(script * len(run))
        differed += ours != close(script)
    assert differed > 20


def test_t2ranking_equals_the_script_on_a_run_that_answers_exactly_the_judged_queries():
    for seed in SEEDS:
        run, qrels, reference = t2ranking_case(seed, complete=True)
        script = t2ranking_script(reference, run)
        expected = {
            "RR(rel=2)@10": script["MRR@10"],
            "MicroR(rel=2)@50": script["recall@50"],
            "MicroR(rel=2)@1000": script["recall@1000"],
        }
        assert by_protocol(RETRIEVAL, run, qrels) == close(expected)


def test_t2rankings_script_divides_by_the_run_where_we_divide_by_the_judged_queries():
    differed = 0
    for seed in SEEDS:
        run, qrels, reference = t2ranking_case(seed)
        ours, script = by_protocol(RETRIEVAL, run, qrels), t2ranking_script(reference, run)
        assert ours["RR(rel=2)@10"] * len(qrels) == close(script["MRR@10"] * len(run))
        every = sum(map(len, reference.values()))
        answered = sum(len(found) for query, found in reference.items() if query in run)
        assert ours["MicroR(rel=2)@50"] * every == close(script["recall@50"] * answered)
        differed += answered < every and script["recall@50"] > 0
    assert differed > 20


def test_micro_recall_over_answered_queries_is_the_scripts_on_any_run():
    for seed in SEEDS:
        run, qrels, reference = t2ranking_case(seed)
        [value] = scored([Column("MicroRAnswered(rel=2)@50")], run, qrels, 1000).values()
        assert value == close(t2ranking_script(reference, run)["recall@50"])


def test_the_retrieval_file_of_t2ranking_would_lose_the_queries_without_a_positive():
    run, qrels = {0: [5], 1: [6]}, {0: {5: 2}, 1: {6: 1}}
    only_positives = {0: {5: 2}}
    assert by_protocol(RETRIEVAL, run, qrels)["RR(rel=2)@10"] == 0.5
    assert by_protocol(RETRIEVAL, run, only_positives)["RR(rel=2)@10"] == 1
    assert t2ranking_script({0: [5]}, run)["MRR@10"] == 0.5


def test_the_pairs_of_the_retrieval_file_read_as_grade_1_are_not_relevant():
    assert set(by_protocol(RETRIEVAL, {0: [5]}, {0: {5: 1}}).values()) == {0}


def test_a_short_list_of_t2ranking_is_not_filled_with_passage_0():
    run, qrels = {0: [5]}, {0: {0: 2, 5: 2}}
    assert t2ranking_script(positives(qrels, 2), run)["recall@50"] == 50 / 2
    assert by_protocol(RETRIEVAL, run, qrels)["MicroR(rel=2)@50"] == 0.5


@pytest.mark.parametrize(("positive", "value"), [(999, 1), (1000, 0)])
def test_a_run_of_t2ranking_is_cut_at_1000(positive, value):
    computed = by_protocol(RETRIEVAL, {0: list(range(1100))}, {0: {positive: 2}})
    assert computed["MicroR(rel=2)@1000"] == value


def test_a_passage_that_t2rankings_script_counts_twice_is_refused():
    assert t2ranking_script({0: [5, 6]}, {0: [5, 5]})["recall@50"] == 1
    hits = Hits(np.array([[5, 5]]), np.array([[2, 1]], np.float32))
    with pytest.raises(ContractError, match="the position 5 is returned twice"):
        ranking.canonical(hits, size=40, rank_of_id=np.arange(40, dtype=np.int32), depth=1000)


def dcg(grades, cutoff):
    return sum(grade / np.log2(rank + 1) for rank, grade in enumerate(grades[:cutoff], 1))


def dcgs(run, qrels, cutoff):
    """DCG and its ideal for each judged query, as trec_eval sums them."""
    for query, judged in qrels.items():
        found = [judged.get(passage, 0) for passage in run.get(query, [])]
        yield query, dcg(found, cutoff), dcg(sorted(judged.values(), reverse=True), cutoff)


def trec_eval_ndcg(run, qrels, cutoff, *, complete):
    """The mean of nDCG over all judged queries (-c), or over those that stand in the run too."""
    ratios = {query: found / best if best else 0 for query, found, best in dcgs(run, qrels, cutoff)}
    kept = [value for query, value in ratios.items() if complete or query in run]
    return sum(kept) / len(kept)


@pytest.mark.parametrize(
    ("name", "label", "cutoff"),
    [
        (RERANKING, "nDCG@20", 20),
        (RERANKING, "nDCG@100", 100),
        ("dapr", "nDCG@10", 10),
        ("beir", "nDCG@10", 10),
        ("mteb", "nDCG@10", 10),
        ("trec-dl", "nDCG@10", 10),
    ],
)
def test_ndcg_is_trec_evals_over_all_judged_queries_and_the_evaluators_lack_those_not_in_the_run(
    name, label, cutoff
):
    differed = 0
    for seed in SEEDS:
        run, qrels = random_case(seed)
        ours = by_protocol(name, run, qrels)[label]
        assert ours == close(trec_eval_ndcg(run, qrels, cutoff, complete=True))
        official = trec_eval_ndcg(run, qrels, cutoff, complete=False)
        answered = len(set(run) & set(qrels))
        assert ours * len(qrels) == close(official * answered)
        differed += ours != close(official)
    assert differed > 20


def test_t2rankings_ndcg_is_not_its_equation_as_printed():
    run, qrels = {0: [1], 1: [2]}, {0: {1: 3}, 1: {2: 1, 3: 2}}
    both = list(dcgs(run, qrels, 20))
    as_printed = sum(found for _, found, _ in both) / sum(best for _, _, best in both)
    ours = by_protocol(RERANKING, run, qrels)["nDCG@20"]
    assert ours == close((1 + 1 / (2 + 1 / np.log2(3))) / 2)
    assert as_printed == close(4 / (3 + 2 + 1 / np.log2(3)))
    assert ours != close(as_printed)


def test_re_ranking_reads_the_same_mrr_as_retrieval():
    for seed in SEEDS[:50]:
        run, qrels = random_case(seed)
        label = "RR(rel=2)@10"
        assert by_protocol(RERANKING, run, qrels)[label] == by_protocol(RETRIEVAL, run, qrels)[label]


def test_documents_of_dapr_rank_by_their_best_passage_with_its_highest_grade():
    run, qrels = {0: [7, 2, 6, 3, 9]}, {0: {3: 2, 2: 1, 8: 1, 20: 1}}
    computed = by_protocol("dapr", run, qrels)  # documents: 3, 1, 4; grades 1: 2, 4: 1, 10: 1
    best = 2 + 1 / np.log2(3) + 1 / np.log2(4)
    assert computed["document nDCG@10"] == close((2 / np.log2(3) + 1 / np.log2(4)) / best)
    assert computed["document R@100"] == close(2 / 3)
    assert computed["R@100"] == close(2 / 4)
