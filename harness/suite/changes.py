"""Changes that a command or a notebook makes to a suite before the suite is checked: settings and limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.suite import yaml_nodes
from harness.suite.yaml_nodes import Node


class Changes(NamedTuple):
    """The changes to one suite. `settings` are texts like `systems.bm25.retriever.bm25.k1=1.2`; `limit` and
    `sample` apply to every dataset."""

    settings: tuple[str, ...] = ()
    limit: int | None = None  # number of queries
    sample: int | None = None  # number of passages

    @property
    def limits(self) -> bool:
        """Whether this is a trial, whose numbers are not comparable."""
        return self.limit is not None or self.sample is not None

    @property
    def options(self) -> list[str]:
        """The changes as options of the command line."""
        words = [word for text in self.settings for word in ("--set", text)]
        for name, number in (("--limit", self.limit), ("--sample", self.sample)):
            words += [name, str(number)] if number is not None else []
        return words


def applied(root: Node, changes: Changes) -> Node:
    """The root node of the suite with `changes` applied. Raises HarnessError for an unknown path."""
    for text in changes.settings:
        path, equals, value = text.partition("=")
        if not equals or not path:
            raise HarnessError(f"--set {text}: expected PATH=VALUE, as systems.bm25.retriever.bm25.k1=1.2")
        root = _set(root, path, yaml_nodes.parsed(value, root.file, root.line), f"--set {text}", "")
    limits = {"limit": changes.limit, "sample": changes.sample}
    limit_nodes = {
        key: Node(number, root.file, root.line) for key, number in limits.items() if number is not None
    }
    if limit_nodes and isinstance(root.value, dict) and "datasets" in root.value:
        root = _with(root, "datasets", _limited(root.value["datasets"], limit_nodes))
    return root


def _set(node: Node, path: str, value: Node, option: str, above: str) -> Node:
    if not path:
        return value._replace(line=node.line)
    if isinstance(node.value, list):
        head, _, rest = path.partition(".")
        if not head.isdigit() or int(head) >= len(node.value):
            raise HarnessError(f"{option}: {above} is a list of {len(node.value)}; name a place from 0")
        items = list(node.value)
        items[int(head)] = _set(items[int(head)], rest, value, option, f"{above}.{head}")
        return node._replace(value=items)
    inside = _as_mapping(node, path, above)
    key = _key(inside, path)
    if key is None and "." not in path:  # a new key, which the checker may refuse
        key = path
    if key is None:
        known = ", ".join(map(str, inside)) or "nothing"
        raise HarnessError(f"{option}: {above or 'the suite'} has {known}; name one of these in the path")
    before = inside.get(key, Node(None, node.file, node.line))
    below = f"{above}.{key}" if above else key
    changed = _set(before, path[len(key) + 1 :], value, option, below)
    return node._replace(value={**inside, key: changed})


def _as_mapping(node: Node, path: str, above: str) -> Mapping[str, Node]:
    """The mapping inside a node. A plugin's bare name, `bm25`, is read as `bm25: {}` if the path goes on."""
    if isinstance(node.value, dict):
        return node.value
    if isinstance(node.value, str) and (path == node.value or path.startswith(f"{node.value}.")):
        return {node.value: Node({}, node.file, node.line)}
    if node.value is None and above:  # `tour:` names the plugin `tour`
        return {path.partition(".")[0]: Node({}, node.file, node.line)}
    return {}


def _key(inside: Mapping[str, Any], path: str) -> str | None:
    """The longest key that the path begins with, or None. Keys may hold dots."""
    fitting = [key for key in inside if path == key or path.startswith(f"{key}.")]
    return max(fitting, key=len, default=None)


def _limited(datasets: Node, limit_nodes: Mapping[str, Node]) -> Node:
    """The node `datasets` with the limits added to every dataset, in all forms of writing one."""
    if isinstance(datasets.value, list):
        named = {item.value: item for item in datasets.value if isinstance(item.value, str)}
        if len(named) < len(datasets.value):
            return datasets  # the checker refuses it
        datasets = datasets._replace(value=named)
    if not isinstance(datasets.value, dict):
        return datasets
    return datasets._replace(
        value={name: _one(name, node, limit_nodes) for name, node in datasets.value.items()}
    )


def _one(name: str, node: Node, limit_nodes: Mapping[str, Node]) -> Node:
    if node.value is None or isinstance(node.value, str):
        plugin: str = node.value or name
        return node._replace(value={plugin: Node({}, node.file, node.line), **limit_nodes})
    return node._replace(value={**node.value, **limit_nodes}) if isinstance(node.value, dict) else node


def _with(node: Node, key: str, value: Node) -> Node:
    return node._replace(value={**node.value, key: value})


def written(path: Path, changes: Changes) -> str:
    """The command that runs the suite of the file `path` with `changes`."""
    import shlex

    from harness.problems import shown_path

    return " ".join(["harness run", shown_path(path), *map(shlex.quote, changes.options)])
