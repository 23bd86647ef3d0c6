"""Finds in a function's source what makes its answers depend on more than the source and its arguments: the
clock, random numbers, files, programs and services."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

CLOCK, RANDOM, FILES = "reads the clock", "draws random numbers", "reads files"
PROGRAMS, SERVICES = "starts programs", "asks a service"
SEEDED = {
    "default_rng", "RandomState", "Random", "Generator", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937",
    "Philox", "SFC64", "seed", "set_state", "setstate",
}  # fmt: skip
NOW = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}
OF_NOW = {
    "localtime": 0,
    "gmtime": 0,
    "ctime": 0,
    "strftime": 1,
}  # the most arguments with which they read it
OPENERS = (
    "io.open", "os.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "tarfile.open",
    "zipfile.ZipFile", "numpy.load", "numpy.genfromtxt", "numpy.fromfile", "numpy.memmap", "pandas.read_",
    "sqlite3.connect", "os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob",
)  # fmt: skip
CLIENTS = (
    "socket.", "requests.", "httpx.", "aiohttp.", "urllib.request.", "http.client.", "grpc.", "psycopg.",
    "psycopg2.", "pycurl.", "openai.", "anthropic.",
)  # fmt: skip


def seeds(source: str) -> bool:
    """Whether the source sets the state of a random generator, so that what it draws is always the same."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("seed", "set_state", "setstate", "manual_seed")
        for node in ast.walk(ast.parse(source))
    )


def reasons(source: str, imports: Mapping[str, str]) -> list[str]:
    """What the source does that changes its answers from run to run, sorted. `imports` are the names that it
    uses, each with `module` or `module:attribute`."""
    tree = ast.parse(source)
    names = {name: text.replace(":", ".") for name, text in imports.items()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.partition(".")[0]
                names[item.asname or top] = item.name if item.asname else top
        elif isinstance(node, ast.ImportFrom):
            names |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
    for node in ast.walk(tree):  # a name that the source gives to something else is not the module
        if isinstance(node, ast.arg):
            names[node.arg] = ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = ""
    reasons = {reason for node in ast.walk(tree) for reason in _reasons(node, names)}
    return sorted(reasons - {RANDOM} if seeds(source) else reasons)


def _reasons(node: ast.AST, names: Mapping[str, str]) -> Iterator[str]:
    if not isinstance(node, ast.Call):
        if isinstance(node, ast.Name | ast.Attribute):  # such as `key=random.random`
            dotted = _dotted(node, names)
            if dotted is not None and _is_random(dotted):
                yield RANDOM
        return
    dotted = _dotted(node.func, names)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "read_bytes"):
        yield FILES
    if dotted is None:
        return
    module, _, leaf = dotted.rpartition(".")
    if module == "time" and (leaf in NOW or len(node.args) <= OF_NOW.get(leaf, -1)):
        yield CLOCK
    if module in ("datetime.datetime", "datetime.date") and leaf in ("now", "today", "utcnow"):
        yield CLOCK
    made = module in ("random", "numpy.random") and leaf in ("default_rng", "RandomState", "Random")
    if (made and not (node.args or node.keywords)) or module == "secrets":
        yield RANDOM
    if dotted in ("os.urandom", "uuid.uuid1", "uuid.uuid4"):
        yield RANDOM
    if (dotted == "open" and _reads(node)) or dotted.startswith(OPENERS):
        yield FILES
    if module == "subprocess" or dotted in ("os.system", "os.popen"):
        yield PROGRAMS
    if dotted.startswith(CLIENTS):
        yield SERVICES


def _is_random(dotted: str) -> bool:
    module, _, leaf = dotted.rpartition(".")
    return module in ("random", "numpy.random") and leaf not in SEEDED and leaf[:1].islower()


def _dotted(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """The full name of a function, such as `numpy.random.rand`, without the private modules within it. None
    if it belongs to no module; a builtin has its own name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    if node.id not in names:
        return node.id if not parts else None
    if not names[node.id]:
        return None
    return ".".join(part for part in [*names[node.id].split("."), *parts] if not part.startswith("_"))


def _reads(call: ast.Call) -> bool:
    """Whether a call of `open` may read: its mode is not known to be one of writing alone."""
    modes = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "mode")]
    mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else "r"
    return not isinstance(mode, str) or "r" in mode or "+" in mode
