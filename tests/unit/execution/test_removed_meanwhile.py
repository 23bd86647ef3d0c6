"""Scoring goes on when another run removes an artifact that it reads, and says its own errors otherwise."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from step_samples import COST, FACTS, alone

from harness import steps
from harness.errors import HarnessError, StoreError
from harness.execution import open_dataset
from harness.execution.progress import Reporter
from harness.execution.schedule import REBUILDS, Failure
from harness.store.artifacts import Store

STEP = alone(steps.ReadCorpus)


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def make(store: Store) -> None:
    with store.claim(STEP.id, lambda: None) as folder:
        assert folder is not None
        (folder / "file").write_text("contents")
        store.finish(STEP.id, {}, FACTS, COST)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path).open()
    make(store)
    return store


def removing(store: Store, times: int, error: Exception) -> object:
    """Reads the artifact, which another run removes and makes again while it is read for the first times."""
    left = [times]

    def read(failures: Mapping[str, Failure]) -> str:
        if left[0]:
            left[0] -= 1
            store.discard(STEP.id)
            make(store)
            raise error
        return (store.read(STEP.id).folder / "file").read_text()

    return read


@pytest.mark.parametrize("error", [IndexError(0), FileNotFoundError(2, "gone"), StoreError("cannot be read")])
def test_what_another_run_removes_is_read_again_whatever_went_wrong(store: Store, error: Exception) -> None:
    notes = Notes()
    read = removing(store, REBUILDS, error)
    assert open_dataset.with_rebuilds({STEP.id: STEP}, [STEP.id], read, store, notes) == "contents"
    assert notes.notes == [f"{STEP.label}: it was removed while it was read; it is made again"] * REBUILDS


def test_that_is_not_tried_without_end(store: Store) -> None:
    read = removing(store, REBUILDS + 1, IndexError(0))
    with pytest.raises(StoreError, match="again and again; check the disk"):
        open_dataset.with_rebuilds({STEP.id: STEP}, [STEP.id], read, store, Reporter())


def test_an_error_with_all_artifacts_in_their_places_is_raised(store: Store) -> None:
    def read(failures: Mapping[str, Failure]) -> None:
        store.touch(STEP.id)
        raise HarnessError("of its own")

    with pytest.raises(HarnessError, match="of its own"):
        open_dataset.with_rebuilds({STEP.id: STEP}, [STEP.id], read, store, Reporter())
