"""docs/collections.md is what the registries say."""

from __future__ import annotations

from pathlib import Path

from harness_ir_datasets import page, survey

PAGE = Path(__file__).parents[2] / "docs" / "collections.md"


def test_the_page_is_generated():
    assert PAGE.read_text(encoding="utf-8") == page.page(), (
        "run: python -m harness_ir_datasets.page > docs/collections.md"
    )


def test_every_collection_of_the_table_has_a_line_that_says_how_far_it_was_checked():
    lines = [line.split(" | ") for line in page.page().splitlines() if line.startswith("| ")]
    found = {line[0].removeprefix("| "): line for line in lines if len(line) == 10}
    assert found.keys() - {"name", "---"} == {entry.name for entry in survey.TABLE}
    assert len(survey.TABLE) == 29
    assert page.CHECKED.keys() <= {entry.name for entry in survey.TABLE if entry.ids}
    for entry in survey.TABLE:
        assert found[entry.name][8].startswith(("loaded", "layout", "id") if entry.ids else "elsewhere")
