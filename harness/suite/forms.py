"""Readers for the values of a suite. Each reader notes the problems that it finds and continues."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.catalogue import Catalogue, Entry, params
from harness.errors import HarnessError
from harness.made_models import Made, Seed
from harness.problems import Keys, Place, Problem, nearest, shown_path, unknown
from harness.suite import grid, models, resources, schema, tuning
from harness.suite.model import Chosen, Search, Tuning
from harness.suite.yaml_nodes import Node


class Forms:
    """Reads values of one suite and collects their problems, so that all are reported at once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.problems: list[Problem] = []
        self.made: dict[str, tuple[int, ...]] = {}  # the models of the suite and their seeds
        self.making = False  # true while models are read: a model refers to another by the same seed

    def note(self, at: Node | Place, path: Keys, text: str) -> None:
        self.problems.append(Problem(at.place if isinstance(at, Node) else at, path, text))

    # plugins with their parameters

    def chosen(
        self, node: Node, path: Keys, kind: str, beside: Sequence[str] = (), default: str | None = None
    ) -> Chosen | None:
        variants = self.variants(node, path, kind, beside, default, fan=False)
        return variants[0][0] if variants else None

    def variants(
        self, node: Node | None, path: Keys, kind: str, beside: Sequence[str] = (),
        default: str | None = None, fan: bool = True,
    ) -> list[tuple[Chosen | None, grid.Varied]]:  # fmt: skip
        """The plugin in `node`, one variant for each point of its grid. The list is empty if the plugin could
        not be read. The node is `NAME` or `{NAME: {parameters}}`; the keys in `beside` are allowed beside
        NAME."""
        if node is None:
            return [(None, ())]
        if kind in resources.KINDS:
            beside = (*beside, resources.KEY)
        wanted, problems = resources.read(node, path) if kind in resources.KINDS else ((), [])
        for problem in problems:
            self.note(*problem)
        parsed = self.plugin_form(node, path, kind, beside, default)
        if parsed is None:
            return []
        name, inner = parsed
        entry = self.find(inner, path, kind, name)
        if entry is None:
            return []
        path = (*path, name)
        raw = models.referred(self, inner, path) if isinstance(inner.value, dict) else {}
        if not isinstance(raw, dict):
            self.note(inner, path, "a model is the value of a parameter; write `model: {made: NAME}` here")
            return []
        tuned, searched = self.tuned(inner, path, kind, raw)
        try:
            points = grid.points(entry.record.params, raw) if fan else [(raw, ())]
        except HarnessError as error:
            self.problems += error.below(node.place, path)
            return []
        variants: list[tuple[Chosen | None, grid.Varied]] = []
        for point, varied in points:
            value = self.converted(entry, point, inner, node, path, beside)
            as_written = {**inner.plain(written=True), **dict(varied)} if raw else {}
            for key, reference in point.items():
                if isinstance(reference, Made):
                    as_written[key] = reference.written()
                    as_written = {
                        name: item for name, item in as_written.items() if not isinstance(item, Seed)
                    }
            chosen = Chosen(entry, as_written, value, node.place, tuned, searched, resources=wanted)
            variants.append((chosen, varied))
        return variants

    def converted(
        self, entry: Entry, point: dict[str, Any], inner: Node, node: Node, path: Keys, beside: Sequence[str]
    ) -> Any:
        """The checked parameters of a plugin, or None if they have problems, which are noted."""
        value, problems = params.convert(entry.record.params, point, inner.file.parent)
        for problem in problems:
            text = problem.text
            if len(problem.path) == 1 and problem.path[0] in beside:
                key = problem.path[0]
                text = f"'{key}' stands beside the plugin: '{{{path[-1]}: {{...}}, {key}: ...}}'"
            at = inner.at(problem.path) if problem.path else node
            self.note(at, (*path, *problem.path), text)
        for file in params.paths_in(value):
            if _is_special(file):
                what = "is neither a file nor a folder; name one of these"
                self.note(node, path, f"{shown_path(file)}: {what}")
                value = None
        return value

    def tuned(
        self, inner: Node, path: Keys, kind: str, raw: dict[str, Any]
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
        odd = {key: node for key, node in nodes.items() if not isinstance(node.value["tune"].value, dict)}
        for key, node in odd.items():
            got = params.shown(node.value["tune"].plain())
            what = "expected {on: DATASET/SPLIT, measure: nDCG@10, grid: [from, to, step]}"
            self.note(node, (*path, key, "tune"), f"{what}, got {got}")
        if odd:
            return None, None
        if kind not in schema.TUNABLE:
            (key, node), *_ = nodes.items()
            self.note(node, (*path, key), "is a parameter of no method of a system; it cannot be tuned")
            return None, None
        (key, node), *more = nodes.items()
        further = set(tuning.ONLY_OF_SEARCHES) & set(node.value["tune"].value)
        if kind == "combiners" and not more and not further:
            one = tuning.read(self, node, (*path, key), key)
            raw.update({key: one.values[0]} if one else {})
            return one, None
        search = tuning.read_search(self, nodes, path)
        raw.update(zip(search.parameters, search.points[0], strict=True) if search else ())
        return None, search

    def plugin_form(
        self, node: Node, path: Keys, kind: str, beside: Sequence[str], default: str | None
    ) -> tuple[str, Node] | None:
        nothing = Node({}, node.file, node.line)
        if isinstance(node.value, str) and node.value:
            return node.value, nothing
        if node.value is None and default is not None:
            return default, nothing
        names = [key for key in node.value if key not in beside] if isinstance(node.value, dict) else []
        names = self.without_misspelt(node, path, kind, beside, names)
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

    def without_misspelt(
        self, node: Node, path: Keys, kind: str, beside: Sequence[str], names: list[str]
    ) -> list[str]:
        """The keys in `names` that are plugins. If exactly one key is a known plugin and every other key
        resembles a key in `beside`, the others are noted as misspelled and left out."""
        known = [name for name in names if name in self.catalogue.entries[kind]]
        others = [name for name in names if name not in known]
        if len(known) != 1 or not all(nearest(name, beside) for name in others):
            return names
        for name in others:
            self.note(node.value[name], (*path, name), unknown("key", name, beside))
        return known

    def chain(self, node: Node | None, path: Keys, kind: str) -> list[tuple[tuple[Chosen, ...], grid.Varied]]:
        """All combinations of the variants of a list of plugins, each of which may be a grid."""
        if node is None:
            return [((), ())]
        items = node.value if isinstance(node.value, list) else [node]
        parts = [self.variants(item, (*path, i), kind) for i, item in enumerate(items)]
        return [
            (tuple(value for value in values if value is not None), varied)
            for values, varied in grid.product(*parts)
        ]

    # single values

    def find(self, node: Node, path: Keys, kind: str, name: str) -> Entry | None:
        try:
            return self.catalogue.find(kind, name)
        except HarnessError as error:
            self.problems += error.below(node.place, path)
            return None

    def mapping(self, node: Node, path: Keys, known: Sequence[str]) -> dict[str, Node]:
        if not isinstance(node.value, dict):
            self.note(node, path, f"expected a mapping, got {params.shown(node.plain())}")
            return {}
        for key in node.value:
            if key not in known:
                self.note(node.value[key], path, unknown("key", key, known))
        return {key: item for key, item in node.value.items() if key in known}

    def names(self, node: Node, path: Keys, what: str = "system") -> tuple[str, ...]:
        values = node.value if isinstance(node.value, list) else [node]
        names = tuple(item.value for item in values if isinstance(item.value, str))
        if len(names) < len(values) or not names:
            self.note(node, path, f"expected the name of a {what}, or a list of names")
        return names

    def scalar(
        self, values: dict[str, Node], key: str, kind: type, words: str, default: Any, *,
        least: float | None = None, most: float | None = None, path: Keys = (),
    ) -> Any:  # fmt: skip
        if key not in values:
            return default
        node, path = values[key], (*path, key)
        fits = type(node.value) is kind or (kind is float and type(node.value) is int)
        if not fits or (kind is float and not abs(node.value) < float("inf")):
            self.note(node, path, f"expected {words}, got {params.shown(node.plain())}")
            return default
        if (least is not None and node.value < least) or (most is not None and node.value > most):
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            self.note(node, path, f"expected {bounds}, got {node.value}")
            return default
        return kind(node.value)

    def choice(self, values: dict[str, Node], key: str, options: Sequence[str], path: Keys) -> Any:
        """The option that `key` names. The default is the first option."""
        if key not in values:
            return options[0]
        node = values[key]
        if node.value not in options:
            text = f"expected one of {', '.join(options)}, got {params.shown(node.plain())}"
            self.note(node, (*path, key), text)
            return options[0]
        return node.value


def _is_special(path: Path) -> bool:
    """Whether the path is a device, a pipe or a socket. Reading one of these might never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
