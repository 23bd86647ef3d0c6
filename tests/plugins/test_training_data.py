"""Training data of the field's trainers: each official form, and damaged lines by file and line."""

import gzip
import json

import pytest

from harness.errors import HarnessError
from harness_training_data.reading import Example, Text, read

TEVATRON = json.dumps(
    {
        "query_id": "7",
        "query": "why",
        "positive_passages": [{"docid": "3", "title": "T", "text": "because"}],
        "negative_passages": [{"docid": "4", "text": "not"}, {"docid": "5", "text": "never"}],
    }
)
SAID = Example(Text("why"), (Text("because"),), (Text("not"), Text("never")))
SAME = {
    "tuple": '["why", "because", "not", "never"]\n',
    "columns": '{"anchor": "why", "positive": "because", "negative_1": "not", "negative_2": "never"}\n',
    "sets": '{"query": "why", "pos": ["because"], "neg": ["not", "never"]}\n',
    "rocketqa": "why\t-\tbecause\t1\nwhy\t-\tnot\t0\nwhy\t\tnever\t0\n",
    "rocketqa-pairs": "why\t-\tbecause\t-\tnot\t0\nwhy\t-\tbecause\t-\tnever\t0\n",
    "msmarco": "why\tbecause\tnot\nwhy\tbecause\tnever\n",
}


def write(folder, text, name="train.tsv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", sorted(SAME))
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_one_example_in_every_form_is_the_same_example(tmp_path, name, ending):
    assert list(read(write(tmp_path, SAME[name], f"train{ending}"))) == [SAID]


def test_tevatrons_ids_and_titles_are_kept(tmp_path):
    (example,) = read(write(tmp_path, TEVATRON + "\n"))
    assert example.query == Text("why", id="7")
    assert example.positives == (Text("because", "T", "3"),)
    assert [text.id for text in example.negatives] == ["4", "5"]


def test_triples_of_ids_are_told_from_triples_of_texts(tmp_path):
    path = write(tmp_path, "1\t20\t30\n1\t20\t31\n2\t40\t50\n")
    first, second = read(path)
    assert first == Example(Text("", id="1"), (Text("", id="20"),), (Text("", id="30"), Text("", id="31")))
    assert second.query.id == "2"
    assert next(read(path, "msmarco")).query == Text("1")


def test_more_than_nine_negatives_stay_in_order(tmp_path):
    row = {"anchor": "a", "positive": "b", **{f"negative_{n}": f"n{n}" for n in range(1, 12)}}
    (example,) = read(write(tmp_path, json.dumps(row)))
    assert [text.text for text in example.negatives] == [f"n{n}" for n in range(1, 12)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a\tb\tc\na\tb\n", ":2: expected 3 columns between tabs, got 2"),
        ("1\t2\t3\n1\tx\t3\n", ":2: expected three ids"),
        ("q\tt\tp\t1\nq\tt\tp\t2\n", ":2: the label '2' is neither 0 nor 1"),
        ("a\tb\n", ":1: 2 columns between tabs are no form of training data"),
        ("", ": is empty"),
        ('["a", "b"]\n["a"]\n', ":2: expected a list of anchor, positive and negatives"),
        ('["a", "b"]\n["a", "b"\n', ":2: this is not valid JSON"),
        (
            '{"anchor": "a", "positive": "b", "extra": "c"}',
            ":1: the key 'extra' is not anchor, positive or negative",
        ),
        (
            TEVATRON + '\n{"query_id": "1", "query": "x"}\n',
            ":2: 'positive_passages' must be a list of objects",
        ),
        (TEVATRON + "\n" + TEVATRON.replace('"3"', "3"), ":2: the key 'docid' is missing or not a text"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, text, where):
    path = write(tmp_path, text)
    with pytest.raises(HarnessError, match=where) as refused:
        list(read(path))
    assert str(refused.value).startswith(str(path))


def test_a_pickle_and_an_unknown_form_are_refused(tmp_path):
    path = tmp_path / "train.pkl"
    path.write_bytes(b"\x80\x04N.")
    with pytest.raises(HarnessError, match="never loaded"):
        read(path)
    with pytest.raises(HarnessError, match="form 'tsv': is none of training data"):
        read(path, "tsv")
