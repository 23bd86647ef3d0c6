"""Datasets that a suite makes of others, `{of: NAME, make: [MAKER, ...]}`, and splits of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.catalogue import params
from harness.problems import Keys, Named
from harness.suite.model import Chosen, DatasetSpec, Stage
from harness.suite.yaml_nodes import Node

if TYPE_CHECKING:
    from harness.suite.forms import Forms


def is_made(node: Node) -> bool:
    return isinstance(node.value, dict) and ("of" in node.value or "make" in node.value)


def stages(forms: Forms, node: Node, path: Keys) -> tuple[Stage, ...] | None:
    """The stages of a made dataset in order, or None if one of them could not be read."""
    items = node.value if isinstance(node.value, list) else [node]
    if not items:
        forms.note(node, path, "is empty; name at least one maker (harness list makers)")
        return None
    read: list[Stage] = []
    for i, item in enumerate(items):
        beside, variants = forms.variants(item, (*path, i), "makers", fan=False)
        read += [Stage(chosen, beside.splits) for chosen, _ in variants if chosen.params is not None]
    return tuple(read) if len(read) == len(items) else None


def joined(
    forms: Forms,
    nodes: Mapping[str, Node],
    specs: Mapping[str, DatasetSpec],
    options: Mapping[str, DatasetSpec],
) -> dict[str, DatasetSpec]:
    """The made datasets by name, each with the plugin of the dataset that its chain begins with and all
    stages from there on. `specs` are the datasets that are not made; `options` are the made datasets as read,
    still without a plugin."""
    done: dict[str, DatasetSpec] = {}
    waiting: list[str] = []

    def made(name: str) -> DatasetSpec | None:
        if name in specs or name in done or name not in options:
            return specs.get(name) or done.get(name)
        path, node = ("datasets", name, "of"), nodes[name]
        if name in waiting:
            forms.note(node, path, f"'{name}' is made of itself; break the circle")
            return None
        of = options[name].of
        base, split = parted(of, {*specs, *options})
        if base not in specs and base not in options:
            return None  # a problem that `relations` notes
        waiting.append(name)
        below = made(base)
        waiting.pop()
        if below is None or below.chosen.params is None:  # its problems are noted already
            return None
        if split is not None:
            other = with_split(below, split, node.file.parent)
            if isinstance(other, str):
                forms.note(node, path, other)
                return None
            below = other
        chosen = below.chosen._replace(place=node.place)
        spec = options[name]
        limit, sample = spec.limit or below.limit, spec.sample or below.sample
        done[name] = spec._replace(chosen=chosen, make=(*below.make, *spec.make), limit=limit, sample=sample)
        return done[name]

    for name in options:
        made(name)
    return done


def parted(name: str, known: set[str]) -> tuple[str, str | None]:
    """The dataset and the split in a name such as `raw/train`. The split of a plain dataset name is None."""
    if name in known or "/" not in name:
        return name, None
    base, _, split = name.rpartition("/")
    return base, split


def with_split(spec: DatasetSpec, split: str, base: Path) -> DatasetSpec | str:
    """The dataset with another split, or a text that says why it has no such split."""
    chosen = spec.chosen
    record = chosen.entry.record
    if "split" not in params.fields_of(record.params):
        return f"the dataset '{spec.name}' has no parameter 'split'"
    written = {**params.plain(chosen.params), "split": split}
    values, problems = params.convert(record.params, written, base)
    if problems:
        return f"{spec.name}/{split}: {problems[0].text}"
    of_split = chosen._replace(as_written={**chosen.as_written, "split": split}, params=values)
    return spec._replace(name=f"{spec.name}/{split}", chosen=of_split)


def named(chosen: Chosen, kind: str) -> tuple[str, ...]:
    """The systems or splits that the parameters of a maker or an analysis name; `kind` is `systems` or
    `splits`."""
    values = [getattr(chosen.params, name) for name in getattr(chosen.entry.record, kind)]
    names = [name for value in values for name in (value if isinstance(value, tuple) else (value,))]
    return tuple(dict.fromkeys(name for name in names if name is not None))


def references(
    specs: Sequence[DatasetSpec], analyses: Sequence[Chosen]
) -> Iterator[tuple[Literal["system", "dataset"], Named]]:
    """The systems and datasets that the stages of made datasets and the analyses name in their parameters."""
    places: list[tuple[Keys, Chosen]] = [
        (("datasets", spec.name, "make", stage.chosen.name), stage.chosen)
        for spec in specs
        for stage in spec.make
    ]
    places += [(("analyses", chosen.name), chosen) for chosen in analyses if chosen.params is not None]
    for path, chosen in places:
        if chosen.place is None:
            continue
        if path[0] == "datasets":
            for name in named(chosen, "systems"):
                yield "system", Named(chosen.place, path, name)
        for name in named(chosen, "splits"):
            yield "dataset", Named(chosen.place, path, name)
