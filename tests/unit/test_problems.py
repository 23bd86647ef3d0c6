"""Problems and needs are values; text is made of them here alone."""

from pathlib import Path

import pytest

from harness.errors import HarnessError, Problems
from harness.problems import Need, Place, Problem, dotted, unknown


def test_a_problem_reads_as_place_path_and_text():
    problem = Problem(
        Place(Path("/far/suite.yaml"), 3), ("systems", "a", "rerank", 0, "k"), "is wrong; mend it"
    )
    assert str(problem) == "/far/suite.yaml:3: systems.a.rerank[0].k: is wrong; mend it"


def test_a_place_in_the_current_folder_is_shown_relative_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(Problem(Place(tmp_path / "suite.yaml", 1), (), "empty")) == "suite.yaml:1: empty"


@pytest.mark.parametrize(
    ("path", "text"), [((), ""), (("a",), "a"), (("a", 0, "b"), "a[0].b"), ((0,), "[0]")]
)
def test_a_path_of_keys_has_dots_and_brackets(path, text):
    assert dotted(path) == text


def test_problems_are_told_once_each():
    error = Problems([Problem(None, ("a",), "x"), "a: x", Problem(None, ("a",), "x")])
    assert [str(problem) for problem in error.problems] == ["a: x", "a: x"]  # one of them has no path
    assert Problems(["x", "x"]).problems == (Problem(None, (), "x"),)


def test_any_error_of_a_user_can_be_placed_from_outside():
    place = Place(Path("/s.yaml"), 7)
    assert HarnessError("no such file").below(place, ("datasets", "d")) == [
        Problem(place, ("datasets", "d"), "no such file")
    ]
    placed = Problem(Place(Path("/other.yaml"), 1), ("include",), "wrong")
    assert Problems([placed]).below(place, ("datasets", "d")) == [placed]


@pytest.mark.parametrize(
    ("need", "text"),
    [
        (Need("path", "data/corpus.jsonl"), "data/corpus.jsonl (not there)"),
        (Need("other", "model m (no such folder)"), "model m (no such folder)"),
        (
            Need("modules", "with faiss", "dense", ("faiss", "x"), "pip install faiss"),
            "'dense' with faiss needs faiss, x; install it with: pip install faiss",
        ),
    ],
)
def test_a_need_reads_as_a_line(need, text):
    assert str(need) == text


def test_an_unknown_name_comes_with_the_nearest_or_with_all():
    assert unknown("key", "retreiver", ["retriever", "of"]).endswith("'retreiver'; did you mean 'retriever'?")
    assert unknown("key", "xyz", ["b", "a"]).endswith("'xyz'; choose from: a, b")
