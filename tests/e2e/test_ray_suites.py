"""Committed suites by the local engine and by Ray on three nodes that share only an S3: the same bytes."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faulty_s3 import KEYS, Faulty, served
from ray_clusters import started
from running import Harness, results

pytest.importorskip("ray")
pytest.importorskip("moto")
pytestmark = [pytest.mark.slow, pytest.mark.extras, pytest.mark.timeout(3600)]

LEADERBOARDS = Path(__file__).parents[2] / "leaderboards"


class Lab(NamedTuple):
    cluster: Any
    s3: Faulty


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        with served() as s3, started(tmp_path_factory.mktemp("nodes"), 3) as cluster:
            yield Lab(cluster, s3)


def check(lab: Lab, folder: Path, suite: str, *options: str) -> None:
    """Run a suite by both engines, then as a second person who has only the S3."""
    remote = ["--remote", lab.s3.address(f"{suite}-{len(options)}")]
    ways = {
        "local": [],
        "ray": ["--engine", "ray", "--address", lab.cluster.address, *remote],
        "second": remote,
    }
    by_way = {}
    for name, way in ways.items():
        harness = Harness(folder / name)
        harness.folder.mkdir()
        ran = harness.run(LEADERBOARDS / suite / "suite.yaml", *way, *options, timeout=1000)
        assert ran.code == 0, ran.err
        by_way[name] = results(harness.out)
    assert " 0 to do" in ran.err
    assert by_way["ray"] == by_way["local"]
    assert by_way["second"] == by_way["local"]


def test_the_tour(lab: Lab, tmp_path: Path) -> None:
    check(lab, tmp_path, "tour")


@pytest.mark.real
@pytest.mark.parametrize(
    ("suite", "options"),
    [
        ("scifact-lexical", ["--only", "bm25", "--only", "ql", "--sample", "500"]),
        ("neural-en", ["--only", "xquad-en/*", "--limit", "2", "--sample", "40"]),
    ],
)
def test_a_cut_of_a_suite_on_real_data(
    lab: Lab, tmp_path: Path, suite: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "HARNESS_REAL_DATA" not in os.environ or "HARNESS_REAL_MODELS" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA and HARNESS_REAL_MODELS are not set")
    monkeypatch.setenv("HARNESS_SCIFACT", str(Path(os.environ["HARNESS_REAL_DATA"], "scifact")))
    check(lab, tmp_path, suite, *options)
