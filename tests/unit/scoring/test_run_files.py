"""TREC runs: the same bytes each time, the same float32 back, and every fault with its line."""

import gzip

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.scoring import run_files
from harness.scoring.run_files import _by_columns, _by_lines, read_run, write_run
from harness.types import Hits

RUN = "q1 Q0 b 1 3.5 mine\nq1 Q0 z 2 3.0 mine\nq2 Q0 c 1 9 mine\nq9 Q0 a 1 1 mine\n"
IDS = ["p0", "p1", "第三", "p3"]


def ids_of(positions):
    return [IDS[position] for position in positions]


def hits(passages, scores):
    return Hits(np.array(passages, np.int64), np.array(scores, np.float32))


def test_a_run_is_written_as_trec_lines(tmp_path):
    found = hits([[2, 0], [-1, -1], [3, -1]], [[2.5, 0.1], [-np.inf] * 2, [1e-7, -np.inf]])
    write_run(tmp_path / "run", ["q1", "q2", "q3"], ids_of, found, "bm25")
    lines = (tmp_path / "run").read_text(encoding="utf-8").splitlines()
    assert lines == ["q1 Q0 第三 1 2.5 bm25", "q1 Q0 p0 2 0.1 bm25", "q3 Q0 p3 1 1e-7 bm25"]


@pytest.mark.parametrize("together", [1, 2, 5, 100])
def test_a_run_has_the_same_lines_however_many_ids_are_read_at_once(tmp_path, monkeypatch, together):
    monkeypatch.setattr(run_files, "TOGETHER", together)
    found = hits([[2, 0], [-1, -1], [3, -1], [1, 3]], [[2.5, 0.1], [-np.inf] * 2, [1e-7, -np.inf], [2, 1]])
    write_run(tmp_path / "run", ["q1", "q2", "q3", "q4"], ids_of, found, "x")
    pairs = [line.split()[:5:2] for line in (tmp_path / "run").read_text(encoding="utf-8").splitlines()]
    assert pairs == [
        ["q1", "第三", "2.5"], ["q1", "p0", "0.1"], ["q3", "p3", "1e-7"], ["q4", "p1", "2.0"],
        ["q4", "p3", "1.0"],
    ]  # fmt: skip


def test_a_gzipped_run_has_the_same_bytes_whatever_its_name_and_time(tmp_path, monkeypatch):
    found = hits([[2, 0]], [[2.5, 0.1]])
    write_run(tmp_path / "a.run.gz", ["q"], ids_of, found, "x")
    monkeypatch.setattr("time.time", lambda: 86_400.0)
    write_run(tmp_path / "b.run.gz", ["q"], ids_of, found, "x")
    first, second = ((tmp_path / f"{name}.run.gz").read_bytes() for name in "ab")
    assert first == second
    assert gzip.decompress(first) == "q Q0 第三 1 2.5 x\nq Q0 p0 2 0.1 x\n".encode()


@example(scores=[float(np.finfo(np.float32).max), -float(np.finfo(np.float32).max)])
@given(scores=st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_scores_read_back_as_the_same_float32(tmp_path_factory, scores):
    path = tmp_path_factory.mktemp("runs") / "run"
    write_run(path, ["q"], ids_of, hits([list(range(len(scores)))], [scores]), "x")
    run = read_run(path)
    assert run.hits.scores[0].tobytes() == np.array(scores, np.float32).tobytes()
    assert run.passage_ids == tuple(IDS[: len(scores)])


def test_a_run_is_read_by_query_whatever_the_order_of_lines(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"q1 Q0 a 1 3 t\nq2 Q0 b 1 2 t\n\nq1\tQ0\tb\t2\t1e-3\tt\r\n"))
    run = read_run(path)
    assert (run.query_ids, run.passage_ids, run.tag) == (("q1", "q2"), ("a", "b"), "t")
    assert run.hits.passages.tolist() == [[0, 1], [1, -1]]
    assert run.hits.scores.tolist() == [[3.0, np.float32(1e-3)], [2.0, -np.inf]]


@pytest.mark.parametrize("read", [read_run, _by_lines])
def test_a_byte_order_mark_is_no_part_of_the_first_query(tmp_path, read):
    path = tmp_path / "windows.run"
    path.write_text("\ufeff" + RUN.replace("\n", "\r\n"), encoding="utf-8")
    assert read(path).query_ids == ("q1", "q2", "q9")


@pytest.mark.parametrize(("data", "fault"), [
    (b"q Q0 a 1 3 t\nq Q0 a 1 3\n", ":2: .*got 5 columns"),
    (b"q Q0 a 1 high t\n", ":1: .*'high'"),
    (b"q Q0 a 1 nan t\n", ":1: .*'nan'"),
    (b"q Q0 a 1 1e39 t\n", ":1: .*'1e39'"),
    (b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", ":3: .*'a' .*'q' .*line 1 "),
    (b"q Q0 a 1 3 t\nq Q0 \xff 2 2 t\n", ":2: .*UTF-8"),
    (b"\n\n", ": the run is empty"),
])  # fmt: skip
def test_a_fault_is_named_with_its_line(tmp_path, data, fault):
    path = tmp_path / "bad.run"
    path.write_bytes(data)
    with pytest.raises(HarnessError, match=f"^{path}{fault}"):
        read_run(path)


@pytest.mark.parametrize(("name", "data", "line"), [
    ("bad.run.gz", gzip.compress(b"q Q0 a 1 3 t\nq Q0 b 2 2 t\n", mtime=0)[:-9], r":\d+"), ("bad.run.gz", b"q Q0 a 1 3 t\n", ":1"),
    ("none.run", None, ""),
])  # fmt: skip
def test_a_truncated_false_or_absent_file_is_named(tmp_path, name, data, line):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(HarnessError, match=f"^{tmp_path / name}{line}: "):
        read_run(tmp_path / name)


@pytest.mark.parametrize(("query", "tag"), [("two words", "x"), ("", "x"), ("q", "my system")])
def test_a_word_with_white_space_cannot_be_exported(tmp_path, query, tag):
    with pytest.raises(HarnessError, match="white space"):
        write_run(tmp_path / "run", [query], ids_of, hits([[0]], [[1.0]]), tag)


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace("\n", "\r\n"),
        RUN.rstrip("\n"),
        RUN.replace("\n", "\n\n"),
        RUN.replace("3.5", "1e3").replace("9", "-0.000001"),
        RUN.replace(" a ", ' "a" ').replace(" z ", " \u5317\u4eac "),
        RUN.replace("q2", "NA").replace(" c ", " null "),
    ],
)
def test_reading_by_columns_gives_what_reading_by_lines_gives(tmp_path, text):
    path = written(tmp_path / "r", text)
    one, other = _by_columns(path), _by_lines(path)
    assert one is not None
    assert (one.query_ids, one.passage_ids, one.tag) == (other.query_ids, other.passage_ids, other.tag)
    assert one.hits.passages.tolist() == other.hits.passages.tolist()
    assert one.hits.scores.tobytes() == other.hits.scores.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "# tag: mine\n" + RUN,
        "# Q0 a 1 1 mine\n" + RUN,
        RUN.replace(" ", "  "),
        RUN + "q1 Q0 b 9 1 mine\n",
        RUN.replace("3.5", "nan"),
        RUN.replace("3.5", "1e39"),
        RUN.replace("3.5", "1_0"),
        RUN.replace(" z ", " z\u00a0z "),
        RUN.replace(" z ", "  "),
        RUN.replace("mine\n", "\n"),
        "",
    ],
)
def test_whatever_is_odd_in_a_run_is_read_by_lines(tmp_path, text):
    assert _by_columns(written(tmp_path / "r", text)) is None


@pytest.mark.parametrize("name", ["r.run", "r.run.gz"])
def test_a_run_that_was_cut_is_told(tmp_path, name):
    data = gzip.compress(RUN.encode())[:-9] if name.endswith("gz") else RUN.encode()[:-6]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(HarnessError, match=name):
        read_run(tmp_path / name)
