"""Keys: the SHA-256 of canonical JSON of everything that can change a number, and of nothing else.

That is parameters, the contents of files, the versions of libraries, and the digests of plugins' code."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import orjson

from harness.catalogue import OWN, params
from harness.problems import exists
from harness.steps.record import digest
from harness.types import JSON

TOOLKIT, TOOLKIT_FOLDER = "harness.toolkit", Path(__file__).parents[1] / "toolkit"
_TOOLKIT_MODULE = re.compile(r"harness\.toolkit(\.\w+)*")

Digest = Callable[[Path], str]  # the digest of the contents of a file or a folder


def canonical(value: JSON) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def key(described: Mapping[str, JSON]) -> str:
    return digest(described)


def addressed(value: Any, digest: Digest) -> JSON:
    """A parameter's value as plain data for a key. A path is replaced by the digest of the contents at it."""
    if isinstance(value, Path):
        return {"sha256": digest(value)} if exists(value) else {"missing": str(value)}
    if isinstance(value, Mapping):
        return {str(name): addressed(item, digest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [addressed(item, digest) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: addressed(item, digest) for name, item in keyed_items(value)}
    return params.plain(value)


def keyed_items(values: Any) -> list[tuple[str, Any]]:
    """The parameters that can change a number, by name."""
    fields = params.fields_of(type(values)).items()
    return [(name, getattr(values, name)) for name, (field, _) in fields if field.metadata.get("keyed", True)]


@functools.cache
def library(name: str) -> str:
    """The version of a library for a key."""
    return _installed(name) or "absent"


@functools.cache  # planning asks for a digest at every step, and clears the cache when planning begins
def sources(module: str, distribution: str) -> str:
    """The SHA-256 of the files of a plugin's package, however it is installed, and of the toolkit's modules
    that these files import, directly or not. For a distribution other than the harness' own, the version is
    included too, because the package may use other packages that the distribution installs beside it."""
    hashed = hashlib.sha256()
    if distribution != OWN:
        hashed.update(f"{distribution} {_installed(distribution) or 'not installed'}\0".encode())
    imports: set[str] = set()
    for name, path in _package_files(module):
        content = path.read_bytes()
        hashed.update(f"{name}\0".encode() + hashlib.sha256(content).digest())
        if path.suffix == ".py" and b"toolkit" in content:
            imports |= toolkit_imports(content)
    for name in sorted(_with_imports(imports)):
        hashed.update(f"{name}\0".encode() + hashlib.sha256(_toolkit_file(name).read_bytes()).digest())
    return hashed.hexdigest()


@functools.cache  # the cache is by contents, so it needs no clearing
def toolkit_imports(source: bytes) -> frozenset[str]:
    """The names of the toolkit's modules in a file's imports, at its top or within a function, and in its
    strings. Imports for type checkers alone do not count."""
    names: set[str] = set()
    try:
        nodes = list(_executed(ast.parse(source)))
    except SyntaxError:  # the file cannot be run, so it has no imports; its own digest still counts
        return frozenset()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return frozenset(
        name for name in names if _TOOLKIT_MODULE.fullmatch(name) and _toolkit_file(name).exists()
    )


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, in any order, except those under `if TYPE_CHECKING`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _with_imports(names: set[str]) -> set[str]:
    """The toolkit's modules `names`, the toolkit's modules that they import, directly or not, and the
    packages in which all of these lie."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached and _toolkit_file(name).exists():
            reached.add(name)
            waiting += toolkit_imports(_toolkit_file(name).read_bytes())
            waiting += [name.rpartition(".")[0]] if name != TOOLKIT else []
    return reached


def _toolkit_file(name: str) -> Path:
    """The path of the file of a module of the toolkit. The file need not exist."""
    place = TOOLKIT_FOLDER.joinpath(*name.split(".")[2:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _package_files(module: str) -> Iterator[tuple[str, Path]]:
    """The names and paths of the files of a plugin's topmost package that is no namespace package. Nothing is
    yielded for a package that does not lie in a folder, as in a zip file."""
    spec = _regular_package(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        yield origin.name, origin
        return
    for path in sorted(origin.parent.rglob("*")):
        name = path.relative_to(origin.parent)
        if path.is_file() and not any(part == "__pycache__" or part[0] == "." for part in name.parts):
            yield f"{spec.name}/{name.as_posix()}", path


def _regular_package(module: str) -> ModuleSpec | None:
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        spec = importlib.util.find_spec(".".join(parts[:depth]))
        if spec is None or spec.origin is not None:
            return spec
    return None


def _installed(distribution: str) -> str | None:
    """The version of a distribution, or None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
