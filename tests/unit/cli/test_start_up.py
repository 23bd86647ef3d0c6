"""Starting the command imports nothing heavy: checked over `sys.modules` in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

from harness.testing.record import HEAVY

pytestmark = pytest.mark.extras

# Beside what a plugin may not import: what this project's own commands could drag in.
MORE = ("yaml", "orjson", "msgspec", "rich", "shtab", "zstandard", "Stemmer", "jieba", "jpype")
PROGRAM = """
import json, sys
from harness import cli
try:
    code = cli.main(sys.argv[1:])
except SystemExit as end:
    code = end.code or 0
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


def started(*arguments: str) -> set[str]:
    """The modules that a command imported, with our own plugins alone."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    settings = json.loads(done.stderr.splitlines()[-1])
    assert settings["code"] == 0, done.stderr
    return set(settings["modules"])


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("list",), ("list", "--params"), ("plugins",), ("run", "--help")],
    ids=" ".join,
)
def test_a_light_command_imports_nothing_heavy(arguments):
    modules = started(*arguments)
    assert sorted(modules.intersection((*HEAVY, *MORE))) == []


def test_plugins_imports_every_plugin_and_none_of_their_methods():
    modules = started("plugins")
    plugins = {name for name in modules if name.startswith("harness_")}
    assert {"harness_bm25", "harness_tour", "harness_fusion", "harness_titles", "harness_sdm"} <= plugins
    assert not plugins & {"harness_bm25.retriever", "harness_tour.source", "harness_fusion.methods"}


def test_list_imports_plugins_once_and_then_remembers_them(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "harness_bm25" in started("list")
    assert not [name for name in started("list") if name.startswith("harness_")]


def test_help_loads_plugins_once_and_then_remembers_their_commands(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "harness_bm25" in started("--help")
    assert not [name for name in started("--help") if name.startswith(("harness_", "harness.catalogue"))]


def test_a_command_of_the_core_asks_no_plugin_for_commands():
    assert "harness.cli.plugin_commands" not in started("run", "--help")


def test_a_heavy_import_would_be_found():
    assert "orjson" in started("schema", "suite")


def test_the_kinds_that_arguments_offer_are_those_of_the_catalogue():
    from harness import catalogue
    from harness.cli import kinds

    assert tuple(catalogue.KINDS) == kinds.RECORDS


def test_help_imports_no_module_of_a_command():
    modules = {name for name in started("--help") if name.startswith("harness.cli.")}
    assert modules <= {"harness.cli.exits", "harness.cli.plugin_commands"}
