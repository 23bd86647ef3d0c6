"""The leaderboard file: its form, reading, checking and writing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from harness.catalogue import OWN
from harness.errors import HarnessError
from harness.problems import shown_path
from harness.store import disk
from harness.types import JSON

SCHEMA = "passage-harness/leaderboard/1"
FILE = "leaderboard.json"
NO_NUMBER = re.compile("NaN|Infinity")
LIBRARIES = ("numpy", "pyarrow", "numba", "ir-measures", "msgspec", "pluggy")


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard and where its files are."""

    data: dict[str, JSON]
    folder: Path

    @property
    def rows(self) -> list[dict[str, JSON]]:
        return list(self.data["rows"])

    @property
    def columns(self) -> list[str]:
        return [column["label"] for column in self.data["columns"]]

    @property
    def ok(self) -> bool:
        return all(row["status"] == "ok" for row in self.data["rows"])

    def records(self) -> list[dict[str, JSON]]:
        """Flat rows, one a system and dataset: `pandas.DataFrame(leaderboard.records())`."""
        return list(self._records())

    def _records(self) -> Iterator[dict[str, JSON]]:
        for row in self.data["rows"]:
            names = ("dataset", "split", "system", "unit", "origin", "status", "error")
            flat = {key: row[key] for key in names}
            for label in self.columns:
                found = row["measures"].get(label)
                flat[label] = found["mean"] if found else None
                flat[f"{label} low"], flat[f"{label} high"] = (found and found["ci95"]) or (None, None)
            flat["seconds"] = row["cost"].get("seconds")
            yield flat

    def write(self) -> Path:
        path = self.folder / FILE
        self.folder.mkdir(parents=True, exist_ok=True)
        disk.replace_file(path, orjson.dumps(self.data, option=orjson.OPT_INDENT_2) + b"\n")
        return path


def read(path: Path) -> Leaderboard:
    """A leaderboard's file, or the folder that holds it. Refuses what is not one, or is newer."""
    path = path / FILE if path.is_dir() else path
    where = shown_path(path)
    try:
        data = orjson.loads(path.read_bytes())
    except OSError as error:
        raise HarnessError(
            f"{where}: cannot be read ({(error.strerror or '').lower()}); check the path"
        ) from None
    except orjson.JSONDecodeError as error:
        rest = error.doc[error.pos - 1 : error.pos + 8]
        what = "holds NaN or Infinity, which are no numbers" if NO_NUMBER.search(rest) else "not valid JSON"
        raise HarnessError(f"{where}:{error.lineno}: {what} ({error.msg}); make it again") from None
    found = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(found, str) or not found.startswith("passage-harness/leaderboard/"):
        raise HarnessError(
            f"{where}: is no leaderboard of passage-harness; name the leaderboard.json of a run"
        )
    if found != SCHEMA:
        raise HarnessError(
            f"{where}: has the form {found}, this version reads {SCHEMA}; upgrade passage-harness"
        )
    problems = list(_faults(data))
    if problems:
        raise HarnessError(f"{where}: {problems[0]}; make it again")
    data.setdefault("analyses", [])  # files of before there were such things
    for row in data["rows"]:
        row.setdefault("limits", {})
        row.setdefault("reported", [])
        row.setdefault("tuning", [])
    return Leaderboard(data, path.parent)


def _faults(data: JSON) -> Iterator[str]:
    """What of the published JSON Schema does not hold."""
    import msgspec

    from harness.leaderboard.schemas import LeaderboardFile

    try:
        found = msgspec.convert(data, LeaderboardFile)
    except msgspec.ValidationError as error:
        yield str(error)
        return
    seen = set()
    for row in found.rows:
        name = (row.dataset, row.split, row.system, row.origin)
        if name in seen:
            yield f"the row {row.dataset} / {row.system} stands twice"
        seen.add(name)


def environment() -> dict[str, JSON]:
    """Where a leaderboard was made: versions and machine, never paths or names of people."""
    installed = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {
        "passage-harness": importlib.metadata.version(OWN),
        "python": platform.python_version(),
        "libraries": installed,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
    }


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
