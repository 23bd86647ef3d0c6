"""The dataset `files` reads CSV and Parquet files, and names the line of what is wrong in one."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.collection.corpus import Corpus, write
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_files.params import FilesParams
from harness_files.source import Files

CORPUS = 'id,title,text\np1,T,"one, two\nthree ""x"""\np2,,plain\n'
QUERIES = 'qid,query\nq2,second\nq1,"first, of all"\nq3,not judged\n'
QRELS = "query-id,corpus-id,score\nq1,p1,1\nq2,p9,-1\n"
DOCUMENTS = [
    Document("p1", "T", (Passage("p1", 'one, two\nthree "x"'),)),
    Document("p2", "", (Passage("p2", "plain"),)),
]


def folder(path: Path, corpus=CORPUS, queries=QUERIES, qrels=QRELS) -> FilesParams:
    (path / "qrels").mkdir(parents=True)
    for name, text in (("corpus", corpus), ("queries", queries), ("qrels/test", qrels)):
        (path / f"{name}.csv").write_text(text, encoding="utf-8")
    return FilesParams(path=path)


def documents(values, target):
    write(Files(values), target, lambda done, total: None)
    corpus = Corpus(target)
    return list(corpus.documents_in(0, corpus.documents))


def test_a_folder_of_csv_files_is_read(tmp_path):
    source = Files(folder(tmp_path / "data"))
    assert documents(source.params, tmp_path / "corpus") == DOCUMENTS
    assert list(source.queries()) == [Query("q2", "second"), Query("q1", "first, of all")]
    assert list(source.judgements()) == [Judgement("q1", "p1", 1), Judgement("q2", "p9", -1)]
    assert source.locate(1) == f"{tmp_path}/data/corpus.csv:4"
    assert source.locate_judgement("q2", "p9") == f"{tmp_path}/data/qrels/test.csv:3"


def test_a_folder_of_parquet_files_is_read(tmp_path):
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    tables = {
        "corpus": {"_id": ["a-1", "a-0", "b"], "text": ["1", "0", "b"], "title": ["A", "A", None],
                   "doc_id": ["a", "a", None], "paragraph_no": pa.array([1, 0, None], pa.int64())},
        "queries": {"_id": ["q"], "text": ["what"], "answers": [["x", "y"]]},
        "qrels/test": {"query-id": ["q"], "corpus-id": ["b"], "score": [2]},
    }  # fmt: skip
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), tmp_path / "data" / f"{name}.parquet")
    source = Files(FilesParams(path=tmp_path / "data"))
    assert documents(source.params, tmp_path / "corpus") == [
        Document("a", "A", (Passage("a-0", "0"), Passage("a-1", "1"))),
        Document("b", "", (Passage("b", "b"),)),
    ]
    assert list(source.queries()) == [Query("q", "what", answers=("x", "y"))]
    assert list(source.judgements()) == [Judgement("q", "b", 2)]
    assert source.locate(2) == f"{tmp_path}/data/corpus.parquet:3"


def test_tables_stand_beside_other_forms_and_may_be_compressed(tmp_path):
    (tmp_path / "corpus.csv.gz").write_bytes(gzip.compress(CORPUS.encode()))
    (tmp_path / "queries.csv").write_text(
        'id,text,answers\nq1,first,"[""x""]"\nq2,second,\n', encoding="utf-8"
    )
    (tmp_path / "qrels.txt").write_text("q1 0 p1 1\nq2 0 p2 1\n", encoding="utf-8")
    files = {
        "corpus": tmp_path / "corpus.csv.gz",
        "queries": tmp_path / "queries.csv",
        "qrels": tmp_path / "qrels.txt",
    }
    source = Files(FilesParams(**files))
    assert documents(source.params, tmp_path / "corpus") == DOCUMENTS
    assert list(source.queries()) == [Query("q1", "first", answers=("x",)), Query("q2", "second")]


def test_questions_of_dpr_keep_their_form(tmp_path):
    (tmp_path / "nq.qa.csv").write_text("who was it\t['me']\n", encoding="utf-8")
    (tmp_path / "corpus.csv").write_text(CORPUS, encoding="utf-8")
    source = Files(FilesParams(corpus=tmp_path / "corpus.csv", queries=tmp_path / "nq.qa.csv"))
    assert list(source.queries()) == [Query("0", "who was it", answers=("me",))]


def test_a_passage_longer_than_the_csv_modules_default_is_read(tmp_path):
    long = "x" * 200_000
    values = folder(tmp_path / "data", corpus=f"id,text\np1,{long}\n")
    assert documents(values, tmp_path / "corpus")[0].passages[0].text == long


@pytest.mark.parametrize(("file", "text", "fault"), [
    ("corpus", "id,title\np1,x\n", "corpus.csv:1: .*header .*: _id, text"),
    ("corpus", "id,text\np1\n", r"corpus.csv:2: .*2 columns .*\(id, text\), got 1"),
    ("corpus", 'id,text\np1,"x\ny"\np2,"z"z\n', "corpus.csv:4: not valid CSV"),
    ("corpus", "id,text,is_candidate\np1,x,maybe\n", "corpus.csv:2: 'is_candidate'"),
    ("corpus", "id,text\n", "corpus.csv:1: there is no row"),
    ("qrels", "query-id,corpus-id,score\nq1,p1,high\n", "test.csv:2: 'score' .*'high'"),
    ("qrels", QRELS + "q1,p1,0\n", "test.csv:4: .*'q1' and passage 'p1' .*line 2"),
    ("queries", "id,text,answers\nq1,x,y\n", "queries.csv:2: 'answers'"),
])  # fmt: skip
def test_what_is_wrong_in_a_csv_file_has_its_line(tmp_path, file, text, fault):
    source = Files(folder(tmp_path / "data", **{file: text}))
    read = {"corpus": source.rows, "qrels": source.judgements, "queries": source.queries}[file]
    with pytest.raises(HarnessError, match=fault):
        list(read())
