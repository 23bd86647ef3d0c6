"""Reads and writes a leaderboard file. Reading is strict, and an error names the place in the file."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import orjson

from harness import findings
from harness.catalogue import OWN
from harness.errors import HarnessError
from harness.leaderboard.model import Board, Dataset, Environment, Row
from harness.problems import shown_path
from harness.store import disk
from harness.types import JSON

SCHEMA = "passage-harness/leaderboard/1"
FILE = "leaderboard.json"
NO_NUMBER = re.compile("NaN|Infinity")
LIBRARIES = ("numpy", "pyarrow", "numba", "ir-measures", "msgspec", "pluggy")
WORDS = {
    "int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false",
    "null": "null", "array": "a list", "object": "an object",
}  # fmt: skip
EXPECTED = re.compile(r"Expected `([^`]+)`(.*)")


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard and the folder of its files."""

    data: Board
    folder: Path

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.data.rows

    @property
    def columns(self) -> list[str]:
        """The labels of the columns."""
        return [column.label for column in self.data.columns]

    @property
    def ok(self) -> bool:
        return all(row.status == "ok" for row in self.rows)

    def dataset(self, name: str) -> Dataset:
        return next(dataset for dataset in self.data.datasets if dataset.name == name)

    def rows_of(self, dataset: str) -> list[Row]:
        return [row for row in self.rows if row.dataset == dataset]

    def records(self) -> list[dict[str, JSON]]:
        """Flat records, one for each system and dataset: `pandas.DataFrame(leaderboard.records())`."""
        return [self._record(row) for row in self.rows]

    def _record(self, row: Row) -> dict[str, JSON]:
        names = ("dataset", "split", "system", "unit", "origin", "status", "error")
        record = {name: getattr(row, name) for name in names}
        for label in self.columns:
            measure = row.measures.get(label)
            record[label] = measure.mean if measure else None
            record[f"{label} low"], record[f"{label} high"] = (measure and measure.ci95) or (None, None)
        return {**record, "unanswered": row.scored.unanswered or 0, "seconds": row.cost.seconds}

    def write(self) -> Path:
        path = self.folder / FILE
        self.folder.mkdir(parents=True, exist_ok=True)
        disk.replace_file(path, encoded(self.data))
        return path


def encoded(board: Board) -> bytes:
    """The bytes of the leaderboard file. Equal content gives equal bytes."""
    content = msgspec.to_builtins(board)
    if "analyses" in content:  # keys are sorted, as in the analyses that the store keeps
        content["analyses"] = [dict(sorted(analysis.items())) for analysis in content["analyses"]]
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n"


def read(path: Path) -> Leaderboard:
    """Reads a leaderboard from its file, or from the folder that holds it. Raises HarnessError for a file
    that is not a leaderboard, that has a newer form, or that has a wrong type or a missing key anywhere."""
    path = Path(path)
    try:
        path = path / FILE if path.is_dir() else path
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise HarnessError(f"{shown_path(path)}: cannot be read ({reason}); check the path") from None
    where = shown_path(path)
    try:
        data = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        rest = error.doc[error.pos - 1 : error.pos + 8]
        problem = (
            "holds NaN or Infinity, which are no numbers" if NO_NUMBER.search(rest) else "not valid JSON"
        )
        raise HarnessError(f"{where}:{error.lineno}: {problem} ({error.msg}); make it again") from None
    form = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(form, str) or not form.startswith("passage-harness/leaderboard/"):
        raise HarnessError(
            f"{where}: is no leaderboard of passage-harness; name the leaderboard.json of a run"
        )
    if form != SCHEMA:
        raise HarnessError(
            f"{where}: has the form {form}, this version reads {SCHEMA}; upgrade passage-harness"
        )
    return Leaderboard(decoded(data, where), path.parent)


def read_if_any(folder: Path) -> Leaderboard | None:
    """The leaderboard in a folder, or None if the folder has no leaderboard that can be read."""
    try:
        return read(folder)
    except HarnessError:
        return None


def decoded(data: JSON, where: str) -> Board:
    """A leaderboard from parsed JSON. Raises HarnessError, beginning with `where`, if it is none."""
    try:
        board = msgspec.convert(data, Board)
    except msgspec.ValidationError as error:
        raise HarnessError(f"{where}: {_explained(str(error))}; make it again") from None
    for problem in _contradictions(board):
        raise HarnessError(f"{where}: {problem}; make it again")
    return board


def _explained(message: str) -> str:
    """msgspec's message in words of JSON, after the error's place: `rows[3].cost.seconds: expected ...`."""
    text, _, place = message.rpartition(" - at `$")
    text = text or message
    place = place.removesuffix("`").removeprefix(".")
    expected = EXPECTED.fullmatch(text)
    if expected:
        rest = re.sub("`([^`]+)`", lambda kind: _in_words(kind[1]), expected[2])
        text = f"expected {_in_words(expected[1])}{rest}"
    else:
        text = text[:1].lower() + text[1:].replace("`", "'")
    return f"{place}: {text}" if place else text


def _in_words(kinds: str) -> str:
    named = kinds.split(" | ")
    if "float" in named:  # "a number" includes whole numbers
        named = [kind for kind in named if kind != "int"]
    return " or ".join(WORDS.get(kind, kind) for kind in named)


def _contradictions(board: Board) -> Iterator[str]:
    """The problems of a leaderboard whose types are right: names that occur twice, rows of unknown datasets,
    and analyses that contradict themselves."""
    for kind, names in (
        ("datasets", [dataset.name for dataset in board.datasets]),
        ("columns", [column.label for column in board.columns]),
        ("rows", [(row.dataset, row.split, row.system, row.origin) for row in board.rows]),
        ("analyses", [analysis.name for analysis in board.analyses or ()]),
    ):
        seen = set()
        for number, name in enumerate(names):
            if name in seen:
                shown = " / ".join(name[::2]) if isinstance(name, tuple) else name
                yield f"{kind}[{number}]: {shown} stands twice"
            seen.add(name)
    datasets = {dataset.name for dataset in board.datasets}
    for number, row in enumerate(board.rows):
        if row.dataset not in datasets:
            yield f"rows[{number}].dataset: '{row.dataset}' is none of the datasets"
    for number, analysis in enumerate(board.analyses or ()):
        problem = findings.fault(analysis)
        if problem:
            yield f"analyses[{number}]: '{analysis.name}': {problem}"


def json_schema() -> JSON:
    """The published JSON Schema of the file."""
    schema = orjson.loads(orjson.dumps(msgspec.json.schema(Board)))  # gives defaults the types of JSON
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": "A leaderboard of passage-harness", **schema}


def environment() -> Environment:
    """The environment of a leaderboard made now: versions and the machine, never paths or names of people."""
    return Environment(
        harness=importlib.metadata.version(OWN),
        python=platform.python_version(),
        libraries={name: importlib.metadata.version(name) for name in LIBRARIES},
        system=f"{platform.system()} {platform.machine()}",
        cpu=_cpu(),
        cores=os.cpu_count(),
    )


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
