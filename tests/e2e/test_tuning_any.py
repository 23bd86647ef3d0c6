"""Tuning parameters of any method: several together, drawn points, folds, and tuned systems of tuned systems."""

import itertools

import pytest

from harness import api
from harness.errors import HarnessError
from harness.suite.tuning import points

SUITE = """
suite: tuned
datasets:
  tour: {tour: {language: en, split: test}}
systems:
  plain: {retriever: bm25}
  tuned:
    retriever:
      bm25:
        k1: {tune: {on: tour/dev, measure: nDCG@10, values: [0.4, 0.9, 3.0]}}
        b: {tune: {grid: [0.2, 0.8, 0.6]}}
  best by hand: {retriever: {bm25: {k1: BEST_K1, b: BEST_B}}}
  folded: {retriever: {bm25: {form: {tune: {folds: 3, measure: nDCG@10, values: [lucene, bm25+, atire]}}}}}
  weighed: {of: [plain, tuned, ql], combine: {combsum: {weights: {tune: {on: tour/dev, measure: nDCG@10, simplex: [3, 0.5]}}}}}
  ql: {retriever: ql}
  reranked: {of: tuned, rerank: {sdm: {window: {tune: {on: tour/dev, measure: nDCG@10, values: [4, 8]}}}, depth: 20}}
measures: [nDCG@10]
depth: 50
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "suite.yaml").write_text(SUITE.replace("BEST_K1", "0.9").replace("BEST_B", "0.8"))
    board = api.run(folder / "suite.yaml", out=folder / "out", store=folder / "store", quiet=True)
    assert [row.error for row in board.rows if row.error] == []
    return folder, {row.system: row for row in board.rows}


def test_every_point_of_the_grid_was_tried_and_the_first_of_the_best_was_taken(ran):
    _, rows = ran
    [tuning] = rows["tuned"].tuning
    assert tuning.values == tuple(
        f"k1={k1}, b={b}" for k1, b in itertools.product([0.4, 0.9, 3.0], [0.2, 0.8])
    )
    assert tuning.value == tuning.values[max(range(6), key=lambda i: (tuning.curve[i], -i))]
    assert tuning.on == "tour/dev"


def test_the_tuned_system_is_the_one_with_the_values_that_were_found(ran):
    folder, rows = ran
    k1, b = (pair.split("=")[1] for pair in rows["tuned"].tuning[0].value.split(", "))
    text = SUITE.replace("BEST_K1", k1).replace("BEST_B", b)
    (folder / "by-hand.yaml").write_text(text)
    board = api.run(folder / "by-hand.yaml", out=folder / "out2", store=folder / "store", quiet=True)
    by_system = {row.system: row for row in board.rows}
    runs = [
        (folder / "out2" / by_system[name].files["run"].path).read_bytes()
        for name in ("tuned", "best by hand")
    ]
    lines = [[line.split()[:5] for line in gunzipped(data).splitlines()] for data in runs]
    assert lines[0] == lines[1]


def gunzipped(data):
    import gzip

    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def test_the_index_is_shared_by_all_points(ran):
    _, rows = ran
    steps = {
        name: {step.key for step in rows[name].provenance.steps if step.step == "index"} for name in rows
    }
    assert steps["plain"] <= steps["tuned"]


def test_across_folds_each_query_has_the_hits_of_the_point_that_its_fold_chose(ran):
    _, rows = ran
    [tuning] = rows["folded"].tuning
    assert len(tuning.folds) == 3
    assert set(tuning.folds) <= {"form=lucene", "form=bm25+", "form=atire"}
    assert "tuned across folds of the split that it is scored on" in rows["folded"].flags


def test_weights_of_several_systems_are_learned_on_the_simplex(ran):
    _, rows = ran
    tuned = {tuning.parameter: tuning for tuning in rows["weighed"].tuning}["weights"]
    assert len(tuned.values) == 6
    assert tuned.values[0] == "weights=[0.0, 0.0, 1.0]"
    assert all(sum(map(float, value[9:-1].split(", "))) == 1 for value in tuned.values)
    assert tuned.value == tuned.values[max(range(6), key=lambda i: (tuned.curve[i], -i))]


def test_a_tuned_system_builds_on_a_tuned_one(ran):
    _, rows = ran
    tuned = {tuning.parameter: tuning for tuning in rows["reranked"].tuning}
    assert set(tuned) == {"k1, b", "window"}
    assert tuned["window"].value in (4, 8)
    assert rows["reranked"].cost.tuning_seconds > 0


def test_drawn_points_are_different_points_of_the_grid_and_the_same_each_time():
    options = [(1, 2, 3), ("a", "b"), (0.1, 0.2, 0.3, 0.4)]
    every = points(options, None, 0)
    drawn = points(options, 7, seed=3)
    assert every == tuple(itertools.product(*options))
    assert len(set(drawn)) == 7
    assert set(drawn) <= set(every)
    assert drawn == points(options, 7, seed=3) != points(options, 7, seed=4)
    assert points(options, 1000, 0) == every


@pytest.mark.parametrize(("retriever", "message"), [
    ("{k1: {tune: {measure: nDCG@10, grid: [0, 1, 0.1]}}}", "k1.tune: .*'on: DATASET/SPLIT' or 'folds: 5'"),
    ("{k1: {tune: {folds: 5, grid: [0, 1, 0.1]}}}", "'measure' is missing"),
    ("{k1: {tune: {folds: 5, measure: nDCG@10}}}", "expected either a 'grid'"),
    ("{k1: {tune: {folds: 5, measure: nDCG@10, values: [1.0, 1.0]}}}", "k1.tune.values: .*got \\[1.0, 1.0\\]"),
    ("{k1: {tune: {folds: 5, measure: nDCG@10, values: [1.0, high]}}}", "tune.*got 'high'"),
    ("{b: {tune: {folds: 5, measure: nDCG@10, grid: [0, 2, 0.5]}}}", "tune.grid: .*at most 1"),
    ("{k1: {tune: {folds: 5, measure: nDCG@10, grid: [0, 1, 0.01]}}, b: {tune: {grid: [0, 1, 0.01]}}}", "10,201 points"),
    ("{k1: {tune: {on: tour/test, measure: nDCG@10, values: [1, 2]}}}", "tune: 'tour/test'"),
    ("{k1: {tune: {on: tuor/dev, measure: nDCG@10, values: [1, 2]}}}", "did you mean 'tour'"),
    ("{k1: {tune: {folds: 5, measure: nDCG@10, values: [1, 2]}}, b: {tune: {folds: 5, values: [0, 1]}}}", "bm25.b.tune.folds: stands at the first tuned parameter"),
])  # fmt: skip
def test_what_cannot_be_tuned_is_refused(retriever, message, tmp_path):
    suite = "suite: refused\ndatasets: {tour: {tour: {split: test}}}\nsystems:\n  tuned: {retriever: {bm25: "
    (tmp_path / "suite.yaml").write_text(f"{suite}{retriever}}}}}\nmeasures: [nDCG@10]\n")
    with pytest.raises(HarnessError, match=message):
        api.run(tmp_path / "suite.yaml", out=tmp_path / "out", store=tmp_path / "store", quiet=True)
