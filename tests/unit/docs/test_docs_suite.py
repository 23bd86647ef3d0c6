"""What the documentation says of suites is true: every YAML block is checked, every key is described."""

import re
from pathlib import Path

import pytest
import yaml

from harness import catalogue, suite
from harness.errors import Problems
from harness.running import preparation
from harness.store.artifacts import Store
from harness.suite import models, sections, tuning
from harness.suite.keys import fields_of

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
REST = {  # what a piece of a suite is completed with
    "datasets": "datasets: [tour]\n",
    "systems": "systems:\n  bm25: {retriever: bm25}\n",
    "measures": "measures: [nDCG@10]\n",
}
BASE = "datasets: [tour]\nsystems:\n  other: {retriever: bm25}\nmeasures: [nDCG@10]\n"


def blocks():
    for page in PAGES:
        found = re.finditer(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
        for block in found:
            line = page.read_text(encoding="utf-8")[: block.start()].count("\n") + 2
            yield pytest.param(block[1], id=f"{page.relative_to(ROOT)}:{line}")


def completed(block: str) -> str:
    """The block with what every suite must have, unless it has it or includes it."""
    keys = yaml.safe_load(block).keys()
    if "include" in keys:
        return block
    lacking = [key for key in REST if key not in keys and not (key == "measures" and "protocol" in keys)]
    return block + "".join(REST[key] for key in lacking)


@pytest.mark.parametrize("block", list(blocks()))
def test_every_suite_in_the_documentation_can_be_planned(block, tmp_path):
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    path = tmp_path / "suite.yaml"
    path.write_text(completed(block), encoding="utf-8")
    records = catalogue.load()
    prepared = preparation.prepare(suite.load(path, records), records, Store(tmp_path / "store").open())
    errors = [row.error for row in prepared.plan.rows if row.error]
    assert [error for error in errors if "pip install 'passage-harness[" not in error] == []


def test_a_mistake_in_such_a_block_would_be_found(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(completed("systems:\n  bm25: {retriever: {bm25: {k: 1}}}\n"), encoding="utf-8")
    with pytest.raises(Problems, match="did you mean 'k1'"):
        suite.load(path, catalogue.load())


@pytest.mark.parametrize(
    "key",
    [
        *fields_of(sections.SuiteKeys), *fields_of(sections.SystemKeys), *fields_of(sections.Dataset),
        *fields_of(sections.BesideReranker),
    ],
)  # fmt: skip
def test_every_key_of_a_suite_is_described_and_shown(key):
    page = (ROOT / "docs" / "suite.md").read_text(encoding="utf-8")
    assert f"`{key}`" in page or f"**{key}**" in page
    assert any(key in keys_in(yaml.safe_load(block.values[0])) for block in blocks())


@pytest.mark.parametrize(
    ("page", "title", "section"),
    [
        ("suite.md", "key", sections.SuiteKeys),
        ("suite.md", "key of a system", sections.SystemKeys),
        ("suite.md", "key of `tune`", tuning.Tune),
        ("training.md", "key of a model", models.Model),
        ("training.md", "key of `negatives`", models.Negatives),
        ("training.md", "key of `validate`", models.Validation),
        ("training.md", "key of `corpus`", models.Subset),
    ],
)
def test_a_table_has_every_key_of_its_section_and_no_other_with_its_default(page, title, section):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    [table] = re.findall(rf"^\| {re.escape(title)} \| meaning \|\n\| --- .*\n((?:\| .*\n)+)", text, re.M)
    rows = [row.split(" | ", 1) for row in table.splitlines()]
    described = {key: meaning for keys, meaning in rows for key in re.findall(r"`(\w+)`", keys)}
    fields = fields_of(section)
    assert set(described) == set(fields)
    for key, (field, _) in fields.items():
        default = field.default
        if type(default) in (int, float, str, bool) and default not in ("", False):
            shown = yaml.safe_dump(default).splitlines()[0].removesuffix(".0")
            assert "default" in described[key], key
            assert re.search(rf"\b{shown}\b", described[key]), key


def keys_in(value) -> set[str]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {*(value if isinstance(value, dict) else ())}.union(*(keys_in(item) for item in inside))


def test_a_grid_of_four_combined_with_two_weights_is_eight_systems(tmp_path):
    [block] = [block.values[0] for block in blocks() if "b=0.4" in block.values[0]]
    path = tmp_path / "suite.yaml"
    path.write_text(completed(block), encoding="utf-8")
    systems = suite.load(path, catalogue.load()).systems
    assert len([system for system in systems if system.base == "bm25"]) == 4
    assert len([system for system in systems if system.base == "fused"]) == 8


def test_the_message_that_the_page_quotes_is_the_one_that_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "suite: first\ndatasets: [tour]\nsystems:\n  bm25: {retriever: {bm25: {k: 1}}}\nmeasures: [nDCG@10]\n"
    )
    Path("suite.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Problems) as caught:
        suite.load(Path("suite.yaml"), catalogue.load())
    assert str(caught.value) in (ROOT / "docs" / "suite.md").read_text(encoding="utf-8").splitlines()


def test_the_demo_in_the_readme_is_the_demo_suite():
    demo = (ROOT / "leaderboards" / "tour" / "suite.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{demo}```" in (ROOT / "README.md").read_text(encoding="utf-8")
