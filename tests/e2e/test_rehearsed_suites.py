"""Every committed suite runs to its last row on stand-ins of its data and models, downloaded cold as the real ones are.

Each case writes what it found below .pytest_cache/rehearsal; tools/rehearsed.py makes the table of it.
"""

import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import pytest
import yaml
from running import COMMAND

import rehearsed
from harness.leaderboard.model import Board
from rehearsed import SUITES

pytestmark = [pytest.mark.slow, pytest.mark.extras]
NEEDED = (
    "huggingface_hub",
    "ir_datasets",
    "onnxruntime",
    "pyserini",
    "spacy",
    "tokenizers",
    "torch",
    "transformers",
)
EXPECTED = rehearsed.expected()
FETCHED = {"dapr", "t2ranking"}  # datasets that `harness datasets fetch` downloads


class Served(NamedTuple):
    world: Any
    hub: Any
    proxy: Any
    store: Path  # which all suites share


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    for name in NEEDED:
        pytest.importorskip(name)
    from standins.data.addresses import Proxy
    from standins.data.world import world
    from standins.server import HubServer

    made = world(tmp_path_factory.mktemp("world"))
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with HubServer(made.hub) as hub, Proxy(made.downloads, made.certificate) as proxy:
        yield Served(made, hub, proxy, shared / "rehearsal-store")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_a_committed_suite_runs_to_its_last_row(path: Path, served: Served, tmp_path: Path):
    text = path.read_text(encoding="utf-8")
    name, written = path.parent.name, yaml.safe_load(text)
    variables = {
        **{key: value for key, value in os.environ.items() if f"{{{key}:-" not in text},
        **served.hub.env, **served.proxy.env, **served.world.variables(text, tmp_path / "cold"),
        "HF_HOME": str(tmp_path / "hf"), "IR_DATASETS_HOME": str(tmp_path / "ir"),
        "PYTHONPATH": str(served.world.packages),
    }  # fmt: skip
    before, start, busy = len(served.hub.requests), time.monotonic(), processors()
    fetched = [
        key
        for key, chosen in written["datasets"].items()
        if isinstance(chosen, dict) and FETCHED & set(chosen)
    ]
    whole = len(fetched) == len(written["datasets"])
    for target in [path] if whole else [f"{path}#{dataset}" for dataset in fetched]:
        ran = command(tmp_path, variables, "datasets", "fetch", target)
        assert ran.returncode == 0, ran.stderr
    ran = command(tmp_path, variables, "run", path, "--store", served.store, "--out", tmp_path / "out")
    times = time.monotonic() - start, processors() - busy
    assert ran.returncode in (0, 1), ran.stderr
    board = msgspec.json.decode((tmp_path / "out" / "leaderboard.json").read_bytes(), type=Board)
    rows = rehearsed.planned(path)
    failed = {f"{row.dataset} / {row.system}": row.error for row in board.rows if row.status != "ok"}
    asked = served.hub.requests[before:]
    given = [served.hub.blobs[each.rpartition("/")[2]] for each in asked if each.startswith("GET cdn/")]
    loaded = {
        "/".join(path.relative_to(served.world.hub / "models").parts[:2]) for path in given if weights(path)
    }
    rehearsed.keep(name, rehearsed.result(rows, failed), times, sorted(loaded))

    assert sorted(f"{row.dataset} / {row.system}" for row in board.rows) == rows
    assert {f"{name} / {row}" for row in failed} == {
        row for row in EXPECTED if row.startswith(f"{name} / ")
    }, failed
    analyses = board.analyses or ()
    averages = {average.name: average for average in board.averages or ()}
    assert set(averages) == set(written.get("averages", ()))
    assert all(row.measures for average in averages.values() for row in average.rows)
    assert [finding.rows for finding in analyses if "failed" in finding.flags] == []
    found = {finding.name.partition("/")[0] for finding in analyses}
    assert {
        next(iter(each)) if isinstance(each, dict) else each for each in written.get("analyses", ())
    } <= found
    if "dapr" in text.partition("systems:")[0] and whole:
        commit = re.compile(r"read from UKPLab/dapr at [0-9a-f]{40}")
        assert all(any(map(commit.search, each.notes or ())) for each in board.datasets)
    assert served.proxy.hosts <= {urlsplit(address).hostname for address in served.world.downloads}
    assert rehearsed.record().get(name) == rehearsed.result(rows, failed), "run tools/rehearsed.py --write"


def weights(path: Path) -> bool:
    return path.suffix in (".bin", ".safetensors")


def processors() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(folder: Path, variables: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    arguments = [*COMMAND, *map(str, words)]
    return subprocess.run(arguments, cwd=folder, env=variables, capture_output=True, text=True, timeout=550)
