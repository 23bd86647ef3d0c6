"""`harness annotate` as a command: the commands of its page, progress, and what is refused."""

import json
import re
import shlex
from pathlib import Path

import pytest
from pools import make_project, pairs, write_pool

from harness import cli
from harness_annotate import assignment, people, review, summary
from harness_annotate.scheme import Choice

DOCS = Path(__file__).parents[2] / "docs" / "annotate.md"
INSTEAD = {"--invite", "--invite-reviewer", "--progress", "--export", "--grade-by"}


def documented():
    """The commands of the page, in order, as words."""
    blocks = re.findall(r"^```\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("harness ")]
    return [shlex.split(line)[1:] for line in lines]


def test_each_command_of_the_page_works_in_its_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_pool(tmp_path / "pool", pairs(2))
    served = 0
    for words in documented():
        if words[0] == "annotate" and not INSTEAD & set(words):
            served += 1  # the tests in a browser serve; here the folder is begun
            words = [*words, "--progress"]
        if "--grade-by" in words:  # a stand-in answers it in test_annotate_machines.py
            options = cli.parser(["annotate"]).parse_args(words)
            assert options.grade_by == Path("judge.yaml")
            continue
        assert cli.main(words) == 0, words
    assert served == 2
    printed = capsys.readouterr().out
    assert re.search(r"Ann \(annotator\): http://127\.0\.0\.1:8765/#token=[\w-]{43}\n", printed)
    assert "Rae (reviewer): http" in printed
    assert printed.endswith("entries, all in order\n")
    assert (tmp_path / "judgements" / "judgements.jsonl").read_text() == ""
    agreement = json.loads((tmp_path / "judgements" / "agreement.json").read_text())
    assert [person["name"] for person in agreement["annotators"]] == ["Ann", "Bo"]
    assert (tmp_path / "judgements" / "judging.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_new_folder_needs_a_scheme(tmp_path, capsys):
    pool = write_pool(tmp_path / "pool", pairs(1))
    assert cli.main(["annotate", str(pool), "--out", str(tmp_path / "out"), "--progress"]) == 2
    assert "--scheme: a new folder needs one; choose from: dapr-errors, dureader" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--votes", "100"], "rules: Expected `int` <= 99"),
        (["--scheme", "t2rankin"], "did you mean 't2ranking'?"),
        (["--gold", "none.tsv"], "none.tsv: cannot be read"),
        (["--invite", "<b>"], "is no name; use letters"),
    ],
)
def test_wrong_options_are_refused(tmp_path, capsys, options, problem):
    pool = write_pool(tmp_path / "pool", pairs(1))
    command = ["annotate", str(pool), "--out", str(tmp_path / "out"), "--scheme", "t2ranking", *options]
    assert cli.main(command if "--invite" in options else [*command, "--progress"]) == 2
    assert problem in capsys.readouterr().err


def test_it_is_noted_when_fewer_people_can_judge_than_each_pair_needs(tmp_path):
    made = make_project(tmp_path, votes=1, more=1)
    people.invite(made.journal, "ann", "annotator")
    people.invite(made.journal, "rae", "reviewer")
    with made.journal.reading() as state:
        assert "for each pair: 1, and 1 more where they disagree; people who can judge: 1" in people.too_few(
            state
        )
    people.invite(made.journal, "bo", "annotator")
    with made.journal.reading() as state:
        assert people.too_few(state) is None
    people.revoke(made.journal, "bo")
    with made.journal.reading() as state:
        assert "people who can judge: 1" in people.too_few(state)


def test_a_person_is_either_annotator_or_reviewer(tmp_path, capsys):
    pool = write_pool(tmp_path / "pool", pairs(1))
    command = ["annotate", str(pool), "--out", str(tmp_path / "out")]
    assert cli.main([*command, "--scheme", "t2ranking", "--invite", "ann"]) == 0
    assert cli.main([*command, "--invite-reviewer", "ann"]) == 2
    assert "--invite ann: is annotator already; invite under another name" in capsys.readouterr().err


def test_progress_counts_each_person_each_package_and_how_far_they_agree(tmp_path):
    gold = tmp_path / "gold.tsv"
    gold.write_text("query\tpassage\tgrade\nq1\td1-4\t3\n")
    made = make_project(tmp_path, votes=2, more=0, gold=gold, gold_every=4, package=5, review=2)
    for name in ("ann", "bo"):
        people.invite(made.journal, name, "annotator")
    people.invite(made.journal, "rae", "reviewer")
    answers = {"ann": [3, 3, 0, 1, 0, 3, 1, 0, 2, 1], "bo": [3, 0, 0, 1, 0, 3, 1, 0, 2, 3]}
    for name, grades in answers.items():
        while (number := assignment.next_pair(made.journal, name)) is not None:
            assignment.answer(made.journal, name, number, grades[number], (), "")
    with made.journal.reading() as state:
        number = review.next_pair(state, "rae")
    review.verdict(made.journal, "rae", number, False, Choice(2), "")
    with made.journal.reading() as state:
        found = summary.summary(state)
    assert (found.decided, found.dropped) == (8, 1)
    assert [(item.name, item.answered, item.gold, item.majority) for item in found.annotators] == [
        ("ann", 10, 0.0, 1.0), ("bo", 10, 1.0, 1.0),
    ]  # fmt: skip
    [pair] = found.people
    assert (pair.pairs, pair.same) == (9, pytest.approx(8 / 9))
    # by hand: 8 of 9 alike; chance from ann's (3, 2, 1, 3) and bo's (4, 2, 1, 2) answers of 0, 1, 2, 3
    chance = (3 * 4 + 2 * 2 + 1 * 1 + 3 * 2) / 81
    assert pair.kappa == pytest.approx((8 / 9 - chance) / (1 - chance))
    text = summary.text(found)
    assert "9 of 9 pairs are done: 8 decided, 1 dropped; 0 were judged before" in text
    assert "  bo: 10 judged, 0 skipped, 100% as decided, gold 100% of 1" in text
    assert "  package 1: 5/5, review (reviewed: rae 1/2)" in text
    assert "Krippendorff's alpha: nominal 0." in text


def test_pairs_that_wait_for_a_further_person_are_named(tmp_path):
    made = make_project(tmp_path, pairs(1, 2), votes=1, more=0)
    people.invite(made.journal, "ann", "annotator")
    for _ in range(2):
        assignment.skip(made.journal, "ann", assignment.next_pair(made.journal, "ann"), "")
    with made.journal.reading() as state:
        text = summary.text(summary.summary(state))
    assert "2 pairs wait for a further annotator: all who are invited were asked" in text
