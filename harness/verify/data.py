"""Opens the datasets of a leaderboard again, and checks that their content is the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from harness import suite as suites
from harness.catalogue import Catalogue
from harness.errors import HarnessError, Problems
from harness.execution import open_dataset
from harness.execution.open_dataset import Opened, Unavailable
from harness.execution.progress import Reporter
from harness.leaderboard import board_file, hints, ids_only
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.suite import DatasetSpec, yaml_nodes
from harness.suite.check import Checker
from harness.suite.include import read as read_suite
from harness.suite.yaml_nodes import Node
from harness.types import JSON, PARTS

KEY = re.compile("[0-9a-f]{64}")
SAY_WHERE = "name the suite that says where it lies: --suite SUITE"


class Absent(NamedTuple):
    """A dataset that cannot be read, with the reason."""

    reason: str


class Data:
    """The datasets of a leaderboard. Each is opened once, when a row first needs it."""

    def __init__(
        self, board: Leaderboard, store: Store, catalogue: Catalogue, reporter: Reporter, suite: Path | None
    ) -> None:
        self.board, self.store, self.catalogue = board, store, catalogue
        self.reporter, self.suite = reporter, suite
        self.datasets = {dataset.name: dataset for dataset in board.data.datasets}
        self.findings: list[str] = []
        self._opened: dict[str, Opened | Absent] = {}

    def digests(self, dataset: str, why: str) -> tuple[str, ...]:
        """The digests of the data that a user would have to supply, as the leaderboard cites them."""
        block = self.datasets.get(dataset)
        cited = {} if block is None else block.contents or block.digests
        listed = ", ".join(f"{part} {digest}" for part, digest in cited.items()) or "no digest is cited"
        return (f"{dataset}: needs {listed}" + (f" ({why})" if why else ""),)

    def opened(self, dataset: str) -> Opened | Absent:
        if dataset not in self._opened:
            try:
                self._opened[dataset] = self._open(dataset)
            except HarnessError as error:
                self._opened[dataset] = Absent(str(error))
        return self._opened[dataset]

    def _open(self, dataset: str) -> Opened:
        """The opened dataset. Raises HarnessError if it cannot be read. A part whose content differs from
        what the leaderboard cites is reported in `findings`."""
        block = self.datasets.get(dataset)
        if block is None:
            raise Unavailable("the leaderboard does not say what it is")
        if self.suite is None and ids_only.citing(self.board, dataset):
            opened = ids_only.of_board(self.board, dataset)
        elif self.suite is not None:
            opened = self._open_of_suite(self.suite, dataset)
        else:
            opened = self._open_as_cited(block)
        for part, digest in (block.contents or {}).items():
            if opened.contents.get(part) != digest:
                here = f"the {part} here are {opened.contents.get(part)}"
                self.findings.append(f"{dataset}: {here}, it was scored on {digest}; bring the same data")
        return opened

    def _open_as_cited(self, block: Dataset) -> Opened:
        """The dataset opened from the first of these that works: the leaderboard's description, the hints in
        `verify.yaml`, the artifacts of a run in the store."""
        reason = ""
        for opening in (self._open_of_block, self._open_of_hints):
            try:
                return opening(block)
            except HarnessError as error:
                reason = reason or str(error)
        stored = self._stored(block)
        if stored is None:
            raise Unavailable(f"{reason}; {SAY_WHERE}")
        return stored

    def _open_of_suite(self, suite: Path, dataset: str) -> Opened:
        spec = self._spec_of_suite(suite, dataset)
        whole = suites.load(suite, self.catalogue) if spec.make else None
        return open_dataset.open_dataset(spec, self.catalogue, self.store, self.reporter, whole)

    def _open_of_block(self, block: Dataset) -> Opened:
        if block.made:
            raise Unavailable("its suite makes it")
        spec = self._spec_of_block(block)
        return open_dataset.open_dataset(spec, self.catalogue, self.store, self.reporter)

    def _open_of_hints(self, block: Dataset) -> Opened:
        places = hints.read(self.board.folder)
        if places is not None and block.made:
            for suite in places.suites:
                if suite.is_file():
                    return self._open_of_suite(suite, block.name)
        if places is None or block.name not in places.datasets:
            raise Unavailable("nothing says where it was")
        node = places.datasets[block.name]
        spec = self._spec(node._replace(value={block.name: node}), block.name, hints.FILE)
        return open_dataset.open_dataset(spec, self.catalogue, self.store, self.reporter)

    def _stored(self, block: Dataset) -> Opened | None:
        """The dataset from the store, by the keys that the leaderboard cites, or None if a part is missing or
        damaged. This needs no paths, which are relative to a suite that may be elsewhere."""
        cited = block.digests
        found = {
            part: self.store.part(part, cited[part]) for part in PARTS if KEY.fullmatch(cited.get(part, ""))
        }
        steps = {part: step for part, step in found.items() if step is not None}
        if len(steps) < len(PARTS):
            return None
        policy = block.unknown_judgements or "keep"
        try:
            parts = open_dataset.read_parts(steps, self.store)
            return open_dataset.opened(parts, policy, f"datasets.{block.name}")
        except (Corrupt, HarnessError):
            return None

    def _spec_of_suite(self, suite: Path, dataset: str) -> DatasetSpec:
        datasets = read_suite(suite.absolute(), ()).value.get("datasets")
        return self._spec(datasets, dataset, str(suite))

    def _spec_of_block(self, block: Dataset) -> DatasetSpec:
        form: JSON = {block.plugin: block.params, "unknown_judgements": block.unknown_judgements or "keep"}
        names = {"queries": "limit", "passages": "sample"}
        form |= {names[what]: number for what, number in (block.limited or {}).items()}
        file = self.board.folder.absolute() / board_file.FILE
        return self._spec(yaml_nodes.of_data({block.name: form}, file), block.name, "the leaderboard")

    def _spec(self, datasets: Node | None, dataset: str, where: str) -> DatasetSpec:
        checker = Checker(self.catalogue)
        specs = {spec.name: spec for spec in checker.datasets(datasets)} if datasets else {}
        if dataset not in specs:
            raise Problems(checker.problems or [f"{where}: has no dataset '{dataset}'; name another suite"])
        return specs[dataset]


def scoring_of(board: Leaderboard, catalogue: Catalogue) -> Scoring:
    """The scoring that the leaderboard names, with the measures and protocols of this installation."""
    suite = board.data.suite
    if suite.depth is None:
        raise HarnessError("suite.depth: is null, but runs are scored to a depth; make the leaderboard again")
    if suite.protocol is not None:
        return protocols.of_protocol(suite.protocol, suite.depth, catalogue)
    documents = any(row.unit == "document" for row in board.rows)
    scoring, problems = protocols.of_measures(suite.measures, suite.depth, catalogue, documents=documents)
    if scoring is None:
        raise Problems(f"measures: {problem.text}" for problem in problems)
    return scoring
