"""Reads parameters that are tuned or learned, `weight: {tune: {...}}`, by trying several values."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.catalogue import params
from harness.problems import Keys, Named
from harness.suite.keys import LARGEST, MEASURE, SPLIT, Form, Split, fields_of, key
from harness.suite.model import Search, Tuning
from harness.suite.yaml_nodes import Node
from harness.types import JSON

if TYPE_CHECKING:
    from harness.suite.forms import Forms

FURTHER = ("grid", "values", "simplex")  # keys of the parameters that are tuned together with the first
ONLY_OF_SEARCHES = ("values", "simplex", "trials", "seed")  # keys that the Tuning of a combiner does not have
MOST = 1000  # values of one grid
FORM = "expected [from, to, step] with from below to and a step above 0"


def _values(forms: Forms, node: Node, path: Keys) -> tuple[JSON, ...] | None:
    items = node.plain()
    if (
        not isinstance(items, list)
        or len(items) < 2
        or any(item in items[:i] for i, item in enumerate(items))
    ):
        shown = json.dumps(items, ensure_ascii=False, default=str)
        forms.note(node, path, f"expected a list of two or more different values, got {shown[:80]}")
        return None
    return tuple(items)


def _simplex(forms: Forms, node: Node, path: Keys) -> tuple[list[float], ...] | None:
    """All lists of weights that sum to 1, from `[systems, step]`: one weight per system, in multiples of the
    step."""
    items = node.plain()
    fits = isinstance(items, list) and len(items) == 2 and all(type(item) in (int, float) for item in items)
    count, step = items if fits else (0, 0)
    parts = round(1 / step) if 0 < step <= 1 else 0
    if not (type(count) is int and 2 <= count <= 20 and parts and abs(parts * step - 1) < 1e-9):
        forms.note(node, path, f"expected [systems, step], such as [3, 0.1], got {params.shown(items)}")
        return None
    if math.comb(parts + count - 1, count - 1) > MOST * MOST:
        forms.note(node, path, "has more than a million points; take a larger step")
        return None
    bars = itertools.combinations(range(parts + count - 1), count - 1)
    ends = ((-1, *bar, parts + count - 1) for bar in bars)
    return tuple([round((b - a - 1) / parts, 10) for a, b in itertools.pairwise(end)] for end in ends)


def _grid(forms: Forms, node: Node, path: Keys) -> tuple[float, ...] | None:
    items = node.plain()
    if not (isinstance(items, list) and len(items) == 3 and all(type(x) in (int, float) for x in items)):
        forms.note(node, path, f"{FORM}, got {params.shown(items)}")
        return None
    low, high, step = items
    if not (all(map(math.isfinite, items)) and low < high and step > 0):
        forms.note(node, path, FORM)
        return None
    steps = (high - low) / step  # infinite if the step is tiny
    if not steps < MOST:
        forms.note(node, path, f"has more than {MOST} values; take a larger step")
        return None
    count = int(steps + 1e-9) + 1
    if all(type(item) is int for item in items):
        return tuple(low + i * step for i in range(count))
    values = tuple(round(low + i * step, 10) for i in range(count))
    if len(set(values)) < count:
        forms.note(node, path, "has values that differ only after the tenth decimal; take a larger step")
        return None
    return values


_numbers: JSON = {"type": "array", "items": {"type": "number"}}
_systems: JSON = {"type": "integer", "minimum": 2, "maximum": 20}
_step: JSON = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
GRID = Form(_grid, {**_numbers, "minItems": 3, "maxItems": 3})
VALUES = Form(_values, {"type": "array", "minItems": 2, "uniqueItems": True})
SIMPLEX = Form(_simplex, {**_numbers, "prefixItems": [_systems, _step], "minItems": 2, "maxItems": 2})


@dataclass(frozen=True)
class Tune:
    """The keys of `tune`, which stands in the place of a parameter's value."""

    on: Split | None = key(None, "the DATASET/SPLIT on which values are compared", form=SPLIT)
    folds: int | None = key(None, "instead of 'on', the number of folds", minimum=2, maximum=1000)
    measure: str | None = key(None, "a measure such as nDCG@10", form=MEASURE)
    grid: tuple[float, ...] | None = key(None, "from, to and step", form=GRID)
    values: tuple[JSON, ...] | None = key(None, "instead of a grid", form=VALUES)
    simplex: tuple[list[float], ...] | None = key(None, "instead of a grid: systems, step", form=SIMPLEX)
    trials: int | None = key(None, "how many points are drawn; without it, all", minimum=1, maximum=MOST)
    seed: int = key(0, "by which points are drawn", minimum=0, maximum=LARGEST)


@dataclass(frozen=True)
class Learned:
    """The keys of `learned`, which stands in the place of the value of a combiner's parameter."""

    on: Split | None = key(None, "the DATASET/SPLIT on which a value for each query is learned", form=SPLIT)
    folds: int | None = key(None, "instead of 'on', the number of folds", minimum=2, maximum=1000)
    measure: str = key("nDCG@10", "the measure of the values", form=MEASURE)
    grid: tuple[float, ...] | None = key(None, "from, to and step; without it, [0, 1, 0.05]", form=GRID)


SCHEMAS: dict[str, JSON] = {  # what stands in the place of a parameter's value
    word: {
        "type": "object",
        "properties": {word: params.schema(section)},
        "required": [word],
        "additionalProperties": False,
    }
    for word, section in (("tune", Tune), ("learned", Learned))
}


def is_tuned(node: Node) -> bool:
    return isinstance(node.value, dict) and len(node.value) == 1 and node.value.keys() <= SCHEMAS.keys()


def keys_of(node: Node) -> Node:
    """The node of the keys of `tune` or `learned`."""
    return next(iter(node.value.values()))  # type: ignore[no-any-return]


def read(forms: Forms, node: Node, path: Keys, parameter: str) -> Tuning | None:
    """The tuning in `node` (`tune` or `learned`), or None with the problems noted in `forms`."""
    inner, learned = keys_of(node), "learned" in node.value
    path = (*path, *node.value)
    problems_before = len(forms.problems)
    if not inner.value and not learned:
        forms.note(inner, path, "is empty; give it 'on' or 'folds', a 'measure' and a 'grid'")
        return None
    section: type[Tune | Learned] = Learned if learned else Tune
    keys = forms.section(section, inner, path) or section()
    _check_target(forms, inner, path, learned)
    if "grid" not in inner.value and not learned:
        forms.note(inner, path, "'grid' is missing: [from, to, step], such as [0, 1, 0.1]")
    grid = keys.grid or tuple(i / 20 for i in range(21))
    if learned and len(grid) < 3:
        forms.note(inner, (*path, "grid"), "has two values; a value for each query needs three or more")
    if len(forms.problems) > problems_before:
        return None
    assert keys.measure is not None
    return Tuning(parameter, keys.measure, grid, keys.on, keys.folds, node.place, learned)


def read_search(forms: Forms, nodes: Mapping[str, Node], path: Keys) -> Search | None:
    """The joint tuning of parameters ({name: {tune: {...}}}), or None with the problems noted in `forms`. The
    first parameter gives the split or folds, the measure and its values; the others give only their
    values."""
    problems_before = len(forms.problems)
    options: list[Sequence[JSON]] = []
    (first, node), *_ = nodes.items()
    inner, above = node.value["tune"], (*path, first, "tune")
    target = Tune()
    for name, item in nodes.items():
        own, at = item.value["tune"], (*path, name, "tune")
        keys = forms.section(Tune, own, at) or Tune()
        target = keys if name == first else target
        for word in () if name == first else fields_of(Tune).keys() & own.value.keys() - {*FURTHER}:
            forms.note(own.value[word], (*at, word), f"stands at the first tuned parameter, '{first}'")
        if len(own.value.keys() & {*FURTHER}) != 1:
            text = "expected either a 'grid': [from, to, step], or 'values': a list"
            forms.note(own, at, f"{text}, or 'simplex': [systems, step]")
        options.append(keys.grid or keys.values or keys.simplex or ())
    _check_target(forms, inner, above)
    count = math.prod(len(item) for item in options)
    if target.trials is None and count > MOST:
        text = (
            f"the grids have {count:,} points, at most {MOST} are tried; take larger steps, or set 'trials'"
        )
        forms.note(inner, above, text)
    if len(forms.problems) > problems_before:
        return None
    assert target.measure is not None
    tried = points(options, target.trials, target.seed)
    return Search(tuple(nodes), tried, target.measure, target.on, target.folds, node.place)


def _check_target(forms: Forms, inner: Node, path: Keys, learned: bool = False) -> None:
    """Notes a problem if the measure is missing, or not one of `on` and `folds` is given."""
    given = {name for name, item in inner.value.items() if item.value is not None}
    if learned and "measure" not in given:
        forms.referred["measure"].append(Named(inner.place, path, Learned.measure))
    elif "measure" not in given:
        forms.note(inner, path, "'measure' is missing; name the one to tune for, such as nDCG@10")
    if ("on" in given) == ("folds" in given):
        forms.note(inner, path, "expected either 'on: DATASET/SPLIT' or 'folds: 5'")


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
