"""Schemes: those that are there, one's own, and what is refused in one."""

import re
from pathlib import Path

import msgspec
import pytest

from harness.errors import HarnessError
from harness_annotate import decisions, scheme
from harness_annotate.scheme import Choice, Rules

DOCS = Path(__file__).parents[2] / "docs" / "annotate.md"


@pytest.mark.parametrize("name", scheme.names())
def test_each_scheme_of_ours_can_be_loaded_and_is_in_the_docs(name):
    loaded = scheme.load(name)
    assert f"| `{name}` |" in DOCS.read_text(encoding="utf-8")
    assert loaded.source


def test_the_papers_numbers_of_people_are_the_defaults():
    assert scheme.load("t2ranking").rules == Rules(votes=3, more=1)
    assert [item.grade for item in scheme.load("t2ranking").grades] == [0, 1, 2, 3]
    rules = scheme.load("dureader").rules
    assert (rules.package, rules.review, rules.accuracy, rules.reviewers) == (1000, 100, 0.93, 2)


def test_the_scheme_of_the_docs_works(tmp_path):
    block = re.search(r"```\n(title: .*?)```", DOCS.read_text(encoding="utf-8"), re.S)[1]
    (tmp_path / "mine.yaml").write_text(block, encoding="utf-8")
    mine = scheme.load("mine.yaml", tmp_path)
    assert (len(mine.grades), mine.labels[0].key, mine.rules.votes) == (3, "o", 2)
    assert scheme.choice(mine, 2, ["outdated"]) == Choice(2, ("outdated",))


def test_the_docs_have_each_rule_with_its_default():
    text = DOCS.read_text(encoding="utf-8")
    for name, value in msgspec.to_builtins(Rules()).items():
        assert f"| `{name}` | {value} |" in text


GRADE = "grades: [{grade: 1, name: Yes, text: It does.}]\n"
LABEL = "{label: a, key: a, name: A, text: It is a.}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("title: a\nguide: b\n", "has neither grades nor labels"),
        ("title: a\nguide: b\ngrade: 1\n", "unknown field `grade`"),
        (f"title: a\nguide: b\n{GRADE[:-2]}, {{grade: 1, name: No, text: No.}}]\n", "two are the same"),
        (f"title: a\nguide: b\nlabels: [{LABEL}]\n", "without grades each label needs a grade"),
        (f"title: a\nguide: b\n{GRADE}labels: [{LABEL}, {LABEL}]\n", "two have the same label"),
        (
            f"title: a\nguide: b\n{GRADE}labels: [{LABEL.replace('key: a', 'key: z')}]\n",
            "uses the key 'z' itself",
        ),
        (f"title: a\nguide: b\n{GRADE}rules: {{votes: 0}}\n", "$.rules.votes"),
    ],
)
def test_a_wrong_scheme_is_refused_with_its_mistake(tmp_path, text, problem):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(HarnessError, match=re.escape(problem)):
        scheme.load("mine.yaml", tmp_path)


def test_an_unknown_scheme_is_refused_with_a_guess():
    with pytest.raises(HarnessError, match="unknown scheme 'dureader-error'; did you mean 'dureader-errors'"):
        scheme.load("dureader-error")


def test_labels_imply_the_grade_and_refuse_what_contradicts_them():
    dapr = scheme.load("dapr-errors")
    assert scheme.choice(dapr, None, ["acronym", "main-topic"]) == Choice(1, ("main-topic", "acronym"))
    assert scheme.choice(dapr, None, ["wrong-annotation"]) == Choice(0, ("wrong-annotation",))
    for labels, problem in (
        (["wrong-annotation", "acronym"], "stands alone"),
        ([], "none is chosen"),
        (["acronym", "acronym"], "given twice"),
    ):
        with pytest.raises(HarnessError, match=problem):
            scheme.choice(dapr, None, labels)


T2 = scheme.load("t2ranking")


@pytest.mark.parametrize(
    ("grades", "status", "grade", "wanted"),
    [
        ([], "open", None, 3),
        ([3, 3], "open", None, 3),
        ([3, 3, 0], "decided", 3, 3),
        ([3, 2, 0], "open", None, 4),
        ([3, 2, 0, 2], "decided", 2, 4),
        ([3, 2, 0, 1], "dropped", None, 4),
    ],
)
def test_t2rankings_rule_three_people_a_fourth_then_dropped(grades, status, grade, wanted):
    decision = decisions.decide(T2, T2.rules, [Choice(value) for value in grades])
    assert (decision.status, decision.wanted) == (status, wanted)
    assert (decision.choice.grade if decision.choice else None) == grade


def test_a_tie_is_no_majority():
    votes = [Choice(0), Choice(0), Choice(1), Choice(1)]
    assert decisions.majority(T2, votes) is None


def test_of_several_labels_those_of_most_people_are_kept():
    dapr = scheme.load("dapr-errors")
    votes = [
        Choice(1, ("coreference", "acronym")),
        Choice(1, ("coreference",)),
        Choice(1, ("acronym", "multi-hop")),
    ]
    assert decisions.majority(dapr, votes) == Choice(1, ("coreference", "acronym"))
    apart = [Choice(1, ("coreference",)), Choice(0, ("wrong-annotation",))]
    assert decisions.decide(dapr, Rules(votes=2, more=1), apart).status == "open"
