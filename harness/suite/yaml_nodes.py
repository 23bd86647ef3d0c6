"""Reads YAML into nodes that know their file and line. Scalars follow YAML 1.2; tags are refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from harness.errors import HarnessError, Problems
from harness.problems import Keys, Place, Problem, shown_path
from harness.types import JSON

LARGEST = 10_000_000  # bytes of a suite: `harness run /dev/zero` must end
DEEPEST = 100  # levels of nesting, counted through aliases
MOST_NODES = 200_000  # nodes with aliases expanded: without a limit, they could expand without end
VARIABLE = re.compile(r"\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
PLAIN: tuple[tuple[re.Pattern[str], Callable[[str], JSON]], ...] = (  # YAML 1.2 core schema, in order
    (re.compile(r"|~|null|Null|NULL"), lambda text: None),
    (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    (re.compile(r"[-+]?[0-9]{1,4000}"), int),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"), lambda text: float(text.replace(".", ""))),
)


class Node(NamedTuple):
    """A value of a YAML file with its place. A mapping's value is a dict of nodes, a list's a list of nodes.
    The line of a node in a mapping is the line of its key."""

    value: JSON
    file: Path
    line: int
    written: str | None = None  # a scalar as it stands in the file, if it names environment variables

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    def plain(self, written: bool = False) -> JSON:
        """The node as plain data. Environment variables appear by value, or with `written` as in the file."""
        if isinstance(self.value, dict):
            return {key: node.plain(written) for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain(written) for node in self.value]
        return self.written if written and self.written is not None else self.value

    def at(self, path: Keys) -> Node:
        """The node at this path, or the nearest existing node above it."""
        node = self
        for step in path:
            inside = node.value
            if not isinstance(inside, dict | list):
                break
            known: Any = inside if isinstance(inside, dict) else dict(enumerate(inside))
            if step not in known:
                break
            node = known[step]
        return node


def read(path: Path, environment: Mapping[str, str] | None = None) -> Node:
    """The document of a YAML file as a node. `${NAME}` and `${NAME:-default}` in a value are replaced from
    the environment; `$${` stands for a plain `${`."""
    text = _text(path)
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = (error.problem or "cannot be parsed").replace("\n", " ")
        advice = "check the indentation and quotes"
        raise _wrong(path, mark.line + 1 if mark else 1, f"not valid YAML ({what})", advice) from None
    except yaml.YAMLError as error:
        what = str(error).partition("\n")[0]
        raise _wrong(path, 1, f"not valid YAML ({what})", "remove the character") from None
    except RecursionError:
        raise _wrong(path, 1, "nested too deeply", "a suite needs a few levels only") from None
    if root is None:
        raise _wrong(path, 1, "the file is empty", "see `harness schema suite` for what goes in")
    reader = _Reader(path, os.environ if environment is None else environment)
    return reader.node(root, (), root.start_mark.line + 1)


def of_data(data: JSON, file: Path, environment: Mapping[str, str] | None = None) -> Node:
    """Plain data as nodes, as if `file` held the data. Variables in texts are taken from the environment."""
    return _Reader(file, os.environ if environment is None else environment).of_data(data)


def parsed(text: str, file: Path, line: int) -> Node:
    """The YAML text `text` as a node, as if it stood in line `line` of `file`."""
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise HarnessError(
            f"'{text}': not valid YAML ({str(error).partition(chr(10))[0]}); quote it"
        ) from None
    if root is None:
        return Node(None, file, line)
    node = _Reader(file, os.environ).node(root, (), line)
    return _placed(node, line)


def _placed(node: Node, line: int) -> Node:
    inside = node.value
    if isinstance(inside, dict):
        inside = {key: _placed(item, line) for key, item in inside.items()}
    elif isinstance(inside, list):
        inside = [_placed(item, line) for item in inside]
    return node._replace(value=inside, line=line)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise HarnessError(f"{shown_path(path)}: larger than {LARGEST:,} bytes; name a suite's YAML file")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _wrong(path, line, f"not UTF-8 at byte {error.start}", "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise HarnessError(f"{shown_path(path)}: cannot be read ({reason}); check the path") from None


def _wrong(path: Path, line: int, what: str, advice: str) -> Problems:
    return Problems([Problem(Place(path, line), (), f"{what}; {advice}")])


class _Reader:
    """Turns PyYAML's nodes into `Node`s and counts them, because an alias may stand for many nodes."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.environment = environment
        self.count = 0

    def node(self, raw: yaml.Node, above: tuple[int, ...], line: int) -> Node:
        self.count += 1
        if self.count > MOST_NODES:
            raise self.error(line, "the aliases expand to too many values", "write them out or use fewer")
        if id(raw) in above:
            raise self.error(line, "an alias contains itself", "break the circle")
        if len(above) > DEEPEST:
            raise self.error(line, "nested too deeply", "a suite needs a few levels only")
        above = (*above, id(raw))
        if isinstance(raw, yaml.MappingNode):
            self.check_tag(raw, "tag:yaml.org,2002:map", line)
            return Node(self.mapping(raw, above), self.path, line)
        if isinstance(raw, yaml.SequenceNode):
            self.check_tag(raw, "tag:yaml.org,2002:seq", line)
            items = [self.node(item, above, item.start_mark.line + 1) for item in raw.value]
            return Node(items, self.path, line)
        return Node(self.scalar(raw, line), self.path, line, self.written(raw))

    def of_data(self, data: JSON) -> Node:
        if isinstance(data, dict):
            return Node({key: self.of_data(item) for key, item in data.items()}, self.path, 1)
        if isinstance(data, list):
            return Node([self.of_data(item) for item in data], self.path, 1)
        if not isinstance(data, str) or not VARIABLE.search(data):
            return Node(data, self.path, 1)
        return Node(VARIABLE.sub(lambda match: self.variable(match, 1), data), self.path, 1, data)

    def mapping(self, raw: yaml.MappingNode, above: tuple[int, ...]) -> dict[str, Node]:
        items: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_node, value_node in raw.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(line, "a key must be a plain text", "use a name")
            key = self.scalar(key_node, line, variables=False)
            if key == "<<" and key_node.style is None:
                merged |= self.merged(value_node, above, line)
                continue
            if type(key) is not str:
                advice = f"quote it: '{key_node.value}'"
                raise self.error(line, f"the key {key_node.value} is not a text", advice)
            if key in items:
                first = items[key].line
                raise self.error(line, f"the key '{key}' stands twice (first in line {first})", "remove one")
            items[key] = self.node(value_node, above, line)
        return {**merged, **items}

    def merged(self, raw: yaml.Node, above: tuple[int, ...], line: int) -> dict[str, Node]:
        parts = raw.value if isinstance(raw, yaml.SequenceNode) else [raw]
        merged: dict[str, Node] = {}
        for part in reversed(parts):  # if several mappings have a key, the first of them wins
            node = self.node(part, above, line)
            if not isinstance(node.value, dict):
                raise self.error(line, "only mappings can be merged with '<<'", "name one or more mappings")
            merged |= node.value
        return merged

    def scalar(self, raw: Any, line: int, variables: bool = True) -> JSON:
        plain = raw.style is None
        self.check_tag(raw, "tag:yaml.org,2002:str", line)
        text = raw.value
        if variables:
            text = VARIABLE.sub(lambda match: self.variable(match, line), text)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(line, "half of a surrogate pair is no character", "write the character itself")
        if not plain:
            return text
        for pattern, convert in PLAIN:
            if pattern.fullmatch(text):
                value = convert(text)
                if isinstance(value, int) and not -(2**63) <= value < 2**63:
                    raise self.error(line, "a whole number of more than 64 bits", "quote it if it is a text")
                return value
        return text

    def written(self, raw: Any) -> str | None:
        return str(raw.value) if VARIABLE.search(raw.value) else None

    def variable(self, match: re.Match[str], line: int) -> str:
        name, default = match[2], match[3]
        if match[1]:
            return match[0][1:]
        value: str | None = self.environment.get(name, default)
        if value is None:
            advice = f"set it, or write ${{{name}:-default}}"
            raise self.error(line, f"the environment variable {name} is not set", advice)
        return value

    def check_tag(self, raw: yaml.Node, expected: str, line: int) -> None:
        # BaseLoader gives every node one of the expected tags, so any other tag was written in the file
        if raw.tag != expected:
            raise self.error(line, f"the tag {raw.tag} is not allowed", "write plain values")

    def error(self, line: int, what: str, advice: str) -> Problems:
        return _wrong(self.path, line, what, advice)
