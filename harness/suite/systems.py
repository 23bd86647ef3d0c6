"""Reads the systems of a suite: checks which keys go together, and fans grids out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.errors import HarnessError
from harness.problems import Keys
from harness.suite import grid
from harness.suite.forms import Forms
from harness.suite.model import Rerank, Rewrite, System
from harness.suite.yaml_nodes import Node
from harness.types import Unit

SYSTEM_KEYS = ("context", "queries", "retriever", "unit", "of", "combine", "rerank", "scored", "depth")
RERANK_KEYS = ("depth", "tail")
LONGEST = 160  # bytes of a name, so that a file can have the name and a suffix
UNITS: tuple[Unit, ...] = ("passage", "document")
UNFIT = '/\\:*?"<>|'  # characters that some file systems refuse


class SystemForms(Forms):
    def systems(self, node: Node) -> tuple[System, ...]:
        expanded: dict[str, list[System]] = {}
        for name, item in self.named(node, "systems"):
            path = ("systems", name)
            values = self.mapping(item, path, SYSTEM_KEYS)
            try:
                expanded[name] = list(self.system(name, item, values, path)) if values else []
            except HarnessError as error:
                self.problems += error.below(item.place, path)
                expanded[name] = []
            if not values and isinstance(item.value, dict) and not item.value:
                self.note(item, path, "is empty; give it a 'retriever', or 'of' with 'combine' or 'rerank'")
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

    def system(self, name: str, item: Node, values: dict[str, Node], path: Keys) -> Iterator[System]:
        if "depth" in values:
            text = "is the suite's, or stands beside a re-ranker: 'rerank: {NAME: {}, depth: 100}'"
            self.note(values["depth"], (*path, "depth"), text)
        unit = self.choice(values, "unit", UNITS, path)
        scored = self.scalar(values, "scored", bool, "true or false", True, path=path)
        of = self.names(values["of"], (*path, "of")) if "of" in values else ()
        retrievers = self.variants(values.get("retriever"), (*path, "retriever"), "retrievers")
        combiners = self.variants(values.get("combine"), (*path, "combine"), "combiners")
        contexts = self.chain(values.get("context"), (*path, "context"), "contexts")
        rewriters = self.rewriters(values.get("queries"), (*path, "queries"))
        rerankers = self.rerankers(values.get("rerank"), (*path, "rerank"))
        self.check_shape(item, path, values, of)
        for option in grid.product(retrievers, combiners, contexts, rewriters, rerankers):
            (retriever, combine, context, queries, rerank), varied = option
            if retriever is not None and unit not in retriever.entry.record.units:
                text = f"'{retriever.name}' does not index a {unit} as its unit; name another unit"
                self.note(values.get("unit", item), (*path, "unit"), text)
            yield System(
                name=grid.name(name, varied),
                base=name,
                varied=varied,
                context=context if "context" in values else None,
                retriever=retriever,
                unit=unit,
                of=of,
                combine=combine,
                rerank=rerank,
                place=item.place,
                queries=queries,
                scored=scored,
            )

    def check_shape(self, item: Node, path: Keys, values: dict[str, Node], of: tuple[str, ...]) -> None:
        if ("retriever" in values) == ("of" in values):
            self.note(item, path, "expected either a 'retriever' or 'of' other systems, not both or neither")
        elif "of" in values and "combine" not in values and len(of) > 1:
            self.note(values["of"], (*path, "of"), "several systems need a 'combine'")
        elif "of" in values and "combine" not in values and "rerank" not in values:
            self.note(item, path, "'of' one system needs a 'rerank'")
        elif "of" not in values and "combine" in values:
            self.note(values["combine"], (*path, "combine"), "needs 'of': the systems to combine")
        if "of" in values and "unit" in values:
            text = "is the unit of a retriever; set it at the system in 'of'"
            self.note(values["unit"], (*path, "unit"), text)
        if "of" in values and "queries" in values:
            text = "are rewritten for a retriever; set them at the system in 'of'"
            self.note(values["queries"], (*path, "queries"), text)
        if "of" in values and "context" in values and "rerank" not in values:
            text = "is read by a retriever or re-ranker; this system has neither"
            self.note(values["context"], (*path, "context"), text)

    def rewriters(self, node: Node | None, path: Keys) -> list[tuple[tuple[Rewrite, ...], grid.Varied]]:
        if node is None:
            return [((), ())]
        parts = []
        for item, inner, keys in _items(node, path):
            of = self.scalar(keys, "of", str, "the name of a system", None, path=inner)
            options = self.variants(item, inner, "rewriters", ("of",))
            parts.append([(Rewrite(chosen, of), varied) for chosen, varied in options if chosen])
        return [(tuple(values), varied) for values, varied in grid.product(*parts)]

    def rerankers(self, node: Node | None, path: Keys) -> list[tuple[tuple[Rerank, ...], grid.Varied]]:
        if node is None:
            return [((), ())]
        parts = []
        for item, inner, keys in _items(node, path):
            depth = self.scalar(keys, "depth", int, "a whole number", None, least=1, path=inner)
            tail = self.choice(keys, "tail", ("keep", "drop"), inner)
            options = self.variants(item, inner, "rerankers", RERANK_KEYS)
            parts.append([(Rerank(chosen, depth, tail), varied) for chosen, varied in options if chosen])
        return [(tuple(values), varied) for values, varied in grid.product(*parts)]

    def named(self, node: Node, key: str) -> Iterator[tuple[str, Node]]:
        """The items of `datasets` or `systems` by name. A name that no file can have is noted as a
        problem."""
        if isinstance(node.value, list) and key == "datasets":  # as in `datasets: [tour]`
            values = {item.value: item for item in node.value if isinstance(item.value, str)}
            if len(values) < len(node.value):
                text = "expected a list of different names, or a mapping of name to plugin"
                self.note(node, (key,), text)
        else:
            values = self.mapping(node, (key,), tuple(node.value) if isinstance(node.value, dict) else ())
            if isinstance(node.value, dict) and not values:
                self.note(node, (key,), "is empty; name at least one")
        for name, item in values.items():
            reason = why_no_file(name)
            if reason is None:
                yield name, item
            else:
                shown = name if len(name) <= 40 else f"{name[:40]}..."
                self.note(item, (key,), f"the name {shown!r} cannot name a file: {reason}")


def _items(node: Node, path: Keys) -> Iterator[tuple[Node, Keys, dict[str, Node]]]:
    """Each method of a list, or the only one: its node, its path, and its keys with their nodes."""
    for i, item in enumerate(node.value if isinstance(node.value, list) else [node]):
        inner: Keys = (*path, i) if isinstance(node.value, list) else path
        yield item, inner, item.value if isinstance(item.value, dict) else {}


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
    return None
