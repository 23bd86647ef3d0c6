"""A step runs again when the plugin behind it was upgraded: equal fingerprints mean equal rankings."""

import os
import shutil

from running import leaderboard

SUITE = {
    "suite": "upgraded",
    "datasets": {"toy": "toy"},
    "systems": {"plain": {"retriever": "overlap"}, "acme": {"of": "plain", "rerank": "acme"}},
    "measures": ["nDCG@10"],
    "depth": 10,
}
RERANKER = """
import numpy as np
from harness import hookimpl
from harness.records import NoParams, Reranker

class Acme:
    def index(self, texts, folder): ...

    def open(self, texts, folder):
        return self

    def score(self, queries, candidates):
        return candidates.astype(np.float32) * SIGN

@hookimpl
def harness_rerankers():
    yield Reranker(name="acme", summary="by position", build=lambda params: Acme(), params=NoParams)
"""


def install(folder, version, sign):
    """The distribution acme-rerank as a wheel leaves it, in the place of an earlier version."""
    shutil.rmtree(folder, ignore_errors=True)
    info = folder / f"acme_rerank-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-rerank\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[passage_harness]\nacme = acme_rerank\n")
    (info / "RECORD").write_text("acme_rerank.py,,\n")
    (folder / "acme_rerank.py").write_text(RERANKER.replace("SIGN", str(sign)))


def test_an_upgraded_reranker_gets_numbers_and_fingerprints_of_its_own(harness):
    harness.suite(SUITE)
    installed = harness.folder / "installed"
    rows, runs = [], []
    for version, sign in (("2.3.0", 1), ("2.4.0", -1), ("2.3.0", 1), ("2.3.1", 1)):
        install(installed, version, sign)
        ran = harness.run(PYTHONPATH=str(installed))
        assert ran.code == 0, ran.err
        rows.append({row["system"]: row for row in leaderboard(harness.out)["rows"]})
        runs.append({path.name: path.read_bytes() for path in (harness.out / "runs").rglob("*.gz")})
    prints = [row["acme"]["provenance"]["fingerprint"] for row in rows]
    assert prints[0] == prints[2] != prints[1]
    assert runs[0] == runs[2] != runs[1]
    assert rows[0]["acme"]["measures"] != rows[1]["acme"]["measures"]
    assert rows[0]["plain"] == rows[1]["plain"]
    assert prints[3] not in prints[:3]  # the version of the distribution alone changes it
    assert runs[3] == runs[0]


def test_a_plugin_edited_to_the_same_size_and_time_runs_its_new_code(harness):
    harness.suite(SUITE)
    installed = harness.folder / "installed"
    runs = []
    install(installed, "2.3.0", "SIGN")
    for sign in ("+1", "-1"):
        (installed / "acme_rerank.py").write_text(RERANKER.replace("SIGN", sign))
        os.utime(installed / "acme_rerank.py", (1_700_000_000, 1_700_000_000))
        ran = harness.run(PYTHONPATH=str(installed), PYTHONDONTWRITEBYTECODE="")
        assert ran.code == 0, ran.err
        runs.append({path.name: path.read_bytes() for path in (harness.out / "runs").rglob("*acme*.gz")})
    assert len(runs[0]) == 1
    assert runs[0] != runs[1]
    assert list(installed.glob("__pycache__/acme_rerank.*.by-content.pyc"))
