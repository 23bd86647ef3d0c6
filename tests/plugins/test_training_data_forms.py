"""Training data is written in every form, read back as the same examples, and written again as the same bytes."""

import pytest

from harness import cli
from harness.errors import HarnessError
from harness_training_data import command, reading, writing
from harness_training_data.reading import Example, Text, read
from harness_training_data.writing import write

PLAIN = [
    Example(Text("why"), (Text("because"),), (Text("not"), Text("never"))),
    Example(Text("怎么做"), (Text("这样"),), (Text("那样"),)),
]
RICH = [
    Example(
        Text("why", id="7"), (Text("because", "T", "3"),), (Text("not", "", "4"), Text("never", "U", "5"))
    )
]
IDS = [Example(Text("", id="1"), (Text("", id="20"),), (Text("", id="30"), Text("", id="31")))]


def test_the_forms_that_are_written_are_those_that_are_read_and_offered():
    assert tuple(writing.FORMS) == tuple(reading.FORMS) == command.FORMS


@pytest.mark.parametrize("form", command.FORMS)
def test_a_round_trip_gives_the_same_examples_and_then_the_same_bytes(tmp_path, form):
    examples = {"msmarco-ids": IDS, "tevatron": RICH}.get(form, PLAIN)
    first, second = tmp_path / "first", tmp_path / "second"
    assert write(examples, form, first) == len(examples)
    assert list(read(first)) == examples
    write(read(first), form, second)
    assert second.read_bytes() == first.read_bytes()


def test_the_official_lines_are_written(tmp_path):
    lines = {
        "rocketqa": "why\tT\tbecause\t1\nwhy\t-\tnot\t0\nwhy\tU\tnever\t0\n",
        "rocketqa-pairs": "why\tT\tbecause\t-\tnot\t0\nwhy\tT\tbecause\tU\tnever\t0\n",
        "msmarco": "why\tT because\tnot\nwhy\tT because\tU never\n",
        "msmarco-ids": "7\t3\t4\n7\t3\t5\n",
        "sentence-transformers": '{"anchor":"why","positive":"T because","negative_1":"not","negative_2":"U never"}\n',
    }
    for form, text in lines.items():
        write(RICH, form, tmp_path / form)
        assert (tmp_path / form).read_text() == text


@pytest.mark.parametrize(
    ("example", "form", "what"),
    [
        (PLAIN[0]._replace(positives=()), "tevatron", "example 1: has no positive"),
        (PLAIN[0]._replace(negatives=()), "msmarco", "has no negative, which this form needs"),
        (PLAIN[0], "msmarco-ids", "without an id"),
        (IDS[0], "tevatron", "'1' is an id without a text"),
        (PLAIN[0]._replace(query=Text("a\tb")), "rocketqa", "has a tab or line break"),
    ],
)
def test_what_a_form_cannot_hold_is_refused_and_leaves_no_file(tmp_path, example, form, what):
    with pytest.raises(HarnessError, match=what):
        write([example], form, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_converts_files_and_names_a_damaged_line(tmp_path, capsys):
    source, out = tmp_path / "train.tsv", tmp_path / "train.jsonl"
    write(PLAIN, "rocketqa", source)
    assert cli.main(["training-data", str(source), str(source), "--to", "tevatron", "--out", str(out)]) == 0
    assert "4 examples" in capsys.readouterr().out
    assert [example.query.text for example in read(out)] == ["why", "怎么做", "why", "怎么做"]
    source.write_text("why\t-\tbecause\t1\nwhy\t-\tnot\n")
    assert cli.main(["training-data", str(source), "--to", "tevatron", "--out", str(out)]) == 2
    assert f"{source}:2: expected 4 columns" in capsys.readouterr().err
    assert cli.main(["training-data", str(source), "--to", "tevatron", "--out", str(source)]) == 2
    assert "is read too" in capsys.readouterr().err


def test_a_pickle_is_never_loaded(tmp_path, capsys):
    (tmp_path / "train.pkl").write_bytes(b"\x80\x04N.")
    code = cli.main(
        ["training-data", str(tmp_path / "train.pkl"), "--to", "tevatron", "--out", str(tmp_path / "o")]
    )
    assert code == 2
    assert "is a pickle" in capsys.readouterr().err
