"""Measures how far our scores are from those of a peer, for tiny stand-ins of published models.

python benchmarks/peers/run.py [--clddp PYTHON] [--pylate PYTHON] [--only NAME ...]"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "plugins")]

from standins import models, peers  # noqa: E402

from harness.toolkit.neural import known_encoders as dense  # noqa: E402
from harness_colbert import registry as colbert  # noqa: E402
from harness_crossencoder import registry as crossencoder  # noqa: E402
from harness_splade import registry as splade  # noqa: E402

REGISTRIES = {"dense": dense, "splade": splade, "colbert": colbert, "crossencoder": crossencoder}
HERE = "sentence-transformers"
COMPARED = (
    ("dense", "dragon-plus", ("clddp", HERE)),
    ("dense", "dragon-roberta", ("clddp", HERE)),
    ("splade", "dapr-spladev2", ("clddp", HERE)),
    ("splade", "splade-v2-distil", (HERE,)),
    ("colbert", "colbert-v2", ("clddp", "pylate", HERE)),
    ("colbert", "dapr-colbertv2", ("clddp", "pylate")),
    *(("dense", name, (HERE,)) for name in ("all-minilm-l6-v2", "e5-base-v2", "multi-qa-mpnet-base-dot-v1")),
    *(("crossencoder", name, (HERE,)) for name in ("ms-marco-minilm-l6-v2", "bge-reranker-v2-m3")),
)
ABSENT = 3  # the exit code of theirs.py
OFFLINE = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}


def elsewhere(peer: str, python: str, plugin: str, known: object, root: Path) -> np.ndarray | str:
    """The scores of a peer in an environment of its own, in a process; or that it is not installed there."""
    length, asked = known.length, known.query_length or known.length
    passages = models.make(known.passages, root)
    queries = models.make(getattr(known, "queries", None) or known.passages, root)
    job = {
        "peer": peer, "plugin": plugin, "passages": str(passages), "queries": str(queries), "length": length,
        "query_length": asked, "asked": peers.QUERIES, "read": peers.TEXTS,
    }  # fmt: skip
    (root / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = [python, str(Path(__file__).with_name("theirs.py")), root / "job.json", root / "scores.json"]
    ran = subprocess.run(command, env={**os.environ, **OFFLINE}, capture_output=True, text=True)
    if ran.returncode == ABSENT:
        return ran.stdout.splitlines()[-1]
    if ran.returncode:
        raise SystemExit(f"{peer}, {known.name}:\n{ran.stderr[-3000:]}")
    return np.array(json.loads((root / "scores.json").read_bytes()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clddp", help="the Python of an environment with clddp and colbert-ai")
    parser.add_argument("--pylate", help="the Python of an environment with PyLate")
    parser.add_argument("--only", nargs="*", help="models by short name")
    given = parser.parse_args()
    pythons = {"clddp": given.clddp, "pylate": given.pylate, HERE: sys.executable}
    print("| model | compared with | largest score | largest difference | of the largest score |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for plugin, name, by in COMPARED:
            if (given.only and name not in given.only) or not any(pythons[peer] for peer in by):
                continue
            known = next(known for known in REGISTRIES[plugin].MODELS if known.name == name)
            ours = peers.ours(plugin, known, root, root / "indexes" / name)
            for peer in [peer for peer in by if pythons[peer]]:
                if peer == HERE:
                    theirs = peers.theirs(plugin, known, root)
                else:
                    theirs = elsewhere(peer, pythons[peer], plugin, known, root)
                if isinstance(theirs, str):
                    print(f"| {name} | {peer} | {theirs} | | |", flush=True)
                    continue
                largest, error = np.abs(theirs).max(), np.abs(ours - theirs).max()
                print(
                    f"| {name} | {peer} | {largest:.2f} | {error:.1e} | {error / largest:.1e} |", flush=True
                )


if __name__ == "__main__":
    main()
