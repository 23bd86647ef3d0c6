"""Writes what each suite plans into tests/unit/plan/golden: `python tools/golden_plans.py [SUITE ...]`.

A line is a step: its number, its kind, a digest of what its key is made of, its dataset and subject, and the
numbers of its inputs. `python tools/golden_plans.py --facts SUITE` prints what the digests are made of, to
compare two checkouts by.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from harness import catalogue, plan, suite
from harness.catalogue import Catalogue, Entry, params
from harness.plan import analyse, keys
from harness.plan.graph import Plan, Step
from harness.records import Column
from harness.toolkit.neural import hardware, models
from harness.types import JSON, Card, Inputs, Part

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests/unit/plan/golden"
ID = re.compile(r"[a-z]+-[0-9a-f]{64}")
# the plugins whose datasets describe themselves only after a download or with an optional library
ELSEWHERE = ("harness_ir_datasets", "harness_mteb")
COLUMNS = (Column("nDCG@10", "passage"),)  # analyses are planned for columns, which scoring decides


class Facts(NamedTuple):
    """A step as the golden files hold it."""

    kind: str
    dataset: str
    subject: str
    inputs: tuple[str, ...]  # ids of steps
    keyed: JSON  # everything that can change a number of the result


def facts_of(step: Step) -> Facts:
    """The only code here that knows the form of a step."""
    return Facts(step.kind, step.dataset, step.subject, step.inputs, step.record.keyed)


@dataclasses.dataclass(frozen=True)
class StandIn:
    """A dataset whose collection need not be here."""

    params: JSON

    def card(self) -> Card:
        hub = str(self.params.get("path", ""))
        language = self.params.get("language") or ("zh" if hub.startswith("C-MTEB/") else "en")
        return Card(language, self.params.get("split") or "test")

    def inputs(self, part: Part) -> Inputs:
        left_out = ("split",) if part == "corpus" else ()
        return Inputs({name: value for name, value in self.params.items() if name not in left_out})


def standing_in(found: Catalogue) -> Catalogue:
    """The catalogue with stand-ins for the datasets whose plan depends on downloads or optional libraries."""

    def other(entry: Entry) -> Entry:
        record = dataclasses.replace(
            entry.record, needs=(), missing_files=None, build=lambda values: StandIn(params.plain(values))
        )
        return entry._replace(record=record) if entry.plugin.module in ELSEWHERE else entry

    datasets = {name: tuple(map(other, entries)) for name, entries in found.entries["datasets"].items()}
    return Catalogue(found.plugins, {**found.entries, "datasets": datasets})


@contextlib.contextmanager
def any_machine() -> Iterator[None]:
    """Planning as on a machine with a plain CPU, without models, without the hub and without the variables
    that suites read."""
    text = "".join(path.read_text(encoding="utf-8") for path in suites().values())
    read = set(re.findall(r"\$\{(\w+)", text))
    kept = {name: value for name, value in os.environ.items() if name not in read}
    with (
        mock.patch.dict(os.environ, {**kept, "HF_HUB_CACHE": os.devnull}, clear=True),
        mock.patch.object(hardware, "gpus", return_value=0),
        mock.patch.object(hardware, "_cpu_flags", return_value=frozenset()),
        mock.patch.object(models, "_in_package", return_value=None),
        mock.patch.object(models, "_asked", return_value=None),
    ):
        yield


def suites() -> dict[str, Path]:
    """The committed suites by the name of their folder, and one with the shapes of steps that none of them
    has."""
    committed = {path.parent.name: path for path in sorted((ROOT / "leaderboards").glob("*/suite.yaml"))}
    return {**committed, "shapes": GOLDEN / "shapes.yaml"}


def planned(path: Path, found: Catalogue) -> Plan:
    """The plan of a suite. All files have the same digest. `found` is a catalogue of `standing_in`."""
    with any_machine():
        return plan.build(suite.load(path, found), found, lambda file: "0" * 64)


def steps_of(planned: Plan) -> dict[str, Step]:
    """The steps of a plan by id, and after them those of its analyses, as if each row had hits."""
    rows = [row for row in planned.rows if row.hits is not None]
    return {**planned.steps, **{step.id: step for step in analyse.steps(planned, rows, COLUMNS)}}


def settled(value: JSON, inputs: Sequence[str]) -> JSON:
    """What a step is keyed by, without what differs between machines and what changes with the code. The id
    of a step is replaced by its place among `inputs`."""
    if isinstance(value, dict):
        plain = {name: settled(item, inputs) for name, item in value.items()}
        if isinstance(plain.get("libraries"), dict):
            plain["libraries"] = sorted(plain["libraries"])
        if list(plain) == ["missing"] and Path(plain["missing"]).is_absolute():
            missing = Path(plain["missing"])
            plain["missing"] = str(missing.relative_to(ROOT)) if missing.is_relative_to(ROOT) else ""
        return {name: "" if name in ("sources", "versions") else item for name, item in plain.items()}
    if isinstance(value, list | tuple):
        return [settled(item, inputs) for item in value]
    return ID.sub(lambda named: f"input {inputs.index(named[0])}", value) if isinstance(value, str) else value


def golden(planned: Plan, show_facts: bool = False) -> str:
    """The text of a plan: a line for each step and for each row."""
    steps = steps_of(planned)
    numbers = {step: number for number, step in enumerate(steps, 1)}
    lines = [f"# {len(planned.steps)} steps, {len(planned.rows)} rows; written by tools/golden_plans.py"]
    for step, number in numbers.items():
        facts = facts_of(steps[step])
        inputs = sorted(set(facts.inputs), key=numbers.__getitem__)
        keyed = keys.canonical(settled(facts.keyed, inputs))
        digest = hashlib.sha256(keyed).hexdigest()[:10]
        what = " · ".join(filter(None, (facts.dataset, facts.subject)))
        reads = " ".join(str(numbers[item]) for item in inputs)
        lines.append(f"{number} {facts.kind} {digest} {what}" + (f" <- {reads}" if reads else ""))
        lines += [keyed.decode()] if show_facts else []
    for row in planned.rows:
        reads = " ".join(str(numbers[step]) for step in row.steps)
        lines.append(f"row {row.dataset} · {row.system} <- {reads or row.error}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SUITE", help="folders of leaderboards/; by default all")
    parser.add_argument(
        "--facts", action="store_true", help="print what the digests are made of; write nothing"
    )
    options = parser.parse_args()
    found = standing_in(catalogue.load())
    GOLDEN.mkdir(exist_ok=True)
    for name in options.names or suites():
        text = golden(planned(suites()[name], found), options.facts)
        if options.facts:
            print(text, end="")
        else:
            (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")
    for path in GOLDEN.glob("*.txt") if not options.names and not options.facts else ():
        if path.stem not in suites():
            path.unlink()


if __name__ == "__main__":
    main()
