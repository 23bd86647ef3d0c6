"""Tables are read the same from Parquet, JSON lines and TSV, and what is wrong with one has file and line."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import HarnessError
from harness.toolkit.files.tables import Column, rows

COLUMNS = (
    Column("_id", pa.string(), also=("id",)),
    Column("score", pa.int32()),
    Column("note", pa.string(), required=False),
)
ROWS = [(1, {"_id": "a", "score": 2, "note": "x\u2028y"}), (2, {"_id": "b", "score": -1, "note": None})]


def jsonl(path: Path, *found: str) -> Path:
    path = path / "table.jsonl"
    path.write_text("".join(line + "\n" for line in found), encoding="utf-8")
    return path


def tsv(path: Path, text: str) -> Path:
    path = path / "table.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def fault(path: Path) -> str:
    with pytest.raises(HarnessError) as caught:
        list(rows(path, COLUMNS))
    return str(caught.value).removeprefix(f"{path}:")


@pytest.mark.parametrize("id", ["_id", "id"])
def test_a_column_may_have_another_name(tmp_path, id):
    lines = [
        json.dumps({id: "a", "score": 2.0, "note": "x\u2028y", "more": [1]}),
        json.dumps({id: "b", "score": -1}),
    ]
    assert list(rows(jsonl(tmp_path, *lines), COLUMNS)) == ROWS
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"score": [2.0, -1.0], "note": ["x\u2028y", None], id: ["a", "b"]}), path)
    assert list(rows(path, COLUMNS)) == ROWS


def test_the_header_of_a_tsv_says_where_each_column_is(tmp_path):
    path = tsv(tmp_path, "score\t_id\tmore\n2\ta\tx\u2028y\n\n-1\tb\t\n")
    assert list(rows(path, COLUMNS)) == [
        (2, {"_id": "a", "score": 2, "note": None}),
        (4, {"_id": "b", "score": -1, "note": None}),
    ]


@pytest.mark.parametrize(("text", "where"), [
    ("a\t2\n", "1: .*header .*: _id, score"),
    ("_id\tscore\na\t2\t3\n", r"2: .*2 columns .*\(_id, score\), got 3"),
    ("_id\tscore\na\u2028\t2\nb\tc\t1\n", "3: .*2 columns"),
    ("_id\tscore\na\t1.5\n", "2: 'score' .*'1.5'"),
    ("_id\tscore\na\t99999999999\n", "2: 'score' .*32 bits"),
    ("_id\tscore\n", "1: there is no row"),
    ("version https://git-lfs.github.com/spec/v1\n", "1: .*Git LFS"),
])  # fmt: skip
def test_a_fault_of_a_tsv_is_named_by_its_line(tmp_path, text, where):
    assert re.match(where, fault(tsv(tmp_path, text)))


@pytest.mark.parametrize(("name", "values", "accepted"), [
    ("_id", [7, 8], True),
    ("_id", [7.0, 8.0], False),
    ("_id", [True, False], False),
    ("text", [7, 8], False),
    ("text", [0.5, float("nan")], False),
    ("text", [True, False], False),
    ("text", [b"x", b"y"], True),
    ("text", pa.array(["x", "x"]).dictionary_encode(), True),
    ("texts", [["x"], None], True),
    ("texts", [[1.5], None], False),
    ("score", [1.0, 2.0], True),
    ("score", [True, False], False),
])  # fmt: skip
def test_a_parquet_file_of_numbers_holds_no_texts_and_one_of_truth_values_no_numbers(
    tmp_path, name, values, accepted
):
    types = {"score": pa.int32(), "texts": pa.list_(pa.string())}
    column = Column(name, types.get(name, pa.string()), name != "texts", prose=name != "_id")
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({name: values}), path)
    if accepted:
        assert len(list(rows(path, [column]))) == 2
    else:
        with pytest.raises(HarnessError, match=rf"1: the column '{name}' holds values of the type .*; write"):
            list(rows(path, [column]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"_id": "b", "score": 1.5}', "1: at or after this line a number is not whole"),
        (
            '{"_id": "b", "score": 99999999999}',
            "1: at or after this line a number is not whole or has more than 32 bits",
        ),
        ('{"_id": "b"}', "2: the key 'score' is missing"),
        ('{"_id": "b", "score": "1"}', "2: 'score' must be a number, got a text"),
        ("[]", "2: expected a JSON object, got a list"),
    ],
)
def test_a_fault_of_json_lines_is_named_by_its_line(tmp_path, line, message):
    assert fault(jsonl(tmp_path, '{"_id": "a", "score": 2}', line)).startswith(message)
