"""The context `keyphrases-from-file`: formats, and files that do not match the collection."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import testing
from harness.errors import HarnessError
from harness.toolkit.files import by_id
from harness.types import Document, Passage
from harness_keyphrases import FromFile
from harness_keyphrases.precomputed import Precomputed

ROWS = {"d0": "bridge; river", "d1": "market", "d2": ""}


def documents(*ids):
    return [Document(id, "", (Passage(f"{id}-0", "text"),)) for id in ids]


def prefixes(file, *ids, **policy):
    method = Precomputed(FromFile(file, **policy))
    report = method.match(iter(ids), iter(f"{id}-0" for id in ids))
    return [addition.prefix for addition in method.augment(documents(*ids))], report


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path):
    return jsonl(tmp_path / "k.jsonl", *({"doc_id": id, "keyphrases": text} for id, text in ROWS.items()))


def test_a_document_gets_what_the_file_says_of_it(file):
    texts_added, counts = prefixes(file, "d2", "d0", "d1")
    assert texts_added == ["", "bridge; river", "market"]
    assert counts == {"documents_in_file": 3, "documents_not_in_file": 0, "documents_not_in_corpus": 0}


@pytest.mark.parametrize("names", [("doc_id", "doc_summary"), ("_id", "title"), ("id", "keyphrases")])
def test_the_columns_may_be_named_as_dapr_names_them(tmp_path, names):
    texts_added, _ = prefixes(
        jsonl(tmp_path / "k.jsonl", {names[0]: "d", names[1]: "bridge", "more": 1}), "d"
    )
    assert texts_added == ["bridge"]


def test_a_list_is_joined_by_semicolons(tmp_path):
    file = jsonl(tmp_path / "k.jsonl", {"doc_id": "d", "keyphrases": ["bridge", " old river ", ""]})
    assert prefixes(file, "d")[0] == ["bridge; old river"]


def test_a_table_of_tabs_or_parquet_says_the_same(tmp_path):
    (tmp_path / "k.tsv").write_text("".join(f"{id}\t{text}\n" for id, text in ROWS.items()), encoding="utf-8")
    lists = [[part for part in text.split("; ") if part] for text in ROWS.values()]
    pq.write_table(pa.table({"doc_id": list(ROWS), "keyphrases": lists}), tmp_path / "k.parquet")
    for name in ("k.tsv", "k.parquet"):
        assert prefixes(tmp_path / name, *ROWS)[0] == list(ROWS.values())


def test_a_document_that_the_file_lacks_is_refused_or_counted(file):
    with pytest.raises(HarnessError, match=r"the document 'd3' is missing, one of 2; .* missing: skip"):
        prefixes(file, *ROWS, "d3", "d4")
    texts_added, counts = prefixes(file, *ROWS, "d3", "d4", missing="skip")
    assert texts_added == [*ROWS.values(), "", ""]
    assert counts == {
        "documents_in_file": 3,
        "documents_not_in_file": 2,
        "documents_not_in_corpus": 0,
        "first_documents_not_in_file": ["d3", "d4"],
    }


@pytest.mark.parametrize(("name", "text", "fault"), [
    ("k.jsonl", '{"keyphrases": "a"}\n', "k.jsonl:1: .*'doc_id' is missing"),
    ("k.jsonl", '{"doc_id": "d"}\n', "k.jsonl:1: .*'keyphrases' is missing"),
    ("k.jsonl", '{"doc_id": 7, "keyphrases": "a"}\n', "k.jsonl:1: .*'doc_id' must be a text"),
    ("k.jsonl", '{"doc_id": "d", "keyphrases": {"a": 1}}\n', "k.jsonl:1: .*must be a text, got an object"),
    ("k.tsv", "d a\n", "k.tsv:1: .*2 columns between tabs"),
    ("k.tsv", "\n", "k.tsv:1: .*no row"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path, name, text, fault):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError, match=fault):
        prefixes(tmp_path / name, "d")


def test_documents_whose_hashes_are_equal_are_told_apart(file, monkeypatch):
    monkeypatch.setattr(by_id, "hash", lambda id: 7, raising=False)
    texts_added, _ = prefixes(file, "d1", "d0", "d2", "d3", missing="skip")
    assert texts_added == ["market", "bridge; river", "", ""]


def every_case():
    return testing.cases("context", "keyphrases-from-file", {"file": "k.jsonl", "missing": "skip"})


@pytest.mark.parametrize("case", every_case(), ids=lambda case: case.name)
def test_contract(case, tmp_path, monkeypatch, file):
    monkeypatch.chdir(file.parent)
    case(tmp_path)
