"""`harness new-plugin`: what it writes works as it is, and names that cannot work are refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import COMMAND, leaderboard, new_package

from harness import cli
from harness.catalogue import KINDS
from harness_new_plugin import scaffold
from harness_new_plugin.command import SCAFFOLDS

NEW = {kind: f"my-{kind}" for kind in SCAFFOLDS}


def child(package: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=package, env=environment, capture_output=True, text=True, check=False, timeout=250
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store") / "store"


@pytest.mark.parametrize(
    ("kind", "name"),
    [pytest.param(*item, marks=() if item[0] == "retriever" else pytest.mark.slow) for item in NEW.items()],
)
def test_a_new_package_passes_its_own_tests_and_its_suite_has_its_method(kind, name, tmp_path, store):
    package = new_package(tmp_path, kind, name)
    tests = child(package, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert tests.returncode == 0, tests.stdout
    assert "skipped" not in tests.stdout
    ran = child(package, *COMMAND, "run", "suite.yaml", "--store", str(store))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    board = leaderboard(package)
    used = {step["name"] for row in board["rows"] for step in row["provenance"]["steps"]}
    used |= {dataset["plugin"] for dataset in board["datasets"]}
    used |= {stage["maker"] for dataset in board["datasets"] for stage in dataset.get("made", ())}
    used |= {column["measure"].partition("@")[0] for column in board["columns"]}
    used |= {entry["name"].partition("/")[0] for entry in board.get("analyses", ())}
    assert scaffold.record_name(kind, name) in used
    listed = child(package, *COMMAND, "list", scaffold.plural(kind))
    assert f"[harness-{name}]" in listed.stdout


def test_what_is_written_is_as_tidy_as_our_own_code(tmp_path):
    packages = [new_package(tmp_path, kind, name) for kind, name in NEW.items()]
    alone = ("--isolated", "--no-cache", "--line-length", "110")  # with a stranger's settings
    for check in (("check", "--select", "E,F,W,I,UP,B,SIM"), ("format", "--check")):
        done = child(tmp_path, sys.executable, "-m", "ruff", *check, *alone, *map(str, packages))
        assert done.returncode == 0, done.stdout
    modules = [str(path.parent) for package in packages for path in package.glob("*/__init__.py")]
    assert len(modules) == len(NEW)
    cache = ("--cache-dir", str(tmp_path / "mypy"))
    done = child(tmp_path, sys.executable, "-m", "mypy", "--strict", *cache, *modules)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", SCAFFOLDS)
def test_no_placeholder_is_left_and_the_hook_is_of_the_kind(kind):
    files = scaffold.files(kind, scaffold.names("some_name"))
    assert "harness_some_name/__init__.py" in files
    assert f"def harness_{scaffold.plural(kind)}()" in files["harness_some_name/__init__.py"]
    assert scaffold.plural(kind) in KINDS
    assert [path for path, text in files.items() if "${" in text or "MODULE" in path + text] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no good", "cannot name a package"),
        ("-x", "cannot name a package"),
        ("2fast", "cannot name a package"),
        ("double--hyphen", "cannot name a package"),
        ("trailing-", "cannot name a package"),
        ("größe", "cannot name a package"),
        ("../escape", "cannot name a package"),
        ("null", "cannot name a package"),
        ("bm25", "passage-harness has a retriever of that name already"),
        ("tour", "a package 'harness_tour' is installed already"),
    ],
)
def test_a_name_that_cannot_work_is_refused_with_what_to_do(name, said, tmp_path, capsys):
    assert cli.main(["new-plugin", "--into", str(tmp_path), "--", name]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"new-plugin {name}: ")
    assert said in printed
    assert "; " in printed
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path, capsys):
    (tmp_path / "harness-mine").mkdir()
    assert cli.main(["new-plugin", "mine", "--into", str(tmp_path)]) == 2
    assert "harness-mine: is there already" in capsys.readouterr().err
    assert list((tmp_path / "harness-mine").iterdir()) == []


def test_a_place_where_nothing_can_be_written_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    assert cli.main(["new-plugin", "mine", "--into", str(tmp_path / "file" / "below")]) == 2
    assert "cannot be written" in capsys.readouterr().err
