"""From a suite's pool to judgements by people and by a machine, and back to a leaderboard that tells them apart."""

import numpy as np
import orjson
import pytest

from harness_annotate import assignment, people, pool_files, project, results, scheme
from harness_annotate.events import Appointed, Graded
from harness_annotate.scheme import Choice

SYSTEMS = {
    "bm25": {"retriever": "bm25"},
    "titles": {"context": ["titles"], "retriever": "bm25"},
    "flat": {"retriever": {"bm25": {"b": 0.0}}},
}
POOL = {"pool": {"of": ["bm25", "titles"], "depth": 5}}


@pytest.fixture
def judged(harness):
    """The pool of a suite, judged by a person as the collection does, and by a machine that likes rank 1."""
    harness.suite({
        "suite": "pools",
        "datasets": {"tour": {"tour": {"documents": 20}, "scored": False}, "mine": {"of": "tour", "make": [POOL]}},
        "systems": SYSTEMS, "measures": ["nDCG@5"],
    })  # fmt: skip
    done = harness.command(
        "datasets",
        "export",
        "suite.yaml",
        "mine",
        "--form",
        "pool",
        "--out",
        "pool",
        "--store",
        harness.store,
    )
    assert done.code == 0, done.err
    pool = pool_files.Pool(harness.folder / "pool")
    made = project.open_project(
        pool, harness.folder / "judgements", scheme.load("dureader"), {}, None, again=True
    )
    people.invite(made.journal, "ann", "annotator")
    while (number := assignment.next_pair(made.journal, "ann")) is not None:
        grade = min(1, pool.pairs[number].grade or 0)
        assignment.answer(made.journal, "ann", number, grade, (), "")
    seen = set()
    with made.journal.writing() as (_, append):
        append(Appointed("robot", "{}"))
        for number, pair in enumerate(pool.pairs):
            append(Graded("robot", number, Choice(int(pair.query not in seen))))
            seen.add(pair.query)
    results.export(made.journal, pool, harness.folder / "judgements")
    made.journal.close()
    return harness


def test_a_leaderboard_says_in_every_row_who_judged_and_compare_holds_the_orders_side_by_side(judged):
    def made(name, take):
        return {"of": "tour", "make": [
            {"judged": {"file": f"judgements/{name}.jsonl", "take": take, "existing": "drop"}}
        ]}  # fmt: skip

    judged.suite({
        "suite": "judged",
        "datasets": {
            "tour": {"tour": {"documents": 20}, "scored": False},
            "people": made("judgements", "person"),
            "machine": made("machine", "machine"),
            "later": {"of": "machine", "make": ["strip-titles"]},
        },
        "systems": SYSTEMS, "measures": ["nDCG@5", "RR@5"],
    })  # fmt: skip
    ran = judged.run("suite.yaml")
    assert ran.code == 0, ran.err
    board = orjson.loads((judged.out / "leaderboard.json").read_bytes())
    for row in board["rows"]:
        flagged = any("by a machine" in flag for flag in row["flags"])
        assert flagged == (row["dataset"] != "people"), row["dataset"]
    assert "are by a machine" in (judged.out / "README.md").read_text()
    judges = {item["name"]: [stage.get("judges") for stage in item["made"]] for item in board["datasets"]}
    assert list(judges["people"][0]) == ["person"]
    assert list(judges["machine"][0]) == ["machine"]

    compared = judged.command("compare", judged.out, "--format", "json")
    items = orjson.loads(compared.out)["judges"]
    assert [(item["people"], item["machine"], item["measure"]) for item in items] == [
        ("people", "machine", "nDCG@5"), ("people", "machine", "RR@5"),
    ]  # fmt: skip
    means = {
        name: [row["measures"]["nDCG@5"]["mean"] for row in board["rows"] if row["dataset"] == name]
        for name in ("people", "machine")
    }
    alike = sum(
        np.sign(means["people"][i] - means["people"][j]) == np.sign(means["machine"][i] - means["machine"][j])
        for i in range(3) for j in range(i)
    )  # fmt: skip
    assert (items[0]["pairs"], items[0]["alike"]) == (3, alike)
    shown = judged.command("compare", judged.out)
    assert "The order of systems by people's and by a machine's judgements" in shown.out
    assert "tau is Kendall's tau-b" in " ".join(shown.out.split())


def test_judgements_of_texts_that_were_cut_otherwise_are_refused_and_every_row_says_so(judged):
    joined = {"judged": {"file": "judgements/judgements.jsonl", "existing": "drop"}}
    judged.suite({
        "suite": "cut otherwise",
        "datasets": {
            "tour": {"tour": {"documents": 20}, "scored": False},
            "mine": {"of": "tour", "make": [{"join-paragraphs": {"limit": 300}}, joined]},
        },
        "systems": SYSTEMS, "measures": ["nDCG@5"],
    })  # fmt: skip
    assert judged.run("suite.yaml").code == 0
    board = orjson.loads((judged.out / "leaderboard.json").read_bytes())
    pool = pool_files.Pool(judged.folder / "pool")
    dropped = {item["why"]: item["count"] for item in board["datasets"][0]["made"][1]["dropped"]}
    taken = board["datasets"][0]["counts"]["judgements"]
    changed, gone = dropped["of a passage whose text has changed"], dropped["of a passage that is not there"]
    assert (changed + gone + taken, changed > 20, gone > 20) == (len(pool.pairs), True, True)
    for row in board["rows"]:
        assert f"{changed} refused, because the passage has another text now" in row["flags"][0]
    assert f"{changed} refused, because" in judged.command("show", judged.out).out
