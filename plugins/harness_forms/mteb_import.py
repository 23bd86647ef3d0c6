"""Turns task results of MTEB into rows that claim means, to be shown beside other rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.plugin import HarnessError, Problems
from harness.toolkit.boards import Dataset, Leaderboard, Measure, Row
from harness.toolkit.boards.exchange import (
    SCHEMA,
    Board,
    Column,
    Environment,
    Reported,
    SuiteFacts,
    claims_page,
    digest_of,
    parsed_measure,
    published_row,
    write_page,
)
from harness.toolkit.files import writing
from harness_forms.measure_names import of_mteb

META, DEFAULT = "model_meta.json", "default"


class Result(msgspec.Struct):
    """The fields of a result file that are read. The form has not changed since MTEB 1.11."""

    task_name: str
    dataset_revision: str
    scores: dict[str, list[dict[str, Any]]]  # split -> for each subset, its scores by name
    mteb_version: str | None = None


def files(paths: Sequence[Path]) -> list[Path]:
    """The result files in `paths`, with those below folders."""
    results: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        results.update((file, None) for file in inside if file.name != META)
    return list(results)


def board(paths: Sequence[Path], measures: Sequence[str], out: Path, name: str) -> Leaderboard:
    """The leaderboard of result files results/MODEL/REVISION/TASK.json. The MODEL folder names the system.
    Raises HarnessError, with every file, for files that are no results and for two of a model and task."""
    wanted = tuple(parsed_measure(text, {}).name for text in measures)
    rows: dict[tuple[str, str], Row] = {}
    datasets: dict[str, Dataset] = {}
    problems = []
    for path in files(paths):
        try:
            result = _read(path)
            for dataset, row in _rows(path, result, wanted):
                key = dataset.name, row.system
                if key in rows or datasets.get(dataset.name, dataset) != dataset:
                    problem = f"another file has {row.name} already, perhaps of another split or revision"
                    raise HarnessError(f"{path}: {problem}; leave one out")
                rows[key], datasets[dataset.name] = row, dataset
        except HarnessError as error:
            problems.append(str(error))
    if problems:
        raise Problems(problems)
    if not rows:
        raise HarnessError(f"none of the files has one of {', '.join(wanted)}; name other --measures")
    order = list(datasets)
    known = {"depth": None, "seed": 0, "protocol": None, "measures": wanted}
    digest = digest_of({**known, "datasets": order, "name": name})
    content = Board(
        schema=SCHEMA,
        name=name,
        description="Numbers from MTEB's task results. Nothing was run or scored for them here.",
        suite=SuiteFacts(digest=digest, depth=None, seed=0, protocol=None, measures=wanted),
        datasets=tuple(datasets.values()),
        columns=tuple(Column(label, label, "passage", "as MTEB reports it") for label in wanted),
        rows=tuple(sorted(rows.values(), key=lambda row: order.index(row.dataset))),
        analyses=(),
        environment=Environment(),
    )
    return Leaderboard(content, out)


def write(claimed: Leaderboard, command: str) -> Path:
    with writing.explaining(claimed.folder):
        path = claimed.write()
        write_page(claimed.folder, claims_page(claimed, command))
    return path


def _read(path: Path) -> Result:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Result)
    except OSError as error:
        raise HarnessError(f"{path}: {(error.strerror or str(error)).lower()}; check the path") from None
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: is no task result of MTEB ({error}); leave it out") from None


def _rows(path: Path, result: Result, wanted: Sequence[str]) -> Iterator[tuple[Dataset, Row]]:
    """A dataset and a row for every split and subset of a result. The dataset's name contains the subset
    unless it is the default one, and the split if there are several."""
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
        measure = of_mteb(name)
        if measure and isinstance(value, int | float) and math.isfinite(value):
            yield parsed_measure(measure, {}).name, float(value)


def _dataset(name: str, split: str, result: Result) -> Dataset:
    note = f"MTEB's {result.task_name} at revision {result.dataset_revision}"
    return Dataset(
        name=name, split=split, plugin=None, params={}, language=None, query_language=None, licence="",
        citation="", url="", notes=(note,), unknown_judgements="keep", counts={}, digests={}, contents={},
    )  # fmt: skip


def _row(
    dataset: str, split: str, model: str, revision: str, means: dict[str, float], path: Path, result: Result
) -> Row:
    facts = {
        "revision of the model": revision,
        "version of MTEB": result.mteb_version,
        "sha256": writing.sha256(path),
    }
    return published_row(
        dataset=dataset,
        split=split,
        system=model,
        protocol=None,
        measures={label: Measure(mean, None, None, ()) for label, mean in means.items()},
        reported=(Reported("import", "MTEB", facts),),
    )
