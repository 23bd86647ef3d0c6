"""The log: append-only, replayed by `harness verify`, and what an export says stands in it."""

import sqlite3

import orjson
import pytest
from pools import make_project, pairs

from harness import cli
from harness.errors import HarnessError
from harness_annotate import assignment, people, project, results
from harness_annotate import journal as journals
from harness_annotate.events import Answered, Appointed, Given, Graded, Invited
from harness_annotate.scheme import Choice
from harness_annotate.state import NotAllowed


@pytest.fixture
def judged(tmp_path):
    """Three of four pairs are decided: two alike, one by a third person; the fourth has one vote."""
    made = make_project(tmp_path, pairs(2, 2), votes=2, more=1)
    for name in ("ann", "bo", "cy"):
        people.invite(made.journal, name, "annotator")
    for name, grades in (("ann", (3, 0, 2, 1)), ("bo", (3, 0, 1))):
        for grade in grades:
            number = assignment.next_pair(made.journal, name)
            assignment.answer(made.journal, name, number, grade, (), f"{name} says so" if grade == 2 else "")
    number = assignment.next_pair(made.journal, "cy")
    assignment.answer(made.journal, "cy", number, 1, (), "")
    return made


def exported(made, folder):
    counts = results.export(made.journal, made.pool, folder)
    return counts, [orjson.loads(line) for line in (folder / "judgements.jsonl").read_bytes().splitlines()]


def damage(made, *statements):
    made.journal.close()
    with sqlite3.connect(made.journal.path) as db:
        db.executescript("DROP TRIGGER never_changed; DROP TRIGGER never_removed;")
        for statement in statements:
            db.execute(statement)
    db.close()


def test_an_export_has_each_decision_with_every_judgement_behind_it(judged, tmp_path):
    counts, lines = exported(judged, tmp_path / "judgements")
    assert counts == {"pairs": 4, "decided": 3, "dropped": 0, "graded by machine": 0}
    assert [(line["passage"], line["grade"], line["rule"]) for line in lines] == [
        ("d0-0", 3, "unanimous"), ("d0-1", 0, "unanimous"), ("d1-0", 1, "majority"),
    ]  # fmt: skip
    votes = lines[2]["judgements"]
    assert sorted((vote["judge"], vote["grade"], vote.get("comment")) for vote in votes) == [
        ("ann", 2, "ann says so"), ("bo", 1, None), ("cy", 1, None),
    ]  # fmt: skip
    assert {vote["kind"] for vote in votes} == {"person"}
    assert all(len(vote["time"]) == 20 and vote["time"].endswith("Z") for vote in votes)
    undecided = orjson.loads((tmp_path / "judgements" / "undecided.jsonl").read_bytes())
    assert (undecided["passage"], undecided["rule"], undecided["grade"]) == ("d1-1", "open", None)
    assert (tmp_path / "judgements" / "qrels.tsv").read_text() == (
        "query-id\tcorpus-id\tscore\nq0\td0-0\t3\nq0\td0-1\t0\nq1\td1-0\t1\n"
    )


def test_machines_grades_are_exported_apart(judged, tmp_path):
    with judged.journal.writing() as (_, append):
        append(Appointed("robot", "{}"))
        append(Graded("robot", 0, Choice(1), 0.25))
    _, lines = exported(judged, tmp_path / "judgements")
    assert lines[0]["grade"] == 3
    machine = orjson.loads((tmp_path / "judgements" / "machine.jsonl").read_bytes())
    assert (machine["kind"], machine["grade"], machine["judgements"][0]["score"]) == ("machine", 1, 0.25)
    assert "robot" not in (tmp_path / "judgements" / "judgements.jsonl").read_text()


def test_verify_replays_a_whole_log(judged, tmp_path, capsys):
    exported(judged, tmp_path / "judgements")
    assert cli.main(["verify", str(tmp_path / "judgements")]) == 0
    assert capsys.readouterr().out.endswith("judgements: 20 entries, all in order\n")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "UPDATE log SET body = replace(body, '\"grade\":3', '\"grade\":2') WHERE seq = 6",
            "entry 6 was changed",
        ),
        ("DELETE FROM log WHERE seq = 9", "entry 9 is missing"),
        ("UPDATE log SET at = '2020-01-01T00:00:00Z' WHERE seq = 3", "entry 3 was changed"),
        ("DELETE FROM log WHERE seq = 20", "cites an entry that the log does not hold"),
        ("DELETE FROM log", "the log is empty"),
        ("UPDATE log SET body = CAST(x'7b22ff' AS TEXT) WHERE seq = 6", "Could not decode to UTF-8"),
    ],
)
def test_verify_names_what_was_done_to_a_log(judged, tmp_path, capsys, statement, problem):
    exported(judged, tmp_path / "judgements")
    damage(judged, statement)
    assert cli.main(["verify", str(tmp_path / "judgements")]) == 1
    assert problem in capsys.readouterr().out


def test_verify_names_an_exported_file_that_was_changed(judged, tmp_path, capsys):
    exported(judged, tmp_path / "judgements")
    path = tmp_path / "judgements" / "judgements.jsonl"
    path.write_text(path.read_text().replace('"grade":3', '"grade":0'))
    assert cli.main(["verify", str(tmp_path / "judgements")]) == 1
    assert "judgements.jsonl is not as it was exported" in capsys.readouterr().out


def test_the_log_refuses_to_be_changed(judged):
    db = sqlite3.connect(judged.journal.path)
    for statement in ("UPDATE log SET at = ''", "DELETE FROM log"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            db.execute(statement)
    db.close()


def test_a_damaged_log_is_not_gone_on_with(judged, tmp_path):
    damage(judged, "DELETE FROM log WHERE seq = 9")
    journal = journals.Journal(tmp_path / "judgements")
    with pytest.raises(HarnessError, match=r"the log is damaged \(entry 9 is missing\); restore a copy"):
        assignment.next_pair(project.Project(judged.pool, journal).journal, "ann")
    journal.close()


@pytest.mark.parametrize(
    "event",
    [
        Given("ann", 0),  # had it before
        Given("nobody", 3),
        Given("cy", 0),  # decided
        Answered("cy", 3, Choice(1)),  # was not given
        Invited("ann", "reviewer", "0" * 64),
        Graded("robot", 0, Choice(1)),  # nobody appointed it
    ],
)
def test_what_the_rules_forbid_cannot_enter_the_log(judged, event):
    before = judged.journal.last_digest()
    with pytest.raises(NotAllowed), judged.journal.writing() as (_, append):
        append(event)
    assert judged.journal.last_digest() == before
    assert assignment.next_pair(judged.journal, "bo") == 3  # and the folder goes on


def test_what_fails_half_way_leaves_nothing(judged):
    def half():
        with judged.journal.writing() as (_, append):
            append(Given("bo", 3))
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        half()
    with judged.journal.reading() as state:
        assert state.people["bo"].current is None
