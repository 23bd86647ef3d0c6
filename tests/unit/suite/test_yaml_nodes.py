"""YAML is read plainly, with its lines; what is not plain is refused with the place."""

from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.suite import yaml_nodes


def read(tmp_path: Path, text: str | bytes, **environment: str):
    path = tmp_path / "suite.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return yaml_nodes.read(path, environment)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("12", 12),
        ("-1.5", -1.5),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("~", None),
        ("", None),
        ("2001-01-01", "2001-01-01"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("'12'", "12"),
        ('"true"', "true"),
    ],
)
def test_scalars_follow_yaml_1_2(tmp_path, text, value):
    assert read(tmp_path, f"a: {text}").plain() == {"a": value}


def test_a_key_named_on_stays_a_text(tmp_path):
    assert read(tmp_path, "on: here").plain() == {"on": "here"}


def test_every_value_knows_the_line_of_its_key(tmp_path):
    root = read(tmp_path, "a:\n  b: 1\n\n  c:\n    - 2\n")
    assert [root.at(("a", "b")).line, root.at(("a", "c")).line, root.at(("a", "c", 0)).line] == [2, 4, 5]


def test_a_place_that_does_not_exist_is_the_nearest_above(tmp_path):
    assert read(tmp_path, "a:\n  b: 1\n").at(("a", "x", "y")).line == 1


def test_variables_are_taken_where_braces_say_so(tmp_path):
    text = "a: ${NAME}\nb: $NAME\nc: '${NAME}'\nd: ${NONE:-7}\ne: $${NAME}\n"
    assert read(tmp_path, text, NAME="5").plain() == {"a": 5, "b": "$NAME", "c": "5", "d": 7, "e": "${NAME}"}


def test_aliases_and_merge_keys_work(tmp_path):
    text = "base: &base {k1: 1, b: 2}\nother:\n  <<: *base\n  b: 3\n"
    assert read(tmp_path, text).plain()["other"] == {"k1": 1, "b": 3}


BILLION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n"
    for below, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: !!python/object/apply:os.system [x]", 1, "the tag"),
        ("a: 1\nb: !mine x", 2, "the tag !mine"),
        ("a: !!int x", 1, "the tag"),
        ("a: [1,", 1, "not valid YAML"),
        ("a: 1\n b: 2", 2, "not valid YAML"),
        ("a: 1\n\na: 2", 3, "stands twice (first in line 1)"),
        ("1: x", 1, "quote it"),
        ("? [a]\n: b", 1, "a key must be a plain text"),
        ("a: &x [*x]", 1, "contains itself"),
        (BILLION, 1, "too many values"),
        ("", 1, "is empty"),
        ("# nothing\n", 1, "is empty"),
        ("a: 1\n---\nb: 2", 2, "not valid YAML"),
        ("a: ${MISSING}", 1, "MISSING is not set"),
        ("a: \x00", 1, "not valid YAML"),
        (b"a: 1\nb: \xff\n", 2, "not UTF-8 at byte 8"),
        ("[" * 5000, 1, "nested too deeply"),
        ("a: &b {<<: 3}", 1, "only mappings can be merged"),
    ],
)
def test_what_is_not_plain_is_refused_with_its_line(tmp_path, text, line, words):
    with pytest.raises(HarnessError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path}/suite.yaml:{line}: ")
    assert words in str(error.value)
    assert "; " in str(error.value)


def test_a_missing_file_and_a_folder_are_said_plainly(tmp_path):
    with pytest.raises(HarnessError, match="no such file"):
        yaml_nodes.read(tmp_path / "none.yaml")
    with pytest.raises(HarnessError, match="is a directory"):
        yaml_nodes.read(tmp_path)
