"""Grids: a list of values for a parameter makes one system per value, named by the values that vary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from harness.catalogue import params
from harness.errors import HarnessError
from harness.made_models import Made, Seed
from harness.suite.model import System
from harness.types import JSON

MOST = 1000  # points of one grid, or of several grids together
DEEPEST = 50  # systems built on each other in a chain
Varied: TypeAlias = tuple[tuple[str, JSON], ...]  # parameter and value, in the order written


def points(record_params: type, raw: Mapping[str, JSON]) -> list[tuple[dict[str, JSON], Varied]]:
    """The points of a grid: every combination of the varied parameters' values, the last parameter varying
    fastest. A point is a pair of all parameters and the varied parameters."""
    known = params.fields_of(record_params)
    lists = {key: value for key, value in raw.items() if key in known and _fans_out(value, known[key][1])}
    count = math.prod(len(value) for value in lists.values())
    if count > MOST:
        raise HarnessError(f"the grid has {count} points, at most {MOST} are allowed; vary less at once")
    combinations = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return [({**raw, **point}, _varied(point)) for point in combinations]


def _fans_out(value: JSON, hint: Any) -> bool:
    """Whether a value is a grid: a list, or a list of lists for a parameter whose value is a list itself."""
    if not isinstance(value, list) or not value:
        return False
    if not params.is_list(hint):
        return True
    return all(isinstance(item, list) for item in value) and not params.is_list_of_lists(hint)


def _varied(point: Mapping[str, JSON]) -> Varied:
    """The varied parameters and their values. For a made model's seeds, it is called `seed`."""
    return tuple(
        ("seed", value.seed) if isinstance(value, Made) and value.seed is not None else (key, value)
        for key, value in point.items()
    )


def product(*parts: Sequence[tuple[Any, Varied]]) -> list[tuple[tuple[Any, ...], Varied]]:
    """The combinations of one option of each part, each with all parameters that varied in its options."""
    count = math.prod(len(part) for part in parts)
    if count > MOST:
        raise HarnessError(f"the grids make {count} systems together, at most {MOST} are allowed; vary less")
    combinations = []
    for options in itertools.product(*parts):
        values = tuple(value for value, _ in options)
        varied = tuple(pair for _, varied in options for pair in varied)
        seeds = [i for i, (_, value) in enumerate(varied) if isinstance(value, Seed)]
        if len({varied[i] for i in seeds}) < 2:  # models of different seeds are not mixed
            combinations.append((values, tuple(pair for i, pair in enumerate(varied) if i not in seeds[1:])))
    return combinations


def name(base: str, varied: Varied) -> str:
    """The name of a grid's system, fit for a file: `bm25,k1=0.9,b=0.4`."""
    return ",".join([base, *(f"{key}={_word(value)}" for key, value in varied)])


def _word(value: JSON) -> str:
    if isinstance(value, list):
        return "+".join(map(_word, value)) or "none"
    text = str(value).lower() if isinstance(value, bool) or value is None else str(value)
    return "".join(
        "_" if character in '/\\:*?"<>| ,' or ord(character) < 32 else character for character in text
    )


def _once(varied: Varied) -> Varied:
    """The pairs of `varied` without duplicates, as of two inputs from one grid. Values may be unhashable."""
    return tuple(pair for i, pair in enumerate(varied) if pair not in varied[:i])


def fan_out(expanded: Mapping[str, Sequence[System]]) -> tuple[System, ...]:
    """All systems, with grids fanned out. A system whose `of` names a grid becomes one system for each member
    of the grid, and so do the systems that are built on these."""
    done: dict[str, list[System]] = {}

    def members(base: str, above: tuple[str, ...]) -> list[System]:
        if len(above) > DEEPEST:
            raise HarnessError(
                f"'{above[0]}' is built on more than {DEEPEST} others, one on the other; flatten it"
            )
        if base not in done:
            done[base] = []
            for system in expanded[base]:
                options = [inputs(below, (*above, base)) for below in system.of]
                for (_, *of), varied in product([(base, system.varied)], *options):
                    both = (*system.varied, *_once(varied[len(system.varied) :]))
                    done[base].append(system._replace(name=name(base, both), varied=both, of=tuple(of)))
        return done[base]

    def inputs(below: str, above: tuple[str, ...]) -> list[tuple[str, Varied]]:
        # a member of a grid by its full name, a misspelled name, or a circle
        if below not in expanded or below in above:
            return [(below, ())]
        return [(system.name, system.varied) for system in members(below, above)] or [(below, ())]

    return tuple(system for base in expanded for system in members(base, ()))
