"""`weight: {tune: {...}}`: a parameter whose value is found by trying a grid of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.catalogue import params
from harness.problems import Keys
from harness.suite.model import Tuning
from harness.suite.yaml_nodes import Node

if TYPE_CHECKING:
    from harness.suite.forms import Forms

KEYS = ("on", "folds", "measure", "grid")
MOST = 1000  # values of one grid
FORM = "expected [from, to, step] with from below to and a step above 0"


def is_tuned(node: Node) -> bool:
    return isinstance(node.value, dict) and list(node.value) == ["tune"]


def read(forms: Forms, node: Node, path: Keys, parameter: str) -> Tuning | None:
    """The tuning in `node` ({tune: {...}}), or None with the problems noted in `forms`."""
    path = (*path, "tune")
    inner = node.value["tune"]
    values = forms.mapping(inner, path, KEYS)
    problems_before = len(forms.problems)
    if not values:
        forms.note(inner, path, "is empty; give it 'on' or 'folds', a 'measure' and a 'grid'")
        return None
    measure = forms.scalar(values, "measure", str, "a measure such as nDCG@10", None, path=path)
    if measure is None and "measure" not in values:
        forms.note(inner, path, "'measure' is missing; name the one to tune for, such as nDCG@10")
    if ("on" in values) == ("folds" in values):
        forms.note(inner, path, "expected either 'on: DATASET/SPLIT' or 'folds: 5'")
    folds = forms.scalar(values, "folds", int, "a whole number", None, least=2, most=1000, path=path)
    on = _split(forms, values["on"], (*path, "on")) if "on" in values else None
    grid = _grid(forms, values["grid"], (*path, "grid")) if "grid" in values else ()
    if "grid" not in values:
        forms.note(inner, path, "'grid' is missing: [from, to, step], such as [0, 1, 0.1]")
    if len(forms.problems) > problems_before:
        return None
    return Tuning(parameter, measure, grid, on, folds, node.place)


def _split(forms: Forms, node: Node, path: Keys) -> tuple[str, str] | None:
    name, slash, split = node.value.rpartition("/") if isinstance(node.value, str) else ("", "", "")
    if not (slash and name and split):
        forms.note(node, path, f"expected DATASET/SPLIT, got {params.shown(node.plain())}")
        return None
    return name, split


def _grid(forms: Forms, node: Node, path: Keys) -> tuple[float, ...]:
    items = node.plain()
    if not (isinstance(items, list) and len(items) == 3 and all(type(x) in (int, float) for x in items)):
        forms.note(node, path, f"{FORM}, got {params.shown(items)}")
        return ()
    low, high, step = items
    if not (all(map(math.isfinite, items)) and low < high and step > 0):
        forms.note(node, path, FORM)
        return ()
    steps = (high - low) / step  # infinite where the step is tiny
    if not steps < MOST:
        forms.note(node, path, f"has more than {MOST} values; take a larger step")
        return ()
    count = int(steps + 1e-9) + 1
    if all(type(item) is int for item in items):
        return tuple(low + i * step for i in range(count))
    values = tuple(round(low + i * step, 10) for i in range(count))
    if len(set(values)) < count:
        forms.note(node, path, "has values that differ only after the tenth decimal; take a larger step")
        return ()
    return values
