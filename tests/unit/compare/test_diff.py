"""`harness diff`: what was changed between two leaderboards, and what that did to each row."""

import numpy as np
import orjson
import pytest
from made_boards import board, values

from harness.cli import main
from harness.compare.data import Filters
from harness.compare.diff import diff
from harness.compare.diff_text import render


def step(name, kind="search", **changes):
    return {
        "step": kind, "key": "k", "name": name, "version": "1", "sources": None, "libraries": {}, "params": {},
        "plugin": "p 1", **changes,
    }  # fmt: skip


def made(folder, systems, steps=None, **changes):
    """A leaderboard whose means are those of its values; `steps` are the steps of systems by name."""
    folder.mkdir()
    board(folder, systems, **changes)
    path = folder / "leaderboard.json"
    content = orjson.loads(path.read_bytes())
    for row in content["rows"]:
        row["provenance"]["steps"] = (steps or {}).get(row["system"], [])
        for label in row["measures"]:
            row["measures"][label]["mean"] = float(np.mean(systems[row["system"]][label]))
    path.write_bytes(orjson.dumps(content))
    return folder


@pytest.fixture
def pair(tmp_path):
    """k1 was changed: `bm25` and what is built on it rose; `other` is as it was."""
    old = {"bm25": values(1), "fused": values(2), "other": values(3)}
    new = old | {"bm25": values(1) + 0.2, "fused": values(2) + 0.0001 * values(4)}
    k1 = [{name: [step("bm25", params={"k1": k1})] for name in ("bm25", "fused")} for k1 in (0.9, 1.2)]
    folders = tmp_path / "before", tmp_path / "after"
    for folder, systems, steps in zip(folders, (old, new), k1, strict=True):
        made(folder, {name: {"nDCG@10": column} for name, column in systems.items()}, steps)
    return folders


def test_a_changed_parameter_is_told_once_with_the_systems_that_have_it(pair):
    assert diff(pair).changes == (("bm25: k1 0.9 -> 1.2", ("bm25", "fused")),)


def test_rows_that_moved_have_intervals_and_the_others_are_counted(pair):
    differences = diff(pair)
    bm25, fused = differences.moved
    assert (bm25.system, fused.system) == ("bm25", "fused")
    assert bm25.comparison.difference == pytest.approx(0.2)
    assert bm25.comparison.interval[0] > 0
    assert differences.same == 1
    assert "0.2" not in f"{fused.comparison.difference:.1f}"


def test_the_screen_has_changes_rows_and_what_the_daggers_mean(pair, capsys):
    assert main(["diff", str(pair[0]), str(pair[1])]) == 0
    text = capsys.readouterr().out
    assert "  bm25: k1 0.9 -> 1.2  (in bm25, fused)" in text
    assert "+0.2000†" in text
    assert "1 row has the same numbers in both." in text
    assert "† and ‡ mark a difference that is significantly above and below 0" in text
    assert len(text.splitlines()) < 24


def test_json_has_every_number(pair, capsys):
    assert main(["diff", str(pair[0]), str(pair[1]), "--format", "json"]) == 0
    data = orjson.loads(capsys.readouterr().out)
    assert data["moved"][0]["comparison"]["won"] == 40
    assert data["changes"][0]["systems"] == ["bm25", "fused"]


def test_a_leaderboard_differs_from_itself_in_nothing(pair):
    differences = diff((pair[0], pair[0]))
    assert (differences.changes, differences.moved, differences.same) == ((), (), 3)
    assert "Nothing that decides about a number was changed." in render(differences, "table")


def test_rows_that_came_went_and_failed_are_named(tmp_path):
    one = made(
        tmp_path / "a", {"x": {"RR": values(1)}, "gone": {"RR": values(2)}, "broke": {"RR": values(3)}}
    )
    other = made(tmp_path / "b", {"x": {"RR": values(1)}, "new": {"RR": values(2)}, "broke": None})
    differences = diff((one, other))
    assert differences.came == ("d / new",)
    assert differences.went == ("d / gone", "d / broke (failed: no)")


def test_other_methods_libraries_and_edited_sources_are_named(tmp_path):
    column = {"x": {"RR": values(1)}, "y": {"RR": values(2)}}
    before = {
        "x": [step("bm25"), step("sdm", "rerank")],
        "y": [step("m", libraries={"torch": "1"}, sources="s")],
    }
    after = {"x": [step("bm25")], "y": [step("m", libraries={"torch": "2"}, sources="t")]}
    differences = diff((made(tmp_path / "a", column, before), made(tmp_path / "b", column, after)))
    assert [text for text, _ in differences.changes] == [
        "without sdm (rerank)", "torch 1 -> 2", "m: its sources were edited",
    ]  # fmt: skip


def test_settings_of_the_suite_and_counts_of_datasets_are_changes(tmp_path):
    column = {"x": {"RR": values(1)}}
    one = made(tmp_path / "a", column, suite={"depth": 100}, block={"counts": {"queries": 40}})
    other = made(tmp_path / "b", column, suite={"depth": 200}, block={"counts": {"queries": 41}})
    assert [text for text, _ in diff((one, other)).changes] == ["depth 100 -> 200", "d: queries 40 -> 41"]


def test_numbers_on_other_data_are_not_compared(tmp_path):
    other_corpus = {"contents": {"corpus": "x" * 64, "judgements": "j" * 64}, "digests": {"corpus": "x" * 64}}
    one = made(tmp_path / "a", {"x": {"RR": values(1)}})
    other = made(tmp_path / "b", {"x": {"RR": values(2)}}, block=other_corpus)
    differences = diff((one, other))
    assert differences.moved == ()
    assert "corpus (xxxxxxxxxxxx" in differences.refused[0]
    assert "not compared: " in render(differences, "table")


def test_numbers_by_other_protocols_are_not_compared(tmp_path):
    one = made(tmp_path / "a", {"x": {"RR": values(1)}})
    other = made(tmp_path / "b", {"x": {"RR": values(2)}}, suite={"protocol": "dapr"})
    differences = diff((one, other))
    assert differences.moved == ()
    assert differences.refused == ("the protocols differ, so no number is compared",)


def test_without_values_per_query_means_are_shown_without_intervals(pair):
    for path in (pair[0] / "per-query").rglob("*.tsv"):
        path.unlink()
    differences = diff(pair)
    assert [item.comparison for item in differences.moved] == [None, None]
    assert "without intervals: " in differences.notes[0]


def test_patterns_choose_rows_and_what_matches_nothing_is_refused(pair, capsys):
    assert [item.system for item in diff(pair, Filters(systems=("fus*",))).moved] == ["fused"]
    assert main(["diff", str(pair[0]), str(pair[1]), "--measure", "R@1"]) == 2
    assert "--measure R@1: matches no measure" in capsys.readouterr().err
