"""The door: what plugins import from the core, that ours keep to it, and how names of it go."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import catalogue, cli, plugin, records
from harness.catalogue import OWN
from harness_new_plugin import scaffold
from harness_new_plugin.command import SCAFFOLDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
TOOLKIT = ROOT / "harness" / "toolkit"
SUBJECTS = sorted(path.stem for path in TOOLKIT.iterdir() if path.name[0] not in "_.")
IN_TESTS = {"harness.testing", "harness.run"}


def sources() -> Iterator[tuple[str, str]]:
    """What obeys the door, by name: our plugins, the packages that new-plugin writes, the page of hooks."""
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for kind in SCAFFOLDS:
        for path, text in scaffold.files(kind, scaffold.names("any-name")).items():
            if path.endswith(".py"):
                yield f"{kind}: {path}", text
    page = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S), 1):
        yield f"hooks.md, example {number}", block


def imported(text: str) -> Iterator[str]:
    """The modules of the core that a source imports, anywhere in it."""
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.split(".")[0] == "harness")


def toolkit_module(name: str) -> str | None:
    """The module of a subject in which an imported name lies, or None for a name of the subject itself."""
    for module in (name, name.rpartition(".")[0]):
        if module.count(".") > 2 and (ROOT / f"{module.replace('.', '/')}.py").exists():
            return module
    return None


def test_plugins_scaffolds_and_examples_import_the_door_the_toolkit_and_in_tests_what_tests_need():
    beside = []
    for name, text in sources():
        for module in imported(text):
            in_tests = module in IN_TESTS and ("tests/" in name or name.startswith("hooks.md"))
            if not re.match(r"harness\.(plugin|toolkit)\.", module) and not in_tests:
                beside.append(f"{name}: {module}")
    assert beside == []


def test_plugins_import_few_modules_of_the_core():
    used = {".".join(module.split(".")[:3]) for _, text in sources() for module in imported(text)}
    subjects = {module for module in used if module.startswith("harness.toolkit.")}
    assert len(subjects | {"harness.plugin", "harness.testing"}) <= 12
    assert {module.rpartition(".")[2] for module in subjects} == set(SUBJECTS)


def test_every_name_of_the_door_is_there_and_is_listed_once():
    assert sorted(set(plugin.__all__)) == sorted(plugin.__all__)
    assert plugin._HEAVY.keys() <= set(plugin.__all__)
    assert [name for name in plugin.__all__ if getattr(plugin, name) is None] == []
    with pytest.raises(AttributeError, match="has no attribute 'Retreiver'"):
        plugin.Retreiver  # noqa: B018


def test_the_page_lists_the_names_of_the_door_and_the_subjects_of_the_toolkit():
    page = PAGE.read_text(encoding="utf-8")
    names, subjects = (part.partition("\n## ")[0] for part in page.split("\n## ")[1:3])
    rows = [line.split("|")[2] for line in names.splitlines() if line.startswith("|")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(plugin.__all__)
    listed = re.findall(
        r"^\| `(harness.toolkit.\w+)` \| (?:stable|provisional) \|.*\|(.*)\|$", subjects, re.M
    )
    assert [subject.rpartition(".")[2] for subject, _ in listed] == SUBJECTS
    used = {module for _, text in sources() for name in imported(text) if (module := toolkit_module(name))}
    assert used == {f"{subject}.{name}" for subject, row in listed for name in re.findall(r"`([\w.]+)`", row)}
    assert f"`API = {plugin.API}`" in page


def test_a_deprecated_name_goes_on_working_and_warns_with_the_new_one(monkeypatch):
    monkeypatch.setitem(plugin._DEPRECATED, "Ranking", "harness.plugin:Hits")
    with pytest.warns(
        DeprecationWarning, match=r"plugin.Ranking is deprecated; import Hits from harness.plugin"
    ):
        from harness.plugin import Ranking
    assert Ranking is plugin.Hits


def test_every_build_of_ours_names_something_that_its_module_defines():
    offered = [
        entry for every in catalogue.load().entries.values() for one in every.values() for entry in one
    ]
    builds = [getattr(entry.record, "build", None) for entry in offered]
    targets = [build.args[0] for build in builds if getattr(build, "func", None) is records._built]
    assert len(targets) > 60
    for target in targets:
        module, _, name = target.partition(":")
        path = ROOT / "plugins" / f"{module.replace('.', '/')}.py"
        defined = ast.parse(path.read_text(encoding="utf-8")).body
        assert name in {getattr(node, "name", None) for node in defined}, target


def test_our_own_plugins_are_all_loaded():
    assert [
        point.error for point in catalogue.load().plugins if point.distribution == OWN and point.error
    ] == []


def test_the_page_comes_with_the_door(capsys):
    assert cli.main(["plugins", "--api"]) == 0
    assert capsys.readouterr().out.rstrip() == PAGE.read_text(encoding="utf-8").rstrip()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"]["force-include"] == {"docs/api.md": "harness/plugin_api.md"}
