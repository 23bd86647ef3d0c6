"""Limits of a score against brute force: every order tried, every judgement written out."""

import dataclasses
import shutil
from itertools import permutations

import numpy as np
import pytest
from msgspec import structs

from harness import cli, run
from harness.catalogue import load
from harness.collection.judgements import Judged
from harness.leaderboard import readme
from harness.leaderboard.board_file import Leaderboard
from harness.records import Column
from harness.scoring import bounds, score
from harness.scoring.bounds import Below, Findable
from harness.scoring.protocols import measures_of_plugins
from harness.scoring.ranking import Documents
from harness.types import Hits

SIZE, DEPTH = 8, 5
OWN = measures_of_plugins(load())
MEASURES = [
    "nDCG@3",
    "nDCG(dcg='exp-log2')@4",
    "nDCG(gains={1: 5, 2: 1})@3",
    "RR@3",
    "RR(rel=2)",
    "R@2",
    "R(rel=2)@4",
    "P@3",
    "AP",
    "Rprec",
    "Success@1",
    "MicroR@3",
    "MicroRAnswered(rel=2)@3",
]
COLUMNS = [Column(name, unit) for name in MEASURES for unit in ("passage", "document")]
DOCUMENTS = Documents(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), np.arange(4, dtype=np.int32))
ANY = Findable(np.ones(SIZE, np.bool_), {})


def falling(rows):
    """Rankings given as lists of passages."""
    width = max(map(len, rows), default=0)
    passages = np.array([[*row, *[-1] * (width - len(row))] for row in rows], np.int64).reshape(
        len(rows), width
    )
    scores = np.where(passages < 0, -np.inf, -np.arange(width, dtype=np.float32)).astype(np.float32)
    return Hits(passages, scores)


def scores_of(rows, judged, columns=COLUMNS, depth=DEPTH):
    return score.score(
        falling(rows), judged, columns, size=SIZE, plugin_measures=OWN, documents=DOCUMENTS, depth=depth
    )


def means(rows, judged, columns=COLUMNS, depth=DEPTH):
    found = scores_of(rows, judged, columns, depth)
    return {item.column.label: score.mean(item) for item in found.columns}


def limits_of(rows, judged, findable=ANY, below=None, columns=COLUMNS, depth=DEPTH):
    found = scores_of(rows, judged, columns, depth)
    return bounds.limits(found, findable, DOCUMENTS, plugin_measures=OWN, depth=depth, below=below)


def drawn(seed, queries=2):
    """A random run (short, empty and unjudged rows among them) and judgements, some of missing passages."""
    random = np.random.default_rng(seed)
    rows = [random.permutation(SIZE)[: random.integers(0, 7)].tolist() for _ in range(queries + 1)]
    pairs = [
        (query, passage, int(random.integers(0, 4)))
        for query in range(queries)
        for passage in random.permutation(SIZE + 2)[: random.integers(1, 6)].tolist()
    ]
    query, passage, grade = zip(*pairs, strict=True)
    return rows, Judged(np.array(query, np.int32), np.array(passage, np.int64), np.array(grade, np.int32))


def best_of_each(orders, judged, columns):
    """The mean of the best value of every query, each query with orders of its own."""
    queries = len(orders)
    tops: dict[str, list[tuple[float, float]]] = {column.label: [] for column in columns}
    average = {}
    for query in range(queries):
        own = judged.query == query
        alone = Judged(np.zeros(own.sum(), np.int32), judged.passage[own], judged.grade[own])
        tried = [scores_of([order], alone, columns).columns for order in orders[query]]
        for i, column in enumerate(columns):
            values = [(float(one[i].numerator[0]), float(one[i].denominator[0])) for one in tried]
            tops[column.label].append(max(values, key=lambda pair: pair[0]))
            average[column.label] = tried[0][i].average
    return {
        label: sum(part for part, _ in pairs) / (sum(whole for _, whole in pairs) or 1)
        if average[label] == "ratio"
        else float(np.mean([part / whole if whole else 0 for part, whole in pairs]))
        for label, pairs in tops.items()
    }


@pytest.mark.parametrize("seed", range(6))
def test_no_ranking_of_the_corpus_beats_the_ceiling_and_one_reaches_it(seed):
    rows, judged = drawn(seed)
    columns = [column for column in COLUMNS if "Answered" not in column.measure]
    candidate = np.ones(SIZE, np.bool_)
    candidate[seed] = False
    excluded = [np.array([(seed + 1) % SIZE]), np.array([], np.int64), np.array([], np.int64)]
    findable = Findable(candidate, {"passage": excluded})
    allowed = [
        [p for p in range(SIZE) if candidate[p] and p not in excluded[query].tolist()] for query in range(2)
    ]
    judged_here = [set(judged.passage[judged.query == query].tolist()) for query in range(2)]
    orders = []
    for query in range(
        2
    ):  # an unjudged passage changes nothing but by being in the way, so one stands for all
        use = [p for p in allowed[query] if p in judged_here[query]]
        orders.append([list(order) for order in permutations(use, min(DEPTH, len(use)))])
    passages = [column for column in columns if column.unit == "passage"]
    expected = best_of_each(orders, judged, passages)
    found = limits_of(rows, judged, findable, columns=passages)
    assert {label: item.ceiling for label, item in found.items()} == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_ranking_of_documents_beats_their_ceiling(seed):
    rows, judged = drawn(seed)
    columns = [Column(name, "document") for name in ("nDCG@3", "R@2", "RR@3", "AP")]
    orders = [[list(order) for order in permutations((0, 2, 4, 6))]] * 2  # a passage of each document
    expected = best_of_each(orders, judged, columns)
    found = limits_of(rows, judged, columns=columns)
    assert {label: item.ceiling for label, item in found.items()} == pytest.approx(expected, abs=2e-6)


def test_a_document_whose_first_passage_is_no_candidate_is_beyond_its_first_passages_ceiling():
    judged = Judged(np.zeros(2, np.int32), np.array([1, 3], np.int64), np.ones(2, np.int32))
    candidate = np.ones(SIZE, np.bool_)
    candidate[0] = False  # the first of document 0, whose passage 1 is judged
    columns = [Column("R@3", "first"), Column("R@3", "document")]
    found = limits_of([[1, 3], [], []], judged, Findable(candidate, {}), columns=columns)
    assert {label: item.ceiling for label, item in found.items()} == {"FirstP R@3": 0.5, "document R@3": 1.0}


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("seed", "head", "depth"), [(1, 3, 5), (2, 4, 5), (3, 5, 3), (4, 2, 3), (5, 6, 6)])
def test_no_order_of_its_candidates_beats_a_re_rankers_ceiling(seed, head, depth, keep):
    rows, judged = drawn(seed)
    below = Below(falling(rows), head, keep)
    orders = [
        [[*order, *(rows[query][head:] if keep else [])] for order in permutations(rows[query][:head])]
        for query in range(2)
    ]
    cut = [[order[:depth] for order in each] for each in orders]
    expected = best_of_each(cut, judged, COLUMNS)
    given = limits_of([[], [], []], judged, below=below, depth=depth)
    assert {label: item.candidates for label, item in given.items()} == pytest.approx(expected, abs=2e-6)


def test_only_a_re_ranker_has_a_ceiling_given_its_candidates():
    rows, judged = drawn(0)
    assert {item.candidates for item in limits_of(rows, judged).values()} == {None}


@pytest.mark.parametrize("seed", range(8))
def test_removing_unjudged_passages_is_scoring_the_run_without_them(seed):
    rows, judged = drawn(seed)
    columns = [column for column in COLUMNS if column.unit == "passage"]
    pairs = set(zip(judged.query.tolist(), judged.passage.tolist(), strict=True))
    cut = [row[:DEPTH] for row in rows]
    left = [[p for p in row if (query, p) in pairs] for query, row in enumerate(cut)]
    found = limits_of(rows, judged, columns=columns)
    assert {label: item.unjudged_removed for label, item in found.items()} == means(left, judged, columns)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(4))
def test_unjudged_passages_as_relevant_is_scoring_with_judgements_of_them(name, seed, monkeypatch):
    monkeypatch.setattr(bounds, "CELLS", 7)  # more than one block
    rows, judged = drawn(seed, queries=4)
    pairs = set(zip(judged.query.tolist(), judged.passage.tolist(), strict=True))
    cutoff = int(name.partition("@")[2] or DEPTH)
    grade = 2 if "rel=2" in name else 1
    new = [
        (query, p, grade)
        for query, row in enumerate(rows[:4])
        for p in row[: min(DEPTH, cutoff)]
        if (query, p) not in pairs
    ]
    query, passage, more = (np.array(part) for part in zip(*new, strict=True))
    extended = Judged(
        np.concatenate([judged.query, query.astype(np.int32)]),
        np.concatenate([judged.passage, passage.astype(np.int64)]),
        np.concatenate([judged.grade, more.astype(np.int32)]),
    )
    [found] = limits_of(rows, judged, columns=[Column(name)]).values()
    [expected] = means(rows, extended, [Column(name)]).values()
    assert found.unjudged_relevant == expected


@pytest.mark.parametrize("seed", range(4))
def test_the_share_of_judged_results_is_that_of_the_measure(seed):
    rows, judged = drawn(seed)
    expected = means(rows, judged, [Column("Judged@3")])["Judged@3"]
    assert limits_of(rows, judged, columns=[Column("R@3")])["R@3"].judged == expected


def test_what_each_policy_does_to_the_mean():
    rows = [[0, 1], [1, 0], []]
    judged = Judged(
        np.array([0, 1, 2], np.int32), np.array([0, 1, 2], np.int64), np.array([1, 0, 2], np.int32)
    )
    found = limits_of(rows, judged, columns=[Column("RR@3"), Column("MicroR@1")])
    assert means(rows, judged, [Column("RR@3")]) == {"RR@3": pytest.approx(1 / 3, abs=1e-6)}
    for label in ("RR@3", "MicroR@1"):
        assert found[label].without_positive_left_out == 0.5, label
    assert found["RR@3"].unanswered_left_out == 0.5
    assert found["MicroR@1"].unanswered_left_out == 1.0


def test_a_policy_that_leaves_out_all_queries_has_no_mean():
    judged = Judged(np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32))
    found = limits_of([[]], judged, columns=[Column("RR@3")])["RR@3"]
    assert (found.without_positive_left_out, found.unanswered_left_out) == (None, None)


def test_more_positives_than_the_cut_off_and_missing_passages_lower_a_ceiling():
    passages = np.array([0, 1, 2, SIZE], np.int64)
    judged = Judged(np.zeros(4, np.int32), passages, np.ones(4, np.int32))
    found = limits_of([[]], judged, columns=[Column("R@2"), Column("R@5"), Column("P@5")])
    assert {label: item.ceiling for label, item in found.items()} == {"R@2": 0.5, "R@5": 0.75, "P@5": 0.6}


def test_amounts_and_what_ir_measures_computes_have_no_limits():
    rows, judged = drawn(0)
    columns = [Column(name) for name in ("NumRet", "Judged@3", "ERR@3", "RR@3")]
    assert list(limits_of(rows, judged, columns=columns)) == ["RR@3"]


SUITE = """
suite: small
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {retriever: bm25}
  documents: {retriever: bm25, unit: document}
  reranked: {of: bm25, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10, RR@10]
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    made = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert [row.error for row in made.rows if row.error] == []
    return made


def test_every_row_of_a_run_has_limits_on_the_right_side_of_its_means(board):
    for row in board.rows:
        assert set(row.limits) == set(row.measures)
        for label, limits in row.limits.items():
            mean = row.measures[label].mean
            assert mean <= limits.ceiling <= 1
            assert (limits.candidates is None) == (row.system != "reranked")
            if limits.candidates is not None:
                assert mean <= limits.candidates <= limits.ceiling


def test_a_changed_limit_is_found_when_the_row_is_verified(board, tmp_path):
    copied = tmp_path / "board"
    shutil.copytree(board.folder, copied, ignore=shutil.ignore_patterns("store"))
    words = ["verify", str(copied), "--suite", str(board.folder / "suite.yaml")]
    words += ["--store", str(board.folder / "store")]
    assert cli.main(words) == 0
    first, *others = board.rows
    limits = first.limits["RR@10"]
    changed = dataclasses.replace(limits, unjudged_removed=limits.unjudged_removed + 0.01)
    first = structs.replace(first, limits={**first.limits, "RR@10": changed})
    Leaderboard(structs.replace(board.data, rows=(first, *others)), copied).write()
    assert cli.main(words) == 1


def test_the_readme_shows_the_limits_of_the_first_column(board):
    text = (board.folder / "README.md").read_text(encoding="utf-8")
    head = "| system | best ranking there is | best order of its candidates | share judged |"
    assert "What nDCG@10 could have been" in text
    assert head in text
    limit = next(row for row in board.rows if row.system == "reranked").limits["nDCG@10"]
    assert f"| reranked | {limit.ceiling:.3f} | {limit.candidates:.3f} |" in text


def test_a_leaderboard_without_limits_has_no_table_of_them(board):
    rows = tuple(structs.replace(row, limits={}) for row in board.rows)
    bare = Leaderboard(structs.replace(board.data, rows=rows), board.folder)
    assert "could have been" not in readme.page(bare, "x")
