"""The datasets that a leaderboard was scored on, made columnar again, and what of them is another now."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from harness import plan
from harness.catalogue import Catalogue
from harness.errors import HarnessError, Problems
from harness.exchange import ids_only
from harness.execution.engine import Local, missing_needs
from harness.execution.progress import Reporter
from harness.leaderboard import run_rows
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.run_rows import Opened
from harness.plan.graph import Plan
from harness.plan.steps import PARTS
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.store.artifacts import Corrupt, Store
from harness.suite import DatasetSpec, Suite, yaml_nodes
from harness.suite.check import Checker
from harness.suite.include import read as read_suite
from harness.suite.yaml_nodes import Node
from harness.types import JSON

REBUILDS = 3
KEY = re.compile("[0-9a-f]{64}")
SAY_WHERE = "name the suite that says where it lies: --suite SUITE"


class Absent(NamedTuple):
    """Why a dataset cannot be read here."""

    reason: str


class Data:
    """Opens each dataset once, when a row first needs it."""

    def __init__(
        self, board: Leaderboard, store: Store, catalogue: Catalogue, reporter: Reporter, suite: Path | None
    ) -> None:
        self.board, self.store, self.catalogue = board, store, catalogue
        self.reporter, self.suite = reporter, suite
        self.blocks: dict[str, JSON] = {block["name"]: block for block in board.data["datasets"]}
        self.findings: list[str] = []
        self._opened: dict[str, Opened | Absent] = {}

    def digests(self, dataset: str, why: str) -> tuple[str, ...]:
        """What a user would have to bring, as the leaderboard cites it."""
        block = self.blocks.get(dataset, {})
        cited = block.get("contents") or block.get("digests") or {}
        listed = ", ".join(f"{part} {digest}" for part, digest in cited.items()) or "no digest is cited"
        return (f"{dataset}: needs {listed}" + (f" ({why})" if why else ""),)

    def opened(self, dataset: str) -> Opened | Absent:
        if dataset not in self._opened:
            try:
                self._opened[dataset] = self._open(dataset)
            except HarnessError as error:
                self._opened[dataset] = Absent(str(error))
        return self._opened[dataset]

    def _open(self, dataset: str) -> Opened | Absent:
        block = self.blocks.get(dataset)
        if block is None:
            return Absent("the leaderboard does not say what it is")
        if self.suite is None and ids_only.citing(self.board, dataset):
            opened = ids_only.of_board(self.board, dataset)
        else:
            made = self._made(block)
            if isinstance(made, Absent):
                kept = self._kept(block) if self.suite is None else None
                if kept is None:
                    return made if self.suite else Absent(f"{made.reason}; {SAY_WHERE}")
                made = kept
            opened = made
        for part, digest in block.get("contents", {}).items():
            if opened.contents.get(part) != digest:
                here = f"the {part} here are {opened.contents.get(part)}"
                self.findings.append(f"{dataset}: {here}, it was scored on {digest}; bring the same data")
        return opened

    def _made(self, block: JSON) -> Opened | Absent:
        """The dataset, read from where the suite or the leaderboard says that it is."""
        try:
            suite = _alone(self.board, self._spec(block), self.suite)
            planned = plan.build(suite, self.catalogue, self.store.digest)
            return collection(planned, block["name"], self.store, self.reporter)
        except HarnessError as error:
            return Absent(str(error))

    def _kept(self, block: JSON) -> Opened | None:
        """The dataset as a run left it in the store, found by the keys that the leaderboard cites: it says
        paths as its suite did, and the suite lies elsewhere. None if not all of it is there and whole."""
        cited = block.get("digests", {})
        parts = {part: f"{part}-{cited[part]}" for part in PARTS if KEY.fullmatch(cited.get(part, ""))}
        if len(parts) < len(PARTS) or not all(map(self.store.has, parts.values())):
            return None
        policy = block.get("unknown_judgements", "keep")
        try:
            return run_rows.open_parts(parts, policy, f"datasets.{block['name']}", self.store)
        except (Corrupt, HarnessError):
            return None

    def _spec(self, block: JSON) -> DatasetSpec:
        """The dataset as the suite says, if one is given, else as the leaderboard does."""
        name = block["name"]
        if self.suite is not None:
            root = read_suite(self.suite.absolute(), ()).value
            where = str(self.suite)
        else:
            written = {block["plugin"]: block["params"] or None}
            written["unknown_judgements"] = block.get("unknown_judgements", "keep")
            root, where = _read({"datasets": {name: written}}, self.board.folder), "the leaderboard"
        checker = Checker(self.catalogue)
        datasets = root.get("datasets")
        found = [spec for spec in checker.datasets(datasets) if spec.name == name] if datasets else []
        if not found:
            raise Problems(checker.problems or [f"{where}: has no dataset '{name}'; name another suite"])
        return found[0]


def collection(planned: Plan, dataset: str, store: Store, reporter: Reporter) -> Opened | Absent:
    """A planned dataset, made if the store does not have it. Raises HarnessError if the suite refuses it."""
    found = planned.collections[dataset]
    targets = list(found.parts.values())
    lacking = [*found.needs, *missing_needs(planned, store, targets)]
    if not targets or lacking:
        return Absent(found.error or lacking[0])
    for _ in range(REBUILDS):
        failures = Local(planned, store, 1, reporter).run(targets).failures
        if failures:
            return Absent(next(iter(failures.values())).reason)
        try:
            return run_rows.open_collection(found, store)
        except Corrupt as error:
            store.discard(error.step)
    return Absent(f"the store {store.root} is damaged again and again; check the disk")


def scoring_of(board: Leaderboard, catalogue: Catalogue) -> Scoring:
    """How the leaderboard says that it was scored, by what is installed here."""
    said = board.data["suite"]
    if said["protocol"] is not None:
        return protocols.of_protocol(said["protocol"], said["depth"], catalogue)
    documents = any(row["unit"] == "document" for row in board.rows)
    scoring, problems = protocols.of_measures(said["measures"], said["depth"], catalogue, documents=documents)
    if scoring is None:
        raise Problems(f"measures: {problem.text}" for problem in problems)
    return scoring


def _alone(board: Leaderboard, spec: DatasetSpec, suite: Path | None) -> Suite:
    """A suite of this dataset and no system: only its collection is made."""
    said = board.data["suite"]
    return Suite(
        name=board.data["name"], description="", path=suite or board.folder, datasets=(spec,), systems=(),
        measures=tuple(said["measures"]), analyses=(), protocol=said["protocol"], depth=said["depth"],
        seed=said["seed"], timeout=None, scoring_place="", digest=said["digest"],
    )  # fmt: skip


def _read(content: JSON, folder: Path) -> dict[str, Node]:
    """A mapping as a suite's file in that folder would hold it: variables put in, paths relative to it."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "suite.yaml")
        path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
        try:
            root = yaml_nodes.read(path)
        except HarnessError as error:
            said = str(error).partition(": ")[2]
            raise HarnessError(f"{folder.absolute() / 'leaderboard.json'}: datasets: {said}") from None
    moved: dict[str, Node] = _moved(root, folder.absolute() / "leaderboard.json").value
    return moved


def _moved(node: Node, file: Path) -> Node:
    value: Any = node.value
    if isinstance(value, dict):
        value = {key: _moved(item, file) for key, item in value.items()}
    elif isinstance(value, list):
        value = [_moved(item, file) for item in value]
    return node._replace(value=value, file=file)
