"""`harness compare` on leaderboards that the command made."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import EVERYTHING, Harness, environment

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    harness = Harness(tmp_path_factory.mktemp("compare"), here=True)
    harness.suite({**EVERYTHING, "measures": [*EVERYTHING["measures"], "MicroR@5"]})
    ran = harness.run()
    assert ran.code == 0, ran.err
    return harness


def test_every_pair_of_a_leaderboard_is_compared(made):
    ran = made.command("compare", made.out)
    assert ran.code == 0, ran.err
    assert "toy: nDCG@10 (" in ran.out
    assert "plain - loud" in ran.out
    assert re.search(
        r"step-down max-T over 6 families of \d+ to \d+ tests, within a dataset and measure",
        " ".join(ran.out.split()),
    )


@pytest.mark.parametrize(
    "words", [("compare", "out"), ("list",), ("list", "retrievers", "--params")], ids=" ".join
)
@pytest.mark.parametrize("width", [60, 80])
def test_a_line_is_no_wider_than_the_terminal(made, words, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    ran = made.command(*words)
    assert ran.code == 0, ran.err
    too_wide = [line for line in ran.out.splitlines() if len(line) > width and " " in line.strip()]
    assert too_wide == []
    assert "PosixPath" not in ran.out
    monkeypatch.setenv("COLUMNS", "500")
    assert any(len(line) > width for line in made.command(*words).out.splitlines())


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_the_same_comparison_gives_the_same_bytes(made, form):
    one, two = (made.command("compare", made.out, "--format", form).out for _ in range(2))
    assert one == two
    assert one


def test_a_leaderboard_is_no_regression_of_itself(made):
    ran = made.command("compare", made.out, made.out, "--fail-on-regression")
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.startswith("no regression")


def test_a_worse_system_is_a_regression_and_another_corpus_is_refused(made, tmp_path):
    worse = Harness(tmp_path, here=True)
    worse.suite({**EVERYTHING, "measures": [*EVERYTHING["measures"], "MicroR@5"], "depth": 20})
    text = (tmp_path / "suite.yaml").read_text()
    (tmp_path / "suite.yaml").write_text(text.replace("weight: 0.5", "weight: 0.0"), encoding="utf-8")
    assert worse.run().code == 0
    ran = made.command("compare", made.out, worse.out, "--by-name", "--format", "json")
    assert ran.code == 0, ran.err
    (tmp_path / "suite.yaml").write_text(
        text.replace("toy: toy", "toy: {toy: {documents: 9}}"), encoding="utf-8"
    )
    assert worse.run().code == 0
    ran = made.command("compare", made.out, worse.out)
    assert ran.code == 2
    assert "is other data than in" in ran.err


def test_the_example_of_the_page_runs(tmp_path):
    board = Harness(tmp_path / "leaderboards" / "tour", here=True)
    board.folder.mkdir(parents=True)
    board.suite(
        "datasets: {tour: {tour: {documents: 20}}}\n"
        "systems: {bm25: {retriever: bm25}, ql: {retriever: ql}}\nmeasures: [nDCG@10]\n"
    )
    assert board.run("suite.yaml", "--out", board.folder).code == 0
    [code] = re.findall(
        r"^```python\n(.*?)^```", (DOCS / "compare.md").read_text(encoding="utf-8"), re.M | re.S
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tour nDCG@10 ql ")
