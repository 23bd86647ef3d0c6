"""What a worker tells its parent of an error: a step whose input was removed meanwhile is done again."""

import os
from contextvars import copy_context
from pathlib import Path

import orjson
import pytest
from step_samples import COST, FACTS, changed, ref

from harness.errors import ContractError, HarnessError
from harness.execution import executors, worker_main
from harness.execution.requests import CountBlocks, Execute
from harness.execution.worker_handle import Child
from harness.step_context import CURRENT, Converted, StepContext
from harness.steps import Label
from harness.store.artifacts import Store

CORPUS, INDEX = "corpus-" + "0" * 64, "index-" + "1" * 64
REQUEST = Execute(
    "label-1", changed(Label, hits=ref(CORPUS), corpus=ref(CORPUS), queries=ref(CORPUS)), (INDEX,)
)


def make(store: Store, step: str) -> None:
    with store.claim(step, lambda: None) as folder:
        assert folder is not None
        (folder / "file").write_text("contents")
        store.finish(step, {}, FACTS, COST)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path).open()
    for step in (CORPUS, INDEX):
        make(store, step)
    return store


def told(error: BaseException, store: Store, inputs: dict[str, worker_main.Stamp]) -> dict[str, object]:
    read, write = os.pipe()
    line = worker_main.Line(write)
    worker_main._tell(error, store, line, inputs)
    line._out.close()
    with os.fdopen(read, "rb") as events:
        return orjson.loads(events.read())


@pytest.mark.parametrize(
    "error", [IndexError(0), ContractError("no hits"), HarnessError("no file"), OSError(2, "x")]
)
@pytest.mark.parametrize("lost", [CORPUS, INDEX])
@pytest.mark.parametrize("again", [False, True], ids=["removed", "made again"])
def test_any_error_of_a_step_whose_input_was_removed_has_the_step_done_again(
    store: Store, error: Exception, lost: str, again: bool
) -> None:
    inputs = store.stamps(REQUEST.reads)
    store.discard(lost)
    if again:
        make(store, lost)
    event = {"event": "corrupt", "step": lost, "reason": "it was removed while it was read"}
    assert told(error, store, inputs) == event


def test_an_error_of_a_step_whose_inputs_stayed_is_its_own(store: Store) -> None:
    inputs = store.stamps(REQUEST.reads)
    assert set(inputs) == {CORPUS, INDEX}
    store.touch(CORPUS)
    assert told(IndexError("of its own"), store, inputs)["reason"] == "IndexError: of its own"
    assert told(HarnessError("no file"), store, inputs) == {
        "event": "failed",
        "reason": "no file",
        "user": True,
    }


def test_inputs_that_are_absent_are_no_error(store: Store) -> None:
    store.discard(CORPUS)
    assert set(store.stamps(REQUEST.reads)) == {INDEX}


def test_a_request_that_the_worker_does_not_know_fails_at_once(store: Store) -> None:
    child = Child(store, 1)
    try:
        child.send(b'{"type": "execute", "step": "weave-1", "record": {"kind": "weave"}}')
        event = child.event(60)
    finally:
        child.close()
    assert event["event"] == "failed"
    assert "weave" in event["reason"]


def test_what_counts_the_blocks_of_a_step_runs_in_the_step_s_context(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[StepContext] = []

    def blocks(task: object) -> int:
        seen.append(CURRENT.get())
        return 1

    monkeypatch.setattr(executors, "blocks", blocks)
    with (tmp_path / "events").open("wb") as events:
        line = worker_main.Line(os.dup(events.fileno()))
        request = CountBlocks("label-1", changed(Label))
        copy_context().run(worker_main._do, request, store, None, line, {})
        line._out.close()
    converted = Converted(store.converted, store.digests.folder, set())
    assert seen == [StepContext("label-1", store.responses, converted=converted, unkeyed=set())]
