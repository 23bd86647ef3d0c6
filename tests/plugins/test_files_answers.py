"""`files` with answers in the place of judgements, and collections as DPR, Tevatron and Pyserini have them."""

import dataclasses
import gzip
import json

import pytest

from harness.errors import HarnessError
from harness_files.params import FilesParams
from harness_files.source import Files

PSGS = 'id\ttext\ttitle\n1\t"the ""old"" castle"\tCastles\n2\ta bridge of stone\t"The ""Bridge"""\n'
QA = 'where is it\t[\'Paris\', "d\'Or"]\n"who said ""no"""\t[\'me\']\n'


def write(folder, **files):
    """`corpus__tsv="..."` is corpus.tsv."""
    paths = {}
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        data = text.encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        paths[name.partition("__")[0]] = path
    return FilesParams(**paths)


def test_dprs_passages_and_questions_are_read_as_its_scripts_read_them(tmp_path):
    source = Files(write(tmp_path, corpus__tsv=PSGS, queries__qa__csv=QA))
    documents = list(source.documents())
    assert [(d.title, d.passages[0].id, d.passages[0].text) for d in documents] == [
        ("Castles", "1", 'the "old" castle'),
        ('The "Bridge"', "2", "a bridge of stone"),
    ]
    assert [(query.id, query.text, query.answers) for query in source.queries()] == [
        ("0", "where is it", ("Paris", "d'Or")),
        ("1", 'who said "no"', ("me",)),
    ]
    assert list(source.judgements()) == []
    assert source.locate(1).endswith("corpus.tsv:3")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("queries__jsonl", '{"_id": "a", "text": "where", "answers": ["x", "y"]}\n'),
        ("queries__jsonl__gz", '{"query_id": "a", "query": "where", "answers": ["x", "y"]}\n'),
        ("queries__tsv", 'a\twhere\t["x", "y"]\n'),
    ],
)
def test_answers_stand_beside_a_query_in_every_form(tmp_path, name, text):
    source = Files(write(tmp_path, corpus__tsv=PSGS, **{name: text}))
    assert [(q.id, q.text, q.answers) for q in source.queries()] == [("a", "where", ("x", "y"))]


def test_a_table_gives_the_queries_their_slices(tmp_path):
    (tmp_path / "slices.tsv").write_text("1\tpeople\n")
    values = write(tmp_path, corpus__tsv=PSGS, queries__qa__csv=QA)
    source = Files(dataclasses.replace(values, slices=tmp_path / "slices.tsv"))
    assert [(query.id, query.slices) for query in source.queries()] == [("0", ()), ("1", ("people",))]
    assert source.inputs("queries").files[-1] == tmp_path / "slices.tsv"


@pytest.mark.parametrize(
    "line",
    [
        {"_id": "1", "title": "T", "text": "body"},
        {"docid": "1", "title": "T", "text": "body"},
        {"id": "1", "title": "T", "contents": "body"},
    ],
)
def test_a_corpus_is_the_same_by_beirs_tevatrons_and_pyserinis_keys(tmp_path, line):
    source = Files(write(tmp_path, corpus__jsonl=json.dumps(line) + "\n", queries__qa__csv=QA))
    (document,) = source.documents()
    assert (document.title, document.passages[0].id, document.passages[0].text) == ("T", "1", "body")


@pytest.mark.parametrize(("files", "fault"), [
    ({"queries__qa__csv": "q\t['a']\nq2 no tab\n"}, "queries.qa.csv:2: .*a tab"),
    ({"queries__qa__csv": "q\t['a'\n"}, r"queries.qa.csv:1: .*answers.*: \['a'"),
    ({"queries__qa__csv": "q\t__import__('os')\n"}, "queries.qa.csv:1: .*answers"),
    ({"queries__tsv": "a\tq\t[1]\n"}, "queries.tsv:1: .*answers"),
    ({"queries__tsv": "a\tq\n"}, "queries.tsv:1: .*'a' has no answer"),
    ({"corpus__tsv": PSGS + '3\t"cut\tT\n'}, "corpus.tsv:4: a quoted column"),
    ({"corpus__tsv": PSGS + "3\tx\n"}, "corpus.tsv:4: .*3 columns .*got 2"),
    ({"corpus__jsonl": '{"docid": "1"}\n'}, "corpus.jsonl:1: .*'text' is missing"),
])  # fmt: skip
def test_a_damaged_line_is_named(tmp_path, files, fault):
    given = {"corpus__tsv": PSGS, "queries__qa__csv": QA}
    given = {name: text for name, text in given.items() if name.partition("__")[0] not in {
        other.partition("__")[0] for other in files
    }}  # fmt: skip
    source = Files(write(tmp_path, **given, **files))
    with pytest.raises(HarnessError, match=fault):
        [*source.documents(), *source.queries()]
