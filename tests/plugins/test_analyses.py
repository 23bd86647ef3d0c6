"""Analyses of finished runs: numbers worked out by hand on a collection of three documents."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import orjson
import pytest

from harness import run
from harness.leaderboard.board_file import Leaderboard
from harness.scoring.analysis_input import SystemRun
from harness_analyses import JaccardParams, jaccard
from harness_analyses.cut import Cut

DOCUMENTS = [
    ("a", "Red fox", ["one plain line", "the fox runs", "nothing here"]),
    ("b", "Blue whale", ["the whale swims in the sea"]),
    ("c", "Green tree", ["a tree", "an oak stands", "leaves fall", "the oak grows old"]),
]
SUITE = """
suite: small
datasets:
  small: {files: {path: data, language: en}}
systems:
  plain: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
  documents: {context: [titles], retriever: bm25, unit: document}
  fused: {of: [plain, documents], combine: {convex: {weight: 0.5}}}
measures: [RR@10]
depth: 10
analyses: [levels, {depth: {bins: [1, 2, 4]}}, jaccard, {weights: {steps: 4}}, cut, slices]
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory) -> Leaderboard:
    folder = tmp_path_factory.mktemp("analyses")
    passages = [
        {"_id": f"{d}{i}", "title": title, "text": text, "doc_id": d, "paragraph_no": i}
        for d, title, texts in DOCUMENTS
        for i, text in enumerate(texts)
    ]
    write(folder / "data/corpus.jsonl", passages)
    write(
        folder / "data/queries.jsonl", [{"_id": "q1", "text": "fox runs"}, {"_id": "q2", "text": "green oak"}]
    )
    (folder / "data/qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "q1\ta1\t1", "q2\tc1\t1", "q2\tc3\t2"]
    (folder / "data/qrels/test.tsv").write_text("\n".join(lines) + "\n")
    (folder / "suite.yaml").write_text(SUITE)
    return run(folder / "suite.yaml", store=folder / "store", quiet=True)


def write(path, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def found(board: Leaderboard, name: str) -> list[list]:
    [entry] = [entry for entry in board.data.analyses if entry.name == f"{name}/small"]
    return [list(row) for row in entry.rows]


def test_all_that_has_something_to_say_is_there(board):
    names = [entry.name for entry in board.data.analyses]
    # no encoder cut anything, and no query is in a slice
    assert names == [
        "levels/small",
        "depth/small",
        "scores-by-depth/small",
        "jaccard/small",
        "weights/fused/small",
    ]


def test_depth_counts_relevant_passages_from_the_start_of_their_document(board):
    # a1 is the second of its document, c1 the second and c3 the fourth of theirs
    assert found(board, "depth") == [["2-3", 0.666667, 2], ["4+", 0.333333, 1]]
    by_depth = {(system, depth): queries for system, depth, _, queries in found(board, "scores-by-depth")}
    assert by_depth == {("plain", "2-3"): 2, ("titles", "2-3"): 2, ("fused", "2-3"): 2}


def test_jaccard_is_words_of_both_over_words_of_either(board):
    plain = (2 / 3 + 1 / 4 + 1 / 5) / 3
    titled = (2 / 4 + 2 / 5 + 2 / 6) / 3
    assert found(board, "jaccard") == [
        ["none", pytest.approx(100 * plain, abs=1e-4), 0.0],
        ["titles", pytest.approx(100 * titled, abs=1e-4), pytest.approx(100 * (titled - plain), abs=2e-4)],
    ]


def test_levels_have_a_row_for_each_unit_that_a_system_can_be_scored_in(board):
    levels = {(system, level): value for system, level, value in found(board, "levels")}
    assert ("documents", "passage") not in levels
    assert levels["documents", "document"] == 1.0
    assert levels["plain", "passage"] <= levels["plain", "document"]


def test_the_curve_of_weights_goes_through_the_scores_of_the_systems(board):
    curve = {
        weight: value for queries, weight, value in found(board, "weights/fused") if queries == "all queries"
    }
    assert list(curve) == [0.0, 0.25, 0.5, 0.75, 1.0]
    [fused] = [row for row in board.rows if row.system == "fused"]
    assert curve[0.5] == fused.measures["RR@10"].mean


def test_a_parameter_that_no_combiner_has_makes_no_curve(board, tmp_path):
    text = SUITE.replace("steps: 4", "steps: 4, parameter: depth").replace(
        "path: data", f"path: {board.folder}/data"
    )
    (tmp_path / "suite.yaml").write_text(text)
    other = run(tmp_path / "suite.yaml", store=board.folder / "store", quiet=True)
    assert [entry.name for entry in other.data.analyses if entry.name.startswith("weights")] == []
    assert all(row.status == "ok" for row in other.rows)


VARIANTS = """  plain: {retriever: bm25}
  before: {context: [{neighbours: {after: 0}}], retriever: bm25}
  after: {context: [{neighbours: {before: 0}}], retriever: bm25}
  again: {context: [{neighbours: {before: 0}}], retriever: {bm25: {k1: 2.0}}}
  weighted: {of: [plain, after], combine: {convex: {weights: [0.3, 0.7]}}}
"""


@pytest.fixture(scope="module")
def variants(board, tmp_path_factory) -> Leaderboard:
    folder = tmp_path_factory.mktemp("variants")
    first, last = SUITE.index("  plain:"), SUITE.index("measures:")
    text = SUITE[:first] + VARIANTS + SUITE[last:]
    (folder / "suite.yaml").write_text(text.replace("path: data", f"path: {board.folder}/data"))
    return run(folder / "suite.yaml", store=board.folder / "store", quiet=True)


def test_a_context_with_other_parameters_is_another_one_and_the_same_is_shown_once(variants):
    rows = {context: value for context, value, _ in found(variants, "jaccard")}
    assert list(rows) == ["none", "neighbours (after=0)", "neighbours (before=0)"]
    # a1, c1 and c3 with the passage before them, a1 and c1 with the one after them
    assert rows["neighbours (after=0)"] == pytest.approx(100 * (2 / 6 + 1 / 6 + 1 / 7) / 3, abs=1e-4)
    assert rows["neighbours (before=0)"] == pytest.approx(100 * (2 / 5 + 1 / 6 + 1 / 5) / 3, abs=1e-4)


def test_contexts_of_one_name_are_two_where_what_they_add_differs(monkeypatch):
    class Texts:
        def __init__(self, text):
            self.passages, self.text = 1, text

        def take(self, positions):
            return [self.text] * len(positions)

    monkeypatch.setattr(jaccard, "View", lambda corpus: corpus)
    one = np.zeros(1, np.int64)
    systems = [
        SimpleNamespace(unit="passage", context=("keyphrases",), stages=(step,), texts=Texts(text))
        for step, text in (("1", "a red fox"), ("2", "a red old fox"), ("1", "a red fox"))
    ]
    data = SimpleNamespace(
        judged=SimpleNamespace(grade=one + 1, passage=one, query=one),
        corpus=Texts("a fox"),
        queries=SimpleNamespace(texts=["fox"]),
        systems=systems,
    )
    [finding] = jaccard.Jaccard(JaccardParams()).analyse(data)
    assert [(name, value) for name, value, _ in finding.rows] == [
        ("none", 50.0),
        ("keyphrases", 33.3333),
        ("keyphrases", 25.0),
    ]


def test_a_weight_that_changes_nothing_has_no_curve(variants):
    assert [row.system for row in variants.rows if row.status == "ok"][-1] == "weighted"
    assert not [entry for entry in variants.data.analyses if entry.name.startswith("weights/")]


def encoded(name: str, retriever: str | None, lost: int, *stages: str) -> SystemRun:
    """A system whose encoder lost so many of its tokens."""
    told = {
        "step": "index",
        "method": "dense",
        "facts": {"tokens": 1000, "texts_cut": 9, "tokens_lost": lost},
    }
    return SystemRun(
        name=name,
        unit="passage",
        hits=None,
        context=stages,
        stages=stages,
        retriever=retriever,
        texts=None,
        reported=(told,),
        parameters=(),
        vary=None,
    )


def test_what_context_pushed_out_is_told_against_the_same_encoder():
    systems = (
        encoded("long", "a", 5),
        encoded("short", "b", 400),
        encoded("long+titles", "a", 7, "titles"),
        encoded("short+titles", "b", 450, "titles"),
        encoded("other+titles", "c", 450, "titles"),
        encoded("fused", None, 450, "titles"),
    )
    [finding] = Cut(None).analyse(SimpleNamespace(systems=systems))
    assert {name: more for name, *_, more in finding.rows} == {
        "long": None,
        "short": None,
        "long+titles": 2,
        "short+titles": 50,
        "other+titles": None,
        "fused": None,
    }


def test_bins_that_do_not_ascend_from_one_are_refused(tmp_path):
    from harness.errors import HarnessError

    (tmp_path / "suite.yaml").write_text(SUITE.replace("[1, 2, 4]", "[2, 1]"))
    with pytest.raises(HarnessError, match=r"suite.yaml:12: analyses\[1\].depth: 'bins'"):
        run(tmp_path / "suite.yaml", quiet=True)


@pytest.mark.parametrize(
    ("tokens", "plain", "titled"),
    [
        # {what, eats, owls} against {an, owl, eats, owls}, the title adds {night, birds}
        ("words", 100 * 2 / 5, 100 * 2 / 7),
        # {what, eats, owls?} against {an, owl, eats, (owls)}, the title adds {night, birds:}
        ("whitespace", 100 * 1 / 6, 100 * 1 / 8),
    ],
)
def test_tokens_are_words_or_what_white_space_separates(tokens, plain, titled):
    split = jaccard.TOKENS[tokens]
    query, passage, title = "What eats owls?", "An owl eats (owls)", "Night birds:"
    assert similarity(split, query, passage) == pytest.approx(plain)
    assert similarity(split, query, f"{title} {passage}") == pytest.approx(titled)


def similarity(split, query: str, passage: str) -> float:
    texts = SimpleNamespace(take=lambda places: [passage])
    one = np.zeros(1, np.int64)
    return 100 * jaccard.similarity(texts, [split(query)], one, one, split)


@pytest.mark.real
def test_the_example_of_daprs_table_10_is_split_at_white_space():
    folder = os.environ.get("HARNESS_REAL_PAPERS")
    if not folder:
        pytest.skip("HARNESS_REAL_PAPERS does not name the folder of the papers' texts")
    text = (Path(folder) / "dapr.txt").read_text()
    rows = text[text.index("\nQuery\tTtile\t") : text.index("\nTable 10:")].strip().split("\n")[1:]
    query, title, passage = (
        unbroken(cells) for cells in zip(*(row.split("\t") for row in rows), strict=True)
    )
    found = {
        tokens: [similarity(split, query, passage), similarity(split, query, f"{title} {passage}")]
        for tokens, split in jaccard.TOKENS.items()
    }
    # the paper has 10.9 and 7.9: without the title that is one word of 56, with it eight of 68
    assert found == {
        "whitespace": pytest.approx([10.7, 8.8], abs=0.05),
        "words": pytest.approx([15.5, 12.3], abs=0.05),
    }


def unbroken(cells: Sequence[str]) -> str:
    """The lines of a cell as one text, without marks of form."""
    lines = " ".join(re.sub(r"</?u>", "", cell).strip() for cell in cells).replace("$\\beta$ ", "β").split()
    return re.sub(r"(?<=\w)- ", "-", " ".join(lines)).replace(" )", ")")
