"""A collection becomes columns on disk and reads back as it was, whatever order and batches it came in."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.collection import external_sort, record_batches
from harness.collection.corpus import ROWS, Corpus, write
from harness.errors import ContractError, HarnessError
from harness.types import Card, Document, Inputs, Judgement, Part, Passage, Query


class Plain:
    """A source of documents."""

    def __init__(self, documents: list[Document]) -> None:
        self._documents = documents

    def card(self) -> Card:
        return Card(None, "test")

    def inputs(self, part: Part) -> Inputs:
        return Inputs({})

    def documents(self) -> list[Document]:
        return self._documents

    def queries(self) -> list[Query]:
        return []

    def judgements(self) -> list[Judgement]:
        return []


class Columns(Plain):
    """A source of rows, in batches of `size`."""

    def __init__(self, rows: list[dict], size: int = 1000, schema: pa.Schema = ROWS) -> None:
        super().__init__([])
        self._rows, self._size, self._schema = rows, size, schema

    def rows(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self._rows), self._size):
            yield pa.RecordBatch.from_pylist([], schema=self._schema)  # harmless, and so to be skipped
            yield pa.RecordBatch.from_pylist(self._rows[start : start + self._size], schema=self._schema)

    def locate(self, row: int) -> str:
        return f"corpus.jsonl:{row + 1}"


def quiet(done: int, total: int | None) -> None:
    pass


def row(id: str, document: str | None = None, **other: object) -> dict:
    return {"id": id, "document": document, "title": "", "text": f"text of {id}", **other}


def shelf(documents: int, seed: int = 1) -> list[dict]:
    rng = random.Random(seed)
    return [
        row(
            f"d{d}-{p}",
            f"d{d}",
            title=f"title {d}",
            order=p,
            candidate=rng.random() < 0.9,
            text="é" * rng.randint(0, 40),
        )
        for d in range(documents)
        for p in range(rng.randint(1, 9))
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))}


def test_what_is_written_is_read_back(tmp_path):
    documents = [
        Document("b", "Title", (Passage("b1", "one"), Passage("b2", "", False), Passage("b3", "  "))),
        Document("a", "", (Passage("a1", "line\u2028separator 😀"),)),
    ]
    counts = write(Plain(documents), tmp_path, quiet)
    read = Corpus(tmp_path)
    assert list(read.documents_in(0, 2)) == documents
    assert list(read.documents_in(1, 2)) == documents[1:]
    assert (read.passages, read.documents) == (4, 2)
    assert read.document_of.tolist() == [0, 0, 0, 1]
    assert read.first.tolist() == [0, 3, 4]
    assert read.candidate.tolist() == [True, False, True, True]
    assert read.id_rank.tolist() == [1, 2, 3, 0]
    assert read.document_rank.tolist() == [1, 0]
    assert read.texts(np.array([3, 0, 3])) == ["line\u2028separator 😀", "one", "line\u2028separator 😀"]
    assert read.ids(np.array([2])) == ["b3"]
    assert read.titles(np.array([1, 0])) == ["", "Title"]
    assert read.document_ids(np.array([1, 0])) == ["a", "b"]
    assert read.structure().first.tolist() == [0, 3, 4]
    assert counts == {
        "passages": 4,
        "documents": 2,
        "candidates": 3,
        "empty_passages": 2,
        "titled_documents": 1,
        "characters": 3 + 0 + 2 + 16,
    }


def test_rows_and_documents_give_the_same_bytes(tmp_path):
    rows = shelf(50)
    write(Columns(rows), tmp_path / "rows", quiet)
    documents = list(Corpus(tmp_path / "rows").documents_in(0, 50))
    write(Plain(documents), tmp_path / "documents", quiet)
    assert contents(tmp_path / "rows") == contents(tmp_path / "documents")


@pytest.mark.parametrize("size", [1, 7, 1023, 1024, 1025, 5000])
def test_the_bytes_do_not_depend_on_the_batches_of_the_source(tmp_path, size, monkeypatch):
    monkeypatch.setattr("harness.collection.corpus_rows._GROUP_BYTES", 10_000)
    rows = shelf(600)
    write(Columns(rows, len(rows)), tmp_path / "one", quiet)
    write(Columns(rows, size), tmp_path / "many", quiet)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_scattered_rows_are_brought_together(tmp_path, monkeypatch):
    monkeypatch.setattr(external_sort, "BUCKET_BYTES", 2_000)
    rows = shelf(500)
    heads = [row for row in rows if row["order"] == 0]
    rest = [row for row in rows if row["order"]]
    random.Random(2).shuffle(rest)
    write(Columns(rows), tmp_path / "sorted", quiet)
    write(Columns(heads + rest), tmp_path / "scattered", quiet)
    assert contents(tmp_path / "sorted") == contents(tmp_path / "scattered")


def test_scattered_rows_without_a_place_stay_as_they_came(tmp_path):
    rows = [row("x2", "x"), row("y1", "y"), row("x1", "x"), row("alone"), row("y0", "y")]
    write(Columns(rows), tmp_path, quiet)
    read = Corpus(tmp_path)
    assert read.ids(np.arange(5)) == ["x2", "x1", "y1", "y0", "alone"]
    assert read.document_ids(np.arange(3)) == ["x", "y", "alone"]
    assert not (tmp_path / "unsorted").exists()


def test_rows_of_one_document_in_the_wrong_order_are_sorted(tmp_path):
    rows = [row("x2", "x", order=2), row("x0", "x", order=0), row("y", "y"), row("x1", "x", order=1)]
    write(Columns(rows), tmp_path, quiet)
    assert Corpus(tmp_path).ids(np.arange(4)) == ["x0", "x1", "x2", "y"]


def test_what_a_killed_run_left_is_overwritten(tmp_path):
    rows = shelf(100)
    random.Random(3).shuffle(rows)
    write(Columns(rows), tmp_path / "clean", quiet)
    (tmp_path / "left" / "unsorted").mkdir(parents=True)
    for name in ("unsorted/bucket-0000.arrow", "passages-00000.arrow", "passages-00007.arrow", "first.npy"):
        (tmp_path / "left" / name).write_bytes(b"half a block")
    write(Columns(rows), tmp_path / "left", quiet)
    assert contents(tmp_path / "clean") == contents(tmp_path / "left")


def test_a_passage_without_document_is_one_of_its_own(tmp_path):
    counts = write(Columns([row("a", None), row("b", ""), row("c", "doc"), row("d", "doc")]), tmp_path, quiet)
    read = Corpus(tmp_path)
    assert counts["documents"] == 3
    assert read.document_ids(np.arange(3)) == ["a", "b", "doc"]
    assert read.document_of.tolist() == [0, 1, 2, 2]


def test_ids_are_ranked_by_their_utf8_bytes(tmp_path):
    ids = ["z", "é", "10", "9", "\uffff", "😀", "a\0", "a", "Z"]
    write(Columns([row(id) for id in ids]), tmp_path, quiet)
    read = Corpus(tmp_path)
    by_rank = [ids[i] for i in np.argsort(read.id_rank)]
    assert by_rank == sorted(ids, key=str.encode)
    assert read.document_rank.tolist() == read.id_rank.tolist()


def test_ids_are_found_and_unknown_ones_are_minus_one(tmp_path):
    rows = shelf(300)
    write(Columns(rows), tmp_path, quiet)
    read = Corpus(tmp_path)
    last = len(rows) - 1
    asked = [rows[5]["id"], "nowhere", rows[last]["id"], rows[5]["id"], ""]
    assert read.positions(asked).tolist() == [5, -1, last, 5, -1]
    assert read.positions(pa.array(asked)).tolist() == [5, -1, last, 5, -1]
    assert read.positions([]).tolist() == []
    assert read.document_positions(["d299", "d0", "x"]).tolist() == [299, 0, -1]


def test_a_position_out_of_range_is_refused(tmp_path):
    write(Columns([row("a")]), tmp_path, quiet)
    with pytest.raises(IndexError):
        Corpus(tmp_path).texts(np.array([-1]))
    with pytest.raises(IndexError):
        Corpus(tmp_path).texts(np.array([1]))
    assert Corpus(tmp_path).texts(np.array([], dtype=np.int64)) == []


def test_a_corpus_goes_over_several_files(tmp_path):
    size = record_batches.ROWS * record_batches.PART + 10
    numbers = np.arange(size).astype(str)
    batch = pa.RecordBatch.from_pydict(
        {
            "id": numbers,
            "document": pa.nulls(size, pa.string()),
            "title": pa.nulls(size, pa.string()),
            "text": numbers,
            "candidate": pa.nulls(size, pa.bool_()),
            "order": pa.nulls(size, pa.int32()),
        },
        schema=ROWS,
    )
    source = Columns([])
    source.rows = lambda: iter([batch])  # type: ignore[method-assign]
    write(source, tmp_path, quiet)
    read = Corpus(tmp_path)
    asked = np.array(
        [
            size - 1,
            0,
            record_batches.ROWS * record_batches.PART,
            record_batches.ROWS * record_batches.PART - 1,
        ]
    )
    assert len(list(tmp_path.glob("passages-*.arrow"))) == 2
    assert read.passages == size
    assert read.texts(asked) == [str(number) for number in asked]
    assert read.positions([str(number) for number in asked]).tolist() == asked.tolist()


def test_progress_counts_rows(tmp_path):
    said: list[int] = []
    rows = shelf(20)
    write(Columns(rows), tmp_path, lambda done, total: said.append(done))
    assert said[-1] == len(rows)


@pytest.mark.parametrize(("rows", "lines", "fault"), [
    ([row("a"), row("b"), row("a")], (3, 1), "'a'"),
    ([row("b"), row("b"), row("a"), row("a")], (2, 1), "'b'"),
    ([row("a"), row("")], (2,), "id is empty"),
    ([row("a"), {"text": "x"}], (2,), "id is empty"),
    ([row("a"), row("b\u2028c")], (2,), "id 'b.u2028c' has white space in it"),
    ([row("a\r")], (1,), "id 'a.r' has white space in it"),
    ([row("a", "d", title="x"), row("b", "d", title="y")], (2, 1), "document 'd' has another title"),
    ([row("a", "d", title="x"), row("c"), row("b", "d", title="y")], (3, 1), "document 'd' has another title"),
    ([row("a", "d", order=4), row("b", "d", order=4)], (2, 1), "the place 4"),
    ([row("a", "d", order=4), row("c"), row("b", "d", order=1), row("e", "d", order=4)], (4, 1), "the place 4"),
    ([row("a", "d", order=0), row("b", "d")], (2, 1), "only one has a place"),
    ([], (), "no passage"),
])  # fmt: skip
@pytest.mark.parametrize("size", [1, 1000])
def test_a_fault_is_named_with_its_place(tmp_path, rows, lines, fault, size, monkeypatch):
    monkeypatch.setattr("harness.collection.corpus_rows._GROUP_BYTES", 1)
    with pytest.raises(HarnessError, match=fault) as caught:
        write(Columns(rows, size), tmp_path, quiet)
    numbers = tuple(map(int, re.findall(r"corpus\.jsonl:(\d+)", str(caught.value))))
    assert numbers[: len(lines)] == lines


def test_a_source_without_lines_is_told_which_passage(tmp_path):
    twice = [Document("d", "", (Passage("a", "x"),)), Document("e", "", (Passage("a", "x"),))]
    with pytest.raises(HarnessError, match=r"passage 2: .*'a' .*passage 1;"):
        write(Plain(twice), tmp_path, quiet)


@pytest.mark.parametrize("document", [Document("d", "", ()), Document("", "", (Passage("a", "x"),))])
def test_a_document_without_passages_or_id_breaks_the_contract(tmp_path, document):
    with pytest.raises(ContractError, match="an id and at least one passage"):
        write(Plain([document]), tmp_path, quiet)


def test_rows_of_another_schema_break_the_contract(tmp_path):
    with pytest.raises(ContractError, match="schema"):
        write(Columns([{"id": "a"}], schema=pa.schema([("id", pa.string())])), tmp_path, quiet)
    with pytest.raises(ContractError, match="null"):
        write(Columns([{"id": "a"}]), tmp_path, quiet)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.text(max_size=4), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 9),
)
def test_any_rows_come_out_grouped_by_document_in_the_order_they_came(tmp_path_factory, given_rows, size):
    folder = tmp_path_factory.mktemp("corpus")
    rows = [
        row(str(number), f"d{document}", text=text, candidate=candidate)
        for number, (document, text, candidate) in enumerate(given_rows)
    ]
    write(Columns(rows, size), folder, quiet)
    grouped: dict[str, list[Passage]] = {}
    for each in rows:
        passage = Passage(each["id"], each["text"], each["candidate"])
        grouped.setdefault(each["document"], []).append(passage)
    expected = [Document(id, "", tuple(passages)) for id, passages in grouped.items()]
    read = Corpus(folder)
    assert list(read.documents_in(0, read.documents)) == expected


def test_a_corpus_reads_the_same_when_its_pages_are_given_back_after_each_use(tmp_path, monkeypatch):
    monkeypatch.setattr(record_batches, "ROWS", 4)
    monkeypatch.setattr(record_batches, "PART", 2)
    monkeypatch.setattr(record_batches, "HELD", 3)
    count = 50
    documents = [Document(f"d{i}", "", (Passage(f"p{i}", f"text {i} é"),)) for i in range(count)]
    write(Plain(documents), tmp_path, quiet)
    read = Corpus(tmp_path)
    order = np.random.default_rng(0).permutation(count)
    assert read.texts(order) == [f"text {i} é" for i in order.tolist()]
    assert read.ids(order) == [f"p{i}" for i in order.tolist()]
    assert read.positions([*(f"p{i}" for i in order.tolist()), "nothing"]).tolist() == [*order.tolist(), -1]
    assert read.document_positions(["d49", "d0", "p0"]).tolist() == [49, 0, -1]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="reads Linux' /proc")
def test_few_pages_of_a_read_corpus_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(record_batches, "ROWS", 4)
    monkeypatch.setattr(record_batches, "PART", 4)
    monkeypatch.setattr(record_batches, "HELD", 4)
    text = "x" * (1 << 18)  # so large that the kernel maps few neighbours with each
    write(Plain([Document(f"d{i}", "", (Passage(f"p{i}", text),)) for i in range(64)]), tmp_path, quiet)
    read = Corpus(tmp_path)
    for column in read.text_columns():
        assert all(value.as_py() == text for value in column)
    assert mapped_bytes(tmp_path) < 32 * len(text)  # of 64; 16 to 20 are held at once


def mapped_bytes(folder: Path) -> int:
    """How many bytes of the files below a folder are in this process' memory."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            inside = str(folder) in line
        elif inside and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total
