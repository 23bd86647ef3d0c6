"""One picture of several datasets' findings."""

from harness.findings import Finding, fault, together


def curve(dataset: str, system: str = "fused", **changed) -> Finding:
    values = {
        "name": f"weights/{system}/{dataset}", "title": "nDCG@10 by weight", "kind": "line",
        "columns": ("queries", "weight", "nDCG@10"), "rows": (("all queries", 0.0, 0.1), ("hard", 0.0, 0.2)),
        "x": "weight", "y": "nDCG@10", "series": "queries", "dataset": dataset, "flags": (dataset,),
    }  # fmt: skip
    return Finding(**{**values, **changed})


def test_each_series_of_each_dataset_is_a_line_of_one_picture():
    (joint,) = together([curve("nq"), curve("nq-hard"), curve("other")], ["nq", "nq-hard"])
    assert (joint.name, joint.dataset, joint.series) == ("weights/fused/nq+nq-hard", None, "dataset: queries")
    assert joint.flags == ("nq", "nq-hard")
    assert [row[0] for row in joint.rows] == [
        "nq: all queries", "nq: hard", "nq-hard: all queries", "nq-hard: hard",
    ]  # fmt: skip
    assert fault(joint) is None


def test_a_finding_that_one_of_the_datasets_lacks_stays_alone():
    pair = [curve("nq"), curve("nq", "other"), curve("nq-hard", "other")]
    assert [joint.name for joint in together(pair, ["nq", "nq-hard"])] == ["weights/other/nq+nq-hard"]


def test_what_has_no_series_is_told_apart_by_the_dataset():
    pair = [curve(name, series=None, columns=("a", "weight", "nDCG@10")) for name in ("nq", "nq-hard")]
    (joint,) = together(pair, ["nq", "nq-hard"])
    assert (joint.series, joint.rows[0][0], fault(joint)) == ("dataset", "nq", None)


def test_a_heat_map_becomes_a_table():
    (joint,) = together([curve("nq", kind="heat"), curve("nq-hard", kind="heat")], ["nq", "nq-hard"])
    assert (joint.kind, joint.series, fault(joint)) == ("table", None, None)
