"""The order of the modules: imports go one way only, the core knows no plugin, plugins not each other."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "harness"
# Each package may import what stands before it; those of one line may not import each other.
LAYERS = [
    ["types", "problems", "user_cache", "step_context"],
    ["steps"],
    ["errors"],
    ["functions"],
    ["findings", "made_models"],
    ["contracts"],
    ["records"],
    ["hookspecs"],
    ["plugin"],
    ["catalogue"],
    ["suite"],
    ["plan"],
    ["store"],
    ["collection"],
    ["scoring"],
    ["execution"],
    ["leaderboard"],
    ["running"],
    ["exchange"],
    ["compare"],
    ["verify"],
    ["inspect"],
    ["html"],
    ["notebook"],
    ["api"],
    ["cli"],
    ["__main__"],
]
FOR_AUTHORS = {"testing", "toolkit"}  # the core does not import them; they import the core
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported(path: Path) -> set[str]:
    """The modules that a file imports when it is run, those within functions too, but not what only a
    type checker reads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in checked_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def core_modules() -> list[Path]:
    return sorted(path for path in CORE.rglob("*.py") if path.relative_to(CORE).parts[0] not in FOR_AUTHORS)


def name_of(path: Path) -> str:
    return path.relative_to(CORE).with_suffix("").parts[0]


def test_every_module_of_the_core_has_its_place():
    names = {name_of(path) for path in core_modules()} - {"__init__"}
    assert names <= LEVEL.keys(), f"give these a place in LAYERS: {sorted(names - LEVEL.keys())}"


@pytest.mark.parametrize("path", core_modules(), ids=lambda path: str(path.relative_to(CORE)))
def test_imports_go_to_earlier_modules_only(path):
    own = name_of(path)
    if own == "__init__":
        return  # its names are lazy
    for module in imported(path):
        parts = module.split(".")
        if parts[0] != "harness" or len(parts) < 2 or parts[1] == own:
            continue
        assert parts[1] not in FOR_AUTHORS, f"{path.name} imports {module}"
        if parts[1] in LEVEL:
            assert LEVEL[parts[1]] < LEVEL[own], f"{path.name} imports {module}, which comes later"


def test_the_core_imports_no_plugin():
    for path in core_modules():
        assert not [module for module in imported(path) if module.startswith("harness_")], path


@pytest.mark.parametrize(
    "package", sorted(path.name for path in (ROOT / "plugins").iterdir() if path.is_dir())
)
def test_a_plugin_imports_no_other_plugin(package):
    for path in (ROOT / "plugins" / package).rglob("*.py"):
        others = {module.split(".")[0] for module in imported(path) if module.startswith("harness_")} - {
            package
        }
        assert not others, f"{path.relative_to(ROOT)} imports {sorted(others)}"


@pytest.mark.parametrize(
    "path",
    [path for folder in ("harness", "plugins") for path in sorted((ROOT / folder).rglob("*.py"))],
    ids=str,
)
def test_a_file_opens_with_what_it_is_for_and_stays_short(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{path} has no opening line"
    assert text.count("\n") <= 400, f"{path} has {text.count(chr(10))} lines; split it along its seams"
