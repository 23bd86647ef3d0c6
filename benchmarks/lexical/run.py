"""Measures our embedded lexical engine against its peers, in one run over the same texts, and prints ratios.

python benchmarks/lexical/run.py --work DIR [--peers PYTHON] [--natural BEIR_FOLDER] [--passages N]"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from lexical.corpus import Load, generated, natural
from lexical.engines import ENGINES

DEPTHS = (10, 100, 1000)


def child(python: str, engine: str, stage: str, job: dict, work: Path) -> dict | None:
    """The measurements of one engine, or None if the engine is not installed or failed. The reason is printed
    to stderr."""
    finished = subprocess.run(
        [python, "-c", f"import {ENGINES[engine].needs.split('.')[0]}"], capture_output=True, text=True
    )
    if finished.returncode:
        print(f"{engine}: skipped, {python} has no {ENGINES[engine].needs}", file=sys.stderr)
        return None
    path = work / "job.json"
    path.write_text(json.dumps(job))
    command = [python, str(Path(__file__).with_name("engines.py")), engine, stage, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        print(f"{engine}: {stage} failed: {done.stderr[-500:]}", file=sys.stderr)
        return None
    return json.loads(lines[-1][7:])


def measure(name: str, load: Load, options: argparse.Namespace) -> dict[str, dict]:
    """The measurements of each engine: building with all threads, then searching with each number of
    threads."""
    results: dict[str, dict] = {}
    for engine in options.engines:
        python = sys.executable if engine == "ours" else options.peers
        job = {"corpus": str(load.passages), "folder": str(options.work / f"{engine}-{load.passages.stem}")}
        job |= {"queries": load.queries, "depths": DEPTHS, "threads": max(options.threads)}
        built = options.reuse and Path(job["folder"]).exists()
        build = {} if built else child(python, engine, "build", job, options.work)
        if build is None:
            continue
        searches = {}
        for threads in options.threads:
            searches[threads] = child(python, engine, "search", {**job, "threads": threads}, options.work)
        if all(searches.values()):
            results[engine] = {"build": build, "search": searches}
            print(f"{name} {engine}: {json.dumps(results[engine])}", file=sys.stderr)
    return results


def table(results: dict[str, dict], threads: list[int]) -> str:
    """The measurements as a Markdown table. The number in brackets says how many times faster our engine
    is."""
    ours = results.get("ours")
    columns = [f"k={k}, {t} thr." for t in threads for k in DEPTHS]
    head = ["engine", "build s", "MB on disk", "build RSS MB", "search RSS MB", *columns]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for engine, result in results.items():
        build, cells = result["build"], [engine]
        if build:
            ratio = build["seconds"] / ours["build"]["seconds"] if ours and ours["build"] else 1
            cells += [
                f"{build['seconds']:.1f} ({ratio:.2f})",
                f"{build['megabytes']:.0f}",
                str(build["memory"]),
            ]
        else:
            cells += ["-"] * 3
        cells.append(str(max(search["memory"] for search in result["search"].values())))
        for t in threads:
            for k in map(str, DEPTHS):
                rate = result["search"][t]["rates"][k]
                ratio = ours["search"][t]["rates"][k] / rate if ours else 1
                cells.append(f"{rate:,.0f} ({ratio:.2f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="a folder for texts and indexes (some GB)")
    parser.add_argument("--peers", default=sys.executable, help="the python that has the peers")
    parser.add_argument("--natural", type=Path, help="a BEIR folder to repeat with changes, for natural text")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--reuse", action="store_true", help="search indexes that are there already")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    loads = {"generated": generated(options.work, options.passages, options.queries)}
    if options.natural:
        loads["natural"] = natural(options.work, options.natural, options.passages, options.queries)
    for name, load in loads.items():
        results = measure(name, load, options)
        counts = f"{options.passages:,} passages, {options.queries:,} queries"
        print(f"\n{name}: {counts}; queries a second, and (how many times faster ours is)\n")
        print(table(results, options.threads), flush=True)


if __name__ == "__main__":
    main()
