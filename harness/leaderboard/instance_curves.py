"""How a measure depends on the number of passages per query in training (RocketQAv2, figure 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import orjson

from harness.findings import Finding
from harness.leaderboard.made_models import models_of
from harness.leaderboard.model import Board, Row

LEAST = 3  # the fewest different numbers of passages that make a curve


def findings(board: Board) -> Iterator[Finding]:
    """One curve for each dataset and recipe whose rows differ in nothing but the number of passages, with a
    line for each part (retriever or re-ranker)."""
    for dataset in board.datasets:
        curves: dict[str, list[tuple[int, str, Row]]] = {}
        for row in board.rows:
            if row.dataset == dataset.name and row.status == "ok" and (point := _point(row)) is not None:
                recipe, instances, part = point
                curves.setdefault(recipe, []).append((instances, part, row))
        for recipe, points in curves.items():
            labels = [column.label for column in board.columns if column.label in points[0][2].measures]
            label = next(iter(labels), None)
            if label is None or len({instances for instances, _, _ in points}) < LEAST:
                continue
            rows = sorted(
                (instances, round(row.measures[label].mean, 6), part)
                for instances, part, row in points
                if label in row.measures
            )
            yield Finding(
                name=f"instances/{recipe}/{dataset.name}",
                title=f"Instances a query: {recipe}, {dataset.name}",
                kind="line", columns=("instances", label, "part"), rows=tuple(rows), x="instances", y=label,
                series="part", dataset=dataset.name,
                says="The measure against the number of passages of a query in training, the positive among "
                "them (RocketQAv2, figure 4), for rows whose models were trained alike in all else.",
            )  # fmt: skip


def _point(row: Row) -> tuple[str, int, str] | None:
    """The recipe without the number of passages, the number itself, and whether the row uses the model as a
    retriever or as a re-ranker. None for a row without a model that the suite trained. The model is the one
    trained last."""
    trained = [step for step in row.provenance.steps if step.step == "train" and step.training]
    if not trained or not models_of(row):
        return None
    last = trained[-1]
    training = {key: value for key, value in (last.training or {}).items() if key not in ("take", "segment")}
    alike = orjson.dumps([last.params, training], option=orjson.OPT_SORT_KEYS)
    recipe = f"{last.name} {hashlib.sha256(alike).hexdigest()[:6]}"
    part = "re-ranker" if any(step.step == "rerank" for step in row.provenance.steps) else "retriever"
    return recipe, int((last.training or {})["take"]) + 1, part
