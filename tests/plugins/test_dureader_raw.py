"""DuReader 2.0's questions with their documents: ids, answers, pairs to label, and lines that are refused."""

import json

import pytest

from harness import testing
from harness.errors import HarnessError
from harness_dureader import RawParams
from harness_dureader.raw import Raw

QUESTIONS = {
    "train": [
        {
            "question_id": 1, "question": "多久？", "answers": ["十年", " "], "fact_or_opinion": "FACT",
            "documents": [
                {"title": "护照", "paragraphs": ["有效期十年。", " ", "照片\u2028要新。"], "is_selected": True},
                {"title": "空", "paragraphs": []},
            ],
        }
    ],
    "dev": [{"question_id": "2", "question": "多少？", "documents": [{"title": "", "paragraphs": ["八十元"]}]}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for split, rows in QUESTIONS.items():
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        (tmp_path / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def source(folder, split="train"):
    return Raw(RawParams(path=folder, split=split, documents=("train", "dev")))


def test_paragraphs_are_passages_of_the_web_documents_of_all_splits(folder):
    documents = list(source(folder).documents())
    assert [(document.id, document.title) for document in documents] == [("1-0", "护照"), ("2-0", "")]
    assert [passage.id for passage in documents[0].passages] == ["1-0-0", "1-0-2"]


def test_answers_and_pairs_to_label_are_those_of_the_split(folder):
    [query] = source(folder).queries()
    assert (query.id, query.answers) == ("1", ("十年",))
    assert [tuple(row)[:3] for row in source(folder).judgements()] == [("1", "1-0-0", 0), ("1", "1-0-2", 0)]
    assert [query.id for query in source(folder, "dev").queries()] == ["2"]


def test_a_question_that_stands_twice_is_refused(folder):
    path = folder / "dev.jsonl"
    path.write_text((folder / "train.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(HarnessError, match=r"dev.jsonl:1: question '1' .*train.jsonl:1"):
        list(source(folder).documents())


def test_a_line_without_documents_is_refused(folder):
    (folder / "dev.jsonl").write_text('{"question_id": 2, "question": "x"}\n')
    with pytest.raises(HarnessError, match=r"dev.jsonl:1: .*'documents'"):
        list(source(folder).documents())


def test_it_keeps_the_contract(folder, tmp_path_factory):
    given = {"path": str(folder), "split": "train", "documents": ["train", "dev"]}
    for case in testing.cases("dataset", "dureader-questions", given):
        case(tmp_path_factory.mktemp("case"))
