"""The digest of a plugin's code changes with what the plugin runs, and with nothing else."""

import shutil
import sys
from pathlib import Path

import pytest

import harness
from harness.catalogue import OWN
from harness.plan import plugin_sources

PLUGINS = Path(harness.__file__).parents[1] / "plugins"


@pytest.fixture
def toolkit(tmp_path, monkeypatch):
    """A copy of the toolkit that may be edited."""
    copy = tmp_path / "toolkit"
    shutil.copytree(plugin_sources.TOOLKIT_FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(plugin_sources, "TOOLKIT_FOLDER", copy)
    return copy


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """Writes a package `acme_rerank`, installed from a wheel in this version, and returns its folder."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(version, **files):
        for old in tmp_path.glob("acme_rerank-*.dist-info"):
            shutil.rmtree(old)
        info = tmp_path / f"acme_rerank-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-rerank\nVersion: {version}\n")
        (info / "RECORD").write_text("acme_rerank/__init__.py,,\n")
        package = tmp_path / "acme_rerank"
        package.mkdir(exist_ok=True)
        for name, text in {"__init__": "", **files}.items():
            (package / f"{name}.py").write_text(text)
        return package

    yield write
    sys.modules.pop("acme_rerank", None)


def digest(module="acme_rerank", distribution="acme-rerank"):
    plugin_sources.digest.cache_clear()
    return plugin_sources.digest(module, distribution)


def test_an_edited_module_of_an_installed_package_changes_it(stranger):
    stranger("1.0", scorer="weight = 1\n")
    before = digest()
    assert digest() == before
    stranger("1.0", scorer="weight = 2\n")
    assert digest() != before


def test_another_version_changes_it_where_the_sources_are_the_same(stranger):
    stranger("1.0")
    before = digest()
    stranger("1.1")
    assert digest() != before


def test_data_in_the_package_counts_and_bytecode_does_not(stranger):
    package = stranger("1.0")
    before = digest()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "scorer.cpython.pyc").write_bytes(b"x")
    assert digest() == before
    (package / "words.txt").write_text("a\n")
    assert digest() != before


def test_a_plugin_in_a_namespace_counts_the_package_within_it(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / "space" / name).mkdir(parents=True)
        (tmp_path / "space" / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = digest("space.one", "absent")
    (tmp_path / "space" / "two" / "__init__.py").write_text("x = 1\n")
    assert digest("space.one", "absent") == before
    (tmp_path / "space" / "one" / "__init__.py").write_text("x = 1\n")
    assert digest("space.one", "absent") != before


def test_an_edit_of_the_toolkit_changes_only_the_plugins_that_import_the_module(toolkit):
    names = sorted(path.name for path in PLUGINS.glob("harness_*"))
    before = {name: digest(name, OWN) for name in names}
    with (toolkit / "search" / "exact_kernels.py").open("a") as file:
        file.write("\n# another edition\n")
    changed = {name for name in names if digest(name, OWN) != before[name]}
    assert "harness_dense" in changed
    assert not changed & {"harness_bm25", "harness_sdm", "harness_files", "harness_coreference"}


def test_an_import_counts_wherever_it_stands_and_a_string_that_names_a_module_too(toolkit, stranger):
    (toolkit / "text" / "fresh.py").write_text("x = 1\n")
    for source in (
        "import harness.toolkit.text.fresh\n",
        "def build():\n    from harness.toolkit.text import fresh\n",
        "from importlib import import_module\nfresh = import_module('harness.toolkit.text.fresh')\n",
        "from harness.toolkit.text.fresh import x\n",
    ):
        stranger("1.0", scorer=source)
        (toolkit / "text" / "fresh.py").write_text("x = 1\n")
        before = digest()
        (toolkit / "text" / "fresh.py").write_text("x = 2\n")
        assert digest() != before, source


def test_an_import_of_an_import_counts_and_one_for_type_checkers_does_not(toolkit, stranger):
    (toolkit / "text" / "outer.py").write_text("from harness.toolkit.text.inner import x\n")
    (toolkit / "text" / "inner.py").write_text("x = 1\n")
    (toolkit / "text" / "typed.py").write_text("T = int\n")
    stranger(
        "1.0",
        scorer="from typing import TYPE_CHECKING\nfrom harness.toolkit.text import outer\n"
        "if TYPE_CHECKING:\n    from harness.toolkit.text.typed import T\n",
    )
    before = digest()
    (toolkit / "text" / "typed.py").write_text("T = str\n")
    assert digest() == before
    (toolkit / "text" / "inner.py").write_text("x = 2\n")
    assert digest() != before
