"""Artifacts that are gone from the store, as a lost disk block or a kill leaves it, are each made once."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from running import EVERYTHING, Harness, results

# an index that takes a while, so that an analysis that did not wait for it would be tried again and again
SLOW = {"retriever": {"overlap": {"seconds": 0.5}}}
SUITE = {
    **EVERYTHING,
    "systems": {**EVERYTHING["systems"], "plain": SLOW},
    "analyses": ["levels", {"weights": {"steps": 2}}],
}


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, its store and its results."""
    place = Harness(tmp_path_factory.mktemp("finished"), here=True)
    place.suite(SUITE)
    ran = place.run()
    assert ran.code == 0, ran.err
    return place.folder


def check_remade(place: Harness, finished_store: Path, jobs: int, removed: list[Path]) -> None:
    shutil.copytree(finished_store, place.folder, dirs_exist_ok=True)
    for folder in removed:
        shutil.rmtree(place.store / "artifacts" / folder.name)
    ran = place.run("suite.yaml", "--jobs", str(jobs))
    assert ran.code == 0, ran.err
    assert "FAILED" not in ran.err  # not even for a while
    assert results(place.out) == results(Harness(finished_store).out)
    notes = Counter(line for line in ran.err.splitlines() if line.endswith("; it is made again"))
    assert not [line for line in notes if "manifest" in line or "changed" in line], ran.err
    assert not [line for line, count in notes.items() if count > 1], ran.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_analyses_read_beside_their_inputs_is_made_once(
    harness: Harness, finished_store: Path, jobs: int
) -> None:
    stored = Harness(finished_store).store / "artifacts"
    removed = [path for kind in ("index", "analyse") for path in sorted(stored.glob(f"{kind}-*"))]
    check_remade(harness, finished_store, jobs, removed)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_any_half_of_the_artifacts_can_be_lost(
    harness: Harness, finished_store: Path, jobs: int, seed: int
) -> None:
    stored = sorted((Harness(finished_store).store / "artifacts").iterdir())
    check_remade(harness, finished_store, jobs, random.Random(seed).sample(stored, len(stored) // 2))
