"""Each committed leaderboard is of its suite as it stands: rows, datasets, rules and parameters, and the real data."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from running import Harness

import rehearsed
from harness import catalogue, suite
from harness.leaderboard import board_file, model
from harness.running import preparation, provenance, rows
from harness.store.artifacts import Store

BOARDS = [path.parent for path in rehearsed.SUITES if (path.parent / board_file.FILE).exists()]
STALE = {  # a suite that was changed after its leaderboard was made -> what differs; run it again on a free machine
    "neural-en": {
        "suite",
        "dataset scifact",
        "dataset xquad-en",
    },  # SciFact was files; other places of the data
    "neural-zh": {"suite", "dataset xquad-zh", "dataset dureader2-demo"},  # other places of the data
    "training-zh-joint": {"suite"},  # has an analysis now
}
METHODS = ("augment", "rewrite", "index", "search", "combine", "rerank", "tune")


def methods(steps: Iterable[model.Step]) -> dict[tuple[str, str], list[model.Step]]:
    found: dict[tuple[str, str], list[model.Step]] = {}
    for step in steps:
        if step.step in METHODS:
            found.setdefault((step.step, step.name), []).append(step)
    return found


def changed(planned: Iterable[model.Step], made: Iterable[model.Step]) -> set[str]:
    """The methods that differ, and the parameters that the plan sets otherwise."""
    new, old = methods(planned), methods(made)
    found = {f"{kind} {name}" for kind, name in new.keys() ^ old.keys()}
    for step, name in new.keys() & old.keys():
        params = [item[step, name][0].params for item in (new, old)]
        if len(new[step, name]) + len(old[step, name]) > 2 or "auto" in params[0].values():
            continue  # of several, the order depends on keys; what follows from a model needs the model
        for key in params[0].keys() & params[1].keys():
            planned_value, value = (item[key] for item in params)
            # a folder's model is known by its digest, also where the suite names one of the hub by default
            elsewhere = isinstance(planned_value, dict) or isinstance(value, dict)
            if value != planned_value and not elsewhere and not str(value).startswith(("made:", "tuned:")):
                found.add(f"{step} {name}.{key}: {value!r}, the suite says {planned_value!r}")
    return found


def differences(folder: Path, store: Path) -> set[str]:
    board, known = board_file.read(folder).data, catalogue.load()
    loaded = suite.load(folder / "suite.yaml", known)
    plan = preparation.prepare(loaded, known, Store(store).open()).plan
    found = {"suite"} if loaded.digest != board.suite.digest else set()
    rules = ("depth", "seed", "protocol", "measures")
    found |= {name for name in rules if getattr(rows.suite_facts(loaded), name) != getattr(board.suite, name)}
    of_board = {item.name: item for item in board.datasets}
    for name, collection in plan.collections.items():
        item = rows.dataset_of(collection, None, ())
        for field in ("split", "plugin", "params", "language", "query_language"):
            if name in of_board and getattr(item, field) != getattr(of_board[name], field):
                found.add(f"dataset {name}")
    in_board = {(row.dataset, row.system): row for row in board.rows if row.origin == "run"}
    if in_board.keys() != {(row.dataset, row.system) for row in plan.rows}:
        return {*found, "rows"}
    for row in plan.rows:
        if row.hits is not None:
            steps = provenance.provenance(row, plan, provenance.lineage(row, plan).every).steps
            made = in_board[row.dataset, row.system].provenance.steps
            found |= {f"{row.system}: {text}" for text in changed(steps, made)}
    return found


@pytest.mark.extras
@pytest.mark.parametrize("folder", BOARDS, ids=lambda folder: folder.name)
def test_a_committed_leaderboard_is_of_its_suite(folder: Path, tmp_path: Path):
    if "mteb:" in (folder / "suite.yaml").read_text("utf-8"):
        pytest.importorskip("huggingface_hub")
    assert differences(folder, tmp_path) == STALE.get(folder.name, set())


def test_a_changed_suite_is_found(tmp_path: Path):
    folder = tmp_path / "tour"
    folder.mkdir()
    for name in ("suite.yaml", board_file.FILE):
        (folder / name).write_text((rehearsed.LEADERBOARDS / "tour" / name).read_text("utf-8"), "utf-8")
    path = folder / "suite.yaml"
    path.write_text(path.read_text("utf-8").replace("weight: 0.8", "weight: 0.7"), "utf-8")
    assert differences(folder, tmp_path / "store") == {
        "suite", "hierarchical: combine hierarchical.weight: 0.8, the suite says 0.7"
    }  # fmt: skip


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.extras
@pytest.mark.parametrize(
    "name", ["dapr-conditionalqa", "neural-en", "neural-zh", "scifact-lexical", "training-en"]
)
def test_the_real_data_gives_the_first_row_of_a_committed_leaderboard(
    name: str, harness: Harness, monkeypatch: pytest.MonkeyPatch
):
    if not (data := os.environ.get("HARNESS_REAL_DATA")) or not Path(data, "scifact").exists():
        pytest.skip("HARNESS_REAL_DATA names no folder that holds scifact")
    monkeypatch.setenv("HARNESS_SCIFACT", str(Path(data, "scifact")))
    committed = board_file.read(rehearsed.LEADERBOARDS / name)
    ran = harness.run(rehearsed.LEADERBOARDS / name / "suite.yaml", "--only", "bm25")
    assert ran.code == 0, ran.err
    again = board_file.read(harness.out)
    rows_by_name = {row.name: row for row in committed.rows}
    assert [row.measures for row in again.rows] == [rows_by_name[row.name].measures for row in again.rows]
    for dataset in again.data.datasets:
        assert dataset.contents == committed.dataset(dataset.name).contents
