"""MTEB's task results -> rows that claim a mean and no more, to be shown beside one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import HarnessError, Problems
from harness.leaderboard import board_file, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.plan import keys
from harness.scoring.measures import parse
from harness.store import disk
from harness.types import JSON

FAMILIES = {"ndcg": "nDCG", "map": "AP", "precision": "P", "recall": "R", "mrr": "RR"}
SCORE = re.compile(rf"({'|'.join(FAMILIES)})_at_(\d+)")
NO_MORE: dict[str, JSON] = {"ci95": None, "queries": None, "sources": []}
META, DEFAULT = "model_meta.json", "default"


class Result(msgspec.Struct):
    """What of a result file is read; it has had this form since MTEB 1.11."""

    task_name: str
    dataset_revision: str
    scores: dict[str, list[dict[str, Any]]]  # split -> a score by name for each subset
    mteb_version: str | None = None


def files(paths: Sequence[Path]) -> list[Path]:
    """Result files, and those below folders."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        found.update((item, None) for item in inside if item.name != META)
    return list(found)


def board(paths: Sequence[Path], measures: Sequence[str], out: Path, name: str) -> Leaderboard:
    """The leaderboard of results/MODEL/REVISION/TASK.json files: the folder names the system. Raises
    HarnessError, naming every file that is none, and for two results of one model on one task."""
    wanted = [parse(text, {}).name for text in measures]
    rows: dict[tuple[str, str], JSON] = {}
    datasets: dict[str, JSON] = {}
    problems = []
    for path in files(paths):
        try:
            result = _read(path)
            for dataset, row in _rows(path, result, wanted):
                key = dataset["name"], row["system"]
                if key in rows or datasets.get(dataset["name"], dataset) != dataset:
                    what = (
                        f"{key[0]} / {key[1]} stands in another file already, or on another split or revision"
                    )
                    raise HarnessError(f"{path}: {what}; leave one out")
                rows[key], datasets[dataset["name"]] = row, dataset
        except HarnessError as error:
            problems.append(str(error))
    if problems:
        raise Problems(problems)
    if not rows:
        raise HarnessError(f"none of the files has one of {', '.join(wanted)}; name other --measures")
    order = list(datasets)
    said = {"depth": None, "seed": 0, "protocol": None, "measures": wanted}
    return Leaderboard(
        {
            "schema": board_file.SCHEMA,
            "name": name,
            "description": "Numbers from MTEB's task results. Nothing was run or scored for them here.",
            "suite": {"digest": keys.key({**said, "datasets": order, "name": name}), **said},
            "datasets": list(datasets.values()),
            "columns": [
                {"label": label, "measure": label, "unit": "passage", "says": "as MTEB reports it"}
                for label in wanted
            ],
            "rows": sorted(rows.values(), key=lambda row: order.index(row["dataset"])),
            "analyses": [],
            "environment": {},
        },
        out,
    )


def write(found: Leaderboard, command: str) -> Path:
    with disk.explaining(found.folder):
        path = found.write()
        page = found.folder / "README.md"
        if not page.exists() or page.read_bytes().startswith(text_tables.MARK.encode()):
            disk.replace_file(page, _page(found, command).encode())
    return path


def _page(found: Leaderboard, command: str) -> str:
    parts = [text_tables.MARK, f"# {found.data['name']}", "", found.data["description"], ""]
    for table in text_tables.tables(found):
        parts += [f"## {table.title}", "", text_tables.markdown(table)]
    return "\n".join([*parts, text_tables.REPRODUCED, "", "```", command, "```", ""])


def _read(path: Path) -> Result:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Result)
    except OSError as error:
        raise HarnessError(f"{path}: {(error.strerror or str(error)).lower()}; check the path") from None
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: is no task result of MTEB ({error}); leave it out") from None


def _rows(path: Path, result: Result, wanted: Sequence[str]) -> Iterator[tuple[JSON, JSON]]:
    """A dataset and a row for every split and subset; of several, the names tell them apart."""
    parts = [(split, scores) for split, subsets in result.scores.items() for scores in subsets]
    model, revision = path.absolute().parent.parent.name.replace("__", "/"), path.absolute().parent.name
    for split, scores in parts:
        subset = str(scores.get("hf_subset", DEFAULT))
        name = result.task_name if subset == DEFAULT else f"{result.task_name}-{subset}"
        if len(result.scores) > 1:
            name += f"-{split}"
        means = {measure: mean for measure, mean in _means(scores) if measure in wanted}
        if means:
            yield _dataset(name, split, result), _row(name, split, model, revision, means, path, result)


def _means(scores: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in scores.items():
        found = SCORE.fullmatch(name)
        if found and isinstance(value, int | float):
            yield parse(f"{FAMILIES[found[1]]}@{found[2]}", {}).name, float(value)


def _dataset(name: str, split: str, result: Result) -> JSON:
    return {
        "name": name, "split": split, "plugin": None, "params": {}, "language": None,
        "query_language": None, "licence": "", "citation": "", "url": "",
        "notes": [f"MTEB's {result.task_name} at revision {result.dataset_revision}"],
        "unknown_judgements": "keep", "counts": {}, "digests": {}, "contents": {},
    }  # fmt: skip


def _row(
    dataset: str, split: str, model: str, revision: str, means: dict[str, float], path: Path, result: Result
) -> JSON:
    facts = {
        "revision of the model": revision,
        "version of MTEB": result.mteb_version,
        "sha256": disk.sha256(path),
    }
    return {
        "dataset": dataset, "split": split, "system": model, "unit": "passage", "protocol": None,
        "origin": "published", "status": "ok", "error": None, "flags": [],
        "measures": {label: {"mean": mean, **NO_MORE} for label, mean in means.items()},
        "slices": {}, "scored": {}, "limits": {}, "tuning": [], "files": {}, "cost": {},
        "reported": [{"step": "import", "method": "MTEB", "facts": facts}],
        "provenance": {"fingerprint": None, "seed": 0, "steps": []},
    }  # fmt: skip
