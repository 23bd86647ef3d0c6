"""All that is needed to reproduce a row, as text to copy: command, digests, methods, versions."""

from __future__ import annotations

import glob
import shlex

import orjson
from msgspec import to_builtins

from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Measure, Row
from harness.types import JSON


def of_row(board: Leaderboard, row: Row, dataset: Dataset) -> str:
    data = board.data
    lines = [f"{data.name}: {row.system} on {row.dataset} ({row.split})", ""]
    lines += [_command(row), ""]
    if row.origin == "published":
        return "\n".join([*lines, *_published(row)]) + "\n"
    lines += [f"suite digest: {data.suite.digest}"]
    lines += [f"protocol: {row.protocol}"] if row.protocol else []
    lines += [f"{part} digest: {digest}" for part, digest in dataset.digests.items()]
    provenance = row.provenance
    if provenance.fingerprint:
        lines += [f"ranking's fingerprint: {provenance.fingerprint}"]
    lines += [f"seed: {provenance.seed}", *(f"{name}: {file.path} sha256 {file.sha256}"
              for name, file in row.files.items())]  # fmt: skip
    lines += ["", "measures:", *(f"  {label}: {_number(measure)}" for label, measure in row.measures.items())]
    if provenance.steps:
        lines += ["", "steps:"]
    for step in provenance.steps:
        lines.append(f"  {step.step} {step.key}")
        lines.append(f"    {step.name} version {step.version}, {step.plugin}")
        for name in ("sources", "params", "libraries", "uses"):
            value = getattr(step, name)
            if value:
                lines.append(f"    {name}: {_plain(value)}")
    lines += [
        "",
        "environment:",
        *(f"  {name}: {_plain(value)}" for name, value in to_builtins(data.environment).items()),
    ]
    return "\n".join(lines) + "\n"


def _command(row: Row) -> str:
    if row.origin != "run":
        return f"origin: {row.origin} (nothing here was run)"
    pattern = f"{glob.escape(row.dataset)}/{glob.escape(row.system)}"
    return f"harness run suite.yaml --only {shlex.quote(pattern)}"


def _published(row: Row) -> list[str]:
    """Lines on where the paper prints each number. The environment of the leaderboard is left out, because
    the paper's numbers were not computed in it."""
    lines = [f"protocol: {row.protocol}"] if row.protocol else []
    for label, measure in row.measures.items():
        lines.append(f"{label}: {measure.mean!r}")
        for source in measure.sources or ():
            page = f", page {source.page}" if source.page else ""
            lines.append(f"  {source.printed} in table {source.table}{page} of {source.url}")
    return lines


def _number(measure: Measure) -> str:
    if measure.ci95 is None:
        return repr(measure.mean)
    low, high = measure.ci95
    return f"{measure.mean!r} [{low!r}, {high!r}] over {measure.queries} queries"


def _plain(value: JSON) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
