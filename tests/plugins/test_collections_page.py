"""docs/collections.md is what the registries say."""

import os
import re
from pathlib import Path

import pytest

import collection_docs
from harness_ir_datasets import survey

pytestmark = pytest.mark.extras
pytest.importorskip("huggingface_hub")  # for the collections of the hub

PAGE = Path(__file__).parents[2] / "docs" / "collections.md"


def test_the_page_is_generated():
    assert PAGE.read_text(encoding="utf-8") == collection_docs.page(), (
        "run: python tools/collection_docs.py > docs/collections.md"
    )


def test_every_collection_of_the_table_has_a_line_that_says_how_far_it_was_checked():
    lines = [line.split(" | ") for line in collection_docs.page().splitlines() if line.startswith("| ")]
    found = {line[0].removeprefix("| "): line for line in lines if len(line) == 10}
    assert found.keys() - {"name", "---"} == {entry.name for entry in (*survey.TABLE, *survey.BESIDE)}
    assert len(survey.TABLE) == 29
    assert collection_docs.CHECKED.keys() <= {entry.name for entry in survey.TABLE if entry.ids}
    for entry in survey.TABLE:
        assert found[entry.name][8].startswith(("loaded", "layout", "id") if entry.ids else "elsewhere")


def test_the_page_counts_its_own_lines():
    text = collection_docs.page()
    here = sum(bool(entry.ids) for entry in survey.TABLE)
    assert f"The {len(survey.TABLE)} collections of" in text
    assert f"ir_datasets has {here} of them" in text
    assert {"KILT", "MS MARCO Chameleons"} == {entry.name for entry in survey.BESIDE}


def papers(name: str) -> str:
    folder = os.environ.get("HARNESS_REAL_PAPERS")
    if not folder:
        pytest.skip("HARNESS_REAL_PAPERS does not name the folder of the papers' texts")
    return (Path(folder) / name).read_text(encoding="utf-8")


def number(cell: str) -> int | None:
    """`740K`, `1,353`, or a dash."""
    cell = cell.strip().replace(",", "")
    size = {"K": 1000, "M": 1_000_000}.get(cell[-1:], 1)
    return None if cell == "–" else round(float(cell.rstrip("KM")) * size)


def plain(name: str) -> str:
    return re.sub(r"\[.*|<.*?>|[^a-zé0-9]", "", name.lower())


@pytest.mark.real
def test_the_table_is_the_papers():
    rows = [line.split("\t") for line in papers("dense-retrieval-survey-appendix.txt").splitlines()]
    printed = {
        plain(row[-6]): tuple(map(number, row[-5:])) for row in rows if len(row) >= 7 and "#" not in row[-1]
    }
    assert printed == {plain(entry.name): tuple(entry.counts) for entry in survey.TABLE}


@pytest.mark.real
@pytest.mark.parametrize(
    ("file", "name"),
    [("dureader-retrieval.txt", "DuReader-retrieval"), ("t2ranking.txt", "T2Ranking"), ("dapr.txt", "DAPR")],
)
def test_every_count_of_a_card_is_printed_in_its_paper(file, name):
    text = papers(file)
    section = collection_docs.page().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    counts = [
        line.split(" | ") for line in section.splitlines() if line.startswith("| ") and "README" not in line
    ][2:]
    assert len(counts) > 5
    for _, what, count, _ in counts:
        forms = {
            count,
            count.replace(",", ""),
            f"{float(count.replace(',', '')):.2f}",
            f"{float(count.replace(',', '')) / 1000:g}K",
        }
        assert any(form in text for form in forms), (what, count)
