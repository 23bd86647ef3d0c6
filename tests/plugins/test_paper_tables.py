"""`harness table`: what stands in a table for a paper, and that LaTeX and Typst read it."""

import re
import shutil
import subprocess
from pathlib import Path

import orjson
import pytest

from harness.cli import main
from harness.leaderboard import board_file, means
from harness.leaderboard.model import Measure
from harness_tables import latex, typst
from harness_tables.cells import Column, Look, filled

ROOT = Path(__file__).parents[2] / "leaderboards"
NEURAL, TOUR = ROOT / "neural-en", ROOT / "tour"
HOSTILE = r"""[a]\b{c}$d%e&f#g_h^i~j<k>l|m"n`o--p'q*r/*s//t=u@v ?`±→†"""
SPECIAL = [
    "--baseline=bm25", "--average", "--percent", "--intervals=below", "--measure=R@10",
    "--group=Lexical & co.=bm25,mini*",
    f"--rename=minilm={HOSTILE}", "--rename=scifact=*Sci_Fact*", f"--caption=100 % {HOSTILE}.",
]  # fmt: skip


@pytest.fixture
def table(capsys):
    def printed(*words):
        assert main(["table", *map(str, words)]) == 0
        return capsys.readouterr().out

    return printed


@pytest.fixture
def changed(tmp_path):
    """A copy of neural-en, with rows that a function changes."""

    def copy(change):
        folder = shutil.copytree(NEURAL, tmp_path / "board")
        content = orjson.loads((folder / "leaderboard.json").read_bytes())
        change(content)
        (folder / "leaderboard.json").write_bytes(orjson.dumps(content))
        return folder

    return copy


def rows(text):
    """The cells of each line of the table, without LaTeX's signs for alignment."""
    plain = re.sub(r"\\phantom\{(\$[^$]*\$)\}", "", text)
    return {line.split(" & ")[0]: line[:-3].split(" & ")[1:] for line in plain.splitlines() if " & " in line}


def test_best_is_bold_second_underlined_and_daggers_are_against_the_baseline(table):
    text = table(NEURAL, "--measure=nDCG@10", "--measure=R@100", "--baseline=bm25")
    assert rows(text)["bm25 reranked"] == [
        "\\underline{0.680}", "0.925", "\\textbf{0.986}$^{\\dagger}$", "0.997",
    ]  # fmt: skip
    assert rows(text)["minilm"] == ["0.645", "0.925", "0.943$^{\\ddagger}$", "\\textbf{1.000}"]
    assert "& \\multicolumn{2}{c}{scifact} & \\multicolumn{2}{c}{xquad-en} \\\\\n\\cmidrule(lr){2-3}" in text
    assert "significantly better and worse than bm25 by a paired randomisation test (10,000 permut" in text
    assert "step-down max-T over 4 families of 3 tests, within a dataset and measure, corrected p" in text
    assert "\\label{tab:neural-en}" in text


def test_order_groups_averages_and_percent(table):
    text = table(
        NEURAL, "--group=Two=minilm,bge*", "--measure=nDCG@10", "--dataset=xq*", "--dataset=sci*", "--percent",
        "--average", "--rename=minilm=MiniLM",
    )  # fmt: skip
    assert list(rows(text)) == ["System", "MiniLM", "bge-small-en", "bm25", "bm25 reranked"]
    assert rows(text)["MiniLM"] == ["94.3", "64.5", "79.4"]
    assert "\\midrule\n\\multicolumn{4}{l}{\\textit{Two}} \\\\\nMiniLM" in text
    assert "System & \\multicolumn{1}{c}{xquad-en} & \\multicolumn{1}{c}{scifact} & " in text
    assert "nDCG@10 on xquad-en and scifact. All values are in percent." in text


def test_intervals_stand_in_a_second_line_and_tiers_beside_the_values(table):
    text = table(NEURAL, "--dataset=scifact", "--measure=R@10", "--intervals=below", "--tiers")
    assert "0.792$^{\\mathrm{ab}}$ \\\\[-2pt]\n& {\\scriptsize [0.745, 0.836]} \\\\\n\\bottomrule" in text
    assert "minilm & 0.783$^{\\mathrm{b}}$\\phantom{$^{\\mathrm{b}}$} \\\\[-2pt]" in text
    assert "share a letter in a column do not differ significantly: paired randomisation test" in text


def test_published_rows_failed_rows_and_tuned_values(table, changed, tmp_path):
    def change(content):
        first, second = content["rows"][:2]
        first |= {"status": "failed", "error": "no\nmemory", "measures": {}}
        second["tuning"] = [
            {"key": "", "on": "a/dev", "curve": [1, 2], "folds": None, "measure": "R@5", "parameter": "k1",
             "queries": 1, "slices": {}, "value": 2, "values": [1, 2]}
        ]  # fmt: skip

    board = changed(change)
    paper = shutil.copytree(board, tmp_path / "paper")
    content = orjson.loads((paper / "leaderboard.json").read_bytes())
    row = content["rows"][1] | {"origin": "published", "system": "theirs", "files": {}, "tuning": []}
    source = {"url": "u", "table": 1, "page": 1, "section": "s", "printed": "70.1", "digits": 3}
    row["measures"] = {"nDCG@10": {"mean": 0.701, "ci95": None, "queries": None, "sources": [source]}}
    (paper / "leaderboard.json").write_bytes(orjson.dumps(content | {"rows": [row]}))
    text = table(board, "--dataset=scifact", "--beside", paper, "--tuned", "--decimals=4", "--measure=nDCG*")
    assert list(rows(text)) == ["System", "minilm", "bge-small-en", "bm25 reranked", "theirs"]
    assert "\\textit{Published}} \\\\\ntheirs & \\underline{0.701} \\\\\n" in text
    assert "Tuned: scifact / minilm: k1 = 2 on a/dev by R@5." in text
    assert "% scifact / bm25 failed: no memory\n" in text


def test_a_system_without_a_value_is_named_above_the_table_unless_it_was_not_asked_for(table):
    left_out = "% tour-en / documents has no value in these columns, and is left out\n"
    assert left_out in table(TOUR, "--measure=nDCG@10")
    assert left_out not in table(TOUR, "--measure=nDCG@10", "--system=bm25*")


def test_averages_that_the_suite_names_have_intervals_and_daggers(table, changed):
    board = changed(lambda content: content["suite"].update(averages={"Both": ["scifact", "xquad-en"]}))
    means.with_averages(board_file.read(board)).write()
    text = table(board, "--average", "--baseline=bm25", "--measure=nDCG@10", "--intervals=below")
    assert rows(text)["minilm"][2].startswith("0.794$^{\\ddagger}$")
    assert "[0.770, 0.818]" in text
    assert "averages by Holm's correction" in text.replace("'{}", "'")
    assert "Both: the mean of scifact and xquad-en." in text


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ([0.5, 0.4, 0.3], [1, 2, 0]),
        ([0.5, 0.5], [0, 0]),
        ([0.5001, 0.5, 0.4, 0.1], [1, 1, 2, 0]),
        ([0.5], [0]),
    ],
)
def test_what_is_printed_alike_shares_a_place(values, ranks):
    column = Column("d", "m")
    made = filled([{column: Measure(mean, None, None)} for mean in values], [column], Look(3, False, False))
    assert [row[0].rank for row in made] == ranks


def test_sums_are_not_in_percent_and_the_caption_says_so_and_averages_have_other_names(table, changed):
    def change(content):
        for row in content["rows"]:
            row["measures"]["R@100"]["mean"] *= 300

    words = ["--measure=nDCG@10", "--measure=R@100", "--percent", "--average", "--rename=Average=Mean"]
    text = table(changed(change), *words, "--rename=R@100=Found")
    assert rows(text)["bm25"][:2] == ["67.8", r"\underline{277.6}"]
    assert "All values but Found are in percent." in text
    assert "Mean: the mean of the datasets." in text
    assert "{Mean}" in text


@pytest.mark.parametrize("form", ["latex", "typst"])
def test_show_prints_the_table_that_the_command_prints(form, table, capsys):
    expected = table(NEURAL, "--format", form, "--sort=R@10", "--baseline=bm25", "--dataset=scifact")
    words = ["--format", form, "--sort", "R@10", "--baseline", "bm25", "--dataset", "scifact"]
    assert main(["show", str(NEURAL), *words]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["table", "--group=a"], "--group a: expected TITLE=GLOB,...; write it as 'Lexical=bm25*,ql'"),
        (["table", "--group=a=minilmm"], "--group minilmm: matches no system; did you mean 'minilm'?"),
        (["table", "--rename=minilmm=a"], "--rename minilmm: matches no name; did you mean 'minilm'?"),
        (["table", "--baseline=bm2"], "--baseline bm2: matches no system; did you mean 'bm25'?"),
        (["table", "--baseline=bm25", "--tiers"], "--tiers: compares all pairs, --baseline each with one; "),
        (["show", "--format=latx"], "--format unknown form 'latx'; did you mean 'latex'?"),
        (["show", "--format=latex", "--overall"], "--format latex: has no --overall; leave it out"),
    ],
)
def test_mistakes_are_named(words, problem, capsys):
    assert main([words[0], str(NEURAL), *words[1:]]) == 2
    assert capsys.readouterr().err.startswith(problem)


def test_what_is_special_is_escaped():
    assert latex.escaped("a_b&c%d#e$f{g}") == r"a\_b\&c\%d\#e\$f\{g\}"
    assert latex.escaped(r"\x~^") == r"\textbackslash{}x\textasciitilde{}\textasciicircum{}"
    assert latex.escaped("[a---b") == "{[}a-{}-{}-b"
    assert typst.text('a"b\\c') == r'"a\"b\\c"'


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex with booktabs")
@pytest.mark.extras
@pytest.mark.parametrize(
    "words", [[NEURAL, "--baseline=bm25"], [NEURAL, *SPECIAL], [TOUR, "--tuned", "--wide"]]
)
def test_latex_makes_a_page_of_it(words, table, tmp_path):
    table(*words, "--document", "--out", tmp_path / "table.tex")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    if TOUR not in words:  # with twelve columns, its own comment says that it is too wide
        assert "Overfull" not in done.stdout
    assert (tmp_path / "table.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    "words", [[NEURAL, "--baseline=bm25"], [NEURAL, *SPECIAL], [TOUR, "--tuned", "--wide"]]
)
def test_typst_makes_a_page_of_it(words, table, tmp_path):
    compiler = pytest.importorskip("typst")
    table(*words, "--format=typst", "--document", "--out", tmp_path / "table.typ")
    assert compiler.compile(str(tmp_path / "table.typ")).startswith(b"%PDF")
