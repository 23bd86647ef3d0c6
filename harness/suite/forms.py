"""The forms that a suite's values take, each read with its problems noted and the rest read on."""

from __future__ import annotations

from typing import Any

from harness import params
from harness.catalogue import Catalogue, Entry
from harness.errors import HarnessError
from harness.suite import grid, tuning
from harness.suite.model import Chosen, Tuning
from harness.suite.yaml_nodes import Node


class Forms:
    """Collects every problem, so that all of a suite's are told at once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.problems: list[str] = []

    def say(self, node: Node, where: str, text: str) -> None:
        self.problems.append(f"{node.place}: {where + ': ' if where else ''}{text}")

    # the forms that a plugin is written in

    def chosen(
        self, node: Node, where: str, kind: str, own: tuple[str, ...] = (), default: str | None = None
    ) -> Chosen | None:
        variants = self.variants(node, where, kind, own, default, fan=False)
        return variants[0][0] if variants else None

    def variants(
        self,
        node: Node | None,
        where: str,
        kind: str,
        own: tuple[str, ...] = (),
        default: str | None = None,
        fan: bool = True,
    ) -> list[tuple[Chosen | None, grid.Varied]]:
        """`NAME`, or `{NAME: {parameters}}` with the harness' own keys beside it; one for each point
        of a grid, none if something is wrong."""
        if node is None:
            return [(None, ())]
        parsed = self.plugin_form(node, where, kind, own, default)
        if parsed is None:
            return []
        name, given = parsed
        entry = self.find(given, where, kind, name)
        if entry is None:
            return []
        found: list[tuple[Chosen | None, grid.Varied]] = []
        raw = given.plain() if isinstance(given.value, dict) else {}
        tuned = self.tuned(given, f"{where}.{name}", kind, raw)
        try:
            points = grid.points(entry.record.params, raw) if fan else [(raw, ())]
        except HarnessError as error:
            self.say(node, f"{where}.{name}", str(error))
            return []
        for point, varied in points:
            value, problems = params.convert(entry.record.params, point, given.file.parent)
            for problem in problems:
                place = given.at(problem.path) if problem.path else node
                inner = ".".join(str(step) for step in (name, *problem.path))
                self.say(place, f"{where}.{inner}", problem.text)
            said = {**given.plain(written=True), **dict(varied)} if raw else {}
            found.append((Chosen(entry, said, value, node.place, tuned), varied))
        return found

    def tuned(self, given: Node, where: str, kind: str, raw: dict[str, Any]) -> Tuning | None:
        """The one parameter that is tuned, if there is one; `raw` gets a value of its grid."""
        items = given.value.items() if isinstance(given.value, dict) else ()
        found = [(key, node) for key, node in items if tuning.is_tuned(node)]
        if not found:
            return None
        (key, node), *more = found
        if kind != "combiners":
            self.say(node, f"{where}.{key}", "only a combiner's parameter can be tuned; elsewhere use a grid")
        if more:
            self.say(more[0][1], f"{where}.{more[0][0]}", f"'{key}' is tuned already; tune one at a time")
        read = tuning.read(self, node, f"{where}.{key}", key)
        for name, _ in found:
            del raw[name]
        if read is not None:
            raw[key] = read.values[0]
        return read

    def plugin_form(
        self, node: Node, where: str, kind: str, own: tuple[str, ...], default: str | None
    ) -> tuple[str, Node] | None:
        nothing = Node({}, node.file, node.line)
        if isinstance(node.value, str) and node.value:
            return node.value, nothing
        if node.value is None and default is not None:
            return default, nothing
        plugins = [key for key in node.value if key not in own] if isinstance(node.value, dict) else []
        plugins = self.without_misspelt(node, where, kind, own, plugins)
        if len(plugins) != 1:
            form = "expected a plugin's name, or one name with its parameters: '{NAME: {...}}'"
            got = f"several: {', '.join(plugins)}" if plugins else params.shown(node.plain())
            self.say(node, where, f"{form}; got {got}")
            return None
        given = node.value[plugins[0]]
        if given.value is not None and not isinstance(given.value, dict):
            text = f"expected a mapping of parameters, got {params.shown(given.plain())}"
            self.say(given, f"{where}.{plugins[0]}", text)
            return None
        return plugins[0], given if given.value is not None else nothing

    def without_misspelt(
        self, node: Node, where: str, kind: str, own: tuple[str, ...], names: list[str]
    ) -> list[str]:
        """The plugins of these keys: beside a known one, a key that is nearly one of the harness' own is
        told as that, and the rest is read on."""
        known = [name for name in names if name in self.catalogue.entries[kind]]
        others = [name for name in names if name not in known]
        if len(known) != 1 or not all(params.nearest(name, own) for name in others):
            return names
        for name in others:
            self.say(node.value[name], f"{where}.{name}", params.unknown("key", name, own))
        return known

    def chain(self, node: Node | None, where: str, kind: str) -> list[tuple[tuple[Chosen, ...], grid.Varied]]:
        """A list of plugins, each possibly a grid, as all combinations."""
        if node is None:
            return [((), ())]
        items = node.value if isinstance(node.value, list) else [node]
        parts = [self.variants(item, f"{where}[{i}]", kind) for i, item in enumerate(items)]
        found = []
        for values, varied in grid.product(*parts):
            found.append((tuple(value for value in values if value is not None), varied))
        return found

    # small forms

    def find(self, node: Node, where: str, kind: str, name: str) -> Entry | None:
        try:
            return self.catalogue.find(kind, name)
        except HarnessError as error:
            self.say(node, where, str(error))
            return None

    def mapping(self, node: Node, where: str, known: tuple[str, ...]) -> dict[str, Node]:
        if not isinstance(node.value, dict):
            self.say(node, where, f"expected a mapping, got {params.shown(node.plain())}")
            return {}
        for key in node.value:
            if key not in known:
                self.say(node.value[key], where, params.unknown("key", key, known))
        return {key: item for key, item in node.value.items() if key in known}

    def names(self, node: Node, where: str, what: str = "system") -> tuple[str, ...]:
        values = node.value if isinstance(node.value, list) else [node]
        names = tuple(item.value for item in values if isinstance(item.value, str))
        if len(names) < len(values) or not names:
            self.say(node, where, f"expected the name of a {what}, or a list of names")
        return names

    def scalar(
        self,
        values: dict[str, Node],
        key: str,
        kind: type,
        words: str,
        default: Any,
        *,
        least: float | None = None,
        most: float | None = None,
        where: str = "",
    ) -> Any:
        if key not in values:
            return default
        node, here = values[key], f"{where}.{key}" if where else key
        fits = type(node.value) is kind or (kind is float and type(node.value) is int)
        if not fits or (kind is float and not abs(node.value) < float("inf")):
            self.say(node, here, f"expected {words}, got {params.shown(node.plain())}")
            return default
        if (least is not None and node.value < least) or (most is not None and node.value > most):
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            self.say(node, here, f"expected {bounds}, got {node.value}")
            return default
        return kind(node.value)

    def choice(self, values: dict[str, Node], key: str, options: tuple[str, ...], where: str) -> Any:
        """One of the options; the first is the default."""
        if key not in values:
            return options[0]
        node = values[key]
        if node.value not in options:
            text = f"expected one of {', '.join(options)}, got {params.shown(node.plain())}"
            self.say(node, f"{where}.{key}", text)
            return options[0]
        return node.value
