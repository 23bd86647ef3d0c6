"""A node of a cluster: other versions and a store that it does not see are refused, with what to do."""

import dataclasses
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from step_samples import INDEX

from harness import catalogue
from harness.catalogue import Plugin
from harness.execution import node_versions, ray_node, requests
from harness.execution.ray_node import FOLDER, TOKEN, Node, Settings
from harness.store.artifacts import Store

VERSIONS = node_versions.here()


def settings(folder: Path, **changed: object) -> Settings:
    given = Settings(str(folder), "a token", None, 1, VERSIONS)
    return given._replace(**changed)


def test_the_same_versions_and_a_common_folder_are_accepted(tmp_path: Path) -> None:
    Store(tmp_path).open()
    (tmp_path / TOKEN).write_text("a token")
    assert Node(settings(tmp_path)).begin("0123") is None


def test_another_version_is_refused_with_both(tmp_path: Path) -> None:
    other = {**VERSIONS, "python": "2.7", "numba": "0.1", "a plugin": "1"}
    reason = Node(settings(tmp_path, versions=other)).begin("0123")
    assert reason is not None
    assert f"python {VERSIONS['python']} instead of 2.7" in reason
    assert f"numba {VERSIONS['numba']} instead of 0.1" in reason
    assert "a plugin absent instead of 1" in reason
    assert "install the same ones everywhere, or send code with --ship" in reason


def test_a_plugin_that_does_not_load_on_the_node_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = catalogue.load()
    lame = Plugin("lame", "harness_lame", "lame", "1", "ImportError: no module named 'legs'")
    monkeypatch.setattr(
        catalogue, "load", lambda: dataclasses.replace(loaded, plugins=(*loaded.plugins, lame))
    )
    reason = Node(settings(tmp_path, versions={**VERSIONS, "plugin harness_lame": "1"})).begin("0123")
    assert reason is not None
    assert "plugin harness_lame not loaded (ImportError: no module named 'legs') instead of 1" in reason


@pytest.mark.parametrize("token", [None, "of another run"])
def test_a_folder_that_is_not_the_engines_is_refused(tmp_path: Path, token: str | None) -> None:
    if token is not None:
        (tmp_path / TOKEN).write_text(token)
    reason = Node(settings(tmp_path)).begin("0123")
    assert reason is not None
    assert "does not see the store" in reason
    assert "--remote" in reason


def test_with_a_remote_a_node_has_a_store_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "nodes"))
    node = Node(settings(tmp_path / "absent", remote=(tmp_path / "remote").as_uri()))
    assert node.begin("0123456789abcdef0123") is None
    assert [path.name for path in (tmp_path / "nodes").iterdir()] == ["0123456789abcdef"]
    assert not (tmp_path / "absent").exists()


def test_in_a_fresh_run_a_node_uses_nothing_of_earlier_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "nodes"))
    given = settings(tmp_path / "absent", remote=(tmp_path / "remote").as_uri(), fresh=True, one_run=True)
    for token in ("one", "two", "two"):  # of two runs; two workers of the second one share a store
        node = Node(given._replace(token=token))
        assert node.begin("0123456789abcdef0123") is None
        assert node.remote is not None
        assert node.remote.replace
    names = ["0123456789abcdef-one", "0123456789abcdef-two"]
    assert sorted(path.name for path in (tmp_path / "nodes").iterdir()) == names


class Killed:
    """A worker process that somebody killed."""

    process = SimpleNamespace(returncode=-signal.SIGKILL)

    def __init__(self, store: Store, threads: int) -> None: ...

    def send(self, request: bytes) -> None: ...

    def event(self, timeout: float, memory: float | None) -> dict[str, str]:
        return {"event": "died"}

    def cause(self) -> str:
        return "its process was killed"

    def output(self) -> str:
        return ""

    kill = close = lambda self: None


@pytest.mark.parametrize(("parent", "event"), [("the same", "died"), ("none", "gone")])
def test_a_process_that_dies_with_its_node_is_not_blamed_on_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parent: str, event: str
) -> None:
    Store(tmp_path).open()
    (tmp_path / TOKEN).write_text("a token")
    monkeypatch.setattr(ray_node, "Child", Killed)
    monkeypatch.setattr(ray_node, "DYING_SECONDS", 0.0)
    node = Node(settings(tmp_path))
    assert node.begin("0123") is None
    if parent == "none":  # as after the end of the process that started this one
        monkeypatch.setattr(os, "getppid", lambda: 1)
        node.parent = 2
    events = list(node.serve(requests.encode(requests.Execute("index-0", INDEX)), None))
    assert [each["event"] for each in events] == [event]
    assert node.child is None
