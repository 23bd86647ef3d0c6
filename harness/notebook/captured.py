"""Captures a Python function as plain data: its source, and the data, functions and imports that it uses."""

from __future__ import annotations

import ast
import builtins
import dis
import importlib.metadata
import inspect
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from harness.plan import keys

LARGEST = 1_000_000  # the most characters of data that a function may use


class Uncapturable(Exception):
    """The reason why a function cannot be captured."""


class Captured(NamedTuple):
    """A captured function: enough to make it again elsewhere. Equal functions have equal captures."""

    name: str
    source: str  # source of all functions, each after the functions that it uses
    values: dict[str, str]  # name -> Python literal
    imports: dict[str, str]  # name -> `module`, or `module:attribute`
    versions: dict[str, str]  # module -> the version of its distribution, or the digest of its file


def capture(function: Any) -> Captured:
    """The captured function. Raises Uncapturable, with a reason, for a function that cannot be captured."""
    if not isinstance(function, FunctionType):
        raise Uncapturable(f"{type(function).__name__} objects have no source of their own; use a function")
    sources: dict[str, str] = {}
    values: dict[str, str] = {}
    imports: dict[str, str] = {}
    owners: dict[str, object] = {}
    _add(function, _name(function), sources, values, imports, owners)
    if sum(map(len, values.values())) > LARGEST:
        raise Uncapturable(f"it uses more than {LARGEST:,} characters of data")
    modules = sorted({text.partition(":")[0] for text in imports.values()})
    return Captured(
        _name(function),
        "\n\n".join(sources.values()),
        dict(sorted(values.items())),
        dict(sorted(imports.items())),
        {module: _version(module) for module in modules},
    )


def _add(
    function: FunctionType, name: str, sources: dict[str, str], values: dict[str, str],
    imports: dict[str, str], owners: dict[str, object],
) -> None:  # fmt: skip
    """Adds a function under `name`, after everything that it uses."""
    if owners.setdefault(name, function) is not function:
        raise Uncapturable(f"two different functions are called '{name}'")
    tree = _tree(function)
    for used, value in _used(function, tree).items():
        if used in owners and owners[used] is value:
            continue
        if isinstance(value, ModuleType):
            if not _installed(value.__name__):
                raise Uncapturable(f"it uses the module '{used}', which is of no installed package")
            owners[used], imports[used] = value, value.__name__
        elif (text := _literal(value)) is not None:
            if used in values and values[used] != text:
                raise Uncapturable(f"two different values are called '{used}'")
            values[used] = text
        elif (module := _importable(value)) is not None:
            imports[used] = f"{module}:{value.__qualname__}"
        elif isinstance(value, FunctionType):
            _add(value, used, sources, values, imports, owners)
        else:
            raise Uncapturable(f"it uses '{used}', a {type(value).__name__}, which is no plain data")
    if isinstance(tree, ast.Lambda):
        sources[name] = f"{name} = {ast.unparse(tree)}"
    else:
        tree.name = name
        sources[name] = ast.unparse(tree)


def _name(function: FunctionType) -> str:
    return function.__name__ if function.__name__.isidentifier() else "function"  # a lambda has no name


def _tree(function: FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The definition of a function without annotations, which do not change what it computes."""
    try:
        lines = inspect.getsource(function)
    except (OSError, TypeError):
        raise Uncapturable("its source is not known; define it in a file or in a cell") from None
    if function.__name__ == "<lambda>":
        return _lambda(function, lines)
    (definition,) = ast.parse(textwrap.dedent(lines)).body
    if not isinstance(definition, ast.FunctionDef):
        raise Uncapturable("it is no plain function")
    for node in ast.walk(definition):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return definition


def _lambda(function: FunctionType, lines: str) -> ast.Lambda:
    """The expression of a lambda, cut out of the source lines that contain it. Those lines may hold other
    code and may not parse by themselves."""
    text = textwrap.dedent(lines).strip()
    known: dict[str, ast.Lambda] = {}
    for start in [i for i in range(len(text)) if text.startswith("lambda", i)]:
        for end in range(len(text), start, -1):
            try:
                expression = ast.parse(text[start:end], mode="eval").body
            except SyntaxError:
                continue
            if isinstance(expression, ast.Lambda):  # the longest part that parses is the whole lambda
                if _looks_like(expression, function):
                    known[ast.unparse(expression)] = expression
                break
    if len(known) != 1:
        raise Uncapturable("its source cannot be told from the line it stands on; write a def")
    return next(iter(known.values()))


def _looks_like(expression: ast.Lambda, function: FunctionType) -> bool:
    """Whether the expression has the same arguments, names and constants as the function."""
    compiled = compile(ast.Expression(expression), "<lambda>", "eval")
    code = next(item for item in compiled.co_consts if isinstance(item, CodeType))
    return _outline(code) == _outline(function.__code__)


def _outline(code: CodeType) -> tuple[object, ...]:
    """The arguments, names and constants of code, to compare two lambdas. Names of an enclosing function
    become global when a lambda is compiled alone, so both kinds of names are put together."""
    codes = list(_nested(code))
    names = {name for item in codes for name in (*item.co_names, *item.co_freevars)}
    constants = sorted(
        repr(constant)
        for item in codes
        for constant in item.co_consts
        if not isinstance(constant, CodeType) and not (isinstance(constant, str) and "<l" in constant)
    )
    return code.co_varnames[: code.co_argcount], frozenset(names), tuple(constants)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _used(function: FunctionType, tree: ast.FunctionDef | ast.Lambda) -> dict[str, Any]:
    """The values of the outside names that a function uses, sorted by name."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names = set(_globals(function.__code__)) | set(function.__code__.co_freevars)
    outside: list[ast.expr] = [*tree.args.defaults, *(item for item in tree.args.kw_defaults if item)]
    outside += tree.decorator_list if isinstance(tree, ast.FunctionDef) else []
    names |= {node.id for item in outside for node in ast.walk(item) if isinstance(node, ast.Name)}
    used: dict[str, Any] = {}
    for name in sorted(names - {function.__name__}):
        if name in closure:
            try:
                used[name] = closure[name].cell_contents
            except ValueError:
                raise Uncapturable(f"'{name}' has no value yet") from None
        elif name in function.__globals__:
            used[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            raise Uncapturable(f"it uses '{name}', which has no value yet")
    return used


def _globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise Uncapturable(f"it changes the global '{instruction.argval}'")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _literal(value: Any) -> str | None:
    """The Python literal of plain data. None for all other values, and for sets, whose order is not fixed."""
    if _is_plain(value):
        text = repr(value)
        try:
            return text if ast.literal_eval(text) == value else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # nan and inf have no literal
            return None
    return None


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    return value is None or type(value) in (bool, int, float, str, bytes)


def _importable(value: Any) -> str | None:
    """The module of a function or class that belongs to Python or to an installed package, or None."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", "")
    if not isinstance(module, str) or not name.isidentifier() or not _installed(module):
        return None
    return module if getattr(sys.modules.get(module), name, None) is value else None


def _installed(module: str) -> bool:
    """Whether a module belongs to Python or to an installed package. Other modules are the user's own: they
    may change, with all that they import, without a change of version."""
    top = module.partition(".")[0]
    if top in ("__main__", "builtins"):
        return False
    return top in sys.stdlib_module_names or top in importlib.metadata.packages_distributions()


def _version(module: str) -> str:
    """The version of a module's distribution. For an editable distribution it is the digest of its sources;
    for a module of Python it is the version of Python."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return sysconfig.get_python_version()
    name = importlib.metadata.packages_distributions()[top][0]
    distribution = importlib.metadata.distribution(name)
    if '"editable": true' in (distribution.read_text("direct_url.json") or ""):
        return keys.sources(top, name) or distribution.version
    return distribution.version
