"""Runs suites by the local engine, by Ray on one node, and by Ray on three nodes that share only an S3, and
compares all bytes; then a second person with an empty store runs them with the S3 alone. Without the local
engine among `--ways`, the committed leaderboards, which the local engine made, take its place."""

from __future__ import annotations

import argparse
import hashlib
import json
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
WAYS = {
    "local": "local",
    "one": "Ray, one node",
    "three": f"Ray, {NODES} nodes and S3",
    "second": "local, a second person with the S3",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="All other options are given to `harness run`."
    )
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="a folder in leaderboards/")
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=list(WAYS), help="how to run them (default: all)"
    )
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
                same &= compared(Path(name), s3, cluster.address, suite, options.ways, further)
    sys.exit(not same)


def compared(
    folder: Path, s3: Faulty, address: str, suite: str, chosen: list[str], further: list[str]
) -> bool:
    """Run one suite in every chosen way, and print a row for each. Returns whether all results are the
    same."""
    remote = ["--remote", s3.address(suite)]
    options = {
        "local": [],
        "one": ["--engine", "ray"],
        "three": ["--engine", "ray", "--address", address, *remote],
        "second": remote,
    }
    read = whole if "local" in chosen else listed
    expected = {} if "local" in chosen else listed(ROOT / "leaderboards" / suite)
    all_same = True
    for number, way in enumerate(way for way in WAYS if way in chosen):
        harness = Harness(folder / f"{suite}-{number}")
        harness.folder.mkdir()
        began = time.monotonic()
        file = ROOT / "leaderboards" / suite / "suite.yaml"
        ran = harness.run(file, *options[way], *further, timeout=RUN_SECONDS)
        seconds = time.monotonic() - began
        if ran.code != 0:
            print(ran.err, flush=True)
        got = read(harness.out) if ran.code == 0 else {}
        expected = expected or got
        same = ran.code == 0 and got == expected
        all_same &= same
        counted = re.search(r"\d+ steps: (.*)", ran.err)
        steps = counted[1] if counted else "?"
        print(f"| {suite} | {WAYS[way]} | {seconds:.1f} | {steps} | {'yes' if same else 'NO'} |", flush=True)
        for name in sorted(expected.keys() | got.keys()) if not same else ():
            if expected.get(name) != got.get(name):
                print(f"differs: {name}", flush=True)
    return all_same


def whole(out: Path) -> dict[str, str]:
    """The SHA-256 of all that two runs by one version must agree on, by the names of files."""
    return {name: hashlib.sha256(contents).hexdigest() for name, contents in results(out).items()}


def listed(out: Path) -> dict[str, str]:
    """What the leaderboard in a folder lists that runs by two versions must agree on: the SHA-256 of each run
    and of the values of its queries, and each row's measures."""
    contents = {}
    for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]:
        contents |= {file["path"]: file["sha256"] for file in row["files"].values()}
        contents[f"measures of {row['dataset']} / {row['system']}"] = json.dumps(row["measures"])
    return contents


if __name__ == "__main__":
    main()
