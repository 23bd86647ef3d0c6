"""Reads tuned parameters, `weight: {tune: {...}}`, whose values are found by trying several values."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.catalogue import params
from harness.problems import Keys
from harness.suite.model import Search, Tuning
from harness.suite.yaml_nodes import Node
from harness.types import JSON

if TYPE_CHECKING:
    from harness.suite.forms import Forms

KEYS = ("on", "folds", "measure", "grid", "values", "simplex", "trials", "seed")
FURTHER = ("grid", "values", "simplex")  # keys of the parameters that are tuned together with the first
ONLY_OF_SEARCHES = ("values", "simplex", "trials", "seed")  # keys that the Tuning of a combiner does not have
MOST = 1000  # values of one grid
FORM = "expected [from, to, step] with from below to and a step above 0"


def is_tuned(node: Node) -> bool:
    return isinstance(node.value, dict) and list(node.value) == ["tune"]


def read(forms: Forms, node: Node, path: Keys, parameter: str) -> Tuning | None:
    """The tuning in `node` ({tune: {...}}), or None with the problems noted in `forms`."""
    path = (*path, "tune")
    inner = node.value["tune"]
    values = forms.mapping(inner, path, tuple(key for key in KEYS if key not in ONLY_OF_SEARCHES))
    problems_before = len(forms.problems)
    if not values:
        forms.note(inner, path, "is empty; give it 'on' or 'folds', a 'measure' and a 'grid'")
        return None
    measure, on, folds = _target(forms, inner, values, path)
    grid = _grid(forms, values["grid"], (*path, "grid")) if "grid" in values else ()
    if "grid" not in values:
        forms.note(inner, path, "'grid' is missing: [from, to, step], such as [0, 1, 0.1]")
    if len(forms.problems) > problems_before:
        return None
    return Tuning(parameter, measure, grid, on, folds, node.place)


def read_search(forms: Forms, nodes: Mapping[str, Node], path: Keys) -> Search | None:
    """The joint tuning of parameters ({name: {tune: {...}}}), or None with the problems noted in `forms`. The
    first parameter gives the split or folds, the measure and its values; the others give only their
    values."""
    problems_before = len(forms.problems)
    options: list[Sequence[JSON]] = []
    (first, node), *_ = nodes.items()
    for name, item in nodes.items():
        inner, at = item.value["tune"], (*path, name, "tune")
        values = forms.mapping(inner, at, KEYS if name == first else FURTHER)
        if len([key for key in FURTHER if key in values]) != 1:
            text = "expected either a 'grid': [from, to, step], or 'values': a list"
            forms.note(inner, at, f"{text}, or 'simplex': [systems, step]")
        elif "simplex" in values:
            options.append(_simplex(forms, values["simplex"], (*at, "simplex")))
        elif "grid" in values:
            options.append(_grid(forms, values["grid"], (*at, "grid")))
        else:
            options.append(_values(forms, values["values"], (*at, "values")))
    path = (*path, first, "tune")
    inner = node.value["tune"]
    values = {key: item for key, item in inner.value.items() if key in KEYS}
    measure, on, folds = _target(forms, inner, values, path)
    trials = forms.scalar(values, "trials", int, "a whole number", None, least=1, most=MOST, path=path)
    seed = forms.scalar(values, "seed", int, "a whole number", 0, least=0, path=path)
    count = math.prod(len(item) for item in options)
    if trials is None and count > MOST:
        text = (
            f"the grids have {count:,} points, at most {MOST} are tried; take larger steps, or set 'trials'"
        )
        forms.note(inner, path, text)
    if len(forms.problems) > problems_before:
        return None
    return Search(tuple(nodes), points(options, trials, seed), measure, on, folds, node.place)


def points(options: Sequence[Sequence[JSON]], trials: int | None, seed: int) -> tuple[tuple[JSON, ...], ...]:
    """Every combination of the options, the last parameter varying fastest. With `trials`, that many
    combinations are drawn by the seed."""
    count = math.prod(len(item) for item in options)
    if trials is None or trials >= count:
        return tuple(itertools.product(*options))
    drawn = []
    for number in sorted(random.Random(seed).sample(range(count), trials)):
        point: list[JSON] = []
        for item in reversed(options):
            number, place = divmod(number, len(item))
            point.insert(0, item[place])
        drawn.append(tuple(point))
    return tuple(drawn)


def _target(
    forms: Forms, inner: Node, values: dict[str, Node], path: Keys
) -> tuple[Any, tuple[str, str] | None, int | None]:
    """The measure to tune for, and the split to tune on or the number of folds."""
    measure = forms.scalar(values, "measure", str, "a measure such as nDCG@10", None, path=path)
    if measure is None and "measure" not in values:
        forms.note(inner, path, "'measure' is missing; name the one to tune for, such as nDCG@10")
    if ("on" in values) == ("folds" in values):
        forms.note(inner, path, "expected either 'on: DATASET/SPLIT' or 'folds: 5'")
    folds = forms.scalar(values, "folds", int, "a whole number", None, least=2, most=1000, path=path)
    on = _split(forms, values["on"], (*path, "on")) if "on" in values else None
    return measure, on, folds


def _values(forms: Forms, node: Node, path: Keys) -> tuple[JSON, ...]:
    items = node.plain()
    if (
        not isinstance(items, list)
        or len(items) < 2
        or any(item in items[:i] for i, item in enumerate(items))
    ):
        shown = json.dumps(items, ensure_ascii=False, default=str)
        forms.note(node, path, f"expected a list of two or more different values, got {shown[:80]}")
        return ()
    return tuple(items)


def _simplex(forms: Forms, node: Node, path: Keys) -> tuple[list[float], ...]:
    """All lists of weights that sum to 1, from `[systems, step]`: one weight per system, in multiples of the
    step."""
    items = node.plain()
    fits = isinstance(items, list) and len(items) == 2 and all(type(item) in (int, float) for item in items)
    count, step = items if fits else (0, 0)
    parts = round(1 / step) if 0 < step <= 1 else 0
    if not (type(count) is int and 2 <= count <= 20 and parts and abs(parts * step - 1) < 1e-9):
        forms.note(node, path, f"expected [systems, step], such as [3, 0.1], got {params.shown(items)}")
        return ()
    if math.comb(parts + count - 1, count - 1) > MOST * MOST:
        forms.note(node, path, "has more than a million points; take a larger step")
        return ()
    bars = itertools.combinations(range(parts + count - 1), count - 1)
    ends = ((-1, *bar, parts + count - 1) for bar in bars)
    return tuple([round((b - a - 1) / parts, 10) for a, b in itertools.pairwise(end)] for end in ends)


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
    steps = (high - low) / step  # infinite if the step is tiny
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
