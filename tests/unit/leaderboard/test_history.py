"""A run that replaces a leaderboard keeps it and says what changed; runs of removed systems go."""

from pathlib import Path

import pytest
from msgspec import structs

from harness.cli import main
from harness.leaderboard import board_file, history
from harness.leaderboard.board_file import Leaderboard

TOUR = Path(__file__).parents[3] / "leaderboards" / "tour"
SUITE = """
suite: small
datasets: {{tour: {{tour: {{documents: 20}}}}}}
systems:
  bm25: {{retriever: {{bm25: {{k1: {k1}}}}}}}
  {other}: {{retriever: ql}}
measures: [nDCG@10]
depth: 20
"""


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """Runs a suite with this k1 and this name of the other system; returns what the command printed."""
    folder = tmp_path_factory.mktemp("edited")

    def once(capsys, k1, other):
        (folder / "suite.yaml").write_text(SUITE.format(k1=k1, other=other), encoding="utf-8")
        words = ["run", str(folder / "suite.yaml"), "--out", str(folder / "out")]
        assert main([*words, "--store", str(folder / "store")]) == 0
        return folder / "out", capsys.readouterr().out

    return once


def test_an_edited_suite_keeps_the_leaderboard_before_and_says_what_changed(edited, capsys):
    out, _ = edited(capsys, 0.9, "ql")
    first = board_file.read(out)
    assert not (out / history.FOLDER).exists()
    _, printed = edited(capsys, 0.9, "ql")
    assert "changed since" not in printed
    assert not (out / history.FOLDER).exists()
    _, printed = edited(capsys, 3.0, "likelihood")
    assert board_file.read(out / history.FOLDER / "leaderboard-1.json").data == first.data
    second = board_file.read(out)
    means = [board.rows[0].measures["nDCG@10"].mean for board in (first, second)]
    assert "tour / bm25: bm25: k1 0.9 -> 3.0" in printed
    assert f"nDCG@10 {means[0]:.4f} -> {means[1]:.4f}" in printed
    assert "tour / likelihood: is new" in printed
    assert "tour / ql: is gone" in printed
    assert not (out / "runs" / "tour" / "ql.run.gz").exists()
    assert not (out / "per-query" / "tour" / "ql.tsv").exists()
    assert (out / "runs" / "tour" / "likelihood.run.gz").is_file()


def test_of_a_method_whose_files_are_gone_only_that_is_said_once():
    row = board_file.read(TOUR).data.rows[0]
    step = row.provenance.steps[-1]

    def with_parameters(status, **params):
        steps = tuple(structs.replace(step, step=kind, params=params) for kind in ("index", "search"))
        return structs.replace(row, status=status, provenance=structs.replace(row.provenance, steps=steps))

    before = with_parameters("ok", model={"sha256": "a1"}, pooling="cls")
    after = with_parameters("failed", model={"missing": "/models/a"}, pooling="auto")
    changed = [*history._differences(before, after)]
    assert changed[:2] == [
        "fails now",
        f"{step.name}: model {{'sha256': 'a1'}} -> {{'missing': '/models/a'}}",
    ]
    assert not any("pooling" in text for text in changed)
    repaired = [*history._differences(after, before)]
    assert repaired[0] == "failed before"
    assert not any("pooling" in text for text in repaired)
    again = [*history._differences(before, with_parameters("ok", model={"sha256": "a1"}, pooling="mean"))]
    assert again == [f"{step.name}: pooling cls -> mean"]


def test_only_the_last_few_leaderboards_are_kept(tmp_path):
    read = board_file.read(TOUR)
    for number in range(history.KEPT + 2):
        before, after = (
            Leaderboard(structs.replace(read.data, description=str(n)), tmp_path)
            for n in (number, number + 1)
        )
        assert history.keep(before, after) == tmp_path / "previous" / f"leaderboard-{number + 1}.json"
    kept = sorted(path.name for path in (tmp_path / "previous").iterdir())
    assert kept == [f"leaderboard-{number}.json" for number in range(3, history.KEPT + 3)]
    assert history.keep(before, before) is None
