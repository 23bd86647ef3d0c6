"""A suite that makes its collection: steps, keys, the card, and what is refused."""

import json

import pytest
from running import leaderboard

from harness import catalogue, cli, plan, suite
from harness.errors import Problems
from harness.store.artifacts import Store

SUITE = """
suite: making
datasets:
  raw: {tour: {documents: 8}, scored: false}
  mine: {of: raw, make: [{join-paragraphs: {limit: 300}}, {strip-titles: {}, splits: [test]}]}
  again: {of: mine, make: [{join-paragraphs: {limit: 500}}]}
systems:
  bm25: {retriever: bm25}
measures: [nDCG@10]
depth: 20
"""


def planned(folder, text):
    path = folder / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    records = catalogue.load()
    return plan.build(suite.load(path, records), records, Store(folder / "store").open().digests.of)


def problem(folder, line):
    with pytest.raises(Problems) as caught:
        planned(folder, SUITE.replace("systems:\n", f"  odd: {line}\nsystems:\n"))
    return str(caught.value)


def test_a_made_collection_is_run_shown_and_verified(tmp_path, capsys):
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, encoding="utf-8")
    store = ["--store", str(tmp_path / "store")]
    assert cli.main(["run", str(path), *store]) == 0
    board = leaderboard(tmp_path)
    mine, again = board["datasets"]
    assert [stage["maker"] for stage in again["made"]] == [
        "join-paragraphs",
        "strip-titles",
        "join-paragraphs",
    ]
    first, last = mine["made"][0], again["made"][-1]
    assert last["before"]["passages"] == first["after"]["passages"] == mine["counts"]["passages"]
    [dropped] = [item for item in last["dropped"] if item["what"] == "passages"]
    assert dropped["count"] == last["before"]["passages"] - last["after"]["passages"] > 0
    assert mine["counts"]["titled_documents"] == 0
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("How again was made:")
    assert rows.count("| join-paragraphs |") == 2
    assert f"{dropped['count']} passages: joined with the one before" in rows
    assert "made of 'mine': join-paragraphs -> strip-titles -> join-paragraphs" in again["notes"]
    text = json.dumps(board)
    capsys.readouterr()
    assert cli.main(["datasets", "show", f"{path}#again", *store]) == 0
    card = capsys.readouterr().out
    assert "stage 3: join-paragraphs (limit=500)" in card
    [example] = [line.partition("such as ")[2] for line in card.splitlines() if "such as" in line][:1]
    assert example
    assert example not in text  # a leaderboard holds no texts
    assert cli.main(["verify", str(tmp_path / "leaderboard.json"), *store]) == 0
    assert cli.main(["verify", str(tmp_path / "leaderboard.json"), "--suite", str(path), *store]) == 0


def test_a_changed_stage_makes_again_only_what_depends_on_it(tmp_path):
    before = planned(tmp_path, SUITE)
    after = planned(tmp_path, SUITE.replace("limit: 500", "limit: 400"))
    changed = {step.label for step in after.steps.values() if step.id not in before.steps}
    assert {label.partition(" · ")[2].partition(" · ")[0] for label in changed} == {"again"}


def test_a_stage_of_judgements_leaves_the_index_as_it_is(tmp_path):
    collections = planned(tmp_path, SUITE).collections
    assert collections["mine"].planned.queries == collections["again"].planned.queries
    assert collections["mine"].planned.corpus != collections["again"].planned.corpus


def test_a_stage_of_other_splits_is_left_out(tmp_path):
    steps = planned(tmp_path, SUITE.replace("documents: 8", "documents: 8, split: dev")).steps.values()
    assert [step.subject for step in steps if step.kind == "make"] == [
        "join-paragraphs (limit=300)",
        "join-paragraphs (limit=500)",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{of: mien, make: [strip-titles]}", "unknown dataset 'mien'; did you mean 'mine'"),
        ("{of: odd, make: [strip-titles]}", "'odd' is made of itself"),
        ("{of: raw, make: [strip-title]}", "unknown maker 'strip-title'; did you mean 'strip-titles'"),
        ("{of: raw, make: [{join-paragraphs: {limt: 2}}]}", "did you mean 'limit'"),
        ("{of: raw, make: []}", "name at least one maker"),
        ("{of: raw}", "'make' is missing"),
        ("{make: [strip-titles]}", "'of' is missing"),
        ("{of: raw/tset/x, make: [strip-titles]}", "unknown dataset 'raw/tset'"),
        ("{of: raw, make: [strip-titles], split: dev}", "unknown key 'split'"),
    ],
)
def test_what_is_wrong_with_a_made_dataset_is_said_with_its_place(line, message, tmp_path):
    text = problem(tmp_path, line)
    assert message in text
    assert "suite.yaml:7" in text
