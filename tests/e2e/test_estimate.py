"""`--dry-run --estimate`: from what steps have cost, for sizes that were not run; and what cannot fit."""

from __future__ import annotations

import collections
import shutil
from typing import Any

import pytest
from running import Harness

Usage = collections.namedtuple("Usage", "total used free")


def suite(documents: int) -> dict[str, Any]:
    return {
        "suite": "estimate",
        "datasets": {"toy": {"toy": {"documents": documents}}},
        "systems": {
            "plain": {"context": ["shout"], "retriever": "overlap"},
            "short": {"of": "plain", "rerank": {"length": {}, "depth": 5}},
        },
        "measures": ["nDCG@10"],
    }


def test_steps_that_never_ran_are_marked_and_others_are_estimated(harness: Harness) -> None:
    harness.suite(suite(20))
    first = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert first.code == 0, first.err
    assert "4 steps to do" in first.out
    assert "4 steps are of methods that have not run here" in first.out
    assert harness.run("suite.yaml").code == 0
    harness.suite(suite(40))
    second = harness.command(
        "run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate", "--jobs", "2"
    )
    assert second.code == 0, second.err
    assert "?" not in second.out
    assert "with 2 at once at least" in second.out


def test_what_the_disk_cannot_hold_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.suite(suite(20))
    assert harness.run("suite.yaml").code == 0
    harness.suite(suite(40))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 1100, 1100))
    monkeypatch.setattr("harness.store.disk.NEARLY_FULL", 0)
    ran = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert ran.code == 2
    assert "are to be written" in ran.err
    assert "Traceback" not in ran.err


def test_an_estimate_is_of_a_dry_run(harness: Harness) -> None:
    harness.suite(suite(20))
    ran = harness.command("run", "suite.yaml", "--store", harness.store, "--estimate")
    assert ran.code == 2
    assert "add --dry-run" in ran.err
