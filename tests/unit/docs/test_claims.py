"""What the documents claim by number is counted here."""

import re
from pathlib import Path

import pytest

import published_tables as published
import rehearsed
import reproduction
from harness import catalogue

ROOT = Path(__file__).parents[3]

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def releases():
    folders = [folder for folder in (ROOT / "leaderboards" / "published").iterdir() if folder.is_dir()]
    return [published.read(folder) for folder in sorted(folders)]


def papers():
    return [release for release in releases() if release.text is not None]


def tables():
    return sum(len(paper.tables) for paper in papers())


def protocols():
    return catalogue.load().names("protocols")


def sources():
    """Papers and benchmarks: a paper's protocols begin with its name."""
    return {name.removesuffix("-retrieval").partition("-")[0] for name in protocols()}


def languages():
    records = catalogue.load()
    names = records.names("analysers")
    return {code for name in names for code in records.find("analysers", name).record.languages}


@pytest.mark.parametrize(
    ("page", "claim", "count"),
    [
        ("README.md", r"(\w+) tables of \w+ papers as rows", tables),
        ("README.md", r"\w+ tables of (\w+) papers as rows", lambda: len(papers())),
        ("CHANGELOG.md", r"(\w+) tables of \w+ papers as published rows", tables),
        ("CHANGELOG.md", r"\w+ tables of (\w+) papers as published rows", lambda: len(papers())),
        ("CHANGELOG.md", r"(\w+) protocols, those of \w+ papers and benchmarks", lambda: len(protocols())),
        ("CHANGELOG.md", r"\w+ protocols, those of (\w+) papers and benchmarks", lambda: len(sources())),
        ("CHANGELOG.md", r"Analysers for (\w+) languages", lambda: len(languages())),
        ("docs/reproduction.md", r"(\w+) tables of \w+ papers is", tables),
    ],
)
def test_a_number_in_the_documents_is_the_number_of_what_there_is(page, claim, count):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    said = re.findall(claim, text)
    assert len(said) == 1, f"{page} has {len(said)} claims of the form {claim}"
    word = said[0].lower()
    number = WORDS.index(word) if word in WORDS else int(word)
    assert number == count()


def test_the_page_of_what_is_reproduced_is_up_to_date():
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert text == reproduction.page(), "run: python tools/reproduction.py > docs/reproduction.md"


def test_no_row_is_present_without_its_rehearsal(monkeypatch):
    rows = [row for paper in papers() for row in reproduction.rows_of(paper) if row.state == "present"]
    assert all("rehearsed" in claim.ran for row in rows for claim in row.claims)
    monkeypatch.setattr(rehearsed, "record", dict)
    assert rows
    assert not any(row.state == "present" for paper in papers() for row in reproduction.rows_of(paper))


def test_every_printed_row_is_on_that_page():
    lines = {tuple(line.split(" | ")[:2]) for line in reproduction.page().splitlines()}
    for paper in releases():
        for table in paper.tables:
            for printed in table.lines:
                assert (f"| {table.number}", printed.system) in lines


def test_every_figure_with_results_of_a_paper_is_on_that_page():
    page = reproduction.page()
    for number, paper in ((2, "dapr"), (2, "dureader-retrieval"), (4, "rocketqav2"), (3, "t2ranking")):
        part = page.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
        figures = part.partition("| figure |")[2]
        [figure] = [each for each in reproduction.figures_of(paper) if each.number == number]
        assert figures.count(f"| {number} | {figure.shows} |") == len(figure.claims) > 0


@pytest.mark.parametrize("place", ["dapr / bm26", "scifact-lexical / bm25+"])
def test_a_system_that_no_suite_has_is_refused(place):
    with pytest.raises(ValueError, match="has no system"):
        reproduction.check_places(iter([place]))


def test_every_method_in_the_readmes_table_is_installed():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Methods")[2].partition("\n\n`harness list")[0]
    plugins = catalogue.load()
    known = {name for kind in catalogue.KINDS for name in plugins.names(kind)}
    named = {name for line in table.splitlines() for name in re.findall(r"`([a-z0-9-]+)`", line)}
    assert len(named) > 20
    assert named <= known
