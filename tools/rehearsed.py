"""What tests/e2e/test_rehearsed_suites.py found: the table, and the committed record.

`python tools/rehearsed.py` prints the table of the last rehearsal; with `--write` it also writes
tools/rehearsed.yaml, which docs/reproduction.md and its test read.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness import catalogue, suite
from harness.running import preparation
from harness.store.artifacts import Store

ROOT = Path(__file__).parents[1]
LEADERBOARDS = ROOT / "leaderboards"
SUITES = sorted(LEADERBOARDS.glob("*/suite.yaml"))
RECORD = ROOT / "tools" / "rehearsed.yaml"
KEPT = ROOT / ".pytest_cache" / "rehearsal"
KEYS = ("rows", "ok", "digest", "failed")
HEAD = """\
# The rehearsal of the committed suites on stand-ins: rows planned, rows ok, a digest of the rows' names.
# Written by `python tools/rehearsed.py --write` after `pytest tests/e2e/test_rehearsed_suites.py`.
"""


def planned(path: Path) -> list[str]:
    """The rows of a suite as `DATASET / SYSTEM`, sorted. Neither data nor models need to be here."""
    known = catalogue.load()
    with tempfile.TemporaryDirectory() as folder:
        plan = preparation.prepare(suite.load(path, known), known, Store(Path(folder)).open()).plan
    return sorted(f"{row.dataset} / {row.system}" for row in plan.rows)


def digest(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


def result(rows: Sequence[str], failed: Iterable[str]) -> dict[str, Any]:
    """The entry of a suite in the record."""
    broken = sorted(failed)
    entry = {"rows": len(rows), "ok": len(rows) - len(broken), "digest": digest(rows)}
    return entry | ({"failed": broken} if broken else {})


def expected() -> dict[str, str]:
    """The rows that must fail, as `SUITE / DATASET / SYSTEM`, with the reason."""
    declared: dict[str, Any] = yaml.safe_load((ROOT / "tools" / "reproduction.yaml").read_text("utf-8"))
    return dict(declared.get("fails", {}))


def record() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(RECORD.read_text(encoding="utf-8"))) if RECORD.exists() else {}


def keep(name: str, entry: Mapping[str, Any], times: tuple[float, float], loaded: Sequence[str]) -> None:
    """Keep what one suite's rehearsal found for the table. `times` are seconds on the clock and of
    processors, `loaded` the repositories whose weights were downloaded."""
    KEPT.mkdir(parents=True, exist_ok=True)
    seconds, cpu = (round(each, 1) for each in times)
    kept = {**entry, "seconds": seconds, "cpu": cpu, "loaded": list(loaded)}
    (KEPT / f"{name}.json").write_text(json.dumps(kept), encoding="utf-8")


def table() -> str:
    """The last rehearsal of each suite, and their sum."""
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(KEPT.glob("*.json"))}
    lines = [f"{'suite':24} {'rows planned':>12} {'rows ok':>8} {'seconds':>8} {'of processors':>14}"]
    total = {key: sum(entry[key] for entry in kept.values()) for key in ("rows", "ok", "seconds", "cpu")}
    for name, entry in (*kept.items(), (f"{len(kept)} suites", total)):
        lines.append(
            f"{name:24} {entry['rows']:>12} {entry['ok']:>8} {entry['seconds']:>8.1f} {entry['cpu']:>14.1f}"
        )
    models = {name for entry in kept.values() for name in entry["loaded"]}
    return "\n".join([*lines, f"weights of {len(models)} repositories downloaded"]) + "\n"


def write() -> None:
    """Write the record from the last rehearsal of each suite."""
    entries = {}
    for path in SUITES:
        kept = json.loads((KEPT / f"{path.parent.name}.json").read_text(encoding="utf-8"))
        entries[path.parent.name] = {
            key: kept[key] for key in ("rows", "ok", "digest", "failed") if key in kept
        }
    dumped = yaml.safe_dump(entries, default_flow_style=None, sort_keys=False, width=108)
    RECORD.write_text(HEAD + dumped, encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(table())
    if "--write" in sys.argv:
        write()
