"""`resources: {cpus: 2, gpus: 1, memory: 8}` beside a plugin: what its steps ask a cluster for."""

from __future__ import annotations

from harness.problems import Keys
from harness.suite.yaml_nodes import Node
from harness.types import JSON

KEY = "resources"
KINDS = (
    "contexts",
    "retrievers",
    "rerankers",
    "combiners",
    "trainers",
)  # kinds of plugins beside which a suite may say `resources`
SCHEMA: JSON = {
    "type": "object",
    "additionalProperties": {"type": "number", "minimum": 0},
    "description": "what a Ray cluster gives a step: cpus, gpus, memory in gigabytes, or its own resources",
}


def read(node: Node, path: Keys) -> tuple[tuple[tuple[str, float], ...], list[tuple[Node, Keys, str]]]:
    """The resources written beside a plugin, and the problems with them."""
    inner = node.value.get(KEY) if isinstance(node.value, dict) else None
    if inner is None:
        return (), []
    path = (*path, KEY)
    if not isinstance(inner.value, dict):
        return (), [(inner, path, "expected a mapping such as {cpus: 2, gpus: 1, memory: 8}")]
    resources: dict[str, float] = {}
    problems = []
    for name, item in inner.value.items():
        value = item.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            problems.append((item, (*path, name), f"expected a number from 0, got {value!r}"))
        else:
            resources[name] = value
    return tuple(sorted(resources.items())), problems
