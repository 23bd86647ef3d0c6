"""What an analysis hands to a reader: what may stand in a leaderboard, and what is refused."""

import dataclasses

import msgspec
import pytest

from harness import findings
from harness.errors import ContractError, HarnessError
from harness.findings import Finding
from harness.html import plots

DEPTH = Finding(
    name="depth/toy",
    title="Score by depth",
    kind="line",
    columns=("depth", "score", "system"),
    rows=((1, 0.5, "a"), (2, None, "a")),
    x="depth",
    y="score",
    series="system",
)


def test_an_entry_is_read_back_as_it_was():
    data = msgspec.json.decode(msgspec.json.encode(findings.entry(DEPTH)))
    assert findings.read([data], "x.json") == (DEPTH,)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": ()}, "needs columns"),
        ({"columns": ("depth", "depth", "system")}, "different names"),
        ({"x": "rank"}, "draws 'rank'"),
        ({"y": None}, "draws None"),
        ({"rows": ((1, 0.5),)}, "row 1 has 2 cells for 3 columns"),
        ({"rows": ((1, float("nan"), "a"),)}, "row 1 .*not finite"),
        ({"kind": "heat", "series": None}, "needs a series"),
    ],
)
def test_what_nobody_could_draw_is_refused(change, says):
    with pytest.raises(ContractError, match=says):
        findings.entry(dataclasses.replace(DEPTH, **change))


def test_a_file_with_a_broken_analysis_says_which():
    data = findings.entry(DEPTH)
    with pytest.raises(HarnessError, match=r"^x\.json: analyses: 'depth/toy': stands twice"):
        findings.read([data, data], "x.json")
    with pytest.raises(HarnessError, match=r"^x\.json: analyses: .*pie"):
        findings.read([{**data, "kind": "pie"}], "x.json")


@pytest.mark.parametrize("kind", ["line", "bar", "point", "heat"])
def test_a_picture_has_the_columns_that_it_names_and_no_heading_as_a_field(kind):
    hostile = "a['b']; alert(1)"
    found = dataclasses.replace(DEPTH, kind=kind, columns=(hostile, "score", "system"), x=hostile)
    spec = plots.analysis(found)
    assert spec["data"]["values"][0] == {"x": 1, "y": 0.5, "series": "a"}
    assert set(fields(spec)) <= {"x", "y", "series", "most", "least"}


def test_a_line_over_words_keeps_their_order():
    over_words = dataclasses.replace(DEPTH, rows=(("6-10", 0.5, "a"), ("11-20", 0.4, "a")))
    axis = plots.analysis(over_words)["encoding"]["x"]
    assert (axis["type"], axis["sort"]) == ("nominal", None)
    assert plots.analysis(DEPTH)["encoding"]["x"]["type"] == "quantitative"


def test_a_table_has_no_picture():
    assert plots.analysis(dataclasses.replace(DEPTH, kind="table")) is None


def fields(spec):
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key == "field":
                yield value
            yield from fields(value)
    elif isinstance(spec, list):
        for item in spec:
            yield from fields(item)
