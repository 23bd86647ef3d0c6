"""What the Ray engine does where nodes are full or missing, by a Ray that only says so."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from step_samples import COST, FACTS, INDEX, METHOD, alone, changed, ref, step

pytest.importorskip("ray")
pytestmark = pytest.mark.extras

from harness import steps  # noqa: E402
from harness.errors import HarnessError, StoreError  # noqa: E402
from harness.execution import open_dataset, parts, ray_worker, ray_workers, requests  # noqa: E402
from harness.execution.engine import Result  # noqa: E402
from harness.execution.progress import Reporter  # noqa: E402
from harness.execution.ray_worker import RayWorker  # noqa: E402
from harness.execution.ray_workers import NODE, RayWorkers  # noqa: E402
from harness.store.artifacts import Store  # noqa: E402
from harness.store.manifest import Corrupt  # noqa: E402
from harness.store.remote import Remote  # noqa: E402

LONG = 120  # seconds until a test gives up, whatever else the machine does
FULL = "no space left on the device"
STEP = alone(method=structs.replace(METHOD, resources={"gpus": 2}))
REQUEST = requests.encode(requests.Execute(STEP.id, INDEX))


class Crowded:
    """A Ray of two nodes, on which no actor gets a place."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}

    def init(self, **options: Any) -> None: ...

    def nodes(self) -> list[dict[str, Any]]:
        names = (("head", 0, 0), ("a", 4, 0), ("b", 4, 2), ("c", 4, 2))
        return [{"NodeID": name, "Alive": True, "Resources": {"CPU": cores, "GPU": gpus}}
                for name, cores, gpus in names]  # fmt: skip

    def remote(self, actor: type) -> Any:
        def options(**given: Any) -> Any:
            self.options = given
            begin = SimpleNamespace(remote=lambda: "a promise")
            return SimpleNamespace(remote=lambda settings: SimpleNamespace(begin=begin))

        return SimpleNamespace(options=options)

    def wait(self, promises: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return [], promises


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Crowded:
    ray = Crowded()
    for module in (ray_worker, ray_workers):
        monkeypatch.setattr(module, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return ray


@pytest.fixture
def workers(crowded: Crowded, tmp_path: Path) -> RayWorkers:
    return RayWorkers(Store(tmp_path).open(), None, None)


@pytest.mark.parametrize(("slow", "words"), [(2, None), (99, "this machine may be too busy")])
def test_a_cluster_that_starts_too_slowly_is_started_again(
    crowded: Crowded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: int, words: str | None
) -> None:
    calls: list[str] = []

    def init(**options: Any) -> None:
        calls.append("init")
        if calls.count("init") <= slow:
            raise Exception("The current node timed out during startup. This could happen because")

    monkeypatch.setattr(crowded, "init", init)
    monkeypatch.setattr(crowded, "shutdown", lambda: calls.append("shutdown"), raising=False)
    if words is None:
        RayWorkers(Store(tmp_path).open(), None, None)
        assert calls == ["init", "shutdown"] * slow + ["init"]
        return
    with pytest.raises(HarnessError, match=words):
        RayWorkers(Store(tmp_path).open(), None, None)
    assert calls == ["init", "shutdown"] * ray_workers.STARTS


def test_a_node_with_a_full_disk_gets_no_further_actor(workers: RayWorkers, crowded: Crowded) -> None:
    workers.start(STEP)
    assert crowded.options["label_selector"] == {}
    workers.avoid("a", FULL)
    workers.start(STEP)
    assert crowded.options["label_selector"] == {NODE: "!in(a)"}
    assert crowded.options["num_gpus"] == 2


def test_a_part_gets_the_resources_of_its_step(workers: RayWorkers) -> None:
    _, [part, _] = parts.cut(STEP, 2)
    assert workers.resources(part) == workers.resources(STEP)
    assert workers.resources(part).gpus == 2


def test_parts_of_an_earlier_run_are_done_unless_the_run_is_fresh(crowded: Crowded, tmp_path: Path) -> None:
    _, [part, _] = parts.cut(STEP, 2)
    for fresh in (False, True):
        store = Store(tmp_path / f"{fresh}").open()
        store.remote = Remote((tmp_path / "remote").as_uri())
        with store.claim(part.id, lambda: None) as folder:
            assert folder is not None
            store.finish(part.id, part.record.keyed, FACTS, COST)
        store.remote.push(store, part.id)
        workers = RayWorkers(store, None, None, fresh=fresh)
        assert workers.has_part(part.id) is not fresh
        workers.done(part)
        assert workers.has_part(part.id)


def test_the_stores_of_nodes_are_for_one_run_if_it_is_fresh_or_starts_its_own_ray(
    crowded: Crowded, tmp_path: Path
) -> None:
    for address, fresh, one_run in ((None, False, True), ("auto", True, True), ("auto", False, False)):
        workers = RayWorkers(Store(tmp_path).open(), address, None, fresh=fresh)
        assert workers.settings(workers.resources(STEP)).one_run is one_run


def test_what_a_node_has_pushed_is_verified_here_and_not_pushed_again(
    crowded: Crowded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, store = Store(tmp_path / "node").open(), Store(tmp_path / "here").open()
    remote = node.remote = store.remote = Remote((tmp_path / "remote").as_uri())
    remote.replace = True
    made(node, STEP.id)
    remote.push(node, STEP.id)
    workers = RayWorkers(store, None, None, fresh=True)

    class Done:
        """An engine whose only step is done by a node."""

        def __init__(self, *_: object) -> None: ...

        def run(self, targets: list[str]) -> Result:
            workers.done(STEP)
            return Result((STEP.id,), {})

    monkeypatch.setattr(open_dataset, "Engine", Done)
    writes: list[str] = []
    monkeypatch.setattr(Remote, "_write", lambda self, path, data: writes.append(path))
    open_dataset.with_rebuilds({}, [], lambda failures: None, store, Reporter(), workers=workers)
    assert store.read(STEP.id).files.keys() == {"file"}
    assert writes == []
    store.discard(STEP.id)
    remote.forget(STEP.id)
    with pytest.raises(Corrupt, match="has lost what it had pushed"):
        workers.done(STEP)
    assert not workers.has_pushed(STEP.id)


def test_the_run_stops_when_no_node_is_left(workers: RayWorkers) -> None:
    workers.avoid("a", FULL)
    workers.avoid("b", FULL)
    with pytest.raises(StoreError, match=f"no node can work; the last one: {FULL}"):
        workers.avoid("c", FULL)


def test_an_actor_that_is_on_a_full_node_already_gets_no_further_step(
    workers: RayWorkers, crowded: Crowded, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = workers.start(STEP)
    assert isinstance(worker, RayWorker)
    assert workers.fits(worker, STEP)
    monkeypatch.setattr(crowded, "wait", lambda promises, timeout: (promises, []))
    monkeypatch.setattr(crowded, "get", lambda promise: ("host", "b", None, False), raising=False)
    workers.avoid("b", FULL)
    worker.send(REQUEST)
    event = worker.event(None)
    assert event == {"event": "gone", "reason": "the node host gets no more steps", "unfit": True}
    assert not workers.fits(worker, STEP)


def test_a_step_whose_nodes_are_all_full_does_not_wait_for_ever(workers: RayWorkers) -> None:
    workers.avoid("b", FULL)
    workers.start(STEP)
    workers.avoid("c", FULL)
    with pytest.raises(StoreError, match=r"no node with cpus: 1, gpus: 2 can work; the last one: " + FULL):
        workers.start(STEP)


def test_a_step_that_waits_for_a_place_is_reported_once(
    workers: RayWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_worker, "PLACE_SECONDS", 0.0)
    worker = workers.start(STEP)
    assert isinstance(worker, RayWorker)
    worker.send(REQUEST)
    assert worker.event(None) == {"event": "note", "text": "waits for a node with cpus: 1, gpus: 2"}
    assert worker.event(0.0) is None


def made(store: Store, step: str, content: bytes = b"contents") -> None:
    with store.claim(step, lambda: None) as folder:
        assert folder is not None
        (folder / "file").write_bytes(content)
        store.finish(step, INDEX.keyed, FACTS, COST)


@pytest.fixture
def sharing(crowded: Crowded, tmp_path: Path) -> RayWorkers:
    """Workers whose store has the artifact of STEP and a remote without it."""
    store = Store(tmp_path / "here").open()
    store.remote = Remote((tmp_path / "remote").as_uri())
    made(store, STEP.id)
    return RayWorkers(store, None, None)


def test_an_artifact_that_one_thread_is_pushing_is_waited_for_by_the_others(
    sharing: RayWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = sharing.store.remote
    assert remote is not None
    push, begun, go_on = remote.push, threading.Event(), threading.Event()
    pushes: list[str] = []

    def slow(store: Store, step: str) -> bool:
        pushes.append(step)
        begun.set()
        assert go_on.wait(LONG)
        return push(store, step)

    monkeypatch.setattr(remote, "push", slow)
    offered: list[tuple[bool, bool]] = []  # what `offer` returned, and whether the remote then had it
    first, second = (
        threading.Thread(target=lambda: offered.append((sharing.offer(STEP.id), remote.has(STEP.id))))
        for _ in range(2)
    )
    first.start()
    assert begun.wait(LONG)
    pushed_already = sharing.has_pushed(STEP.id)
    second.start()
    go_on.set()
    for thread in (first, second):
        thread.join(LONG)
    assert not pushed_already
    assert sorted(offered) == [(False, True), (True, True)]
    assert pushes == [STEP.id]


def test_an_artifact_that_is_damaged_in_the_remote_is_pushed_again_when_a_node_misses_it(
    sharing: RayWorkers, tmp_path: Path
) -> None:
    remote, node = sharing.store.remote, Store(tmp_path / "node").open()
    assert remote is not None
    assert remote.push(sharing.store, STEP.id)
    for piece in (tmp_path / "remote" / "pieces").rglob("*"):
        if piece.is_file():
            piece.write_bytes(b"damage")
    assert not sharing.offer(STEP.id)  # the remote seems to have it
    assert not remote.fetch(node, STEP.id, lambda text: None)
    assert sharing.offer(STEP.id, missed=True)
    assert remote.fetch(node, STEP.id, lambda text: None)
    assert sharing.offer(STEP.id, missed=True)  # another node looked too early
    assert not sharing.offer(STEP.id)


def test_an_input_that_is_damaged_here_is_reported_to_be_made_again(sharing: RayWorkers) -> None:
    (sharing.store.artifacts / STEP.id / "file").write_bytes(b"damaged!")
    search = step(changed(steps.Search, index=ref(STEP.id)))
    worker = sharing.start(search)
    worker.send(requests.encode(requests.Execute(search.id, search.record)))  # type: ignore[arg-type]
    assert worker.event(None) == {"event": "corrupt", "step": STEP.id, "reason": "'file' was changed"}
