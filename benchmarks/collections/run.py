"""Measures the time and memory that it takes to make a collection of T2Ranking's size columnar, and its
card."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.collection import cards, corpus
from harness.collection.queries import write_judgements, write_queries
from harness_t2ranking import T2RankingParams
from harness_t2ranking.source import T2Ranking

PASSAGES, CHARACTERS = 2_303_643, 632  # the number of passages and their mean length (section 5 of the paper)
QUERIES, JUDGEMENTS = 300_000, 8  # the queries of both sets together, and the judgements of each query
PARTS = ("corpus", "queries", "judgements", "card")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--keep", type=Path, help="generate into this folder, or use what is there")
    parser.add_argument("--child", choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measured(args.child, args.keep)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "collection.tsv").exists():
            generate(folder, args.passages, args.queries)
        sizes = {name: (folder / name).stat().st_size for name in ("collection.tsv", "qrels.dev.tsv")}
        print("  ".join(f"{name}: {size / 1e6:,.0f} MB" for name, size in sizes.items()))
        for part in PARTS:
            command = [sys.executable, __file__, "--child", part, "--keep", str(folder)]
            costs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(
                f"{part:11} {costs.pop('seconds'):7.1f} s  {costs.pop('peak'):7.0f} MB  {json.dumps(costs)}"
            )


def generate(folder: Path, passages: int, queries: int) -> None:
    """Write random Chinese characters under Zipf's law, from a seed, in the files of the release. Each text
    is a piece of one long stream, so that making gigabytes takes no longer than writing them."""
    import numpy as np

    rng = np.random.default_rng(2023)
    chances = 1 / np.arange(1, 6001)
    drawn = rng.choice(6000, 4_000_000, p=chances / chances.sum())
    stream = "".join(map(chr, (drawn + 0x4E00).tolist())).encode()  # three bytes each
    with (folder / "collection.tsv").open("wb") as file:
        file.write(b"pid\ttext\n")
        for start in range(0, passages, 10_000):
            count = min(10_000, passages - start)
            sizes = np.clip(rng.lognormal(np.log(CHARACTERS) - 0.32, 0.8, count), 1, 20_000).astype(int)
            offsets = rng.integers(0, 4_000_000 - 20_000, count)
            for number, offset, size in zip(range(start, start + count), offsets, sizes, strict=True):
                file.write(b"%d\t%b\n" % (number, stream[3 * offset : 3 * (offset + size)]))
    with (folder / "queries.dev.tsv").open("wb") as file:
        file.write(b"qid\ttext\n")
        sizes = rng.integers(3, 20, queries)
        for number, offset, size in zip(
            range(queries), rng.integers(0, 3_900_000, queries), sizes, strict=True
        ):
            file.write(b"%d\t%b\n" % (number, stream[3 * offset : 3 * (offset + size)]))
    with (folder / "qrels.dev.tsv").open("wb") as file:
        file.write(b"qid\t-\tpid\trel\n")
        passages_judged = rng.integers(
            0, passages // JUDGEMENTS, (queries, JUDGEMENTS)
        ) * JUDGEMENTS + np.arange(JUDGEMENTS)
        grades = rng.choice(4, (queries, JUDGEMENTS), p=[0.4, 0.3, 0.2, 0.1])
        for number, (pids, rels) in enumerate(zip(passages_judged.tolist(), grades.tolist(), strict=True)):
            file.write(
                b"".join(b"%d\t0\t%d\t%d\n" % (number, *pair) for pair in zip(pids, rels, strict=True))
            )


def measured(part: str, folder: Path) -> dict[str, float]:
    """The seconds and the peak memory of one step, done in this process as a run does it."""
    source = T2Ranking(T2RankingParams(path=folder))
    made = {name: folder / "columnar" / name for name in PARTS}
    made[part].mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    if part == "corpus":
        facts = corpus.write(source, made[part], lambda done, total: None)
    elif part == "queries":
        facts = write_queries(source.queries(), made[part])
    elif part == "judgements":
        facts = write_judgements(source.judgements(), made[part])
    else:
        card = cards.card(made["corpus"], made["queries"], made["judgements"], source.card())
        names = ("passages", "queries", "judgements", "queries_without_positive")
        facts = {**{name: card[name] for name in names}, "mean": card["passage_characters"]["mean"]}
    return {"seconds": time.perf_counter() - start, "peak": peak_megabytes(), **facts}


def peak_megabytes() -> float:
    """The peak memory of this process alone. `ru_maxrss` would also count the process that it was forked
    from."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
