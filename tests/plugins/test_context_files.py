"""The contexts `prefix-from-file` and `text-from-file`: forms of files, and files that do not fit."""

import errno
import json
import resource
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.collection import context_additions, corpus
from harness.collection.composed_texts import View
from harness.errors import HarnessError
from harness.toolkit.files.by_id import ById, Rows
from harness.types import Card, Document, Inputs, Passage
from harness_context_files import PrefixParams, TextParams
from harness_context_files.augmenters import Prefixes, Texts

DOCUMENTS = [
    Document("a", "Ann", (Passage("a0", "Ann came."), Passage("a1", "She left."))),
    Document("b", "", (Passage("b0", ""), Passage("b1", "It failed.", False))),
    Document("c", "", (Passage("c0", "The end."),)),
]
PASSAGES = [passage.id for document in DOCUMENTS for passage in document.passages]
ROWS = [{"id": id, "prefix": f"of {id}", "text": f"new {id}", "more": 1} for id in reversed(PASSAGES)]


def written(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".tsv":
        lines = [list(rows[0]), *(list(map(str, row.values())) for row in rows)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def stage(path, kind="prefix", **values):
    if kind == "prefix":
        return Prefixes(PrefixParams(path, **values))
    return Texts(TextParams(path, **values))


def matched(method):
    return method.match((document.id for document in DOCUMENTS), iter(PASSAGES))


class Source:
    def card(self):
        return Card("en", "test")

    def inputs(self, part):
        return Inputs({})

    def documents(self):
        return iter(DOCUMENTS)


@pytest.fixture
def read(tmp_path):
    (tmp_path / "corpus").mkdir()
    corpus.write(Source(), tmp_path / "corpus", lambda done, total: None)
    return corpus.Corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet", "c.tsv"])
@pytest.mark.parametrize(("kind", "texts"), [
    ("prefix", ["of a0 Ann came.", "of a1 She left.", "of b0", "of c0 The end."]),
    ("text", ["new a0", "new a1", "new b0", "new c0"]),
])  # fmt: skip
def test_each_passage_gets_what_the_file_says_and_a_resumed_run_the_same(
    tmp_path, read, monkeypatch, name, kind, texts
):
    monkeypatch.setattr(context_additions, "DOCUMENTS", 2)
    path, folder = written(tmp_path / name, ROWS), tmp_path / "stage"
    folder.mkdir()
    for _ in ("first", "resumed"):
        facts, _words = context_additions.write(stage(path, kind), read, folder, lambda done, total: None)
        view = View(read, [context_additions.Additions(folder)], "passage")
        assert [text for batch in view.batches(2) for text in batch.texts] == texts
        assert facts["passages_changed"] == 5
        (folder / "documents-000000000002.arrow").unlink()


def test_what_file_and_collection_lack_of_one_another_is_counted_with_examples(tmp_path):
    rows = [ROWS[0], {**ROWS[1], "prefix": ""}, *({"id": f"x{i}", "prefix": "x"} for i in range(5))]
    method = stage(written(tmp_path / "c.jsonl", rows), missing="skip", unknown="skip")
    assert matched(method) == {
        "passages_in_file": 7,
        "passages_not_in_file": 3,
        "passages_not_in_corpus": 5,
        "first_passages_not_in_file": ["a0", "a1", "b0"],
        "first_passages_not_in_corpus": ["x0", "x1", "x2"],
    }
    additions = list(method.augment(DOCUMENTS))
    assert [addition.prefixes for addition in additions] == [("", ""), ("", ""), ("of c0",)]


@pytest.mark.parametrize(("name", "rows", "fault"), [
    ("c.jsonl", ROWS[1:], "c.jsonl: the passage 'c0' is missing, one of 1; .* missing: skip"),
    ("c.jsonl", [*ROWS, {"id": "x", "prefix": "", "text": ""}], "c.jsonl:6: .*no passage 'x', one of 1; .*unknown: skip"),
    ("c.jsonl", [{"id": "x", "prefix": "", "text": ""}], "c.jsonl: it has no passage of the collection"),
    ("c.jsonl", [*ROWS, ROWS[2]], "c.jsonl:6: the passage 'b0' stands in line 3 too"),
    ("c.jsonl", [{**ROWS[0], "id": ""}], "c.jsonl:1: the passage's id is empty"),
    ("c.jsonl", [*ROWS[:2], {"id": 7, "prefix": "", "text": ""}], "c.jsonl:3: 'id' must be a text, got a number"),
    ("c.jsonl", [{"id": "a0"}], "c.jsonl:1: the key .* is missing"),
    ("c.parquet", [{"id": "a0", "prefix": 1.5, "text": 1.5}], "c.parquet:1: .*double"),
    ("c.parquet", [ROWS[0], {"id": "a0", "prefix": None, "text": None}], "c.parquet:2: .* is null"),
])  # fmt: skip
def test_a_file_that_does_not_fit_is_refused_with_its_line(tmp_path, name, rows, fault):
    with pytest.raises(HarnessError, match=fault):
        matched(stage(written(tmp_path / name, rows)))


@pytest.mark.parametrize("column", ["id", "_id"])
def test_the_ids_are_no_context(tmp_path, column):
    with pytest.raises(HarnessError, match=f"column: '{column}' holds ids of passages; "):
        matched(stage(written(tmp_path / "c.jsonl", ROWS), column=column))


def test_another_column_may_hold_the_context(tmp_path):
    path = written(tmp_path / "c.jsonl", [{"_id": id, "situated": "x"} for id in PASSAGES])
    method = stage(path, column="situated", missing="skip")
    assert next(method.augment(DOCUMENTS)).prefixes == ("x", "x")


def test_texts_of_a_file_do_not_fill_the_memory(tmp_path):
    def parts():
        for start in range(0, 400_000, 4000):
            ids = pa.array([f"p{number}" for number in range(start, start + 4000)])
            yield Rows(tmp_path, range(start, start + 4000), ids, pa.array(["word " * 50] * 4000))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = ById(parts(), "passage")
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 60  # the texts have 100 MB
    assert rows.texts_of(["p399999", "none"]) == ["word " * 50, None]
    assert np.array_equal(rows.rows_of(["p7", "p12345"]), [7, 12345])


def test_a_full_disk_of_temporary_files_is_told_as_one(tmp_path, monkeypatch):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(HarnessError, match="no space is left for a temporary file; free some, or name"):
        matched(stage(written(tmp_path / "rows.jsonl", ROWS)))
