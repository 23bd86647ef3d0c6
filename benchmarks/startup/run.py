"""Measures how long the light commands take, beside a bare Python: `python benchmarks/startup/run.py`."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

BARE = [sys.executable, "-c", "pass"]
UNUSUAL = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # users set neither: modules are compiled once
COMMANDS = (("--help",), ("list",), ("list", "--params"), ("plugins",))


def main() -> None:
    """Measure the commands and print a table. Every round runs each command once, so that a busy moment of
    the machine slows all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    harness = str(Path(sys.executable).with_name("harness"))
    measured = [("python -c pass", BARE)]
    measured += [(" ".join(("harness", *words)), [harness, *words]) for words in COMMANDS]
    taken: dict[str, list[float]] = {name: [] for name, _ in measured}
    for _, command in measured:  # a first run that is not measured fills the file cache and writes .pyc files
        seconds(command)
    for _ in range(given.rounds):
        for name, command in measured:
            taken[name].append(seconds(command))
    bare = statistics.median(taken["python -c pass"])
    print(f"{'command':24}  {'median':>8}  {'fastest':>8}  {'slowest':>8}  times bare")
    for name, times in taken.items():
        middle = statistics.median(times)
        cells = "  ".join(f"{value * 1000:5.0f} ms" for value in (middle, min(times), max(times)))
        print(f"{name:24}  {cells}  {middle / bare:10.1f}")


def seconds(command: list[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if name not in UNUSUAL}
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
