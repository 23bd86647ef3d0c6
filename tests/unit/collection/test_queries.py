"""Queries and judgements are checked when they are written and read back in their order."""

import pytest

from harness.collection.queries import read_judgements, read_queries, write_judgements, write_queries
from harness.errors import ContractError, HarnessError
from harness.types import Judgement, Query


def test_queries_are_read_back_in_order(tmp_path):
    queries = [
        Query("2", "second\u2028line", ("hard", "hop"), ("p1",), ("an answer", "")),
        Query("1", "", exclude=("p1", "p2")),
    ]
    counts = write_queries(queries, tmp_path)
    read = read_queries(tmp_path)
    assert read.ids == ["2", "1"]
    assert read.texts == ["second\u2028line", ""]
    assert read.slices == [["hard", "hop"], []]
    assert read.exclude == [["p1"], ["p1", "p2"]]
    assert read.answers == [["an answer", ""], []]
    assert counts == {"queries": 2, "empty_queries": 1, "characters": 11, "slices": ["hard", "hop"]}


def test_no_queries_are_read_back_as_none(tmp_path):
    write_queries([], tmp_path)
    assert read_queries(tmp_path) == ([], [], [], [], [])


def test_judgements_are_read_back_in_order(tmp_path):
    judgements = [Judgement("q2", "b", -1), Judgement("q1", "a", 3), Judgement("q2", "a", 2**31 - 1)]
    counts = write_judgements(iter(judgements), tmp_path)
    read = read_judgements(tmp_path)
    assert read.query_ids == ["q2", "q1"]
    assert read.passage_ids == ["b", "a"]
    assert read.query.tolist() == [0, 1, 0]
    assert read.passage.tolist() == [0, 1, 1]
    assert read.grade.tolist() == [-1, 3, 2**31 - 1]
    assert counts == {"judgements": 3, "judged_queries": 2, "judged_passages": 2, "positives": 2}


def test_labels_of_judgements_are_read_back_and_change_no_byte_where_there_are_none(tmp_path):
    plain = [Judgement("q", "a", 1), Judgement("q", "b", 0)]
    labelled = [plain[0]._replace(labels=("CR", "MT")), plain[1]]
    for name, rows in (("plain", plain), ("labelled", labelled)):
        write_judgements(rows, tmp_path / name)
    assert read_judgements(tmp_path / "plain").labels is None
    assert read_judgements(tmp_path / "labelled").labels == (("CR", "MT"), ())
    with pytest.raises(ContractError, match="the labels of query 'q' and passage 'a' must be a tuple"):
        write_judgements([plain[0]._replace(labels="CR")], tmp_path / "wrong")


def test_no_judgements_are_read_back_as_none(tmp_path):
    write_judgements([], tmp_path)
    read = read_judgements(tmp_path)
    assert (read.query_ids, read.passage_ids, len(read.grade)) == ([], [], 0)


def test_the_same_contents_give_the_same_bytes(tmp_path):
    judgements = [Judgement(f"q{i % 7}", f"p{i}", i % 3) for i in range(200_000)]
    for folder in ("a", "b"):
        write_judgements(iter(judgements), tmp_path / folder)
        write_queries([Query("1", "x", ("s",))], tmp_path / folder)
    for name in ("judgements.arrow", "queries.arrow"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(("id", "fault"), [
    ("1", "queries: the id '1'"), ("", "queries: query 2 .*empty id"), ("2\r", "the query id '2.r' .*space"),
])  # fmt: skip
def test_a_faulty_query_is_refused(tmp_path, id, fault):
    with pytest.raises(HarnessError, match=fault):
        write_queries([Query("1", "x"), Query(id, "y")], tmp_path)


@pytest.mark.parametrize(("judgement", "fault"), [
    (Judgement("q", "p", 0), "'q' and passage 'p' .*twice"),
    (Judgement("", "p", 0), "'' and passage 'p' lacks an id"),
    (Judgement("q", "", 0), "'q' and passage '' lacks an id"),
    (Judgement("q", "x", 2**31), "2147483648 of query 'q' and passage 'x'"),
])  # fmt: skip
def test_a_faulty_judgement_is_refused(tmp_path, judgement, fault):
    with pytest.raises(HarnessError, match=f"judgements: .*{fault}"):
        write_judgements([Judgement("q", "p", 1), judgement], tmp_path)


@pytest.mark.parametrize("grade", [1.0, True, "1"])
def test_a_grade_that_is_no_int_breaks_the_contract(tmp_path, grade):
    with pytest.raises(ContractError, match="must be an int"):
        write_judgements([Judgement("q", "p", grade)], tmp_path)
