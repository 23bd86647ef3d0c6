"""Systems that rewrite queries: steps that are shared, what was written, and what is refused."""

import re

import pytest

from harness import api
from harness.cli import main
from harness.errors import HarnessError

SUITE = """
suite: rewriting
datasets: [tour]
systems:
  bm25: {retriever: bm25}
  rm3: {queries: rm3, retriever: bm25}
  spelt: {queries: [spelling, {rm3: {documents: 5}}], retriever: bm25}
  from ql: {queries: {bo1: {}, of: ql}, retriever: bm25}
  ql: {retriever: ql}
measures: [nDCG@10, R@100]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rewriting")
    (folder / "suite.yaml").write_text(SUITE)
    board = api.run(folder / "suite.yaml", out=folder / "out", store=folder / "store", quiet=True)
    return folder, board


def test_every_rewritten_system_has_its_row_and_cost(ran):
    _, board = ran
    assert [row.error for row in board.rows if row.error] == []
    rows = {row.system: row for row in board.rows}
    assert rows["rm3"].cost.rewrite_seconds > 0
    assert rows["bm25"].cost.rewrite_seconds is None
    assert rows["rm3"].provenance.fingerprint != rows["bm25"].provenance.fingerprint


def test_the_feedback_is_the_search_of_the_plain_system(ran):
    _, board = ran
    rows = {row.system: row for row in board.rows}
    searches = {
        row: [step.key for step in rows[row].provenance.steps if step.step == "search"] for row in rows
    }
    assert searches["bm25"][0] in searches["rm3"]
    assert searches["ql"][0] in searches["from ql"]


def test_inspect_shows_what_was_written(ran, capsys):
    folder, _ = ran
    query = (folder / "out" / "per-query" / "tour" / "spelt.tsv").read_text().splitlines()[1].split("\t")[0]
    code = main(["inspect", str(folder / "out"), "--query", query, "--systems", "spelt", "bm25", "--store",
                 str(folder / "store")])  # fmt: skip
    text = capsys.readouterr().out
    assert code == 0
    assert "spelt asks for spelling: " in text
    assert re.search(r"spelt asks for rm3: \w+ 0\.\d{4}, ", text)
    assert "bm25 asks for" not in text


@pytest.mark.parametrize(("system", "message"), [
    ("{queries: rocchio, retriever: bm25}", "'rocchio' gives vectors, .*'bm25'"),
    ("{queries: [rm3, spelling], retriever: bm25}", "'rm3' gives terms"),
    ("{queries: {spelling: {}, of: ql}, retriever: bm25}", "'spelling' .*'of'"),
    ("{queries: {rm3: {}, of: qll}, retriever: bm25}", "'qll'; did you mean 'ql'"),
    ("{queries: {rm3: {}, of: this}, retriever: bm25}", "in a circle"),
    ("{queries: rm3, of: ql, rerank: sdm}", "for a retriever"),
    ("{queries: {rm3: {documents: 2000}}, retriever: bm25}", "depth: 2000"),
    ("{queries: {rm3: {}, of: documents}, retriever: bm25}", "'documents'"),
])  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_runs(system, message, tmp_path):
    text = f"""
suite: refused
datasets: [tour]
systems:
  ql: {{retriever: ql}}
  documents: {{retriever: bm25, unit: document}}
  this: {system}
measures: [nDCG@10]
"""
    (tmp_path / "suite.yaml").write_text(text)
    with pytest.raises(HarnessError, match=message):
        api.run(tmp_path / "suite.yaml", out=tmp_path / "out", store=tmp_path / "store", quiet=True)
