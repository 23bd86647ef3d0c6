"""Runs the `harness` command for the end-to-end tests, and reads the files that it writes."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import orjson
import yaml

from harness import cli
from harness_new_plugin import scaffold

TOYS = Path(__file__).parents[1] / "toys"  # a third party's plugins
FAULTS = str(TOYS / "faults")  # for PYTHONPATH: faulty plugins, and faults of the disk on request
COMMAND = (sys.executable, "-m", "harness")
LONG = 250.0  # seconds until what must come is given up: no machine is so busy

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
    """The exit code and the output of a command that has ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Harness:
    """The command, run in a folder with the toy plugins installed and these environment variables set."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    here: bool = False  # whether `run` needs no process of its own, which saves 0.6 s of imports

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def suite(self, content: Any, name: str = "suite.yaml") -> Path:
        """Write a suite, given as text or as data, and return its path."""
        path = self.folder / name
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *arguments: str | Path, **variables: str) -> subprocess.Popen[str]:
        """Start the command in a new session, so that a test can signal the whole process group."""
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

    def command(self, *arguments: str | Path, **variables: str) -> Ran:
        """Run a command to its end: in this process, which saves the imports, unless variables are set."""
        if self.variables or variables:
            return finished(self.start(*arguments, **variables))
        return in_this_process(self.folder, *map(str, arguments))

    def run(
        self, suite: str | Path = "suite.yaml", *options: str | Path, timeout: float = LONG, **variables: str
    ) -> Ran:
        """`harness run`, with the store and output of this folder unless options name others. It is run in a
        process of its own if variables are set or if the harness is not `here`."""
        if self.here and not (self.variables or variables):
            return in_this_process(self.folder, *map(str, self.run_arguments(suite, *options)))
        return finished(self.start(*self.run_arguments(suite, *options), **variables), timeout)

    def run_arguments(self, suite: str | Path = "suite.yaml", *options: str | Path) -> list[str | Path]:
        given = {"--store": self.store, "--out": self.out}
        defaults = [word for name, path in given.items() if name not in options for word in (name, path)]
        return ["run", suite, *defaults, *options]


def in_this_process(folder: Path, *arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(sys, "path", [*sys.path, str(TOYS)]),
        ):
            code = cli.main(arguments)
    except SystemExit as ending:  # argparse refuses an argument
        code = int(ending.code or 0)
    finally:
        signal.signal(signal.SIGTERM, handler)
    return Ran(code, out.getvalue(), err.getvalue())


def environment(**variables: str) -> dict[str, str]:
    """The environment of a child process: this one's, with the toys on PYTHONPATH."""
    paths = [str(TOYS), variables.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}


def finished(process: subprocess.Popen[str], timeout: float = LONG) -> Ran:
    """Wait for a command. If it does not end in time, kill its process group and fail the test."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        raise AssertionError(f"the command did not end within {timeout} s:\n{out}\n{err}") from None
    return Ran(process.returncode, out, err)


def small_collection(folder: Path, judged: Iterable[tuple[str, str, int]]) -> None:
    """Five passages, three queries and these judgements in the form of BEIR."""
    (folder / "qrels").mkdir(parents=True)
    texts = ["amber basalt cedar", "amber delta", "cedar ember fjord", "grove heath", "heath islet amber"]
    corpus = [{"_id": f"p{i}", "title": "", "text": text} for i, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_bytes(b"\n".join(map(orjson.dumps, corpus)) + b"\n")
    queries = [{"_id": f"q{i}", "text": text} for i, text in enumerate(["amber", "cedar", "heath grove"])]
    (folder / "queries.jsonl").write_bytes(b"\n".join(map(orjson.dumps, queries)) + b"\n")
    qrels = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judged)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(qrels) + "\n", encoding="utf-8")


def new_package(folder: Path, kind: str, name: str) -> Path:
    """A new package, and beside it what an installer would note of it."""
    assert cli.main(["new-plugin", name, "--kind", kind, "--into", str(folder)]) == 0
    names = scaffold.names(name)
    package = folder / names.distribution
    project = (package / "pyproject.toml").read_text(encoding="utf-8")
    entries = project.partition("[project.entry-points.passage_harness]\n")[2].partition("\n\n")[0]
    info = package / f"{names.module}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {names.distribution}\nVersion: 0.1.0\n")
    written = "".join(f"{line.replace(chr(34), '')}\n" for line in entries.splitlines())
    (info / "entry_points.txt").write_text(f"[passage_harness]\n{written}")
    return package


def leaderboard(out: Path) -> dict[str, Any]:
    """A leaderboard without cost and environment, which may differ between two runs."""
    data: dict[str, Any] = orjson.loads((out / "leaderboard.json").read_bytes())
    del data["environment"]
    for row in data["rows"]:
        del row["cost"]
    return data


def rows(out: Path) -> dict[str, dict[str, Any]]:
    """System -> row, for a leaderboard of one dataset."""
    return {row["system"]: row for row in leaderboard(out)["rows"]}


def results(out: Path) -> dict[str, bytes]:
    """Name -> bytes of all that two runs of a suite must agree on: the leaderboard, runs and per-query values."""
    folders = [out / "runs", out / "per-query"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}
    return {"leaderboard.json": orjson.dumps(leaderboard(out), option=orjson.OPT_INDENT_2), **contents}


def living(variable: str) -> list[int]:
    """The running processes with `NAME=value` in their environment, after a time for killed ones to end."""
    with contextlib.suppress(AssertionError):
        until(lambda: not alive(variable), 120)
    return alive(variable)


def until(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Wait for a condition, and fail the test if it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def alive(variable: str) -> list[int]:
    """The processes that run now with `NAME=value` in their environment."""
    processes = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # the process has ended; a zombie has no environment
                if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    processes.append(int(folder.name))
    return sorted(processes)


def children(process: int) -> list[int]:
    """The running child processes of a process."""
    listed = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            listed += thread.read_text().split()
    return sorted(map(int, listed))
