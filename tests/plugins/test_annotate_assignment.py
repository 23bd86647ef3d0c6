"""Who is asked what: as many votes as wanted, a further one where they disagree, nobody twice."""

import random
import threading

import pytest
from pools import make_project, pairs, write_pool

from harness.errors import HarnessError
from harness_annotate import assignment, people, pool_files, project, results, review, scheme
from harness_annotate import journal as journals
from harness_annotate.scheme import Choice


def invited(made, *names, reviewers=()):
    for name in names:
        people.invite(made.journal, name, "annotator")
    for name in reviewers:
        people.invite(made.journal, name, "reviewer")
    return made


def judge_all(made, name, grade_of):
    """The person answers until nothing is left for them; returns what they were asked."""
    asked = []
    while (number := assignment.next_pair(made.journal, name)) is not None:
        asked.append(number)
        assignment.answer(made.journal, name, number, grade_of(number), (), "")
    return asked


def test_each_pair_is_judged_by_as_many_people_as_wanted(tmp_path):
    made = invited(make_project(tmp_path, votes=2, more=0), "ann", "bo", "cy")
    assert judge_all(made, "ann", lambda _: 1) == list(range(10))
    assert judge_all(made, "bo", lambda _: 1) == list(range(10))
    assert judge_all(made, "cy", lambda _: 1) == []


def test_a_further_person_is_asked_only_where_people_disagree(tmp_path):
    made = invited(make_project(tmp_path, votes=2, more=1), "ann", "bo", "cy")
    judge_all(made, "ann", lambda number: 3)
    judge_all(made, "bo", lambda number: 0 if number in (4, 7) else 3)
    assert judge_all(made, "cy", lambda number: 3 if number == 4 else 1) == [4, 7]
    with made.journal.reading() as state:
        assert results.final(state, 0) == (Choice(3), "unanimous")
        assert results.final(state, 4) == (Choice(3), "majority")
        assert results.final(state, 7) == (None, "no majority")


def test_two_people_at_once_never_get_the_same_pair_where_one_suffices(tmp_path):
    made = invited(make_project(tmp_path, votes=1, more=0), "ann", "bo")
    first, second = (assignment.next_pair(made.journal, name) for name in ("ann", "bo"))
    assert {first, second} == {0, 1}


def test_many_threads_and_connections_share_out_every_pair_once(tmp_path):
    names = [f"p{number}" for number in range(6)]
    made = invited(make_project(tmp_path, pairs(12), votes=1, more=0), *names)
    asked: list[int] = []

    def work(name):
        own = journals.Journal(tmp_path / "judgements")  # as another process would have it
        asked.extend(judge_all(project.Project(made.pool, own), name, lambda _: 1))
        own.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(asked) == list(range(60))


def test_undo_gives_the_pair_back_and_the_new_answer_counts(tmp_path):
    made = invited(make_project(tmp_path, votes=1, more=0), "ann")
    assert assignment.next_pair(made.journal, "ann") == 0
    assignment.answer(made.journal, "ann", 0, 3, (), "")
    assert assignment.next_pair(made.journal, "ann") == 1
    assert assignment.undo(made.journal, "ann").choice == Choice(3)
    assert assignment.next_pair(made.journal, "ann") == 0
    assignment.answer(made.journal, "ann", 0, 1, (), "only the title")
    with made.journal.reading() as state:
        assert [vote.choice for vote in state.pairs[0].votes] == [Choice(1)]
    assert assignment.next_pair(made.journal, "ann") == 1


def test_undo_has_an_end(tmp_path):
    made = invited(make_project(tmp_path), "ann")
    assert assignment.undo(made.journal, "ann") is None


def test_a_skipped_pair_goes_to_somebody_else_and_does_not_come_back(tmp_path):
    made = invited(make_project(tmp_path, pairs(1, 2), votes=1, more=0), "ann", "bo")
    assignment.skip(made.journal, "ann", assignment.next_pair(made.journal, "ann"), "not my language")
    assert judge_all(made, "ann", lambda _: 1) == [1]
    assert judge_all(made, "bo", lambda _: 2) == [0]


def test_a_pair_that_waits_too_long_goes_to_another_and_is_lost_to_the_first(tmp_path, monkeypatch):
    made = invited(make_project(tmp_path, pairs(1, 1), votes=1, more=0, hold=30), "ann", "bo")
    monkeypatch.setattr(journals, "now", lambda: "2026-03-01T09:00:00Z")
    monkeypatch.setattr(assignment, "now", lambda: "2026-03-01T09:29:00Z")
    assert assignment.next_pair(made.journal, "ann") == 0
    assert assignment.next_pair(made.journal, "bo") is None
    monkeypatch.setattr(assignment, "now", lambda: "2026-03-01T09:31:00Z")
    assert assignment.next_pair(made.journal, "bo") == 0
    with pytest.raises(assignment.Lost, match="no longer yours"):
        assignment.answer(made.journal, "ann", 0, 1, (), "")
    assignment.answer(made.journal, "bo", 0, 2, (), "")
    with made.journal.reading() as state:
        assert [vote.person for vote in state.pairs[0].votes] == ["bo"]


def test_gold_questions_come_regularly_to_everybody_and_are_not_votes(tmp_path):
    gold = tmp_path / "gold.tsv"
    gold.write_text("query\tpassage\tgrade\nq1\td1-0\t3\nq1\td1-3\t0\n")
    made = invited(make_project(tmp_path, gold=gold, votes=1, more=0, gold_every=3), "ann", "bo")
    asked = []
    for _ in range(6):
        number = assignment.next_pair(made.journal, "ann")
        asked.append(number)
        assignment.answer(made.journal, "ann", number, 3, (), "")
    assert [number in (5, 8) for number in asked] == [False, False, True, False, False, True]
    assert {5, 8} < set(judge_all(made, "bo", lambda _: 1))
    with made.journal.reading() as state:
        assert results.final(state, 8) == (Choice(0), "gold")
        assert [number for package in state.packages for number in package] == [0, 1, 2, 3, 4, 6, 7, 9]


def test_pairs_that_the_collection_has_a_grade_for_are_left_out_unless_asked_again(tmp_path):
    rows = pairs(1, 3)
    rows[1]["grade"] = 2
    left_out = invited(make_project(tmp_path / "one", rows), "ann")
    assert judge_all(left_out, "ann", lambda _: 1) == [0, 2]
    again = invited(make_project(tmp_path / "two", rows, again=True), "ann")
    assert judge_all(again, "ann", lambda _: 1) == [0, 1, 2]


def test_a_reviewer_checks_random_pairs_and_a_package_that_misses_its_accuracy_is_judged_again(tmp_path):
    made = invited(
        make_project(tmp_path, pairs(4), votes=1, more=0, package=10, review=4, accuracy=0.9), "ann",
        reviewers=["rae"],
    )  # fmt: skip
    judge_all(made, "ann", lambda _: 1)
    with made.journal.reading() as state:
        drawn = review.sample(state, "rae", 0)
        assert set(drawn) <= set(range(10))
        assert len(set(drawn)) == 4
        assert drawn == review.sample(state, "rae", 0)
    for _ in range(8):
        with made.journal.reading() as state:
            number = review.next_pair(state, "rae")
        review.verdict(made.journal, "rae", number, number >= 10, None if number >= 10 else Choice(2), "")
    with made.journal.reading() as state:
        assert review.next_pair(state, "rae") is None
        first, second = review.packages(state)
        assert (first.accuracy, first.standing) == (0, "revise")
        assert (second.accuracy, second.standing) == (1, "accepted")
        assert results.final(state, drawn[0]) == (Choice(2), "review")
    with pytest.raises(HarnessError, match="package 2 has not missed its accuracy"):
        review.give_back(made.journal, "rae", 1)
    review.give_back(made.journal, "rae", 0)
    assert judge_all(made, "ann", lambda _: 3) == list(range(10))
    assert project.replay(tmp_path / "judgements").problems == []


def test_a_pair_outside_the_sample_cannot_be_reviewed(tmp_path):
    made = invited(make_project(tmp_path, votes=1, more=0), "ann", reviewers=["rae"])
    with pytest.raises(HarnessError, match="not in your sample"):
        review.verdict(made.journal, "rae", 0, True, None, "")


def test_random_work_of_five_people_ends_with_every_rule_kept(tmp_path):
    """Answers, skips, undos and reloads in any order."""
    for seed in range(4):
        draw = random.Random(seed)
        names = [f"p{number}" for number in range(5)]
        made = invited(make_project(tmp_path / str(seed), pairs(3), votes=3, more=1), *names)
        idle = 0
        while idle < 200:
            name, number = (chosen := draw.choice(names)), assignment.next_pair(made.journal, chosen)
            idle += number is None
            if number is None:
                continue
            action = draw.random()
            if action < 0.03:
                assignment.skip(made.journal, name, number, "")
            elif action < 0.1:
                assignment.undo(made.journal, name)
            elif action < 0.9:
                assignment.answer(made.journal, name, number, draw.randrange(4), (), "")
        with made.journal.reading() as state:
            for number, pair in enumerate(state.pairs):
                voters = [vote.person for vote in pair.votes]
                assert len(set(voters)) == len(voters) <= 4 + 1  # one more where an undo reopened a pair
                assert not set(voters) & {vote.person for vote in pair.skips}
                if state.decision(number).status == "open":
                    assert len(voters) + len(pair.skips) + len(pair.holders) == 5
        replayed = project.replay(tmp_path / str(seed) / "judgements")
        assert replayed.problems == []
        assert vars(replayed.state).keys() == vars(state).keys()
        assert [vars(pair) for pair in replayed.state.pairs] == [vars(pair) for pair in state.pairs]


def test_a_folder_goes_on_with_its_rules_and_refuses_others(tmp_path):
    made = make_project(tmp_path, votes=2)
    project.open_project(made.pool, tmp_path / "judgements", None, {}, None, False)
    with pytest.raises(HarnessError, match="begun with another value of the rules; leave it out"):
        project.open_project(made.pool, tmp_path / "judgements", None, {"votes": 3}, None, False)
    with pytest.raises(HarnessError, match="--scheme"):
        project.open_project(made.pool, tmp_path / "judgements", scheme.load("dureader"), {}, None, False)
    other = pool_files.Pool(write_pool(tmp_path / "other", pairs(1)))
    with pytest.raises(HarnessError, match="another value of the pool"):
        project.open_project(other, tmp_path / "judgements", None, {}, None, False)
