"""Readers for the values of a suite. Each reader notes the problems that it finds and continues."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from harness.catalogue import Catalogue, Entry, params
from harness.errors import HarnessError
from harness.made_models import Made, Seed
from harness.problems import Keys, Named, Place, Problem, nearest, shown_path, unknown
from harness.suite import grid, keys, models, tuning
from harness.suite.model import Chosen, Rerank, Rewrite, Search, Tuning
from harness.suite.sections import BESIDE, BesideReranker, BesideRewriter, Method
from harness.suite.yaml_nodes import Node

T = TypeVar("T")
TUNABLE = ("contexts", "rewriters", "retrievers", "combiners", "rerankers")  # methods of a system
Variants: TypeAlias = list[tuple[Chosen, grid.Varied]]


class Forms:
    """Reads values of one suite and collects their problems, so that all are reported at once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.problems: list[Problem] = []
        # the names that the suite refers to, as written, those in parts that could not be read included
        self.referred: dict[str, list[Named]] = {"system": [], "dataset": [], "split": [], "measure": []}
        self.made: dict[str, tuple[int, ...]] = {}  # the models of the suite and their seeds
        self.making = False  # true while models are read: a model refers to another by the same seed

    def note(self, at: Node | Place, path: Keys, text: str) -> None:
        self.problems.append(Problem(at.place if isinstance(at, Node) else at, path, text))

    # sections

    def section(self, section: type[T], node: Node, path: Keys) -> T | None:
        """The section in `node`. A key with a problem has its default; None if a required key is missing or
        has a problem, or if the node is no mapping."""
        if not isinstance(node.value, dict):
            self.note(node, path, f"expected a mapping, got {params.shown(node.plain())}")
            return None
        known = keys.fields_of(section)
        for name, item in node.value.items():
            if name not in known:
                self.note(item, path, keys.unknown_key(name, section))
        values = {}
        for name, (field, hint) in known.items():
            value = self.key(field, hint, node.value[name], (*path, name)) if name in node.value else None
            if value is not None:
                values[field.name] = value
            if name not in node.value and params.is_required(field):
                self.note(node, path, f"'{name}' is missing: {field.metadata['help']}")
        required = {field.name for field, _ in known.values() if params.is_required(field)}
        return section(**values) if required <= values.keys() else None

    def key(self, field: dataclasses.Field[Any], hint: Any, node: Node, path: Keys) -> Any:
        """The value of one key, or None if it has problems, which are noted."""
        if field.metadata["form"] is not None:
            return field.metadata["form"].read(self, node, path)
        value, problems = params.value_of(field, hint, node.plain(), node.file.parent)
        for problem in problems:
            text = f"{problem.text} ({field.metadata['help'].partition(';')[0]})"
            self.note(node.at(problem.path), (*path, *problem.path), text)
        return None if problems else value

    # plugins with their parameters

    def chosen(self, node: Node, path: Keys, kind: str) -> Chosen | None:
        _, variants = self.variants(node, path, kind, fan=False)
        return variants[0][0] if variants else None

    def variants(
        self, node: Node, path: Keys, kind: str, default: str | None = None, fan: bool = True
    ) -> tuple[Any, Variants]:
        """The keys beside the plugin in `node`, and the plugin, one variant for each point of its grid. The
        list is empty if the plugin could not be read. The node is `NAME` or `{NAME: {parameters}}`, with
        further keys beside NAME, which `BESIDE` declares."""
        beside = self.beside(node, path, kind)
        asked = (beside.resources or {}) if isinstance(beside, Method) else {}
        resources = tuple(sorted(asked.items()))
        parsed = self.plugin_form(node, path, kind, default)
        if parsed is None:
            return beside, []
        name, inner = parsed
        entry = self.find(inner, path, kind, name)
        if entry is None:
            return beside, []
        path = (*path, name)
        raw = models.referred(self, inner, path) if isinstance(inner.value, dict) else {}
        if not isinstance(raw, dict):
            self.note(inner, path, "a model is the value of a parameter; write `model: {made: NAME}` here")
            return beside, []
        tuned, searched = self.tuned(entry, inner, path, kind, raw)
        try:
            points = grid.points(entry.record.params, raw) if fan else [(raw, ())]
        except HarnessError as error:
            self.problems += error.below(node.place, path)
            return beside, []
        variants: Variants = []
        for point, varied in points:
            value = self.converted(entry, point, inner, node, path, kind)
            as_written = {**inner.plain(written=True), **dict(varied)} if raw else {}
            for key, reference in point.items():
                if isinstance(reference, Made):
                    as_written[key] = reference.written()
                    as_written = {
                        name: item for name, item in as_written.items() if not isinstance(item, Seed)
                    }
            chosen = Chosen(entry, as_written, value, node.place, tuned, searched, resources=resources)
            variants.append((chosen, varied))
        return beside, variants

    def beside(self, node: Node, path: Keys, kind: str) -> Any:
        """The keys beside a plugin."""
        known = keys.fields_of(BESIDE[kind])
        given = node.value if isinstance(node.value, dict) else {}
        own = {name: item for name, item in given.items() if name in known}
        return self.section(BESIDE[kind], node._replace(value=own), path)

    def converted(
        self, entry: Entry, point: dict[str, Any], inner: Node, node: Node, path: Keys, kind: str
    ) -> Any:
        """The checked parameters of a plugin, or None if they have problems, which are noted."""
        value, problems = params.convert(entry.record.params, point, inner.file.parent)
        for problem in problems:
            text = problem.text
            if len(problem.path) == 1 and problem.path[0] in keys.fields_of(BESIDE[kind]):
                key = problem.path[0]
                form = f"'{{{path[-1]}: {{...}}, {key}: ...}}'"
                text = f"'{key}' is no parameter of '{path[-1]}'; write it outside its braces: {form}"
            at = inner.at(problem.path) if problem.path else node
            self.note(at, (*path, *problem.path), text)
        for file in params.paths_in(value):
            if _is_special(file):
                what = "is neither a file nor a folder; name one of these"
                self.note(node, path, f"{shown_path(file)}: {what}")
                value = None
        return value

    def tuned(
        self, entry: Entry, inner: Node, path: Keys, kind: str, raw: dict[str, Any]
    ) -> tuple[Tuning | None, Search | None]:
        """The tuned parameters of a plugin: a Tuning for one number of a combiner, which combines again for
        each value, or a Search for all others, for which the system runs again. In `raw`, each tuned
        parameter gets the first of its values."""
        items = inner.value.items() if isinstance(inner.value, dict) else ()
        nodes = {key: node for key, node in items if tuning.is_tuned(node)}
        if not nodes:
            return None, None
        for name in nodes:
            del raw[name]
        odd = {key: node for key, node in nodes.items() if not isinstance(tuning.keys_of(node).value, dict)}
        for key, node in odd.items():
            got = params.shown(tuning.keys_of(node).plain())
            what = "expected {on: DATASET/SPLIT, measure: nDCG@10, grid: [from, to, step]}"
            self.note(node, (*path, key, *node.value), f"{what}, got {got}")
        if odd:
            return None, None
        if kind not in TUNABLE:
            (key, node), *_ = nodes.items()
            self.note(node, (*path, key), "is a parameter of no method of a system; it cannot be tuned")
            return None, None
        learns: tuple[str, ...] = entry.record.learns if kind == "combiners" else ()
        for key in (name for name, node in nodes.items() if "learned" in node.value):
            if key in learns and len(nodes) == 1:
                continue
            text = f"'{entry.record.name}' cannot learn this parameter"
            text += f"; it learns {', '.join(learns)}" if learns else "; give a value, or tune it"
            text = "is learned, and others are tuned; give these a value" if key in learns else text
            self.note(nodes[key], (*path, key), text)
            return None, None
        (key, node), *more = nodes.items()
        further = set(tuning.ONLY_OF_SEARCHES) & set(tuning.keys_of(node).value)
        if "learned" in node.value or (kind == "combiners" and not more and not further):
            one = tuning.read(self, node, (*path, key), key)
            raw.update({key: one.values[0]} if one else {})
            return one, None
        search = tuning.read_search(self, nodes, path)
        raw.update(zip(search.parameters, search.points[0], strict=True) if search else ())
        return None, search

    def plugin_form(self, node: Node, path: Keys, kind: str, default: str | None) -> tuple[str, Node] | None:
        beside = keys.fields_of(BESIDE[kind])
        nothing = Node({}, node.file, node.line)
        if isinstance(node.value, str) and node.value:
            return node.value, nothing
        if node.value is None and default is not None:
            return default, nothing
        names = [key for key in node.value if key not in beside] if isinstance(node.value, dict) else []
        names = self.without_misspelt(node, path, kind, names)
        if len(names) != 1:
            form = "expected a plugin's name, or one name with its parameters: '{NAME: {...}}'"
            got = f"several: {', '.join(names)}" if names else params.shown(node.plain())
            self.note(node, path, f"{form}; got {got}")
            return None
        inner = node.value[names[0]]
        if inner.value is not None and not isinstance(inner.value, dict):
            text = f"expected a mapping of parameters, got {params.shown(inner.plain())}"
            self.note(inner, (*path, names[0]), text)
            return None
        return names[0], inner if inner.value is not None else nothing

    def without_misspelt(self, node: Node, path: Keys, kind: str, names: list[str]) -> list[str]:
        """The keys in `names` that are plugins. If exactly one key is a known plugin and every other key
        resembles a key that may stand beside it, the others are noted as misspelled and left out."""
        beside = list(keys.fields_of(BESIDE[kind]))
        known = [name for name in names if name in self.catalogue.entries[kind]]
        others = [name for name in names if name not in known]
        if len(known) != 1 or not all(nearest(name, beside) for name in others):
            return names
        for name in others:
            self.note(node.value[name], (*path, name), unknown("key", name, beside))
        return known

    def chain(self, node: Node, path: Keys, kind: str) -> list[tuple[tuple[Any, ...], grid.Varied]]:
        """All combinations of the variants of a list of methods, each of which may be a grid."""
        parts = []
        for item, inner in keys.places(node, path):
            beside, variants = self.variants(item, inner, kind)
            parts.append([(_with_keys(chosen, beside), varied) for chosen, varied in variants])
        return grid.product(*parts)

    def find(self, node: Node, path: Keys, kind: str, name: str) -> Entry | None:
        try:
            return self.catalogue.find(kind, name)
        except HarnessError as error:
            self.problems += error.below(node.place, path)
            return None


def _with_keys(chosen: Chosen, beside: Any) -> Any:
    """A method of a system together with the keys beside it."""
    if isinstance(beside, BesideReranker):
        return Rerank(chosen, beside.depth, beside.tail)
    return Rewrite(chosen, beside.of) if isinstance(beside, BesideRewriter) else chosen


def _is_special(path: Path) -> bool:
    """Whether the path is a device, a pipe or a socket. Reading one of these might never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
