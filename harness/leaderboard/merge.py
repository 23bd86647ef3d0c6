"""Rows of several machines as one leaderboard, if they were scored by the same rules on the same data."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.compare.data import different
from harness.errors import HarnessError, Problems
from harness.exchange import ids_only
from harness.leaderboard import board_file, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.problems import shown_path
from harness.store import disk
from harness.types import JSON

SAME = ("measures", "slices", "scored", "limits")  # what two rows of one name must agree on


class Source(NamedTuple):
    """A leaderboard and what messages call it."""

    board: Leaderboard
    name: str


class Merged(NamedTuple):
    board: Leaderboard
    path: Path
    notes: tuple[str, ...]


def merge(paths: Sequence[Path], out: Path) -> Merged:
    """Write the rows of these leaderboards, with their files, into `out`. Rows that stand in several of them
    with one fingerprint and the same numbers are taken once, and one that failed gives way to one that did
    not. Raises HarnessError, naming every conflict, and then writes nothing."""
    sources = [Source(board_file.read(path), shown_path(path)) for path in paths]
    target = out.resolve()
    if any(source.board.folder.resolve() == target for source in sources):
        raise HarnessError(f"--out {shown_path(out)}: is one of the leaderboards; name another folder")
    problems = [*_scoring(sources), *_datasets(sources)]
    if problems:
        raise Problems(problems)
    notes: list[str] = []
    chosen, problems = _rows(sources, notes)
    files, wrong = _files(chosen, notes)
    if problems or wrong:
        raise Problems([*problems, *wrong])
    board = Leaderboard(_content(sources, chosen, notes), out)
    with disk.explaining(out):
        for source, place in files:
            (out / place).parent.mkdir(parents=True, exist_ok=True)
            with disk.replacing(out / place) as beside:
                shutil.copyfile(source, beside)
        path = board.write()
        page = out / "README.md"
        if not page.exists() or page.read_bytes().startswith(text_tables.MARK.encode()):
            disk.replace_file(
                page, text_tables.readme(board, "harness run SUITE --only ROWS  # on each machine").encode()
            )
    return Merged(board, path, tuple(notes))


def _scoring(sources: Sequence[Source]) -> list[str]:
    first = sources[0]
    problems = []
    for source in sources[1:]:
        for what in ("protocol", "depth", "seed"):
            one, other = (item.board.data["suite"][what] for item in (first, source))
            if one != other:
                problems.append(
                    f"{source.name}: its suite has {what} {other}, {first.name} has {one}; run both alike"
                )
        columns = [{item["label"]: item for item in each.board.data["columns"]} for each in (first, source)]
        for label in sorted(columns[0].keys() ^ columns[1].keys()):
            where = first.name if label in columns[0] else source.name
            problems.append(
                f"{source.name}: only {where} has the column '{label}'; score both by the same measures"
            )
        for label in sorted(columns[0].keys() & columns[1].keys()):
            if columns[0][label] != columns[1][label]:
                what = f"its column '{label}' is not computed as that of {first.name}"
                problems.append(f"{source.name}: {what}; score both by one version of the protocol")
    return problems


def _datasets(sources: Sequence[Source]) -> list[str]:
    first: dict[str, tuple[JSON, Source]] = {}
    problems = []
    for source in sources:
        for block in source.board.data["datasets"]:
            name = block["name"]
            before, other = first.setdefault(name, (block, source))
            problems += [
                f"{source.name}: {text}" for text in different(before, other.name, block, queries=True)
            ]
            alone = [bool(ids_only.citing(each.board, name)) for each in (other, source)]
            if alone[0] != alone[1]:
                what = f"{name}: {(other if alone[0] else source).name} knows its judgements alone"
                problems.append(f"{source.name}: {what}; score those runs with `harness score --suite`")
    return problems


class _Row(NamedTuple):
    row: JSON
    source: Source


def _rows(sources: Sequence[Source], notes: list[str]) -> tuple[list[_Row], list[str]]:
    chosen: dict[tuple[str, ...], _Row] = {}
    problems = []
    for source in sources:
        for row in source.board.rows:
            name = row["dataset"], row["split"], row["system"], row["origin"]
            before = chosen.get(name)
            if before is None:
                chosen[name] = _Row(row, source)
                continue
            shown = f"{row['dataset']} / {row['system']}"
            if "failed" in (row["status"], before.row["status"]):
                if row["status"] == "ok":
                    chosen[name] = _Row(row, source)
                notes.append(f"{shown}: failed in one of them, and is taken from {chosen[name].source.name}")
                continue
            why = _conflict(before.row, row)
            if why:
                what = f"{shown}: is another row than in {before.source.name}: {why}"
                problems.append(f"{source.name}: {what}; rename one of the systems, or leave one out")
            else:
                notes.append(f"{shown}: stands in {before.source.name} and {source.name}, and is taken once")
    order = {block["name"]: i for i, block in enumerate(_blocks(sources))}
    rows = sorted(chosen.values(), key=lambda item: order.get(item.row["dataset"], len(order)))
    return rows, problems


def _conflict(one: JSON, other: JSON) -> str | None:
    prints = [row["provenance"]["fingerprint"] for row in (one, other)]
    if prints[0] != prints[1]:
        return f"its fingerprint is {str(prints[1])[:12]}, not {str(prints[0])[:12]}"
    for part in SAME:
        if one[part] != other[part]:
            name = next(
                key for key in [*one[part], *other[part]] if one[part].get(key) != other[part].get(key)
            )
            return f"its {part} differ in {name}"
    return None


def _files(chosen: Sequence[_Row], notes: list[str]) -> tuple[list[tuple[Path, str]], list[str]]:
    """What is to be copied, and where to; and what is wrong with it."""
    files: dict[str, tuple[Path, str, str]] = {}
    problems = []
    for row, source in chosen:
        for kind, cited in sorted(row["files"].items()):
            place, shown = cited["path"], f"{source.name}: {cited['path']}"
            path = source.board.folder / place
            if not path.resolve().is_relative_to(source.board.folder.resolve()):
                problems.append(f"{shown}: lies outside of its folder; mend the leaderboard")
            elif not path.is_file():
                notes.append(f"{shown}: is not here; the row cites it all the same ({kind})")
            elif disk.sha256(path) != cited["sha256"]:
                problems.append(
                    f"{shown}: is not the file that the row cites (its SHA-256 differs); run it again"
                )
            elif place in files and files[place][2] != cited["sha256"]:
                problems.append(f"{shown}: has the path of another row's file; rename one of the systems")
            else:
                files[place] = path, place, cited["sha256"]
    return [(path, place) for path, place, _ in files.values()], problems


def _content(sources: Sequence[Source], chosen: Sequence[_Row], notes: list[str]) -> dict[str, JSON]:
    first = sources[0].board.data
    suites = sorted({source.board.data["suite"]["digest"] for source in sources})
    digest = suites[0] if len(suites) == 1 else hashlib.sha256(" ".join(suites).encode()).hexdigest()
    rows = []
    for row, source in chosen:
        machine = source.board.data["environment"]
        on = f"{machine.get('cpu', 'unknown')}, {machine.get('cores', '?')} cores"
        rows.append({**row, "cost": {**row["cost"], "machine": on}} if row["cost"] else row)
    environment = {
        **board_file.environment(),
        "cpu": _each(sources, "cpu"),
        "cores": _each(sources, "cores"),
        "merged": [source.board.data["environment"] for source in sources],
    }
    return {
        **first,
        "suite": {**first["suite"], "digest": digest},
        "datasets": _blocks(sources),
        "rows": rows,
        "analyses": _analyses(sources, notes),
        "environment": environment,
    }


def _analyses(sources: Sequence[Source], notes: list[str]) -> list[JSON]:
    """Those of all leaderboards; one that they do not agree on was made of a part of the rows, and goes."""
    found: dict[str, JSON] = {}
    differ = []
    for source in sources:
        for analysis in source.board.data.get("analyses", []):
            if found.setdefault(analysis["name"], analysis) != analysis:
                differ.append(analysis["name"])
    notes += [
        f"the analysis '{name}' differs between them, and is left out" for name in dict.fromkeys(differ)
    ]
    return [analysis for name, analysis in found.items() if name not in differ]


def _blocks(sources: Sequence[Source]) -> list[JSON]:
    """Every dataset once, and rather from a leaderboard that could read it."""
    blocks: dict[str, JSON] = {}
    for source in sources:
        for block in source.board.data["datasets"]:
            if not blocks.get(block["name"], {}).get("counts"):
                blocks[block["name"]] = block
    return list(blocks.values())


def _each(sources: Sequence[Source], what: str) -> JSON:
    """The value, or all of them where machines differ."""
    values = list(dict.fromkeys(source.board.data["environment"].get(what) for source in sources))
    return values[0] if len(values) == 1 else " and ".join(map(str, values))
