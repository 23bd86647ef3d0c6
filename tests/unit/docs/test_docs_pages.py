"""The rest of the documentation is true: generated pages, examples in Python, fields, links, commands."""

import argparse
import ast
import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import plugin_docs
from harness import catalogue, cli, run
from harness.catalogue import is_installed
from harness.compare import regressions
from harness.leaderboard import board_file, text_tables
from harness.scoring.measures.names import ALIASES, FAMILIES

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
SUITE = """
suite: first
datasets:
  tour: {tour: {documents: 20}}
  made: {of: tour, make: [{join-paragraphs: {limit: 300}}]}
systems:
  bm25: {context: [titles], retriever: bm25}
  documents: {retriever: bm25, unit: document}
  tuned: {of: [bm25, documents], combine: {convex: {weight: {tune: {on: tour/dev, measure: R@10, grid: [0, 1, 0.5]}}}}}
  fused: {of: [bm25, documents], combine: rrf}
  reranked: {of: fused, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10, R@100]
analyses: [slices]
"""
OPEN = {  # where any name may stand, and the word that the page has for it
    "rows[].measures": "COLUMN",
    "rows[].slices": "SLICE",
    "rows[].limits": "COLUMN",
    "rows[].slices.SLICE.measures": "COLUMN",
    "rows[].scored.without_positive": "COLUMN",
    "rows[].tuning[].slices": "SLICE",
    "rows[].cost.contexts": "CONTEXT",
    "rows[].provenance.steps[].libraries": "LIBRARY",
    "environment.libraries": "LIBRARY",
}
WHOLE = (
    "analyses[].rows",
    "rows[].reported[].facts",
    "datasets[].params",
    "datasets[].made[].params",
    "datasets[].made[].before",
    "datasets[].made[].after",
    "datasets[].made[].facts",
    "rows[].provenance.steps[].params",
    "rows[].provenance.steps[].uses",
)  # described as they are


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    made = run(folder / "suite.yaml", store=folder / "store", quiet=True)
    assert [row.error for row in made.rows if row.error] == []
    return made


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def python_blocks(name: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page(name), re.M | re.S)


def fields_of(value, path: str = "") -> set[str]:
    """The paths of all values in a leaderboard, as the page writes them."""
    if path in WHOLE:
        return {path}
    if path in OPEN and not value:
        return set()
    if isinstance(value, dict) and value:
        named = OPEN.get(path)
        inner = [(f"{path}.{named or key}".lstrip("."), item) for key, item in value.items()]
        return set().union(*(fields_of(item, name) for name, item in inner))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*(fields_of(item, f"{path}[]") for item in value))
    return {path}


def test_the_page_of_plugins_is_up_to_date():
    assert page("plugins.md") == plugin_docs.page(catalogue.load()), (
        "python tools/plugin_docs.py > docs/plugins.md"
    )


def test_the_page_of_plugins_has_every_method_and_parameter_of_ours_and_no_stranger():
    records = catalogue.load()
    for kind in catalogue.KINDS:
        for name in records.names(kind):
            ours = records.find(kind, name).plugin.distribution == catalogue.OWN
            shown = re.search(rf"^(### {re.escape(name)}$|\| `{re.escape(name)}` )", page("plugins.md"), re.M)
            assert bool(shown) == ours, name


def test_every_field_of_a_leaderboard_is_described(board):
    fields = fields_of(json.loads(board_file.encoded(board.data)))
    assert {"rows[].cost.rerank_seconds", "rows[].slices.SLICE.measures.COLUMN.ci95"} <= fields
    described = set(re.findall(r"`([^`\n]+)`", page("leaderboard.md")))
    assert fields <= described


def test_every_field_of_the_schema_is_described():
    described = page("leaderboard.md")
    for name, definition in board_file.json_schema()["$defs"].items():
        for field in definition["properties"]:
            assert re.search(rf"`[^`]*\b{field}\b[^`]*`", described), f"{name}.{field}"


def test_no_described_field_is_made_up(board):
    rows = [line for line in page("leaderboard.md").splitlines() if line.startswith("| `")]
    described = {name for row in rows for name in re.findall(r"`((?:rows|datasets|columns)\[\][^`]+)`", row)}
    optional = {
        "rows[].cost.no_latency",
        "rows[].cost.compile_seconds",
        "rows[].cost.energy_joules",
        "rows[].cost.machine",
    }
    optional |= {name for name in described if name.startswith("rows[].cost.training_")}  # of made models
    optional |= {"rows[].recipe", "rows[].provenance.steps[].training", "rows[].tuning[].learned"}
    optional |= {name for name in described if name.startswith("rows[].cost.services.")}  # of services
    optional |= {"rows[].cost.rewrite_seconds"}  # of rewriters
    optional |= {"datasets[].made[].judges"}  # of collections that people or machines judged
    real = fields_of(json.loads(board_file.encoded(board.data)))
    parents = {name.rpartition(".")[0].removesuffix("[]") for name in real}
    assert described - real - parents - optional == set()


def test_every_measure_and_alias_is_explained():
    named = set(re.findall(r"`(\w+)(?:@k)?`", page("measures.md")))
    assert set(FAMILIES) <= named
    assert set(ALIASES) - {"NumRelRet", "RPrec"} <= named
    own = catalogue.load().names("measures")
    assert set(own) <= named


def test_the_numbers_worked_out_by_hand_are_those_that_are_computed():
    [code] = python_blocks("measures.md")
    shown = page("measures.md").rpartition("```\n\n```\n")[2].partition("```")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown


@pytest.mark.extras
def test_the_notebook_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE, encoding="utf-8")
    blocks = python_blocks("notebook.md")
    drawing = [block for block in blocks if "matplotlib" in block]
    assert len(drawing) == 1
    if not is_installed("matplotlib"):
        blocks.remove(drawing[0])
    else:
        monkeypatch.setenv("MPLBACKEND", "agg")
    code = "\n".join(blocks)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "reranked" in done.stdout
    assert re.search(r"passages=array\(\[\[2, ", done.stdout)


def test_the_notebook_page_names_the_packages_that_its_blocks_import():
    [command] = re.findall(r"`pip install ([\w -]+)`", page("notebook.md").partition("```")[0])
    trees = [ast.parse(block) for block in python_blocks("notebook.md")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    packages = {str(name).partition(".")[0] for name in imported} - sys.stdlib_module_names - {"harness"}
    assert {"pandas", "matplotlib"} <= packages <= set(command.split())


def test_the_flat_rows_have_what_the_notebook_page_says(board):
    names = set(board.records()[0])
    said = page("notebook.md")
    plain = {name for name in names if name.split()[-1] not in ("low", "high") and name not in board.columns}
    assert all(f"`{name}`" in said for name in plain)
    assert {"nDCG@10 low", "nDCG@10 high", "document R@100 low"} <= names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_in_a_code_block_is_understood(path):
    code, _ = code_and_prose(path)
    code = code.replace("\\\n", " ")
    for line in re.findall(r"^ *(?:\.venv/bin/)?harness ([^#\n>]*)", code, re.M):
        cli.parser().parse_args(shlex.split(line))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_and_option_that_prose_names_exists(path):
    commands = subparsers(cli.parser())
    _, prose = code_and_prose(path)
    for name, rest in re.findall(r"`harness ([a-z][\w-]*)([^`]*)`", prose):
        levels = [commands[name], *subparsers(commands[name]).values()]
        known = {option for parser in levels for option in parser._option_string_actions}
        assert set(re.findall(r"(?<=\s)--[\w-]+", rest)) <= known, f"harness {name}{rest}"


def code_and_prose(path: Path) -> tuple[str, str]:
    """The code blocks of a page, and the rest of it."""
    parts = re.split(r"^ *```\w*\n", path.read_text(encoding="utf-8"), flags=re.M)
    return "".join(parts[1::2]), "".join(parts[::2])


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: sub for group in groups for name, sub in group.choices.items()}


def test_the_index_has_every_exit_code_and_what_a_failed_analysis_ends_with():
    codes = re.findall(r"\breturn (\d+)\b", (ROOT / "harness/cli/exits.py").read_text(encoding="utf-8"))
    assert {"130", "143"} < set(codes)
    [described] = re.findall(r"^Exit codes: (.*?)\n\n", page("index.md"), re.M | re.S)
    by_code = dict(re.findall(r"(\d+) if ([^;]*)", described))
    assert by_code.keys() == {*codes, str(regressions.EXIT_CODE)}
    assert "an analysis" in by_code["1"]


def test_every_command_is_in_the_index():
    commands = subparsers(cli.parser())
    assert len(commands) >= 9
    assert [name for name in commands if f"`harness {name}" not in page("index.md")] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_within_the_project_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        other = (path.parent / name) if name else path
        assert other.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
            assert anchor in [head.lower().replace(" ", "-") for head in heads], target


def test_every_page_is_in_the_index():
    others = {path.name for path in DOCS.glob("*.md")} - {"index.md"}
    assert {name for name in others if f"]({name})" not in page("index.md")} == set()


def test_the_dry_run_that_the_page_of_the_store_shows_is_one(tmp_path):
    suite = "suite: first\ndatasets: [tour]\nsystems:\n  bm25: {retriever: bm25}\nmeasures: [nDCG@10]\n"
    (tmp_path / "suite.yaml").write_text(suite, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        given = ["run", str(tmp_path / "suite.yaml"), "--store", str(tmp_path / "store"), "--dry-run"]
        assert cli.main(given) == 0
    [shown] = re.findall(r"^```\n(first: .*?)```", page("store.md"), re.M | re.S)
    steps = [line.split("  ", 3)[-1] for line in printed.getvalue().splitlines() if "·" in line]
    assert steps == [line.split("  ", 3)[-1] for line in shown.splitlines() if "·" in line]


@pytest.mark.slow
def test_the_leaderboard_in_the_readme_is_the_one_that_the_demo_prints(tmp_path):
    made = run(
        ROOT / "leaderboards" / "tour" / "suite.yaml", out=tmp_path, store=tmp_path / "store", quiet=True
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
    assert _numbers(shown) == _numbers(text_tables.render(made, "table"))


def _numbers(table: str) -> list[list[str]]:
    """The cells of each line but the cost, whose width changes the layout too."""
    lines = [re.sub(r"[\d.]+ s$", "", line).split() for line in table.splitlines()]
    return [line for line in lines if line and set(line[0]) != {"-"}]


COUNTS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_the_number_of_papers_with_published_tables_is_right(path):
    every = (ROOT / "leaderboards" / "published").glob("*/paper.yaml")
    papers = [paper for paper in every if "text: null" not in paper.read_text(encoding="utf-8")]
    text = " ".join(path.read_text(encoding="utf-8").split())
    assert re.findall(r"tables of (\w+) papers as", text) == [COUNTS[len(papers)]]


def test_the_number_of_protocols_in_the_changelog_is_right():
    protocols = catalogue.load().names("protocols")
    text = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert re.findall(r"(\w+) protocols, those of", text) == [COUNTS[len(protocols)].capitalize()]


def test_the_picture_in_the_readme_is_small():
    [picture] = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert (ROOT / picture).stat().st_size < 300_000


def test_every_path_that_the_page_of_the_architecture_names_exists():
    paths = re.findall(r"`((?:harness|plugins|tests|tools)/[^`]*)`", page("architecture.md"))
    assert len(paths) > 40
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_page_of_the_architecture_names_every_package_of_the_core():
    packages = {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")}
    assert {name for name in packages if f"`harness/{name}/`" not in page("architecture.md")} == set()


def test_every_tool_is_checked_by_mypy():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {path.stem for path in (ROOT / "tools").glob("*.py")}
    assert names == set(project["tool"]["mypy"]["modules"])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_prose_is_wrapped_at_100_columns(path):
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert [line for line in text.splitlines() if len(line) > 100 and not line.startswith(("|", "!"))] == []
