"""Runs the `harness` command in child processes and reads what it left, for the end-to-end tests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml

TOYS = Path(__file__).parents[1] / "toys"  # a stranger's plugins
FAULTS = str(TOYS / "faults")  # on PYTHONPATH: worse plugins, and faults of the disk where asked
COMMAND = (sys.executable, "-m", "harness")

# every kind of step, on a dataset of 12 documents
EVERYTHING: dict[str, Any] = {
    "suite": "everything",
    "datasets": {"toy": "toy"},
    "systems": {
        "plain": {"retriever": "overlap"},
        "loud": {"context": ["shout"], "retriever": "overlap"},
        "whole": {"retriever": "overlap", "unit": "document"},
        "both": {"of": ["plain", "loud"], "combine": {"convex": {"weight": 0.5}}},
        "short": {"of": "both", "rerank": {"length": {}, "depth": 5}},
    },
    "measures": ["nDCG@10", "R@20"],
    "depth": 20,
}


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Harness:
    """The command in a folder of its own. Children see the toy plugins and these variables."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def suite(self, content: Any, name: str = "suite.yaml") -> Path:
        """Write a suite (its text, or what its YAML says) and return its path."""
        path = self.folder / name
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *arguments: str | Path, **variables: str) -> subprocess.Popen[str]:
        """Start the command in a session of its own, so that a test can signal its whole group."""
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=self.folder,
            env=environment(**self.variables, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def command(self, *arguments: str | Path, timeout: float = 120, **variables: str) -> Ran:
        """Run the command to its end."""
        return finished(self.start(*arguments, **variables), timeout)

    def run(self, suite: str | Path = "suite.yaml", *options: str | Path, **variables: str) -> Ran:
        """`harness run` with the store and the output of this folder, unless an option names others."""
        return self.command(*self.run_arguments(suite, *options), **variables)

    def run_arguments(self, suite: str | Path = "suite.yaml", *options: str | Path) -> list[str | Path]:
        given = {"--store": self.store, "--out": self.out}
        defaults = [word for name, path in given.items() if name not in options for word in (name, path)]
        return ["run", suite, *defaults, *options]


def environment(**variables: str) -> dict[str, str]:
    """A child's environment: ours, the toys on its path, and no folder of the user's."""
    paths = [str(TOYS), variables.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**ours, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}


def finished(process: subprocess.Popen[str], timeout: float = 120) -> Ran:
    """Wait for a command; one that does not end is killed with its group, and the test fails."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        raise AssertionError(f"the command did not end within {timeout} s:\n{out}\n{err}") from None
    return Ran(process.returncode, out, err)


def leaderboard(out: Path) -> dict[str, Any]:
    """A leaderboard without what may differ between two runs: cost and environment."""
    data: dict[str, Any] = orjson.loads((out / "leaderboard.json").read_bytes())
    del data["environment"]
    for row in data["rows"]:
        del row["cost"]
    return data


def rows(out: Path) -> dict[str, dict[str, Any]]:
    """The rows of a leaderboard of one dataset, by system."""
    return {row["system"]: row for row in leaderboard(out)["rows"]}


def results(out: Path) -> dict[str, bytes]:
    """All that two runs of a suite must agree on, by name: the leaderboard, the runs, the values."""
    folders = [out / "runs", out / "per-query"]
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in files}
    return {"leaderboard.json": orjson.dumps(leaderboard(out), option=orjson.OPT_INDENT_2), **found}


def living(variable: str) -> list[int]:
    """The processes that have this variable (`NAME=value`) in their environment and still run, once what
    was killed has had a moment to go."""
    deadline = time.monotonic() + 5
    while (found := alive(variable)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def alive(variable: str) -> list[int]:
    """The same, at this moment."""
    wanted, found = variable.encode(), []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile; a zombie has no environment
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
    return sorted(found)


def children(process: int) -> list[int]:
    """The processes that it has started and that have not ended."""
    listed = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            listed += thread.read_text().split()
    return sorted(map(int, listed))
