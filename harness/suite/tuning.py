"""`weight: {tune: {...}}`: a parameter whose value is found by trying a grid of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import params
from harness.suite.model import Tuning
from harness.suite.yaml_nodes import Node

if TYPE_CHECKING:
    from harness.suite.forms import Forms

KEYS = ("on", "folds", "measure", "grid")
MOST = 1000  # values of one grid


def is_tuned(node: Node) -> bool:
    return isinstance(node.value, dict) and list(node.value) == ["tune"]


def read(forms: Forms, node: Node, where: str, parameter: str) -> Tuning | None:
    """The tuning that stands in `node` ({tune: {...}}), or None with the problems told."""
    here = f"{where}.tune"
    inner = node.value["tune"]
    values = forms.mapping(inner, here, KEYS)
    told = len(forms.problems)
    if not values:
        forms.say(inner, here, "is empty; give it 'on' or 'folds', a 'measure' and a 'grid'")
        return None
    measure = forms.scalar(values, "measure", str, "a measure such as nDCG@10", None, where=here)
    if measure is None and "measure" not in values:
        forms.say(inner, here, "'measure' is missing; say what to tune for, such as nDCG@10")
    if ("on" in values) == ("folds" in values):
        forms.say(inner, here, "expected either 'on: DATASET/SPLIT' or 'folds: 5'")
    folds = forms.scalar(values, "folds", int, "a whole number", None, least=2, most=1000, where=here)
    on = _place(forms, values["on"], f"{here}.on") if "on" in values else None
    grid = _grid(forms, values["grid"], f"{here}.grid") if "grid" in values else ()
    if "grid" not in values:
        forms.say(inner, here, "'grid' is missing: [from, to, step], such as [0, 1, 0.1]")
    if len(forms.problems) > told:
        return None
    return Tuning(parameter, measure, grid, on, folds, node.place)


def _place(forms: Forms, node: Node, where: str) -> tuple[str, str] | None:
    name, slash, split = node.value.rpartition("/") if isinstance(node.value, str) else ("", "", "")
    if not (slash and name and split):
        forms.say(node, where, f"expected DATASET/SPLIT, got {params.shown(node.plain())}")
        return None
    return name, split


def _grid(forms: Forms, node: Node, where: str) -> tuple[float, ...]:
    items = node.plain()
    form = "expected [from, to, step] with from below to and a step above 0"
    if not (isinstance(items, list) and len(items) == 3 and all(type(x) in (int, float) for x in items)):
        forms.say(node, where, f"{form}, got {params.shown(items)}")
        return ()
    low, high, step = items
    if not (float("-inf") < low < high < float("inf") and 0 < step < float("inf")):
        forms.say(node, where, form)
        return ()
    count = int((high - low) / step + 1e-9) + 1
    if count > MOST:
        forms.say(node, where, f"has {count} values, at most {MOST} are allowed; take a larger step")
        return ()
    if all(type(item) is int for item in items):
        return tuple(low + i * step for i in range(count))
    return tuple(round(low + i * step, 10) for i in range(count))
