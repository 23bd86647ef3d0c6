"""The leaderboard file: read and written without a changed byte, refused with the place of a mistake."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from harness import cli, run
from harness.errors import HarnessError
from harness.leaderboard import board_file

ROOT = Path(__file__).parents[3] / "leaderboards"
COMMITTED = sorted(ROOT.rglob(board_file.FILE))
SMALL = """
suite: small
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {retriever: bm25}
  reranked: {of: bm25, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10]
"""


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(board_file.json_schema())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A leaderboard's JSON as a run wrote it."""
    folder = tmp_path_factory.mktemp("schemas")
    (folder / "suite.yaml").write_text(SMALL, encoding="utf-8")
    board = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert [row.error for row in board.rows if row.error] == []
    assert board_file.read(folder).data == board.data
    return json.loads((folder / board_file.FILE).read_bytes())


def put(data, where, value):
    """The data with another value at a place."""
    changed = inner = copy.deepcopy(data)
    for step in where[:-1]:
        inner = inner[step]
    inner[where[-1]] = value
    return changed


def message(data, folder):
    (folder / board_file.FILE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(HarnessError) as refused:
        board_file.read(folder)
    return str(refused.value).partition(f"{board_file.FILE}: ")[2]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_a_committed_leaderboard_is_written_as_it_was_read(path, schema):
    content = path.read_bytes()
    assert board_file.encoded(board_file.read(path).data) == content
    assert list(schema.iter_errors(json.loads(content))) == []


def test_it_is_a_valid_json_schema_and_a_real_leaderboard_keeps_it(schema, made):
    jsonschema.Draft202012Validator.check_schema(schema.schema)
    assert list(schema.iter_errors(made)) == []


@pytest.mark.parametrize(
    ("where", "value", "told"),
    [
        (("rows", 1, "cost", "seconds"), [], "rows[1].cost.seconds: expected a number or null, got a list"),
        (("rows", 0, "status"), "fine", "rows[0].status: invalid enum value 'fine'"),
        (("rows", 0, "dataset"), "other", "rows[0].dataset: 'other' is none of the datasets"),
        (("rows", 0, "provenance", "seed"), -1, "rows[0].provenance.seed: expected a whole number >= 0"),
        (("rows", 1, "system"), "bm25", "rows[1]: tour / bm25 stands twice"),
        (("datasets", 0, "name"), None, "datasets[0].name: expected a text, got null"),
        (("datasets", 0, "counts"), {"passages": "1"}, "datasets[0].counts[...]: expected a whole number, got a text"),
        (("suite", "measures"), {}, "suite.measures: expected a list, got an object"),
        (("environment",), [], "environment: expected an object, got a list"),
        (("rows", 0, "tuning"), [{}], "rows[0].tuning[0]: object missing required field 'key'"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_place(made, tmp_path, where, value, told):
    assert message(put(made, where, value), tmp_path).startswith(told)


@pytest.mark.parametrize(
    ("where", "key"),
    [
        ((), "rows"),
        ((), "schema"),
        (("rows", 0), "status"),
        (("rows", 0), "measures"),
        (("rows", 0, "measures", "nDCG@10"), "ci95"),
        (("rows", 0, "files", "run"), "sha256"),
        (("rows", 0, "provenance"), "fingerprint"),
        (("columns", 0), "label"),
    ],
    ids=str,
)
def test_a_misspelt_key_of_a_leaderboard_is_refused_by_the_schema_and_by_the_reader(
    schema, made, tmp_path, where, key
):
    data = copy.deepcopy(made)
    inner = data
    for step in where:
        inner = inner[step]
    inner[f"{key}x"] = inner.pop(key)
    assert not schema.is_valid(data)
    assert message(data, tmp_path)


def test_the_command_prints_the_schema(capsys):
    assert cli.main(["schema", "leaderboard"]) == 0
    assert json.loads(capsys.readouterr().out) == board_file.json_schema()
