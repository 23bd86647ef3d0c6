"""Each key is declared once: what its reader takes, its schema takes, and what the one refuses, the other does."""

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest

from harness import catalogue
from harness.problems import Problem
from harness.suite import keys, models, schema, sections, tuning, yaml_nodes
from harness.suite.check import Checker

CATALOGUE = catalogue.load()
SCHEMA = schema.json_schema(CATALOGUE)
SECTIONS = {
    sections.SuiteKeys: SCHEMA,
    sections.SystemKeys: SCHEMA["properties"]["systems"]["additionalProperties"],
    sections.MadeDataset: SCHEMA["properties"]["datasets"]["anyOf"][0]["additionalProperties"]["anyOf"][1],
    sections.BesideRows: SCHEMA["properties"]["beside"]["anyOf"][0],
    models.Model: SCHEMA["properties"]["models"]["additionalProperties"],
    models.Reference: SCHEMA["$defs"]["made"],
    tuning.Tune: SCHEMA["$defs"]["tune"]["properties"]["tune"],
    tuning.Learned: SCHEMA["$defs"]["learned"]["properties"]["learned"],
}
MODEL = SECTIONS[models.Model]["properties"]
SECTIONS |= {models.Negatives: MODEL["negatives"], models.Validation: MODEL["validate"]}
SECTIONS[models.Subset] = SECTIONS[models.Validation]["properties"]["corpus"]
BESIDE = {
    "rewriters": "prf",
    "rerankers": "sdm",
    "makers": "strip-titles",
    "analyses": "depth",
    "retrievers": "ql",
}
VALUES = [  # of every form, at the bounds and beyond
    True, False, -1, 0, 0.5, 1, 2, 3, 1.5, 0.001, 0.0009, 1000, 1001, 10**6, 10**6 + 1, 2**31, 2**63 - 1, 2**63,
    "x", "", "a/b", "a/b/", "/b", "a/b/c", "keep", "drop", "refuse", "sample", "stride", "passage", "document",
    "bm25", "dapr", "tour", "titles", "rrf", "sdm", "depth", "dual-encoder", {"bm25": {"k1": 1}}, {"dual-encoder": {"init": "x/y"}}, {"bm25": {"k1": "high"}},
    {"bm25": None}, {"bm25": {}, "resources": {"gpus": 0.5}}, {"bm25": {}, "resources": {"gpus": -1}},
    {"sdm": {}, "depth": 1}, {"sdm": {}, "depth": 0}, {"sdm": {}, "tail": "cut"}, ["sdm", {"sdm": {"mu": 3}}],
    ["titles"], [], [0, 1], [0, 0], [-1], [2**31], [2**31 - 1], ["a", "b"], ["a", "a"], ["a"], ["a/b"], ["a/b", "a"], [[]],
    [0, 1, 0.5], [0, 1], [3, 0.5], [1, 0.5], [21, 0.5], [3, 2], ["x", 0.5], {}, {"a": ["b", "c"]}, {"a": ["b"]}, {"a": "b"},
    {"of": "x"}, {"of": "x", "depth": 0}, {"of": "x", "dept": 1}, {"of": "x", "undenoised": 1}, {"of": "x", "undenoised": 1.1},
    {"queries": 1, "positives": 2}, {"queries": 0, "positives": 2}, {"queries": 1}, {"of": "x", "undenoised": "lists"},
    {"on": "a/b", "measure": "R@5"}, {"on": "a", "measure": "R@5"}, {"on": "a/b", "measure": "R@5", "corpus": {}},
    {"published": "x", "as": "dev"}, {"published": "x"}, [{"published": "x", "as": "dev"}], {"weights": {}, "together": ["a"]},
    {"weights": {}, "together": ["a", "b"]}, {"strip-titles": {}, "splits": "dev"}, [{"strip-titles": {}, "splits": []}],
    ["tour"], ["tuor"], {"t": None}, {"t": "tour"}, {"t": {"tour": {}, "limit": 0}}, {"tour": None, "t": {"of": "tour", "make": ["strip-titles"]}},
    {"t": {"of": "x", "make": []}}, {"s": {"retriever": "bm25"}}, {"s": {"retriever": "bm25", "unit": "word"}}, None,
]  # fmt: skip


def read(section: type, values: dict) -> list[Problem]:
    """The problems of the keys and forms of a section, without those between its keys."""
    checker = Checker(CATALOGUE)
    checker.section(section, yaml_nodes.of_data(values, Path("/suite/suite.yaml")), ())
    return checker.problems


def fits(value, described) -> bool:
    return jsonschema.Draft202012Validator({**described, "$defs": SCHEMA["$defs"]}).is_valid(value)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_reader_and_schema_take_the_same_values_of_every_key(section):
    properties = SECTIONS[section]["properties"]
    assert list(properties) == list(keys.fields_of(section))
    for key, (field, _) in keys.fields_of(section).items():
        bounds = [field.metadata[name] for name in ("minimum", "maximum") if field.metadata[name] is not None]
        near = [bound + step for bound in bounds for step in (-1, -0.0001, 0, 0.0001, 1) if bound < 2**53]
        taken = []
        for value in [*VALUES, *near, *bounds]:
            if isinstance(value, float) and value.is_integer():
                value = int(value)  # JSON has no whole number of type float
            if key == "datasets" and value in ({"bm25": None}, {"t": None}):
                continue  # a name alone stands for the plugin of that name, which no schema says
            problems = [problem for problem in read(section, {key: value}) if problem.path[:1] == (key,)]
            assert (problems == []) == fits(value, properties[key]), (key, value, problems)
            taken += [value] if not problems else []
        assert taken, f"no value here fits '{key}'"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_required_keys_and_defaults_are_those_of_the_schema(section):
    described = SECTIONS[section]
    missing = {
        key
        for problem in read(section, {})
        for key in described["properties"]
        if f"'{key}' is missing" in problem.text
    }
    assert missing == set(described["required"])
    for key, (field, _) in keys.fields_of(section).items():
        inner = described["properties"][key]
        if "default" in inner:
            assert inner["default"] == json.loads(json.dumps(field.default))
            assert fits(inner["default"], inner)
        assert inner["description"]


@pytest.mark.parametrize("kind", sections.BESIDE)
def test_the_keys_beside_a_plugin_are_in_the_schema_of_its_kind(kind):
    own = keys.fields_of(sections.BESIDE[kind])
    for plugin in SCHEMA["$defs"][kind]["anyOf"][1:]:
        assert set(own) <= set(plugin["properties"])
        assert len(plugin["properties"]) == len(own) + 1


@pytest.mark.parametrize(
    ("name", "value", "valid"), [("k1", 0, True), ("b", 1, True), ("b", 1.1, False), ("k1", -1, False)]
)
def test_the_schema_has_the_range_of_a_parameter(name, value, valid):
    assert fits({"bm25": {name: value}}, SCHEMA["$defs"]["retrievers"]) == valid
    assert fits({"bm25": {name: [value, value]}}, SCHEMA["$defs"]["retrievers"]) == valid


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("rewrite", "queries"),
        ("rewriter", "queries"),
        ("fusion", "combine"),
        ("retreiver", "retriever"),
        ("rerankers", "rerank"),
    ],
)
def test_another_word_for_a_key_is_told_as_that_key(word, key):
    [problem] = [
        problem for problem in read(sections.SystemKeys, {word: "x"}) if "unknown key" in problem.text
    ]
    assert problem.text.endswith(f"did you mean '{key}'?")


def test_a_key_is_no_word_for_another_key():
    for section in SECTIONS:
        fields = keys.fields_of(section)
        assert not {word for field, _ in fields.values() for word in field.metadata["meant_by"]} & set(fields)
        assert dataclasses.is_dataclass(section)
