"""Parameters are strict: wrong types, unknown keys and ranges are named, all at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jsonschema
import pytest

from harness.catalogue import params
from harness.problems import nearest
from harness.records import param


@dataclass(frozen=True)
class Inner:
    size: int = param(3, "how large", minimum=1)


@dataclass(frozen=True)
class Everything:
    needed: str
    rate: float = param(0.5, "between 0 and 1", minimum=0, maximum=1)
    count: int = 1
    flag: bool = False
    form: Literal["one", "two"] = "one"
    path: Path | None = None
    names: tuple[str, ...] = ()
    pair: tuple[int, float] = (1, 2.0)
    inner: Inner = Inner()
    table: dict[str, int] = param(None, "a mapping")

    def __post_init__(self) -> None:
        if self.count == 13:
            raise ValueError("13 brings bad luck; take 12 or 14")


def problems(**given):
    value, found = params.convert(Everything, given, Path("/base"))
    assert (value is None) == bool(found)
    return [(problem.path, problem.text) for problem in found]


def test_a_full_mapping_becomes_an_instance():
    given = {
        "needed": "x", "rate": 1, "path": "data/x", "names": ["a"], "pair": [1, 2], "inner": {"size": 4},
        "table": {"a": 1},
    }  # fmt: skip
    value, found = params.convert(Everything, given, Path("/base"))
    assert found == []
    assert value == Everything(
        "x", 1.0, path=Path("/base/data/x"), names=("a",), pair=(1, 2.0), inner=Inner(4), table={"a": 1}
    )
    assert isinstance(value.rate, float)


def test_what_was_converted_survives_as_plain_data():
    value, _ = params.convert(Everything, {"needed": "x", "path": "y"}, Path("/base"))
    again, found = params.convert(Everything, params.plain(value) | {"table": {}}, Path("/"))
    assert found == []
    assert again.path == Path("/base/y")


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        ({}, (), "'needed' is missing"),
        ({"needed": "x", "rat": 1}, ("rat",), "did you mean 'rate'"),
        ({"needed": 3}, ("needed",), "expected a text, got 3"),
        ({"needed": "x", "count": True}, ("count",), "expected a whole number, got true"),
        ({"needed": "x", "count": 1.0}, ("count",), "expected a whole number"),
        ({"needed": "x", "rate": "high"}, ("rate",), "expected a number, got 'high'"),
        ({"needed": "x", "rate": 2}, ("rate",), "at most 1"),
        ({"needed": "x", "rate": float("nan")}, ("rate",), "finite"),
        ({"needed": "x", "flag": 1}, ("flag",), "true or false"),
        ({"needed": "x", "form": "three"}, ("form",), "one of 'one', 'two'"),
        ({"needed": "x", "names": "a"}, ("names",), "a list"),
        ({"needed": "x", "names": ["a", 3]}, ("names", 1), "expected a text"),
        ({"needed": "x", "pair": [1]}, ("pair",), "a list"),
        ({"needed": "x", "inner": {"size": 0}}, ("inner", "size"), "at least 1"),
        ({"needed": "x", "inner": {"sise": 1}}, ("inner", "sise"), "did you mean 'size'"),
        ({"needed": "x", "inner": 3}, ("inner",), "a mapping"),
        ({"needed": "x", "table": {"a": "b"}}, ("table", "a"), "a whole number"),
        ({"needed": "x", "path": ""}, ("path",), "a path or null"),
        ({"needed": "x", "count": 13}, (), "13 brings bad luck"),
    ],
)
def test_every_mistake_is_named_at_its_place(given, path, words):
    [(found, text)] = problems(**given)
    assert found == path
    assert words in text


def test_all_mistakes_are_told_at_once():
    assert len(problems(rate=3, count="x", colour="red")) == 4


@pytest.mark.parametrize(
    ("hint", "expected"),
    [(tuple[str, ...], True), (tuple[int, int] | None, True), (float, False), (str | None, False)],
)
def test_a_list_fans_out_only_where_it_is_no_value(hint, expected):
    assert params.is_list(hint) is expected


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ndcg@10", "nDCG@10"),
        ("NDCG@1", "nDCG@10"),
        ("nDCG@10", "nDCG@10"),
        ("document ndcg@10", "document nDCG@10"),
        ("AP", None),
    ],
)
def test_what_was_meant_is_found_in_upper_and_lower_case(name, meant):
    assert nearest(name, ["R@100", "nDCG@10", "document nDCG@10"]) == meant


@dataclass(frozen=True)
class Deep:
    name: str = ""

    def __post_init__(self):
        if self.name == "bad":
            raise ValueError("name: 'bad' is none")


@dataclass(frozen=True)
class Either:
    how: Literal["simple"] | Deep = "simple"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": "bad"}, "name: 'bad' is none"),
        ({"nam": "x"}, "unknown parameter 'nam'; did you mean 'name'?"),
        (3, "expected 'simple' or a mapping, got 3"),
    ],
)
def test_a_mapping_that_is_one_of_two_forms_says_what_is_wrong_with_it(given, problem):
    _, problems = params.convert(Either, {"how": given}, Path())
    assert [item.text for item in problems] == [problem]


@dataclass(frozen=True)
class WithPath:
    model: Path


@pytest.mark.parametrize("value", [{"a": Path("x")}, (Path("x"),), WithPath(Path("x"))])
def test_paths_are_found_wherever_they_stand(value):
    assert params.paths_in(value) == [Path("x")]


@pytest.mark.parametrize(
    "text",
    ["a" * 300, "a/" * 2500, "a\0b", "~no-such-user-of-this-machine/x"],
    ids=["name", "path", "nul", "user"],
)
def test_what_cannot_be_a_path_is_refused(text):
    value, [problem] = params.convert(WithPath, {"model": text}, Path("/"))
    assert value is None
    assert problem.path == ("model",)


def test_a_number_beyond_a_float_is_refused():
    @dataclass(frozen=True)
    class Rate:
        rate: float

    _, [problem] = params.convert(Rate, {"rate": 10**400}, Path("/"))
    assert problem.path == ("rate",)


def test_a_parameter_type_that_fails_while_it_checks_itself_is_a_problem():
    @dataclass(frozen=True)
    class Wrong:
        k: int

        def __post_init__(self):
            raise TypeError("no")

    _, [problem] = params.convert(Wrong, {"k": 1}, Path("/"))
    assert "TypeError: no" in problem.text


@pytest.mark.parametrize("raw", [[[]], ["needed"], "needed", 3, None])
def test_what_is_no_mapping_of_parameters_is_a_problem(raw):
    value, [problem] = params.convert(Everything, raw, Path("/"))
    assert (value, problem.path) == (None, ())


@dataclass(frozen=True)
class Ranges:
    shares: tuple[float, ...] = param((), "each a share", minimum=0, maximum=1)
    places: dict[str, int] = param(None, "each from 1", minimum=1)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"shares": [0, 1.5]}, ("shares", 1)),
        ({"shares": [float("nan")]}, ("shares", 0)),
        ({"places": {"a": 0}}, ("places", "a")),
    ],
)
def test_a_range_holds_for_each_item(given, path):
    _, [problem] = params.convert(Ranges, given, Path("/"))
    assert problem.path == path


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"needed": "x", "rate": 1, "pair": [1, 0.5], "inner": {"size": 1}, "table": {"a": 1}, "path": None}, True),
        ({}, False),
        ({"needed": "x", "rate": 1.1}, False),
        ({"needed": "x", "inner": {"size": 0}}, False),
        ({"needed": "x", "pair": [1]}, False),
        ({"needed": "x", "pair": ["a", 1]}, False),
        ({"needed": "x", "table": {"a": "b"}}, False),
        ({"needed": "x", "form": "three"}, False),
        ({"needed": "x", "colour": "red"}, False),
    ],
)  # fmt: skip
def test_the_schema_takes_what_is_converted(given, valid):
    assert jsonschema.Draft202012Validator(params.schema(Everything)).is_valid(given) == valid
    assert (params.convert(Everything, given, Path("/"))[0] is not None) == valid
