"""Runs of the field's tools: told apart by what stands in them, and damaged ones named by line."""

import gzip
import json

import numpy as np
import pytest

from harness.cli import kinds
from harness.errors import HarnessError
from harness.exchange import run_forms
from harness.exchange.run_forms import read_run

MSMARCO = "q1\td2\t1\nq1\td1\t2\nq2\td9\t1\n"
TEVATRON = "q1\td2\t88.5\nq1\td1\t80.25\nq2\td9\t7\n"
ROCKETQA = "q1\td2\t1\t9.5\nq1\td1\t2\t3\nq2\td9\t1\t2\n"
DUREADER = json.dumps({"q1": ["d2", "d1"], "q2": ["d9"]}, indent="\t")
TREC = "q1 Q0 d2 1 9.5 x\nq1 Q0 d1 2 3 x\nq2 Q0 d9 1 2 x\n"


def write(folder, text, name="a.run"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def ranked(run):
    """Query -> passages, best first."""
    return {
        query: [run.passage_ids[passages[i]] for i in np.argsort(-scores) if passages[i] >= 0]
        for query, passages, scores in zip(run.query_ids, run.hits.passages, run.hits.scores, strict=True)
    }


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("msmarco", MSMARCO),
        ("tevatron", TEVATRON),
        ("rocketqa", ROCKETQA),
        ("dureader", DUREADER),
        ("trec", TREC),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_each_form_is_told_by_the_file_and_gives_the_same_ranking(tmp_path, form, text, ending):
    read = read_run(write(tmp_path, text, f"a.run{ending}"))
    assert read.form == form
    assert ranked(read.run) == {"q1": ["d2", "d1"], "q2": ["d9"]}


def test_ranks_give_the_order_whatever_the_order_of_lines(tmp_path):
    read = read_run(write(tmp_path, "q1\tb\t3\nq2\tz\t1\nq1\tc\t1\nq1\ta\t2\n"))
    assert ranked(read.run)["q1"] == ["c", "a", "b"]
    assert read.by_rank


def test_scores_are_kept_where_they_say_what_the_ranks_say(tmp_path):
    read = read_run(write(tmp_path, ROCKETQA))
    assert sorted(read.run.hits.scores[0].tolist()) == [3.0, 9.5]
    assert not read.by_rank


def test_ranks_replace_scores_whose_ties_would_be_broken_another_way(tmp_path):
    kept = read_run(write(tmp_path, "q\tb\t1\t5\nq\ta\t2\t5\n"))  # descending id: as the harness has it
    replaced = read_run(write(tmp_path, "q\ta\t1\t5\nq\tb\t2\t5\n"))
    assert (kept.by_rank, kept.run.hits.scores.tolist()) == (False, [[5.0, 5.0]])
    assert (replaced.by_rank, ranked(replaced.run)) == (True, {"q": ["a", "b"]})


def test_whole_numbers_that_are_no_count_may_be_ranks_or_scores(tmp_path):
    path = write(tmp_path, "q1\ta\t12\nq1\tb\t30\n")
    with pytest.raises(HarnessError, match=r"--run-form msmarco \(ranks\) or tevatron \(scores\)"):
        read_run(path)
    assert ranked(read_run(path, "msmarco").run) == {"q1": ["a", "b"]}
    assert ranked(read_run(path, "tevatron").run) == {"q1": ["b", "a"]}


@pytest.mark.parametrize(
    ("text", "form", "where"),
    [
        ("q1\ta\t1\nq1\tb\n", "msmarco", r":2: expected `query passage rank` \(msmarco\), got 2 columns"),
        ("q1\ta\t1\n\nq1\ta\t2\n", "msmarco", ":3: the passage 'a' of the query 'q1' stands in line 1"),
        ("q1\ta\t1\nq1\tb\t1\n", "msmarco", ":2: the query 'q1' has the rank 1 in line 1 already"),
        ("q1\ta\t1\nq1\tb\t-2\n", "msmarco", ":2: the rank must be a whole number, got '-2'"),
        ("q1\ta\t1.5\nq1\tb\thigh\n", None, ":2: the score 'high' is no finite number"),
        ("q1\ta\t1.5\nq1\tb\tnan\n", None, ":2: the score 'nan' is no finite number"),
        ("q1\ta\t1\t3\nq1\tb\t2\t4\n", None, ":2: the score of query 'q1' rises at rank 2"),
        ("q1\ta\t1\t3\nq1\tb\tx\t2\n", None, ":2: the rank must be a whole number, got 'x'"),
        ("q1 0 a 1\n", None, ":1: looks like judgements, not a run; give them as --qrels"),
        ("q1 a\n", None, ":1: 2 columns are no form of runs"),
        ("", None, ": the run is empty"),
        ('{"q1": ["a"],\n "q2" ["b"]}', None, ":2: Expecting ':' delimiter"),
        ('{"q1": ["a"],\n "q1": ["b"]}', None, ":1: query 'q1' is there twice"),
        ('{"q1": ["a"],\n "q2": ["b", "b"]}', None, ":2: query 'q2' has a passage twice"),
        ('{"q1": ["a"],\n "q2": "b"}', None, ":2: query 'q2' has no list of passage ids"),
        ('{"q1": ["a b"]}', None, ":1: query 'q1' has the id 'a b', which is empty or holds white space"),
        ("q1  a 1\n", "msmarco", ": the columns do not stand between single tabs or blanks"),
    ],
)
def test_a_damaged_run_is_named_by_file_and_line(tmp_path, text, form, where):
    path = write(tmp_path, text)
    with pytest.raises(HarnessError, match=where) as refused:
        read_run(path, form)
    assert str(refused.value).startswith(str(path))


def test_a_cut_archive_and_a_missing_file_are_named(tmp_path):
    path = write(tmp_path, MSMARCO * 50, "a.run.gz")
    path.write_bytes(path.read_bytes()[:20])
    for lost in (path, tmp_path / "none.tsv"):
        with pytest.raises(HarnessError, match=lost.name):
            read_run(lost)


def test_a_pickle_is_never_loaded(tmp_path):
    path = tmp_path / "rank.pkl"
    path.write_bytes(b"\x80\x04cposix\nsystem\n(S'touch broken'\ntR.")
    with pytest.raises(HarnessError, match=r"never loaded; let Tevatron write text: search with --save_text"):
        read_run(path)
    assert not (tmp_path / "broken").exists()


def test_the_command_line_names_every_form():
    assert kinds.RUN_FORMS == run_forms.FORMS
