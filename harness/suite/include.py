"""Reads a suite's file and the suites that it includes as one mapping."""

from __future__ import annotations

from pathlib import Path

from harness import params
from harness.errors import HarnessError
from harness.suite import yaml_nodes
from harness.suite.yaml_nodes import Node


def read(path: Path, above: tuple[Path, ...]) -> Node:
    """The root mapping with the suites that it includes merged in; its own values win, but a name of
    a dataset or system may be defined only once."""
    if path in above:
        chain = " -> ".join(str(yaml_nodes.shown_path(item)) for item in (*above, path))
        raise HarnessError(f"{yaml_nodes.shown_path(path)}: includes itself ({chain}); remove one include")
    root = yaml_nodes.read(path)
    if not isinstance(root.value, dict):
        raise HarnessError(f"{root.place}: a suite is a mapping; see `harness schema suite`")
    include = root.value.get("include")
    if include is None:
        return root
    merged = dict(root.value)
    for item in include.value if isinstance(include.value, list) else [include]:
        if not isinstance(item.value, str) or not item.value:
            raise HarnessError(f"{item.place}: include: expected a path, got {params.shown(item.plain())}")
        target = Path(path.parent, item.value).absolute()
        if not target.is_file():
            raise HarnessError(f"{item.place}: include: no such file '{item.value}'; check the path")
        other = dict(read(target, (*above, path)).value)
        if "measures" in merged or "protocol" in merged:  # one way of scoring: what stands here wins
            other.pop("measures", None)
            other.pop("protocol", None)
        for key in ("datasets", "systems"):
            if key in other:
                merged[key] = _joined(key, other[key], merged.get(key))
        merged = {**{key: node for key, node in other.items() if key not in ("suite", "include")}, **merged}
    return Node(merged, root.file, root.line)


def _joined(key: str, theirs: Node, ours: Node | None) -> Node:
    theirs, ours = _named(theirs), None if ours is None else _named(ours)
    if ours is None or not isinstance(ours.value, dict) or not isinstance(theirs.value, dict):
        return ours or theirs
    for name in ours.value:
        if name in theirs.value and ours.value[name] != theirs.value[name]:  # both may include one base
            first = theirs.value[name].place
            raise HarnessError(
                f"{ours.value[name].place}: {key}: '{name}' is already defined at {first}; rename one"
            )
    return Node({**theirs.value, **ours.value}, ours.file, ours.line)


def _named(node: Node) -> Node:
    """`datasets: [tour]` as the mapping that it stands for; a wrong list stays for the checker to refuse."""
    if not isinstance(node.value, list) or not all(isinstance(item.value, str) for item in node.value):
        return node
    return node._replace(value={item.value: item for item in node.value})
