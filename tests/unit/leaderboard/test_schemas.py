"""The published JSON Schemas take what the harness takes and refuse what it refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from harness import catalogue, cli, run
from harness.errors import HarnessError
from harness.leaderboard import board_file, schemas

DEMO = Path(__file__).parents[3] / "leaderboards" / "tour" / "suite.yaml"
SMALL = """
suite: small
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {retriever: bm25}
  reranked: {of: bm25, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10]
"""


@pytest.fixture(scope="module")
def suites():
    return jsonschema.Draft202012Validator(schemas.suite(catalogue.load()))


@pytest.fixture(scope="module")
def leaderboards():
    return jsonschema.Draft202012Validator(schemas.leaderboard())


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemas")
    (folder / "suite.yaml").write_text(SMALL, encoding="utf-8")
    made = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert [row["error"] for row in made.rows if row["error"]] == []
    return made


@pytest.fixture
def suite():
    return yaml.safe_load(DEMO.read_text(encoding="utf-8"))


def test_both_are_valid_json_schemas(suites, leaderboards):
    for validator in (suites, leaderboards):
        jsonschema.Draft202012Validator.check_schema(validator.schema)


def test_the_demo_suite_is_valid(suites, suite):
    assert list(suites.iter_errors(suite)) == []


@pytest.mark.parametrize(
    ("where", "key"),
    [
        ((), "measure"),
        (("systems", "bm25"), "retreiver"),
        (("systems", "convex", "combine", "convex"), "wieght"),
        (("systems", "sdm", "rerank"), "dept"),
        (("datasets", "tour-en", "tour"), "langauge"),
    ],
    ids=lambda value: "top" if value == () else str(value),
)
def test_a_misspelt_key_of_a_suite_is_refused(suites, suite, where, key):
    inner = suite
    for step in where:
        inner = inner[step]
    inner[key] = "x"
    assert not suites.is_valid(suite)


@pytest.mark.parametrize(
    ("system", "valid"),
    [
        ({"retriever": "bm25"}, True),
        ({"retriever": {"bm25": {"k1": [0.9, 1.2]}}}, True),
        ({"retriever": {"bm25": None}, "context": ["titles"], "unit": "document"}, True),
        ({"of": ["a", "b"], "combine": {"convex": {"weights": [0.5, 0.5]}}}, True),
        ({"of": "a", "rerank": [{"sdm": {}, "depth": 10, "tail": "drop"}, "sdm"]}, True),
        ({"retriever": "bm52"}, False),
        ({"retriever": {"bm25": {"k1": "high"}}}, False),
        ({"retriever": {"bm25": {}, "ql": {}}}, False),
        ({"retriever": "bm25", "unit": "sentence"}, False),
    ],
)
def test_a_system_is_valid_as_the_harness_has_it(suites, suite, system, valid):
    suite["systems"]["tried"] = system
    assert suites.is_valid(suite) == valid


def test_every_key_of_a_suite_is_in_the_schema(suites):
    from harness.suite import check, systems

    assert set(suites.schema["properties"]) == set(check.KEYS)
    system = suites.schema["properties"]["systems"]["additionalProperties"]
    assert set(system["properties"]) == set(systems.SYSTEM_KEYS) - {"depth"}


def test_a_real_leaderboard_is_valid(leaderboards, board):
    written = json.loads((board.folder / board_file.FILE).read_bytes())
    assert list(leaderboards.iter_errors(written)) == []


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
    leaderboards, board, tmp_path, where, key
):
    data = copy.deepcopy(board.data)
    inner = data
    for step in where:
        inner = inner[step]
    inner[f"{key}x"] = inner.pop(key)
    assert not leaderboards.is_valid(data)
    (tmp_path / board_file.FILE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(HarnessError):
        board_file.read(tmp_path)


@pytest.mark.parametrize("what", ["suite", "leaderboard"])
def test_the_command_prints_the_schema(what, capsys):
    assert cli.main(["schema", what]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == (schemas.leaderboard() if what == "leaderboard" else schemas.suite(catalogue.load()))
