"""Reads a suite's file and the suites that it includes as one mapping."""

from __future__ import annotations

import os
from pathlib import Path

from harness.catalogue import params
from harness.errors import HarnessError, Problems
from harness.problems import Problem, shown_path
from harness.suite import yaml_nodes
from harness.suite.yaml_nodes import Node

DEEPEST = 20  # suites that include each other in a chain


def read(path: Path, above: tuple[Path, ...] = ()) -> Node:
    """The root mapping of a suite's file, merged with the suites that the file includes. Its values win over
    included values, but each dataset and system may be defined only once. `above` include this one."""
    _refuse_circle(path, above)
    root = yaml_nodes.read(path)
    if not isinstance(root.value, dict):
        raise _wrong(root, "a suite is a mapping; see `harness schema suite`")
    include = root.value.get("include")
    if include is None:
        return root
    merged = dict(root.value)
    for item in include.value if isinstance(include.value, list) else [include]:
        other = dict(read(_target(path, item), (*above, path)).value)
        if "measures" in merged or "protocol" in merged:  # a suite is scored in one way; its own wins
            other.pop("measures", None)
            other.pop("protocol", None)
        for key in ("datasets", "systems"):
            if key in other:
                merged[key] = _joined(key, other[key], merged.get(key))
        merged = {**{key: node for key, node in other.items() if key not in ("suite", "include")}, **merged}
    return Node(merged, root.file, root.line)


def _refuse_circle(path: Path, above: tuple[Path, ...]) -> None:
    # `realpath`, because a path such as `../sub/../sub/suite.yaml` grows with each include of the same file
    if os.path.realpath(path) in map(os.path.realpath, above):
        chain = " -> ".join(shown_path(item) for item in (*above, path))
        raise HarnessError(f"{shown_path(path)}: includes itself ({chain}); remove one include")
    if len(above) > DEEPEST:
        raise HarnessError(f"{shown_path(path)}: more than {DEEPEST} suites include each other; merge some")


def _target(path: Path, item: Node) -> Path:
    if not isinstance(item.value, str) or not item.value:
        raise _wrong(item, f"expected a path, got {params.shown(item.plain())}", "include")
    target = Path(path.parent, item.value).absolute()
    if not os.path.isfile(target):  # noqa: PTH113 - false, not an OSError, for what cannot be a path
        raise _wrong(item, f"no such file {params.shown(item.value)}; check the path", "include")
    return target


def _joined(key: str, theirs: Node, ours: Node | None) -> Node:
    theirs, ours = _as_mapping(theirs), None if ours is None else _as_mapping(ours)
    if ours is None or not isinstance(ours.value, dict) or not isinstance(theirs.value, dict):
        return ours or theirs
    for name in ours.value:
        # equal definitions are allowed: two suites may include the same third suite
        if name in theirs.value and ours.value[name] != theirs.value[name]:
            first = theirs.value[name].place
            raise _wrong(ours.value[name], f"'{name}' is already defined at {first}; rename one", key)
    return Node({**theirs.value, **ours.value}, ours.file, ours.line)


def _as_mapping(node: Node) -> Node:
    """A list of names, such as `datasets: [tour]`, as the mapping that it stands for. Other nodes are
    returned unchanged; the checker refuses a wrong list."""
    if not isinstance(node.value, list) or not all(isinstance(item.value, str) for item in node.value):
        return node
    return node._replace(value={item.value: item for item in node.value})


def _wrong(node: Node, text: str, *path: str) -> Problems:
    return Problems([Problem(node.place, path, text)])
