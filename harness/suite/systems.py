"""Reads the systems of a suite: checks which keys go together, and fans grids out."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

from harness.catalogue import Catalogue, params
from harness.errors import HarnessError
from harness.problems import Keys
from harness.suite import grid
from harness.suite.forms import Forms
from harness.suite.keys import fields_of
from harness.suite.model import System
from harness.suite.sections import SystemKeys
from harness.suite.yaml_nodes import Node
from harness.types import Unit

LONGEST = 160  # bytes of a name, so that a file can have the name and a suffix
UNFIT = '/\\:*?"<>|'  # characters that some file systems refuse


class SystemForms(Forms):
    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.unread: list[System] = []  # a stand-in for each system that could not be read

    def systems(self, node: Node) -> tuple[System, ...]:
        expanded: dict[str, list[System]] = {}
        for name, item in self.named(node, "systems"):
            path = ("systems", name)
            try:
                expanded[name] = list(self.system(name, item, path))
            except HarnessError as error:
                self.problems += error.below(item.place, path)
                expanded[name] = []
            if not expanded[name]:
                given = item.value.get("unit") if isinstance(item.value, dict) else None
                unit: Unit = "document" if given is not None and given.value == "document" else "passage"
                self.unread.append(
                    System(name, name, (), None, None, unit, (), None, (), item.place, scored=False)
                )
        try:
            systems = grid.fan_out(expanded)
        except HarnessError as error:
            self.problems += error.below(node.place, ("systems",))
            return ()
        for system in systems:
            if len(system.name.encode()) > LONGEST:
                text = f"the name '{system.name[:40]}...' is too long for a file; vary fewer parameters"
                self.note(node, ("systems", system.base), text)
        for name, count in Counter(system.name for system in systems).items():
            if count > 1:
                self.note(node, ("systems", name), "two systems get this name; rename one or its grid")
        return systems

    def system(self, name: str, item: Node, path: Keys) -> Iterator[System]:
        """The variants of one system; none if one of its methods could not be read."""
        given = dict(item.value) if isinstance(item.value, dict) else {}
        if "depth" in given:
            text = "is the suite's, or stands beside a re-ranker: 'rerank: {NAME: {}, depth: 100}'"
            self.note(given.pop("depth"), (*path, "depth"), text)
            item = item._replace(value=given)
        if item.value == {}:
            self.note(item, path, "is empty; give it a 'retriever', or 'of' with 'combine' or 'rerank'")
            return
        keys = self.section(SystemKeys, item, path)
        if keys is None or not given.keys() & fields_of(SystemKeys):
            return
        self.check_shape(item, path, given, keys.of)
        for option in grid.product(keys.retriever, keys.combine, keys.context, keys.queries, keys.rerank):
            (retriever, combine, context, queries, rerank), varied = option
            if retriever is not None and keys.unit not in retriever.entry.record.units:
                text = f"'{retriever.name}' does not index a {keys.unit} as its unit; name another unit"
                self.note(given.get("unit", item), (*path, "unit"), text)
            yield System(
                name=grid.name(name, varied),
                base=name,
                varied=varied,
                context=context,
                retriever=retriever,
                unit=keys.unit,
                of=keys.of,
                combine=combine,
                rerank=rerank,
                place=item.place,
                queries=queries,
                scored=keys.scored,
            )

    def check_shape(self, item: Node, path: Keys, given: dict[str, Node], of: tuple[str, ...]) -> None:
        if ("retriever" in given) == ("of" in given):
            self.note(item, path, "expected either a 'retriever' or 'of' other systems, not both or neither")
        elif "of" in given and "combine" not in given and len(of) > 1:
            self.note(given["of"], (*path, "of"), "several systems need a 'combine'")
        elif "of" in given and "combine" not in given and "rerank" not in given:
            self.note(item, path, "'of' one system needs a 'rerank'")
        elif "of" not in given and "combine" in given:
            self.note(given["combine"], (*path, "combine"), "needs 'of': the systems to combine")
        if "of" in given and "unit" in given:
            text = "is the unit of a retriever; set it at the system in 'of'"
            self.note(given["unit"], (*path, "unit"), text)
        if "of" in given and "queries" in given:
            text = "are rewritten for a retriever; set them at the system in 'of'"
            self.note(given["queries"], (*path, "queries"), text)
        if "of" in given and "context" in given and "rerank" not in given:
            text = "is read by a retriever or re-ranker; this system has neither"
            self.note(given["context"], (*path, "context"), text)

    def named(self, node: Node, key: str) -> Iterator[tuple[str, Node]]:
        """The items of `datasets` or `systems` by name. A name that no file can have is a problem."""
        if isinstance(node.value, list) and key == "datasets":  # as in `datasets: [tour]`
            values = {item.value: item for item in node.value if isinstance(item.value, str)}
            if len(values) < len(node.value):
                text = "expected a list of different names, or a mapping of name to plugin"
                self.note(node, (key,), text)
        else:
            values = node.value if isinstance(node.value, dict) else {}
            if not isinstance(node.value, dict):
                self.note(node, (key,), f"expected a mapping, got {params.shown(node.plain())}")
        if node.value in ({}, []):
            self.note(node, (key,), "is empty; name at least one")
        for name, item in values.items():
            reason = why_no_file(name)
            if reason is None:
                yield name, item
            else:
                shown = name if len(name) <= 40 else f"{name[:40]}..."
                self.note(item, (key,), f"the name {shown!r} cannot name a file: {reason}")


def why_no_file(name: str) -> str | None:
    """Why a file cannot have this name, or None if it can. Files are named after datasets and systems."""
    if not name.strip():
        return "it is empty; use letters and digits"
    if name[0] in ".~":
        return f"it begins with {name[0]!r}; begin with a letter or digit"
    if len(name.encode()) > LONGEST:
        return f"it has more than {LONGEST} bytes; shorten it"
    for character in name:
        if character in UNFIT or ord(character) < 32:
            return f"it has {character!r}; use letters, digits, + - _ , ="
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            what = f"U+{ord(character):04X} ({unicodedata.name(character, 'a control character')})"
            return f"it has the character {what}, which cannot be seen; remove it"
    return None
