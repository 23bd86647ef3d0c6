"""The examples of docs/context.md are what the contexts do."""

from pathlib import Path

import pytest

from harness import catalogue
from harness.catalogue import params
from harness.collection.composed_texts import compose
from harness.types import Document, Facts, Passage

PAGE = Path(__file__).parents[2] / "docs" / "context.md"
TEXTS = (
    "Who pays the toll",
    "You pay the keeper at the stone gate. Walkers are free.",
    "Opening hours",
    "The gate opens at dawn. It closes when the harbour bell rings.",
    "In winter the bridge is closed.",
)
BRIDGE = Document(
    "toll", "The Half Moon Bridge", tuple(Passage(str(i), text) for i, text in enumerate(TEXTS))
)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("titles", {}),
        ("keyphrases", {"top": 3}),
        ("headings", {}),
        ("neighbours", {"after": 1}),
        ("summary", {"sentences": 2}),
    ],
)
def test_the_fourth_passage_of_the_example_reads_as_the_page_says(name, given):
    record = catalogue.load().find("contexts", name).record
    need = catalogue.missing_modules(record, catalogue.OWN)
    if need is not None:
        pytest.skip(str(need))
    value, problems = params.convert(record.params, given, Path())
    assert not problems
    if record.resolve:
        value = record.resolve(value, Facts("en", "en", "passage"))
    [addition] = record.build(value).augment([BRIDGE])
    page = PAGE.read_text(encoding="utf-8")
    assert all(text in page for text in TEXTS)
    assert f"`{compose(TEXTS[3], [addition], 3)}`" in page
