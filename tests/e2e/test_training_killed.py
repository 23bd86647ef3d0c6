"""A suite whose trainings are killed makes the models that it makes undisturbed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_training import collection, written

from harness import run

pytestmark = pytest.mark.extras
pytest.importorskip("torch")
pytest.importorskip("transformers")

LONGER = {"init: ./tiny, epochs: 1": "init: ./tiny, epochs: 10"}  # so that there is a middle to be killed in


@pytest.fixture
def folder(tmp_path):
    return collection(tmp_path)


def model_bytes(store: Path) -> dict[str, bytes]:
    return {
        f"{path.parents[1].name}": path.read_bytes()
        for path in sorted(store.glob("artifacts/train-*/model/model.safetensors"))
    }


def killed_after(folder: Path, store: str, seconds: float) -> None:
    """Run the suite and kill it, and all that it has started, after a training has begun."""
    command = [sys.executable, "-m", "harness", "run", "suite.yaml", "--store", store, "--only", "reranked"]
    started = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 250
    while not list((folder / store).glob("partial/train-*/files/state/*.state")):
        if started.poll() is not None or time.monotonic() > deadline:
            break
        time.sleep(0.005)
    time.sleep(seconds)
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def test_a_killed_training_of_a_suite_ends_in_the_same_bytes(folder):
    path = written(folder, **LONGER)
    run(path, store=folder / "whole", only=["reranked"], quiet=True)
    killed_after(folder, "killed", 0)
    run(path, store=folder / "killed", only=["reranked"], quiet=True)
    assert len(model_bytes(folder / "whole")) == 1
    assert model_bytes(folder / "killed") == model_bytes(folder / "whole")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_training_that_is_killed_again_and_again_ends_in_the_same_bytes(folder):
    path = written(folder, **LONGER)
    run(path, store=folder / "whole", only=["reranked"], quiet=True)
    for number in range(20):
        killed_after(folder, "killed", 0.03 * number)
    run(path, store=folder / "killed", only=["reranked"], quiet=True)
    assert model_bytes(folder / "killed") == model_bytes(folder / "whole")
