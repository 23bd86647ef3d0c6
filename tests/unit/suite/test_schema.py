"""The published JSON Schema of suites takes what the harness takes and refuses what it refuses."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from harness import catalogue, cli
from harness.suite import schema

DEMO = Path(__file__).parents[3] / "leaderboards" / "tour" / "suite.yaml"


@pytest.fixture(scope="module")
def suites():
    return jsonschema.Draft202012Validator(schema.json_schema(catalogue.load()))


@pytest.fixture
def suite():
    return yaml.safe_load(DEMO.read_text(encoding="utf-8"))


def test_it_is_a_valid_json_schema(suites):
    jsonschema.Draft202012Validator.check_schema(suites.schema)


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


def test_the_command_prints_the_schema(capsys):
    assert cli.main(["schema", "suite"]) == 0
    assert json.loads(capsys.readouterr().out) == schema.json_schema(catalogue.load())
