"""Compares what `--estimate --calibrate` says with what suites cost: in a run, or in their leaderboards."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness import api, catalogue, runner
from harness.cli.estimate import listing
from harness.errors import HarnessError
from harness.execution.estimate import Estimate
from harness.execution.progress import Silent
from harness.leaderboard import board_file
from harness.plan.graph import Plan
from harness.plan.kinds import APART, METHODS
from harness.store.artifacts import Store
from harness.suite import NO_CHANGES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", type=Path, nargs="+", help="the suites' files")
    parser.add_argument("--run", action="store_true", help="run each suite here, into an empty store")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="as of harness run")
    parser.add_argument("--steps", action="store_true", help="a line for each step or row too")
    options = parser.parse_args()
    print("| suite | what is compared | estimated | real | factor | disk | real disk |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for suite in options.suites:
        with tempfile.TemporaryDirectory() as name:
            try:
                for line in compared(suite, options.only, options.run, Path(name)):
                    if options.steps or line.startswith(f"| {suite.parent.name} | all"):
                        print(line, flush=True)
            except HarnessError as error:
                print(f"| {suite.parent.name} | {str(error).splitlines()[0]} | | | | | |", flush=True)


def compared(suite: Path, only: list[str], run: bool, folder: Path) -> Iterator[str]:
    """The lines of the table for one suite: each step or row, then all together."""
    store = api.opened_store(folder / "calibration", None)
    prepared = runner.read(suite, catalogue.load(), store, only, NO_CHANGES)
    options = argparse.Namespace(
        suite=suite, only=only, jobs=1, calibrate=True, set=[], limit=None, sample=None
    )
    expected = {item.step.id: item for item in listing(prepared, store, options)}
    real = _run(prepared, store, folder) if run else _recorded(prepared.plan, suite.parent, expected)
    sums = [0.0] * 4
    for name, (steps, seconds, size) in real.items():
        known = [expected[step] for step in steps if step in expected and expected[step].seconds is not None]
        if len(known) < len(steps):
            yield f"| {suite.parent.name} | {name} | ? | {seconds:.1f} s | | ? | {size / 1e6:.1f} MB |"
            continue
        values = (
            sum(item.seconds or 0 for item in known),
            seconds,
            sum(item.bytes or 0 for item in known),
            size,
        )
        sums = [total + value for total, value in zip(sums, values, strict=True)]
        yield _line(suite.parent.name, name, *values)
    what = f"all {len(real)} {'steps' if run else 'rows of the leaderboard'}"
    yield _line(suite.parent.name, what, *sums)


def _line(suite: str, what: str, estimated: float, real: float, size: float, real_size: float) -> str:
    factor = max(estimated, real) / max(min(estimated, real), 1e-3)
    disks = f"{size / 1e6:.1f} MB | {real_size / 1e6:.1f} MB"
    return f"| {suite} | {what} | {estimated:.1f} s | {real:.1f} s | {factor:.2f} | {disks} |"


def _run(
    prepared: runner.Prepared, calibrated: Store, folder: Path
) -> dict[str, tuple[list[str], float, float]]:
    """The costs of all steps of methods in a run here, by label. Code that the calibration compiled is not
    compiled again."""
    store = Store(folder / "store").open()
    shutil.copytree(calibrated.compiled, store.compiled, dirs_exist_ok=True)
    runner.execute(prepared, store, folder / "out", Silent(), keep_going=True)
    costs = {}
    for step in prepared.plan.steps.values():
        if step.kind in METHODS and store.has(step.id):
            cost = store.read(step.id, trust=True).cost
            costs[step.label] = ([step.id], float(cost["seconds"]), float(cost["bytes"]))
    return costs


def _recorded(
    plan: Plan, folder: Path, expected: Mapping[str, Estimate]
) -> dict[str, tuple[list[str], float, float]]:
    """The costs that the leaderboard has recorded, by row. They may have been measured on another
    machine."""
    board = board_file.read_if_any(folder)
    if board is None:
        raise HarnessError(f"{folder}: has no leaderboard; compare with --run")
    recorded = {(row.dataset, row.system): row.cost for row in board.rows}
    costs = {}
    for row in plan.rows:
        cost = recorded.get((row.dataset, row.system))
        if row.hits is None or cost is None or cost.seconds is None or cost.bytes is None:
            continue
        ancestors = plan.ancestors([row.hits], stop_at=lambda step: step.kind in APART)
        steps = [step for step in plan.steps if step in ancestors and plan.steps[step].kind in METHODS]
        costs[f"{row.dataset} / {row.system}"] = (steps, cost.seconds, cost.bytes)
    return costs


if __name__ == "__main__":
    main()
