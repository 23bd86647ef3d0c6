"""Foreign judgements and runs: read with file and line, put on a collection by their ids."""

import numpy as np
import pytest

from harness.collection import qrels_files
from harness.errors import HarnessError
from harness.exchange import run_import
from harness.leaderboard import ids_only
from harness.scoring import run_files
from harness.types import Judgement

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 b 1 3.5 mine\nq1 Q0 z 2 3.0 mine\nq2 Q0 c 1 9 mine\nq9 Q0 a 1 1 mine\n"


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def collection(tmp_path):
    judgements, digest = ids_only.judgements_in(written(tmp_path / "j.qrels", QRELS))
    return ids_only.opened(judgements, digest, ["b", "z"])


def test_trec_and_beir_judgements_are_the_same(tmp_path):
    beir = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tc\t1\n"
    one = list(qrels_files.read_qrels(written(tmp_path / "a", QRELS)))
    assert one == list(qrels_files.read_qrels(written(tmp_path / "b", beir)))
    assert one[0] == Judgement("q1", "a", 2)


@pytest.mark.parametrize("text", [QRELS, "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tc\t1\n"])
def test_a_byte_order_mark_is_no_part_of_the_first_judged_query(tmp_path, text):
    windows = "\ufeff" + text.replace("\n", "\r\n")
    judgements, _ = ids_only.judgements_in(written(tmp_path / "a", windows))
    assert list(judgements.query_ids) == ["q1", "q2"]


def test_judgements_are_written_as_they_were_read(tmp_path):
    judgements, _ = ids_only.judgements_in(written(tmp_path / "a", QRELS))
    qrels_files.write_qrels(tmp_path / "b", judgements)
    assert (tmp_path / "b").read_text() == QRELS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 0 a 1\nq1 0 a 2\n", ":2: query 'q1' and passage 'a' are judged in line 1 already"),
        ("q1 0 a\n", ":1: expected `query 0 passage grade`, got 3 columns"),
        ("q1 0 a high\n", ":1: the grade must be a whole number, got 'high'"),
        ("q1\ta\t1\n", ":1: three columns between tabs need a header"),
        ("query-id\tcorpus-id\tscore\nq1\ta\n", ":2: expected `query-id, corpus-id, score between tabs`"),
        ("\n", ": holds no judgement"),
    ],
)
def test_a_wrong_judgement_is_told_with_its_line(tmp_path, text, told):
    with pytest.raises(HarnessError, match="qrels") as error:
        list(qrels_files.read_qrels(written(tmp_path / "qrels", text)))
    assert told in str(error.value)


def test_a_header_of_comments_is_no_part_of_a_run(tmp_path):
    header = "# ir_metadata.start\n# tag: mine\n# ir_metadata.end\n"
    assert run_files.read_run(written(tmp_path / "r", header + RUN)).query_ids == ("q1", "q2", "q9")


def test_a_collection_of_ids_holds_what_is_judged_and_what_is_found(tmp_path):
    corpus = collection(tmp_path).corpus
    assert corpus.ids(np.arange(corpus.passages)) == ["a", "b", "c", "z"]
    assert corpus.positions(["z", "nowhere"]).tolist() == [3, -1]
    assert corpus.document_ids(np.array([1])) == ["b"]


def test_a_run_is_placed_by_its_ids_and_other_queries_are_left_out(tmp_path):
    run = run_files.read_run(written(tmp_path / "r", RUN))
    hits = ids_only.placed(run, "passage", collection(tmp_path), strict=False)
    assert hits.passages.tolist() == [[1, 3], [2, -1]]
    assert hits.scores[0].tolist() == [3.5, 3.0]
    with pytest.raises(HarnessError, match="no query 'q9'"):
        ids_only.placed(run, "passage", collection(tmp_path))


def test_a_passage_that_the_collection_lacks_is_named(tmp_path):
    run = run_files.read_run(written(tmp_path / "r", "q1 Q0 elsewhere 1 3.5 mine\n"))
    with pytest.raises(HarnessError, match="no passage 'elsewhere'; use the collection"):
        ids_only.placed(run, "passage", collection(tmp_path))
    other = "q1 Q0 x 1 3 m\nq1 Q0 a 2 2 m\nq1 Q0 y 3 1 m\nq2 Q0 x 1 3 m\nq2 Q0 z2 2 2 m\n"
    run = run_files.read_run(written(tmp_path / "s", other))
    with pytest.raises(HarnessError, match="no passage 'x', and 2 others of the run are not there either"):
        ids_only.placed(run, "passage", collection(tmp_path))


@pytest.mark.parametrize(
    ("file", "name"),
    [("bm25.run.gz", "bm25"), ("bm25,k1=0.9.trec", "bm25,k1=0.9"), (".run", ".run"), ("a.b.txt", "a.b")],
)
def test_a_system_is_called_by_its_file(tmp_path, file, name):
    assert run_import.name_of(tmp_path / file) == name


def test_runs_of_one_name_are_refused_together_with_what_else_is_wrong(tmp_path):
    (tmp_path / "x").mkdir()
    paths = [written(tmp_path / "a.run", RUN), written(tmp_path / "x" / "a.run", RUN)]
    paths.append(written(tmp_path / "bad.run", "q1 Q0 a 1 2\n"))
    with pytest.raises(HarnessError) as error:
        run_import.read_runs(paths)
    assert "the name 'a' is that of" in str(error.value)
    assert "bad.run:1: 5 columns are no form of runs" in str(error.value)


def test_tags_name_systems_if_asked(tmp_path):
    assert run_import.read_runs([written(tmp_path / "a.run", RUN)], "tag")[0].system == "mine"
    odd = written(tmp_path / "b.run", RUN.replace("mine", "my/run"))
    with pytest.raises(HarnessError, match="'my/run' cannot name a system"):
        run_import.read_runs([odd], "tag")
