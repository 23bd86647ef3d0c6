"""The parts of a suite that span datasets: analyses drawn together, and comparable published rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from harness.problems import Keys
from harness.suite.yaml_nodes import Node

if TYPE_CHECKING:
    from harness.suite.forms import Forms

BESIDE = ("published", "as")


class Beside(NamedTuple):
    """A published leaderboard whose rows may stand beside this suite's rows although its split differs."""

    published: str  # the name of the published leaderboard
    split: str  # the split of this suite's datasets, `as` in the file


def together(forms: Forms, node: Node, path: Keys, datasets: Sequence[str]) -> tuple[str, ...]:
    """The datasets whose results of one analysis are also shown in one picture; empty without `together`."""
    inner = node.value.get("together") if isinstance(node.value, dict) else None
    if inner is None:
        return ()
    path = (*path, "together")
    names = forms.names(inner, path, "dataset")
    missing = [name for name in names if name not in datasets]
    if missing:
        forms.note(inner, path, f"'{missing[0]}' is no scored dataset of the suite; name one of them")
    elif len(set(names)) < max(2, len(names)):
        forms.note(inner, path, "one picture takes two or more different datasets; name them")
    return names


def beside(forms: Forms, node: Node | None) -> tuple[Beside, ...]:
    """The entries of the section `beside`: `{published: NAME, as: SPLIT}`, or a list of such mappings."""
    if node is None:
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    entries = []
    for item in items:
        values = forms.mapping(item, ("beside",), BESIDE)
        texts = [values[key].value for key in BESIDE if key in values and isinstance(values[key].value, str)]
        if len(texts) == len(BESIDE):
            entries.append(Beside(*texts))
        elif isinstance(item.value, dict) and set(item.value) <= set(BESIDE):
            form = "write `{published: dureader-retrieval, as: dev}`"
            forms.note(item, ("beside",), f"expected the name of a published leaderboard and a split; {form}")
    names = [entry.published for entry in entries]
    if len(set(names)) < len(names):
        forms.note(node, ("beside",), "a published leaderboard is named twice; keep one")
    return tuple(entries)
