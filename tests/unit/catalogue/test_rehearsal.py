"""What planning calls of a stranger's plugin is tried in a child, once for each code and parameters."""

import importlib
import os
import sys
from types import SimpleNamespace

import pytest

from harness.catalogue import collect, entry_points
from harness.catalogue.rehearsal import Rehearsals

PLUGIN = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from harness import hookimpl
from harness.records import Retriever

@dataclass(frozen=True)
class Params:
    how: str

def missing_files(params):
    with open({calls!r}, "a") as calls:
        calls.write(params.how + chr(10))
    if params.how == "leave":
        os._exit(0)
    if params.how == "hang":
        time.sleep(600)
    if params.how == "raise":
        raise ValueError
    return ()

@hookimpl
def harness_retrievers():
    yield Retriever(name="r", summary="s", build=Params, params=Params, missing_files=missing_files)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The retriever of a stranger's plugin, its parameters, and how often it was asked for missing files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    calls = tmp_path / "calls"
    (tmp_path / "rehearsed_plugin.py").write_text(PLUGIN.format(calls=str(calls)))
    metadata = tmp_path / "rehearsed-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[passage_harness]\nrehearsed = rehearsed_plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = collect(entry_points.find("passage_harness", [str(tmp_path)])).find("retrievers", "r")
    module = importlib.import_module("rehearsed_plugin")
    yield entry, module.Params, lambda: calls.read_text().split()
    sys.modules.pop("rehearsed_plugin")


@pytest.fixture
def rehearsals():
    made = Rehearsals(timeout=5)
    yield made
    made.close()


def test_calls_that_return_are_tried_once_for_a_code_and_parameters(plugin, rehearsals):
    entry, params, calls = plugin
    for code in ("a", "a", "b"):
        for how in ("well", "better"):
            assert rehearsals.crash_of(entry, code, params(how)) is None
    assert calls() == ["well", "better", "well", "better"]


def test_calls_that_raise_are_left_to_the_planner_and_not_remembered(plugin, rehearsals):
    entry, params, calls = plugin
    for _ in range(2):
        assert rehearsals.crash_of(entry, "a", params("raise")) is None
    assert calls() == ["raise", "raise"]


@pytest.mark.slow
def test_calls_that_end_or_hang_the_process_are_named_and_the_next_record_is_tried(plugin, rehearsals):
    entry, params, _ = plugin
    crash = rehearsals.crash_of(entry, "a", params("leave"))
    assert crash == "ended the process in missing_files while planning (exit code 0)"
    crash = rehearsals.crash_of(entry, "a", params("hang"))
    assert crash == "took longer than the timeout of 5 s in missing_files while planning"
    assert rehearsals.crash_of(entry, "a", params("well")) is None


def test_a_word_that_has_come_counts_though_the_time_is_over(rehearsals):
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as words:
        child = SimpleNamespace(stdout=words, poll=lambda: None)
        os.write(write, b"returned\n")
        assert rehearsals._word(child, 0) == "returned"  # as when this process got no core in time
        assert rehearsals._word(child, 0) is None
        os.close(write)


def test_our_own_plugins_need_no_child(plugin, rehearsals):
    entry, params, calls = plugin
    ours = entry._replace(plugin=entry.plugin._replace(distribution="passage-harness"))
    rehearsals.crash_of(entry, "a", params("well"))
    assert rehearsals.crash_of(ours, "a", params("leave")) is None
    assert calls() == ["well"]
