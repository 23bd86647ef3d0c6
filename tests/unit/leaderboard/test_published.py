"""Published tables: every number is the paper's, and stands beside one's own rows marked as published."""

import json
import os
import re
from decimal import Decimal
from pathlib import Path

import jsonschema
import pytest
from msgspec import structs

import published_tables
from harness.errors import HarnessError
from harness.html import reproduction
from harness.leaderboard import board_file, published, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Beside, Column, Measure

FOLDER = Path(__file__).parents[3] / "leaderboards" / "published"
PAPERS = sorted(path.parent.name for path in FOLDER.glob("*/paper.yaml"))
TABLES = {
    "dapr": [2, 3, 4, 5, 6, 7, 9],
    "dureader-retrieval": [4, 5, 6, 7, 8, 9],
    "rocketqav2": [2, 3, 4],
    "t2ranking": [4, 5, 6],
}
RELEASES = {"dureader-retrieval-dev": [1], "t2ranking-dev": [1, 2]}  # of READMEs, which are not here


def printed_rows(text: str, number: int) -> list[list[str]]:
    """The cells of each row with numbers of a table, as the text of a paper has it: the text above or below
    a caption is a table of HTML or lines of cells between tabs."""
    caption = re.search(rf"^.*?\bTable {number}: ", text, re.M)
    assert caption, f"there is no table {number}"
    rest = text[caption.end() :]
    above = text[: caption.start()].rstrip()
    if above.endswith("</table>"):
        body = above[above.rindex("<table") :]
    elif re.match(r"[^\n]*\n+<table", rest):
        body = rest[: rest.index("</table>")]
    else:
        body = ""
    if body:
        rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
        cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in rows]
    else:
        lines = above.split("\n")
        start = len(lines)
        while start and ("\t" in lines[start - 1] or lines[start - 1].startswith("Rank fusion: ")):
            start -= 1
        cells = [line.rstrip("\t").split("\t") for line in lines[start:]]
    rows = [_to_share([plain(cell) for cell in row]) for row in cells]
    return [row for row in rows if any(re.fullmatch(r"[+-]?\d*\.\d+\*?", cell) for cell in row[1:])]


def _to_share(row: list[str]) -> list[str]:
    """The cells up to a share in per cent, behind which a table has examples in words."""
    ends = [place for place, cell in enumerate(row) if re.fullmatch(r"\d+\.\d%", cell)]
    return [*row[: ends[0]], row[ends[0]].removesuffix("%")] if ends else row


def plain(cell: str) -> str:
    """A cell without marks of form, references to papers and raised signs."""
    cell = re.sub(r"<sub>(.*?)</sub>", r"-\1", cell)
    cell = re.sub(r"<sup>(\d+)</sup>", r"\1", cell)
    cell = re.sub(r"<sup>.*?</sup>|</?[a-z]+>|\[\d+\]", "", cell)
    return re.sub(r"\([^()]*\b\d{4}[a-z]?\)", "", cell).strip().replace("_", "-").replace("−", "-")


@pytest.mark.real
@pytest.mark.parametrize(("name", "number"), [(name, number) for name in TABLES for number in TABLES[name]])
def test_every_row_and_number_is_that_of_the_paper(name, number):
    folder = os.environ.get("HARNESS_REAL_PAPERS")
    if not folder:
        pytest.skip("HARNESS_REAL_PAPERS does not name the folder of the papers' texts")
    paper = published_tables.read(FOLDER / name)
    text = (Path(folder) / paper.text).read_text(encoding="utf-8")
    [table] = [table for table in paper.tables if table.number == number]
    rows = printed_rows(text, number)
    width = len(table.columns)
    assert [tuple(row[-width:]) for row in rows] == [line.cells for line in table.lines]
    for row, line in zip(rows, table.lines, strict=True):
        for cell in row[:-width]:
            assert cell.lower() in f"{line.system} {line.setting}".lower()


def test_a_changed_number_a_missing_row_and_a_swapped_one_are_found():
    text = "Model\tMS\tNQ\nBM25\t1.5\t2.0*\nDense\t3.0\t4.5\n\nTable 3: Scores.\n"
    assert printed_rows(text, 3) == [["BM25", "1.5", "2.0*"], ["Dense", "3.0", "4.5"]]
    table = "<table>\n<tr>\n<th>x</th>\n</tr>\n<tr>\n<td>BM25</td>\n<td><b>.15</b></td>\n</tr>\n</table>"
    for text in (f"{table}\n\nTable 2: Scores.\n", f"words**Table 2: Scores.**\n\n{table}\n"):
        assert printed_rows(text, 2) == [["BM25", ".15"]]


def test_every_table_that_is_promised_is_there():
    assert {
        name: [table.number for table in published_tables.read(FOLDER / name).tables] for name in PAPERS
    } == TABLES | RELEASES


@pytest.mark.parametrize("name", PAPERS)
def test_the_leaderboard_is_what_its_tables_make(name):
    paper = published_tables.read(FOLDER / name)
    assert board_file.read(FOLDER / name).data == published_tables.board(paper, FOLDER / name).data
    assert (FOLDER / name / "README.md").read_text(encoding="utf-8") == published_tables.page(paper)


@pytest.mark.parametrize("name", PAPERS)
def test_a_published_leaderboard_keeps_the_schema_and_is_marked(name):
    board = board_file.read(FOLDER / name)
    written = json.loads((FOLDER / name / board_file.FILE).read_bytes())
    jsonschema.Draft202012Validator(board_file.json_schema()).validate(written)
    assert {row.origin for row in board.rows} == {"published"}
    for row in board.rows:
        for measure in row.measures.values():
            assert measure.ci95 is None
            assert measure.queries is None
            assert measure.sources
    shown = text_tables.render(board, "table")
    assert shown.count("(published)") == len(board.rows)


@pytest.mark.parametrize("name", PAPERS)
def test_a_mean_is_the_printed_number_by_its_scale(name):
    for row in board_file.read(FOLDER / name).rows:
        for label, measure in row.measures.items():
            for source in measure.sources:
                printed = Decimal(source.printed.rstrip("*"))
                scale = printed / Decimal(repr(measure.mean)) if printed else 1
                assert scale in (1, 100), (row.system, label)


def test_averages_over_datasets_are_those_of_the_rows():
    paper = published_tables.read(FOLDER / "dapr")
    for table in paper.tables:
        if [column.dataset for column in table.columns][-2:] != ["average", "nq-hard"]:
            continue
        for line in table.lines:
            values = [Decimal(cell) for cell in line.cells[:6]]
            assert abs(sum(values[:5]) / 5 - values[5]) <= Decimal("0.07"), (table.number, line)


def test_a_number_that_stands_in_two_tables_cites_both():
    rows = {(row.dataset, row.system): row for row in board_file.read(FOLDER / "dapr").rows}
    measure = rows["miracl", "SPLADEv2, rank fusion with BM25 on documents"].measures["nDCG@10"]
    assert [(source.table, source.printed) for source in measure.sources] == [(3, "55.6"), (7, "55.6")]
    assert measure.mean == 0.556
    assert "not comparable" in rows["nq-hard", "BM25"].flags[0]


@pytest.fixture
def paper(tmp_path):
    (tmp_path / "paper.yaml").write_text(
        "name: toy\ncitation: Toy 2020\nurl: x\ntext: toy.txt\n"
        "datasets: {tour: {split: test, language: en}}\ncolumns: {nDCG@10: nDCG}\n"
    )
    (tmp_path / "table-1.yaml").write_text(TOY)
    return tmp_path


TOY = (
    "page: 2\nsection: 3\nprotocol: dapr\nscale: 100\ncolumns: [tour nDCG@10]\n"
    "rows:\n  - BM25 | 40.0\n  - Dense | large | 51.25\n  - Other | -\n"
)


def test_a_blank_makes_no_row_and_zeros_at_the_end_are_kept(paper):
    board = published_tables.board(published_tables.read(paper), paper)
    assert [row.system for row in board.rows] == ["BM25", "Dense"]
    assert [row.measures["nDCG@10"].mean for row in board.rows] == [0.4, 0.5125]
    assert [cell for line in text_tables.tables(board)[0].rows for cell in line[1:2]] == ["0.400", "0.5125"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BM25 | 40.0", "BM25 | 40.0 41.0", "has 2 cells for 1 columns"),
        ("BM25 | 40.0", "BM25 | 40.0*", "name its mark in 'marks'"),
        ("tour nDCG@10", "tour nDCG@20", "no dataset and column of paper.yaml"),
        ("page: 2", "pages: 2", "'page' is missing or unknown"),
        ("- Other | -", "- BM25 | 41.0", "another table has another"),
    ],
)
def test_a_slip_in_a_table_is_refused(paper, old, new, message):
    (paper / "table-1.yaml").write_text(TOY.replace(old, new))
    with pytest.raises(HarnessError, match=re.escape(message)):
        published_tables.board(published_tables.read(paper), paper)


@pytest.fixture
def own(paper):
    """A leaderboard of one's own: one row by the column of the paper, and one column more."""
    data = published_tables.board(published_tables.read(paper), paper).data
    measure = Measure(0.45, (0.4, 0.5), 9)
    row = structs.replace(data.rows[0], origin="run", measures={"nDCG@10": measure, "R@100": measure})
    columns = (*data.columns, Column("R@100", "R@100", "passage", ""))
    return Leaderboard(structs.replace(data, name="own", columns=columns, rows=(row,)), paper)


def test_published_rows_stand_beside_ones_own_and_say_so(own, paper):
    theirs = published_tables.board(published_tables.read(paper), paper)
    both = published.beside(own, [theirs])
    [table] = text_tables.tables(both)
    assert [line[0] for line in table.rows] == ["BM25", "BM25 (published)", "Dense (published)"]
    assert [line[1] for line in table.rows] == ["0.4500", "0.400", "0.5125*"]
    assert [record["origin"] for record in both.records()] == ["run", "published", "published"]
    assert both.records()[1]["nDCG@10 low"] is None
    assert own.rows == both.rows[:1]


@pytest.mark.parametrize("what", ["name", "split"])
def test_a_paper_on_other_data_is_not_set_beside(own, paper, what):
    theirs = published_tables.board(published_tables.read(paper), paper)
    [dataset] = own.data.datasets
    other = structs.replace(dataset, **{what: "another"})
    own = Leaderboard(structs.replace(own.data, datasets=(other,)), own.folder)
    with pytest.raises(HarnessError, match="it has tour/test: name the datasets in the suite likewise"):
        published.beside(own, [theirs])


def on_dev(own, *comparable):
    [dataset] = own.data.datasets
    facts = structs.replace(own.data.suite, beside=comparable)
    [row] = own.data.rows
    changed = structs.replace(
        own.data,
        datasets=(structs.replace(dataset, split="dev"),),
        rows=(structs.replace(row, split="dev"),),
        suite=facts,
    )
    return Leaderboard(changed, own.folder)


def test_rows_of_another_split_stand_beside_where_the_suite_says_so_and_are_marked(own, paper):
    theirs = published_tables.board(published_tables.read(paper), paper)
    both = published.beside(on_dev(own, Beside("toy", "dev")), [theirs])
    [table] = text_tables.tables(both)
    assert [line[0] for line in table.rows] == ["BM25", "BM25 (published, test)", "Dense (published, test)"]
    assert "published on the split 'test', beside rows on 'dev'" in both.rows[1].flags


@pytest.mark.parametrize("entry", [Beside("other", "dev"), Beside("toy", "train")])
def test_rows_of_another_split_stay_away_for_another_paper_or_split(own, paper, entry):
    theirs = published_tables.board(published_tables.read(paper), paper)
    with pytest.raises(HarnessError, match="or say `beside`"):
        published.beside(on_dev(own, entry), [theirs])


def test_a_column_of_another_definition_is_not_set_beside(own, paper):
    theirs = published_tables.board(published_tables.read(paper), paper)
    column = structs.replace(own.data.columns[0], measure="nDCG(dcg='exp-log2')@10")
    own = Leaderboard(structs.replace(own.data, columns=(column,)), own.folder)
    with pytest.raises(HarnessError, match="no published row"):
        published.beside(own, [theirs])


def test_the_page_says_where_a_published_number_stands_and_not_what_was_run_here(own, paper):
    both = published.beside(own, [published_tables.board(published_tables.read(paper), paper)])
    text = reproduction.of_row(both, both.rows[1], both.data.datasets[0])
    assert "origin: published (nothing here was run)" in text
    assert "40.0 in table 1, page 2 of x" in text
    assert "digest" not in text
