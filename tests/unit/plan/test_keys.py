"""A key changes with whatever can change a number, and with nothing else."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import harness
from harness.catalogue import OWN, Entry, Plugin
from harness.plan import keys, methods
from harness.records import Record, param
from harness.steps import record
from harness.store import disk

PLUGINS = Path(harness.__file__).parents[1] / "plugins"


@dataclass(frozen=True)
class Params:
    rate: float = param(1.0, "a rate")
    model: Path | None = None
    lists: tuple[int, ...] = ()


def described(values, *, version="1", leave_out=(), **more):
    made = Record(name="m", summary="s", build=print, params=Params, version=version, **more)
    entry = Entry(made, Plugin("p", "harness_titles", "passage-harness", "0", None))
    uses = methods.uses(entry, values, digest, leave_out)
    return keys.key(record.keyed(uses))


def digest(path: Path) -> str:
    return disk.sha256(path)


def test_parameters_version_and_libraries_are_in_a_key():
    base = described(Params())
    assert described(Params()) == base
    others = [described(Params(2.0)), described(Params(lists=(1,))), described(Params(), version="2")]
    others.append(described(Params(), libraries=("numpy",)))
    assert len({base, *others}) == 5


def test_a_parameter_that_is_left_out_is_not():
    assert described(Params(1.0), leave_out=("rate",)) == described(Params(2.0), leave_out=("rate",))


def test_a_library_counts_where_a_parameter_that_counts_brings_it_into_play():
    def libraries_by_param(values):
        return {"rate": ("numpy",)} if values.rate > 1 else {}

    assert described(Params(1.0), libraries_by_param=libraries_by_param) == described(Params(1.0))
    assert described(Params(2.0), libraries_by_param=libraries_by_param) == described(
        Params(2.0), libraries=("numpy",)
    )
    assert described(Params(2.0), libraries_by_param=libraries_by_param, leave_out=("rate",)) == described(
        Params(1.0), leave_out=("rate",)
    )


def test_a_path_counts_by_its_contents_not_its_name(tmp_path):
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).write_text(text)
    a, b, c = (described(Params(model=tmp_path / name)) for name in "abc")
    assert a == b != c


def test_the_order_of_a_mapping_does_not_count():
    assert keys.key({"a": 1, "b": 2}) == keys.key({"b": 2, "a": 1})


@pytest.fixture
def toolkit(tmp_path, monkeypatch):
    """A copy of the toolkit that may be edited."""
    copy = tmp_path / "toolkit"
    shutil.copytree(keys.TOOLKIT_FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(keys, "TOOLKIT_FOLDER", copy)
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


def sources(module="acme_rerank", distribution="acme-rerank"):
    keys.sources.cache_clear()
    return keys.sources(module, distribution)


def test_an_edited_module_of_an_installed_package_changes_it(stranger):
    stranger("1.0", scorer="weight = 1\n")
    before = sources()
    assert sources() == before
    stranger("1.0", scorer="weight = 2\n")
    assert sources() != before


def test_another_version_changes_it_where_the_sources_are_the_same(stranger):
    stranger("1.0")
    before = sources()
    stranger("1.1")
    assert sources() != before


def test_data_in_the_package_counts_and_bytecode_does_not(stranger):
    package = stranger("1.0")
    before = sources()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "scorer.cpython.pyc").write_bytes(b"x")
    assert sources() == before
    (package / "words.txt").write_text("a\n")
    assert sources() != before


def test_a_plugin_in_a_namespace_counts_the_package_within_it(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / "space" / name).mkdir(parents=True)
        (tmp_path / "space" / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = sources("space.one", "absent")
    (tmp_path / "space" / "two" / "__init__.py").write_text("x = 1\n")
    assert sources("space.one", "absent") == before
    (tmp_path / "space" / "one" / "__init__.py").write_text("x = 1\n")
    assert sources("space.one", "absent") != before


def test_an_edit_of_the_toolkit_changes_only_the_plugins_that_import_the_module(toolkit):
    names = sorted(path.name for path in PLUGINS.glob("harness_*"))
    before = {name: sources(name, OWN) for name in names}
    with (toolkit / "search" / "exact_kernels.py").open("a") as file:
        file.write("\n# another edition\n")
    changed = {name for name in names if sources(name, OWN) != before[name]}
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
        before = sources()
        (toolkit / "text" / "fresh.py").write_text("x = 2\n")
        assert sources() != before, source


def test_an_import_of_an_import_counts_and_one_for_type_checkers_does_not(toolkit, stranger):
    (toolkit / "text" / "outer.py").write_text("from harness.toolkit.text.inner import x\n")
    (toolkit / "text" / "inner.py").write_text("x = 1\n")
    (toolkit / "text" / "typed.py").write_text("T = int\n")
    stranger(
        "1.0",
        scorer="from typing import TYPE_CHECKING\nfrom harness.toolkit.text import outer\n"
        "if TYPE_CHECKING:\n    from harness.toolkit.text.typed import T\n",
    )
    before = sources()
    (toolkit / "text" / "typed.py").write_text("T = str\n")
    assert sources() == before
    (toolkit / "text" / "inner.py").write_text("x = 2\n")
    assert sources() != before
