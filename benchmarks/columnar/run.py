"""Measures how fast a BEIR folder is made columnar, against orjson.loads on each line of the same file."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson

from harness.collection import corpus
from harness.store import disk
from harness_files.params import FilesParams
from harness_files.source import Files

TOKENS, VOCABULARY = 56, 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--scattered", action="store_true", help="documents of 8 passages, rows in random order"
    )
    parser.add_argument("--keep", type=Path, help="generate into this folder, or use what is there")
    parser.add_argument("--cold", action="store_true", help="do not get memory from the host beforehand")
    parser.add_argument("--child", choices=JOBS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        if not args.cold:
            warm(args.keep)
        start = time.process_time()
        measured = JOBS[args.child](args.keep)
        print(json.dumps({**measured, "cpu": time.process_time() - start, "peak": peak_megabytes()}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "corpus.jsonl").exists():
            generate(folder, args.passages, args.scattered)
        rounds = [{job: child(job, folder, args.cold) for job in JOBS} for _ in range(args.rounds)]
    report(rounds, args.passages)


def generate(folder: Path, passages: int, scattered: bool) -> None:
    """Write a BEIR folder with words of random letters under Zipf's law. As in BEIR's own files, the JSON is
    ASCII with escapes."""
    import numpy as np

    rng = np.random.default_rng(56)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    sizes = rng.integers(2, 11, VOCABULARY)
    words = ["".join(letters[np.minimum(rng.geometric(0.12, size) - 1, 25)]) for size in sizes]
    for rare in range(1000, VOCABULARY, 500):
        words[rare] += "é"
    for rare in range(1100, VOCABULARY, 500):
        words[rare] = f'"{words[rare]}"'
    chances = 1 / np.arange(1, VOCABULARY + 1)
    edges = np.cumsum(chances / chances.sum())
    order = rng.permutation(passages) if scattered else np.arange(passages)
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for start in range(0, passages, 10_000):
            numbers = order[start : start + 10_000].tolist()
            drawn = np.searchsorted(edges, rng.random((len(numbers), TOKENS)))
            for number, row in zip(numbers, np.minimum(drawn, VOCABULARY - 1).tolist(), strict=True):
                title = " ".join(words[word] for word in row[:4])
                line = {"_id": f"doc{number}", "title": title, "text": " ".join(words[word] for word in row)}
                if scattered:
                    document, place = divmod(number, 8)
                    line |= {"title": f"title {document}", "doc_id": str(document), "paragraph_no": place}
                file.write(json.dumps(line) + "\n")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a query"}\n', encoding="utf-8")
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tdoc0\t1\n", encoding="utf-8")


def child(job: str, folder: Path, cold: bool) -> dict[str, float]:
    """Run one job in a process of its own."""
    command = [sys.executable, __file__, "--child", job, "--keep", str(folder), *["--cold"] * cold]
    measured: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return measured


def warm(folder: Path) -> None:
    """Write and delete as many bytes as the input has, so that this machine holds that much memory. A virtual
    machine gives free memory back to its host, and getting it again costs up to ten times as much as using
    it; the benchmark should not measure that."""
    with (folder / "corpus.jsonl").open("rb") as source, (folder / "warm").open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    (folder / "warm").unlink()


def loads(folder: Path) -> dict[str, float]:
    start = time.perf_counter()
    with (folder / "corpus.jsonl").open("rb") as file:
        for line in file:
            orjson.loads(line)
    return {"seconds": time.perf_counter() - start}


def columnar(folder: Path) -> dict[str, float]:
    """The seconds to do as a run does: hash the input for the key, make it columnar, hash the written
    files."""
    return _columnar(folder, beside=False)


def columnar_beside(folder: Path) -> dict[str, float]:
    """The seconds for the work of `columnar`, with the input hashed while it is read."""
    return _columnar(folder, beside=True)


def _columnar(folder: Path, beside: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=folder) as target, ThreadPoolExecutor(2) as pool:
        start = time.perf_counter()
        digest = pool.submit(disk.content_key, folder / "corpus.jsonl")
        if not beside:
            digest.result()
        hashed = time.perf_counter()
        corpus.write(Files(FilesParams(path=folder)), Path(target), lambda done, total: None)
        written = time.perf_counter()
        list(pool.map(disk.sha256, sorted(Path(target).iterdir())))
        digest.result()
        end = time.perf_counter()
    return {"seconds": end - start, "hash": hashed - start, "write": written - hashed, "check": end - written}


JOBS = {"orjson": loads, "columnar": columnar, "beside": columnar_beside}


def peak_megabytes() -> float:
    """The peak memory of this process alone. `ru_maxrss` would also count the process that it was forked
    from."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def report(rounds: list[dict[str, dict[str, float]]], passages: int) -> None:
    for job in JOBS:
        seconds = statistics.median(each[job]["seconds"] for each in rounds)
        ratios = sorted(each["orjson"]["seconds"] / each[job]["seconds"] for each in rounds)
        stages = {
            name: round(statistics.median(each[job][name] for each in rounds), 2)
            for name in ("hash", "write", "check")
            if name in rounds[0][job]
        }
        peak = max(each[job]["peak"] for each in rounds)
        cpu = statistics.median(each[job]["cpu"] for each in rounds)
        print(
            f"{job:9} {passages / seconds:10,.0f} passages/s  ratio {statistics.median(ratios):.2f} "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f})  peak {peak:.0f} MB  "
            f"cpu {cpu:.2f} s" + "".join(f", {name} {value} s" for name, value in stages.items())
        )


if __name__ == "__main__":
    main()
