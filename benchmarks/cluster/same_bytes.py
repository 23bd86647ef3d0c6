"""Runs suites by the local engine, by Ray on one node, and by Ray on three nodes that share only an S3, and
compares all bytes; then a second person with an empty store runs them with the S3 alone."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / "e2e"), str(ROOT)]

from faulty_s3 import KEYS, Faulty, served  # noqa: E402
from ray_clusters import started  # noqa: E402
from running import Harness, results  # noqa: E402

NODES = 3
RUN_SECONDS = 7200.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="All other options are given to `harness run`."
    )
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="a folder in leaderboards/")
    options, further = parser.parse_known_args()
    os.environ.update(KEYS)
    print(
        "| suite | engine | seconds | steps | the same bytes |\n| --- | --- | ---: | --- | --- |", flush=True
    )
    same = True
    with tempfile.TemporaryDirectory(prefix="harness-bytes-") as name, served() as s3:
        stores = Path(name, "nodes")
        stores.mkdir()
        with started(stores, NODES) as cluster:
            for suite in options.suites:
                same &= compared(Path(name), s3, cluster.address, suite, further)
    sys.exit(not same)


def compared(folder: Path, s3: Faulty, address: str, suite: str, further: list[str]) -> bool:
    """Run one suite in every way, and print a row for each. Returns whether all results are the same."""
    remote = ["--remote", s3.address(suite)]
    ways = {
        "local": [],
        "Ray, one node": ["--engine", "ray"],
        f"Ray, {NODES} nodes and S3": ["--engine", "ray", "--address", address, *remote],
        "local, a second person with the S3": remote,
    }
    expected: dict[str, bytes] = {}
    all_same = True
    for number, (way, chosen) in enumerate(ways.items()):
        harness = Harness(folder / f"{suite}-{number}")
        harness.folder.mkdir()
        began = time.monotonic()
        ran = harness.run(
            ROOT / "leaderboards" / suite / "suite.yaml", *chosen, *further, timeout=RUN_SECONDS
        )
        seconds = time.monotonic() - began
        if ran.code != 0:
            print(ran.err, flush=True)
        got = results(harness.out)
        expected = expected or got
        same = ran.code == 0 and got == expected
        all_same &= same
        counted = re.search(r"\d+ steps: (.*)", ran.err)
        steps = counted[1] if counted else "?"
        print(f"| {suite} | {way} | {seconds:.1f} | {steps} | {'yes' if same else 'NO'} |", flush=True)
        for file in sorted(expected.keys() | got.keys()) if not same else ():
            if expected.get(file) != got.get(file):
                print(f"differs: {file}", flush=True)
    return all_same


if __name__ == "__main__":
    main()
