"""Measures steps of training a bi-encoder: ours and those of sentence-transformers, on the same pairs.

python benchmarks/training/run.py MODEL BEIR [--rounds 5] [--pairs 16] [--length 384] [--curve 40] [--memory]

MODEL is a folder with safetensors, and BEIR a collection with a training split. Every round runs each engine
once, so that other work on the machine slows all of them; ratios are computed within rounds. CPU seconds are
those of all threads; they depend less on other work."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from harness.toolkit.neural import tokens
from harness_training import DualEncoderParams, batches, loop
from harness_training.dual_encoder import DualEncoder, backward_in_parts

Step = Callable[[], float]
RATE, TEMPERATURE = 2e-5, 0.05


def pairs(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """The texts of questions and of the passages that answer them. No passage is there twice."""
    read = {
        name: {
            row["_id"]: row["text"]
            for row in map(json.loads, (folder / f"{name}.jsonl").open(encoding="utf-8"))
        }
        for name in ("corpus", "queries")
    }
    by_passage: dict[str, str] = {}
    for line in (folder / "qrels" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, _ = line.split("\t")
        by_passage.setdefault(passage, query)
    chosen = list(by_passage.items())[:count]
    return [read["queries"][query] for _, query in chosen], [read["corpus"][passage] for passage, _ in chosen]


def differing(texts: list[str], longest: int) -> list[str]:
    """The texts cut to lengths that differ evenly, from a tenth of the longest to all of it."""
    lengths = np.linspace(longest / 10, longest, len(texts)).astype(int).tolist()
    return [text[:length] for text, length in zip(texts, lengths, strict=True)]


def ours(
    model: Path, queries: list[str], texts: list[str], length: int, dtype: str = "bf16", micro: int = 64,
    seed: int = 0, size: int | None = None,
) -> Step:  # fmt: skip
    params = DualEncoderParams(
        init=model, similarity="cosine", temperature=TEMPERATURE, query_length=length, passage_length=length,
        dtype=dtype, device="cpu",
    )  # fmt: skip
    trainer, count = DualEncoder(params), size or len(queries)
    towers = trainer._towers()
    for tower in towers.values():
        tower.train()
    lists = np.arange(count)[:, None]
    silent = np.full((count, 1), np.nan, np.float32)
    every = np.ones((count, count), np.bool_)
    optimiser = loop.optimiser_of(towers, loop.Optimisation(1, RATE, 0.0, 0.0, 1.0))
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    done = 0

    def step() -> float:
        nonlocal done
        given = slice(done * count % len(queries), done * count % len(queries) + count)
        batch = batches.Batch(queries[given], texts[given], lists, silent, every, lists >= 0)
        vectors = torch.zeros(2 * count, towers["passage"].width)
        with loop.threads_for(towers):
            optimiser.zero_grad(set_to_none=True)
            loss = backward_in_parts(
                trainer._lots(towers, batch, micro), vectors, (seed, done),
                lambda vectors: trainer._loss(vectors[:count], vectors[count:], batch),
            )  # fmt: skip
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
        done += 1
        return loss

    return step


def theirs(
    model: Path, queries: list[str], texts: list[str], length: int, bf16: bool, seed: int = 0,
    size: int | None = None,
) -> Step:  # fmt: skip
    """A step of the peer: its model and loss, in the loop of its trainer with autocast, clipped gradients and
    the fused AdamW that is its default."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    network = SentenceTransformer(str(model), device="cpu").float().train()
    network.max_seq_length = length
    loss_of = MultipleNegativesRankingLoss(network, scale=1 / TEMPERATURE)
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.0, fused=True)
    count, done = size or len(queries), 0

    def step() -> float:
        nonlocal done
        torch.manual_seed(1000 * seed + done)
        given = slice(done * count % len(queries), done * count % len(queries) + count)
        optimiser.zero_grad(set_to_none=True)
        features = [network.preprocess(side[given]) for side in (queries, texts)]
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = loss_of(features, None)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        done += 1
        return float(loss.detach())

    return step


def peak(size: int = 2048, times: int = 4) -> float:
    """The FLOP per second of bf16 matrix products alone, at this moment."""
    one, other = torch.randn(size, size).bfloat16(), torch.randn(size, size).bfloat16()
    one @ other
    began = time.perf_counter()
    for _ in range(times):
        one @ other
    return 2 * size**3 * times / (time.perf_counter() - began)


def work(model: Path, queries: list[str], texts: list[str], length: int) -> tuple[int, float]:
    """The tokens of a step, and the FLOP of its matrix products: 6 for each weight and token (forward and
    backward), without the embeddings, and those of attention."""
    from transformers import AutoConfig

    config, tokeniser = AutoConfig.from_pretrained(model), tokens.load(model)
    read, _ = tokens.tokenise(tokeniser, [*queries, *texts], length)
    lengths = np.diff(read.bounds).astype(np.float64)
    layer = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    dense = 6 * layer * config.num_hidden_layers * lengths.sum()
    attention = 12 * config.hidden_size * config.num_hidden_layers * (lengths**2).sum()
    return len(read.ids), float(dense + attention)


def memory(model: Path, folder: Path, batch: int, length: int) -> float:
    """The peak memory in MB of a process that trains one step of a large batch."""
    program = (
        "import sys, resource; sys.path.insert(0, sys.argv[1]); import run; from pathlib import Path\n"
        "model, folder = Path(sys.argv[2]), Path(sys.argv[3])\n"
        "batch, length = int(sys.argv[4]), int(sys.argv[5])\n"
        "queries, texts = run.pairs(folder, batch)\n"
        "run.ours(model, queries, texts, length, micro=16)()\n"
        "print(len(texts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    command = [
        sys.executable,
        "-c",
        program,
        str(Path(__file__).parent),
        str(model),
        str(folder),
        str(batch),
        str(length),
    ]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(out[0]) == batch, f"the collection has {out[0]} pairs"
    return float(out[1])


class Measured(NamedTuple):
    seconds: dict[str, list[float]]  # of each round, by engine
    cpu: dict[str, list[float]]
    share: list[float]  # the share of the peak that ours reaches


def measured(engines: dict[str, Step], flop: float, rounds: int) -> Measured:
    """`rounds` rounds after one that warms up."""
    measured = Measured({name: [] for name in engines}, {name: [] for name in engines}, [])
    for number in range(rounds + 1):
        before = peak()
        for name, step in engines.items():
            began, cpu = time.perf_counter(), time.process_time()
            step()
            if not number:
                continue
            measured.seconds[name].append(time.perf_counter() - began)
            measured.cpu[name].append(time.process_time() - cpu)
            if name == "ours":
                measured.share.append(flop / measured.seconds[name][-1] / max(before, peak()))
    return measured


def report(name: str, pairs: int, measured: Measured) -> None:
    mine, mine_cpu = np.array(measured.seconds["ours"]), np.array(measured.cpu["ours"])
    for engine, values in measured.seconds.items():
        each, cpu = np.array(values), np.array(measured.cpu[engine])
        ratio = ""
        if engine != "ours":
            by_round = np.sort(each / mine)
            ratio = (
                f"; ours is {np.median(by_round):.2f} times as fast (rounds {by_round[0]:.2f} to "
                f"{by_round[-1]:.2f}), {np.median(cpu / mine_cpu):.2f} times by CPU seconds"
            )
        print(
            f"{name}: {engine}: median {np.median(each):.2f} s ({pairs / np.median(each):.1f} pairs/s), "
            f"least {each.min():.2f} s, {np.median(cpu):.2f} CPU s{ratio}",
            flush=True,
        )
    print(
        f"{name}: share of the matmul peak of the same moment: median {np.median(measured.share):.2f}, "
        f"best {max(measured.share):.2f}"
    )


def curve(model: Path, folder: Path, steps: int, length: int = 128, size: int = 16) -> None:
    """Print the mean loss of each quarter of a training by both engines, with three seeds of the dropout and
    the same order of the pairs, and the standard deviation over the seeds."""
    queries, texts = pairs(folder, steps * size)
    given, part = (model, queries, texts, length), steps // 4
    engines: dict[str, Callable[[int], Step]] = {
        "ours": lambda seed: ours(*given, seed=seed, size=size),
        "theirs in bf16": lambda seed: theirs(*given, True, seed, size),
    }
    for name, begin in engines.items():
        losses = []
        for seed in range(3):
            step = begin(seed)
            losses.append([step() for _ in range(steps)])
        quarters = np.array(losses)[:, : 4 * part].reshape(3, 4, part).mean(axis=2)
        means, spread = quarters.mean(axis=0), quarters.std(axis=0, ddof=1)
        each = ", ".join(f"{mean:.4f} (sd {sd:.4f})" for mean, sd in zip(means, spread, strict=True))
        print(f"mean loss of each quarter of {steps} steps, three seeds: {name}: {each}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--length", type=int, default=384)
    parser.add_argument("--curve", type=int, default=0, help="also the loss of so many steps")
    parser.add_argument("--memory", action="store_true", help="also the peak of a batch of 256")
    options = parser.parse_args()
    queries, texts = pairs(options.collection, options.pairs)
    began = time.perf_counter()
    first = ours(options.model, queries, texts, options.length)()
    print(f"start: from loading the model to the end of the first step: {time.perf_counter() - began:.1f} s")
    print(f"its loss: {first:.3f}; {torch.get_num_threads()} threads")
    for name, passages in (("full length", texts), ("differing lengths", differing(texts, options.length))):
        count, flop = work(options.model, queries, passages, options.length)
        print(f"{name}: {options.pairs} pairs, {count:,} tokens, {flop / 1e12:.2f} TFLOP a step", flush=True)
        given = (options.model, queries, passages, options.length)
        engines = {
            "ours": ours(*given),
            "their bf16 autocast": theirs(*given, True),
            "theirs as it comes": theirs(*given, False),
        }
        report(name, options.pairs, measured(engines, flop, options.rounds))
    if options.curve:
        curve(options.model, options.collection, options.curve)
    if options.memory:
        used = memory(options.model, options.collection, 256, options.length)
        print(f"a batch of 256 with gradient cache: {used:.0f} MB")


if __name__ == "__main__":
    main()
