"""Fixtures of the end-to-end tests: the command in an empty folder, and the results of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import EVERYTHING, Harness, results


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """The command in an empty folder. `harness.suite(...)` writes a suite, `harness.run()` runs it."""
    return Harness(tmp_path)


@pytest.fixture
def everything(harness: Harness) -> Harness:
    """The same, with a suite that has every kind of step."""
    harness.suite(EVERYTHING)
    return harness


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of that suite in a run without faults."""
    harness = Harness(tmp_path_factory.mktemp("undisturbed"))
    harness.suite(EVERYTHING)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return results(harness.out)
