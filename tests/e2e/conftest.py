"""Fixtures of the end-to-end tests: the command in an empty folder, and the results of an undisturbed run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_s3 import KEYS, Faulty, served
from running import EVERYTHING, Harness, results


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """The command in an empty folder. `harness.suite(...)` writes a suite, `harness.run()` runs it in this
    process unless variables are set."""
    return Harness(tmp_path, here=True)


@pytest.fixture
def everything(harness: Harness) -> Harness:
    """The same, with a suite that has every kind of step."""
    harness.suite(EVERYTHING)
    return harness


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of that suite in a run without faults."""
    harness = Harness(tmp_path_factory.mktemp("undisturbed"), here=True)
    harness.suite(EVERYTHING)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return results(harness.out)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    """A server of S3 with an empty bucket, whose requests can be made to fail; the environment has its keys."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with served() as server:
        yield server
